// SPDX-License-Identifier: GPL-2.0
/*
 * Layouts of real functions, and capabilities that make no sense. What is
 * expected of the real ones was worked out by hand from the specification.
 */
#include <kunit/test.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include "layout.h"

/* --- layouts of real functions --- */

/**
 * struct layout_row - a layout, and what follows from it
 * @name: which function, and where its layout was seen
 * @page: bytes of a page
 * @vectors: number of vectors
 * @table_bar: BAR of the table
 * @table: offset of the table
 * @table_bar_size: bytes of that BAR
 * @pba_bar: BAR of the PBA
 * @pba: offset of the PBA
 * @pba_bar_size: bytes of that BAR
 * @bars: BARs of the header, 6 if 0
 * @pba_shares: what shares the PBA's page
 * @table_shares: what shares the table's page
 * @isolation: how they stand apart from all else
 * @before: bytes before the PBA that are not accounted for
 * @after: and after it
 * @other_pages: pages of the PBA's BAR with neither
 */
struct layout_row {
	const char *name;
	u64 page;
	unsigned int vectors;
	unsigned int table_bar;
	u32 table;
	u64 table_bar_size;
	unsigned int pba_bar;
	u32 pba;
	u64 pba_bar_size;
	unsigned int bars;
	enum msix_sharing pba_shares;
	enum msix_sharing table_shares;
	enum msix_isolation isolation;
	u64 before;
	u64 after;
	u64 other_pages;
};

/* Both in one BAR. */
#define IN_BAR(number, size, table_offset, pba_offset) \
	.table_bar = (number), .table = (table_offset), .table_bar_size = (size), \
	.pba_bar = (number), .pba = (pba_offset), .pba_bar_size = (size)

#define SHARES(of_pba, of_table, how) \
	.pba_shares = MSIX_SHARES_##of_pba, .table_shares = MSIX_SHARES_##of_table, \
	.isolation = MSIX_##how

#define REST(bytes_before, bytes_after, pages) \
	.before = (bytes_before), .after = (bytes_after), .other_pages = (pages)

