// SPDX-License-Identifier: GPL-2.0
/* The CPUs' tables, cell by cell, as the manuals print them. */
#include <kunit/test.h>
#include <linux/string.h>

#include "resolve.h"

#define MOST_COLUMNS 6

/**
 * struct table - a table as it is printed
 * @columns: types of the columns
 * @count: number of columns
 * @rows: a row begins with its type, then come the results
 * @rows_count: number of rows
 */
struct table {
	enum gmt_type columns[MOST_COLUMNS];
	unsigned int count;
	const char *rows[7];
	unsigned int rows_count;
};

/*
 * SDM volume 3, "Effective page-level memory types"; with an EPT entry in the place of
 * the MTRR, "EPT and memory typing".
 */
static const struct table intel = {
	{ GMT_UC, GMT_UC_MINUS, GMT_WC, GMT_WT, GMT_WP, GMT_WB }, 6, {
	"UC   UC   UC   WC   UC   UC   UC",
	"WC   UC   WC   WC   UC   UC   WC",
	"WT   UC   UC   WC   WT   WP   WT",
	"WP   UC   WC   WC   WT   WP   WP",
	"WB   UC   UC   WC   WT   WP   WB",
	}, 5 };

/* APM volume 2, table 15-19: rows by the guest's PAT, columns by the host's. */
static const struct table amd_guest_host = {
	{ GMT_UC, GMT_UC_MINUS, GMT_WC, GMT_WP, GMT_WT, GMT_WB }, 6, {
	"UC   UC   UC   UC   UC   UC   UC",
	"UC-  UC   UC-  WC   UC   UC   UC",
	"WC   WC   WC   WC   WC+  WC+  WC+",
	"WP   UC   UC   UC   WP   UC   WP",
	"WT   UC   UC   UC   UC   WT   WT",
	"WB   UC   UC   WC   WP   WT   WB",
	}, 6 };

/* Tables 7-11 and, with the row WC+, 15-20: columns by the MTRR. */
static const struct table amd_mtrr = {
	{ GMT_UC, GMT_WC, GMT_WP, GMT_WT, GMT_WB }, 5, {
	"UC   UC   CD   CD   CD   CD",
	"UC-  UC   WC   CD   CD   CD",
	"WC   WC   WC   WC   WC   WC",
	"WC+  WC   WC   WC+  WC+  WC+",
	"WP   UC   CD   WP   CD   WP",
	"WT   UC   CD   CD   WT   WT",
	"WB   UC   WC   WP   WT   WB",
	}, 7 };

/* The type that is named at a place of a row. */
static enum gmt_type word(struct kunit *test, const char *row, unsigned int place)
{
	enum gmt_type type;
	size_t length;

	for (; place; place--) {
		row += strcspn(row, " ");
		row += strspn(row, " ");
	}
	length = strcspn(row, " ");
	for (type = 0; type < GMT_INVALID; type++) {
		const char *name = gmt_type_name(type);

		if (strlen(name) == length && !strncmp(name, row, length))
			return type;
	}
	KUNIT_FAIL(test, "no type: %s", row);
	return GMT_INVALID;
}

typedef enum gmt_type (*combine)(enum gmt_type row, enum gmt_type column);

static void check_table(struct kunit *test, const struct table *table, combine combine)
{
	unsigned int i, j;

	for (i = 0; i < table->rows_count; i++) {
		enum gmt_type row = word(test, table->rows[i], 0);

		for (j = 0; j < table->count; j++)
			KUNIT_EXPECT_STREQ_MSG(test, gmt_type_name(combine(row, table->columns[j])),
					       gmt_type_name(word(test, table->rows[i], j + 1)),
					       "row %s, column %s", gmt_type_name(row),
					       gmt_type_name(table->columns[j]));
	}
}

static void resolve_intel_native(struct kunit *test)
{
	check_table(test, &intel, gmt_intel_native);
}

static enum gmt_type ept_with_pat(enum gmt_type ept, enum gmt_type pat)
{
	struct gmt_ept_entry entry = { gmt_code_of_type(ept), false };

	return gmt_intel_nested(entry, pat, true, false);
}

static void resolve_intel_nested(struct kunit *test)
{
	check_table(test, &intel, ept_with_pat);
}

