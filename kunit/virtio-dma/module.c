// SPDX-License-Identifier: GPL-2.0
/* The suites of virtio_dma as one module: loading it runs them. */
#include <linux/module.h>

MODULE_DESCRIPTION("KUnit suites of virtio_dma");
MODULE_LICENSE("GPL");
