/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A window: a range of physical memory that the host named for the pool, and that
 * the guest's kernel keeps its hands off.
 */
#ifndef _VDMA_WINDOW_H
#define _VDMA_WINDOW_H

#include <linux/sizes.h>
#include <linux/types.h>

/* What a window begins and ends at a multiple of: so far the pool aligns its buffers anyway. */
#define VDMA_WINDOW_ALIGN SZ_64K
/* The pool must have room for the rings and receive buffers of a device or two. */
#define VDMA_WINDOW_MIN_SIZE SZ_4M

/**
 * struct vdma_window - memory that the host named
 * @phys: where it begins
 * @size: bytes
 * @vaddr: the same, for the CPU, once it has been taken
 */
struct vdma_window {
	u64 phys;
	u64 size;
	void *vaddr;
};

/**
 * struct vdma_window_facts - what the system says about a window
 * @top: highest physical address there can be
 * @is_ram: the kernel uses part of it as memory
 * @is_pci: registers or memory of a PCI device are in it
 */
struct vdma_window_facts {
	u64 top;
	bool is_ram;
	bool is_pci;
};

/**
 * enum vdma_window_verdict - what is to be said of a window
 * @VDMA_WINDOW_FINE: nothing against it
 * @VDMA_WINDOW_EMPTY: it has no bytes
 * @VDMA_WINDOW_MISALIGNED: it begins or ends amid 64 KiB, or amid a page
 * @VDMA_WINDOW_WRAPS: it ends where no 64 bit reach
 * @VDMA_WINDOW_BEYOND: it ends above what the machine can address
 * @VDMA_WINDOW_SMALL: a pool needs more
 * @VDMA_WINDOW_RAM: the kernel uses it as memory
 * @VDMA_WINDOW_PCI: a PCI device is there
 * @VDMA_WINDOW_VERDICTS: number of values
 */
enum vdma_window_verdict {
	VDMA_WINDOW_FINE,
	VDMA_WINDOW_EMPTY,
	VDMA_WINDOW_MISALIGNED,
	VDMA_WINDOW_WRAPS,
	VDMA_WINDOW_BEYOND,
	VDMA_WINDOW_SMALL,
	VDMA_WINDOW_RAM,
	VDMA_WINDOW_PCI,
	VDMA_WINDOW_VERDICTS
};

enum vdma_window_verdict vdma_window_judge(const struct vdma_window *window,
					   const struct vdma_window_facts *facts);
int vdma_window_parse(const char *phys, const char *size, struct vdma_window *window);
int vdma_window_take(struct vdma_window *window, const char *who);
void vdma_window_release(struct vdma_window *window);

#endif /* _VDMA_WINDOW_H */
