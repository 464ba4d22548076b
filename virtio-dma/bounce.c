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
#include "memory.h"
#include "pool.h"
#include "scatter.h"
#include "traced.h"
#include "window.h"

/* The pool must have room for the rings and receive buffers of a device or two. */
#define MIN_POOL_MB 4

/* Most bytes of one segment of a request: the largest size that CPUs cache. */
#define SEGMENT_SIZE (64UL << 10)

/*
 * Where nothing else is said. To begin with as little as takes a mapping of 8 MiB, and
 * to grow to no more than what the guest can spare.
 */
#define DEFAULT_POOL_MB 32
#define DEFAULT_MAX_SHARE 8

/* Set once, by vdma_bounce_init(). */
static unsigned int given_mb, given_max_mb;
static bool fill_for_all;
static enum vdma_fill fill_choice;

/*
 * Guards the creation of @pool, which is made for the first device that is to use
 * it, and stays until the module goes; and until then @window, where it is to lie, and
 * its sizes, which follow from that. Taken inside a device's lock and the hook's.
 */
static DEFINE_MUTEX(pool_lock);
static struct vdma_pool *pool;
static size_t largest_buffer;
static struct vdma_window window;
static unsigned int pool_mb, pool_max_mb;

static size_t to_bytes(unsigned int mb)
{
	return (size_t)mb << 20;
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

/*
 * Which parameter would have helped? Where the pool may grow still it was only too slow,
 * and limits of mappings follow what it begins with.
 */
static bool can_grow(const struct vdma_pool_info *info, int err)
{
	return err == -E2BIG || info->size < info->max;
}

static void report_failure(struct vdma_device *vd, size_t size, int err, bool quiet)
{
	const char *what = count_failure(vd, err);
	struct vdma_pool_info info;

	trace_vdma_full(vd->dma_dev, size, err);
	if (quiet || !__ratelimit(&vd->report_limit))
		return;
	if (err == -EFAULT) {
		dev_err(vd->dma_dev, "virtio_dma: %s: %zu bytes not mapped\n", what, size);
		return;
	}
	vdma_pool_get_info(pool, &info);
	dev_err(vd->dma_dev, "virtio_dma: %s: wanted %zu bytes, free %llu of %llu, largest run %llu; raise %s (now %u)\n",
		what, size, info.size - info.used, info.size, info.largest_run,
		can_grow(&info, err) ? "pool_mb" : "pool_max_mb",
		can_grow(&info, err) ? pool_mb : pool_max_mb);
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
	vdma_traced_map(dev, VIRTIO_DMA_BOUNCE, buffer.phys + offset, size, dir);
	return buffer.phys + offset;
}

static void bounce_unmap_phys(struct device *dev, dma_addr_t addr, size_t size,
			      enum dma_data_direction dir, unsigned long attrs)
{
	struct vdma_device *vd;

	vdma_traced_unmap(dev, VIRTIO_DMA_BOUNCE, addr, size, dir);
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
	if (vd) {
		trace_vdma_sync(dev, addr, size, dir, false);
		if (dir != DMA_TO_DEVICE)
			visit_mapped(vd, addr, size, dir, copy_out);
	}
	rcu_read_unlock();
}

/* The device gets the buffer again: as if it were mapped anew. */
static void bounce_sync_for_device(struct device *dev, dma_addr_t addr, size_t size,
				   enum dma_data_direction dir)
{
	struct vdma_device *vd;

	rcu_read_lock();
	vd = bounce_device(dev);
	if (vd) {
		trace_vdma_sync(dev, addr, size, dir, true);
		visit_mapped(vd, addr, size, dir, prepare(vd, dir, 0));
	}
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

	/* where that wraps nothing is asked for, and got */
	if (size > SIZE_MAX - PAGE_SIZE)
		err = -E2BIG;
	else
		err = vdma_pool_alloc(pool, &vd->pool_user, PAGE_ALIGN(size),
				      VDMA_NO_ORIGINAL, &buffer);
	if (err) {
		/* virtio_ring tries large first, and says not to warn about it */
		report_failure(vd, size, err, gfp & __GFP_NOWARN);
		return NULL;
	}
	memset(buffer.vaddr, 0, PAGE_ALIGN(size));
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
	struct vdma_device *vd = bounce_device(dev);

	return vd && vdma_pool_narrow(pool, &vd->pool_user, vdma_reach(dev, mask));
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
	new = vdma_pool_create(to_bytes(pool_mb), to_bytes(pool_max_mb),
			       window.size ? &window : NULL, &largest_buffer);
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

/* Of both its buffers and its rings. */
static u64 device_reach(struct vdma_device *vd)
{
	struct device *dev = vd->dma_dev;

	return vdma_reach(dev, min(dma_get_mask(dev), dev->coherent_dma_mask));
}

static const char *bounce_unavailable(struct vdma_device *vd)
{
#ifdef CONFIG_HIGHMEM
	return highmem;
#endif
	if (!create_pool())
		return no_memory;
	if (vdma_pool_end(pool) - 1 > device_reach(vd))
		return out_of_reach;
	return NULL;
}

/*
 * Whoever fills the pool, a quarter of it is left for others: a request must not
 * be larger than that, or its driver could try it again for ever. What counts is what
 * the pool begins with: that there is memory for it to grow nobody can promise.
 */
static struct vdma_limits limits_of_requests(const struct vdma_type *type)
{
	size_t largest = min_t(size_t, to_bytes(pool_mb) / 4, largest_buffer);
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

static const char *join_error(int err)
{
	switch (err) {
	case -ENOMEM:
		return no_memory_to_join;
	case -ERANGE:
		return out_of_reach;
	default:
		return no_more_users;
	}
}

static const char *bounce_attach(struct vdma_device *vd)
{
	int err = vdma_pool_join(pool, &vd->pool_user, device_reach(vd));

	if (err)
		return join_error(err);
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

static unsigned long memory_mb(void)
{
	return totalram_pages() >> (20 - PAGE_SHIFT);
}

/* How much of the guest's memory, or of the window, may be the pool's. */
static int check_size(const char *name, unsigned int mb, u64 window_size)
{
	if (mb < MIN_POOL_MB)
		pr_err("%s=%u refused: a pool has %u MiB or more\n", name, mb, MIN_POOL_MB);
	else if (window_size && mb > window_size >> 20)
		pr_err("%s=%u refused: more than the %llu MiB of its window\n",
		       name, mb, window_size >> 20);
	else if (!window_size && mb > memory_mb() / 4 * 3)
		pr_err("%s=%u refused: more than three quarters of the guest's %lu MiB\n",
		       name, mb, memory_mb());
	else
		return 0;
	return -EINVAL;
}

/* Memory of a window serves for nothing else, so that all of it is taken unless told not to. */
static unsigned int default_pool_mb(unsigned int max_mb, u64 window_size)
{
	unsigned int mb = window_size ? min_t(u64, window_size, VDMA_EXTENT_MAX) >> 20 :
					DEFAULT_POOL_MB;

	return max_mb ? min(mb, max_mb) : mb;
}

static unsigned int default_pool_max_mb(unsigned int mb, u64 window_size)
{
	return window_size ? window_size >> 20 :
			     max_t(unsigned int, mb, memory_mb() / DEFAULT_MAX_SHARE);
}

/* What is not given follows from what is. */
static int take_sizes(u64 window_size)
{
	unsigned int mb, max_mb;

	if ((given_mb && check_size("pool_mb", given_mb, window_size)) ||
	    (given_max_mb && check_size("pool_max_mb", given_max_mb, window_size)))
		return -EINVAL;
	mb = given_mb ?: default_pool_mb(given_max_mb, window_size);
	max_mb = given_max_mb ?: default_pool_max_mb(mb, window_size);
	if (max_mb < mb) {
		pr_err("pool_max_mb=%u refused: less than the %u MiB that the pool begins with, pool_mb=\n",
		       max_mb, mb);
		return -EINVAL;
	}
	pool_mb = mb;
	pool_max_mb = max_mb;
	return 0;
}

static int take_window(struct vdma_window *new, const char *who)
{
	int err = vdma_window_take(new, who);

	if (err)
		return err;
	err = take_sizes(new->size);
	if (err)
		vdma_window_release(new);
	else
		window = *new;
	return err;
}

/* There is one pool, and it cannot move. */
static int set_window(struct vdma_window *new, const char *who)
{
	if (window.size == new->size && window.phys == new->phys)
		return 0;
	if (!window.size && !pool)
		return take_window(new, who);
	if (window.size)
		pr_err("%s refused: it wants the pool at %#llx, %llu bytes, but it is to lie at %#llx, %llu bytes; load virtio_dma with these, or without pool_phys=\n",
		       who, new->phys, new->size, window.phys, window.size);
	else
		pr_err("%s refused: it wants the pool at %#llx, but that is made already; load it before the first device is bounced\n",
		       who, new->phys);
	return -EBUSY;
}

/**
 * vdma_bounce_set_window() - have the pool lie where a platform hook says
 * @who: name of the hook
 * @phys: where the window begins
 * @size: how large it is, in bytes; 0: it says nothing
 *
 * Context: may sleep.
 * Return: 0; or with the reason in the log -EBUSY if the pool lies, or is to lie,
 * elsewhere, -EINVAL if the user's sizes do not fit it, or what vdma_window_take()
 * returned.
 */
int vdma_bounce_set_window(const char *who, u64 phys, u64 size)
{
	struct vdma_window new = { .phys = phys, .size = size };
	char text[40];
	int err;

	if (!size)
		return 0;
	snprintf(text, sizeof(text), "hook %s", who);
	mutex_lock(&pool_lock);
	err = set_window(&new, text);
	mutex_unlock(&pool_lock);
	return err;
}

/**
 * vdma_bounce_init() - take the parameters of the pool
 * @parameters: the parameters
 *
 * The pool itself is made for the first device that needs it, but its window is
 * taken now.
 *
 * Context: may sleep; module init.
 * Return: 0; or with the reason in the log -EINVAL, or what vdma_window_take() returned.
 */
int vdma_bounce_init(const struct vdma_bounce_parameters *parameters)
{
	struct vdma_window new;
	int err;

	err = vdma_window_parse(parameters->pool_phys, parameters->pool_size, &new);
	if (err)
		return err;
	if (parse_fill(parameters->fill)) {
		pr_err("fill=%s refused: use auto, preserve, zero or none\n", parameters->fill);
		return -EINVAL;
	}
	given_mb = parameters->pool_mb;
	given_max_mb = parameters->pool_max_mb;
	return new.size ? take_window(&new, "pool_phys=, pool_size=") : take_sizes(0);
}

/**
 * vdma_bounce_exit() - give the pool's memory back, and its window
 *
 * Context: may sleep; module exit, with no device left.
 */
void vdma_bounce_exit(void)
{
	if (pool)
		vdma_pool_destroy(pool);
	pool = NULL;
	vdma_window_release(&window);
	window = (struct vdma_window){};
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
POOL_ATTR(max);
POOL_ATTR(used);
POOL_ATTR(most);
POOL_ATTR(largest_run);
POOL_ATTR(grows);
POOL_ATTR(shrinks);

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
	&driver_attr_max.attr,
	&driver_attr_used.attr,
	&driver_attr_most.attr,
	&driver_attr_largest_run.attr,
	&driver_attr_grows.attr,
	&driver_attr_shrinks.attr,
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
