// SPDX-License-Identifier: GPL-2.0
/* Lists of PCI addresses, as users write them, right and wrong. */
#include <kunit/test.h>
#include <linux/pci.h>
#include <linux/string.h>

#include "selection.h"

/**
 * struct selection_row - a list, and what is found in it
 * @list: the list
 * @valid: how many addresses come before the first wrong one
 * @wrong: there is a wrong one
 * @last: the last valid address
 */
struct selection_row {
	const char *list;
	unsigned int valid;
	bool wrong;
	struct msix_address last;
};

static const struct selection_row selection_rows[] = {
	{ "0000:00:05.0", 1, false, { 0, 0, PCI_DEVFN(5, 0) } },
	{ "0000:00:05.0,0001:fe:1f.7", 2, false, { 1, 0xfe, PCI_DEVFN(31, 7) } },
	{ "10000:E1:00.0", 1, false, { 0x10000, 0xe1, 0 } },
	{ "0:0:5.0", 1, false, { 0, 0, PCI_DEVFN(5, 0) } },
	{ "", 0, true },
	{ "00:05.0", 0, true },
	{ "0000:00:05", 0, true },
	{ "0000:00:05.", 0, true },
	{ "0000:00:05.8", 0, true },
	{ "0000:00:20.0", 0, true },
	{ "0000:00:05.0x", 0, true },
	{ "0000:00:05.01", 0, true },
	{ "0000:00:-5.0", 0, true },
	{ "0000:00: 5.0", 0, true },
	{ "0000:00:0x5.0", 0, true },
	{ "0000:100:05.0", 0, true },
	{ "nvme0", 0, true },
	{ "0000:00:05.0,", 1, true, { 0, 0, PCI_DEVFN(5, 0) } },
	{ ",0000:00:05.0", 0, true },
	{ "0000:00:05.0 0000:00:06.0", 0, true },
	{ "0000:00:05.0,00000000000000000000000000000000000000000000:00:05.0", 1, true,
		{ 0, 0, PCI_DEVFN(5, 0) } },
};

static void selection_name(const struct selection_row *row, char *name)
{
	snprintf(name, KUNIT_PARAM_DESC_SIZE, "\"%s\"", row->list);
}

KUNIT_ARRAY_PARAM(selections, selection_rows, selection_name);

static void selection_row(struct kunit *test)
{
	const struct selection_row *row = test->param_value;
	struct msix_address address, last = {};
	const char *list = row->list;
	const char *why = NULL;
	unsigned int valid = 0;

	while (list && !why) {
		why = msix_selection_next(&list, &address);
		if (!why) {
			valid++;
			last = address;
		}
	}
	KUNIT_EXPECT_EQ(test, !!why, row->wrong);
	KUNIT_EXPECT_EQ(test, valid, row->valid);
	KUNIT_EXPECT_EQ(test, last.domain, row->last.domain);
	KUNIT_EXPECT_EQ(test, last.bus, row->last.bus);
	KUNIT_EXPECT_EQ(test, last.devfn, row->last.devfn);
}

static void selection_selects(struct kunit *test)
{
	struct msix_address address = { 1, 0xfe, PCI_DEVFN(31, 7) };
	const char *list = "0000:00:05.0,0001:fe:1f.7";

	KUNIT_EXPECT_TRUE(test, msix_selected(NULL, &address));
	KUNIT_EXPECT_TRUE(test, msix_selected("", &address));
	KUNIT_EXPECT_TRUE(test, msix_selected(list, &address));
	address.domain = 0;
	KUNIT_EXPECT_FALSE(test, msix_selected(list, &address));
	address = (struct msix_address) { 1, 0xfd, PCI_DEVFN(31, 7) };
	KUNIT_EXPECT_FALSE(test, msix_selected(list, &address));
	address = (struct msix_address) { 1, 0xfe, PCI_DEVFN(31, 6) };
	KUNIT_EXPECT_FALSE(test, msix_selected(list, &address));
}

static struct kunit_case selection_cases[] = {
	KUNIT_CASE_PARAM(selection_row, selections_gen_params),
	KUNIT_CASE(selection_selects),
	{}
};

static struct kunit_suite selection_suite = {
	.name = "msix_pba_selection",
	.test_cases = selection_cases,
};

kunit_test_suite(selection_suite);
