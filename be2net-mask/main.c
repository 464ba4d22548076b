// SPDX-License-Identifier: GPL-2.0
/* be2net_mask: the coherent DMA mask of a network card follows its streaming mask. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/string.h>

#include "bus.h"
#include "ids.h"

/* Most characters of a wrong ID that are shown. */
#define ID_SHOWN 80

static char *ids;
module_param(ids, charp, 0444);
MODULE_PARM_DESC(ids, "comma-separated PCI functions to look at besides be2net's: PCI ID (8086:10d3) or address (0000:00:05.0)");

static int __init parse_ids(void)
{
	const char *why, *where;
	int err;

	err = bnm_ids_parse(&bnm_ids, ids, &why, &where);
	if (err == -EINVAL)
		pr_err("ids: \"%.*s\" refused: %s\n",
		       min_t(int, strcspn(where, ","), ID_SHOWN), where, why);
	return err;
}

static int __init be2net_mask_init(void)
{
	int err;

	err = parse_ids();
	if (err)
		return err;
	err = bnm_bus_start();
	if (err)
		bnm_ids_free(&bnm_ids);
	return err;
}

static void __exit be2net_mask_exit(void)
{
	bnm_bus_stop();
	bnm_ids_free(&bnm_ids);
}

module_init(be2net_mask_init);
module_exit(be2net_mask_exit);

MODULE_DESCRIPTION("The coherent DMA mask of a network card follows its streaming mask");
MODULE_AUTHOR("The guest drivers team");
MODULE_LICENSE("GPL");
