// SPDX-License-Identifier: GPL-2.0
/* The files that the user sees of a device, read and written as a user would. */
#include <kunit/resource.h>
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/dma-mapping.h>
#include <linux/fs.h>
#include <linux/kthread.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/virtio_ids.h>

#include "device.h"
#include "fake_transport.h"
#include "rebind.h"
#include "routing.h"

#define POOL_MB 8
#define TEXT_SIZE 256

#define MODERN BIT_ULL(VIRTIO_F_VERSION_1)
#define OFFERED (MODERN | BIT_ULL(VIRTIO_F_ACCESS_PLATFORM))

static struct fake_virtio *plug(struct kunit *test, u32 type, u64 features)
{
	const struct fake_virtio_params params = { .type = type, .features = features };

	return fake_virtio_plug(test, &params);
}

static struct fake_driver *bind_driver(struct kunit *test, u32 type)
{
	const struct fake_driver_params params = { .type = type };

	return fake_driver_register(test, &params);
}

static struct file *open_file(const struct fake_virtio *fake, const char *name, int flags)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/bus/virtio/devices/%s/dma/%s",
		 dev_name(&fake->vdev.dev), name);
	return filp_open(path, flags, 0);
}

/* The text of a file without the newline that it ends with. */
static void read_text(struct kunit *test, const struct fake_virtio *fake, const char *name,
		      char text[TEXT_SIZE])
{
	struct file *file = open_file(fake, name, O_RDONLY);
	loff_t at = 0;
	ssize_t len;

	KUNIT_ASSERT_FALSE_MSG(test, IS_ERR(file), "%s: error %ld", name, PTR_ERR(file));
	len = kernel_read(file, text, TEXT_SIZE - 1, &at);
	filp_close(file, NULL);
	KUNIT_ASSERT_GT_MSG(test, len, 0, "%s", name);
	KUNIT_EXPECT_EQ_MSG(test, text[len - 1], '\n', "%s", name);
	text[len - 1] = '\0';
}

static void expect_text(struct kunit *test, const struct fake_virtio *fake, const char *name,
			const char *expected)
{
	char text[TEXT_SIZE];

	read_text(test, fake, name, text);
	KUNIT_EXPECT_STREQ_MSG(test, text, expected, "%s", name);
}

/* Returns 0, or the error of opening or writing. */
static int write_text(const struct fake_virtio *fake, const char *name, const char *text)
{
	struct file *file = open_file(fake, name, O_WRONLY);
	loff_t at = 0;
	ssize_t len;

	if (IS_ERR(file))
		return PTR_ERR(file);
	len = kernel_write(file, text, strlen(text), &at);
	filp_close(file, NULL);
	if (len < 0)
		return len;
	return len == strlen(text) ? 0 : -EIO;
}

/* --- what is shown --- */

/**
 * struct shown - a device, and what its files say
 * @name: what it is
 * @rules: the user's rules
 * @type: its type
 * @features: what it offers
 * @bound: there is a driver for it
 * @path: file path
 * @state: file state
 * @reason: file reason
 * @refused: file refused
 * @offered: file offered
 */
struct shown {
	const char *name;
	const char *rules;
	u32 type;
	u64 features;
	bool bound;
	const char *path;
	const char *state;
	const char *reason;
	const char *refused;
	const char *offered;
};

