/* SPDX-License-Identifier: GPL-2.0 */
/* Which path a device gets, why, and whether it may have it. No side effects. */
#ifndef _VDMA_POLICY_H
#define _VDMA_POLICY_H

#include <linux/bits.h>
#include <linux/types.h>
#include <linux/virtio_config.h>
#include <virtio_dma.h>

#include "hook.h"
#include "types.h"

/**
 * enum vdma_domain - what stands between the device and memory
 * @VDMA_DOMAIN_NONE: nothing
 * @VDMA_DOMAIN_IDENTITY: an IOMMU that passes addresses through
 * @VDMA_DOMAIN_TRANSLATED: an IOMMU domain, or DMA operations of the platform,
 *	that give addresses other than guest-physical ones
 */
enum vdma_domain {
	VDMA_DOMAIN_NONE,
	VDMA_DOMAIN_IDENTITY,
	VDMA_DOMAIN_TRANSLATED,
};

/**
 * enum vdma_reason - who chose the path
 * @VDMA_BY_DEFAULT: nobody asked for another one
 * @VDMA_BY_OFFER: the device offers VIRTIO_F_ACCESS_PLATFORM
 * @VDMA_BY_ENCRYPTION: the guest's memory is encrypted
 * @VDMA_BY_HOOK: a platform module
 * @VDMA_BY_TYPE_RULE: a rule for the device type
 * @VDMA_BY_DEVICE_RULE: a rule for the PCI or MMIO device
 * @VDMA_BY_VIRTIO_RULE: a rule for virtioN
 * @VDMA_BY_SYSFS: the device's sysfs file
 * @VDMA_LEFT_TRANSPORT: left alone: unknown transport
 * @VDMA_LEFT_XEN: left alone: Xen has its own rules for addresses
 * @VDMA_LEFT_RAW: left alone: the type passes page numbers
 * @VDMA_LEFT_NEVER: left alone: the type can not be routed
 * @VDMA_LEFT_UNTESTED: left alone: no test for the type
 * @VDMA_LEFT_BOUND: left alone: bound to its driver before the module came
 */
enum vdma_reason {
	VDMA_BY_DEFAULT,
	VDMA_BY_OFFER,
	VDMA_BY_ENCRYPTION,
	VDMA_BY_HOOK,
	VDMA_BY_TYPE_RULE,
	VDMA_BY_DEVICE_RULE,
	VDMA_BY_VIRTIO_RULE,
	VDMA_BY_SYSFS,
	VDMA_LEFT_TRANSPORT,
	VDMA_LEFT_XEN,
	VDMA_LEFT_RAW,
	VDMA_LEFT_NEVER,
	VDMA_LEFT_UNTESTED,
	VDMA_LEFT_BOUND,
};

/**
 * struct vdma_facts - all that the choice depends on
 * @type: what is known of the device's type
 * @transport_known: virtio-pci or virtio-mmio without mapping of its own
 * @xen: the guest runs under Xen
 * @features: what the device offers, the low 64 bits
 * @coherent: the device's DMA is coherent with the CPU's caches
 * @offset: the bus of the device counts addresses from elsewhere (dma-ranges)
 * @encrypted: the guest's memory is encrypted
 * @domain: what stands between the device and memory
 * @rule: path the user asked for, or VIRTIO_DMA_AUTO
 * @rule_reason: where the user asked for it
 * @hook: path the platform hook answered, or VIRTIO_DMA_AUTO
 * @hook_name: name of that hook
 */
struct vdma_facts {
	const struct vdma_type *type;
	bool transport_known;
	bool xen;
	u64 features;
	bool coherent;
	bool offset;
	bool encrypted;
	enum vdma_domain domain;
	enum virtio_dma_path rule;
	enum vdma_reason rule_reason;
	enum virtio_dma_path hook;
	char hook_name[VDMA_HOOK_NAME_LEN];
};

/**
 * struct vdma_decision - the outcome
 * @path: the path chosen
 * @reason: who chose it
 * @hook_name: the hook that chose it, if it was one
 * @features: what the device offers, the low 64 bits
 * @refused: why @path must not be used, as a sentence for the user; NULL when
 *	it may
 */
struct vdma_decision {
	enum virtio_dma_path path;
	enum vdma_reason reason;
	char hook_name[VDMA_HOOK_NAME_LEN];
	u64 features;
	const char *refused;
};

static inline bool vdma_offered(const struct vdma_decision *decision)
{
	return decision->features & BIT_ULL(VIRTIO_F_ACCESS_PLATFORM);
}

bool vdma_asks_hook(const struct vdma_facts *facts);
struct vdma_decision vdma_decide(const struct vdma_facts *facts);
enum virtio_dma_path vdma_path_by_name(const char *name, size_t len);
const char *vdma_path_name(enum virtio_dma_path path);
const char *vdma_reason_text(enum vdma_reason reason);

#endif /* _VDMA_POLICY_H */