static const struct layout_row layout_rows[] = {
	/* devices of QEMU, seen in a guest */
	{
		.name = "QEMU e1000e", .vectors = 5, IN_BAR(3, SZ_16K, 0x0, 0x2000),
		SHARES(NOTHING, NOTHING, BY_8K), REST(0, 4088, 2),
	}, {
		.name = "QEMU nvme", .vectors = 65, IN_BAR(0, SZ_16K, 0x2000, 0x3000),
		SHARES(NOTHING, NOTHING, BY_8K), REST(0, 4080, 2),
	}, {
		.name = "QEMU nvme, msix-exclusive-bar", .vectors = 65,
		IN_BAR(4, SZ_4K, 0x0, 0x800),
		SHARES(TABLE, PBA, ONE_BAR), REST(1008, 2032, 0),
	}, {
		.name = "QEMU virtio-net", .vectors = 4, IN_BAR(1, SZ_4K, 0x0, 0x800),
		SHARES(TABLE, PBA, ONE_BAR), REST(1984, 2040, 0),
	}, {
		.name = "QEMU virtio-blk", .vectors = 2, IN_BAR(1, SZ_4K, 0x0, 0x800),
		SHARES(TABLE, PBA, ONE_BAR), REST(2016, 2040, 0),
	}, {
		.name = "QEMU virtio-gpu", .vectors = 3, IN_BAR(1, SZ_4K, 0x0, 0x800),
		SHARES(TABLE, PBA, ONE_BAR), REST(2000, 2040, 0),
	}, {
		.name = "QEMU vmxnet3", .vectors = 25, IN_BAR(2, SZ_8K, 0x0, 0x1000),
		SHARES(NOTHING, NOTHING, ONE_BAR), REST(0, 4088, 0),
	}, {
		.name = "QEMU rocker", .vectors = 4, IN_BAR(1, SZ_8K, 0x0, 0x1000),
		SHARES(NOTHING, NOTHING, ONE_BAR), REST(0, 4088, 0),
	}, {
		.name = "QEMU root port", .vectors = 1, IN_BAR(0, SZ_4K, 0x0, 0x800), .bars = 2,
		SHARES(TABLE, PBA, ONE_BAR), REST(2032, 2040, 0),
	}, {
		.name = "QEMU ivshmem-doorbell", .vectors = 1, IN_BAR(1, SZ_4K, 0x0, 0x800),
		SHARES(TABLE, PBA, ONE_BAR), REST(2032, 2040, 0),
	}, {
		.name = "QEMU xhci", .vectors = 16, IN_BAR(0, SZ_16K, 0x3000, 0x3800),
		SHARES(TABLE, PBA, BY_4K), REST(1792, 2040, 3),
	}, {
		.name = "QEMU megasas-gen2", .vectors = 15, IN_BAR(1, SZ_16K, 0x2000, 0x3800),
		SHARES(REGISTERS, NOTHING, NOT_ISOLATED), REST(2048, 2040, 2),
	},
	/* SSDs, from published lspci -vv */
	{
		.name = "SK hynix SSD 1c5c:174a", .vectors = 33, IN_BAR(0, SZ_16K, 0x2000, 0x3000),
		SHARES(NOTHING, NOTHING, BY_8K), REST(0, 4088, 2),
	}, {
		.name = "SSD, 16 vectors, PBA right behind the table", .vectors = 16,
		IN_BAR(0, SZ_16K, 0x2000, 0x2100),
		SHARES(TABLE, PBA, BY_8K), REST(0, 3832, 3),
	}, {
		.name = "Kioxia CM7 SSD", .vectors = 129, IN_BAR(0, SZ_64K, 0x5200, 0xd600),
		SHARES(REGISTERS, REGISTERS, NOT_ISOLATED), REST(0x600, 0x1000 - 0x600 - 24, 14),
	},
	/* network cards, from published lspci -vv */
	{
		.name = "Intel X550T", .vectors = 64, IN_BAR(4, SZ_16K, 0x0, 0x2000),
		SHARES(NOTHING, NOTHING, BY_8K), REST(0, 4088, 2),
	}, {
		.name = "Intel 82599ES", .vectors = 64, IN_BAR(4, SZ_16K, 0x0, 0x2000),
		SHARES(NOTHING, NOTHING, BY_8K), REST(0, 4088, 2),
	}, {
		.name = "Intel I211", .vectors = 5, IN_BAR(3, SZ_16K, 0x0, 0x2000),
		SHARES(NOTHING, NOTHING, BY_8K), REST(0, 4088, 2),
	}, {
		.name = "Intel gigabit NIC, 10 vectors", .vectors = 10,
		IN_BAR(3, SZ_16K, 0x0, 0x2000),
		SHARES(NOTHING, NOTHING, BY_8K), REST(0, 4088, 2),
	}, {
		.name = "Intel X722", .vectors = 129, IN_BAR(3, SZ_32K, 0x0, 0x1000),
		SHARES(NOTHING, NOTHING, BY_8K), REST(0, 4072, 6),
	}, {
		.name = "Broadcom BCM95720", .vectors = 17, IN_BAR(4, SZ_64K, 0x0, 0x1000),
		SHARES(NOTHING, NOTHING, BY_8K), REST(0, 4088, 14),
	}, {
		.name = "Broadcom BCM57781", .vectors = 5, IN_BAR(2, SZ_64K, 0x0, 0x120),
		SHARES(TABLE, PBA, BY_8K), REST(208, 4096 - 0x128, 15),
	}, {
		.name = "ConnectX-2", .vectors = 128, IN_BAR(0, SZ_1M, 0x7c000, 0x7d000),
		SHARES(NOTHING, NOTHING, BY_8K), REST(0, 4080, 254),
	}, {
		.name = "ConnectX-3 virtual function", .vectors = 24,
		IN_BAR(2, SZ_8M, 0x2000, 0x3000),
		SHARES(NOTHING, NOTHING, BY_8K), REST(0, 4088, 2046),
	}, {
		.name = "virtio-net of a cloud, 18 vectors", .vectors = 18,
		IN_BAR(1, SZ_4K, 0x0, 0x800),
		SHARES(TABLE, PBA, ONE_BAR), REST(1760, 2040, 0),
	}, {
		.name = "VMware vmxnet3, 65 vectors", .vectors = 65, IN_BAR(2, SZ_8K, 0x0, 0x1000),
		SHARES(NOTHING, NOTHING, ONE_BAR), REST(0, 4080, 0),
	},
	/* others, from published lspci -vv */
	{
		.name = "AMD xHCI", .vectors = 8, IN_BAR(0, SZ_1M, 0xfe000, 0xff000),
		SHARES(NOTHING, NOTHING, BY_8K), REST(0, 4088, 254),
	}, {
		.name = "Intel thunderbolt", .vectors = 16, IN_BAR(1, SZ_4K, 0x0, 0xfa0),
		SHARES(TABLE, PBA, ONE_BAR), REST(0xfa0 - 256, 88, 0),
	}, {
		.name = "NVIDIA Tesla T4", .vectors = 6, IN_BAR(0, SZ_16M, 0xb90000, 0xba0000),
		SHARES(NOTHING, NOTHING, BY_8K), REST(0, 4088, 4094),
	}, {
		.name = "Xilinx 10ee:5020", .vectors = 32, IN_BAR(2, SZ_128K, 0x10000, 0x14000),
		SHARES(NOTHING, NOTHING, BY_8K), REST(0, 4088, 30),
	}, {
		.name = "Amazon FPGA 1d0f:f001", .vectors = 33, IN_BAR(2, SZ_64K, 0x8000, 0x8fe0),
		SHARES(TABLE, PBA, BY_8K), REST(0xfe0 - 528, 24, 15),
	}, {
		.name = "VMware VMCI", .vectors = 3, IN_BAR(1, SZ_256K, 0x0, 0x10000),
		SHARES(NOTHING, NOTHING, BY_8K), REST(0, 4088, 62),
	}, {
		/* its driver uses registers at 0x46000 to 0x46060, and at 0x46078 */
		.name = "Coral Edge TPU 1ac1:089a", .vectors = 128,
		IN_BAR(2, SZ_1M, 0x46800, 0x46068),
		SHARES(REGISTERS, REGISTERS, NOT_ISOLATED), REST(0x68, 0xf88 - 2048, 255),
	},
	/* what can be, though nobody has published it */
	{
		.name = "a BAR each", .vectors = 256,
		.table_bar = 2, .table_bar_size = SZ_4K, .pba_bar = 4, .pba_bar_size = SZ_4K,
		SHARES(NOTHING, NOTHING, OWN_BARS), REST(0, 4064, 0),
	}, {
		.name = "a BAR each, the PBA's with registers before it", .vectors = 256,
		.table_bar = 2, .table_bar_size = SZ_4K, .pba_bar = 4, .pba = 0x800,
		.pba_bar_size = SZ_4K,
		SHARES(REGISTERS, NOTHING, NOT_ISOLATED), REST(2048, 2016, 0),
	}, {
		.name = "a BAR each at the same offset: no overlap", .vectors = 256,
		.table_bar = 2, .table = 0x1000, .table_bar_size = SZ_8K,
		.pba_bar = 4, .pba = 0x1000, .pba_bar_size = SZ_8K,
		SHARES(NOTHING, NOTHING, BY_4K), REST(0, 4064, 1),
	}, {
		.name = "PBA before the table on one page", .vectors = 2,
		IN_BAR(0, SZ_8K, 0x1800, 0x1000),
		SHARES(TABLE, PBA, BY_4K), REST(0, 4096 - 8 - 32, 1),
	}, {
		.name = "PBA across two pages, the first begins with something else",
		.vectors = 2048,
		IN_BAR(0, SZ_128K, 0x9000, 0x7f80),
		SHARES(REGISTERS, NOTHING, NOT_ISOLATED), REST(0xf80, 0xf80, 22),
	},
	/* other pages, other neighbours */
	{
		.name = "QEMU nvme, 64 KiB pages", .page = SZ_64K, .vectors = 65,
		IN_BAR(0, SZ_16K, 0x2000, 0x3000),
		SHARES(REGISTERS, REGISTERS, BY_8K), REST(0x3000 - 1040, 4080, 0),
	}, {
		.name = "ConnectX-3 virtual function, 64 KiB pages", .page = SZ_64K,
		.vectors = 24, IN_BAR(2, SZ_8M, 0x2000, 0x3000),
		SHARES(REGISTERS, REGISTERS, BY_8K), REST(0x3000 - 384, SZ_64K - 0x3008, 127),
	}, {
		.name = "Broadcom BCM95720, 16 KiB pages", .page = SZ_16K, .vectors = 17,
		IN_BAR(4, SZ_64K, 0x0, 0x1000),
		SHARES(TABLE, PBA, BY_8K), REST(0x1000 - 272, SZ_16K - 0x1008, 3),
	}, {
		.name = "BAR smaller than a page", .vectors = 4, IN_BAR(1, SZ_512, 0x0, 0x100),
		SHARES(REGISTERS, REGISTERS, ONE_BAR), REST(0x100 - 64, 0x200 - 0x108, 0),
	},
};

