// SPDX-License-Identifier: GPL-2.0
/* What main.c does in the module. */
#include <kunit/resource.h>
#include <linux/device/driver.h>
#include <linux/gfp.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "attach.h"
#include "bounce.h"
#include "bus.h"
#include "device.h"
#include "fake_transport.h"
#include "routing.h"
#include "rules.h"

/* KUnit calls suite_exit even after a suite_init that failed. */
static bool started;

/**
 * routing_pool() - say what pool there is to be
 * @pool_mb: size of the bounce pool in MiB, which does not grow
 * @fill: what bounce buffers hold at first, as in the module's parameter
 *
 * Context: may sleep.
 * Return: 0 or an error.
 */
int routing_pool(unsigned int pool_mb, const char *fill)
{
	const struct vdma_bounce_parameters parameters = {
		.pool_mb = pool_mb,
		.pool_max_mb = pool_mb,
		.fill = fill,
	};

	return vdma_bounce_init(&parameters);
}

/**
 * routing_start() - begin to route devices, without rules; for suite_init
 * @pool_mb: size of the bounce pool in MiB
 *
 * Context: may sleep.
 * Return: 0 or an error.
 */
int routing_start(unsigned int pool_mb)
{
	int err = routing_pool(pool_mb, "auto");

	if (!err)
		err = vdma_bus_start();
	started = !err;
	return err;
}

/**
 * routing_stop() - undo routing_start(), if it did not fail; for suite_exit
 *
 * Context: may sleep.
 */
void routing_stop(void)
{
	if (!started)
		return;
	started = false;
	vdma_bus_stop();
	vdma_bounce_exit();
}

static void action_free_rules(void *rules)
{
	vdma_rules_free(rules);
}

/**
 * routing_rules() - set the user's rules
 * @test: the test, at whose end there are none again
 * @text: the rules, as in the module's parameter; they take the place of earlier ones
 *
 * Context: may sleep; no driver is being bound.
 */
void routing_rules(struct kunit *test, const char *text)
{
	const char *why, *where;

	kunit_release_action(test, action_free_rules, &vdma_rules);
	KUNIT_ASSERT_EQ_MSG(test, vdma_rules_parse(&vdma_rules, text, &why, &where), 0,
			    "rules \"%s\"", text);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, action_free_rules,
							&vdma_rules), 0);
}

static void action_put(void *vd)
{
	vdma_device_put(vd);
}

/**
 * routing_device() - what the module keeps for a device
 * @test: the test, at whose end it is put
 * @fake: the device
 *
 * Context: may sleep.
 * Return: what is kept; fails the test if there is nothing.
 */
struct vdma_device *routing_device(struct kunit *test, struct fake_virtio *fake)
{
	struct vdma_device *vd = vdma_device_find(&fake->vdev);

	KUNIT_ASSERT_NOT_NULL(test, vd);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, action_put, vd), 0);
	return vd;
}

static void action_free_page(void *page)
{
	free_page((unsigned long)page);
}

/* A file of /sys/bus/virtio/drivers/virtio_dma/pool/, without its directory. */
static void read_pool_file(struct kunit *test, const char *name, char *page)
{
	struct attribute **attr = vdma_pool_sysfs_groups[0]->attrs;
	const struct driver_attribute *file;

	while (*attr && strcmp((*attr)->name, name))
		attr++;
	KUNIT_ASSERT_NOT_NULL_MSG(test, *attr, "pool/%s", name);
	file = container_of(*attr, struct driver_attribute, attr);
	page[file->show(NULL, page)] = '\0';
}

static char *new_page(struct kunit *test)
{
	char *page = (char *)__get_free_page(GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, page);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, action_free_page, page), 0);
	return page;
}

/**
 * routing_pool_chunk() - where a chunk of the bounce pool lies
 * @test: the test
 * @index: number of the chunk, from 0
 * @first: receives its first physical address
 * @last: receives its last one
 *
 * Context: may sleep.
 * Return: true, or false if there are not that many chunks; there is none while
 * there is no pool.
 */
bool routing_pool_chunk(struct kunit *test, unsigned int index, phys_addr_t *first,
			phys_addr_t *last)
{
	char *page = new_page(test), *rest = page, *line;
	u64 begin, end;
	bool found;

	read_pool_file(test, "chunks", page);
	do
		line = strsep(&rest, "\n");
	while (line && index--);
	found = line && sscanf(line, "%llx-%llx", &begin, &end) == 2;
	if (found) {
		*first = begin;
		*last = end;
	}
	kunit_release_action(test, action_free_page, page);
	return found;
}

/**
 * routing_pool_has() - does an address lie in the bounce pool?
 * @test: the test
 * @phys: physical address
 *
 * Context: may sleep.
 * Return: true if so; false also while there is no pool.
 */
bool routing_pool_has(struct kunit *test, phys_addr_t phys)
{
	phys_addr_t first, last;
	unsigned int i;

	for (i = 0; routing_pool_chunk(test, i, &first, &last); i++)
		if (phys >= first && phys <= last)
			return true;
	return false;
}

/**
 * routing_pool_figure() - ask how the bounce pool is doing
 * @test: the test
 * @name: what to ask: size, used, most or largest_run
 *
 * Context: may sleep.
 * Return: bytes; 0 also while there is no pool.
 */
u64 routing_pool_figure(struct kunit *test, const char *name)
{
	char *page = new_page(test);
	u64 figure = 0;

	read_pool_file(test, name, page);
	KUNIT_EXPECT_EQ_MSG(test, kstrtou64(strim(page), 10, &figure), 0, "pool/%s", name);
	kunit_release_action(test, action_free_page, page);
	return figure;
}