static const struct shown shown[] = {
	{
		.name = "no driver yet",
		.rules = "net=bounce", .type = VIRTIO_ID_NET, .features = OFFERED,
		.path = "auto", .state = "unbound", .reason = "no driver is bound",
		.refused = "", .offered = "unknown",
	}, {
		.name = "off",
		.rules = "net=off", .type = VIRTIO_ID_NET, .features = MODERN, .bound = true,
		.path = "off", .state = "stock", .reason = "rule for the device type",
		.refused = "", .offered = "no",
	}, {
		.name = "left alone",
		.rules = "", .type = VIRTIO_ID_RNG, .features = OFFERED, .bound = true,
		.path = "off", .state = "stock",
		.reason = "left alone: type without a test; name it in a rule to route it",
		.refused = "", .offered = "yes",
	}, {
		.name = "direct",
		.rules = "", .type = VIRTIO_ID_NET, .features = MODERN, .bound = true,
		.path = "direct", .state = "attached", .reason = "default",
		.refused = "", .offered = "no",
	}, {
		.name = "platform",
		.rules = "", .type = VIRTIO_ID_NET, .features = OFFERED, .bound = true,
		.path = "platform", .state = "attached",
		.reason = "device offers VIRTIO_F_ACCESS_PLATFORM",
		.refused = "", .offered = "yes",
	}, {
		.name = "swiotlb",
		.rules = "net=swiotlb", .type = VIRTIO_ID_NET, .features = MODERN, .bound = true,
		.path = "swiotlb", .state = "attached", .reason = "rule for the device type",
		.refused = "", .offered = "no",
	}, {
		.name = "bounce",
		.rules = "net=bounce", .type = VIRTIO_ID_NET, .features = OFFERED, .bound = true,
		.path = "bounce", .state = "attached", .reason = "rule for the device type",
		.refused = "", .offered = "yes",
	}, {
		.name = "refused",
		.rules = "gpu=bounce", .type = VIRTIO_ID_GPU, .features = MODERN, .bound = true,
		.path = "bounce", .state = "refused", .reason = "rule for the device type",
		.refused = "this type unmaps buffers after its driver is gone: choose off",
		.offered = "no",
	},
};

KUNIT_ARRAY_PARAM_DESC(shown, shown, name);

static void sysfs_shows(struct kunit *test)
{
	const struct shown *c = test->param_value;
	struct fake_virtio *fake = plug(test, c->type, c->features);

	routing_rules(test, c->rules);
	if (c->bound)
		bind_driver(test, c->type);
	expect_text(test, fake, "path", c->path);
	expect_text(test, fake, "state", c->state);
	expect_text(test, fake, "reason", c->reason);
	expect_text(test, fake, "refused", c->refused);
	expect_text(test, fake, "offered", c->offered);
}

static enum virtio_dma_path want_swiotlb(struct virtio_device *vdev, bool offered)
{
	return VIRTIO_DMA_SWIOTLB;
}

static const struct virtio_dma_hook hook = {
	.name = "of some platform",
	.choose = want_swiotlb,
};

static void unregister_hook(void *unused)
{
	virtio_dma_unregister_hook(&hook);
}

static void sysfs_shows_hook(struct kunit *test)
{
	struct fake_virtio *fake = plug(test, VIRTIO_ID_NET, MODERN);

	KUNIT_ASSERT_EQ(test, virtio_dma_register_hook(&hook), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, unregister_hook, NULL), 0);
	bind_driver(test, VIRTIO_ID_NET);
	expect_text(test, fake, "path", "swiotlb");
	expect_text(test, fake, "reason", "hook of some platform");
}

static void sysfs_shows_exempt(struct kunit *test)
{
	static const struct fake_driver_params balloon = {
		.type = VIRTIO_ID_BALLOON,
		.cleared = BIT_ULL(VIRTIO_F_ACCESS_PLATFORM),
	};
	struct fake_virtio *fake = plug(test, VIRTIO_ID_BALLOON, MODERN);

	routing_rules(test, "balloon=bounce");
	fake_driver_register(test, &balloon);
	expect_text(test, fake, "state", "exempt");
	expect_text(test, fake, "reason", "the driver turned VIRTIO_F_ACCESS_PLATFORM down");
}

static const struct mode {
	const char *name;
	umode_t mode;
} modes[] = {
	{ "path", 0644 },
	{ "state", 0444 },
	{ "reason", 0444 },
	{ "refused", 0444 },
	{ "offered", 0444 },
	{ "maps", 0444 },
	{ "unmaps", 0444 },
	{ "map_bytes", 0444 },
	{ "map_failures", 0444 },
	{ "failures_too_large", 0444 },
	{ "failures_full", 0444 },
	{ "failures_over_share", 0444 },
	{ "bounced_to_device", 0444 },
	{ "bounced_from_device", 0444 },
	{ "allocs", 0444 },
	{ "frees", 0444 },
	{ "pool_used", 0444 },
	{ "pool_most", 0444 },
	{ "reset", 0200 },
};

static void sysfs_modes(struct kunit *test)
{
	struct fake_virtio *fake = plug(test, VIRTIO_ID_NET, MODERN);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		int flags = modes[i].mode & 0400 ? O_RDONLY : O_WRONLY;
		struct file *file = open_file(fake, modes[i].name, flags);

		KUNIT_EXPECT_FALSE_MSG(test, IS_ERR(file), "%s", modes[i].name);
		if (IS_ERR(file))
			continue;
		KUNIT_EXPECT_EQ_MSG(test, file_inode(file)->i_mode & 0777, modes[i].mode, "%s",
				    modes[i].name);
		filp_close(file, NULL);
	}
}

