// SPDX-License-Identifier: GPL-2.0
/*
 * Counts what a whole request of a virtio-blk disk costs the guest, from
 * submit_bio() until the block layer says that it is done: the way to the ring and
 * the kick, then the interrupt and the way back. What the device does in between
 * is not counted.
 *
 * Of many rounds the least counts, which no timer tick fell into.
 *
 * Loading it measures, and prints a line for each kind of request.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bio.h>
#include <linux/kdev_t.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/virtio_config.h>
#include <linux/virtio_ring.h>
#include <asm/tsc.h>

#include "../../virtio-dma/compat/compat.h"
#include "bench_device.h"

static char *device;
module_param(device, charp, 0444);
MODULE_PARM_DESC(device, "PCI name of the virtio-blk device, 0000:00:04.0");

static uint major, minor;
module_param(major, uint, 0444);
MODULE_PARM_DESC(major, "major number of its disk");
module_param(minor, uint, 0444);
MODULE_PARM_DESC(minor, "minor number of its disk");

#define ROUNDS 200

/* Instructions that the host surely needs less time for than to raise an interrupt. */
#define PAUSE 20000

static const struct vring *vring;
static struct block_device *bdev;
static struct page *page;

/* Of the request on its way: is it done, and when was it? */
static bool done;
static u64 done_at;

static void request_done(struct bio *bio)
{
	done_at = rdtsc_ordered();
	WRITE_ONCE(done, true);
}

static void init_bio(struct bio *bio, struct bio_vec *vec, bool write)
{
#ifdef BENCH_HAVE_BIO_INIT_OP
	bio_init(bio, bdev, vec, 1, write ? REQ_OP_WRITE : REQ_OP_READ);
#else
	bio_init(bio, vec, 1);
	bio_set_dev(bio, bdev);
	bio->bi_opf = write ? REQ_OP_WRITE : REQ_OP_READ;
#endif
	bio->bi_end_io = request_done;
	__bio_add_page(bio, page, PAGE_SIZE, 0);
}

/* Until the interrupt is pending, with interrupts off: then nothing of this is counted. */
static void wait_for_device(__virtio16 used_before)
{
	u64 end;

	while (READ_ONCE(vring->used->idx) == used_before && !READ_ONCE(done))
		cpu_relax();
	end = rdtsc() + PAUSE;
	while (rdtsc() < end)
		cpu_relax();
}

/* Returns the ticks it took. */
static u64 one_request(bool write)
{
	__virtio16 used_before = READ_ONCE(vring->used->idx);
	u64 begin, submitted, resumed;
	unsigned long flags;
	struct bio_vec vec;
	struct bio bio;

	init_bio(&bio, &vec, write);
	done = false;
	begin = rdtsc_ordered();
	submit_bio(&bio);
	submitted = rdtsc_ordered();

	local_irq_save(flags);
	wait_for_device(used_before);
	if (done) {
		/* the interrupt came before we looked: nothing was waited for */
		local_irq_restore(flags);
		return max(done_at, submitted) - begin;
	}
	resumed = rdtsc_ordered();
	local_irq_restore(flags);
	while (!READ_ONCE(done))
		cpu_relax();
	return submitted - begin + done_at - resumed;
}

static void measure(const char *kind, bool write)
{
	u64 least = U64_MAX;
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		least = min(least, one_request(write));
		cond_resched();
	}
	pr_info("block kind=%s size=%lu rounds=1 ticks=%llu failed=0\n", kind, PAGE_SIZE,
		least);
}

/* The ring of the first queue, which is the only one on one CPU. */
static const struct vring *ring_of(struct virtio_device *vdev)
{
	struct virtqueue *vq = list_first_entry_or_null(&vdev->vqs, struct virtqueue, list);

	return vq ? virtqueue_get_vring(vq) : NULL;
}

static int __init vdma_bench_disk_init(void)
{
	struct virtio_device *vdev = find_virtio_pci(device ?: "");
	struct vdma_disk *disk;
	int err = -ENOMEM;

	if (!vdev) {
		pr_err("no virtio-pci device %s\n", device ?: "given: device=0000:00:04.0");
		return -ENODEV;
	}
	disk = vdma_disk_open(MKDEV(major, minor), &bdev);
	if (IS_ERR(disk)) {
		pr_err("disk %u:%u cannot be opened\n", major, minor);
		err = PTR_ERR(disk);
		goto err_put;
	}
	bdev = vdma_disk_bdev(disk);
	vring = ring_of(vdev);
	page = alloc_page(GFP_KERNEL);
	if (page && vring) {
		measure("disk_read", false);
		measure("disk_write", true);
		__free_page(page);
		err = 0;
	}
	vdma_disk_close(disk);
err_put:
	put_device(vdev->dev.parent);
	return err;
}

static void __exit vdma_bench_disk_exit(void)
{
}

module_init(vdma_bench_disk_init);
module_exit(vdma_bench_disk_exit);

MODULE_DESCRIPTION("Counts what requests of a virtio disk cost");
MODULE_LICENSE("GPL");