static void resolve_intel_ignore_pat(struct kunit *test)
{
	static const enum gmt_type types[] = { GMT_UC, GMT_WC, GMT_WT, GMT_WP, GMT_WB };
	enum gmt_type pat;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		struct gmt_ept_entry entry = { gmt_code_of_type(types[i]), true };

		for (pat = 0; pat < GMT_ENCODED; pat++)
			KUNIT_EXPECT_EQ(test, gmt_intel_nested(entry, pat, true, false), types[i]);
	}
}

static void resolve_intel_modes(struct kunit *test)
{
	struct gmt_ept_entry wb = { 6, false }, wb_only = { 6, true };
	u8 code;

	/* no paging, no PAT */
	KUNIT_EXPECT_EQ(test, gmt_intel_nested(wb, GMT_UC, false, false), GMT_WB);
	KUNIT_EXPECT_EQ(test, gmt_intel_nested(wb_only, GMT_WB, true, true), GMT_UC);
	for (code = 0; code < 8; code++) {
		struct gmt_ept_entry entry = { code, false };
		bool reserved = code == 2 || code == 3 || code == 7;

		KUNIT_EXPECT_EQ_MSG(test, reserved,
				    gmt_intel_nested(entry, GMT_WB, true, false) == GMT_INVALID,
				    "code %u", code);
		entry.ignore_pat = true;
		KUNIT_EXPECT_EQ(test, reserved,
				gmt_intel_nested(entry, GMT_WB, true, true) == GMT_INVALID);
	}
}

static enum gmt_type amd_native_by_pat(enum gmt_type pat, enum gmt_type mtrr)
{
	return gmt_amd_native(mtrr, pat);
}

static void resolve_amd_native(struct kunit *test)
{
	struct table native = amd_mtrr;

	/* without nesting there is no WC+ */
	native.rows[3] = native.rows[6];
	native.rows_count = 6;
	check_table(test, &native, amd_native_by_pat);
	KUNIT_EXPECT_EQ(test, gmt_amd_native(GMT_WB, GMT_WC_PLUS), GMT_WC_PLUS);
}

/* Every guest's and host's PAT with every MTRR, by way of the printed tables. */
static void resolve_amd_nested(struct kunit *test)
{
	const struct table *first = &amd_guest_host;
	unsigned int guest, host, row, mtrr;

	for (guest = 0; guest < first->rows_count; guest++) {
		enum gmt_type guest_pat = word(test, first->rows[guest], 0);

		for (host = 0; host < first->count; host++) {
			enum gmt_type both = word(test, first->rows[guest], host + 1);

			for (row = 0; word(test, amd_mtrr.rows[row], 0) != both; row++)
				;
			for (mtrr = 0; mtrr < amd_mtrr.count; mtrr++)
				KUNIT_EXPECT_EQ(test, word(test, amd_mtrr.rows[row], mtrr + 1),
						gmt_amd_nested(guest_pat, first->columns[host],
							       amd_mtrr.columns[mtrr]));
		}
	}
}

static void resolve_nonsense(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, gmt_intel_native(GMT_UNDEFINED, GMT_WC), GMT_UNDEFINED);
	KUNIT_EXPECT_EQ(test, gmt_intel_native(GMT_WB, GMT_INVALID), GMT_INVALID);
	/* no MTRR holds UC- */
	KUNIT_EXPECT_EQ(test, gmt_intel_native(GMT_UC_MINUS, GMT_WB), GMT_INVALID);
	KUNIT_EXPECT_EQ(test, gmt_amd_native(GMT_UC_MINUS, GMT_WC), GMT_INVALID);
	KUNIT_EXPECT_EQ(test, gmt_amd_nested(GMT_WC, GMT_WB, GMT_UNDEFINED), GMT_UNDEFINED);
	KUNIT_EXPECT_EQ(test, gmt_amd_nested(GMT_INVALID, GMT_WB, GMT_WB), GMT_INVALID);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(resolve_intel_native),
	KUNIT_CASE(resolve_intel_nested),
	KUNIT_CASE(resolve_intel_ignore_pat),
	KUNIT_CASE(resolve_intel_modes),
	KUNIT_CASE(resolve_amd_native),
	KUNIT_CASE(resolve_amd_nested),
	KUNIT_CASE(resolve_nonsense),
	{}
};

static struct kunit_suite suite = {
	.name = "guest_memtype_resolve",
	.test_cases = cases,
};

kunit_test_suite(suite);
