// SPDX-License-Identifier: GPL-2.0
/* /sys/bus/pci/devices/ADDRESS/coherent_mask/ */
#include <linux/device.h>
#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/sysfs.h>

#include "apply.h"
#include "function.h"
#include "rebind.h"
#include "verdict.h"

typedef ssize_t (*show_t)(char *buf, struct bnm_function *fn, const struct bnm_facts *facts);

/*
 * Under the device lock: the domain of a device may change when it has no driver.
 * The group goes away without that lock, so a reader that waits for it does no harm.
 */
static ssize_t show(struct device *dev, char *buf, show_t emit)
{
	struct bnm_function *fn = bnm_function_find(dev);
	struct bnm_facts facts;
	ssize_t len;

	if (!fn)
		return -ENODEV;
	device_lock(dev);
	bnm_recheck(fn);
	bnm_gather(fn, &facts);
	len = emit(buf, fn, &facts);
	device_unlock(dev);
	bnm_function_put(fn);
	return len;
}

/* A file that says nothing while no driver is bound. */
#define FACT_RO(name, format, value) \
static ssize_t emit_##name(char *buf, struct bnm_function *fn, \
			   const struct bnm_facts *facts) \
{ \
	return facts->bound ? sysfs_emit(buf, format "\n", value) : -ENODEV; \
} \
static ssize_t name##_show(struct device *dev, struct device_attribute *attr, char *buf) \
{ \
	return show(dev, buf, emit_##name); \
} \
static DEVICE_ATTR_RO(name)

FACT_RO(streaming, "%u", bnm_bits(facts->masks.streaming));
FACT_RO(coherent, "%u", bnm_bits(facts->masks.coherent));
FACT_RO(required, "%u", bnm_bits(facts->required));
FACT_RO(bus_limit, "%u", bnm_bits(facts->bus_limit ?: U64_MAX));
FACT_RO(domain, "%s", bnm_domain_text(facts->domain));
FACT_RO(swiotlb, "%s", bnm_swiotlb_text(bnm_judge(facts).swiotlb));
FACT_RO(passthrough, "%s", bnm_passthrough_text(bnm_judge(facts).passthrough));

static ssize_t emit_verdict(char *buf, struct bnm_function *fn, const struct bnm_facts *facts)
{
	char text[BNM_VERDICT_SIZE];

	bnm_verdict_text(text, facts);
	return sysfs_emit(buf, "%s\n", text);
}

static ssize_t verdict_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return show(dev, buf, emit_verdict);
}

static const char *state_text(const struct bnm_function *fn)
{
	static const char * const texts[] = {
		[BNM_STOCK] = "stock",
		[BNM_APPLIED] = "applied",
		[BNM_REFUSED] = "refused",
		[BNM_OVERRULED] = "overruled",
		[BNM_UNDONE] = "undone",
	};

	if (fn->wanted && fn->state != BNM_APPLIED)
		return "waiting";
	return fn->bound ? texts[fn->state] : "unbound";
}

static ssize_t emit_state(char *buf, struct bnm_function *fn, const struct bnm_facts *facts)
{
	return sysfs_emit(buf, "%s\n", state_text(fn));
}

static ssize_t state_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return show(dev, buf, emit_state);
}

static ssize_t emit_apply(char *buf, struct bnm_function *fn, const struct bnm_facts *facts)
{
	return sysfs_emit(buf, "%d\n", fn->wanted);
}

static ssize_t apply_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return show(dev, buf, emit_apply);
}

/*
 * Whoever takes the device away waits for the users of this file, and holds no
 * device lock then, which is all that rebinding needs. Unloading is kept out: it
 * would end the work that a rebind waits for.
 */
static int choose(struct device *dev, bool on)
{
	struct bnm_function *fn = bnm_function_find(dev);
	int err = -ENODEV;

	if (!fn)
		return -ENODEV;
	if (try_module_get(THIS_MODULE)) {
		err = bnm_choose(fn, on);
		module_put(THIS_MODULE);
	}
	bnm_function_put(fn);
	return err;
}

static ssize_t apply_store(struct device *dev, struct device_attribute *attr,
			   const char *buf, size_t len)
{
	bool on;
	int err;

	if (kstrtobool(buf, &on)) {
		dev_err(dev, "be2net_mask: apply takes 1 to raise the coherent mask, 0 to put it back\n");
		return -EINVAL;
	}
	err = choose(dev, on);
	return err ?: len;
}

static DEVICE_ATTR_RO(verdict);
static DEVICE_ATTR_RO(state);
static DEVICE_ATTR_RW(apply);

static struct attribute *sysfs_attrs[] = {
	&dev_attr_verdict.attr,
	&dev_attr_state.attr,
	&dev_attr_apply.attr,
	&dev_attr_streaming.attr,
	&dev_attr_coherent.attr,
	&dev_attr_required.attr,
	&dev_attr_bus_limit.attr,
	&dev_attr_domain.attr,
	&dev_attr_swiotlb.attr,
	&dev_attr_passthrough.attr,
	NULL
};

const struct attribute_group bnm_sysfs_group = {
	.name = "coherent_mask",
	.attrs = sysfs_attrs,
};
