// SPDX-License-Identifier: GPL-2.0
/* Path direct: guest-physical addresses, and what the device cannot reach. */
#include <kunit/resource.h>
#include <kunit/test.h>
#include <linux/dma-mapping.h>
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/scatterlist.h>
#include <linux/virtio_ids.h>

#include "device.h"
#include "fake_transport.h"
#include "routing.h"

#define PAGES 3

/**
 * struct direct - a device on path direct, and memory for it
 * @vd: what the module keeps for it
 * @dev: the device that does the DMA
 * @page: pages in the order of their addresses
 */
struct direct {
	struct vdma_device *vd;
	struct device *dev;
	void *page[PAGES];
};

static void action_free_page(void *page)
{
	free_page((unsigned long)page);
}

static void get_pages(struct kunit *test, struct direct *d)
{
	unsigned int i, j;

	for (i = 0; i < PAGES; i++) {
		void *page = (void *)__get_free_page(GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, page);
		KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, action_free_page, page), 0);
		for (j = i; j && d->page[j - 1] > page; j--)
			d->page[j] = d->page[j - 1];
		d->page[j] = page;
	}
}

static struct direct plug(struct kunit *test)
{
	const struct fake_virtio_params params = {
		.type = VIRTIO_ID_NET,
		.features = BIT_ULL(VIRTIO_F_VERSION_1),
	};
	const struct fake_driver_params driver = { .type = VIRTIO_ID_NET };
	struct fake_virtio *fake;
	struct direct d;

	routing_rules(test, "net=direct");
	fake_driver_register(test, &driver);
	fake = fake_virtio_plug(test, &params);
	d.vd = routing_device(test, fake);
	d.dev = &fake->dma_dev;
	KUNIT_ASSERT_PTR_EQ(test, d.vd->path, &vdma_path_direct);
	get_pages(test, &d);
	return d;
}

static struct vdma_stats stats_of(const struct direct *d)
{
	struct vdma_stats stats;

	vdma_stats_sum(d->vd, &stats);
	return stats;
}

static void list_pages(const struct direct *d, struct scatterlist sgl[PAGES])
{
	unsigned int i;

	sg_init_table(sgl, PAGES);
	for (i = 0; i < PAGES; i++)
		sg_set_buf(&sgl[i], d->page[i], PAGE_SIZE - i);
}

/* All that begins before this page can be reached, and nothing else. */
static void limit_to_before(struct direct *d, void *page)
{
	d->dev->bus_dma_limit = virt_to_phys(page) - 1;
}

static void direct_single(struct kunit *test)
{
	struct direct d = plug(test);
	dma_addr_t addr = dma_map_single(d.dev, d.page[0] + 5, 100, DMA_TO_DEVICE);

	KUNIT_ASSERT_FALSE(test, dma_mapping_error(d.dev, addr));
	KUNIT_EXPECT_EQ(test, addr, virt_to_phys(d.page[0] + 5));
	KUNIT_EXPECT_EQ(test, stats_of(&d).maps, 1);
	KUNIT_EXPECT_EQ(test, stats_of(&d).map_bytes, 100);
	dma_unmap_single(d.dev, addr, 100, DMA_TO_DEVICE);
	KUNIT_EXPECT_EQ(test, stats_of(&d).unmaps, 1);
}

static void direct_list(struct kunit *test)
{
	struct direct d = plug(test);
	struct scatterlist sgl[PAGES];
	unsigned int i;

	list_pages(&d, sgl);
	KUNIT_ASSERT_EQ(test, dma_map_sg(d.dev, sgl, PAGES, DMA_FROM_DEVICE), PAGES);
	for (i = 0; i < PAGES; i++) {
		KUNIT_EXPECT_EQ_MSG(test, sg_dma_address(&sgl[i]), virt_to_phys(d.page[i]),
				    "entry %u", i);
		KUNIT_EXPECT_EQ_MSG(test, sg_dma_len(&sgl[i]), PAGE_SIZE - i, "entry %u", i);
	}
	KUNIT_EXPECT_EQ(test, stats_of(&d).maps, PAGES);
	dma_unmap_sg(d.dev, sgl, PAGES, DMA_FROM_DEVICE);
	KUNIT_EXPECT_EQ(test, stats_of(&d).unmaps, PAGES);
}

