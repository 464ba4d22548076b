// SPDX-License-Identifier: GPL-2.0
/* The suites of msix_pba as one module: loading it runs them. */
#include <linux/module.h>

MODULE_DESCRIPTION("KUnit suites of msix_pba");
MODULE_LICENSE("GPL");
