// SPDX-License-Identifier: GPL-2.0
/*
 * Maps buffers for an idle virtio-pci device on path bounce and plays the device
 * itself: it reads and writes where the DMA address says, as the host would.
 *
 * Loading it runs the cases and prints KTAP to the log; loading fails if a case
 * does.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/device/bus.h>
#include <linux/dma-mapping.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/prandom.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

static char *device;
module_param(device, charp, 0444);
MODULE_PARM_DESC(device, "PCI name of the virtio device, 0000:00:05.0");

static char *fill = "zero";
module_param(fill, charp, 0444);
MODULE_PARM_DESC(fill, "the fill policy that is in force: preserve, zero or none");

static ulong seed = 1;
module_param(seed, ulong, 0444);
MODULE_PARM_DESC(seed, "seed of sizes, offsets and content");

/* The largest mapping tried. */
#define LARGEST (8UL << 20)

/* What the page allocator gives in one piece on all kernels; as many as LARGEST and more. */
#define PIECE_SIZE (4UL << 20)
#define ARENA_PIECES 3
#define PIECES 48

/* Bytes around a buffer that nobody may touch. */
#define RED_ZONE 64

static struct device *dev;
static struct rnd_state rnd;
static u8 *arena, *copy;

static u32 random_below(u32 limit)
{
	return prandom_u32_state(&rnd) % limit;
}

/* What the device sees at a DMA address. */
static u8 *seen(dma_addr_t addr)
{
	return phys_to_virt(addr);
}

static bool filled_with(const char *policy)
{
	return !strcmp(fill, policy);
}

/* --- one buffer of any size at any offset --- */

/* Fills the buffer and the red zones around it, and keeps a copy. */
static u8 *new_buffer(size_t size)
{
	u8 *buffer = arena + RED_ZONE + random_below(PAGE_SIZE);

	prandom_bytes_state(&rnd, buffer - RED_ZONE, size + 2 * RED_ZONE);
	memcpy(copy, buffer - RED_ZONE, size + 2 * RED_ZONE);
	return buffer;
}

static bool red_zones_intact(const u8 *buffer, size_t size)
{
	return !memcmp(buffer - RED_ZONE, copy, RED_ZONE) &&
	       !memcmp(buffer + size, copy + RED_ZONE + size, RED_ZONE);
}

static const u8 *old_content(void)
{
	return copy + RED_ZONE;
}

static const char *to_device(size_t size)
{
	u8 *buffer = new_buffer(size);
	dma_addr_t addr = dma_map_single(dev, buffer, size, DMA_TO_DEVICE);
	const char *error = NULL;

	if (dma_mapping_error(dev, addr))
		return "mapping failed";
	if (seen(addr) == buffer)
		error = "the device was given the buffer itself";
	else if (memcmp(seen(addr), old_content(), size))
		error = "the device does not see the buffer's content";
	memset(seen(addr), 0x5a, size);
	dma_unmap_single(dev, addr, size, DMA_TO_DEVICE);
	if (!error && memcmp(buffer, old_content(), size))
		error = "the device changed a buffer that it could only read";
	if (!error && !red_zones_intact(buffer, size))
		error = "bytes around the buffer changed";
	return error;
}

/* What a device may find in a buffer that it is to write. */
static const char *check_fill(const u8 *in_pool, size_t size)
{
	if (filled_with("zero") && memchr_inv(in_pool, 0, size))
		return "the device sees more than zeros in a buffer it is to write";
	if (filled_with("preserve") && memcmp(in_pool, old_content(), size))
		return "the old content was not preserved";
	if (filled_with("none") && size >= 16 && !memcmp(in_pool, old_content(), size))
		return "private content was copied out";
	return NULL;
}

/* The device writes the first part only. */
static const char *from_device(size_t size, size_t written)
{
	u8 *buffer = new_buffer(size);
	dma_addr_t addr = dma_map_single(dev, buffer, size, DMA_FROM_DEVICE);
	const char *error;

	if (dma_mapping_error(dev, addr))
		return "mapping failed";
	error = check_fill(seen(addr), size);
	memset(seen(addr), 0xa5, written);
	dma_unmap_single(dev, addr, size, DMA_FROM_DEVICE);
	if (error)
		return error;
	if (memchr_inv(buffer, 0xa5, written))
		return "what the device wrote did not arrive";
	if (filled_with("zero") && memchr_inv(buffer + written, 0, size - written))
		return "more than zeros came with a short write";
	if (filled_with("preserve") &&
	    memcmp(buffer + written, old_content() + written, size - written))
		return "a short write changed the rest of the buffer";
	if (!red_zones_intact(buffer, size))
		return "bytes around the buffer changed";
	return NULL;
}

