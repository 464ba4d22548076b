// SPDX-License-Identifier: GPL-2.0
/*
 * A real PCI function under drivers of ours: what is learned, raised, checked and put
 * back as they come and go, read and asked for by the files that a user has.
 */
#include <kunit/resource.h>
#include <kunit/test.h>
#include <linux/dma-map-ops.h>
#include <linux/dma-mapping.h>
#include <linux/etherdevice.h>
#include <linux/fs.h>
#include <linux/pci.h>
#include <linux/rtnetlink.h>

#include "bus.h"
#include "ids.h"

#define M(bits) DMA_BIT_MASK(bits)
#define NO_IOMMU "no IOMMU: not translated"
#define NO_BOUNCE "; streaming 64 bit: no buffer bounces"
#define TEXT_SIZE 1024
/* More than anything here allocates: for a loop that does not end by itself. */
#define MOST_ALLOCATIONS 200

/* The SMBus controller of every q35 machine, which has no driver in this kernel. */
#define VENDOR PCI_VENDOR_ID_INTEL
#define DEVICE 0x2930
#define ADDRESS "0000:00:1f.3"
#define DIRECTORY "/sys/bus/pci/devices/" ADDRESS "/coherent_mask/"

/**
 * struct behaviour - what the drivers do, and what they have seen
 * @streaming: bits that they set; 0: they do not
 * @coherent: likewise
 * @netdev: they make a network interface
 * @fails_above: their probe fails when it finds a wider coherent mask; 0: it does not
 * @probes: how many there were
 * @found_streaming: the streaming mask that the last probe began with
 * @found_coherent: the coherent one
 */
static struct behaviour {
	unsigned int streaming;
	unsigned int coherent;
	bool netdev;
	u64 fails_above;
	unsigned int probes;
	u64 found_streaming;
	u64 found_coherent;
} behaviour;

static struct net_device *interface;
static const struct net_device_ops no_ops = { 0 };

static int make_interface(struct pci_dev *pdev)
{
	int err;

	interface = alloc_etherdev(0);
	if (!interface)
		return -ENOMEM;
	SET_NETDEV_DEV(interface, &pdev->dev);
	interface->netdev_ops = &no_ops;
	eth_hw_addr_random(interface);
	err = register_netdev(interface);
	if (!err)
		return 0;
	free_netdev(interface);
	interface = NULL;
	return err;
}

static int probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct device *dev = &pdev->dev;

	behaviour.probes++;
	behaviour.found_streaming = dma_get_mask(dev);
	behaviour.found_coherent = dev->coherent_dma_mask;
	if (behaviour.fails_above && dev->coherent_dma_mask > behaviour.fails_above)
		return -EIO;
	if (behaviour.streaming && dma_set_mask(dev, M(behaviour.streaming)))
		return -EIO;
	if (behaviour.coherent && dma_set_coherent_mask(dev, M(behaviour.coherent)))
		return -EIO;
	return behaviour.netdev ? make_interface(pdev) : 0;
}

static void remove(struct pci_dev *pdev)
{
	if (!interface)
		return;
	unregister_netdev(interface);
	free_netdev(interface);
	interface = NULL;
}

static const struct pci_device_id smbus[] = { { PCI_DEVICE(VENDOR, DEVICE) }, { } };

static struct pci_driver first_driver = {
	.name = "bnm_first", .id_table = smbus, .probe = probe, .remove = remove,
};

static struct pci_driver second_driver = {
	.name = "bnm_second", .id_table = smbus, .probe = probe, .remove = remove,
};

/* --- what tests are made of --- */

static struct pci_dev *function(struct kunit *test)
{
	return test->priv;
}

static int function_test_init(struct kunit *test)
{
	struct pci_dev *pdev = pci_get_device(VENDOR, DEVICE, NULL);
	const char *why, *where;

	KUNIT_ASSERT_NOT_NULL(test, pdev);
	test->priv = pdev;
	KUNIT_ASSERT_NULL(test, pdev->dev.driver);
	behaviour = (struct behaviour) { .streaming = 64, .netdev = true };
	return bnm_ids_parse(&bnm_ids, ADDRESS, &why, &where);
}

/* As pci_device_add() leaves them. */
static void function_test_exit(struct kunit *test)
{
	struct pci_dev *pdev = function(test);

	bnm_ids_free(&bnm_ids);
	if (!pdev)
		return;
	pdev->dma_mask = M(32);
	pdev->dev.coherent_dma_mask = M(32);
	pci_dev_put(pdev);
}

static void unregister(void *driver)
{
	pci_unregister_driver(driver);
}

