// SPDX-License-Identifier: GPL-2.0
/* The platform hook: one owner, asked only while registered, waited for at the end. */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/virtio_ids.h>

#include "device.h"
#include "fake_transport.h"
#include "hook.h"
#include "routing.h"

/* How often a hook comes and goes under the eyes of a driver that is being bound. */
#define RACE_ROUNDS 60

/* What a hook of these tests was asked last. */
static struct virtio_device *asked_for;
static bool asked_offered;
static enum virtio_dma_path answer;

static enum virtio_dma_path answer_that(struct virtio_device *vdev, bool offered)
{
	asked_for = vdev;
	asked_offered = offered;
	return answer;
}

static const struct virtio_dma_hook one_hook = {
	.name = "one",
	.choose = answer_that,
};

static const struct virtio_dma_hook other_hook = {
	.name = "other",
	.choose = answer_that,
};

static void unregister(void *hook)
{
	virtio_dma_unregister_hook(hook);
}

static void register_hook(struct kunit *test, const struct virtio_dma_hook *hook)
{
	KUNIT_ASSERT_EQ(test, virtio_dma_register_hook(hook), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, unregister, (void *)hook), 0);
}

static void unregister_hook(struct kunit *test, const struct virtio_dma_hook *hook)
{
	kunit_release_action(test, unregister, (void *)hook);
}

/* Asks about no device in particular, and expects the hook of this name, "" for none. */
static void expect_asked(struct kunit *test, const char *name, enum virtio_dma_path path)
{
	char asked[VDMA_HOOK_NAME_LEN] = "not written";
	struct virtio_device vdev;

	asked_for = NULL;
	KUNIT_EXPECT_EQ(test, vdma_hook_ask(&vdev, true, asked), path);
	KUNIT_EXPECT_STREQ(test, asked, name);
	KUNIT_EXPECT_PTR_EQ(test, asked_for, *name ? &vdev : NULL);
}

static void hook_answers(struct kunit *test)
{
	char name[VDMA_HOOK_NAME_LEN];
	struct virtio_device vdev;

	expect_asked(test, "", VIRTIO_DMA_AUTO);
	register_hook(test, &one_hook);
	for (answer = VIRTIO_DMA_AUTO; answer < VIRTIO_DMA_PATHS; answer++)
		expect_asked(test, "one", answer);

	answer = VIRTIO_DMA_BOUNCE;
	vdma_hook_ask(&vdev, false, name);
	KUNIT_EXPECT_FALSE(test, asked_offered);
	vdma_hook_ask(&vdev, true, name);
	KUNIT_EXPECT_TRUE(test, asked_offered);

	unregister_hook(test, &one_hook);
	expect_asked(test, "", VIRTIO_DMA_AUTO);
}

static void hook_one_owner(struct kunit *test)
{
	answer = VIRTIO_DMA_DIRECT;
	register_hook(test, &one_hook);
	KUNIT_EXPECT_EQ(test, virtio_dma_register_hook(&one_hook), -EBUSY);
	KUNIT_EXPECT_EQ(test, virtio_dma_register_hook(&other_hook), -EBUSY);
	expect_asked(test, "one", VIRTIO_DMA_DIRECT);

	/* one unregistration is enough, whatever was refused */
	unregister_hook(test, &one_hook);
	register_hook(test, &other_hook);
	KUNIT_EXPECT_EQ(test, virtio_dma_register_hook(&one_hook), -EBUSY);
	expect_asked(test, "other", VIRTIO_DMA_DIRECT);
}

static void hook_incomplete(struct kunit *test)
{
	static const struct virtio_dma_hook incomplete[] = {
		{ .choose = answer_that },
		{ .name = "", .choose = answer_that },
		{ .name = "none" },
		{ },
	};
	size_t i;

	KUNIT_EXPECT_EQ(test, virtio_dma_register_hook(NULL), -EINVAL);
	for (i = 0; i < ARRAY_SIZE(incomplete); i++) {
		KUNIT_EXPECT_EQ_MSG(test, virtio_dma_register_hook(&incomplete[i]), -EINVAL,
				    "row %zu", i);
		expect_asked(test, "", VIRTIO_DMA_AUTO);
	}
	/* wrong is wrong, also when there is one already */
	register_hook(test, &one_hook);
	KUNIT_EXPECT_EQ(test, virtio_dma_register_hook(&incomplete[0]), -EINVAL);
}