static const char *both_ways(size_t size)
{
	u8 *buffer = new_buffer(size);
	dma_addr_t addr = dma_map_single(dev, buffer, size, DMA_BIDIRECTIONAL);
	const char *error = NULL;

	if (dma_mapping_error(dev, addr))
		return "mapping failed";
	if (memcmp(seen(addr), old_content(), size))
		error = "the device does not see the buffer's content";
	memset(seen(addr), 0xa5, size);
	dma_unmap_single(dev, addr, size, DMA_BIDIRECTIONAL);
	if (!error && memchr_inv(buffer, 0xa5, size))
		error = "what the device wrote did not arrive";
	if (!error && !red_zones_intact(buffer, size))
		error = "bytes around the buffer changed";
	return error;
}

static const char *one_size(size_t size)
{
	const char *error = to_device(size);

	error = error ?: from_device(size, size);
	error = error ?: from_device(size, random_below(size + 1));
	error = error ?: both_ways(size);
	if (error)
		pr_info("# at %zu bytes\n", size);
	return error;
}

static const char *case_every_size_to_8_kib(void)
{
	const char *error = NULL;
	size_t size;

	for (size = 1; size <= 8192 && !error; size++) {
		error = one_size(size);
		cond_resched();
	}
	return error;
}

static const char *case_larger_sizes(void)
{
	const char *error = NULL;
	size_t size;

	for (size = 16384; size <= LARGEST && !error; size *= 2) {
		error = one_size(size);
		error = error ?: one_size(size - 1 - random_below(size / 2));
		if (size < LARGEST)
			error = error ?: one_size(size + 1);
		cond_resched();
	}
	return error;
}

/* --- syncs --- */

static const char *case_partial_syncs(void)
{
	size_t size = 3 * PAGE_SIZE + 123, from, part;
	u8 *buffer = new_buffer(size);
	dma_addr_t addr = dma_map_single(dev, buffer, size, DMA_BIDIRECTIONAL);
	const char *error = NULL;
	unsigned int i;

	if (dma_mapping_error(dev, addr))
		return "mapping failed";
	for (i = 0; i < 500 && !error; i++) {
		from = random_below(size);
		part = 1 + random_below(size - from);
		memset(seen(addr), i, size);
		memset(buffer, ~i, size);
		if (i % 2) {
			dma_sync_single_for_cpu(dev, addr + from, part, DMA_BIDIRECTIONAL);
			if (memchr_inv(buffer, ~i, from) ||
			    memchr_inv(buffer + from, i, part) ||
			    memchr_inv(buffer + from + part, ~i, size - from - part))
				error = "a sync for the CPU copied something else than its part";
		} else {
			dma_sync_single_for_device(dev, addr + from, part, DMA_BIDIRECTIONAL);
			if (memchr_inv(seen(addr), i, from) ||
			    memchr_inv(seen(addr + from), ~i & 0xff, part) ||
			    memchr_inv(seen(addr + from + part), i, size - from - part))
				error = "a sync for the device copied something else than its part";
		}
	}
	dma_unmap_single_attrs(dev, addr, size, DMA_BIDIRECTIONAL, DMA_ATTR_SKIP_CPU_SYNC);
	if (!error && !red_zones_intact(buffer, size))
		error = "bytes around the buffer changed";
	return error;
}

/* A buffer given to the device again must be as if it were mapped anew. */
static const char *case_sync_fills_again(void)
{
	size_t size = PAGE_SIZE;
	u8 *buffer = new_buffer(size);
	dma_addr_t addr = dma_map_single(dev, buffer, size, DMA_FROM_DEVICE);
	const char *error;

	if (dma_mapping_error(dev, addr))
		return "mapping failed";
	memset(seen(addr), 0x77, size);
	dma_sync_single_for_device(dev, addr, size, DMA_FROM_DEVICE);
	error = filled_with("none") ? NULL : check_fill(seen(addr), size);
	dma_unmap_single(dev, addr, size, DMA_FROM_DEVICE);
	return error;
}