static void direct_out_of_reach(struct kunit *test)
{
	struct direct d = plug(test);
	dma_addr_t addr;

	limit_to_before(&d, d.page[1]);
	addr = dma_map_single(d.dev, d.page[1], 1, DMA_TO_DEVICE);
	KUNIT_EXPECT_TRUE(test, dma_mapping_error(d.dev, addr));
	KUNIT_EXPECT_EQ(test, stats_of(&d).maps, 0);
	KUNIT_EXPECT_EQ(test, stats_of(&d).map_failures, 1);
	KUNIT_EXPECT_EQ(test, stats_of(&d).failures_too_large, 1);

	/* what ends just before it can be had */
	addr = dma_map_single(d.dev, d.page[0], PAGE_SIZE, DMA_TO_DEVICE);
	KUNIT_ASSERT_FALSE(test, dma_mapping_error(d.dev, addr));
	dma_unmap_single(d.dev, addr, PAGE_SIZE, DMA_TO_DEVICE);
}

static void direct_list_out_of_reach(struct kunit *test)
{
	struct direct d = plug(test);
	struct scatterlist sgl[PAGES];

	list_pages(&d, sgl);
	limit_to_before(&d, d.page[PAGES - 1]);
	KUNIT_EXPECT_EQ(test, dma_map_sg(d.dev, sgl, PAGES, DMA_BIDIRECTIONAL), 0);
	KUNIT_EXPECT_EQ(test, stats_of(&d).maps, PAGES - 1);
	KUNIT_EXPECT_EQ_MSG(test, stats_of(&d).unmaps, PAGES - 1,
			    "all that was mapped is unmapped");
}

static void direct_coherent(struct kunit *test)
{
	struct direct d = plug(test);
	dma_addr_t addr;
	void *memory = dma_alloc_coherent(d.dev, PAGE_SIZE + 1, &addr, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, memory);
	KUNIT_EXPECT_EQ(test, addr, virt_to_phys(memory));
	KUNIT_EXPECT_NULL(test, memchr_inv(memory, 0, 2 * PAGE_SIZE));
	KUNIT_EXPECT_EQ(test, stats_of(&d).allocs, 1);
	dma_free_coherent(d.dev, PAGE_SIZE + 1, memory, addr);
	KUNIT_EXPECT_EQ(test, stats_of(&d).frees, 1);

	/* no memory lies that low */
	d.dev->bus_dma_limit = PAGE_SIZE - 1;
	KUNIT_EXPECT_NULL(test, dma_alloc_coherent(d.dev, PAGE_SIZE, &addr, GFP_KERNEL));
	KUNIT_EXPECT_EQ(test, stats_of(&d).map_failures, 1);
	KUNIT_EXPECT_EQ(test, stats_of(&d).allocs, 1);
}

static void direct_masks(struct kunit *test)
{
	struct direct d = plug(test);

	KUNIT_EXPECT_EQ(test, dma_set_mask_and_coherent(d.dev, DMA_BIT_MASK(32)), 0);
	KUNIT_EXPECT_NE(test, dma_set_mask(d.dev, DMA_BIT_MASK(31)), 0);
	KUNIT_EXPECT_GE_MSG(test, dma_get_required_mask(d.dev), virt_to_phys(d.page[PAGES - 1]),
			    "the required mask covers all memory");
	KUNIT_EXPECT_EQ(test, dma_set_mask_and_coherent(d.dev, DMA_BIT_MASK(64)), 0);
}

static int direct_suite_init(struct kunit_suite *suite)
{
	return routing_start(4);
}

static void direct_suite_exit(struct kunit_suite *suite)
{
	routing_stop();
}

static struct kunit_case direct_cases[] = {
	KUNIT_CASE(direct_single),
	KUNIT_CASE(direct_list),
	KUNIT_CASE(direct_out_of_reach),
	KUNIT_CASE(direct_list_out_of_reach),
	KUNIT_CASE(direct_coherent),
	KUNIT_CASE(direct_masks),
	{}
};

static struct kunit_suite direct_suite = {
	.name = "virtio_dma_direct",
	.suite_init = direct_suite_init,
	.suite_exit = direct_suite_exit,
	.test_cases = direct_cases,
};

kunit_test_suite(direct_suite);
