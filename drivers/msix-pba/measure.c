// SPDX-License-Identifier: GPL-2.0
/* What reading pages of a function costs. The device is only read. */
#include <linux/io.h>
#include <linux/ktime.h>
#include <linux/pm_runtime.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "exit.h"
#include "measure.h"
#include "probe.h"

/*
 * All are measured in turn, again and again, so that what disturbs one disturbs
 * the others. Where each read is trapped and takes 350 us, all take half a second.
 */
#define ROUNDS	101
/* Reads between two looks at the clock, which may be a coarse one. */
#define BATCH	8

/**
 * struct samples - times of batches, in nanoseconds
 * @none: of a batch of nothing: what the clock takes
 * @leave: of leaving the guest
 * @page: of reading each place
 */
struct samples {
	u64 none[ROUNDS];
	u64 leave[ROUNDS];
	u64 page[MSIX_REQUEST_PAGES][ROUNDS];
};

static const char *place_refused(struct pci_dev *pdev, const struct msix_place *place)
{
	const struct resource *bar = &pdev->resource[place->bar];

	if (!(bar->flags & IORESOURCE_MEM))
		return "it has no such memory BAR";
	if (bar->flags & IORESOURCE_UNSET || !bar->start)
		return "no address is assigned to the BAR";
	if (place->offset > resource_size(bar) - sizeof(u32))
		return "the offset is beyond the end of the BAR";
	return NULL;
}

static const char *places_refused(struct pci_dev *pdev, const struct msix_request *request)
{
	const char *why = NULL;
	unsigned int i;

	for (i = 0; i < request->count && !why; i++)
		why = place_refused(pdev, &request->place[i]);
	return why;
}

static u64 time_none(void)
{
	u64 start = ktime_get_raw_ns();

	return ktime_get_raw_ns() - start;
}

static u64 time_leaving(void)
{
	u64 start = ktime_get_raw_ns();
	unsigned int i;

	for (i = 0; i < BATCH; i++)
		msix_leave_guest();
	return ktime_get_raw_ns() - start;
}

static u64 time_reading(const void __iomem *where)
{
	u64 start = ktime_get_raw_ns();
	unsigned int i;

	for (i = 0; i < BATCH; i++)
		readl(where);
	return ktime_get_raw_ns() - start;
}

static int take_samples(struct samples *samples, void __iomem * const *where, unsigned int places)
{
	unsigned int round, i;

	for (round = 0; round < ROUNDS; round++) {
		samples->none[round] = time_none();
		if (MSIX_CAN_LEAVE)
			samples->leave[round] = time_leaving();
		for (i = 0; i < places; i++)
			samples->page[i][round] = time_reading(where[i]);
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}

static void evaluate(struct msix_measurement *m, struct samples *samples)
{
	u64 overhead = msix_median(samples->none, ROUNDS);
	unsigned int i;

	memset(m->cost, 0, sizeof(m->cost));
	memset(&m->leave, 0, sizeof(m->leave));
	for (i = 0; i < m->request.count; i++)
		m->cost[i] = msix_cost_of(samples->page[i], ROUNDS, BATCH, overhead);
	if (MSIX_CAN_LEAVE)
		m->leave = msix_cost_of(samples->leave, ROUNDS, BATCH, overhead);
	m->reason = msix_judge(&m->cost[0], &m->cost[1], &m->leave);
}

static void unmap_places(void __iomem **where, unsigned int places)
{
	while (places--)
		iounmap(where[places]);
}

static const char cannot_map[] =
	"it cannot be mapped uncached: its driver has it mapped cached, or there is no memory";

/*
 * Uncached, as reads must reach the device. Where somebody has the page mapped
 * write-combined the kernel gives us the same, which makes no difference to a
 * read; where it is mapped cached the kernel refuses.
 */
static const char *map_places(struct pci_dev *pdev, const struct msix_request *request,
			      void __iomem **where)
{
	unsigned int i;

	for (i = 0; i < request->count; i++) {
		const struct msix_place *place = &request->place[i];

		where[i] = ioremap(pdev->resource[place->bar].start + place->offset, sizeof(u32));
		if (!where[i]) {
			unmap_places(where, i);
			return cannot_map;
		}
	}
	return NULL;
}

static int measure_awake(struct pci_dev *pdev, struct msix_measurement *m, const char **why)
{
	void __iomem *where[MSIX_REQUEST_PAGES];
	struct samples *samples;
	int err = -EBUSY;

	*why = msix_unreadable(pdev);
	if (*why)
		return -ENODEV;
	samples = kzalloc(sizeof(*samples), GFP_KERNEL);
	if (!samples) {
		*why = "there is no memory";
		return -ENOMEM;
	}
	*why = map_places(pdev, &m->request, where);
	if (*why)
		goto free_samples;
	err = take_samples(samples, where, m->request.count);
	unmap_places(where, m->request.count);
	if (err) {
		*why = "interrupted";
		goto free_samples;
	}
	/* what was read of a function that went away meanwhile says nothing */
	*why = msix_unreadable(pdev);
	if (*why)
		err = -ENODEV;
	else
		evaluate(m, samples);
free_samples:
	kfree(samples);
	return err;
}

/* Keeps a function that is awake so; does not wake one up. */
static int measure_locked(struct pci_dev *pdev, struct msix_measurement *m, const char **why)
{
	struct device *dev = &pdev->dev;
	int err = -ENODEV;

	*why = places_refused(pdev, &m->request);
	if (*why)
		return -EINVAL;
	pm_runtime_get_noresume(dev);
	pm_runtime_barrier(dev);
	if (pm_runtime_suspended(dev))
		*why = "it is suspended: use it, or write on to its power/control";
	else
		err = measure_awake(pdev, m, why);
	pm_runtime_put(dev);
	return err;
}

/**
 * msix_measure() - measure what reading pages of a function costs
 * @pdev: the function
 * @measurement: @request in it says what to read; the rest is the result
 * @why: why there is none, as a sentence for the user
 *
 * Each place is read 808 times, four bytes at a time, and nothing else is; when
 * an error is returned before that, nothing at all.
 *
 * Context: process context, may sleep; takes the device lock, so that no driver
 * is bound or unbound meanwhile and nobody resets the function.
 * Return: 0; -EINVAL, -ENODEV, -EBUSY, -ENOMEM or -EINTR, and @measurement is as it was.
 */
int msix_measure(struct pci_dev *pdev, struct msix_measurement *measurement, const char **why)
{
	int err;

	if (device_lock_interruptible(&pdev->dev)) {
		*why = "interrupted";
		return -EINTR;
	}
	err = measure_locked(pdev, measurement, why);
	device_unlock(&pdev->dev);
	return err;
}