#define NEIGHBOURS 64

/* AF_XDP takes neighbouring pages for one buffer and syncs across; it maps both ways. */
static const char *case_sync_across_neighbours(void)
{
	dma_addr_t addr[NEIGHBOURS];
	unsigned int i, j, found = 0;
	const char *error = NULL;

	for (i = 0; i < NEIGHBOURS; i++) {
		addr[i] = dma_map_single(dev, arena + i * PAGE_SIZE, PAGE_SIZE,
					 DMA_BIDIRECTIONAL);
		if (dma_mapping_error(dev, addr[i]))
			return "mapping failed";
	}
	for (i = 0; i < NEIGHBOURS; i++) {
		for (j = 0; j < NEIGHBOURS && !error; j++) {
			u8 *first = arena + i * PAGE_SIZE, *second = arena + j * PAGE_SIZE;

			if (addr[j] != addr[i] + PAGE_SIZE)
				continue;
			found++;
			memset(first, 0, PAGE_SIZE);
			memset(second, 0, PAGE_SIZE);
			memset(seen(addr[i]), 1, PAGE_SIZE);
			memset(seen(addr[j]), 2, PAGE_SIZE);
			dma_sync_single_for_cpu(dev, addr[i] + 1000, PAGE_SIZE, DMA_BIDIRECTIONAL);
			if (memchr_inv(first, 0, 1000) ||
			    memchr_inv(first + 1000, 1, PAGE_SIZE - 1000) ||
			    memchr_inv(second, 2, 1000) ||
			    memchr_inv(second + 1000, 0, PAGE_SIZE - 1000))
				error = "a sync across two mappings copied something else";
		}
	}
	for (i = 0; i < NEIGHBOURS; i++)
		dma_unmap_single(dev, addr[i], PAGE_SIZE, DMA_BIDIRECTIONAL);
	if (!found)
		return "no two mappings were neighbours: nothing was tried";
	return error;
}

/* A driver that syncs more than it mapped must not reach beyond its buffer. */
static const char *case_sync_beyond_the_end(void)
{
	size_t size = 100, too_much = 1500;
	u8 *buffer = new_buffer(size);
	dma_addr_t addr = dma_map_single(dev, buffer, size, DMA_FROM_DEVICE);
	const char *error = NULL;

	if (dma_mapping_error(dev, addr))
		return "mapping failed";
	memset(seen(addr), 0xa5, too_much);
	dma_sync_single_for_cpu(dev, addr, too_much, DMA_FROM_DEVICE);
	if (memchr_inv(buffer, 0xa5, size))
		error = "what the device wrote did not arrive";
	else if (!red_zones_intact(buffer, size))
		error = "bytes behind the buffer changed";
	dma_unmap_single(dev, addr, size, DMA_FROM_DEVICE);
	return error;
}

static const char *case_skip_cpu_sync(void)
{
	size_t size = 2 * PAGE_SIZE;
	u8 *buffer = new_buffer(size);
	dma_addr_t addr = dma_map_single_attrs(dev, buffer, size, DMA_TO_DEVICE,
					       DMA_ATTR_SKIP_CPU_SYNC);
	const char *error = NULL;

	if (dma_mapping_error(dev, addr))
		return "mapping failed";
	if (!memcmp(seen(addr), old_content(), size))
		error = "content was copied out though the driver said not to";
	dma_sync_single_for_device(dev, addr, size, DMA_TO_DEVICE);
	if (!error && memcmp(seen(addr), old_content(), size))
		error = "the sync that followed did not copy";
	dma_unmap_single(dev, addr, size, DMA_TO_DEVICE);

	addr = dma_map_single_attrs(dev, buffer, size, DMA_FROM_DEVICE, DMA_ATTR_SKIP_CPU_SYNC);
	if (dma_mapping_error(dev, addr))
		return "mapping failed";
	memset(seen(addr), 0xa5, size);
	dma_unmap_single_attrs(dev, addr, size, DMA_FROM_DEVICE, DMA_ATTR_SKIP_CPU_SYNC);
	if (!error && memcmp(buffer, old_content(), size))
		error = "content was copied back though the driver said not to";
	return error;
}