/* --- what can be written --- */

static void sysfs_path_of_unbound(struct kunit *test)
{
	static const char * const names[] = {
		"off", "direct", "platform", "swiotlb", "bounce", "auto",
	};
	struct fake_virtio *fake = plug(test, VIRTIO_ID_NET, MODERN);
	char line[16];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		KUNIT_EXPECT_EQ_MSG(test, write_text(fake, "path", names[i]), 0, "%s", names[i]);
		expect_text(test, fake, "path", names[i]);
		/* as echo writes it */
		snprintf(line, sizeof(line), "%s\n", names[i]);
		KUNIT_EXPECT_EQ_MSG(test, write_text(fake, "path", line), 0, "%s", names[i]);
		expect_text(test, fake, "path", names[i]);
	}
}

static void sysfs_path_of_bound(struct kunit *test)
{
	struct fake_virtio *fake = plug(test, VIRTIO_ID_NET, MODERN);
	struct fake_driver *driver = bind_driver(test, VIRTIO_ID_NET);

	KUNIT_EXPECT_EQ(test, write_text(fake, "path", "bounce\n"), 0);
	expect_text(test, fake, "path", "bounce");
	expect_text(test, fake, "state", "attached");
	expect_text(test, fake, "reason", "sysfs");
	KUNIT_EXPECT_EQ(test, driver->probes, 2);
	KUNIT_EXPECT_EQ(test, write_text(fake, "path", "off\n"), 0);
	expect_text(test, fake, "path", "off");
	expect_text(test, fake, "state", "stock");
	KUNIT_EXPECT_EQ(test, write_text(fake, "path", "auto\n"), 0);
	expect_text(test, fake, "path", "direct");
	expect_text(test, fake, "reason", "default");
}

static void sysfs_path_refused(struct kunit *test)
{
	static const char * const wrong[] = {
		"bounc", "bounce2", "Bounce", " bounce", "bounce ", "\n", "\nbounce", "invalid",
	};
	struct fake_virtio *fake = plug(test, VIRTIO_ID_GPU, MODERN);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		KUNIT_EXPECT_EQ_MSG(test, write_text(fake, "path", wrong[i]), -EINVAL, "%*pE",
				    (int)strlen(wrong[i]), wrong[i]);
	KUNIT_EXPECT_EQ(test, write_text(fake, "path", "bounce"), -EOPNOTSUPP);
	expect_text(test, fake, "path", "auto");
}

/* --- counters --- */

static void map_once(struct kunit *test, struct fake_virtio *fake, void *buffer, size_t size)
{
	struct device *dev = &fake->dma_dev;
	dma_addr_t addr = dma_map_single(dev, buffer, size, DMA_BIDIRECTIONAL);

	KUNIT_ASSERT_EQ(test, dma_mapping_error(dev, addr), 0);
	dma_unmap_single(dev, addr, size, DMA_BIDIRECTIONAL);
}

static void sysfs_counters(struct kunit *test)
{
	struct fake_virtio *fake = plug(test, VIRTIO_ID_NET, MODERN);
	void *buffer = kunit_kzalloc(test, SZ_4K, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, buffer);
	routing_rules(test, "net=bounce");
	bind_driver(test, VIRTIO_ID_NET);
	expect_text(test, fake, "maps", "0");
	map_once(test, fake, buffer, 100);
	map_once(test, fake, buffer, 1000);
	expect_text(test, fake, "maps", "2");
	expect_text(test, fake, "unmaps", "2");
	expect_text(test, fake, "map_bytes", "1100");
	expect_text(test, fake, "bounced_to_device", "1100");
	expect_text(test, fake, "bounced_from_device", "1100");
	expect_text(test, fake, "map_failures", "0");
	expect_text(test, fake, "pool_used", "0");

	/* counting goes on from there */
	KUNIT_EXPECT_EQ(test, write_text(fake, "reset", "1\n"), 0);
	expect_text(test, fake, "maps", "0");
	expect_text(test, fake, "map_bytes", "0");
	expect_text(test, fake, "pool_most", "0");
	map_once(test, fake, buffer, 10);
	expect_text(test, fake, "maps", "1");
	expect_text(test, fake, "map_bytes", "10");

	KUNIT_EXPECT_EQ(test, write_text(fake, "reset", "0"), -EINVAL);
	KUNIT_EXPECT_EQ(test, write_text(fake, "reset", "please"), -EINVAL);
	expect_text(test, fake, "maps", "1");
}

