// SPDX-License-Identifier: GPL-2.0
/* Measuring, and everything that can be in its way. */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/io.h>
#include <linux/kthread.h>
#include <linux/pm_runtime.h>
#include <linux/sched/signal.h>

#include "fake_function.h"
#include "measure.h"
#include "probe.h"

/* 4 vectors at 0, PBA at 0x1000. */
static const struct fake_function_params sound = { .control = 3, .table = 0x0, .pba = 0x1000 };

static void measure_reads(struct kunit *test)
{
	struct msix_measurement m = { .request = { .count = 2,
		.place = { { 0, 0x1000 }, { 0, 0x2000 } } } };
	struct fake_function *fake = fake_function_plug(test, &sound);
	const char *why = NULL;

	KUNIT_EXPECT_EQ(test, msix_measure(fake->pdev, &m, &why), 0);
	KUNIT_EXPECT_NULL(test, why);
	KUNIT_EXPECT_EQ(test, m.cost[0].reads, 808);
	KUNIT_EXPECT_EQ(test, m.cost[1].reads, 808);
	KUNIT_EXPECT_EQ(test, m.leave.reads, 808);
	KUNIT_EXPECT_LE(test, m.cost[0].low_ps, m.cost[0].median_ps);
	KUNIT_EXPECT_LE(test, m.cost[0].median_ps, m.cost[0].high_ps);

	/* a page less leaves nothing of the old one */
	m.request.count = 1;
	KUNIT_EXPECT_EQ(test, msix_measure(fake->pdev, &m, &why), 0);
	KUNIT_EXPECT_EQ(test, m.cost[1].reads, 0);
}

static void expect_refused(struct kunit *test, struct fake_function *fake, struct msix_place place,
			   int error, const char *reason)
{
	struct msix_measurement m = { .request = { .count = 1, .place = { place } } };
	const char *why = "";

	KUNIT_EXPECT_EQ(test, msix_measure(fake->pdev, &m, &why), error);
	KUNIT_EXPECT_STREQ(test, why, reason);
	KUNIT_EXPECT_EQ(test, m.cost[0].reads, 0);
}

static const struct msix_place pba = { 0, 0x1000 };

static void measure_no_such_place(struct kunit *test)
{
	struct fake_function *fake = fake_function_plug(test, &sound);

	expect_refused(test, fake, (struct msix_place) { 1, 0 }, -EINVAL,
		       "it has no such memory BAR");
	expect_refused(test, fake, (struct msix_place) { 0, FAKE_BAR_SIZE }, -EINVAL,
		       "the offset is beyond the end of the BAR");
	expect_refused(test, fake, (struct msix_place) { 0, U64_MAX - 3 }, -EINVAL,
		       "the offset is beyond the end of the BAR");
	fake->pdev->resource[0].flags |= IORESOURCE_UNSET;
	expect_refused(test, fake, pba, -EINVAL, "no address is assigned to the BAR");
	fake->pdev->resource[0].flags &= ~IORESOURCE_UNSET;
}

static void measure_disabled(struct kunit *test)
{
	struct fake_function *fake = fake_function_plug(test, &sound);

	pci_write_config_word(fake->pdev, PCI_COMMAND, 0);
	expect_refused(test, fake, pba, -ENODEV,
		       "its memory BARs are disabled: bind a driver, or write 1 to its enable file");
	/* of a virtual function the bit says nothing */
	fake->pdev->is_virtfn = true;
	KUNIT_EXPECT_NULL(test, msix_unreadable(fake->pdev));
	fake->pdev->is_virtfn = false;
}

static void measure_powered_down(struct kunit *test)
{
	static const char why[] = "it is powered down: use it, or write on to its power/control";
	struct fake_function *fake = fake_function_plug(test, &sound);
	pci_power_t state = fake->pdev->current_state;
	int pm_cap = fake->pdev->pm_cap;

	KUNIT_ASSERT_NE(test, pm_cap, 0);
	pci_write_config_word(fake->pdev, pm_cap + PCI_PM_CTRL, 3);
	expect_refused(test, fake, pba, -ENODEV, why);
	fake->pdev->pm_cap = 0;
	KUNIT_EXPECT_NULL(test, msix_unreadable(fake->pdev));
	fake->pdev->pm_cap = pm_cap;
	pci_write_config_word(fake->pdev, pm_cap + PCI_PM_CTRL, 0);

	fake->pdev->current_state = PCI_D3cold;
	expect_refused(test, fake, pba, -ENODEV, why);
	fake->pdev->current_state = state;
	KUNIT_EXPECT_NULL(test, msix_unreadable(fake->pdev));
}

