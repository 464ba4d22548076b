/* SPDX-License-Identifier: GPL-2.0 */
/* The user's rules: "blk=swiotlb,net=direct,0000:00:05.0=off". No side effects. */
#ifndef _VDMA_RULES_H
#define _VDMA_RULES_H

#include "policy.h"

struct vdma_rule;

/**
 * struct vdma_rules - a parsed list of rules
 * @rule: the rules, in the order given
 * @count: how many
 * @text: the names that @rule points to
 */
struct vdma_rules {
	struct vdma_rule *rule;
	unsigned int count;
	char *text;
};

/**
 * struct vdma_names - what a rule can name a device by
 * @type: name of its type, "blk"
 * @device: name of its PCI or MMIO device, "0000:00:05.0"
 * @virtio: name on the virtio bus, "virtio3"
 */
struct vdma_names {
	const char *type;
	const char *device;
	const char *virtio;
};

int vdma_rules_parse(struct vdma_rules *rules, const char *text,
		     const char **why, const char **where);
void vdma_rules_free(struct vdma_rules *rules);
enum virtio_dma_path vdma_rules_lookup(const struct vdma_rules *rules,
				       const struct vdma_names *names,
				       enum vdma_reason *reason);

#endif /* _VDMA_RULES_H */
