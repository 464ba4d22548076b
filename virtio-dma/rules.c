// SPDX-License-Identifier: GPL-2.0
/* Parsing and looking up the user's rules. */
#include <linux/ctype.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "rules.h"

/**
 * struct vdma_rule - one rule
 * @selector: what it names
 * @kind: what sort of name that is: a reason between VDMA_BY_TYPE_RULE and
 *	VDMA_BY_VIRTIO_RULE; the greater, the more specific
 * @path: the path it asks for
 */
struct vdma_rule {
	const char *selector;
	enum vdma_reason kind;
	enum virtio_dma_path path;
};

static bool is_virtio_name(const char *s)
{
	const char *digits = s + strlen("virtio");

	if (strncmp(s, "virtio", strlen("virtio")) || !*digits)
		return false;
	while (isdigit(*digits))
		digits++;
	return !*digits;
}

/* As the kernel writes it, with the domain in at least four digits. */
static bool is_pci_name(const char *s)
{
	unsigned int domain, bus, slot, function;
	char name[32];

	if (sscanf(s, "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4)
		return false;
	snprintf(name, sizeof(name), "%04x:%02x:%02x.%d", domain, bus, slot, function);
	return !strcmp(s, name);
}

/*
 * Of the names of MMIO devices, those from ACPI have a colon (LNRO0005:00), and
 * those from a device tree or the command line a dot (virtio-mmio.0).
 */
static bool is_device_name(const char *s)
{
	const char *colon = strchr(s, ':');

	if (colon && (strchr(s, '.') || strchr(colon + 1, ':')))
		return is_pci_name(s);
	if (!isalnum(s[0]) || !isalnum(s[strlen(s) - 1]))
		return false;
	while (isalnum(*s) || (*s && strchr("_.:-", *s)))
		s++;
	return !*s;
}

/*
 * The names of PCI and MMIO devices have a colon or a dot in them, those of
 * types have neither: so a misspelt type is never taken for a device that may
 * still come.
 */
static const char *parse_selector(struct vdma_rule *rule, const char *s)
{
	const struct vdma_type *type = vdma_type_by_name(s, strlen(s));

	rule->selector = s;
	if (is_virtio_name(s)) {
		rule->kind = VDMA_BY_VIRTIO_RULE;
		return NULL;
	}
	if (strpbrk(s, ":.")) {
		if (!is_device_name(s))
			return "no name of a device; write PCI devices like 0000:00:05.0";
		rule->kind = VDMA_BY_DEVICE_RULE;
		return NULL;
	}
	if (!type)
		return "unknown device; use net, blk, ..., a PCI or MMIO device name, or virtioN";
	if (type->routing == VDMA_NEVER)
		return "devices of this type can not be routed";
	rule->kind = VDMA_BY_TYPE_RULE;
	return NULL;
}

static const char *parse_path(struct vdma_rule *rule, const char *s)
{
	rule->path = vdma_path_by_name(s, strlen(s));
	if (rule->path == VIRTIO_DMA_PATHS || rule->path == VIRTIO_DMA_AUTO)
		return "unknown path; use off, direct, platform, swiotlb or bounce";
	return NULL;
}

static const char *parse_rule(struct vdma_rules *rules, char *s)
{
	struct vdma_rule *rule = &rules->rule[rules->count];
	char *path = strchr(s, '=');
	const char *why;
	unsigned int i;

	if (!path)
		return "not of the form DEVICE=PATH";
	why = parse_path(rule, path + 1);
	if (why)
		return why;
	*path = '\0';
	why = parse_selector(rule, s);
	if (why)
		return why;
	for (i = 0; i < rules->count; i++)
		if (!strcmp(rules->rule[i].selector, rule->selector))
			return "this device has a rule already";
	rules->count++;
	return NULL;
}

static unsigned int count_commas(const char *s)
{
	unsigned int n = 0;

	for (; *s; s++)
		n += *s == ',';
	return n;
}

/**
 * vdma_rules_parse() - parse a list of rules
 * @rules: the result; on success to be freed with vdma_rules_free()
 * @text: comma-separated DEVICE=PATH; NULL and "" are an empty list
 * @why: on -EINVAL, what is wrong
 * @where: on -EINVAL, the rule it is wrong with, part of @text
 *
 * Context: may sleep.
 * Return: 0, -EINVAL, or -ENOMEM.
 */
int vdma_rules_parse(struct vdma_rules *rules, const char *text,
		     const char **why, const char **where)
{
	char *rest, *one;

	memset(rules, 0, sizeof(*rules));
	if (!text || !*text)
		return 0;
	rules->text = kstrdup(text, GFP_KERNEL);
	rules->rule = kcalloc(count_commas(text) + 1, sizeof(*rules->rule),
			      GFP_KERNEL);
	if (!rules->text || !rules->rule) {
		vdma_rules_free(rules);
		return -ENOMEM;
	}

	rest = rules->text;
	while ((one = strsep(&rest, ","))) {
		size_t offset = one - rules->text;

		*why = parse_rule(rules, one);
		if (*why) {
			*where = text + offset;
			vdma_rules_free(rules);
			return -EINVAL;
		}
	}
	return 0;
}

/**
 * vdma_rules_free() - free what vdma_rules_parse() allocated
 * @rules: the rules; empty afterwards
 *
 * Context: may sleep.
 */
void vdma_rules_free(struct vdma_rules *rules)
{
	kfree(rules->rule);
	kfree(rules->text);
	memset(rules, 0, sizeof(*rules));
}

static bool rule_matches(const struct vdma_rule *rule,
			 const struct vdma_names *names)
{
	switch (rule->kind) {
	case VDMA_BY_TYPE_RULE:
		return !strcmp(rule->selector, names->type);
	case VDMA_BY_DEVICE_RULE:
		return !strcmp(rule->selector, names->device);
	case VDMA_BY_VIRTIO_RULE:
		return !strcmp(rule->selector, names->virtio);
	default:
		return false;
	}
}

/**
 * vdma_rules_lookup() - find the most specific rule for a device
 * @rules: the rules
 * @names: the names of the device
 * @reason: what kind of rule it is; untouched if there is none
 *
 * Context: any.
 * Return: the path the rule asks for, VIRTIO_DMA_AUTO if there is none.
 */
enum virtio_dma_path vdma_rules_lookup(const struct vdma_rules *rules,
				       const struct vdma_names *names,
				       enum vdma_reason *reason)
{
	const struct vdma_rule *best = NULL;
	unsigned int i;

	for (i = 0; i < rules->count; i++) {
		const struct vdma_rule *rule = &rules->rule[i];

		if (rule_matches(rule, names) && (!best || rule->kind > best->kind))
			best = rule;
	}
	if (!best)
		return VIRTIO_DMA_AUTO;
	*reason = best->kind;
	return best->path;
}
