// SPDX-License-Identifier: GPL-2.0
/*
 * Plays the Ultravisor of a protected guest: the host sees one window of its memory, so
 * all devices bounce, and the pool lies in the window.
 *
 * A real platform module finds out whether it runs in such a guest, and where the
 * window is, from its firmware or hypervisor. Here the parameters say it.
 */
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/virtio.h>
#include <virtio_dma.h>

static unsigned long long window_phys;
module_param(window_phys, ullong, 0444);
MODULE_PARM_DESC(window_phys, "physical address of the memory that the host sees, in bytes");

static unsigned long long window_size;
module_param(window_size, ullong, 0444);
MODULE_PARM_DESC(window_size, "how large that is, in bytes");

/* Whatever a device offers: the host could not follow any other address. */
static enum virtio_dma_path choose(struct virtio_device *vdev, bool offered)
{
	return VIRTIO_DMA_BOUNCE;
}

static struct virtio_dma_hook hook = {
	.name = "ultravisor",
	.choose = choose,
};

static int __init ultravisor_init(void)
{
	hook.pool_phys = window_phys;
	hook.pool_size = window_size;
	return virtio_dma_register_hook(&hook);
}

static void __exit ultravisor_exit(void)
{
	virtio_dma_unregister_hook(&hook);
}

module_init(ultravisor_init);
module_exit(ultravisor_exit);

MODULE_DESCRIPTION("Plays an Ultravisor for the virtio_dma platform hook");
MODULE_LICENSE("GPL");
