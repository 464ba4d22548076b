// SPDX-License-Identifier: GPL-2.0
/*
 * Where a pool's memory comes from, also in a guest whose memory is encrypted. No such
 * guest is at hand, so memory.c is built once more with an encryption that is ours, and
 * that fails when told to.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <kunit/test.h>
#include <linux/cc_platform.h>
#include <linux/mm.h>
#include <linux/set_memory.h>
#include <linux/sizes.h>

/* --- the encryption --- */

/* Calls, and which of them, counted from 1, fails. */
static struct encryption {
	unsigned int decrypted;
	unsigned int encrypted;
	unsigned int decrypt_fails_at;
	bool encrypt_fails;
	long pages_shared;
} encryption;

static bool always_encrypted(enum cc_attr attr)
{
	return attr == CC_ATTR_MEM_ENCRYPT;
}

/* Leaves rubbish behind, as what was zero is not what decrypts to it. */
static int decrypt(unsigned long addr, int pages)
{
	if (++encryption.decrypted == encryption.decrypt_fails_at)
		return -EIO;
	memset((void *)addr, 0xa5, (size_t)pages << PAGE_SHIFT);
	encryption.pages_shared += pages;
	return 0;
}

static int encrypt(unsigned long addr, int pages)
{
	encryption.encrypted++;
	if (encryption.encrypt_fails)
		return -EIO;
	encryption.pages_shared -= pages;
	return 0;
}

#define cc_platform_has always_encrypted
#define set_memory_decrypted decrypt
#define set_memory_encrypted encrypt
#define vdma_memory_init encrypted_memory_init
#define vdma_memory_exit encrypted_memory_exit
#define vdma_memory_get encrypted_memory_get
#define vdma_memory_put encrypted_memory_put
#include "../../virtio-dma/memory.c"

static int memory_test_init(struct kunit *test)
{
	encryption = (struct encryption){};
	return 0;
}

static u64 free_bytes(void)
{
	return (u64)global_zone_page_state(NR_FREE_PAGES) << PAGE_SHIFT;
}

static struct vdma_memory *create_memory(struct kunit *test, const struct vdma_window *window)
{
	struct vdma_memory *memory = kunit_kzalloc(test, sizeof(*memory), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, memory);
	KUNIT_ASSERT_EQ(test, vdma_memory_init(memory, window), 0);
	return memory;
}

static void put_all(struct vdma_memory *memory, struct vdma_extent *extents, int count)
{
	int i;

	for (i = 0; i < count; i++)
		vdma_memory_put(memory, &extents[i]);
	kvfree(extents);
}

/* Decrypted, and zero for the host to see; encrypted again on the way back. */
static void memory_is_decrypted(struct kunit *test)
{
	struct vdma_memory *memory = create_memory(test, NULL);
	struct vdma_extent *extents;
	size_t size = 0;
	int count, i;

	count = vdma_memory_get(memory, SZ_8M, GFP_KERNEL, &extents);
	KUNIT_ASSERT_GT(test, count, 0);
	for (i = 0; i < count; i++) {
		KUNIT_EXPECT_NULL(test, memchr_inv(extents[i].vaddr, 0, extents[i].size));
		KUNIT_EXPECT_EQ(test, extents[i].phys, virt_to_phys(extents[i].vaddr));
		size += extents[i].size;
	}
	KUNIT_EXPECT_EQ(test, size, SZ_8M);
	KUNIT_EXPECT_EQ(test, encryption.decrypted, count);
	KUNIT_EXPECT_EQ(test, encryption.pages_shared, SZ_8M >> PAGE_SHIFT);
	put_all(memory, extents, count);
	KUNIT_EXPECT_EQ(test, encryption.pages_shared, 0);
	KUNIT_EXPECT_EQ(test, encryption.encrypted, count);
	vdma_memory_exit(memory);
}

/* What the host could read is never used for anything else, and what it could not comes back. */
static void memory_not_decrypted(struct kunit *test)
{
	struct vdma_memory *memory = create_memory(test, NULL);
	struct vdma_extent *extents;
	u64 before = free_bytes();
	unsigned int round;

	for (round = 0; round < 8; round++) {
		encryption.decrypt_fails_at = encryption.decrypted + 1;
		KUNIT_EXPECT_EQ(test, vdma_memory_get(memory, SZ_8M, GFP_KERNEL, &extents), -EIO);
		KUNIT_EXPECT_NULL(test, extents);
	}
	KUNIT_EXPECT_GE(test, encryption.encrypted, 8);
	KUNIT_EXPECT_GT_MSG(test, free_bytes() + SZ_32M, before, "memory did not come back");
	vdma_memory_exit(memory);
}