static void bind(struct kunit *test, struct pci_driver *driver)
{
	KUNIT_ASSERT_EQ(test, pci_register_driver(driver), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, unregister, driver), 0);
}

static void unbind(struct kunit *test, struct pci_driver *driver)
{
	kunit_release_action(test, unregister, driver);
}

static void stop(void *unused)
{
	bnm_bus_stop();
}

static void watch(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, bnm_bus_start(), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, stop, NULL), 0);
}

/* Returns the length without the newline at the end, or an error. */
static ssize_t read_file(const char *name, char text[TEXT_SIZE])
{
	char path[128];
	struct file *file;
	loff_t at = 0;
	ssize_t len;

	snprintf(path, sizeof(path), DIRECTORY "%s", name);
	file = filp_open(path, O_RDONLY, 0);
	if (IS_ERR(file))
		return PTR_ERR(file);
	len = kernel_read(file, text, TEXT_SIZE - 1, &at);
	filp_close(file, NULL);
	if (len > 0)
		text[--len] = '\0';
	return len;
}

static void expect_text(struct kunit *test, const char *name, const char *expected)
{
	char *text = kunit_kzalloc(test, TEXT_SIZE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, text);
	KUNIT_EXPECT_GT_MSG(test, read_file(name, text), 0, "%s", name);
	KUNIT_EXPECT_STREQ_MSG(test, text, expected, "%s", name);
}

static void expect_read_error(struct kunit *test, const char *name, int err)
{
	char *text = kunit_kzalloc(test, TEXT_SIZE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, text);
	KUNIT_EXPECT_EQ_MSG(test, read_file(name, text), err, "%s", name);
}

static int write_apply(const char *text)
{
	struct file *file = filp_open(DIRECTORY "apply", O_WRONLY, 0);
	loff_t at = 0;
	ssize_t len;

	if (IS_ERR(file))
		return PTR_ERR(file);
	len = kernel_write(file, text, strlen(text), &at);
	filp_close(file, NULL);
	return len < 0 ? len : 0;
}

static void expect_masks(struct kunit *test, unsigned int streaming, unsigned int coherent)
{
	KUNIT_EXPECT_EQ(test, dma_get_mask(&function(test)->dev), M(streaming));
	KUNIT_EXPECT_EQ(test, function(test)->dev.coherent_dma_mask, M(coherent));
}

static void set_up(bool up)
{
	rtnl_lock();
	if (up)
		dev_open(interface, NULL);
	else
		dev_close(interface);
	rtnl_unlock();
}

static void watch_and_apply(struct kunit *test)
{
	watch(test);
	bind(test, &first_driver);
	KUNIT_ASSERT_EQ(test, write_apply("1"), 0);
	expect_text(test, "state", "applied");
	expect_masks(test, 64, 64);
}

/* --- looked at, and left alone --- */

static void function_is_learned(struct kunit *test)
{
	watch(test);
	expect_text(test, "state", "unbound");
	expect_text(test, "verdict", "no driver is bound: its masks say nothing");
	expect_read_error(test, "streaming", -ENODEV);
	KUNIT_EXPECT_EQ(test, write_apply("1"), -ENODEV);

	bind(test, &first_driver);
	expect_text(test, "state", "stock");
	expect_text(test, "apply", "0");
	expect_text(test, "streaming", "64");
	expect_text(test, "coherent", "32");
	expect_text(test, "required", "31");
	expect_text(test, "bus_limit", "64");
	expect_text(test, "domain", "none");
	expect_text(test, "swiotlb", "no");
	expect_text(test, "passthrough", "no IOMMU");
	expect_text(test, "verdict", NO_IOMMU "; coherent 32 bit: rings lie anywhere" NO_BOUNCE
		    "; can be raised to 64 bit: write 1 to coherent_mask/apply");
	expect_masks(test, 64, 32);
	KUNIT_EXPECT_EQ(test, behaviour.probes, 1);
	unbind(test, &first_driver);
	expect_text(test, "state", "unbound");
}

static void function_was_bound_before(struct kunit *test)
{
	bind(test, &first_driver);
	watch(test);
	expect_text(test, "state", "stock");
	expect_text(test, "streaming", "64");
	KUNIT_EXPECT_EQ(test, write_apply("1"), 0);
	expect_text(test, "state", "applied");
}

static void function_not_named(struct kunit *test)
{
	const char *why, *where;

	bnm_ids_free(&bnm_ids);
	KUNIT_ASSERT_EQ(test, bnm_ids_parse(&bnm_ids, "8086:ffff,0000:00:1e.0", &why, &where), 0);
	watch(test);
	bind(test, &first_driver);
	expect_read_error(test, "state", -ENOENT);
	expect_masks(test, 64, 32);
}

