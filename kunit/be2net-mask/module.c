// SPDX-License-Identifier: GPL-2.0
/* The suites of be2net_mask as one module: loading it runs them. */
#include <linux/module.h>

MODULE_DESCRIPTION("KUnit suites of be2net_mask");
MODULE_LICENSE("GPL");
