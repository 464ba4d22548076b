/* SPDX-License-Identifier: GPL-2.0 */
/* Which PCI functions are looked at. */
#ifndef _BNM_IDS_H
#define _BNM_IDS_H

#include <linux/types.h>

struct pci_dev;

/**
 * struct bnm_id - one PCI ID or one address
 * @by_address: it is an address
 * @vendor: PCI vendor ID
 * @device: PCI device ID
 * @domain: PCI domain of the address
 * @bus: its bus
 * @devfn: its device and function
 */
struct bnm_id {
	bool by_address;
	u16 vendor;
	u16 device;
	int domain;
	u8 bus;
	u8 devfn;
};

/**
 * struct bnm_ids - what the user named
 * @id: array
 * @count: of ids
 */
struct bnm_ids {
	struct bnm_id *id;
	unsigned int count;
};

/* What is looked at besides what the driver be2net names. */
extern struct bnm_ids bnm_ids;

int bnm_ids_parse(struct bnm_ids *ids, const char *text, const char **why, const char **where);
void bnm_ids_free(struct bnm_ids *ids);
bool bnm_id_matches(const struct bnm_id *id, const struct pci_dev *pdev);
bool bnm_ids_match(const struct bnm_ids *ids, const struct pci_dev *pdev);

#endif /* _BNM_IDS_H */
