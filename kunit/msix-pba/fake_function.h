/* SPDX-License-Identifier: GPL-2.0 */
/* A PCI function without hardware, alone on a bus and in a domain of its own. */
#ifndef _MSIX_PBA_KUNIT_FAKE_FUNCTION_H
#define _MSIX_PBA_KUNIT_FAKE_FUNCTION_H

#include <linux/pci.h>
#include <linux/sizes.h>

struct kunit;

/* Where its files are. */
#define FAKE_NAME "7357:00:00.0"

/* Its one BAR. */
#define FAKE_BAR_SIZE SZ_16K

/**
 * struct fake_function_params - what is to be plugged in
 * @no_msix: it has no MSI-X capability
 * @control: Message Control: the number of vectors, less one
 * @table: Table Offset and BIR
 * @pba: PBA Offset and BIR
 */
struct fake_function_params {
	bool no_msix;
	u16 control;
	u32 table;
	u32 pba;
};

/**
 * struct fake_function - a function without hardware
 * @pdev: the kernel's view of it
 * @answers: at which look at its vendor it has gone; 0: it has, below: never
 */
struct fake_function {
	struct pci_dev *pdev;
	int answers;
};

struct fake_function *fake_function_plug(struct kunit *test,
					 const struct fake_function_params *params);

#endif /* _MSIX_PBA_KUNIT_FAKE_FUNCTION_H */
