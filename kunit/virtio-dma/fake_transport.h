/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A virtio device, its transport and its driver, without hardware: the suites see
 * what the device sees, and say what device and driver do.
 */
#ifndef _VDMA_KUNIT_FAKE_TRANSPORT_H
#define _VDMA_KUNIT_FAKE_TRANSPORT_H

#include <kunit/test.h>
#include <linux/bits.h>
#include <linux/device.h>
#include <linux/dma-mapping.h>
#include <linux/virtio.h>
#include <linux/virtio_config.h>

/* The transport that virtio_dma routes, and one that it leaves alone. */
#define FAKE_TRANSPORT_KNOWN	"virtio-mmio"
#define FAKE_TRANSPORT_UNKNOWN	"virtio-fake"

#define FAKE_CONFIG_SIZE	256
#define FAKE_QUEUES_MAX		4
/* Descriptors of a queue. */
#define FAKE_QUEUE_SIZE		16
#define FAKE_HISTORY		8

/**
 * struct fake_virtio_params - what a device is when it is plugged in
 * @type: device type, VIRTIO_ID_...
 * @features: feature bits 0 to 63 that it offers; without VIRTIO_F_VERSION_1 the
 *	transport is a legacy one, which has 32 bits
 * @extended: its transport has get_extended_features(), where the kernel has it
 * @features_64_127: feature bits 64 to 127 that it offers then
 * @transport: FAKE_TRANSPORT_..., name of the transport's driver; NULL for
 *	FAKE_TRANSPORT_KNOWN
 */
struct fake_virtio_params {
	u32 type;
	u64 features;
	bool extended;
	u64 features_64_127;
	const char *transport;
};

/**
 * struct fake_virtio - a device
 * @vdev: the device on the virtio bus
 * @dma_dev: its parent, which does the DMA; has masks of 64 bits, and
 *	dma_parms
 * @params: what it is; @features in it may be changed between two drivers
 * @config: its configuration space
 * @finalize_error: what its finalize_features() returns; 0 for success. The
 *	features are recorded all the same
 * @vqs: its queues while a driver has asked for them
 * @status: the status that the driver has written
 * @resets: how often it was reset
 * @failures: how often the driver, or the core, has given it up: writes of
 *	VIRTIO_CONFIG_S_FAILED
 * @finalizations: how often features were accepted
 * @finalized: the features that the device saw accepted, the last FAKE_HISTORY
 *	times; entry @finalizations % FAKE_HISTORY is written next
 * @kicks: how often a queue was kicked
 * @dma_mask: what the streaming mask points to
 * @dma_parms: what dma_set_max_seg_size() and dma_set_min_align_mask() write to
 * @ops: the transport's config operations
 */
struct fake_virtio {
	struct virtio_device vdev;
	struct device dma_dev;
	struct fake_virtio_params params;
	u8 config[FAKE_CONFIG_SIZE];
	int finalize_error;
	struct virtqueue *vqs[FAKE_QUEUES_MAX];

	u8 status;
	unsigned int resets;
	unsigned int failures;
	unsigned int finalizations;
	u64 finalized[FAKE_HISTORY];
	unsigned int kicks;

	u64 dma_mask;
	struct device_dma_parameters dma_parms;
	struct virtio_config_ops ops;
};

/**
 * struct fake_driver_params - what a driver does; may be changed between two binds
 * @type: device type that it drives
 * @features: feature bits that it knows; fixed once it is registered
 * @cleared: feature bits that its validate() turns down, as the balloon's does
 * @validate_error: what its validate() returns; 0 for success
 * @probe_error: what its probe() returns, after it has taken its queues and given
 *	them back; 0 for success
 * @queues: how many queues its probe() asks for, FAKE_QUEUES_MAX at most
 */
struct fake_driver_params {
	u32 type;
	u64 features;
	u64 cleared;
	int validate_error;
	int probe_error;
	unsigned int queues;
};

/**
 * struct fake_driver - a driver
 * @driver: the driver on the virtio bus
 * @params: what it does
 * @probes: how often its probe() was called
 * @removes: how often its remove() was called
 * @restores: how often its restore() was called
 * @seen: the accepted features as its probe() or restore() last saw them
 * @name: its name
 * @ids: the ids of @params.type
 * @features: @params.features as a table
 */
struct fake_driver {
	struct virtio_driver driver;
	struct fake_driver_params params;

	unsigned int probes;
	unsigned int removes;
	unsigned int restores;
	u64 seen;

	char name[32];
	struct virtio_device_id ids[2];
	unsigned int features[64];
};

static inline struct fake_virtio *to_fake_virtio(struct virtio_device *vdev)
{
	return container_of(vdev, struct fake_virtio, vdev);
}

/**
 * fake_virtio_bound() - is a driver bound to the device?
 * @fake: the device
 *
 * Return: true if so.
 */
static inline bool fake_virtio_bound(const struct fake_virtio *fake)
{
	return fake->vdev.dev.driver;
}

struct fake_virtio *fake_virtio_plug(struct kunit *test,
				     const struct fake_virtio_params *params);
void fake_virtio_unplug(struct kunit *test, struct fake_virtio *fake);
u64 fake_virtio_finalized(const struct fake_virtio *fake);

struct fake_driver *fake_driver_register(struct kunit *test,
					 const struct fake_driver_params *params);
void fake_driver_unregister(struct kunit *test, struct fake_driver *driver);

#endif /* _VDMA_KUNIT_FAKE_TRANSPORT_H */
