# SPDX-License-Identifier: GPL-2.0
# What the kernel tree being built against has; compat.h is the only reader.

# 6.17: the search for a hypervisor by its CPUID leaves has another name
ccflags-$(shell grep -qsw cpuid_base_hypervisor '$(srctree)/arch/x86/include/asm/cpuid/api.h' && echo y) += -DGMT_HAVE_CPUID_BASE_HYPERVISOR
# 6.16: accessors of MSRs were renamed from rdmsrl to rdmsrq
ccflags-$(shell grep -qsw rdmsrq_safe '$(srctree)/arch/x86/include/asm/msr.h' && echo y) += -DGMT_HAVE_RDMSRQ