KUNIT_ARRAY_PARAM_DESC(layouts, layout_rows, name);

static struct msix_config config_of(const struct layout_row *row)
{
	struct msix_config config = {
		.control = row->vectors - 1,
		.table = row->table | row->table_bar,
		.pba = row->pba | row->pba_bar,
		.bars = row->bars ?: PCI_STD_NUM_BARS,
	};

	config.bar[row->table_bar] = (struct msix_bar) { .size = row->table_bar_size,
		.memory = true };
	config.bar[row->pba_bar] = (struct msix_bar) { .size = row->pba_bar_size, .memory = true };
	return config;
}

static void layout_row(struct kunit *test)
{
	const struct layout_row *row = test->param_value;
	struct msix_config config = config_of(row);
	u64 page = row->page ?: SZ_4K;
	struct msix_layout layout = msix_layout(&config, page);

	KUNIT_ASSERT_EQ(test, layout.fault, MSIX_SOUND);
	KUNIT_EXPECT_EQ(test, layout.vectors, row->vectors);
	KUNIT_EXPECT_EQ(test, layout.page_size, page);
	KUNIT_EXPECT_EQ(test, layout.table.bar, row->table_bar);
	KUNIT_EXPECT_EQ(test, layout.table.offset, row->table);
	KUNIT_EXPECT_EQ(test, layout.table.length, 16 * row->vectors);
	KUNIT_EXPECT_EQ(test, layout.table.first_page, row->table / page * page);
	KUNIT_EXPECT_EQ(test, layout.pba.bar, row->pba_bar);
	KUNIT_EXPECT_EQ(test, layout.pba.offset, row->pba);
	KUNIT_EXPECT_EQ(test, layout.pba.length, (row->vectors + 63) / 64 * 8);
	KUNIT_EXPECT_EQ(test, layout.pba.first_page, row->pba / page * page);
	KUNIT_EXPECT_EQ(test, layout.pba.sharing, row->pba_shares);
	KUNIT_EXPECT_EQ(test, layout.table.sharing, row->table_shares);
	KUNIT_EXPECT_EQ(test, layout.isolation, row->isolation);
	KUNIT_EXPECT_EQ(test, layout.pba.before, row->before);
	KUNIT_EXPECT_EQ(test, layout.pba.after, row->after);
	KUNIT_EXPECT_EQ(test, layout.other_pages, row->other_pages);
	KUNIT_EXPECT_EQ(test, layout.small_bar, row->pba_bar_size < page);
	KUNIT_EXPECT_EQ(test, msix_hot_page_likely(&layout),
			row->pba_shares == MSIX_SHARES_REGISTERS ||
				row->table_shares == MSIX_SHARES_REGISTERS);
}

