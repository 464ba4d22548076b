/* SPDX-License-Identifier: GPL-2.0 */
/* The cheapest way out of a guest and back. */
#ifndef _MSIX_PBA_EXIT_H
#define _MSIX_PBA_EXIT_H

#include <linux/types.h>

#ifdef CONFIG_X86
#define MSIX_CAN_LEAVE true

/*
 * Hypervisors have CPUID trap: Intel's CPUs give them no choice (SDM 26.1.2), and
 * on AMD's KVM asks for it. An access that traps costs this and more.
 */
static inline void msix_leave_guest(void)
{
	u32 eax = 0, ecx = 0;

	asm volatile("cpuid" : "+a" (eax), "+c" (ecx) : : "ebx", "edx");
}
#else
#define MSIX_CAN_LEAVE false

static inline void msix_leave_guest(void)
{
}
#endif

#endif /* _MSIX_PBA_EXIT_H */
