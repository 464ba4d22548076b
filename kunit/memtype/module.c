// SPDX-License-Identifier: GPL-2.0
/* The suites of guest_memtype as one module: loading it runs them. */
#include <linux/module.h>

MODULE_DESCRIPTION("KUnit suites of guest_memtype");
MODULE_LICENSE("GPL");