static void measure_suspended(struct kunit *test)
{
	struct fake_function *fake = fake_function_plug(test, &sound);
	struct device *dev = &fake->pdev->dev;

	pm_runtime_disable(dev);
	KUNIT_ASSERT_EQ(test, pm_runtime_set_suspended(dev), 0);
	pm_runtime_enable(dev);
	expect_refused(test, fake, pba, -ENODEV,
		       "it is suspended: use it, or write on to its power/control");
	KUNIT_EXPECT_TRUE(test, pm_runtime_suspended(dev));
	pm_runtime_disable(dev);
	KUNIT_ASSERT_EQ(test, pm_runtime_set_active(dev), 0);
	pm_runtime_enable(dev);
}

static void measure_gone(struct kunit *test)
{
	static const char why[] = "it does not answer: has it been removed?";
	struct fake_function *fake = fake_function_plug(test, &sound);

	fake->answers = 0;
	expect_refused(test, fake, pba, -ENODEV, why);
	/* it goes while it is read */
	fake->answers = 2;
	expect_refused(test, fake, pba, -ENODEV, why);
}

/* The page is mapped by somebody else, with another memory type. */
static void measure_mapped_otherwise(struct kunit *test)
{
	struct fake_function *fake = fake_function_plug(test, &sound);
	resource_size_t page = fake->pdev->resource[0].start + pba.offset;
	struct msix_measurement m = { .request = { .count = 2, .place = { { 0, 0 }, pba } } };
	const char *why = "";
	void __iomem *other;

	other = ioremap_cache(page, SZ_4K);
	KUNIT_ASSERT_NOT_NULL(test, (void __force *)other);
	KUNIT_EXPECT_EQ(test, msix_measure(fake->pdev, &m, &why), -EBUSY);
	KUNIT_EXPECT_STREQ(test, why,
			   "it cannot be mapped uncached: its driver has it mapped cached, or there is no memory");
	iounmap(other);

	other = ioremap_wc(page, SZ_4K);
	KUNIT_ASSERT_NOT_NULL(test, (void __force *)other);
	KUNIT_EXPECT_EQ(test, msix_measure(fake->pdev, &m, &why), 0);
	iounmap(other);
}

/* --- being killed --- */

/**
 * struct victim - a task that measures, and is killed before or meanwhile
 * @fake: what it measures
 * @error: what came of it
 * @why: and why
 * @ended: it has ended
 */
struct victim {
	struct fake_function *fake;
	int error;
	const char *why;
	struct completion ended;
};

static int measure_when_killed(void *data)
{
	struct msix_measurement m = { .request = { .count = 1, .place = { pba } } };
	struct victim *victim = data;

	allow_signal(SIGKILL);
	while (!signal_pending(current))
		schedule_timeout_interruptible(1);
	victim->error = msix_measure(victim->fake->pdev, &m, &victim->why);
	complete(&victim->ended);
	while (!kthread_should_stop())
		schedule_timeout_uninterruptible(1);
	return 0;
}

static void kill_one(struct kunit *test, struct victim *victim)
{
	struct task_struct *task;

	victim->why = "";
	init_completion(&victim->ended);
	task = kthread_run(measure_when_killed, victim, "msix_pba_victim");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	do {
		send_sig(SIGKILL, task, 1);
	} while (!wait_for_completion_timeout(&victim->ended, 1));
	kthread_stop(task);
	KUNIT_EXPECT_EQ(test, victim->error, -EINTR);
	KUNIT_EXPECT_STREQ(test, victim->why, "interrupted");
}

static void measure_killed(struct kunit *test)
{
	struct victim victim = { .fake = fake_function_plug(test, &sound) };

	kill_one(test, &victim);
}

static void measure_killed_while_it_waits(struct kunit *test)
{
	struct victim victim = { .fake = fake_function_plug(test, &sound) };

	device_lock(&victim.fake->pdev->dev);
	kill_one(test, &victim);
	device_unlock(&victim.fake->pdev->dev);
}

static struct kunit_case measure_cases[] = {
	KUNIT_CASE(measure_reads),
	KUNIT_CASE(measure_no_such_place),
	KUNIT_CASE(measure_disabled),
	KUNIT_CASE(measure_powered_down),
	KUNIT_CASE(measure_suspended),
	KUNIT_CASE(measure_gone),
	KUNIT_CASE(measure_mapped_otherwise),
	KUNIT_CASE(measure_killed),
	KUNIT_CASE(measure_killed_while_it_waits),
	{}
};

static struct kunit_suite measure_suite = {
	.name = "msix_pba_measure",
	.test_cases = measure_cases,
};

kunit_test_suite(measure_suite);