static void function_narrow_is_left_alone(struct kunit *test)
{
	static const unsigned int narrow[] = { 32, 28 };
	unsigned int i;

	watch(test);
	for (i = 0; i < ARRAY_SIZE(narrow); i++) {
		behaviour.streaming = narrow[i];
		bind(test, &first_driver);
		behaviour.probes = 0;
		KUNIT_EXPECT_EQ(test, write_apply("1"), -EINVAL);
		expect_masks(test, narrow[i], 32);
		expect_text(test, "state", "stock");
		expect_text(test, "apply", "0");
		unbind(test, &first_driver);
	}
	KUNIT_EXPECT_EQ(test, behaviour.probes, 0);
}

static void function_level_is_left_alone(struct kunit *test)
{
	behaviour.coherent = 64;
	watch(test);
	bind(test, &first_driver);
	KUNIT_EXPECT_EQ(test, write_apply("1"), 0);
	KUNIT_EXPECT_EQ(test, behaviour.probes, 1);
	expect_text(test, "state", "stock");
}

static void function_text_is_refused(struct kunit *test)
{
	watch(test);
	bind(test, &first_driver);
	KUNIT_EXPECT_EQ(test, write_apply("64"), -EINVAL);
	KUNIT_EXPECT_EQ(test, write_apply(""), 0);
	KUNIT_EXPECT_EQ(test, write_apply("maybe"), -EINVAL);
	expect_text(test, "state", "stock");
	KUNIT_EXPECT_EQ(test, behaviour.probes, 1);
}

/* --- raised, and put back --- */

static void function_is_raised(struct kunit *test)
{
	watch_and_apply(test);
	KUNIT_EXPECT_EQ(test, behaviour.probes, 2);
	/* in force before the probe, and the driver's own word is heard */
	KUNIT_EXPECT_EQ(test, behaviour.found_coherent, M(64));
	KUNIT_EXPECT_EQ(test, behaviour.found_streaming, M(32));
	expect_text(test, "verdict", NO_IOMMU
		    "; coherent 64 bit (raised from 32 bit): rings lie anywhere" NO_BOUNCE);

	KUNIT_EXPECT_EQ(test, write_apply("1"), 0);
	KUNIT_EXPECT_EQ(test, behaviour.probes, 2);
	KUNIT_EXPECT_EQ(test, write_apply("0"), 0);
	KUNIT_EXPECT_EQ(test, behaviour.probes, 3);
	KUNIT_EXPECT_EQ(test, behaviour.found_coherent, M(32));
	expect_text(test, "state", "stock");
	expect_masks(test, 64, 32);
}

static void function_unbind_puts_back(struct kunit *test)
{
	watch_and_apply(test);
	unbind(test, &first_driver);
	expect_masks(test, 64, 32);
	/* still asked for */
	expect_text(test, "state", "waiting");
	bind(test, &first_driver);
	expect_text(test, "state", "applied");
	expect_masks(test, 64, 64);
}

static void function_stop_puts_back(struct kunit *test)
{
	watch_and_apply(test);
	kunit_release_action(test, stop, NULL);
	expect_masks(test, 64, 32);
	expect_read_error(test, "state", -ENOENT);
	KUNIT_EXPECT_NOT_NULL(test, function(test)->dev.driver);
	KUNIT_EXPECT_EQ(test, behaviour.probes, 2);
}

static void function_interface_is_up(struct kunit *test)
{
	watch(test);
	bind(test, &first_driver);
	set_up(true);
	KUNIT_EXPECT_EQ(test, write_apply("1"), -EBUSY);
	expect_text(test, "state", "stock");
	set_up(false);
	KUNIT_EXPECT_EQ(test, write_apply("1"), 0);
	set_up(true);
	KUNIT_EXPECT_EQ(test, write_apply("0"), -EBUSY);
	expect_text(test, "state", "applied");
	expect_text(test, "apply", "1");
	KUNIT_EXPECT_EQ(test, behaviour.probes, 2);
}

