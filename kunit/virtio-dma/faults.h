/* SPDX-License-Identifier: GPL-2.0 */
/* Making every allocation of an operation fail in turn. */
#ifndef _VDMA_KUNIT_FAULTS_H
#define _VDMA_KUNIT_FAULTS_H

struct kunit;

/**
 * struct faulty - an operation whose allocations are to fail
 * @run: does it; returns 0 or a negative error, and after an error has nothing left behind
 * @undo: undoes it after success, so that it can be run again
 * @failed: looks at what an error has left; optional
 * @error: the error that a failed allocation becomes
 */
struct faulty {
	int (*run)(void *context);
	void (*undo)(void *context);
	void (*failed)(struct kunit *test, void *context);
	int error;
};

unsigned int fail_each_allocation(struct kunit *test, const struct faulty *faulty,
				  void *context);

#endif /* _VDMA_KUNIT_FAULTS_H */
