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

static bool offered(const struct vdma_facts *f)
{
	return f->features & BIT_ULL(VIRTIO_F_ACCESS_PLATFORM);
}

/* Types that nobody but the user may route. */
static bool only_by_rule(const struct vdma_type *type)
{
	return type->routing == VDMA_RAW || type->routing == VDMA_NEVER;
}

/**
 * vdma_asks_hook() - is the choice the platform hook's to make?
 * @facts: all but the hook's answer
 *
 * Context: any.
 * Return: true if the hook is to be asked.
 */
bool vdma_asks_hook(const struct vdma_facts *facts)
{
	return facts->rule == VIRTIO_DMA_AUTO && !only_by_rule(facts->type);
}

static bool left_alone(const struct vdma_facts *f, enum vdma_reason *reason)
{
	if (!f->transport_known)
		*reason = VDMA_LEFT_TRANSPORT;
	else if (f->xen)
		*reason = VDMA_LEFT_XEN;
	else if (f->type->routing == VDMA_RAW)
		*reason = VDMA_LEFT_RAW;
	else if (f->type->routing == VDMA_NEVER)
		*reason = VDMA_LEFT_NEVER;
	else if (f->type->routing == VDMA_ON_REQUEST)
		*reason = VDMA_LEFT_UNTESTED;
	else
		return false;
	return true;
}

static enum virtio_dma_path choose(const struct vdma_facts *f,
				   enum vdma_reason *reason)
{
	if (f->rule != VIRTIO_DMA_AUTO) {
		*reason = f->rule_reason;
		return f->rule;
	}
	if (f->hook != VIRTIO_DMA_AUTO) {
		*reason = VDMA_BY_HOOK;
		return f->hook;
	}
	if (left_alone(f, reason))
		return VIRTIO_DMA_OFF;
	if (f->encrypted) {
		*reason = VDMA_BY_ENCRYPTION;
		return VIRTIO_DMA_BOUNCE;
	}
	if (offered(f)) {
		*reason = VDMA_BY_OFFER;
		return VIRTIO_DMA_PLATFORM;
	}
	*reason = VDMA_BY_DEFAULT;
	return VIRTIO_DMA_DIRECT;
}

/* why a path must not be used, and what to do */
static const char unknown_transport[] =
	"only virtio-pci and virtio-mmio devices can be routed: choose off";
static const char under_xen[] =
	"Xen gives virtio its own addresses: choose off";
static const char never_routed[] =
	"an IOMMU cannot stand behind itself: choose off";
static const char bus_offset[] =
	"the device's bus counts addresses from elsewhere (dma-ranges): choose off";
static const char not_iommu_addresses[] =
	"IOMMU addresses are not what this device takes: choose direct, bounce or swiotlb";
static const char behind_iommu[] =
	"an IOMMU translates this device's addresses: choose platform";
static const char unmaps_late[] =
	"this type unmaps buffers after its driver is gone: choose off";
static const char maps_twice[] =
	"this type maps one buffer several times at once: choose direct";
static const char encrypted[] =
	"the device cannot read encrypted memory: choose bounce";
static const char incoherent[] =
	"the device needs cache maintenance: choose platform";
static const char no_such_path[] =
	"no such path";

/* Paths that replace what the platform does: they give guest-physical addresses. */
static const char *refusal_of_replacement(const struct vdma_facts *f)
{
	bool translated = f->domain == VDMA_DOMAIN_TRANSLATED;

	if (offered(f) && translated)
		return behind_iommu;
	if (translated && f->type->unmaps_late)
		return unmaps_late;
	return NULL;
}

/*
 * The attach contract. A device that does not offer VIRTIO_F_ACCESS_PLATFORM
 * takes guest-physical addresses, whatever stands between (VIRTIO 1.3, 6.1);
 * one that offers it takes what the platform translates.
 */
static const char *refusal(const struct vdma_facts *f, enum virtio_dma_path path)
{
	if (path == VIRTIO_DMA_OFF)
		return NULL;
	if (!f->transport_known)
		return unknown_transport;
	if (f->xen)
		return under_xen;
	if (f->type->routing == VDMA_NEVER)
		return never_routed;
	if (f->offset && !(offered(f) && path == VIRTIO_DMA_PLATFORM))
		return bus_offset;

	switch (path) {
	case VIRTIO_DMA_PLATFORM:
		if (!offered(f) && f->domain == VDMA_DOMAIN_TRANSLATED)
			return not_iommu_addresses;
		return NULL;
	case VIRTIO_DMA_DIRECT:
		if (f->encrypted)
			return encrypted;
		if (offered(f) && !f->coherent)
			return incoherent;
		return refusal_of_replacement(f);
	case VIRTIO_DMA_BOUNCE:
		if (f->type->unmaps_late)
			return unmaps_late;
		if (f->type->maps_twice)
			return maps_twice;
		if (offered(f) && !f->coherent)
			return incoherent;
		return refusal_of_replacement(f);
	case VIRTIO_DMA_SWIOTLB:
		if (f->type->maps_twice)
			return maps_twice;
		return refusal_of_replacement(f);
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
	struct vdma_decision d = { .features = facts->features };

	d.path = choose(facts, &d.reason);
	d.refused = refusal(facts, d.path);
	if (d.reason == VDMA_BY_HOOK)
		strscpy(d.hook_name, facts->hook_name, sizeof(d.hook_name));
	return d;
}
