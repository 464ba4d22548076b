/* SPDX-License-Identifier: GPL-2.0 */
/* How large a pool is to be: when it grows, by how much, and when it gives some back. */
#ifndef _VDMA_SIZING_H
#define _VDMA_SIZING_H

#include <linux/types.h>

u64 vdma_sizing_threshold(u64 size, u64 max, u64 unit);
u64 vdma_sizing_step(u64 size, u64 max, u64 unit);
bool vdma_sizing_may_drop(u64 size, u64 chunk, u64 start, u64 peak);

#endif /* _VDMA_SIZING_H */
