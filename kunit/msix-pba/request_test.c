// SPDX-License-Identifier: GPL-2.0
/* Which pages are to be measured, as users write it, right and wrong. */
#include <kunit/test.h>
#include <linux/string.h>

#include "request.h"

#define LAST_OFFSET 0xfffffffffffffffcULL

/**
 * struct request_row - what was written, and what it means
 * @text: what was written
 * @count: places it names; 0: it is refused
 * @place: the places
 */
struct request_row {
	const char *text;
	unsigned int count;
	struct msix_place place[MSIX_REQUEST_PAGES];
};

static const struct request_row request_rows[] = {
	{ "pba", 1, { { 3, 0x2000 } } },
	{ "pba\n", 1, { { 3, 0x2000 } } },
	{ "  pba\t\n", 1, { { 3, 0x2000 } } },
	{ "pba bar0+0x1000", 2, { { 3, 0x2000 }, { 0, 0x1000 } } },
	{ "bar0+0x1000 pba", 2, { { 0, 0x1000 }, { 3, 0x2000 } } },
	{ "bar5+4096   bar2+0", 2, { { 5, 4096 }, { 2, 0 } } },
	{ "bar2+0xfffffffffffffffc", 1, { { 2, LAST_OFFSET } } },
	{ "pba\tpba", 2, { { 3, 0x2000 }, { 3, 0x2000 } } },
	{ "" },
	{ "\n" },
	{ "1" },
	{ "PBA" },
	{ "pbax" },
	{ "table" },
	{ "bar" },
	{ "bar0" },
	{ "bar0+" },
	{ "bar0-4" },
	{ "bar0+-4" },
	{ "bar6+0" },
	{ "bar-1+0" },
	{ "bar10+0" },
	{ "bar0+0x" },
	{ "bar0+0x10000000000000000" },
	{ "bar0+1" },
	{ "bar0+0x2002" },
	{ "bar0+0x1000 bar0+3" },
	{ "pba pba pba" },
	{ "pba,bar0+0" },
};

static void request_name(const struct request_row *row, char *name)
{
	snprintf(name, KUNIT_PARAM_DESC_SIZE, "\"%*pEp\"", (int)strlen(row->text), row->text);
}

KUNIT_ARRAY_PARAM(requests, request_rows, request_name);

static const struct msix_layout e1000e = { .pba = { .bar = 3, .offset = 0x2000 } };

static void request_row(struct kunit *test)
{
	const struct request_row *row = test->param_value;
	struct msix_request request;
	char text[64];
	const char *why;
	unsigned int i;

	strscpy(text, row->text, sizeof(text));
	why = msix_request_parse(&request, text, &e1000e);
	if (!row->count) {
		KUNIT_EXPECT_NOT_NULL(test, why);
		return;
	}
	KUNIT_ASSERT_NULL(test, why);
	KUNIT_ASSERT_EQ(test, request.count, row->count);
	for (i = 0; i < row->count; i++) {
		KUNIT_EXPECT_EQ(test, request.place[i].bar, row->place[i].bar);
		KUNIT_EXPECT_EQ(test, request.place[i].offset, row->place[i].offset);
	}
}

/* Where there is no sense in the capability the PBA is nowhere; a page can still be named. */
static void request_malformed(struct kunit *test)
{
	struct msix_layout layout = { .fault = MSIX_OVERLAP, .pba = { .bar = 7 } };
	char pba[] = "bar0+0x10 pba", page[] = "bar0+0x10";
	struct msix_request request;

	KUNIT_EXPECT_STREQ(test, msix_request_parse(&request, pba, &layout),
			   "the MSI-X capability makes no sense, see layout: name a page");
	KUNIT_EXPECT_NULL(test, msix_request_parse(&request, page, &layout));
}

static struct kunit_case request_cases[] = {
	KUNIT_CASE_PARAM(request_row, requests_gen_params),
	KUNIT_CASE(request_malformed),
	{}
};

static struct kunit_suite request_suite = {
	.name = "msix_pba_request",
	.test_cases = request_cases,
};

kunit_test_suite(request_suite);
