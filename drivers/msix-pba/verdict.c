// SPDX-License-Identifier: GPL-2.0
/* What the cost of reading a page says of it. */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/sort.h>

#include "verdict.h"

#define PS_PER_NS	1000ULL
#define PS_PER_US	1000000ULL

/*
 * A device answers a read in a few microseconds, or something is very wrong
 * with it. A hypervisor takes this long only if it is itself a guest, where a
 * trapped read was seen to take 120 us and more.
 */
#define TOO_SLOW_PS	(50 * PS_PER_US)

/*
 * Two pages of one device that are treated alike were seen to differ by a factor
 * of 1.8 at most: some registers take longer to answer.
 */
#define THAN_OTHER	4

/* A trapped read leaves the guest, and has something done for it there, too. */
#define THAN_EXIT	2

static const struct {
	enum msix_verdict verdict;
	const char *text;
} reasons[] = {
	[MSIX_NO_DIFFERENCE]	= { MSIX_CANNOT_TELL, "the figures are too close" },
	[MSIX_TOO_SLOW]		= { MSIX_TRAPPED, "no device takes 50 us to answer" },
	[MSIX_SLOWER_THAN_OTHER] = { MSIX_TRAPPED, "4 times the other page, or more" },
	[MSIX_FASTER_THAN_OTHER] = { MSIX_DIRECT, "a quarter of the other page, or less" },
	[MSIX_FASTER_THAN_EXIT]	= { MSIX_DIRECT, "half of leaving the guest, or less" },
};

static const char * const verdict_texts[] = {
	[MSIX_CANNOT_TELL]	= "cannot tell",
	[MSIX_DIRECT]		= "direct",
	[MSIX_TRAPPED]		= "trapped",
};

/**
 * msix_verdict_text() - a verdict in words
 * @verdict: the verdict
 *
 * Context: any.
 * Return: static text.
 */
const char *msix_verdict_text(enum msix_verdict verdict)
{
	return verdict < ARRAY_SIZE(verdict_texts) ? verdict_texts[verdict] : "invalid";
}

/**
 * msix_reason_text() - a reason in words
 * @reason: the reason
 *
 * Context: any.
 * Return: static text.
 */
const char *msix_reason_text(enum msix_reason reason)
{
	return reason < ARRAY_SIZE(reasons) ? reasons[reason].text : "invalid";
}

/**
 * msix_verdict_of() - the verdict that a reason leads to
 * @reason: the reason
 *
 * Context: any.
 * Return: the verdict.
 */
enum msix_verdict msix_verdict_of(enum msix_reason reason)
{
	return reason < ARRAY_SIZE(reasons) ? reasons[reason].verdict : MSIX_CANNOT_TELL;
}

/* By quartiles, so that neither noise nor a few outliers make a difference where there is none. */
static bool below(const struct msix_cost *lower, const struct msix_cost *higher, unsigned int times)
{
	/* a read that costs less than the clock can tell is still a read */
	u64 least = lower->high_ps ?: 1;

	return lower->reads && higher->reads && least * times <= higher->low_ps;
}

/**
 * msix_judge() - what the cost of reading a page says of it
 * @page: what a read of the page costs
 * @other: what a read of another page costs; no reads if there is none
 * @leave: what the cheapest way out of the guest and back costs; no reads if
 *	that is not known
 *
 * Where leaving the guest costs about as much as a read, as on an emulated CPU,
 * where everything is emulated, figures alike say nothing. A pure function.
 *
 * Context: any.
 * Return: what the verdict is based on, for msix_verdict_of().
 */
enum msix_reason msix_judge(const struct msix_cost *page, const struct msix_cost *other,
			    const struct msix_cost *leave)
{
	/* before the other limits, since a device that is a program somewhere may be slow, too */
	if (below(page, leave, THAN_EXIT))
		return MSIX_FASTER_THAN_EXIT;
	if (page->median_ps >= TOO_SLOW_PS)
		return MSIX_TOO_SLOW;
	if (below(other, page, THAN_OTHER))
		return MSIX_SLOWER_THAN_OTHER;
	if (below(page, other, THAN_OTHER))
		return MSIX_FASTER_THAN_OTHER;
	return MSIX_NO_DIFFERENCE;
}

static int compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/**
 * msix_median() - the median of some values
 * @values: the values; sorted afterwards
 * @count: how many, not 0
 *
 * Context: any.
 * Return: the median; of an even number of values, the upper of the middle two.
 */
u64 msix_median(u64 *values, unsigned int count)
{
	sort(values, count, sizeof(*values), compare, NULL);
	return values[count / 2];
}

static u64 per_read_ps(u64 batch_ns, unsigned int reads, u64 overhead_ns)
{
	u64 net = batch_ns > overhead_ns ? batch_ns - overhead_ns : 0;

	return div_u64(net * PS_PER_NS, reads);
}

/**
 * msix_cost_of() - what a read costs, from the times of batches of them
 * @batch_ns: the time of each batch, in nanoseconds; sorted afterwards
 * @batches: how many, not 0
 * @reads: reads in each, not 0
 * @overhead_ns: what a batch of none takes
 *
 * Context: any.
 * Return: the cost.
 */
struct msix_cost msix_cost_of(u64 *batch_ns, unsigned int batches, unsigned int reads,
			      u64 overhead_ns)
{
	u64 median = msix_median(batch_ns, batches);

	return (struct msix_cost) {
		.reads = (u64)batches * reads,
		.low_ps = per_read_ps(batch_ns[batches / 4], reads, overhead_ns),
		.median_ps = per_read_ps(median, reads, overhead_ns),
		.high_ps = per_read_ps(batch_ns[batches * 3 / 4], reads, overhead_ns),
	};
}
