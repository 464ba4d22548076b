// SPDX-License-Identifier: GPL-2.0
/*
 * Where a pool's memory comes from: the page allocator, or a window that the host
 * named. All of it is visible to the host.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/cc_platform.h>
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/set_memory.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>

#include "memory.h"
#include "window.h"

/* What is asked of the page allocator, and the least that is taken instead. */
#define PIECE_SIZE SZ_4M
#define PIECE_MIN_SIZE SZ_64K

/* --- shared with the host --- */

/* Decrypted memory reads as rubbish, which must not pass for somebody's data. */
static int share_with_host(const struct vdma_extent *extent)
{
	if (!cc_platform_has(CC_ATTR_MEM_ENCRYPT))
		return 0;
	if (set_memory_decrypted((unsigned long)extent->vaddr, extent->size >> PAGE_SHIFT))
		return -EIO;
	memset(extent->vaddr, 0, extent->size);
	return 0;
}

/*
 * Memory that cannot be encrypted again must never be used by the kernel for
 * anything else: it is leaked on purpose.
 */
static bool unshare_with_host(const struct vdma_extent *extent)
{
	if (!cc_platform_has(CC_ATTR_MEM_ENCRYPT))
		return true;
	if (!set_memory_encrypted((unsigned long)extent->vaddr, extent->size >> PAGE_SHIFT))
		return true;
	pr_warn("%zu KiB of the pool could not be encrypted again: leaked on purpose\n",
		extent->size >> 10);
	return false;
}

/* --- pages --- */

static int by_address(const void *a, const void *b)
{
	const struct vdma_extent *left = a, *right = b;

	return left->phys < right->phys ? -1 : left->phys > right->phys;
}

/* Neighbours become one, so that buffers may be larger than a piece. */
static unsigned int join_neighbours(struct vdma_extent *extents, unsigned int count)
{
	unsigned int i, last = 0;

	sort(extents, count, sizeof(*extents), by_address, NULL);
	for (i = 1; i < count; i++) {
		if (extents[last].phys + extents[last].size == extents[i].phys &&
		    extents[last].size + extents[i].size <= VDMA_EXTENT_MAX)
			extents[last].size += extents[i].size;
		else
			extents[++last] = extents[i];
	}
	return last + 1;
}

/*
 * Pages that were allocated apart are given back together, so they are taken as
 * single ones. Zeroed: the host will see them.
 */
static bool get_piece(size_t size, gfp_t gfp, struct vdma_extent *piece)
{
	piece->vaddr = alloc_pages_exact(size, gfp | __GFP_ZERO | __GFP_NOWARN);
	if (!piece->vaddr)
		return false;
	piece->phys = virt_to_phys(piece->vaddr);
	piece->size = size;
	return true;
}

static void put_pages(const struct vdma_extent *extent)
{
	free_pages_exact(extent->vaddr, extent->size);
}

/* Large pieces first, smaller ones where memory is fragmented. */
static int get_pieces(size_t size, gfp_t gfp, struct vdma_extent *pieces)
{
	size_t piece = PAGE_SIZE << get_order(min_t(size_t, size, PIECE_SIZE));
	unsigned int count = 0;
	size_t got = 0;

	while (got < size) {
		if (get_piece(piece, gfp, &pieces[count])) {
			got += piece;
			count++;
		} else if (piece > PIECE_MIN_SIZE) {
			piece >>= 1;
		} else {
			goto err_put;
		}
	}
	return count;

err_put:
	while (count--)
		put_pages(&pieces[count]);
	return -ENOMEM;
}

static int get_pages_shared(struct vdma_memory *memory, size_t size, gfp_t gfp,
			    struct vdma_extent *extents)
{
	int count = get_pieces(size, gfp, extents), i, err;