static void function_without_interface_waits(struct kunit *test)
{
	behaviour.netdev = false;
	watch(test);
	bind(test, &first_driver);
	KUNIT_EXPECT_EQ(test, write_apply("1"), 0);
	expect_text(test, "state", "waiting");
	KUNIT_EXPECT_EQ(test, behaviour.probes, 1);
	expect_masks(test, 64, 32);
	unbind(test, &first_driver);
	bind(test, &first_driver);
	expect_text(test, "state", "applied");
	/* withdrawn, but in force while the driver is there, and asked for again, and withdrawn */
	KUNIT_EXPECT_EQ(test, write_apply("0"), 0);
	expect_text(test, "state", "applied");
	KUNIT_EXPECT_EQ(test, write_apply("1"), 0);
	expect_text(test, "apply", "1");
	KUNIT_EXPECT_EQ(test, write_apply("0"), 0);
	expect_text(test, "apply", "0");
	unbind(test, &first_driver);
	bind(test, &first_driver);
	expect_text(test, "state", "stock");
	expect_masks(test, 64, 32);
}

/* Nothing is known of what another driver declares. */
static void function_other_driver(struct kunit *test)
{
	behaviour.netdev = false;
	watch(test);
	bind(test, &first_driver);
	KUNIT_EXPECT_EQ(test, write_apply("1"), 0);
	unbind(test, &first_driver);
	bind(test, &second_driver);
	KUNIT_EXPECT_EQ(test, behaviour.found_coherent, M(32));
	expect_text(test, "state", "waiting");
	expect_masks(test, 64, 32);
}

/* --- what goes wrong --- */

/* It declared 64 bit once; the mask of that time is still there when it is bound again. */
static void function_declares_less(struct kunit *test)
{
	static const unsigned int less[] = { 32, 48, 0 };
	unsigned int i;

	watch(test);
	for (i = 0; i < ARRAY_SIZE(less); i++) {
		behaviour.streaming = 64;
		bind(test, &first_driver);
		behaviour.streaming = less[i];
		behaviour.probes = 0;
		KUNIT_EXPECT_EQ_MSG(test, write_apply("1"), -EOPNOTSUPP, "%u", less[i]);
		KUNIT_EXPECT_EQ_MSG(test, behaviour.probes, 2, "%u", less[i]);
		KUNIT_EXPECT_EQ_MSG(test, behaviour.found_coherent, M(32), "%u", less[i]);
		expect_text(test, "state", "undone");
		expect_text(test, "apply", "0");
		expect_masks(test, less[i] ?: 32, 32);
		unbind(test, &first_driver);
	}
}

static void function_sets_coherent_itself(struct kunit *test)
{
	behaviour.coherent = 32;
	watch(test);
	bind(test, &first_driver);
	KUNIT_EXPECT_EQ(test, write_apply("1"), -EOPNOTSUPP);
	expect_text(test, "state", "overruled");
	/* not told to try again */
	expect_text(test, "verdict", NO_IOMMU
		    "; coherent 32 bit, which the driver itself sets: rings lie anywhere"
		    NO_BOUNCE);
	expect_masks(test, 64, 32);
	KUNIT_EXPECT_EQ(test, behaviour.probes, 2);
}

static void function_probe_fails(struct kunit *test)
{
	behaviour.fails_above = M(32);
	watch(test);
	bind(test, &first_driver);
	KUNIT_EXPECT_EQ(test, write_apply("1"), -EOPNOTSUPP);
	/* stock, mask raised, stock again */
	KUNIT_EXPECT_EQ(test, behaviour.probes, 3);
	expect_text(test, "state", "undone");
	expect_masks(test, 64, 32);
	KUNIT_EXPECT_NOT_NULL(test, function(test)->dev.driver);
}

/* Then without the mask, too: it has no driver, and that is told. */
static void function_probe_fails_twice(struct kunit *test)
{
	watch(test);
	bind(test, &first_driver);
	behaviour.fails_above = M(16);
	KUNIT_EXPECT_EQ(test, write_apply("1"), -ENODEV);
	expect_text(test, "state", "unbound");
	KUNIT_EXPECT_EQ(test, function(test)->dev.coherent_dma_mask, M(32));
}

/* A failed probe that found nothing of ours is not our business. */
static void function_probe_fails_stock(struct kunit *test)
{
	behaviour.fails_above = M(16);
	watch(test);
	bind(test, &first_driver);
	KUNIT_EXPECT_EQ(test, behaviour.probes, 1);
	expect_text(test, "state", "unbound");
}

static void function_streaming_changes_later(struct kunit *test)
{
	watch_and_apply(test);
	KUNIT_ASSERT_EQ(test, dma_set_mask(&function(test)->dev, M(40)), 0);
	expect_text(test, "state", "undone");
	expect_masks(test, 40, 32);
	expect_text(test, "apply", "0");
	KUNIT_EXPECT_EQ(test, behaviour.probes, 2);
}

