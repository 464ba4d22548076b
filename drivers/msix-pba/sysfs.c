// SPDX-License-Identifier: GPL-2.0
/* /sys/bus/pci/devices/DEVICE/msix_pba/ */
#include <linux/seq_buf.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "function.h"
#include "report.h"

static struct msix_function *to_function(struct kobject *kobj)
{
	return container_of(kobj, struct msix_function, kobj);
}

static const struct msix_measurement *measurement_of(const struct msix_function *function)
{
	lockdep_assert_held(&function->lock);
	return function->measured ? &function->measurement : NULL;
}

static ssize_t length_of(struct seq_buf *out)
{
	return WARN_ON_ONCE(seq_buf_has_overflowed(out)) ? -EOVERFLOW : (ssize_t)out->len;
}

static ssize_t layout_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct seq_buf out;

	seq_buf_init(&out, buf, PAGE_SIZE);
	msix_report_layout(&out, &to_function(kobj)->layout);
	return length_of(&out);
}

static ssize_t json_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct msix_function *function = to_function(kobj);
	struct seq_buf out;

	seq_buf_init(&out, buf, PAGE_SIZE);
	mutex_lock(&function->lock);
	msix_report_json(&out, pci_name(function->pdev), &function->layout,
			 measurement_of(function));
	mutex_unlock(&function->lock);
	return length_of(&out);
}

static ssize_t measure_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct msix_function *function = to_function(kobj);
	struct seq_buf out;

	seq_buf_init(&out, buf, PAGE_SIZE);
	mutex_lock(&function->lock);
	msix_report_measurement(&out, measurement_of(function));
	mutex_unlock(&function->lock);
	return length_of(&out);
}

/* An old result is no answer to a new request. */
static int measure(struct msix_function *function, const struct msix_request *request,
		   const char **why)
{
	int err;

	mutex_lock(&function->lock);
	function->measured = false;
	function->measurement.request = *request;
	err = msix_measure(function->pdev, &function->measurement, why);
	function->measured = !err;
	mutex_unlock(&function->lock);
	return err;
}

static ssize_t measure_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf,
			     size_t len)
{
	struct msix_function *function = to_function(kobj);
	struct msix_request request;
	const char *why;
	int err = -EINVAL;
	char *text;

	text = kstrndup(buf, len, GFP_KERNEL);
	if (!text)
		return -ENOMEM;
	why = msix_request_parse(&request, text, &function->layout);
	kfree(text);
	if (!why)
		err = measure(function, &request, &why);
	if (err)
		pci_err(function->pdev, "msix_pba: not measured: %s\n", why);
	return err ?: len;
}

static struct kobj_attribute layout_attr = __ATTR_RO(layout);
static struct kobj_attribute json_attr = __ATTR_RO(json);
static struct kobj_attribute measure_attr = __ATTR_RW(measure);

static struct attribute *msix_sysfs_attrs[] = {
	&layout_attr.attr,
	&json_attr.attr,
	&measure_attr.attr,
	NULL
};

static const struct attribute_group msix_sysfs_group = {
	.attrs = msix_sysfs_attrs,
};

const struct attribute_group *msix_sysfs_groups[] = {
	&msix_sysfs_group,
	NULL
};
