// SPDX-License-Identifier: GPL-2.0
/*
 * Path bounce: the device sees nothing but our own pool. Rings are allocated in
 * it, and every buffer is copied into it and out of it again.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/dma-mapping.h>
#include <linux/err.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/ratelimit.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#include "bounce.h"
#include "counters.h"
#include "device.h"
#include "pool.h"
#include "scatter.h"

/* The pool must have room for the rings and receive buffers of a device or two. */
#define MIN_POOL_MB 4

/* Most bytes of one segment of a request: the largest size that CPUs cache. */
#define SEGMENT_SIZE (64UL << 10)

/* Set once, by vdma_bounce_init(). */
static unsigned int pool_mb;
static bool fill_for_all;
static enum vdma_fill fill_choice;

/*
 * Guards the creation of @pool, which is made for the first device that is to use
 * it, and stays until the module goes. Taken inside a device's lock.
 */
static DEFINE_MUTEX(pool_lock);
static struct vdma_pool *pool;
static size_t largest_buffer;

static size_t pool_bytes(void)
{
	return (size_t)pool_mb << 20;
}

static struct vdma_device *bounce_device(struct device *dev);

/* --- between a buffer and its original --- */

static void copy_in(void *in_pool, phys_addr_t original, size_t size)
{
	memcpy(in_pool, phys_to_virt(original), size);
}

static void copy_out(void *in_pool, phys_addr_t original, size_t size)
{
	memcpy(phys_to_virt(original), in_pool, size);
}

static void clear(void *in_pool, phys_addr_t original, size_t size)
{
	memset(in_pool, 0, size);
}

static void leave(void *in_pool, phys_addr_t original, size_t size)
{
}

/*
 * What is to happen to a buffer before the device gets it. When the driver says
 * that it will sync the buffer itself, preserve may not look at the original,
 * but what others left there must not reach the driver either.
 */
static vdma_pool_visitor prepare(struct vdma_device *vd,
				 enum dma_data_direction dir, unsigned long attrs)
{
	bool synced_later = attrs & DMA_ATTR_SKIP_CPU_SYNC;

	if (dir == DMA_TO_DEVICE || dir == DMA_BIDIRECTIONAL)
		return synced_later ? clear : copy_in;
	switch (vd->fill) {
	case VDMA_FILL_NONE:
		return leave;
	case VDMA_FILL_ZERO:
		return clear;
	default:
		return synced_later ? clear : copy_in;
	}
}

/* As vdma_pool_visit() would, but with no indirect call, which costs most where it is mitigated. */
static void visit_new(struct vdma_device *vd, void *in_pool, phys_addr_t original,
		      size_t size, vdma_pool_visitor visit)
{
	if (visit == copy_in) {
		copy_in(in_pool, original, size);
		this_cpu_add(vd->stats->bounced_to_device, size);
	} else if (visit == clear) {
		clear(in_pool, original, size);
	}
}

static void warn_not_mapped(struct vdma_device *vd, size_t size)
{
	dev_warn_once(vd->dma_dev, "virtio_dma: the driver syncs or unmaps %zu bytes that are not mapped\n",
		      size);
}

/*
 * Only AF_XDP takes neighbouring mappings for one, and maps both ways. Others that
 * sync more than they mapped were told so by the host: what virtio_net syncs of its
 * receive buffers on 7.x is the length that the device says it wrote.
 */
static bool visit_as_mapped(struct vdma_device *vd, dma_addr_t addr, size_t size,
			    enum dma_data_direction dir, vdma_pool_visitor visit)
{
	if (dir == DMA_BIDIRECTIONAL)
		return vdma_pool_visit_across(pool, &vd->pool_user, addr, size, visit);
	return vdma_pool_visit(pool, &vd->pool_user, addr, size, visit);
}

static void visit_mapped(struct vdma_device *vd, dma_addr_t addr, size_t size,
			 enum dma_data_direction dir, vdma_pool_visitor visit)
{
	if (unlikely(!visit_as_mapped(vd, addr, size, dir, visit)))
		warn_not_mapped(vd, size);
	else if (visit == copy_in)
		this_cpu_add(vd->stats->bounced_to_device, size);
	else if (visit == copy_out)
		this_cpu_add(vd->stats->bounced_from_device, size);
}

