// SPDX-License-Identifier: GPL-2.0
/* Which PCI functions are looked at: those of be2net, and those that the user names. */
#include <linux/ctype.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/pci.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "ids.h"

/* Longest text of one ID or address: "10000:00:1f.7". */
#define LONGEST_ID 15

struct bnm_ids bnm_ids;

/* The device table of drivers/net/ethernet/emulex/benet/be_main.c. */
static const struct pci_device_id be2net_ids[] = {
	{ PCI_DEVICE(0x19a2, 0x0211) },	/* BE2 */
	{ PCI_DEVICE(0x19a2, 0x0221) },	/* BE3 */
	{ PCI_DEVICE(0x19a2, 0x0700) },	/* BE2, OneConnect */
	{ PCI_DEVICE(0x19a2, 0x0710) },	/* BE3, OneConnect */
	{ PCI_DEVICE(0x10df, 0xe220) },	/* Lancer */
	{ PCI_DEVICE(0x10df, 0xe228) },	/* Lancer, virtual function */
	{ PCI_DEVICE(0x10df, 0x0720) },	/* Skyhawk */
	{ PCI_DEVICE(0x10df, 0x0728) },	/* Skyhawk, virtual function */
	{ }
};

static bool all_hex(const char *text, size_t len)
{
	while (len--)
		if (!isxdigit(*text++))
			return false;
	return true;
}

/* Just so many digits: sscanf() alone would take signs, blanks, and numbers that are too short. */
static bool parse_pci_id(const char *text, struct bnm_id *id)
{
	id->by_address = false;
	return strlen(text) == 9 && all_hex(text, 4) && all_hex(text + 5, 4) &&
	       sscanf(text, "%4hx:%4hx", &id->vendor, &id->device) == 2;
}

static bool parse_address(const char *text, struct bnm_id *id)
{
	const char *colon = strchr(text, ':');
	unsigned int domain, bus, slot, func;
	size_t digits;

	if (!colon)
		return false;
	digits = colon - text;
	if (digits < 4 || digits > 8 || strlen(colon) != 8 || !all_hex(text, digits) ||
	    !all_hex(colon + 1, 2) || !all_hex(colon + 4, 2) || !all_hex(colon + 7, 1))
		return false;
	if (sscanf(text, "%x:%2x:%2x.%1x", &domain, &bus, &slot, &func) != 4 ||
	    domain > INT_MAX || slot > 0x1f || func > 7)
		return false;
	*id = (struct bnm_id) {
		.by_address = true,
		.domain = domain,
		.bus = bus,
		.devfn = PCI_DEVFN(slot, func),
	};
	return true;
}

static bool same_id(const struct bnm_id *a, const struct bnm_id *b)
{
	if (a->by_address != b->by_address)
		return false;
	if (a->by_address)
		return a->domain == b->domain && a->bus == b->bus && a->devfn == b->devfn;
	return a->vendor == b->vendor && a->device == b->device;
}

static bool has_id(const struct bnm_ids *ids, const struct bnm_id *id)
{
	unsigned int i;

	for (i = 0; i < ids->count; i++)
		if (same_id(&ids->id[i], id))
			return true;
	return false;
}

static const char *parse_one(struct bnm_ids *ids, const char *text, size_t len)
{
	struct bnm_id id = { 0 };
	char one[LONGEST_ID + 1];

	if (!len)
		return "empty";
	if (len > LONGEST_ID)
		return "too long for a PCI ID or an address";
	memcpy(one, text, len);
	one[len] = '\0';
	if (!parse_pci_id(one, &id) && !parse_address(one, &id))
		return "neither a PCI ID like 8086:10d3 nor an address like 0000:00:05.0";
	if (has_id(ids, &id))
		return "named twice";
	ids->id[ids->count++] = id;
	return NULL;
}

static unsigned int count_parts(const char *text)
{
	unsigned int count = 1;

	for (; *text; text++)
		count += *text == ',';
	return count;
}

/**
 * bnm_ids_parse() - parse a list of PCI IDs and addresses
 * @ids: what was parsed; owned by the caller on success, else empty
 * @text: the list, separated by commas; NULL or "" for none
 * @why: on -EINVAL, what is wrong, as words for the user
 * @where: on -EINVAL, the part of @text that is wrong
 *
 * Context: may sleep.
 * Return: 0, -EINVAL or -ENOMEM.
 */
int bnm_ids_parse(struct bnm_ids *ids, const char *text, const char **why, const char **where)
{
	*ids = (struct bnm_ids) { 0 };
	if (!text || !*text)
		return 0;
	ids->id = kcalloc(count_parts(text), sizeof(*ids->id), GFP_KERNEL);
	if (!ids->id)
		return -ENOMEM;
	for (;;) {
		size_t len = strcspn(text, ",");

		*why = parse_one(ids, text, len);
		if (*why)
			break;
		if (!text[len])
			return 0;
		text += len + 1;
	}
	*where = text;
	bnm_ids_free(ids);
	return -EINVAL;
}

/**
 * bnm_ids_free() - free what bnm_ids_parse() made
 * @ids: may be empty; empty afterwards
 */
void bnm_ids_free(struct bnm_ids *ids)
{
	kfree(ids->id);
	*ids = (struct bnm_ids) { 0 };
}

/**
 * bnm_id_matches() - is this the function that is named?
 * @id: a PCI ID or an address
 * @pdev: a PCI function
 *
 * Return: whether it is.
 */
bool bnm_id_matches(const struct bnm_id *id, const struct pci_dev *pdev)
{
	if (id->by_address)
		return id->domain == pci_domain_nr(pdev->bus) &&
		       id->bus == pdev->bus->number && id->devfn == pdev->devfn;
	return id->vendor == pdev->vendor && id->device == pdev->device;
}

/**
 * bnm_ids_match() - is this function looked at?
 * @ids: what the user named
 * @pdev: a PCI function
 *
 * Return: whether it is one of be2net's, or the user named it.
 */
bool bnm_ids_match(const struct bnm_ids *ids, const struct pci_dev *pdev)
{
	const struct pci_device_id *known;
	unsigned int i;

	for (known = be2net_ids; known->vendor; known++)
		if (known->vendor == pdev->vendor && known->device == pdev->device)
			return true;
	for (i = 0; i < ids->count; i++)
		if (bnm_id_matches(&ids->id[i], pdev))
			return true;
	return false;
}
