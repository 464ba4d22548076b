/* SPDX-License-Identifier: GPL-2.0 */
/* When a coherent mask may be raised, and whether it may stay so. No side effects. */
#ifndef _BNM_PLAN_H
#define _BNM_PLAN_H

#include <linux/types.h>

/**
 * struct bnm_masks - the two DMA masks of a device
 * @streaming: for buffers that are mapped (dma_set_mask())
 * @coherent: for memory that is allocated (dma_set_coherent_mask())
 */
struct bnm_masks {
	u64 streaming;
	u64 coherent;
};

/**
 * enum bnm_room - can the coherent mask follow the streaming one?
 * @BNM_ROOM: yes
 * @BNM_ROOM_NARROW: no: the driver declares no more than 32 bit for streaming
 * @BNM_ROOM_LEVEL: no need: it is as wide already
 */
enum bnm_room {
	BNM_ROOM,
	BNM_ROOM_NARROW,
	BNM_ROOM_LEVEL,
};

/**
 * enum bnm_outcome - what a driver made of the mask that was raised for it
 * @BNM_MASK_KEPT: it declared as much for streaming, and left the coherent one
 * @BNM_MASK_OVERRULED: it set the coherent mask itself
 * @BNM_MASK_TOO_WIDE: it declared less for streaming
 */
enum bnm_outcome {
	BNM_MASK_KEPT,
	BNM_MASK_OVERRULED,
	BNM_MASK_TOO_WIDE,
};

enum bnm_room bnm_room(const struct bnm_masks *declared);
bool bnm_applies(bool wanted, const char *learned_from, const char *driver);
u64 bnm_probe_streaming(u64 now);
enum bnm_outcome bnm_outcome(u64 applied, const struct bnm_masks *now);
u64 bnm_restored(u64 before, u64 applied, u64 now);

#endif /* _BNM_PLAN_H */