static void copy_out_and_free(struct vdma_device *vd, dma_addr_t addr, size_t size)
{
	if (likely(vdma_pool_visit_and_free(pool, &vd->pool_user, addr, size, copy_out)))
		this_cpu_add(vd->stats->bounced_from_device, size);
	else
		warn_not_mapped(vd, size);
}

/* --- failures --- */

static const char *count_failure(struct vdma_device *vd, int err)
{
	this_cpu_inc(vd->stats->map_failures);
	switch (err) {
	case -EFAULT:
		return "the driver maps what is not memory";
	case -E2BIG:
		this_cpu_inc(vd->stats->failures_too_large);
		return "a mapping is larger than the path allows";
	case -EDQUOT:
		this_cpu_inc(vd->stats->failures_over_share);
		return "the device has its share of the bounce pool";
	default:
		this_cpu_inc(vd->stats->failures_full);
		return "the bounce pool is full";
	}
}

static void report_failure(struct vdma_device *vd, size_t size, int err, bool quiet)
{
	const char *what = count_failure(vd, err);
	struct vdma_pool_info info;

	if (quiet || !__ratelimit(&vd->report_limit))
		return;
	if (err == -EFAULT) {
		dev_err(vd->dma_dev, "virtio_dma: %s: %zu bytes not mapped\n", what, size);
		return;
	}
	vdma_pool_get_info(pool, &info);
	dev_err(vd->dma_dev, "virtio_dma: %s: wanted %zu bytes, free %llu of %llu, largest run %llu; raise pool_mb (now %u)\n",
		what, size, info.size - info.used, info.size, info.largest_run,
		pool_mb);
}

/* --- streaming mappings --- */

/*
 * Registers of another device cannot be copied. Nor can what virtio_net maps for
 * AF_XDP on 7.x: its header is in the memory of a module, whose physical address
 * it gets wrong.
 */
static bool is_memory(phys_addr_t phys, size_t size, unsigned long attrs)
{
	unsigned long first = PHYS_PFN(phys), last = PHYS_PFN(phys + size - 1);

	return !vdma_is_mmio(attrs) && pfn_valid(first) &&
	       (first == last || pfn_valid(last));
}

static dma_addr_t bounce_map_phys(struct device *dev, phys_addr_t phys, size_t size,
				  enum dma_data_direction dir, unsigned long attrs)
{
	struct vdma_device *vd = bounce_device(dev);
	phys_addr_t offset = phys & dma_get_min_align_mask(dev);
	struct vdma_buffer buffer;
	int err = -E2BIG;

	if (unlikely(!is_memory(phys, size, attrs)))
		err = -EFAULT;
	else if (likely(size <= vd->limits.mapping_size && offset < VDMA_SLOT_SIZE))
		err = vdma_pool_alloc(pool, &vd->pool_user, offset + size,
				      phys - offset, &buffer);
	if (unlikely(err)) {
		report_failure(vd, size, err, attrs & DMA_ATTR_NO_WARN);
		return DMA_MAPPING_ERROR;
	}

	visit_new(vd, buffer.vaddr + offset, phys, size, prepare(vd, dir, attrs));
	vdma_count_map(vd, size);
	return buffer.phys + offset;
}

static void bounce_unmap_phys(struct device *dev, dma_addr_t addr, size_t size,
			      enum dma_data_direction dir, unsigned long attrs)
{
	struct vdma_device *vd;

	rcu_read_lock();
	vd = bounce_device(dev);
	if (vd) {
		if (dir != DMA_TO_DEVICE && !(attrs & DMA_ATTR_SKIP_CPU_SYNC))
			copy_out_and_free(vd, addr, size);
		else
			vdma_pool_free(pool, &vd->pool_user, addr);
		this_cpu_inc(vd->stats->unmaps);
	}
	rcu_read_unlock();
}

static int bounce_map_sg(struct device *dev, struct scatterlist *sgl, int nents,
			 enum dma_data_direction dir, unsigned long attrs)
{
	return vdma_map_sg(dev, sgl, nents, dir, attrs, bounce_map_phys,
			   bounce_unmap_phys);
}

