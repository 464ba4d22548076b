// SPDX-License-Identifier: GPL-2.0
/* Which functions the user wants to have looked at. */
#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/pci.h>
#include <linux/string.h>

#include "selection.h"

static const char usage[] =
	"write DOMAIN:BUS:DEVICE.FUNCTION, like 0000:00:05.0, with commas between";

/* The domain has four digits, or more; sscanf() alone would take signs and spaces. */
static const char *parse(const char *word, struct msix_address *address)
{
	unsigned int bus, device, function;
	int end = 0;

	if (word[strspn(word, "0123456789abcdefABCDEF:.")] ||
	    sscanf(word, "%x:%2x:%2x.%1x%n", &address->domain, &bus, &device, &function,
		   &end) != 4 ||
	    word[end])
		return usage;
	if (device >= 32 || function >= 8)
		return "a bus has 32 devices of 8 functions";
	address->bus = bus;
	address->devfn = PCI_DEVFN(device, function);
	return NULL;
}

/**
 * msix_selection_next() - take the next address from a list
 * @list: the rest of the list, separated by commas; moved behind the address,
 *	and to NULL behind the last one
 * @address: the result
 *
 * Context: any.
 * Return: NULL, or what is wrong with the list, as a sentence for the user.
 */
const char *msix_selection_next(const char **list, struct msix_address *address)
{
	size_t length = strcspn(*list, ",");
	char word[MSIX_ADDRESS_LEN] = "";
	const char *why = usage;

	if (length < sizeof(word)) {
		memcpy(word, *list, length);
		why = parse(word, address);
	}
	*list = (*list)[length] ? *list + length + 1 : NULL;
	return why;
}

/**
 * msix_selected() - has the user asked for a function?
 * @list: a valid list; NULL or empty: for all
 * @address: the function
 *
 * Context: any.
 * Return: true if so.
 */
bool msix_selected(const char *list, const struct msix_address *address)
{
	struct msix_address named;

	if (!list || !*list)
		return true;
	while (list)
		if (!msix_selection_next(&list, &named) && named.domain == address->domain &&
		    named.bus == address->bus && named.devfn == address->devfn)
			return true;
	return false;
}
