// SPDX-License-Identifier: GPL-2.0
/* Reports as a whole: users and programs read them line by line and member by member. */
#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include "report.h"

/* 65 vectors at 0x2000, PBA at 0x3000, in a BAR of 16 KiB: QEMU's nvme. */
static struct msix_layout nvme(void)
{
	struct msix_config config = {
		.control = 64, .table = 0x2000, .pba = 0x3000, .bars = PCI_STD_NUM_BARS,
		.bar[0] = { .size = SZ_16K, .memory = true },
	};

	return msix_layout(&config, SZ_4K);
}

static struct msix_layout malformed(void)
{
	struct msix_config config = {
		.control = 64, .table = 0x2006, .pba = 0x3000, .bars = PCI_STD_NUM_BARS,
		.bar[0] = { .size = SZ_16K, .memory = true },
	};

	return msix_layout(&config, SZ_4K);
}

static const struct msix_measurement trapped = {
	.request = { .count = 2, .place = { { 0, 0x3000 }, { 0, 0x1000 } } },
	.cost = { { 808, 150000000, 160000499, 170000000 }, { 808, 90000, 100050, 110999 } },
	.leave = { 808, 110000000, 120000000, 130000000 },
	.reason = MSIX_TOO_SLOW,
};

static char *buffer(struct kunit *test, struct seq_buf *out)
{
	char *text = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, text);
	seq_buf_init(out, text, PAGE_SIZE);
	return text;
}

static void report_layout(struct kunit *test)
{
	struct msix_layout layout = nvme();
	struct seq_buf out;
	char *text = buffer(test, &out);

	msix_report_layout(&out, &layout);
	KUNIT_EXPECT_STREQ(test, text,
			   "vectors: 65\n"
			   "page size: 4096\n"
			   "table: bar 0, offset 0x2000, 1040 bytes, pages 0x2000-0x2fff\n"
			   "pba: bar 0, offset 0x3000, 16 bytes, pages 0x3000-0x3fff\n"
			   "fault: none\n"
			   "bar of the pba: 16384 bytes, 2 other pages\n"
			   "page of the pba: shared with nothing\n"
			   "not accounted for there: 0 bytes before the pba, 4080 after\n"
			   "page of the table: shared with nothing\n"
			   "not accounted for there: 0 bytes before the table, 3056 after\n"
			   "isolation: 8 KiB\n");
}

/* The README shows it: registers on the page of both. */
static void report_edge_tpu(struct kunit *test)
{
	struct msix_config config = {
		.control = 127, .table = 0x46802, .pba = 0x4606a, .bars = PCI_STD_NUM_BARS,
		.bar[2] = { .size = SZ_1M, .memory = true },
	};
	struct msix_layout layout = msix_layout(&config, SZ_4K);
	struct seq_buf out;
	char *text = buffer(test, &out);

	msix_report_layout(&out, &layout);
	KUNIT_EXPECT_STREQ(test, text,
			   "vectors: 128\n"
			   "page size: 4096\n"
			   "table: bar 2, offset 0x46800, 2048 bytes, pages 0x46000-0x46fff\n"
			   "pba: bar 2, offset 0x46068, 16 bytes, pages 0x46000-0x46fff\n"
			   "fault: none\n"
			   "bar of the pba: 1048576 bytes, 255 other pages\n"
			   "page of the pba: shared with possibly registers\n"
			   "not accounted for there: 104 bytes before the pba, 1928 after\n"
			   "page of the table: shared with possibly registers\n"
			   "not accounted for there: 2032 bytes before the table, 0 after\n"
			   "isolation: possibly none\n");
}

static void report_malformed(struct kunit *test)
{
	struct msix_layout layout = malformed();
	struct seq_buf out;
	char *text = buffer(test, &out);

	msix_report_layout(&out, &layout);
	KUNIT_EXPECT_STREQ(test, text,
			   "vectors: 65\n"
			   "page size: 4096\n"
			   "table: bar 6, offset 0x2000, malformed: its BIR names no BAR of this function\n"
			   "pba: bar 0, offset 0x3000, 16 bytes, pages 0x3000-0x3fff\n"
			   "fault: its BIR names no BAR of this function\n");
}