static void bounce_unmap_sg(struct device *dev, struct scatterlist *sgl,
			    int nents, enum dma_data_direction dir,
			    unsigned long attrs)
{
	vdma_unmap_sg(dev, sgl, nents, dir, attrs, bounce_unmap_phys);
}

/* --- syncs --- */

static void bounce_sync_for_cpu(struct device *dev, dma_addr_t addr, size_t size,
				enum dma_data_direction dir)
{
	struct vdma_device *vd;

	rcu_read_lock();
	vd = bounce_device(dev);
	if (vd && dir != DMA_TO_DEVICE)
		visit_mapped(vd, addr, size, dir, copy_out);
	rcu_read_unlock();
}

/* The device gets the buffer again: as if it were mapped anew. */
static void bounce_sync_for_device(struct device *dev, dma_addr_t addr, size_t size,
				   enum dma_data_direction dir)
{
	struct vdma_device *vd;

	rcu_read_lock();
	vd = bounce_device(dev);
	if (vd)
		visit_mapped(vd, addr, size, dir, prepare(vd, dir, 0));
	rcu_read_unlock();
}

static void bounce_sync_sg_for_cpu(struct device *dev, struct scatterlist *sgl,
				   int nents, enum dma_data_direction dir)
{
	struct scatterlist *sg;
	int i;

	for_each_sg(sgl, sg, nents, i)
		bounce_sync_for_cpu(dev, sg_dma_address(sg), sg->length, dir);
}

static void bounce_sync_sg_for_device(struct device *dev, struct scatterlist *sgl,
				      int nents, enum dma_data_direction dir)
{
	struct scatterlist *sg;
	int i;

	for_each_sg(sgl, sg, nents, i)
		bounce_sync_for_device(dev, sg_dma_address(sg), sg->length, dir);
}

/* --- coherent memory --- */

static void *bounce_alloc(struct device *dev, size_t size, dma_addr_t *handle,
			  gfp_t gfp, unsigned long attrs)
{
	struct vdma_device *vd = bounce_device(dev);
	struct vdma_buffer buffer;
	int err;

	size = PAGE_ALIGN(size);
	err = vdma_pool_alloc(pool, &vd->pool_user, size, VDMA_NO_ORIGINAL, &buffer);
	if (err) {
		/* virtio_ring tries large first, and says not to warn about it */
		report_failure(vd, size, err, gfp & __GFP_NOWARN);
		return NULL;
	}
	memset(buffer.vaddr, 0, size);
	this_cpu_inc(vd->stats->allocs);
	*handle = buffer.phys;
	return buffer.vaddr;
}

static void bounce_free(struct device *dev, size_t size, void *vaddr,
			dma_addr_t handle, unsigned long attrs)
{
	struct vdma_device *vd;

	rcu_read_lock();
	vd = bounce_device(dev);
	if (vd) {
		vdma_pool_free(pool, &vd->pool_user, handle);
		this_cpu_inc(vd->stats->frees);
	}
	rcu_read_unlock();
}

static struct vdma_device *bounce_device(struct device *dev)
{
	return vdma_from_ops(dev, bounce_free);
}

/* --- limits --- */

static int bounce_dma_supported(struct device *dev, u64 mask)
{
	return vdma_reach(dev, mask) >= vdma_pool_end(pool) - 1;
}

static u64 bounce_get_required_mask(struct device *dev)
{
	return roundup_pow_of_two((u64)vdma_pool_end(pool)) - 1;
}

static size_t bounce_max_mapping_size(struct device *dev)
{
	struct vdma_device *vd = bounce_device(dev);

	return vd ? vd->limits.mapping_size : SIZE_MAX;
}

VDMA_DEFINE_MAP_OPS(bounce)

