// SPDX-License-Identifier: GPL-2.0
/* Changing the path of a device at run time, when nobody uses the device. */
#include <linux/device.h>
#include <linux/err.h>
#include <linux/netdevice.h>
#include <linux/virtio_ids.h>

#include "attach.h"
#include "device.h"
#include "rebind.h"

/**
 * struct claim - proof that a device is not in use
 * @vd: the device
 * @disk: its disk, open for us alone; NULL if it has none
 * @busy: who uses it, as a sentence for the user; NULL if nobody does
 */
struct claim {
	struct vdma_device *vd;
	struct vdma_disk *disk;
	const char *busy;
};

static bool of_class(const struct device *dev, const char *class)
{
	return dev->class && !strcmp(dev->class->name, class);
}

/*
 * While we hold the disk exclusively nobody can mount it, swap on it or stack
 * anything on it. A plain open that comes in after the look at the openers finds
 * the disk gone; removing the disk writes its dirty pages first.
 */
static int claim_disk(struct device *dev, void *data)
{
	struct claim *claim = data;
	struct vdma_disk *disk;

	if (!of_class(dev, "block"))
		return 0;
	disk = vdma_disk_open(dev->devt, claim->vd);
	if (IS_ERR(disk)) {
		claim->busy = PTR_ERR(disk) == -EBUSY ?
			"the disk is mounted, swapped on, or part of another device" :
			"the disk cannot be opened to see whether it is in use";
		return 1;
	}
	claim->disk = disk;
	if (vdma_disk_openers(disk) > 1)
		claim->busy = "a program has the disk open";
	return 1;
}

/* An interface brought up after this look is closed in order by its driver. */
static int look_at_netdev(struct device *dev, void *data)
{
	struct claim *claim = data;

	if (!of_class(dev, "net") || !netif_running(to_net_dev(dev)))
		return 0;
	claim->busy = "the network interface is up; set it down first";
	return 1;
}

static void claim_device(struct claim *claim)
{
	struct device *dev = &claim->vd->vdev->dev;

	switch (claim->vd->vdev->id.device) {
	case VIRTIO_ID_BLOCK:
		device_for_each_child(dev, claim, claim_disk);
		if (!claim->disk && !claim->busy)
			claim->busy = "its driver has made no disk of it";
		break;
	case VIRTIO_ID_NET:
		device_for_each_child(dev, claim, look_at_netdev);
		break;
	default:
		claim->busy = "this type cannot tell whether it is in use; unbind it first";
	}
}

static void unclaim_device(struct claim *claim)
{
	if (claim->disk)
		vdma_disk_close(claim->disk);
}

static void set_choice(struct vdma_device *vd, enum virtio_dma_path choice)
{
	mutex_lock(&vd->lock);
	vd->choice = choice;
	mutex_unlock(&vd->lock);
}

static int rebind(struct vdma_device *vd, enum virtio_dma_path choice)
{
	struct device *dev = &vd->vdev->dev;
	struct claim claim = { .vd = vd };

	/*
	 * Locked, so that no probe is half done. It cannot stay locked: only the
	 * super user can bind something else in the moment that follows.
	 */
	device_lock(dev);
	claim_device(&claim);
	device_unlock(dev);
	if (claim.busy) {
		dev_err(dev, "virtio_dma: path %s not taken: %s\n",
			vdma_path_name(choice), claim.busy);
		unclaim_device(&claim);
		return -EBUSY;
	}
	/* before the driver goes: whoever binds it next binds it over this path */
	set_choice(vd, choice);
	device_release_driver(dev);
	unclaim_device(&claim);
	return device_attach(dev) > 0 ? 0 : -ENODEV;
}

/* Says no before anything is touched, so that the device goes on as it was. */
static int check_choice(struct vdma_device *vd, enum virtio_dma_path choice)
{
	struct device *dev = &vd->vdev->dev;
	int err;

	device_lock(dev);
	err = vdma_check_choice(vd, choice);
	device_unlock(dev);
	return err;
}

/* Is the choice what the bound driver runs on already? */
static bool in_force(const struct vdma_device *vd, enum virtio_dma_path choice)
{
	if (vd->state == VDMA_ATTACHED)
		return vd->decision.path == choice;
	return vd->state == VDMA_STOCK && choice == VIRTIO_DMA_OFF;
}

static int choose(struct vdma_device *vd, enum virtio_dma_path choice)
{
	enum vdma_state state;
	bool done;
	int err;

	err = check_choice(vd, choice);
	if (err)
		return err;

	mutex_lock(&vd->lock);
	state = vd->state;
	done = state == VDMA_UNBOUND || in_force(vd, choice);
	mutex_unlock(&vd->lock);
	if (state != VDMA_REFUSED && !done)
		return rebind(vd, choice);

	set_choice(vd, choice);
	if (done)
		return 0;
	return device_attach(&vd->vdev->dev) > 0 ? 0 : -ENODEV;
}

/**
 * vdma_choose() - change the user's choice for one device
 * @vd: the device
 * @choice: a path, or VIRTIO_DMA_AUTO for none
 *
 * A bound driver is bound again over the new path if that is provably safe. A
 * device that was refused is tried again. A device without a driver waits for
 * one.
 *
 * Context: process context, may sleep; takes the device lock of the virtio
 * device, and unbinds and binds its driver. The caller keeps @vd, its virtio
 * device and the module from going away.
 * Return: 0; -EOPNOTSUPP if the path would be refused, -EBUSY if the device is
 * or may be in use, both with the reason in the log and the device as it was;
 * -ENODEV if the driver did not come back, or the device is going away.
 */
int vdma_choose(struct vdma_device *vd, enum virtio_dma_path choice)
{
	int err;

	mutex_lock(&vd->rebinding);
	err = choose(vd, choice);
	mutex_unlock(&vd->rebinding);
	return err;
}