static void hook_stranger(struct kunit *test)
{
	answer = VIRTIO_DMA_OFF;
	virtio_dma_unregister_hook(&one_hook);
	virtio_dma_unregister_hook(NULL);
	expect_asked(test, "", VIRTIO_DMA_AUTO);

	register_hook(test, &one_hook);
	virtio_dma_unregister_hook(&other_hook);
	virtio_dma_unregister_hook(NULL);
	expect_asked(test, "one", VIRTIO_DMA_OFF);
}

/* A name of any length, in memory of just its size, so that KASAN sees a look beyond. */
static void hook_name_lengths(struct kunit *test)
{
	size_t len;

	answer = VIRTIO_DMA_PLATFORM;
	for (len = 1; len < 3 * VDMA_HOOK_NAME_LEN; len++) {
		char *name = kunit_kzalloc(test, len + 1, GFP_KERNEL);
		char shown[VDMA_HOOK_NAME_LEN];
		struct virtio_dma_hook hook = { .name = name, .choose = answer_that };

		KUNIT_ASSERT_NOT_NULL(test, name);
		memset(name, 'n', len);
		strscpy(shown, name, sizeof(shown));
		register_hook(test, &hook);
		expect_asked(test, shown, VIRTIO_DMA_PLATFORM);
		unregister_hook(test, &hook);
	}
}

/* --- the end of a hook --- */

/**
 * struct ending - a hook that is unregistered while it is being asked
 * @entered: the hook has been asked
 * @leave: the hook may answer
 * @asked: who asked has its answer
 * @answered: the hook has answered
 * @unregistering: it is about to be unregistered
 * @unregistered: it has been
 * @answered_before: it had answered when it had been
 */
struct ending {
	struct completion entered;
	struct completion leave;
	struct completion asked;
	bool answered;
	bool unregistering;
	struct completion unregistered;
	bool answered_before;
};

static struct ending ending;

static enum virtio_dma_path answer_late(struct virtio_device *vdev, bool offered)
{
	complete(&ending.entered);
	wait_for_completion(&ending.leave);
	WRITE_ONCE(ending.answered, true);
	return VIRTIO_DMA_BOUNCE;
}

static const struct virtio_dma_hook late_hook = {
	.name = "late",
	.choose = answer_late,
};

static int ask_late(void *path)
{
	char name[VDMA_HOOK_NAME_LEN];
	struct virtio_device vdev;

	*(enum virtio_dma_path *)path = vdma_hook_ask(&vdev, false, name);
	kthread_complete_and_exit(&ending.asked, 0);
}

static int unregister_late(void *unused)
{
	WRITE_ONCE(ending.unregistering, true);
	virtio_dma_unregister_hook(&late_hook);
	ending.answered_before = READ_ONCE(ending.answered);
	kthread_complete_and_exit(&ending.unregistered, 0);
}

static bool waits(struct task_struct *task)
{
	return READ_ONCE(ending.unregistering) &&
	       READ_ONCE(task->__state) == TASK_UNINTERRUPTIBLE;
}

/*
 * The hook is not let go before the unregistering task either sleeps, as it must,
 * or has come back too early.
 */
static void wait_for_unregistering(struct task_struct *task)
{
	while (!waits(task) && !completion_done(&ending.unregistered))
		schedule_timeout_uninterruptible(1);
}