	if (count < 0)
		return count;
	count = join_neighbours(extents, count);
	for (i = 0; i < count; i++) {
		err = share_with_host(&extents[i]);
		if (err)
			goto err_put;
	}
	return count;

err_put:
	/* the one that failed may be shared in part */
	for (i = 0; i < count; i++)
		vdma_memory_put(memory, &extents[i]);
	return err;
}

/* --- a window --- */

static unsigned int parts(size_t size)
{
	return DIV_ROUND_UP(size, VDMA_WINDOW_ALIGN);
}

static int get_of_window(struct vdma_memory *memory, size_t size, struct vdma_extent *extent)
{
	unsigned int all = parts(memory->window->size), count = parts(size), at;

	at = bitmap_find_next_zero_area(memory->taken, all, 0, count, 0);
	if (at >= all)
		return -ENOMEM;
	bitmap_set(memory->taken, at, count);
	extent->phys = memory->window->phys + (u64)at * VDMA_WINDOW_ALIGN;
	extent->vaddr = memory->window->vaddr + (size_t)at * VDMA_WINDOW_ALIGN;
	extent->size = (size_t)count * VDMA_WINDOW_ALIGN;
	memset(extent->vaddr, 0, extent->size);
	return 1;
}

static void put_to_window(struct vdma_memory *memory, const struct vdma_extent *extent)
{
	bitmap_clear(memory->taken,
		     (extent->phys - memory->window->phys) / VDMA_WINDOW_ALIGN,
		     parts(extent->size));
}

/* --- both --- */

/**
 * vdma_memory_init() - make a source of memory
 * @memory: the source
 * @window: where it is to take memory from, which stays; NULL: from the page allocator
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int vdma_memory_init(struct vdma_memory *memory, const struct vdma_window *window)
{
	memory->window = window;
	memory->taken = NULL;
	if (!window)
		return 0;
	memory->taken = bitmap_zalloc(parts(window->size), GFP_KERNEL);
	return memory->taken ? 0 : -ENOMEM;
}

/**
 * vdma_memory_exit() - undo vdma_memory_init()
 * @memory: the source, to which all was given back
 *
 * Context: any.
 */
void vdma_memory_exit(struct vdma_memory *memory)
{
	bitmap_free(memory->taken);
}

/**
 * vdma_memory_get() - get memory that the host can see
 * @memory: the source; no other task uses it meanwhile
 * @size: bytes; rounded up to what there is in one piece; of a window VDMA_EXTENT_MAX
 *	at most
 * @gfp: how hard the page allocator tries
 * @extents: receives what was got, by ascending address; kvfree() the array
 *
 * The memory is zeroed. In a memory-encrypting guest it has been decrypted; that in
 * a window is shared by him who named it.
 *
 * Context: may sleep.
 * Return: number of extents; -ENOMEM if there is not that much memory; -EIO if it
 * could not be decrypted.
 */
int vdma_memory_get(struct vdma_memory *memory, size_t size, gfp_t gfp,
		    struct vdma_extent **extents)
{
	unsigned int most = memory->window ? 1 : DIV_ROUND_UP(size, PIECE_MIN_SIZE);
	int count;

	*extents = kvcalloc(most, sizeof(**extents), GFP_KERNEL | __GFP_NOWARN);
	if (!*extents)
		return -ENOMEM;
	if (memory->window)
		count = get_of_window(memory, size, *extents);
	else
		count = get_pages_shared(memory, size, gfp, *extents);
	if (count < 0) {
		kvfree(*extents);
		*extents = NULL;
	}
	return count;
}

/**
 * vdma_memory_put() - give memory back
 * @memory: the source; no other task uses it meanwhile
 * @extent: the memory; one of vdma_memory_get()'s, whole
 *
 * In a memory-encrypting guest memory that cannot be encrypted again is leaked, with a
 * warning.
 *
 * Context: may sleep.
 */
void vdma_memory_put(struct vdma_memory *memory, const struct vdma_extent *extent)
{
	if (memory->window)
		put_to_window(memory, extent);
	else if (unshare_with_host(extent))
		put_pages(extent);
}
