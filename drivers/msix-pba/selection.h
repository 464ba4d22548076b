/* SPDX-License-Identifier: GPL-2.0 */
/* Which functions the user wants to have looked at. */
#ifndef _MSIX_PBA_SELECTION_H
#define _MSIX_PBA_SELECTION_H

#include <linux/types.h>

/* Room for an address: "0000:00:00.0". */
#define MSIX_ADDRESS_LEN 16

/**
 * struct msix_address - where a function is
 * @domain: PCI domain
 * @bus: bus number
 * @devfn: device and function
 */
struct msix_address {
	unsigned int domain;
	u8 bus;
	u8 devfn;
};

const char *msix_selection_next(const char **list, struct msix_address *address);
bool msix_selected(const char *list, const struct msix_address *address);

#endif /* _MSIX_PBA_SELECTION_H */