static const struct dma_map_ops bounce_ops = {
	.alloc = bounce_alloc,
	.free = bounce_free,
	VDMA_MAP_OPS(bounce),
	.map_sg = bounce_map_sg,
	.unmap_sg = bounce_unmap_sg,
	.sync_single_for_cpu = bounce_sync_for_cpu,
	.sync_single_for_device = bounce_sync_for_device,
	.sync_sg_for_cpu = bounce_sync_sg_for_cpu,
	.sync_sg_for_device = bounce_sync_sg_for_device,
	.dma_supported = bounce_dma_supported,
	.get_required_mask = bounce_get_required_mask,
	.max_mapping_size = bounce_max_mapping_size,
};

/* --- the path --- */

static const char no_memory[] =
	"there is no memory for its pool: load virtio_dma with a smaller pool_mb";
static const char out_of_reach[] =
	"its pool lies beyond the device's DMA mask: choose swiotlb";
static const char no_memory_to_join[] =
	"there is no memory for what is kept of the device: free some, and bind it again";
static const char no_more_users[] =
	"its pool has too many devices already: choose direct";
#ifdef CONFIG_HIGHMEM
static const char highmem[] =
	"it needs all of memory mapped, which a 32 bit kernel has not: choose swiotlb";
#endif

static bool create_pool(void)
{
	struct vdma_pool_info info;
	struct vdma_pool *new;

	mutex_lock(&pool_lock);
	if (pool)
		goto unlock;
	new = vdma_pool_create(pool_bytes(), &largest_buffer);
	if (IS_ERR(new)) {
		pr_err("no pool of %u MiB: error %ld\n", pool_mb, PTR_ERR(new));
		goto unlock;
	}
	vdma_pool_get_info(new, &info);
	pr_info("pool of %llu MiB, largest buffer %zu KiB\n", info.size >> 20,
		largest_buffer >> 10);
	/* pairs with the acquire in existing_pool(), which takes no lock */
	smp_store_release(&pool, new);
unlock:
	mutex_unlock(&pool_lock);
	return pool;
}

static const char *bounce_unavailable(struct vdma_device *vd)
{
	struct device *dev = vd->dma_dev;

#ifdef CONFIG_HIGHMEM
	return highmem;
#endif
	if (!create_pool())
		return no_memory;
	if (vdma_pool_end(pool) - 1 > vdma_reach(dev, dma_get_mask(dev)) ||
	    vdma_pool_end(pool) - 1 > vdma_reach(dev, dev->coherent_dma_mask))
		return out_of_reach;
	return NULL;
}

/*
 * Whoever fills the pool, a quarter of it is left for others: a request must not
 * be larger than that, or its driver could try it again for ever.
 */
static struct vdma_limits limits_of_requests(const struct vdma_type *type)
{
	size_t largest = min_t(size_t, pool_bytes() / 4, largest_buffer);
	struct vdma_limits limits = {
		.maps_can_fail = true,
		.mapping_size = largest,
	};

	if (type->seg_max_offset) {
		limits.segment_size = max(SEGMENT_SIZE, PAGE_SIZE);
		limits.mapping_size = limits.segment_size;
		limits.segments = largest / limits.segment_size;
	}
	return limits;
}

static const char *bounce_attach(struct vdma_device *vd)
{
	int err = vdma_pool_join(pool, &vd->pool_user);

	if (err)
		return err == -ENOMEM ? no_memory_to_join : no_more_users;
	vd->fill = fill_for_all ? fill_choice : vd->type->fill;
	vd->limits = limits_of_requests(vd->type);
	ratelimit_state_init(&vd->report_limit, DEFAULT_RATELIMIT_INTERVAL, 1);
	return NULL;
}

static void bounce_detach(struct vdma_device *vd)
{
	u64 left = vdma_pool_user_used(&vd->pool_user);

	if (left) {
		dev_info(vd->dma_dev, "virtio_dma: the driver left %llu bytes of the pool mapped: taken back\n",
			 left);
		vdma_pool_reclaim(pool, &vd->pool_user);
	}
	vdma_pool_leave(pool, &vd->pool_user);
}

const struct vdma_path vdma_path_bounce = {
	.ops = &bounce_ops,
	.unavailable = bounce_unavailable,
	.attach = bounce_attach,
	.detach = bounce_detach,
};

/* --- parameters --- */

