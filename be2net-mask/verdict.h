/* SPDX-License-Identifier: GPL-2.0 */
/* What its masks mean for a PCI function on this kernel, in words. No side effects. */
#ifndef _BNM_VERDICT_H
#define _BNM_VERDICT_H

#include <linux/types.h>

#include "plan.h"

/* Room for the longest verdict. */
#define BNM_VERDICT_SIZE 768

/**
 * enum bnm_era - who chooses the IOMMU domain of a device
 * @BNM_ERA_MASKS: until 5.7: Intel's driver takes a device out of the identity
 *	domain when one of its masks is narrower than memory needs
 *	(drivers/iommu/intel-iommu.c, iommu_need_mapping())
 * @BNM_ERA_BOOT: 5.8 to 5.10: the command line and the kernel's configuration;
 *	the masks no longer count
 * @BNM_ERA_GROUP: since 5.11: the same, and /sys/kernel/iommu_groups/N/type
 */
enum bnm_era {
	BNM_ERA_MASKS,
	BNM_ERA_BOOT,
	BNM_ERA_GROUP,
};

/**
 * enum bnm_domain - what stands between the function and memory
 * @BNM_DOMAIN_NONE: no IOMMU
 * @BNM_DOMAIN_IDENTITY: an IOMMU that passes addresses through
 * @BNM_DOMAIN_DMA: one that translates, and invalidates at once
 * @BNM_DOMAIN_DMA_FQ: one that translates, and invalidates later
 * @BNM_DOMAIN_OTHER: one that is not the DMA API's: VFIO's, or blocked
 */
enum bnm_domain {
	BNM_DOMAIN_NONE,
	BNM_DOMAIN_IDENTITY,
	BNM_DOMAIN_DMA,
	BNM_DOMAIN_DMA_FQ,
	BNM_DOMAIN_OTHER,
};

/**
 * struct bnm_facts - all that a verdict depends on
 * @era: the kernel's
 * @bound: a driver is bound, so the masks mean something
 * @masks: as they are
 * @required: mask that reaches all memory (dma_get_required_mask())
 * @bus_limit: mask of what lies between; 0 when it does not limit
 * @domain: the function's
 * @max_mapping: largest mapping in bytes (dma_max_mapping_size()); SIZE_MAX
 *	unless SWIOTLB may be asked for this function's buffers
 * @raised_from: the coherent mask before it was raised; 0 when it was not
 * @overruled: it was raised once, and the driver set its own
 */
struct bnm_facts {
	enum bnm_era era;
	bool bound;
	struct bnm_masks masks;
	u64 required;
	u64 bus_limit;
	enum bnm_domain domain;
	size_t max_mapping;
	u64 raised_from;
	bool overruled;
};

/**
 * enum bnm_passthrough - do addresses go to memory untranslated?
 * @BNM_PASS_NO_IOMMU: yes, there is nothing to translate them
 * @BNM_PASS_GRANTED: yes, in the identity domain
 * @BNM_PASS_REVOKED: it is in the identity domain, and the kernel will take it
 *	out at its next mapping, for its masks
 * @BNM_PASS_MASKS: no, nor would it be granted, for its masks
 * @BNM_PASS_POLICY: no, since the system is set so
 * @BNM_PASS_OTHER: the domain is somebody else's
 */
enum bnm_passthrough {
	BNM_PASS_NO_IOMMU,
	BNM_PASS_GRANTED,
	BNM_PASS_REVOKED,
	BNM_PASS_MASKS,
	BNM_PASS_POLICY,
	BNM_PASS_OTHER,
};

/**
 * enum bnm_swiotlb - will buffers be copied through the kernel's SWIOTLB?
 * @BNM_SWIOTLB_NO: no
 * @BNM_SWIOTLB_MASK: those that lie above the streaming mask
 * @BNM_SWIOTLB_NO_POOL: those should be, but there is no pool: mapping them fails
 * @BNM_SWIOTLB_FORCED: all, since the system is set so, or encrypted
 * @BNM_SWIOTLB_UNTRUSTED: those that do not fill whole pages, since the device
 *	is not trusted
 */
enum bnm_swiotlb {
	BNM_SWIOTLB_NO,
	BNM_SWIOTLB_MASK,
	BNM_SWIOTLB_NO_POOL,
	BNM_SWIOTLB_FORCED,
	BNM_SWIOTLB_UNTRUSTED,
};

/**
 * enum bnm_rings - where coherent memory, hence the rings, can lie
 * @BNM_RINGS_ANYWHERE: in all memory
 * @BNM_RINGS_LOW_MEMORY: in memory below the coherent mask only
 * @BNM_RINGS_LOW_ADDRESS: in all memory, at translated addresses below the mask
 */
enum bnm_rings {
	BNM_RINGS_ANYWHERE,
	BNM_RINGS_LOW_MEMORY,
	BNM_RINGS_LOW_ADDRESS,
};

/**
 * struct bnm_verdict - what follows from the facts
 * @passthrough: do addresses go to memory untranslated?
 * @swiotlb: will buffers be copied?
 * @rings: where coherent memory can lie
 * @can_raise: the coherent mask can follow the streaming one
 * @beyond_streaming: coherent memory may lie where the driver never said that
 *	the device reaches
 */
struct bnm_verdict {
	enum bnm_passthrough passthrough;
	enum bnm_swiotlb swiotlb;
	enum bnm_rings rings;
	bool can_raise;
	bool beyond_streaming;
};

unsigned int bnm_bits(u64 mask);
struct bnm_verdict bnm_judge(const struct bnm_facts *facts);
void bnm_verdict_text(char *text, const struct bnm_facts *facts);
const char *bnm_domain_text(enum bnm_domain domain);
const char *bnm_passthrough_text(enum bnm_passthrough passthrough);
const char *bnm_swiotlb_text(enum bnm_swiotlb swiotlb);

#endif /* _BNM_VERDICT_H */
