/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The differences between kernel trees, each behind one name. What a tree has is
 * found by probe.mk (BNM_HAVE_...); no other file asks.
 */
#ifndef _BNM_COMPAT_H
#define _BNM_COMPAT_H

#include <linux/iommu.h>

#include "../verdict.h"

/*
 * What the kernel does with masks, and who may choose a domain, shows in no
 * header: what came together with it does. 5.11 and 5.12 are taken for 5.10.
 */
static inline enum bnm_era bnm_running_era(void)
{
#if !defined(BNM_HAVE_DEF_DOMAIN_TYPE)
	return BNM_ERA_MASKS;
#elif defined(BNM_HAVE_DOMAIN_ATTR)
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