static void report_small_bar(struct kunit *test)
{
	struct msix_config config = {
		.control = 3, .table = 0x1, .pba = 0x101, .bars = PCI_STD_NUM_BARS,
		.bar[1] = { .size = SZ_512, .memory = true },
	};
	struct msix_layout layout = msix_layout(&config, SZ_4K);
	struct seq_buf out;
	char *text = buffer(test, &out);

	msix_report_layout(&out, &layout);
	text = strstr(text, "bar of the pba: ");
	KUNIT_ASSERT_NOT_NULL(test, text);
	*strchrnul(text, '\n') = '\0';
	KUNIT_EXPECT_STREQ(test, text,
			   "bar of the pba: 512 bytes (less than a page), 0 other pages");
}

static void report_measurement(struct kunit *test)
{
	struct seq_buf out;
	char *text = buffer(test, &out);

	msix_report_measurement(&out, &trapped);
	KUNIT_EXPECT_STREQ(test, text,
			   "page: bar0+0x3000, read 808 times, median 160000.4 ns, quartiles 150000.0 170000.0 ns\n"
			   "other: bar0+0x1000, read 808 times, median 100.0 ns, quartiles 90.0 110.9 ns\n"
			   "leaving the guest: done 808 times, median 120000.0 ns, quartiles 110000.0 130000.0 ns\n"
			   "verdict: trapped\n"
			   "because: no device takes 50 us to answer\n");
}

static void report_one_page(struct kunit *test)
{
	struct msix_measurement one = {
		.request = { .count = 1, .place = { { 3, 0x2000 } } },
		.cost = { { 808, 1000, 1000, 1000 } },
		.reason = MSIX_NO_DIFFERENCE,
	};
	struct seq_buf out;
	char *text = buffer(test, &out);

	msix_report_measurement(&out, &one);
	KUNIT_EXPECT_STREQ(test, text,
			   "page: bar3+0x2000, read 808 times, median 1.0 ns, quartiles 1.0 1.0 ns\n"
			   "verdict: cannot tell\n"
			   "because: the figures are too close\n");
}

static void report_not_measured(struct kunit *test)
{
	struct seq_buf out;
	char *text = buffer(test, &out);

	msix_report_measurement(&out, NULL);
	KUNIT_EXPECT_STREQ(test, text,
			   "not measured: write pba, barN+OFFSET, or two of these\n");
}

/* The text is the members, in order, with commas between. */
static void expect_json(struct kunit *test, const char *text, const char * const *members,
			unsigned int count, const char *open, const char *close)
{
	struct seq_buf out;
	char *expected = buffer(test, &out);
	unsigned int i;

	seq_buf_printf(&out, "%s", open);
	for (i = 0; i < count; i++)
		seq_buf_printf(&out, "%s%s", i ? ", " : "", members[i]);
	seq_buf_printf(&out, "%s", close);
	KUNIT_EXPECT_STREQ(test, text, expected);
}

static void report_json(struct kunit *test)
{
	static const char * const members[] = {
		"\"device\": \"0000:00:09.0\"", "\"vectors\": 65", "\"page_bytes\": 4096",
		"\"table\": {\"bar\": 0", "\"offset\": 8192", "\"bytes\": 1040", "\"fault\": null",
		"\"bar_bytes\": 16384", "\"first_page\": 8192", "\"end_page\": 12288}",
		"\"pba\": {\"bar\": 0", "\"offset\": 12288", "\"bytes\": 16", "\"fault\": null",
		"\"bar_bytes\": 16384", "\"first_page\": 12288", "\"end_page\": 16384}",
		"\"fault\": null", "\"pba_page_shared_with\": \"nothing\"",
		"\"table_page_shared_with\": \"nothing\"",
		"\"not_accounted_before\": 0", "\"not_accounted_after\": 4080",
		"\"other_pages\": 2",
		"\"bar_smaller_than_page\": false", "\"isolation\": \"8 KiB\"",
		"\"measurement\": null",
	};
	struct msix_layout layout = nvme();
	struct seq_buf out;
	char *text = buffer(test, &out);

	msix_report_json(&out, "0000:00:09.0", &layout, NULL);
	expect_json(test, text, members, ARRAY_SIZE(members), "{", "}\n");
}