static void sysfs_pool_used(struct kunit *test)
{
	struct fake_virtio *fake = plug(test, VIRTIO_ID_NET, MODERN);
	struct device *dev = &fake->dma_dev;
	dma_addr_t addr;
	void *ring;

	routing_rules(test, "net=bounce");
	bind_driver(test, VIRTIO_ID_NET);
	ring = dma_alloc_coherent(dev, SZ_16K, &addr, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ring);
	expect_text(test, fake, "pool_used", "16384");
	expect_text(test, fake, "allocs", "1");
	dma_free_coherent(dev, SZ_16K, ring, addr);
	expect_text(test, fake, "pool_used", "0");
	expect_text(test, fake, "frees", "1");
}

/* --- the end --- */

static void sysfs_gone(struct kunit *test)
{
	struct fake_virtio *fake = plug(test, VIRTIO_ID_NET, MODERN);
	struct file *file = open_file(fake, "state", O_RDONLY);
	char text[TEXT_SIZE];
	loff_t at = 0;

	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	fake_virtio_unplug(test, fake);
	KUNIT_EXPECT_EQ(test, kernel_read(file, text, sizeof(text), &at), -ENODEV);
	filp_close(file, NULL);
}

/**
 * struct writer - writes to a device's path until there is none
 * @fake: the device
 * @begun: the first write is through
 * @err: the error at the end
 * @over: that is the end
 */
struct writer {
	struct fake_virtio *fake;
	struct completion begun;
	int err;
	struct completion over;
};

static int write_until_gone(void *data)
{
	struct writer *writer = data;
	unsigned int i;

	for (i = 0; !writer->err; i++) {
		writer->err = write_text(writer->fake, "path", i % 2 ? "direct" : "bounce");
		complete(&writer->begun);
	}
	kthread_complete_and_exit(&writer->over, 0);
}

/*
 * A write binds and unbinds, and taking the device away waits for the writers of
 * its files: neither may wait for the other for ever.
 */
static void sysfs_gone_while_written(struct kunit *test)
{
	struct fake_virtio *fake = plug(test, VIRTIO_ID_NET, MODERN);
	struct writer writer = { .fake = fake };
	struct task_struct *task;

	bind_driver(test, VIRTIO_ID_NET);
	init_completion(&writer.begun);
	init_completion(&writer.over);
	task = kthread_run(write_until_gone, &writer, "writer");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	wait_for_completion(&writer.begun);
	fake_virtio_unplug(test, fake);
	wait_for_completion(&writer.over);
	KUNIT_EXPECT_TRUE_MSG(test, writer.err == -ENODEV || writer.err == -ENOENT, "error %d",
			      writer.err);
	KUNIT_EXPECT_FALSE(test, fake_virtio_bound(fake));
	KUNIT_EXPECT_NULL(test, fake->dma_dev.dma_ops);
}

static int start(struct kunit_suite *suite)
{
	return routing_start(POOL_MB);
}

static void stop(struct kunit_suite *suite)
{
	routing_stop();
}

static struct kunit_case sysfs_cases[] = {
	KUNIT_CASE_PARAM(sysfs_shows, shown_gen_params),
	KUNIT_CASE(sysfs_shows_hook),
	KUNIT_CASE(sysfs_shows_exempt),
	KUNIT_CASE(sysfs_modes),
	KUNIT_CASE(sysfs_path_of_unbound),
	KUNIT_CASE(sysfs_path_of_bound),
	KUNIT_CASE(sysfs_path_refused),
	KUNIT_CASE(sysfs_counters),
	KUNIT_CASE(sysfs_pool_used),
	KUNIT_CASE(sysfs_gone),
	KUNIT_CASE(sysfs_gone_while_written),
	{}
};

static struct kunit_suite sysfs_suite = {
	.name = "virtio_dma_sysfs",
	.suite_init = start,
	.suite_exit = stop,
	.test_cases = sysfs_cases,
};

kunit_test_suite(sysfs_suite);
