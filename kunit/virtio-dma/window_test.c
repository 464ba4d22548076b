// SPDX-License-Identifier: GPL-2.0
/* The window: what is written of it, what is said of it, and taking it from the running kernel. */
#include <kunit/test.h>
#include <linux/bits.h>
#include <linux/ioport.h>
#include <linux/limits.h>
#include <linux/mm.h>
#include <linux/pci.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include "bounce.h"
#include "window.h"

/* A machine that can address 1 TiB. */
#define TOP (TIB - 1)
#define TIB BIT_ULL(40)

struct judged {
	const char *what;
	u64 phys;
	u64 size;
	struct vdma_window_facts facts;
	enum vdma_window_verdict verdict;
};

static const struct judged judged[] = {
	{ "as it should be", SZ_512M, SZ_256M, { TOP }, VDMA_WINDOW_FINE },
	{ "at the begin of memory", 0, SZ_4M, { TOP }, VDMA_WINDOW_FINE },
	{ "above 4 GiB", 5ULL << 30, SZ_256M, { TOP }, VDMA_WINDOW_FINE },
	{ "64 KiB on", SZ_512M + SZ_64K, SZ_4M + SZ_64K, { TOP }, VDMA_WINDOW_FINE },
	{ "up to the last address", TIB - SZ_4M, SZ_4M, { TOP }, VDMA_WINDOW_FINE },
	{ "up to the last of 64 bits", -(u64)SZ_4M, SZ_4M, { U64_MAX }, VDMA_WINDOW_FINE },
	{ "no bytes", SZ_512M, 0, { TOP }, VDMA_WINDOW_EMPTY },
	{ "no bytes, misaligned", 1, 0, { TOP }, VDMA_WINDOW_EMPTY },
	{ "begins amid a page", SZ_512M + 1, SZ_256M, { TOP }, VDMA_WINDOW_MISALIGNED },
	{ "begins amid 64 KiB", SZ_512M + SZ_4K, SZ_256M, { TOP }, VDMA_WINDOW_MISALIGNED },
	{ "ends amid a page", SZ_512M, SZ_256M - 1, { TOP }, VDMA_WINDOW_MISALIGNED },
	{ "ends amid 64 KiB", SZ_512M, SZ_256M + SZ_32K, { TOP }, VDMA_WINDOW_MISALIGNED },
	{ "wraps by a chunk", -(u64)SZ_4M, SZ_4M + SZ_64K, { U64_MAX }, VDMA_WINDOW_WRAPS },
	{ "wraps by nearly all", SZ_512M, -(u64)SZ_64K, { U64_MAX }, VDMA_WINDOW_WRAPS },
	{ "wraps, of a small machine", -(u64)SZ_4M, SZ_8M, { TOP }, VDMA_WINDOW_WRAPS },
	{ "begins above the top", TIB, SZ_4M, { TOP }, VDMA_WINDOW_BEYOND },
	{ "ends above the top", TIB - SZ_4M, SZ_4M + SZ_64K, { TOP }, VDMA_WINDOW_BEYOND },
	{ "less than a pool", SZ_512M, SZ_4M - SZ_64K, { TOP }, VDMA_WINDOW_SMALL },
	{ "memory", SZ_512M, SZ_256M, { TOP, .is_ram = true }, VDMA_WINDOW_RAM },
	{ "a device", SZ_512M, SZ_256M, { TOP, .is_pci = true }, VDMA_WINDOW_PCI },
	{ "memory and a device", SZ_512M, SZ_256M, { TOP, true, true }, VDMA_WINDOW_RAM },
	{ "small, in memory", SZ_512M, SZ_64K, { TOP, .is_ram = true }, VDMA_WINDOW_SMALL },
};

