/* SPDX-License-Identifier: GPL-2.0 */
/* The differences between kernels, each behind one name. No other file asks. */
#ifndef _BNM_COMPAT_H
#define _BNM_COMPAT_H

#include <linux/iommu.h>
#include <linux/version.h>

#include "../verdict.h"

/*
 * What the kernel does with masks, and who may choose a domain, shows in no
 * header, so here the version is asked for. A distribution that backported its
 * IOMMU drivers may be an era ahead.
 */
static inline enum bnm_era bnm_running_era(void)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 8, 0)
	return BNM_ERA_MASKS;
#elif LINUX_VERSION_CODE < KERNEL_VERSION(5, 11, 0)
	return BNM_ERA_BOOT;
#else
	return BNM_ERA_GROUP;
#endif
}

/* A domain that gives the DMA API's addresses; lazy ones have a type of their own since 5.15. */
static inline enum bnm_domain bnm_domain_of_type(unsigned int type)
{
	switch (type) {
	case IOMMU_DOMAIN_IDENTITY:
		return BNM_DOMAIN_IDENTITY;
	case IOMMU_DOMAIN_DMA:
		return BNM_DOMAIN_DMA;
#ifdef IOMMU_DOMAIN_DMA_FQ
	case IOMMU_DOMAIN_DMA_FQ:
		return BNM_DOMAIN_DMA_FQ;
#endif
	default:
		return BNM_DOMAIN_OTHER;
	}
}

#endif /* _BNM_COMPAT_H */
