/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A pool of memory for bounce buffers. Knows nothing of virtio or of devices:
 * addresses in it are physical, and its users are counted, not known.
 */
#ifndef _VDMA_POOL_H
#define _VDMA_POOL_H

#include <linux/bits.h>
#include <linux/list.h>
#include <linux/types.h>

/* Memory is handed out in slots of this size. */
#define VDMA_SLOT_SHIFT 11
#define VDMA_SLOT_SIZE BIT(VDMA_SLOT_SHIFT)

/* For memory that stays in the pool. */
#define VDMA_NO_ORIGINAL (~(phys_addr_t)0)

struct vdma_pool;
struct vdma_window;

/**
 * struct vdma_pool_user - one user of a pool
 * @used: slots it holds, by the CPU that took or returned them
 * @id: its number, which its buffers bear
 * @over: it has its share
 * @most: most slots it held, as seen whenever a CPU's cache was refilled
 * @reach: highest physical address that it can use: the pool does not grow above it
 * @member: among the pool's users
 */
struct vdma_pool_user {
	s64 __percpu *used;
	u8 id;
	bool over;
	u64 most;
	u64 reach;
	struct list_head member;
};

/**
 * struct vdma_buffer - a buffer in the pool
 * @phys: physical address of its first slot
 * @vaddr: the same, for the CPU
 */
struct vdma_buffer {
	phys_addr_t phys;
	void *vaddr;
};

/**
 * struct vdma_pool_info - how a pool is doing, in bytes
 * @size: all of it, now
 * @max: all that it may grow to
 * @used: held by users
 * @most: most that users held, as seen whenever a CPU's cache was refilled
 * @largest_run: largest piece that could be had now
 * @grows: how often it has grown; no bytes
 * @shrinks: how often it has given a chunk back; no bytes
 */
struct vdma_pool_info {
	u64 size;
	u64 max;
	u64 used;
	u64 most;
	u64 largest_run;
	u64 grows;
	u64 shrinks;
};

/**
 * typedef vdma_pool_visitor - copies or clears between a buffer and its original
 * @in_pool: a stretch of a buffer in the pool
 * @original: physical address of the same stretch of what it stands for
 * @size: length of both in bytes
 */
typedef void (*vdma_pool_visitor)(void *in_pool, phys_addr_t original, size_t size);

struct vdma_pool *vdma_pool_create(size_t size, size_t max, const struct vdma_window *window,
				   size_t *largest);
void vdma_pool_destroy(struct vdma_pool *pool);

int vdma_pool_join(struct vdma_pool *pool, struct vdma_pool_user *user, u64 reach);
bool vdma_pool_narrow(struct vdma_pool *pool, struct vdma_pool_user *user, u64 reach);
void vdma_pool_leave(struct vdma_pool *pool, struct vdma_pool_user *user);
void vdma_pool_reclaim(struct vdma_pool *pool, struct vdma_pool_user *user);
u64 vdma_pool_user_most(const struct vdma_pool_user *user);
u64 vdma_pool_user_used(const struct vdma_pool_user *user);

int vdma_pool_alloc(struct vdma_pool *pool, struct vdma_pool_user *user,
		    size_t size, phys_addr_t original,
		    struct vdma_buffer *buffer);
void vdma_pool_free(struct vdma_pool *pool, struct vdma_pool_user *user,
		    phys_addr_t phys);
bool vdma_pool_visit(struct vdma_pool *pool, const struct vdma_pool_user *user,
		     phys_addr_t phys, size_t size, vdma_pool_visitor visit);
bool vdma_pool_visit_across(struct vdma_pool *pool, const struct vdma_pool_user *user,
			    phys_addr_t phys, size_t size, vdma_pool_visitor visit);
bool vdma_pool_visit_and_free(struct vdma_pool *pool, struct vdma_pool_user *user,
			      phys_addr_t phys, size_t size, vdma_pool_visitor visit);

phys_addr_t vdma_pool_end(const struct vdma_pool *pool);
bool vdma_pool_chunk(const struct vdma_pool *pool, unsigned int index,
		     phys_addr_t *first, phys_addr_t *last);
void vdma_pool_get_info(struct vdma_pool *pool, struct vdma_pool_info *info);
void vdma_pool_reset_most(struct vdma_pool *pool);

#endif /* _VDMA_POOL_H */