static void hook_unregister_waits(struct kunit *test)
{
	enum virtio_dma_path path = VIRTIO_DMA_AUTO;
	struct task_struct *asking, *unregistering;

	memset(&ending, 0, sizeof(ending));
	init_completion(&ending.entered);
	init_completion(&ending.leave);
	init_completion(&ending.asked);
	init_completion(&ending.unregistered);

	KUNIT_ASSERT_EQ(test, virtio_dma_register_hook(&late_hook), 0);
	asking = kthread_run(ask_late, &path, "ask");
	KUNIT_EXPECT_NOT_ERR_OR_NULL(test, asking);
	if (IS_ERR(asking))
		goto unregister;
	wait_for_completion(&ending.entered);

	unregistering = kthread_create(unregister_late, NULL, "unregister");
	KUNIT_EXPECT_NOT_ERR_OR_NULL(test, unregistering);
	if (IS_ERR(unregistering))
		goto leave;
	get_task_struct(unregistering);
	wake_up_process(unregistering);
	wait_for_unregistering(unregistering);
	KUNIT_EXPECT_FALSE(test, completion_done(&ending.unregistered));

	complete(&ending.leave);
	wait_for_completion(&ending.asked);
	wait_for_completion(&ending.unregistered);
	put_task_struct(unregistering);
	KUNIT_EXPECT_TRUE(test, ending.answered_before);
	KUNIT_EXPECT_EQ(test, path, VIRTIO_DMA_BOUNCE);
	expect_asked(test, "", VIRTIO_DMA_AUTO);
	return;

leave:
	complete(&ending.leave);
	wait_for_completion(&ending.asked);
unregister:
	virtio_dma_unregister_hook(&late_hook);
}

/* --- hooks come and go while drivers are bound --- */

/**
 * struct racing_hook - one of two hooks that take turns
 * @name: its name
 * @path: its answer
 * @registered: it may be asked
 * @asked: it was
 * @times: how often
 * @strays: how often it was asked, or still at work, while it was not registered
 */
struct racing_hook {
	const char *name;
	enum virtio_dma_path path;
	bool registered;
	struct completion asked;
	unsigned int times;
	unsigned int strays;
};

static struct racing_hook racing[] = {
	{ .name = "direct hook", .path = VIRTIO_DMA_DIRECT },
	{ .name = "off hook", .path = VIRTIO_DMA_OFF },
};

/* Takes its time, as a hook may, so that unregistering it comes to wait. */
static enum virtio_dma_path race(struct racing_hook *hook)
{
	bool registered = READ_ONCE(hook->registered);

	hook->times++;
	complete(&hook->asked);
	schedule_timeout_uninterruptible(1);
	if (!registered || !READ_ONCE(hook->registered))
		hook->strays++;
	return hook->path;
}

static enum virtio_dma_path race_direct(struct virtio_device *vdev, bool offered)
{
	return race(&racing[0]);
}

static enum virtio_dma_path race_off(struct virtio_device *vdev, bool offered)
{
	return race(&racing[1]);
}

static enum virtio_dma_path (* const race_choose[])(struct virtio_device *, bool) = {
	race_direct, race_off,
};

/* In memory that is gone right after, name and all, so that KASAN sees a late look. */
static struct virtio_dma_hook *make_racing_hook(unsigned int which)
{
	struct virtio_dma_hook *hook = kzalloc(sizeof(*hook), GFP_KERNEL);

	if (!hook)
		return NULL;
	hook->name = kstrdup(racing[which].name, GFP_KERNEL);
	hook->choose = race_choose[which];
	if (hook->name)
		return hook;
	kfree(hook);
	return NULL;
}

/* In every other round the hook is gone before anybody is sure to have asked it. */
static int race_once(unsigned int round)
{
	struct racing_hook *racer = &racing[round / 2 % 2];
	struct virtio_dma_hook *hook = make_racing_hook(round / 2 % 2);
	int err;

	if (!hook)
		return -ENOMEM;
	reinit_completion(&racer->asked);
	WRITE_ONCE(racer->registered, true);
	err = virtio_dma_register_hook(hook);
	if (!err && round % 2)
		wait_for_completion(&racer->asked);
	if (!err)
		virtio_dma_unregister_hook(hook);
	WRITE_ONCE(racer->registered, false);
	kfree(hook->name);
	kfree(hook);
	return err;
}

/**
 * struct race - hooks that come and go in a task of their own
 * @err: the first error of registering
 * @over: the task is done
 */
