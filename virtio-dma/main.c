// SPDX-License-Identifier: GPL-2.0
/* virtio_dma: stock virtio drivers through chosen DMA operations. */
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/workqueue.h>

#include "attach.h"
#include "bus.h"
#include "device.h"
#include "rules.h"

static char *rules;
module_param(rules, charp, 0444);
MODULE_PARM_DESC(rules, "comma-separated DEVICE=PATH; DEVICE: net, blk, ... | PCI or MMIO device name | virtioN; PATH: off, direct, platform, swiotlb");

static int __init parse_rules(void)
{
	const char *why, *where;
	int err;

	err = vdma_rules_parse(&vdma_rules, rules, &why, &where);
	if (err == -EINVAL)
		pr_err("rule \"%.*s\" refused: %s\n",
		       (int)strcspn(where, ","), where, why);
	return err;
}

static int __init virtio_dma_init(void)
{
	int err;

	err = parse_rules();
	if (err)
		return err;
	vdma_workqueue = alloc_workqueue(KBUILD_MODNAME, WQ_UNBOUND, 0);
	if (!vdma_workqueue) {
		err = -ENOMEM;
		goto err_free_rules;
	}
	err = vdma_bus_start();
	if (err)
		goto err_destroy_workqueue;
	return 0;

err_destroy_workqueue:
	destroy_workqueue(vdma_workqueue);
err_free_rules:
	vdma_rules_free(&vdma_rules);
	return err;
}

static void __exit virtio_dma_exit(void)
{
	vdma_bus_stop();
	destroy_workqueue(vdma_workqueue);
	vdma_rules_free(&vdma_rules);
}

module_init(virtio_dma_init);
module_exit(virtio_dma_exit);

MODULE_DESCRIPTION("Stock virtio drivers through chosen DMA operations");
MODULE_AUTHOR("The guest drivers team");
MODULE_LICENSE("GPL");
