/* SPDX-License-Identifier: GPL-2.0 */
/* The differences between kernel trees, as found by compat.mk. */
#ifndef _GMT_COMPAT_H
#define _GMT_COMPAT_H

#include <asm/msr.h>
#include <asm/processor.h>

#ifdef GMT_HAVE_CPUID_BASE_HYPERVISOR
#include <asm/cpuid/api.h>
#else
#define cpuid_base_hypervisor(name, leaves) hypervisor_cpuid_base(name, leaves)
#endif

#ifndef GMT_HAVE_RDMSRQ
#define rdmsrq_safe(msr, value) rdmsrl_safe(msr, value)
#endif

#endif /* _GMT_COMPAT_H */
