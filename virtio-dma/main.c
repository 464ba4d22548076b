// SPDX-License-Identifier: GPL-2.0
/* virtio_dma: stock virtio drivers through chosen DMA operations. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/moduleparam.h>

#include "attach.h"
#include "bounce.h"
#include "bus.h"
#include "rules.h"

/* Most characters of a wrong rule that are shown. */
#define RULE_SHOWN 80

static char *rules;
module_param(rules, charp, 0444);
MODULE_PARM_DESC(rules, "comma-separated DEVICE=PATH; DEVICE: net, blk, ... | PCI or MMIO device name | virtioN; PATH: off, direct, platform, swiotlb, bounce");

static uint pool_mb;
module_param(pool_mb, uint, 0444);
MODULE_PARM_DESC(pool_mb, "what the bounce pool begins with in MiB, at least 4 (default 32, or all of the window)");

static uint pool_max_mb;
module_param(pool_max_mb, uint, 0444);
MODULE_PARM_DESC(pool_max_mb, "what the bounce pool may grow to in MiB (default an eighth of memory, or all of the window); pool_mb: it does not grow");

static char *pool_phys;
module_param(pool_phys, charp, 0444);
MODULE_PARM_DESC(pool_phys, "window that the bounce pool lies in: its physical address in bytes, as 0x30000000 or 768M; boot with memmap=SIZE$ADDRESS");

static char *pool_size;
module_param(pool_size, charp, 0444);
MODULE_PARM_DESC(pool_size, "window that the bounce pool lies in: its size in bytes, as 256M");

static char *fill = "auto";
module_param(fill, charp, 0444);
MODULE_PARM_DESC(fill, "what bounce buffers hold before the device writes to them: auto (by device type), preserve, zero, none");

static int __init parse_rules(void)
{
	const char *why, *where;
	int err;

	err = vdma_rules_parse(&vdma_rules, rules, &why, &where);
	/* a line of the log is too short for a very long rule and the reason */
	if (err == -EINVAL)
		pr_err("rule \"%.*s\" refused: %s\n",
		       min_t(int, strcspn(where, ","), RULE_SHOWN), where, why);
	return err;
}

static int __init virtio_dma_init(void)
{
	const struct vdma_bounce_parameters bounce = {
		.pool_mb = pool_mb,
		.pool_max_mb = pool_max_mb,
		.pool_phys = pool_phys,
		.pool_size = pool_size,
		.fill = fill,
	};
	int err;

	err = parse_rules();
	if (err)
		return err;
	err = vdma_bounce_init(&bounce);
	if (err)
		goto err_free_rules;
	err = vdma_bus_start();
	if (err)
		goto err_exit_bounce;
	return 0;

err_exit_bounce:
	vdma_bounce_exit();
err_free_rules:
	vdma_rules_free(&vdma_rules);
	return err;
}

static void __exit virtio_dma_exit(void)
{
	vdma_bus_stop();
	vdma_bounce_exit();
	vdma_rules_free(&vdma_rules);
}

module_init(virtio_dma_init);
module_exit(virtio_dma_exit);

MODULE_DESCRIPTION("Stock virtio drivers through chosen DMA operations");
MODULE_AUTHOR("The guest drivers team");
MODULE_LICENSE("GPL");
