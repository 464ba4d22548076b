// SPDX-License-Identifier: GPL-2.0
/* Which path a device gets, why, and whether it may have it. */
#include <linux/kernel.h>
#include <linux/errno.h>
#include <linux/string.h>

#include "policy.h"

static const char * const path_names[VIRTIO_DMA_PATHS] = {
	[VIRTIO_DMA_AUTO]	= "auto",
	[VIRTIO_DMA_OFF]	= "off",
	[VIRTIO_DMA_DIRECT]	= "direct",
	[VIRTIO_DMA_PLATFORM]	= "platform",
	[VIRTIO_DMA_SWIOTLB]	= "swiotlb",
	[VIRTIO_DMA_BOUNCE]	= "bounce",
};

static const char * const reason_texts[] = {
	[VDMA_BY_DEFAULT]	= "default",
	[VDMA_BY_OFFER]		= "device offers VIRTIO_F_ACCESS_PLATFORM",
	[VDMA_BY_ENCRYPTION]	= "guest memory is encrypted",
	[VDMA_BY_HOOK]		= "hook",
	[VDMA_BY_TYPE_RULE]	= "rule for the device type",
	[VDMA_BY_DEVICE_RULE]	= "rule for the device",
	[VDMA_BY_VIRTIO_RULE]	= "rule for the virtio device",
	[VDMA_BY_SYSFS]		= "sysfs",
	[VDMA_LEFT_TRANSPORT]	= "left alone: not on virtio-pci or virtio-mmio",
	[VDMA_LEFT_XEN]		= "left alone: Xen gives virtio its own addresses",
	[VDMA_LEFT_RAW]		= "left alone: the type passes page numbers, not DMA addresses",
	[VDMA_LEFT_NEVER]	= "left alone: an IOMMU cannot stand behind itself",
	[VDMA_LEFT_UNTESTED]	= "left alone: type without a test; name it in a rule to route it",
	[VDMA_LEFT_BOUND]	= "left alone: bound before the module came; write a path",
};

/**
 * vdma_path_by_name() - the path of a name
 * @name: name, need not be terminated
 * @len: length of @name in bytes
 *
 * Context: any.
 * Return: the path, or VIRTIO_DMA_PATHS if there is none of that name.
 */
enum virtio_dma_path vdma_path_by_name(const char *name, size_t len)
{
	int path;

	for (path = 0; path < VIRTIO_DMA_PATHS; path++)
		if (strlen(path_names[path]) == len &&
		    !memcmp(path_names[path], name, len))
			break;
	return path;
}

/**
 * vdma_path_name() - the name of a path
 * @path: a path
 *
 * Context: any.
 * Return: its name in rules and sysfs.
 */
const char *vdma_path_name(enum virtio_dma_path path)
{
	return path < VIRTIO_DMA_PATHS ? path_names[path] : "invalid";
}

/**
 * vdma_reason_text() - a reason in words
 * @reason: a reason
 *
 * Context: any.
 * Return: the text for sysfs and the log.
 */
const char *vdma_reason_text(enum vdma_reason reason)
{
	return reason < ARRAY_SIZE(reason_texts) ? reason_texts[reason] : "invalid";
}

static struct vdma_decision left_alone(enum vdma_reason reason)
{
	return (struct vdma_decision){
		.path = VIRTIO_DMA_OFF,
		.reason = reason,
	};
}

static struct vdma_decision choose(const struct vdma_facts *f)
{
	struct vdma_decision d = {};

	if (!f->transport_known)
		return left_alone(VDMA_LEFT_TRANSPORT);
	if (f->xen)
		return left_alone(VDMA_LEFT_XEN);
	if (f->routing == VDMA_NEVER)
		return left_alone(VDMA_LEFT_NEVER);

	if (f->rule != VIRTIO_DMA_AUTO) {
		d.path = f->rule;
		d.reason = f->rule_reason;
		return d;
	}
	if (f->routing == VDMA_RAW)
		return left_alone(VDMA_LEFT_RAW);
	if (f->hook != VIRTIO_DMA_AUTO) {
		d.path = f->hook;
		d.reason = VDMA_BY_HOOK;
		return d;
	}
	if (f->routing == VDMA_ON_REQUEST)
		return left_alone(VDMA_LEFT_UNTESTED);
	if (f->encrypted) {
		/* the platform's operations bounce there, and are what stock uses */
		d.path = VIRTIO_DMA_PLATFORM;
		d.reason = VDMA_BY_ENCRYPTION;
	} else if (f->offered) {
		d.path = VIRTIO_DMA_PLATFORM;
		d.reason = VDMA_BY_OFFER;
	} else {
		d.path = VIRTIO_DMA_DIRECT;
		d.reason = VDMA_BY_DEFAULT;
	}
	return d;
}

/* why a path must not be used, and what to do */
static const char platform_translated[] =
	"its IOMMU addresses are not what this device takes: choose direct or swiotlb";
static const char direct_encrypted[] =
	"the device cannot read encrypted memory: choose platform";
static const char behind_iommu[] =
	"an IOMMU translates this device's addresses: choose platform";
static const char direct_incoherent[] =
	"the device needs cache maintenance: choose platform";
static const char bounce_missing[] =
	"path bounce is not built yet; choose swiotlb";
static const char no_such_path[] =
	"no such path";

/*
 * The attach contract. A device that does not offer VIRTIO_F_ACCESS_PLATFORM
 * takes guest-physical addresses, whatever stands between (VIRTIO 1.3, 6.1);
 * one that offers it takes what the platform translates.
 */
static const char *refusal(const struct vdma_facts *f, enum virtio_dma_path path)
{
	bool translated = f->domain == VDMA_DOMAIN_TRANSLATED;

	switch (path) {
	case VIRTIO_DMA_OFF:
		return NULL;
	case VIRTIO_DMA_PLATFORM:
		if (!f->offered && translated)
			return platform_translated;
		return NULL;
	case VIRTIO_DMA_DIRECT:
		if (f->encrypted)
			return direct_encrypted;
		if (f->offered && translated)
			return behind_iommu;
		if (f->offered && !f->coherent)
			return direct_incoherent;
		return NULL;
	case VIRTIO_DMA_SWIOTLB:
		if (f->offered && translated)
			return behind_iommu;
		return NULL;
	case VIRTIO_DMA_BOUNCE:
		return bounce_missing;
	default:
		return no_such_path;
	}
}

/**
 * vdma_decide() - choose the path of a device, and say whether it may have it
 * @facts: all that the choice depends on
 *
 * Order of choice: the user's rule, the platform hook, encryption, the device's
 * own VIRTIO_F_ACCESS_PLATFORM, direct. What is chosen is then held against the
 * attach contract. A pure function.
 *
 * Context: any.
 * Return: the decision. A decision with @refused set means that the device must
 * not be driven at all: falling back silently would hide what was asked for.
 */
struct vdma_decision vdma_decide(const struct vdma_facts *facts)
{
	struct vdma_decision d = choose(facts);

	d.refused = refusal(facts, d.path);
	return d;
}