static void report_json_malformed(struct kunit *test)
{
	static const char * const members[] = {
		"\"device\": \"0000:00:09.0\"", "\"vectors\": 65", "\"page_bytes\": 4096",
		"\"table\": {\"bar\": 6", "\"offset\": 8192", "\"bytes\": 1040",
		"\"fault\": \"its BIR names no BAR of this function\"}",
		"\"pba\": {\"bar\": 0", "\"offset\": 12288", "\"bytes\": 16", "\"fault\": null",
		"\"bar_bytes\": 16384", "\"first_page\": 12288", "\"end_page\": 16384}",
		"\"fault\": \"its BIR names no BAR of this function\"", "\"measurement\": null",
	};
	struct msix_layout layout = malformed();
	struct seq_buf out;
	char *text = buffer(test, &out);

	msix_report_json(&out, "0000:00:09.0", &layout, NULL);
	expect_json(test, text, members, ARRAY_SIZE(members), "{", "}\n");
}

static void report_json_measurement(struct kunit *test)
{
	static const char * const members[] = {
		"\"places\": [{\"bar\": 0", "\"offset\": 12288", "\"reads\": 808",
		"\"median_ps\": 160000499", "\"low_quartile_ps\": 150000000",
		"\"high_quartile_ps\": 170000000}",
		"{\"bar\": 0", "\"offset\": 4096", "\"reads\": 808",
		"\"median_ps\": 100050", "\"low_quartile_ps\": 90000",
		"\"high_quartile_ps\": 110999}]",
		"\"leaving_the_guest\": {\"reads\": 808",
		"\"median_ps\": 120000000", "\"low_quartile_ps\": 110000000",
		"\"high_quartile_ps\": 130000000}",
		"\"verdict\": \"trapped\"", "\"because\": \"no device takes 50 us to answer\"",
	};
	struct msix_layout layout = nvme();
	struct seq_buf out;
	char *text = buffer(test, &out);

	msix_report_json(&out, "0000:00:09.0", &layout, &trapped);
	text = strstr(text, "\"measurement\": ");
	KUNIT_ASSERT_NOT_NULL(test, text);
	expect_json(test, text, members, ARRAY_SIZE(members), "\"measurement\": {", "}}\n");
}

/* sysfs has a page for each file: the longest report must fit. */
static void report_longest_fits(struct kunit *test)
{
	struct msix_layout layout = nvme();
	struct msix_measurement longest = trapped;
	struct seq_buf out;
	unsigned int i;

	layout.vectors = UINT_MAX;
	layout.page_size = U64_MAX;
	layout.other_pages = U64_MAX;
	layout.table = (struct msix_structure) {
		.bar = 7, .offset = U64_MAX, .length = U64_MAX, .bar_size = U64_MAX,
		.first_page = U64_MAX,
		.end_page = U64_MAX, .before = U64_MAX, .after = U64_MAX,
	};
	layout.pba = layout.table;
	for (i = 0; i < MSIX_REQUEST_PAGES; i++) {
		longest.request.place[i].offset = U64_MAX;
		longest.cost[i] = (struct msix_cost) { U64_MAX, U64_MAX, U64_MAX, U64_MAX };
	}
	longest.leave = longest.cost[0];

	buffer(test, &out);
	msix_report_json(&out, "10000:00:09.0", &layout, &longest);
	KUNIT_EXPECT_FALSE(test, seq_buf_has_overflowed(&out));
	buffer(test, &out);
	msix_report_layout(&out, &layout);
	KUNIT_EXPECT_FALSE(test, seq_buf_has_overflowed(&out));
	buffer(test, &out);
	msix_report_measurement(&out, &longest);
	KUNIT_EXPECT_FALSE(test, seq_buf_has_overflowed(&out));
}

static struct kunit_case report_cases[] = {
	KUNIT_CASE(report_layout),
	KUNIT_CASE(report_edge_tpu),
	KUNIT_CASE(report_malformed),
	KUNIT_CASE(report_small_bar),
	KUNIT_CASE(report_measurement),
	KUNIT_CASE(report_one_page),
	KUNIT_CASE(report_not_measured),
	KUNIT_CASE(report_json),
	KUNIT_CASE(report_json_malformed),
	KUNIT_CASE(report_json_measurement),
	KUNIT_CASE(report_longest_fits),
	{}
};

static struct kunit_suite report_suite = {
	.name = "msix_pba_report",
	.test_cases = report_cases,
};

kunit_test_suite(report_suite);
