// SPDX-License-Identifier: GPL-2.0
/*
 * How large a pool is to be. Nothing but numbers, all of one kind: slots, or bytes.
 *
 * It grows when half of it is in use, so that there is room while it does, and before a
 * device that shares it comes to its three quarters. It shrinks when what is left would
 * still be four times what was in use of late: then use must double before it grows
 * again, and those that hold something hold no more than a quarter of what all share.
 */
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "sizing.h"

static u64 whole_units(u64 size, u64 unit)
{
	return div64_u64(size, unit) * unit;
}

/**
 * vdma_sizing_step() - by how much does a pool grow at a time?
 * @size: its size now
 * @max: what it may have
 * @unit: what it grows by a multiple of
 *
 * It doubles: few steps lead to any size, and few chunks come of them.
 *
 * Context: any; looks at nothing but its arguments.
 * Return: the step; 0 if it may not grow.
 */
u64 vdma_sizing_step(u64 size, u64 max, u64 unit)
{
	return size < max ? whole_units(min(max(size, unit), max - size), unit) : 0;
}

/**
 * vdma_sizing_threshold() - how much is in use when a pool is to grow?
 * @size: its size now
 * @max: what it may have
 * @unit: what it grows by a multiple of
 *
 * Context: any; looks at nothing but its arguments.
 * Return: the most that does not make it grow; U64_MAX if it may not.
 */
u64 vdma_sizing_threshold(u64 size, u64 max, u64 unit)
{
	return vdma_sizing_step(size, max, unit) ? size / 2 : U64_MAX;
}

/**
 * vdma_sizing_may_drop() - may a chunk be given back?
 * @size: the pool's size with it
 * @chunk: the chunk's size
 * @start: what the pool keeps in any case
 * @peak: the most that was in use of late
 *
 * Context: any; looks at nothing but its arguments.
 * Return: whether it may.
 */
bool vdma_sizing_may_drop(u64 size, u64 chunk, u64 start, u64 peak)
{
	return chunk <= size && size - chunk >= start && peak <= (size - chunk) / 4;
}