/* --- scatterlists --- */

#define ENTRIES 40

static void make_list(struct scatterlist *list)
{
	unsigned int i;

	sg_init_table(list, ENTRIES);
	for (i = 0; i < ENTRIES; i++)
		sg_set_buf(&list[i], arena + i * 2 * PAGE_SIZE + random_below(PAGE_SIZE),
			   1 + random_below(PAGE_SIZE));
}

static const char *case_scatterlist(void)
{
	struct scatterlist list[ENTRIES], *sg;
	const char *error = NULL;
	unsigned int i;
	int count;

	make_list(list);
	prandom_bytes_state(&rnd, arena, ENTRIES * 2 * PAGE_SIZE);
	count = dma_map_sg(dev, list, ENTRIES, DMA_BIDIRECTIONAL);
	if (count <= 0)
		return "mapping failed";
	for_each_sg(list, sg, count, i) {
		if (memcmp(seen(sg_dma_address(sg)), sg_virt(sg), sg_dma_len(sg)))
			error = "the device does not see an entry's content";
		memset(seen(sg_dma_address(sg)), i, sg_dma_len(sg));
	}
	dma_sync_sg_for_cpu(dev, list, ENTRIES, DMA_BIDIRECTIONAL);
	for_each_sg(list, sg, ENTRIES, i)
		if (memchr_inv(sg_virt(sg), i, sg->length))
			error = error ?: "a sync did not bring what the device wrote";
	dma_unmap_sg(dev, list, ENTRIES, DMA_BIDIRECTIONAL);
	return error;
}

/* --- limits --- */

/* Maps until nothing more goes, and unmaps it all. */
static int map_all(size_t size)
{
	unsigned int limit = 1 << 17, count = 0;
	dma_addr_t *addr = vmalloc(array_size(limit, sizeof(*addr)));

	if (!addr)
		return -ENOMEM;
	while (count < limit) {
		addr[count] = dma_map_single(dev, arena, size, DMA_TO_DEVICE);
		if (dma_mapping_error(dev, addr[count]))
			break;
		count++;
	}
	for (limit = count; count; count--)
		dma_unmap_single(dev, addr[count - 1], size, DMA_TO_DEVICE);
	vfree(addr);
	return limit;
}

/* The same number must fit each time: nothing is lost when the pool is full. */
static const char *case_full_pool(void)
{
	static const size_t sizes[] = { 64, 4096, 20000, 65536, 1 << 20 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		int first = map_all(sizes[i]), again = map_all(sizes[i]);

		pr_info("# %zu bytes: %d mappings fill the pool, then %d\n", sizes[i],
			first, again);
		if (first <= 0)
			return "nothing could be mapped";
		if (first != again)
			return "the pool held less the second time";
	}
	return NULL;
}

static const char *case_list_that_does_not_fit(void)
{
	struct scatterlist list[ENTRIES];
	unsigned int i;

	for (i = 0; i < 20; i++) {
		make_list(list);
		/* of all of the arena, so often that no pool of the test holds it */
		list[ENTRIES - 1].length = dma_max_mapping_size(dev) + 1;
		if (dma_map_sg(dev, list, ENTRIES, DMA_TO_DEVICE) > 0)
			return "a list with an entry that is too large was mapped";
	}
	return NULL;
}

static const char *case_largest_mapping(void)
{
	size_t max = dma_max_mapping_size(dev);
	dma_addr_t addr;

	if (max < LARGEST)
		return "the largest mapping is less than 8 MiB";
	addr = dma_map_page(dev, virt_to_page(arena), 0, max + 1, DMA_TO_DEVICE);
	if (!dma_mapping_error(dev, addr))
		return "more than the largest mapping was mapped";
	return NULL;
}

/* --- coherent memory --- */

