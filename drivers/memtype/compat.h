/* SPDX-License-Identifier: GPL-2.0 */
/* The differences between kernel trees, as found by compat.mk. */
#ifndef _GMT_COMPAT_H
#define _GMT_COMPAT_H

#include <asm/msr.h>

#ifndef GMT_HAVE_RDMSRQ
#define rdmsrq_safe(msr, value) rdmsrl_safe(msr, value)
#endif

#endif /* _GMT_COMPAT_H */
