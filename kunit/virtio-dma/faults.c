// SPDX-License-Identifier: GPL-2.0
/* Making every allocation of an operation fail in turn. */
#include <kunit/test.h>
#include <linux/fault-inject.h>
#include <linux/sched.h>

#include "faults.h"

/* More than any operation here allocates: for a loop that does not end by itself. */
#define MOST_ALLOCATIONS 2000

/* Returns whether allocation number @nth, counted from 1, was there to fail. */
static bool run_with_fault(const struct faulty *faulty, void *context,
			   unsigned int nth, int *err)
{
	bool fired;

	current->fail_nth = nth;
	*err = faulty->run(context);
	fired = !current->fail_nth;
	current->fail_nth = 0;
	return fired;
}

/**
 * fail_each_allocation() - run an operation with each of its allocations failing once
 * @test: the test
 * @faulty: the operation
 * @context: its argument
 *
 * Slab and page allocations of the calling task fail, those for per-CPU memory
 * cannot be made to. Some failures do not matter, as those of the kernel's own
 * debugging aids: then the operation has to succeed. It is run a last time with
 * nothing failing, which is the retry that has to work.
 *
 * Context: may sleep.
 * Return: how often the operation failed.
 */
unsigned int fail_each_allocation(struct kunit *test, const struct faulty *faulty,
				  void *context)
{
	unsigned int nth, failures = 0;
	bool fired = true;
	int err;

	for (nth = 1; fired && nth < MOST_ALLOCATIONS; nth++) {
		fired = run_with_fault(faulty, context, nth, &err);
		if (!err) {
			faulty->undo(context);
			continue;
		}
		KUNIT_EXPECT_TRUE_MSG(test, fired, "error %d though nothing failed", err);
		KUNIT_EXPECT_EQ_MSG(test, err, faulty->error, "allocation %u failed", nth);
		if (faulty->failed)
			faulty->failed(test, context);
		failures++;
	}
	KUNIT_EXPECT_FALSE_MSG(test, fired, "no end after %u allocations", nth);
	return failures;
}
