// SPDX-License-Identifier: GPL-2.0
/* The platform override hook: one owner at a time. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/errno.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/string.h>

#include "bounce.h"
#include "hook.h"

/*
 * Guards @current_hook, and is held while the hook is asked, so that
 * unregistering waits for an answer under way. Taken inside a device's lock.
 */
static DEFINE_MUTEX(hook_lock);
static const struct virtio_dma_hook *current_hook;

static int check_hook(const struct virtio_dma_hook *hook)
{
	if (hook && hook->choose && hook->name && *hook->name)
		return 0;
	pr_err("hook refused: it needs a name and a callback\n");
	return -EINVAL;
}

static int set_hook(const struct virtio_dma_hook *hook)
{
	int err;

	if (current_hook) {
		pr_err("hook %s refused: hook %s is registered, unload it first\n",
		       hook->name, current_hook->name);
		return -EBUSY;
	}
	err = vdma_bounce_set_window(hook->name, hook->pool_phys, hook->pool_size);
	if (!err)
		current_hook = hook;
	return err;
}

/**
 * virtio_dma_register_hook() - take part in the choice of paths
 * @hook: the hook; must stay valid until it is unregistered
 *
 * Devices that are bound already keep their path until they are bound again.
 *
 * Context: process context, may sleep. Not from within the hook.
 * Return: 0; or with the reason in the log -EINVAL if @hook lacks its name or callback,
 * or has a window that the pool cannot lie in; -EBUSY if another hook is registered, if
 * something else has claimed part of the window, if the pool lies elsewhere already or
 * is to by the user's parameters; -ENOMEM if the window cannot be mapped.
 */
int virtio_dma_register_hook(const struct virtio_dma_hook *hook)
{
	int err = check_hook(hook);

	if (err)
		return err;
	mutex_lock(&hook_lock);
	err = set_hook(hook);
	mutex_unlock(&hook_lock);
	return err;
}
EXPORT_SYMBOL_GPL(virtio_dma_register_hook);

/**
 * virtio_dma_unregister_hook() - take no further part in the choice of paths
 * @hook: the registered hook; any other is ignored with a warning
 *
 * When this returns, @hook is not running and will not be called again.
 * Devices that are bound keep the path that it chose.
 *
 * Context: process context, may sleep. Not from within the hook.
 */
void virtio_dma_unregister_hook(const struct virtio_dma_hook *hook)
{
	mutex_lock(&hook_lock);
	if (current_hook == hook)
		current_hook = NULL;
	else
		pr_warn("unregistering a hook that is not registered: ignored\n");
	mutex_unlock(&hook_lock);
}
EXPORT_SYMBOL_GPL(virtio_dma_unregister_hook);

/**
 * vdma_hook_ask() - ask the platform hook for the path of a device
 * @vdev: the device; its device lock is held
 * @offered: whether it offers VIRTIO_F_ACCESS_PLATFORM
 * @name: receives the name of the hook that was asked, "" if there is none
 *
 * Context: process context, may sleep.
 * Return: the answer; VIRTIO_DMA_AUTO if there is no hook.
 */
enum virtio_dma_path vdma_hook_ask(struct virtio_device *vdev, bool offered,
				   char name[VDMA_HOOK_NAME_LEN])
{
	enum virtio_dma_path path = VIRTIO_DMA_AUTO;

	name[0] = '\0';
	mutex_lock(&hook_lock);
	if (current_hook) {
		strscpy(name, current_hook->name, VDMA_HOOK_NAME_LEN);
		path = current_hook->choose(vdev, offered);
	}
	mutex_unlock(&hook_lock);
	return path;
}
