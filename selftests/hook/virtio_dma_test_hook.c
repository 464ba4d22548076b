// SPDX-License-Identifier: GPL-2.0
/* A platform module that answers one path for all devices of one virtio type. */
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/virtio.h>
#include <virtio_dma.h>

static uint device_type;
module_param(device_type, uint, 0444);
MODULE_PARM_DESC(device_type, "virtio device type to answer for (1 net, 2 blk, ...); 0: all");

static uint path;
module_param(path, uint, 0644);
MODULE_PARM_DESC(path, "the answer, a value of enum virtio_dma_path");

static uint asked;
module_param(asked, uint, 0444);
MODULE_PARM_DESC(asked, "how often the hook was asked (read only)");

static enum virtio_dma_path choose(struct virtio_device *vdev, bool offered)
{
	asked++;
	if (device_type && vdev->id.device != device_type)
		return VIRTIO_DMA_AUTO;
	return path;
}

static const struct virtio_dma_hook hook = {
	.name = "test",
	.choose = choose,
};

static int __init test_hook_init(void)
{
	return virtio_dma_register_hook(&hook);
}

static void __exit test_hook_exit(void)
{
	virtio_dma_unregister_hook(&hook);
}

module_init(test_hook_init);
module_exit(test_hook_exit);

MODULE_DESCRIPTION("Test user of the virtio_dma platform hook");
MODULE_LICENSE("GPL");