static void memory_not_encrypted_again(struct kunit *test)
{
	struct vdma_memory *memory = create_memory(test, NULL);
	struct vdma_extent *extents;
	u64 before;
	void *leaked;
	int count;

	count = vdma_memory_get(memory, SZ_64K, GFP_KERNEL, &extents);
	KUNIT_ASSERT_EQ(test, count, 1);
	leaked = extents[0].vaddr;
	before = page_count(virt_to_page(leaked));
	encryption.encrypt_fails = true;
	put_all(memory, extents, count);
	KUNIT_EXPECT_EQ_MSG(test, page_count(virt_to_page(leaked)), before,
			    "memory that the host can read was given to the kernel");
	/* it is not really the host's: not to be lost to this guest */
	free_pages_exact(leaked, SZ_64K);
	vdma_memory_exit(memory);
}

/* --- a window, which is memory like any other here --- */

#define WINDOW_SIZE SZ_1M

static void action_free_window(void *vaddr)
{
	free_pages_exact(vaddr, WINDOW_SIZE);
}

static struct vdma_window create_window(struct kunit *test)
{
	struct vdma_window window = { .size = WINDOW_SIZE };

	window.vaddr = alloc_pages_exact(WINDOW_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, window.vaddr);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, action_free_window, window.vaddr), 0);
	window.phys = virt_to_phys(window.vaddr);
	memset(window.vaddr, 0x77, WINDOW_SIZE);
	return window;
}

static struct vdma_extent get_one(struct kunit *test, struct vdma_memory *memory, size_t size)
{
	struct vdma_extent *extents, extent;

	KUNIT_ASSERT_EQ(test, vdma_memory_get(memory, size, GFP_KERNEL, &extents), 1);
	extent = extents[0];
	kvfree(extents);
	KUNIT_EXPECT_EQ(test, extent.size, round_up(size, SZ_64K));
	KUNIT_EXPECT_NULL(test, memchr_inv(extent.vaddr, 0, extent.size));
	return extent;
}

/* The host named it: it is shared already, and must stay so. */
static void memory_of_a_window(struct kunit *test)
{
	struct vdma_window window = create_window(test);
	struct vdma_memory *memory = create_memory(test, &window);
	struct vdma_extent first, second, third, *none;

	first = get_one(test, memory, SZ_256K);
	KUNIT_EXPECT_EQ(test, first.phys, window.phys);
	KUNIT_EXPECT_PTR_EQ(test, first.vaddr, window.vaddr);
	second = get_one(test, memory, SZ_512K - 1);
	KUNIT_EXPECT_EQ(test, second.phys, window.phys + SZ_256K);
	KUNIT_EXPECT_EQ(test, vdma_memory_get(memory, SZ_512K, GFP_KERNEL, &none), -ENOMEM);
	vdma_memory_put(memory, &first);
	/* not where the second is, though as much is free in all */
	KUNIT_EXPECT_EQ(test, vdma_memory_get(memory, SZ_512K, GFP_KERNEL, &none), -ENOMEM);
	third = get_one(test, memory, 1);
	KUNIT_EXPECT_EQ(test, third.phys, window.phys);
	vdma_memory_put(memory, &third);
	vdma_memory_put(memory, &second);
	first = get_one(test, memory, WINDOW_SIZE);
	KUNIT_EXPECT_EQ(test, first.phys, window.phys);
	vdma_memory_put(memory, &first);
	KUNIT_EXPECT_EQ(test, encryption.decrypted + encryption.encrypted, 0);
	vdma_memory_exit(memory);
}

static struct kunit_case memory_cases[] = {
	KUNIT_CASE(memory_is_decrypted),
	KUNIT_CASE(memory_not_decrypted),
	KUNIT_CASE(memory_not_encrypted_again),
	KUNIT_CASE(memory_of_a_window),
	{}
};

static struct kunit_suite memory_suite = {
	.name = "virtio_dma_memory",
	.init = memory_test_init,
	.test_cases = memory_cases,
};

kunit_test_suite(memory_suite);