static int parse_fill(const char *fill)
{
	fill_for_all = strcmp(fill, "auto");
	if (!fill_for_all)
		return 0;
	if (!strcmp(fill, "preserve"))
		fill_choice = VDMA_FILL_PRESERVE;
	else if (!strcmp(fill, "zero"))
		fill_choice = VDMA_FILL_ZERO;
	else if (!strcmp(fill, "none"))
		fill_choice = VDMA_FILL_NONE;
	else
		return -EINVAL;
	return 0;
}

/**
 * vdma_bounce_init() - take the parameters of the pool
 * @mb: size of the pool in MiB
 * @fill: what bounce buffers hold before the device writes to them: "auto" (by
 *	the type of the device), "preserve", "zero" or "none"
 *
 * The pool itself is made for the first device that needs it.
 *
 * Context: may sleep; module init.
 * Return: 0, or -EINVAL with the reason in the log.
 */
int vdma_bounce_init(unsigned int mb, const char *fill)
{
	unsigned long memory_mb = totalram_pages() >> (20 - PAGE_SHIFT);

	if (mb < MIN_POOL_MB) {
		pr_err("pool_mb=%u refused: a pool has %u MiB or more\n", mb, MIN_POOL_MB);
		return -EINVAL;
	}
	if (mb > memory_mb / 4 * 3) {
		pr_err("pool_mb=%u refused: more than three quarters of the guest's %lu MiB\n",
		       mb, memory_mb);
		return -EINVAL;
	}
	if (parse_fill(fill)) {
		pr_err("fill=%s refused: use auto, preserve, zero or none\n", fill);
		return -EINVAL;
	}
	pool_mb = mb;
	return 0;
}

/**
 * vdma_bounce_exit() - give the pool's memory back
 *
 * Context: may sleep; module exit, with no device left.
 */
void vdma_bounce_exit(void)
{
	if (pool)
		vdma_pool_destroy(pool);
	pool = NULL;
}

/* --- /sys/bus/virtio/drivers/virtio_dma/pool/ --- */

/* NULL until the first device needs it. */
static struct vdma_pool *existing_pool(void)
{
	/* pairs with the release in create_pool() */
	return smp_load_acquire(&pool);
}

static void pool_info(struct vdma_pool_info *info)
{
	struct vdma_pool *p = existing_pool();

	memset(info, 0, sizeof(*info));
	if (p)
		vdma_pool_get_info(p, info);
}

#define POOL_ATTR(field) \
static ssize_t field##_show(struct device_driver *drv, char *buf) \
{ \
	struct vdma_pool_info info; \
\
	pool_info(&info); \
	return sysfs_emit(buf, "%llu\n", info.field); \
} \
static DRIVER_ATTR_RO(field)

POOL_ATTR(size);
POOL_ATTR(used);
POOL_ATTR(most);
POOL_ATTR(largest_run);

static ssize_t chunks_show(struct device_driver *drv, char *buf)
{
	struct vdma_pool *p = existing_pool();
	phys_addr_t first, last;
	unsigned int i;
	int len = 0;

	for (i = 0; p && vdma_pool_chunk(p, i, &first, &last); i++)
		len += sysfs_emit_at(buf, len, "%pa-%pa\n", &first, &last);
	return len;
}
static DRIVER_ATTR_RO(chunks);

static ssize_t reset_store(struct device_driver *drv, const char *buf, size_t len)
{
	struct vdma_pool *p = existing_pool();
	bool yes;

	if (kstrtobool(buf, &yes) || !yes)
		return -EINVAL;
	if (p)
		vdma_pool_reset_most(p);
	return len;
}
static DRIVER_ATTR_WO(reset);

static struct attribute *pool_attrs[] = {
	&driver_attr_size.attr,
	&driver_attr_used.attr,
	&driver_attr_most.attr,
	&driver_attr_largest_run.attr,
	&driver_attr_chunks.attr,
	&driver_attr_reset.attr,
	NULL
};

static const struct attribute_group pool_group = {
	.name = "pool",
	.attrs = pool_attrs,
};

const struct attribute_group *vdma_pool_sysfs_groups[] = {
	&pool_group,
	NULL
};