/* A table of eight pages, and a PBA that is on the page on which it ends. */
static void layout_many_pages(struct kunit *test)
{
	struct msix_config config = {
		.control = 2047, .table = 0x800, .pba = 0x8900, .bars = PCI_STD_NUM_BARS,
		.bar[0] = { .size = SZ_64K, .memory = true },
	};
	struct msix_layout layout = msix_layout(&config, SZ_4K);

	KUNIT_ASSERT_EQ(test, layout.fault, MSIX_SOUND);
	KUNIT_EXPECT_EQ(test, layout.table.first_page, 0x0);
	KUNIT_EXPECT_EQ(test, layout.table.end_page, 0x9000);
	KUNIT_EXPECT_EQ(test, layout.table.sharing, MSIX_SHARES_REGISTERS);
	KUNIT_EXPECT_EQ(test, layout.table.before, 0x800);
	KUNIT_EXPECT_EQ(test, layout.table.after, 0x800 - 256);
	KUNIT_EXPECT_EQ(test, layout.pba.first_page, 0x8000);
	KUNIT_EXPECT_EQ(test, layout.pba.end_page, 0x9000);
	KUNIT_EXPECT_EQ(test, layout.pba.sharing, MSIX_SHARES_TABLE);
	KUNIT_EXPECT_EQ(test, layout.pba.before, 0x100);
	KUNIT_EXPECT_EQ(test, layout.pba.after, 0x600);
	KUNIT_EXPECT_EQ(test, layout.other_pages, 16 - 9);
}

