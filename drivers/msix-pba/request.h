/* SPDX-License-Identifier: GPL-2.0 */
/* Which pages the user wants to have measured. No side effects. */
#ifndef _MSIX_PBA_REQUEST_H
#define _MSIX_PBA_REQUEST_H

#include <linux/types.h>

#include "layout.h"

/* The page that the verdict is on, and one to compare it with. */
#define MSIX_REQUEST_PAGES	2

/**
 * struct msix_place - four bytes of a BAR
 * @bar: its number
 * @offset: of the first byte in it, a multiple of 4
 */
struct msix_place {
	unsigned int bar;
	u64 offset;
};

/**
 * struct msix_request - what is to be read
 * @count: number of places, 1 or 2
 * @place: the places; the verdict is on the first
 */
struct msix_request {
	unsigned int count;
	struct msix_place place[MSIX_REQUEST_PAGES];
};

const char *msix_request_parse(struct msix_request *request, char *text,
			       const struct msix_layout *layout);

#endif /* _MSIX_PBA_REQUEST_H */