static void describe_judged(const struct judged *row, char *text)
{
	strscpy(text, row->what, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(judged, judged, describe_judged);

static void window_judged(struct kunit *test)
{
	const struct judged *row = test->param_value;
	const struct vdma_window window = { .phys = row->phys, .size = row->size };

	KUNIT_EXPECT_EQ(test, vdma_window_judge(&window, &row->facts), row->verdict);
}

struct written {
	const char *phys;
	const char *size;
	int err;
	u64 to_phys;
	u64 to_size;
};

static const struct written written[] = {
	{ NULL, NULL, 0, 0, 0 },
	{ "0x30000000", "256M", 0, 0x30000000, SZ_256M },
	{ "768m", "0x10000000", 0, 0x30000000, SZ_256M },
	{ "5G", "1g", 0, 5ULL << 30, SZ_1G },
	{ "1T", "65536K", 0, 1ULL << 40, SZ_64M },
	{ "0", "64k", 0, 0, SZ_64K },
	{ "16777215T", "1", 0, 0xffffffULL << 40, 1 },
	{ "0xffffffffffffffff", "1", 0, U64_MAX, 1 },
	{ "0x30000000", NULL, -EINVAL },
	{ NULL, "256M", -EINVAL },
	{ "", "256M", -EINVAL },
	{ "0x30000000", "", -EINVAL },
	{ "0x30000000", "M", -EINVAL },
	{ "0x30000000", "0", -EINVAL },
	{ "0x30000000", "0M", -EINVAL },
	{ "0x30000000", "-1M", -EINVAL },
	{ "0x30000000", "256MB", -EINVAL },
	{ "0x30000000", "256 M", -EINVAL },
	{ "0x30000000x", "256M", -EINVAL },
	{ "somewhere", "256M", -EINVAL },
	{ "0x10000000000000000", "256M", -EINVAL },
	{ "16777216T", "256M", -EINVAL },
	{ "0x30000000", "17179869184G", -EINVAL },
	{ "0x30000000", "000000000000000000000000000256M", -EINVAL },
};

static void describe_written(const struct written *row, char *text)
{
	snprintf(text, KUNIT_PARAM_DESC_SIZE, "pool_phys=%s pool_size=%s",
		 row->phys ?: "(none)", row->size ?: "(none)");
}

KUNIT_ARRAY_PARAM(written, written, describe_written);

static void window_written(struct kunit *test)
{
	const struct written *row = test->param_value;
	struct vdma_window window = {};

	KUNIT_ASSERT_EQ(test, vdma_window_parse(row->phys, row->size, &window), row->err);
	if (row->err)
		return;
	KUNIT_EXPECT_EQ(test, window.phys, row->to_phys);
	KUNIT_EXPECT_EQ(test, window.size, row->to_size);
	KUNIT_EXPECT_NULL(test, window.vaddr);
}

/* --- the system's answer --- */

static void expect_refused(struct kunit *test, u64 phys, u64 size, int err)
{
	struct vdma_window window = { .phys = phys, .size = size };

	KUNIT_EXPECT_EQ_MSG(test, vdma_window_take(&window, "a test"), err, "%llu bytes at %#llx",
			    size, phys);
	KUNIT_EXPECT_NULL(test, window.vaddr);
}

/* Memory of the kernel, and a window that begins in a hole before it and ends in it. */
static void window_in_ram(struct kunit *test)
{
	expect_refused(test, SZ_256M, SZ_16M, -EINVAL);
	expect_refused(test, 0, SZ_1G, -EINVAL);
}

static resource_size_t any_bar(void)
{
	struct pci_dev *dev = NULL;
	resource_size_t bar = 0;
	unsigned int i;

	for_each_pci_dev(dev)
		for (i = 0; i < PCI_STD_NUM_BARS; i++)
			if (pci_resource_flags(dev, i) & IORESOURCE_MEM &&
			    pci_resource_start(dev, i))
				bar = pci_resource_start(dev, i);
	return bar;
}

static void window_over_pci(struct kunit *test)
{
	resource_size_t bar = any_bar();

	KUNIT_ASSERT_NE_MSG(test, bar, 0, "no PCI device has memory");
	expect_refused(test, round_down(bar, SZ_64K), SZ_4M, -EINVAL);
}

/* Nothing is behind the end of memory, and nobody has it: nothing answers there. */
static void window_without_memory(struct kunit *test)
{
	const u64 nowhere = round_down(iomem_resource.end, SZ_1G) - SZ_1G;
	struct resource *claimed;

	expect_refused(test, nowhere, SZ_4M, -EINVAL);
	claimed = request_mem_region(nowhere + SZ_2M, SZ_64K, "a test");
	KUNIT_ASSERT_NOT_NULL_MSG(test, claimed, "what was refused stayed claimed");
	expect_refused(test, nowhere, SZ_4M, -EBUSY);
	release_mem_region(nowhere + SZ_2M, SZ_64K);
}

static void window_of_no_shape(struct kunit *test)
{
	expect_refused(test, SZ_256M + 1, SZ_16M, -EINVAL);
	expect_refused(test, -(u64)SZ_4M, SZ_8M, -EINVAL);
	expect_refused(test, SZ_256M, 0, -EINVAL);
	expect_refused(test, (u64)iomem_resource.end + 1, SZ_4M, -EINVAL);
	expect_refused(test, SZ_256M, SZ_64K, -EINVAL);
}

/* --- memory that the kernel leaves alone, as the guest of the suites was booted --- */

#define SPARE 0x60000000
#define SPARE_SIZE SZ_8M

static void window_taken(struct kunit *test)
{
	struct vdma_window window = { .phys = SPARE, .size = SPARE_SIZE };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test, vdma_window_take(&window, "a test"), 0);
		memset(window.vaddr, 0x11, window.size);
		KUNIT_EXPECT_NULL(test, memchr_inv(window.vaddr, 0x11, window.size));
		expect_refused(test, SPARE, SPARE_SIZE, -EBUSY);
		expect_refused(test, SPARE + SPARE_SIZE - SZ_4M, SZ_4M, -EBUSY);
		vdma_window_release(&window);
		KUNIT_EXPECT_NULL(test, window.vaddr);
	}
}