/* --- capabilities that make no sense --- */

/* A function with a BAR of 16 KiB, one of I/O ports, and one of 4 GiB that takes two registers. */
static const struct msix_bar some_bars[PCI_STD_NUM_BARS] = {
	[0] = { .size = SZ_16K, .memory = true },
	[1] = { .size = SZ_256 },
	[2] = { .size = 4ULL * SZ_1G, .memory = true },
	[3] = { .upper_half = true },
};

/**
 * struct fault_row - a capability, and what is wrong with it
 * @name: what is wrong with it
 * @control: Message Control
 * @table: Table Offset and BIR
 * @pba: PBA Offset and BIR
 * @bars: BARs of the header, 6 if 0
 * @table_fault: the table's fault
 * @pba_fault: the PBA's
 * @fault: the fault of all
 */
struct fault_row {
	const char *name;
	u16 control;
	u32 table;
	u32 pba;
	unsigned int bars;
	enum msix_fault table_fault;
	enum msix_fault pba_fault;
	enum msix_fault fault;
};

#define FAULTS(of_table, of_pba, of_all) \
	.table_fault = MSIX_##of_table, .pba_fault = MSIX_##of_pba, .fault = MSIX_##of_all

static const struct fault_row fault_rows[] = {
	{
		.name = "nothing", .control = 3, .table = 0x0, .pba = 0x1000,
		FAULTS(SOUND, SOUND, SOUND),
	}, {
		.name = "BIR 6 of the table", .control = 3, .table = 0x6, .pba = 0x1000,
		FAULTS(BIR_RESERVED, SOUND, BIR_RESERVED),
	}, {
		.name = "BIR 7 of the PBA", .control = 3, .table = 0x0, .pba = 0x1007,
		FAULTS(SOUND, BIR_RESERVED, BIR_RESERVED),
	}, {
		.name = "all ones, as read from a function that is gone",
		.control = 0xffff, .table = 0xffffffff, .pba = 0xffffffff,
		FAULTS(BIR_RESERVED, BIR_RESERVED, BIR_RESERVED),
	}, {
		/* published lspci -vv of Rockchip's root port */
		.name = "BIR 4 of a bridge", .control = 127, .table = 0x20004, .pba = 0x28004,
		.bars = 2,
		FAULTS(BIR_RESERVED, BIR_RESERVED, BIR_RESERVED),
	}, {
		.name = "a header without BARs", .control = 3, .table = 0x0, .pba = 0x1000,
		.bars = 1,
		FAULTS(SOUND, SOUND, SOUND),
	}, {
		.name = "BIR of a BAR that is not there", .control = 3, .table = 0x4, .pba = 0x1005,
		FAULTS(BAR_ABSENT, BAR_ABSENT, BAR_ABSENT),
	}, {
		.name = "BIR into the upper half of a 64-bit BAR", .control = 3, .table = 0x3,
		.pba = 0x1002,
		FAULTS(BAR_UPPER_HALF, SOUND, BAR_UPPER_HALF),
	}, {
		.name = "BIR of I/O ports", .control = 3, .table = 0x1, .pba = 0x1,
		FAULTS(BAR_PORTS, BAR_PORTS, BAR_PORTS),
	}, {
		.name = "table begins at the end of the BAR", .control = 3, .table = 0x4000,
		.pba = 0x1000,
		FAULTS(OFFSET_BEYOND_BAR, SOUND, OFFSET_BEYOND_BAR),
	}, {
		.name = "PBA begins far beyond the BAR", .control = 3, .table = 0x0,
		.pba = 0xfffffff8,
		FAULTS(SOUND, OFFSET_BEYOND_BAR, OFFSET_BEYOND_BAR),
	}, {
		.name = "table ends one vector beyond the BAR", .control = 4, .table = 0x3fc0,
		.pba = 0x1000,
		FAULTS(END_BEYOND_BAR, SOUND, END_BEYOND_BAR),
	}, {
		.name = "table ends with the BAR", .control = 3, .table = 0x3fc0, .pba = 0x1000,
		FAULTS(SOUND, SOUND, SOUND),
	}, {
		.name = "PBA ends beyond the BAR", .control = 64, .table = 0x0, .pba = 0x3ff8,
		FAULTS(SOUND, END_BEYOND_BAR, END_BEYOND_BAR),
	}, {
		.name = "PBA ends with the BAR", .control = 63, .table = 0x0, .pba = 0x3ff8,
		FAULTS(SOUND, SOUND, SOUND),
	}, {
		.name = "2048 vectors in a BAR for 1024", .control = 2047, .table = 0x0, .pba = 0x2,
		FAULTS(END_BEYOND_BAR, SOUND, END_BEYOND_BAR),
	}, {
		/* 0xfffffff8 + 32 KiB does not fit 32 bits, where the BAR would hold the rest */
		.name = "length beyond 4 GiB", .control = 2047, .table = 0xfffffffa, .pba = 0x2,
		FAULTS(END_BEYOND_BAR, SOUND, END_BEYOND_BAR),
	}, {
		.name = "PBA over the table", .control = 3, .table = 0x0, .pba = 0x38,
		FAULTS(SOUND, SOUND, OVERLAP),
	}, {
		.name = "PBA right behind the table", .control = 3, .table = 0x0, .pba = 0x40,
		FAULTS(SOUND, SOUND, SOUND),
	}, {
		.name = "table over the PBA", .control = 3, .table = 0x1000, .pba = 0x1038,
		FAULTS(SOUND, SOUND, OVERLAP),
	}, {
		.name = "PBA ends where the table begins", .control = 3, .table = 0x1000,
		.pba = 0xff8,
		FAULTS(SOUND, SOUND, SOUND),
	}, {
		.name = "both at the same place, as published of an NIC", .control = 0,
		.table = 0x0, .pba = 0x0,
		FAULTS(SOUND, SOUND, OVERLAP),
	}, {
		.name = "both wrong: the table's fault comes first", .control = 3, .table = 0x1,
		.pba = 0x7,
		FAULTS(BAR_PORTS, BIR_RESERVED, BAR_PORTS),
	},
};