struct race {
	int err;
	struct completion over;
};

static int run_race(void *data)
{
	struct race *race = data;
	unsigned int round;

	for (round = 0; round < RACE_ROUNDS && !race->err; round++)
		race->err = race_once(round);
	kthread_complete_and_exit(&race->over, 0);
}

/* An answer and the name of who gave it must belong together. */
static void expect_whole_answer(struct kunit *test, struct vdma_device *vd)
{
	const struct vdma_decision *d = &vd->decision;
	size_t i;

	mutex_lock(&vd->lock);
	if (d->reason != VDMA_BY_HOOK) {
		KUNIT_EXPECT_EQ(test, d->reason, VDMA_BY_DEFAULT);
		KUNIT_EXPECT_EQ(test, d->path, VIRTIO_DMA_DIRECT);
		KUNIT_EXPECT_STREQ(test, d->hook_name, "");
		goto unlock;
	}
	for (i = 0; i < ARRAY_SIZE(racing); i++)
		if (!strcmp(d->hook_name, racing[i].name))
			break;
	KUNIT_EXPECT_LT_MSG(test, i, ARRAY_SIZE(racing), "hook \"%s\"", d->hook_name);
	if (i < ARRAY_SIZE(racing))
		KUNIT_EXPECT_EQ_MSG(test, d->path, racing[i].path, "%s", d->hook_name);
unlock:
	mutex_unlock(&vd->lock);
}

static void prepare_race(struct race *race)
{
	size_t i;

	memset(race, 0, sizeof(*race));
	init_completion(&race->over);
	for (i = 0; i < ARRAY_SIZE(racing); i++) {
		init_completion(&racing[i].asked);
		racing[i].times = 0;
		racing[i].strays = 0;
	}
}

static void bind_until_over(struct kunit *test, struct fake_virtio *fake,
			    struct vdma_device *vd, struct race *race)
{
	struct device *dev = &fake->vdev.dev;

	while (!completion_done(&race->over)) {
		device_release_driver(dev);
		KUNIT_EXPECT_EQ(test, device_attach(dev), 1);
		expect_whole_answer(test, vd);
	}
}

static void hook_racing_bind(struct kunit *test)
{
	static const struct fake_virtio_params device = { .type = VIRTIO_ID_NET };
	static const struct fake_driver_params driver = { .type = VIRTIO_ID_NET };
	struct fake_virtio *fake;
	struct vdma_device *vd;
	struct race race;
	size_t i;

	fake_driver_register(test, &driver);
	fake = fake_virtio_plug(test, &device);
	vd = routing_device(test, fake);

	prepare_race(&race);
	if (IS_ERR(kthread_run(run_race, &race, "hooks")))
		KUNIT_FAIL(test, "no thread");
	else
		bind_until_over(test, fake, vd, &race);

	KUNIT_EXPECT_EQ(test, race.err, 0);
	for (i = 0; i < ARRAY_SIZE(racing); i++) {
		KUNIT_EXPECT_GE_MSG(test, racing[i].times, RACE_ROUNDS / 4, "%s", racing[i].name);
		KUNIT_EXPECT_EQ_MSG(test, racing[i].strays, 0, "%s", racing[i].name);
	}
}

static int start(struct kunit_suite *suite)
{
	return routing_start(8);
}

static void stop(struct kunit_suite *suite)
{
	routing_stop();
}

static struct kunit_case hook_cases[] = {
	KUNIT_CASE(hook_answers),
	KUNIT_CASE(hook_one_owner),
	KUNIT_CASE(hook_incomplete),
	KUNIT_CASE(hook_stranger),
	KUNIT_CASE(hook_name_lengths),
	KUNIT_CASE(hook_unregister_waits),
	KUNIT_CASE(hook_racing_bind),
	{}
};

static struct kunit_suite hook_suite = {
	.name = "virtio_dma_hook",
	.suite_init = start,
	.suite_exit = stop,
	.test_cases = hook_cases,
};

kunit_test_suite(hook_suite);