static void function_coherent_changes_later(struct kunit *test)
{
	watch_and_apply(test);
	KUNIT_ASSERT_EQ(test, dma_set_coherent_mask(&function(test)->dev, M(40)), 0);
	expect_text(test, "state", "overruled");
	expect_masks(test, 64, 40);
	unbind(test, &first_driver);
	/* the driver's own word stays, as it would without us */
	expect_masks(test, 64, 40);
}

static int narrowest_refused;

static int refuse_wide(struct device *dev, u64 mask)
{
	return fls64(mask) < narrowest_refused;
}

static const struct dma_map_ops refusing_ops = { .dma_supported = refuse_wide };

static void take_ops_off(void *pdev)
{
	set_dma_ops(&((struct pci_dev *)pdev)->dev, NULL);
}

static void function_platform_refuses(struct kunit *test)
{
	/* the raised mask, and the one to begin with */
	static const int refused[] = { 33, 32 };
	unsigned int i;

	watch(test);
	for (i = 0; i < ARRAY_SIZE(refused); i++) {
		bind(test, &first_driver);
		behaviour.streaming = 0;
		narrowest_refused = refused[i];
		set_dma_ops(&function(test)->dev, &refusing_ops);
		KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, take_ops_off,
								function(test)), 0);
		KUNIT_EXPECT_EQ(test, write_apply("1"), -EOPNOTSUPP);
		expect_text(test, "state", "refused");
		expect_text(test, "apply", "0");
		/* the driver sets none, so it finds its streaming mask as it left it */
		expect_masks(test, 64, 32);
		kunit_release_action(test, take_ops_off, function(test));
		unbind(test, &first_driver);
		behaviour.streaming = 64;
	}
}

/* --- the function itself comes and goes --- */

static void function_is_removed(struct kunit *test)
{
	struct pci_dev *pdev = function(test);
	struct pci_bus *bus = pdev->bus;

	watch_and_apply(test);
	pci_stop_and_remove_bus_device_locked(pdev);
	expect_read_error(test, "state", -ENOENT);
	pci_dev_put(pdev);
	test->priv = NULL;

	pci_lock_rescan_remove();
	pci_rescan_bus(bus);
	pci_unlock_rescan_remove();
	test->priv = pci_get_device(VENDOR, DEVICE, NULL);
	KUNIT_ASSERT_NOT_NULL(test, test->priv);
	/* another device: nothing was asked of it */
	expect_text(test, "state", "stock");
	expect_masks(test, 64, 32);
}

/* Whatever fails, nothing is left behind, and what cannot be looked at runs stock. */
static void function_no_memory(struct kunit *test)
{
	unsigned int nth, failures = 0;
	bool fired = true;
	int err;

	bind(test, &first_driver);
	for (nth = 1; fired && nth < MOST_ALLOCATIONS; nth++) {
		current->fail_nth = nth;
		err = bnm_bus_start();
		fired = !current->fail_nth;
		current->fail_nth = 0;
		failures += !!err;
		if (err)
			KUNIT_EXPECT_EQ(test, err, -ENOMEM);
		else
			bnm_bus_stop();
		expect_masks(test, 64, 32);
		expect_read_error(test, "state", -ENOENT);
	}
	KUNIT_EXPECT_FALSE(test, fired);
	KUNIT_EXPECT_GT(test, failures, 0);
}

static struct kunit_case function_cases[] = {
	KUNIT_CASE(function_is_learned),
	KUNIT_CASE(function_was_bound_before),
	KUNIT_CASE(function_not_named),
	KUNIT_CASE(function_narrow_is_left_alone),
	KUNIT_CASE(function_level_is_left_alone),
	KUNIT_CASE(function_text_is_refused),
	KUNIT_CASE(function_is_raised),
	KUNIT_CASE(function_unbind_puts_back),
	KUNIT_CASE(function_stop_puts_back),
	KUNIT_CASE(function_interface_is_up),
	KUNIT_CASE(function_without_interface_waits),
	KUNIT_CASE(function_other_driver),
	KUNIT_CASE(function_declares_less),
	KUNIT_CASE(function_sets_coherent_itself),
	KUNIT_CASE(function_probe_fails),
	KUNIT_CASE(function_probe_fails_twice),
	KUNIT_CASE(function_probe_fails_stock),
	KUNIT_CASE(function_streaming_changes_later),
	KUNIT_CASE(function_coherent_changes_later),
	KUNIT_CASE(function_platform_refuses),
	KUNIT_CASE(function_is_removed),
	KUNIT_CASE(function_no_memory),
	{}
};

static struct kunit_suite function_suite = {
	.name = "be2net_mask_function",
	.init = function_test_init,
	.exit = function_test_exit,
	.test_cases = function_cases,
};

kunit_test_suite(function_suite);