KUNIT_ARRAY_PARAM_DESC(faults, fault_rows, name);

static void layout_fault(struct kunit *test)
{
	const struct fault_row *row = test->param_value;
	struct msix_config config = {
		.control = row->control, .table = row->table, .pba = row->pba,
		.bars = row->bars ?: PCI_STD_NUM_BARS,
	};
	struct msix_layout layout;

	memcpy(config.bar, some_bars, sizeof(some_bars));
	layout = msix_layout(&config, SZ_4K);
	KUNIT_EXPECT_EQ(test, layout.table.fault, row->table_fault);
	KUNIT_EXPECT_EQ(test, layout.pba.fault, row->pba_fault);
	KUNIT_EXPECT_EQ(test, layout.fault, row->fault);
	KUNIT_EXPECT_EQ(test, layout.table.bar, row->table & 7);
	KUNIT_EXPECT_EQ(test, layout.pba.offset, row->pba & ~7U);
	if (row->fault)
		KUNIT_EXPECT_FALSE(test, msix_hot_page_likely(&layout));
}

/* The field holds one less: a zero is one vector, so that none at all cannot be said. */
static void layout_number_of_vectors(struct kunit *test)
{
	static const struct { u16 control; unsigned int vectors; u64 pba_bytes; } sizes[] = {
		{ 0, 1, 8 }, { 63, 64, 8 }, { 64, 65, 16 }, { 2047, 2048, 256 },
		/* enable and mask bits, and the reserved ones */
		{ 0x8000, 1, 8 }, { 0x4001, 2, 8 }, { 0xf800, 1, 8 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct msix_config config = { .control = sizes[i].control,
			.bars = PCI_STD_NUM_BARS };
		struct msix_layout layout = msix_layout(&config, SZ_4K);

		KUNIT_EXPECT_EQ_MSG(test, layout.vectors, sizes[i].vectors, "%#x",
				    sizes[i].control);
		KUNIT_EXPECT_EQ_MSG(test, layout.pba.length, sizes[i].pba_bytes, "%#x",
				    sizes[i].control);
	}
}

static void layout_words(struct kunit *test)
{
	enum msix_fault fault;

	for (fault = MSIX_SOUND; fault <= MSIX_OVERLAP; fault++)
		KUNIT_EXPECT_STRNEQ(test, msix_fault_text(fault), "invalid");
	KUNIT_EXPECT_STREQ(test, msix_fault_text(MSIX_OVERLAP), "table and PBA overlap");
	KUNIT_EXPECT_STREQ(test, msix_fault_text(MSIX_OVERLAP + 1), "invalid");
	KUNIT_EXPECT_STREQ(test, msix_sharing_text(MSIX_SHARES_NOTHING), "nothing");
	KUNIT_EXPECT_STREQ(test, msix_sharing_text(MSIX_SHARES_TABLE), "the table only");
	KUNIT_EXPECT_STREQ(test, msix_sharing_text(MSIX_SHARES_REGISTERS), "possibly registers");
	KUNIT_EXPECT_STREQ(test, msix_sharing_text(MSIX_SHARES_REGISTERS + 1), "invalid");
	KUNIT_EXPECT_STREQ(test, msix_isolation_text(MSIX_OWN_BARS), "a BAR each");
	KUNIT_EXPECT_STREQ(test, msix_isolation_text(MSIX_NOT_ISOLATED), "possibly none");
	KUNIT_EXPECT_STREQ(test, msix_isolation_text(MSIX_NOT_ISOLATED + 1), "invalid");
}

static struct kunit_case layout_cases[] = {
	KUNIT_CASE_PARAM(layout_row, layouts_gen_params),
	KUNIT_CASE(layout_many_pages),
	KUNIT_CASE_PARAM(layout_fault, faults_gen_params),
	KUNIT_CASE(layout_number_of_vectors),
	KUNIT_CASE(layout_words),
	{}
};

static struct kunit_suite layout_suite = {
	.name = "msix_pba_layout",
	.test_cases = layout_cases,
};

kunit_test_suite(layout_suite);
