// SPDX-License-Identifier: GPL-2.0
/* Which pages the user wants to have measured. */
#include <linux/kernel.h>
#include <linux/string.h>

#include "request.h"

#define READ_BYTES	4

static const char usage[] = "write \"pba\", \"barN+OFFSET\", or two of these to compare";

static const char *parse_place(struct msix_place *place, const char *word,
			       const struct msix_layout *layout)
{
	const char *rest = word;

	if (!strcmp(word, "pba")) {
		if (layout->fault)
			return "the MSI-X capability makes no sense, see layout: name a page";
		place->bar = layout->pba.bar;
		place->offset = layout->pba.offset;
		return NULL;
	}
	if (strncmp(rest, "bar", strlen("bar")))
		return usage;
	rest += strlen("bar");
	if (rest[0] < '0' || rest[0] >= '0' + PCI_STD_NUM_BARS || rest[1] != '+')
		return "BARs are numbered 0 to 5: write barN+OFFSET";
	place->bar = rest[0] - '0';
	if (kstrtou64(rest + 2, 0, &place->offset))
		return "the offset is no number: write barN+OFFSET, like bar0+0x1000";
	if (place->offset % READ_BYTES)
		return "the offset must be a multiple of 4";
	return NULL;
}

/**
 * msix_request_parse() - understand what the user wants to have measured
 * @request: the result
 * @text: what was written; modified
 * @layout: where the PBA is
 *
 * Only what is named is read: reading a register can have side effects, of
 * which nothing is known here.
 *
 * Context: any.
 * Return: NULL, or why it was refused, as a sentence for the user.
 */
const char *msix_request_parse(struct msix_request *request, char *text,
			       const struct msix_layout *layout)
{
	const char *why;
	char *word;

	request->count = 0;
	text = strim(text);
	while ((word = strsep(&text, " \t\n"))) {
		if (!*word)
			continue;
		if (request->count == MSIX_REQUEST_PAGES)
			return usage;
		why = parse_place(&request->place[request->count], word, layout);
		if (why)
			return why;
		request->count++;
	}
	return request->count ? NULL : usage;
}
