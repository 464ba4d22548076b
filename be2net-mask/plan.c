// SPDX-License-Identifier: GPL-2.0
/* When a coherent mask may be raised, and whether it may stay so. No side effects. */
#include <linux/dma-mapping.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "plan.h"

/* What a PCI function is created with, for both masks: pci_setup_device(), pci_device_add(). */
#define DEFAULT_MASK DMA_BIT_MASK(32)

/**
 * bnm_room() - can the coherent mask follow the streaming one?
 * @declared: the masks as a driver left them after its probe
 *
 * Return: BNM_ROOM, or why not.
 */
enum bnm_room bnm_room(const struct bnm_masks *declared)
{
	if (declared->streaming <= DEFAULT_MASK)
		return BNM_ROOM_NARROW;
	if (declared->streaming <= declared->coherent)
		return BNM_ROOM_LEVEL;
	return BNM_ROOM;
}

/**
 * bnm_applies() - is the coherent mask raised before this probe?
 * @wanted: the user asked for it
 * @learned_from: name of the driver whose masks are known; "" for none
 * @driver: name of the driver that is about to probe
 *
 * Nothing is known of what another driver declares.
 *
 * Return: whether it is.
 */
bool bnm_applies(bool wanted, const char *learned_from, const char *driver)
{
	return wanted && *learned_from && !strcmp(learned_from, driver);
}

/**
 * bnm_probe_streaming() - streaming mask to begin a probe with
 * @now: the one that the device has, perhaps left by an earlier driver
 *
 * Nothing resets the mask between drivers. Only when it does not begin wide does
 * a wide one after the probe say that this driver declared it.
 *
 * Return: the mask.
 */
u64 bnm_probe_streaming(u64 now)
{
	return min_t(u64, now, DEFAULT_MASK);
}

/**
 * bnm_outcome() - what a driver made of the mask that was raised for it
 * @applied: the coherent mask that it found
 * @now: the masks as it left them
 *
 * Return: the outcome. A coherent mask that is no longer @applied is the driver's own word.
 */
enum bnm_outcome bnm_outcome(u64 applied, const struct bnm_masks *now)
{
	if (now->coherent != applied)
		return BNM_MASK_OVERRULED;
	return now->streaming < applied ? BNM_MASK_TOO_WIDE : BNM_MASK_KEPT;
}

/**
 * bnm_restored() - the coherent mask to leave when the driver is gone
 * @before: the one before it was raised
 * @applied: the one that was put in
 * @now: the one that is there
 *
 * Return: @before, unless the driver set one itself: just what would be there
 * without us.
 */
u64 bnm_restored(u64 before, u64 applied, u64 now)
{
	return now == applied ? before : now;
}