struct sized {
	unsigned int mb;
	unsigned int max_mb;
	u64 size;
	int err;
};

/* What the user says of the pool's sizes, and the window that there is. */
static const struct sized sized[] = {
	{ 0, 0, SPARE_SIZE, 0 },
	{ 0, 0, SZ_4M, 0 },
	{ 4, 0, SPARE_SIZE, 0 },
	{ 0, 4, SPARE_SIZE, 0 },
	{ 4, 8, SPARE_SIZE, 0 },
	{ 8, 8, SPARE_SIZE, 0 },
	{ 9, 0, SPARE_SIZE, -EINVAL },
	{ 0, 9, SPARE_SIZE, -EINVAL },
	{ 8, 0, SZ_4M, -EINVAL },
	{ 8, 4, SPARE_SIZE, -EINVAL },
	{ 3, 0, SPARE_SIZE, -EINVAL },
};

static void describe_sized(const struct sized *row, char *text)
{
	snprintf(text, KUNIT_PARAM_DESC_SIZE, "pool_mb=%u pool_max_mb=%u, %llu bytes", row->mb,
		 row->max_mb, row->size);
}

KUNIT_ARRAY_PARAM(sized, sized, describe_sized);

static int init_pool(const struct sized *row, const char *phys, const char *size)
{
	const struct vdma_bounce_parameters parameters = {
		.pool_mb = row->mb,
		.pool_max_mb = row->max_mb,
		.pool_phys = phys,
		.pool_size = size,
		.fill = "auto",
	};

	return vdma_bounce_init(&parameters);
}

/* By parameters, and the same by a hook; afterwards the window is free. */
static void window_and_sizes(struct kunit *test)
{
	const struct sized *row = test->param_value;
	char size[24];

	snprintf(size, sizeof(size), "%llu", row->size);
	KUNIT_EXPECT_EQ(test, init_pool(row, "0x60000000", size), row->err);
	vdma_bounce_exit();
	if (!init_pool(row, NULL, NULL))
		KUNIT_EXPECT_EQ(test, vdma_bounce_set_window("a test", SPARE, row->size), row->err);
	vdma_bounce_exit();
	window_taken(test);
}

static void window_of_a_hook(struct kunit *test)
{
	static const struct sized none = { };

	KUNIT_ASSERT_EQ(test, init_pool(&none, "0x60000000", "4M"), 0);
	KUNIT_EXPECT_EQ_MSG(test, vdma_bounce_set_window("a test", SPARE, SZ_4M), 0, "they agree");
	KUNIT_EXPECT_EQ_MSG(test, vdma_bounce_set_window("a test", 0, 0), 0, "it has none");
	KUNIT_EXPECT_EQ(test, vdma_bounce_set_window("a test", SPARE, SPARE_SIZE), -EBUSY);
	KUNIT_EXPECT_EQ(test, vdma_bounce_set_window("a test", SPARE + SZ_4M, SZ_4M), -EBUSY);
	vdma_bounce_exit();

	KUNIT_ASSERT_EQ(test, init_pool(&none, NULL, NULL), 0);
	KUNIT_EXPECT_EQ(test, vdma_bounce_set_window("a test", SZ_256M, SZ_16M), -EINVAL);
	KUNIT_EXPECT_EQ(test, vdma_bounce_set_window("a test", SPARE, SZ_4M), 0);
	KUNIT_EXPECT_EQ_MSG(test, vdma_bounce_set_window("another", SPARE + SZ_4M, SZ_4M), -EBUSY,
			    "the first one's stays");
	vdma_bounce_exit();
	window_taken(test);
}

/* What was not taken need not be given back. */
static void window_never_taken(struct kunit *test)
{
	struct vdma_window window = { .phys = SZ_256M, .size = SZ_16M };

	vdma_window_release(&window);
	KUNIT_EXPECT_NULL(test, window.vaddr);
}

static struct kunit_case window_cases[] = {
	KUNIT_CASE_PARAM(window_judged, judged_gen_params),
	KUNIT_CASE_PARAM(window_written, written_gen_params),
	KUNIT_CASE(window_in_ram),
	KUNIT_CASE(window_over_pci),
	KUNIT_CASE(window_without_memory),
	KUNIT_CASE(window_of_no_shape),
	KUNIT_CASE(window_taken),
	KUNIT_CASE_PARAM(window_and_sizes, sized_gen_params),
	KUNIT_CASE(window_of_a_hook),
	KUNIT_CASE(window_never_taken),
	{}
};

static struct kunit_suite window_suite = {
	.name = "virtio_dma_window",
	.test_cases = window_cases,
};

kunit_test_suite(window_suite);