static const char *case_coherent_memory(void)
{
	static const size_t sizes[] = { 1, 4096, 4097, 12288, 65536, 300000, 1 << 20 };
	const char *error = NULL;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes) && !error; i++) {
		size_t rounded = PAGE_SIZE << get_order(sizes[i]);
		dma_addr_t addr;
		u8 *memory = dma_alloc_coherent(dev, sizes[i], &addr, GFP_KERNEL);

		if (!memory)
			return "no coherent memory";
		if (memchr_inv(memory, 0, sizes[i]))
			error = "coherent memory is not zeroed";
		if (addr & (min_t(size_t, rounded, 65536) - 1))
			error = "coherent memory is not aligned to its size";
		if (addr + sizes[i] - 1 > dev->coherent_dma_mask)
			error = "coherent memory lies beyond the mask";
		memset(memory, 0xff, sizes[i]);
		if (seen(addr) != memory)
			error = "the device sees something else than coherent memory";
		dma_free_coherent(dev, sizes[i], memory, addr);
	}
	return error;
}

/* --- running --- */

static int pages_at_first;

static const char *case_nothing_left_behind(void)
{
	return map_all(PAGE_SIZE) == pages_at_first ? NULL :
		"fewer mappings fill the pool than before the cases";
}

static const struct {
	const char *name;
	const char *(*run)(void);
} cases[] = {
	{ "every size to 8 KiB", case_every_size_to_8_kib },
	{ "sizes to 8 MiB", case_larger_sizes },
	{ "partial syncs", case_partial_syncs },
	{ "a sync fills again", case_sync_fills_again },
	{ "a sync across neighbours", case_sync_across_neighbours },
	{ "a sync beyond the end", case_sync_beyond_the_end },
	{ "skipping syncs", case_skip_cpu_sync },
	{ "scatterlists", case_scatterlist },
	{ "largest mapping", case_largest_mapping },
	{ "a list that does not fit", case_list_that_does_not_fit },
	{ "full pool", case_full_pool },
	{ "coherent memory", case_coherent_memory },
	{ "nothing is left behind", case_nothing_left_behind },
};

static int run_cases(void)
{
	unsigned int i, failed = 0;

	pages_at_first = map_all(PAGE_SIZE);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *error = cases[i].run();

		if (error)
			pr_info("# %s\n", error);
		pr_info("%sok %u %s\n", error ? "not " : "", i + 1, cases[i].name);
		failed += !!error;
	}
	pr_info("1..%u\n", i);
	return failed ? -EIO : 0;
}

static u8 *pieces[PIECES];

static bool have_piece(const u8 *at)
{
	unsigned int i;

	for (i = 0; i < PIECES; i++)
		if (pieces[i] == at)
			return true;
	return false;
}

/* Contiguous memory larger than one piece: pieces that happen to be neighbours. */
static u8 *find_arena(void)
{
	unsigned int i, j;

	for (i = 0; i < PIECES; i++)
		pieces[i] = alloc_pages_exact(PIECE_SIZE, GFP_KERNEL | __GFP_NOWARN);
	for (i = 0; i < PIECES; i++) {
		for (j = 1; pieces[i] && j < ARENA_PIECES; j++)
			if (!have_piece(pieces[i] + j * PIECE_SIZE))
				break;
		if (j == ARENA_PIECES)
			return pieces[i];
	}
	return NULL;
}

static void free_arena(void)
{
	unsigned int i;

	for (i = 0; i < PIECES; i++)
		if (pieces[i])
			free_pages_exact(pieces[i], PIECE_SIZE);
}

static int __init vdma_dma_test_init(void)
{
	int err = -ENOMEM;

	dev = bus_find_device_by_name(&pci_bus_type, NULL, device ?: "");
	if (!dev) {
		pr_err("no PCI device %s\n", device ?: "given: device=0000:00:05.0");
		return -ENODEV;
	}
	prandom_seed_state(&rnd, seed);
	arena = find_arena();
	copy = vmalloc(ARENA_PIECES * PIECE_SIZE);
	if (arena && copy)
		err = run_cases();
	else
		pr_err("no contiguous memory to map\n");
	vfree(copy);
	free_arena();
	put_device(dev);
	return err;
}

static void __exit vdma_dma_test_exit(void)
{
}

module_init(vdma_dma_test_init);
module_exit(vdma_dma_test_exit);

MODULE_DESCRIPTION("Test of the DMA operations of virtio_dma");
MODULE_LICENSE("GPL");
