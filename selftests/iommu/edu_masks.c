// SPDX-License-Identifier: GPL-2.0
/*
 * A driver for QEMU's edu device (docs/specs/edu) that sets its DMA masks as the
 * parameters say, and shows where its memory lies and that data gets through:
 *
 *	ring	the coherent memory, and data moved from one half of it to the other
 *	buffer	two pages above 4 GiB, mapped, and data moved from one to the other
 *	map_ticks	ticks of the time stamp counter that map and unmap of such a page take
 *	set_streaming	changes the streaming mask after the probe, to so many bits
 */
#include <linux/dma-map-ops.h>
#include <linux/dma-mapping.h>
#include <linux/etherdevice.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/iopoll.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/random.h>
#include <linux/sizes.h>
#include <linux/vmalloc.h>
#include <asm/msr.h>

#define EDU_VENDOR 0x1234
#define EDU_DEVICE 0x11e8

#define EDU_DMA_SOURCE 0x80
#define EDU_DMA_DESTINATION 0x88
#define EDU_DMA_COUNT 0x90
#define EDU_DMA_COMMAND 0x98
#define EDU_DMA_START BIT(0)
#define EDU_DMA_TO_MEMORY BIT(1)
/* Where the device's own memory is, for the device. */
#define EDU_MEMORY 0x40000

/* Of what is moved at a time; the device has room for 4096. */
#define CHUNK 2048
/* At this size and above no allocation kills processes to get memory. */
#define LEAST_RING SZ_64K
#define ROUNDS 1000
/* A transfer takes 100 ms of the guest's time. */
#define DMA_TIMEOUT_US (30 * USEC_PER_SEC)

static uint streaming = 64;
module_param(streaming, uint, 0644);
MODULE_PARM_DESC(streaming, "bits of the streaming mask; 0: not set");

static uint coherent;
module_param(coherent, uint, 0644);
MODULE_PARM_DESC(coherent, "bits of the coherent mask; 0: not set");

static bool netdev;
module_param(netdev, bool, 0644);
MODULE_PARM_DESC(netdev, "make a network interface of it, that sends nothing");

static uint ring_kib = LEAST_RING / SZ_1K;
module_param(ring_kib, uint, 0644);
MODULE_PARM_DESC(ring_kib, "size of the coherent memory in KiB");

/**
 * struct edu - one device
 * @pdev: the PCI function
 * @registers: BAR 0
 * @ring: coherent memory
 * @ring_size: in bytes
 * @ring_dma: its address for the device
 * @netdev: the interface; NULL if it has none
 */
struct edu {
	struct pci_dev *pdev;
	void __iomem *registers;
	void *ring;
	size_t ring_size;
	dma_addr_t ring_dma;
	struct net_device *netdev;
};

/* --- memory below 4 GiB, used up --- */

/**
 * struct piece - memory that is held so that nobody else gets it; at its own beginning
 * @next: the next one
 * @order: of its pages
 */
struct piece {
	struct piece *next;
	unsigned int order;
};

static struct piece *eaten;

static void eat(gfp_t zone)
{
	const gfp_t flags = GFP_KERNEL | zone | __GFP_NORETRY | __GFP_NOWARN;
	int order;

	for (order = 10; order >= get_order(LEAST_RING); order--) {
		for (;;) {
			struct piece *piece = (void *)__get_free_pages(flags, order);

			if (!piece)
				break;
			*piece = (struct piece) { .next = eaten, .order = order };
			eaten = piece;
		}
	}
}

static void disgorge(void)
{
	while (eaten) {
		struct piece *piece = eaten;

		eaten = piece->next;
		free_pages((unsigned long)piece, piece->order);
	}
}

static int set_eat_low(const char *value, const struct kernel_param *param)
{
	bool on;
	int err;

	err = kstrtobool(value, &on);
	if (err)
		return err;
	disgorge();
	if (on) {
		eat(GFP_DMA32);
		eat(GFP_DMA);
	}
	return 0;
}

static const struct kernel_param_ops eat_low_ops = { .set = set_eat_low };
module_param_cb(eat_low, &eat_low_ops, NULL, 0200);
MODULE_PARM_DESC(eat_low, "1: hold all memory below 4 GiB that comes in pieces as large as the least ring");

/* --- a platform that refuses a mask --- */

/* Once, so that the driver, which asks next, is not refused, too. */
static int refuse_wide_once(struct device *dev, u64 mask)
{
	if (mask <= DMA_BIT_MASK(32))
		return 1;
	set_dma_ops(dev, NULL);
	return 0;
}

static const struct dma_map_ops refusing_ops = { .dma_supported = refuse_wide_once };

static int set_refuse_wide(const char *value, const struct kernel_param *param)
{
	struct pci_dev *pdev = pci_get_device(EDU_VENDOR, EDU_DEVICE, NULL);

	if (!pdev)
		return -ENODEV;
	set_dma_ops(&pdev->dev, &refusing_ops);
	pci_dev_put(pdev);
	return 0;
}

static const struct kernel_param_ops refuse_wide_ops = { .set = set_refuse_wide };
module_param_cb(refuse_wide, &refuse_wide_ops, NULL, 0200);
MODULE_PARM_DESC(refuse_wide, "written to: the platform refuses the next mask above 32 bit for the first device");

/* --- moving data --- */

static int edu_dma(struct edu *edu, u64 source, u64 destination, u32 command)
{
	u64 state;

	writeq(source, edu->registers + EDU_DMA_SOURCE);
	writeq(destination, edu->registers + EDU_DMA_DESTINATION);
	writeq(CHUNK, edu->registers + EDU_DMA_COUNT);
	writeq(EDU_DMA_START | command, edu->registers + EDU_DMA_COMMAND);
	return readq_poll_timeout(edu->registers + EDU_DMA_COMMAND, state,
				  !(state & EDU_DMA_START), 1000, DMA_TIMEOUT_US);
}

/* From one place in memory to another one, through the device. */
static int edu_move(struct edu *edu, dma_addr_t from, dma_addr_t to)
{
	return edu_dma(edu, from, EDU_MEMORY, 0) ?:
	       edu_dma(edu, EDU_MEMORY, to, EDU_DMA_TO_MEMORY);
}

static phys_addr_t phys_of(void *memory)
{
	return is_vmalloc_addr(memory) ? page_to_phys(vmalloc_to_page(memory)) :
					 virt_to_phys(memory);
}

static ssize_t report(char *buf, phys_addr_t phys, dma_addr_t dma, const void *sent,
		      const void *got)
{
	return sysfs_emit(buf, "phys=%#llx dma=%#llx data=%s\n", (u64)phys, (u64)dma,
			  memcmp(sent, got, CHUNK) ? "wrong" : "right");
}

static ssize_t ring_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct edu *edu = dev_get_drvdata(dev);
	int err;

	get_random_bytes(edu->ring, CHUNK);
	memset(edu->ring + CHUNK, 0, CHUNK);
	err = edu_move(edu, edu->ring_dma, edu->ring_dma + CHUNK);
	return err ?: report(buf, phys_of(edu->ring), edu->ring_dma, edu->ring, edu->ring + CHUNK);
}
static DEVICE_ATTR_RO(ring);

static int move_mapped(struct edu *edu, struct page *from, struct page *to, dma_addr_t *dma)
{
	struct device *dev = &edu->pdev->dev;
	dma_addr_t source, destination;
	int err = -EIO;

	source = dma_map_page(dev, from, 0, CHUNK, DMA_TO_DEVICE);
	if (dma_mapping_error(dev, source))
		return err;
	destination = dma_map_page(dev, to, 0, CHUNK, DMA_FROM_DEVICE);
	if (dma_mapping_error(dev, destination))
		goto unmap_source;
	err = edu_move(edu, source, destination);
	dma_unmap_page(dev, destination, CHUNK, DMA_FROM_DEVICE);
unmap_source:
	dma_unmap_page(dev, source, CHUNK, DMA_TO_DEVICE);
	*dma = source;
	return err;
}

/* Two pages in one piece of memory: both are above 4 GiB, or none is. */
static struct page *high_pages(void)
{
	struct page *pages = alloc_pages(GFP_KERNEL | __GFP_ZERO, 1);

	if (pages && page_to_phys(pages) < SZ_4G) {
		__free_pages(pages, 1);
		return NULL;
	}
	return pages;
}

static ssize_t buffer_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct page *pages = high_pages();
	dma_addr_t dma;
	ssize_t len;

	if (!pages)
		return -ENOMEM;
	get_random_bytes(page_address(pages), CHUNK);
	len = move_mapped(dev_get_drvdata(dev), pages, pages + 1, &dma);
	if (!len)
		len = report(buf, page_to_phys(pages), dma, page_address(pages),
			     page_address(pages + 1));
	__free_pages(pages, 1);
	return len;
}
static DEVICE_ATTR_RO(buffer);

static ssize_t map_ticks_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct page *pages = high_pages();
	unsigned long flags;
	ssize_t len = 0;
	u64 ticks;
	int i;

	if (!pages)
		return -ENOMEM;
	local_irq_save(flags);
	ticks = rdtsc_ordered();
	for (i = 0; i < ROUNDS; i++) {
		dma_addr_t dma = dma_map_page(dev, pages, 0, PAGE_SIZE, DMA_TO_DEVICE);

		if (dma_mapping_error(dev, dma)) {
			len = -EIO;
			break;
		}
		dma_unmap_page(dev, dma, PAGE_SIZE, DMA_TO_DEVICE);
	}
	ticks = rdtsc_ordered() - ticks;
	local_irq_restore(flags);
	__free_pages(pages, 1);
	return len ?: sysfs_emit(buf, "%llu\n", ticks / ROUNDS);
}
static DEVICE_ATTR_RO(map_ticks);

static ssize_t set_streaming_store(struct device *dev, struct device_attribute *attr,
				   const char *buf, size_t len)
{
	unsigned int bits;
	int err;

	err = kstrtouint(buf, 0, &bits);
	if (!err)
		err = dma_set_mask(dev, DMA_BIT_MASK(bits));
	return err ?: len;
}
static DEVICE_ATTR_WO(set_streaming);

static struct attribute *edu_attrs[] = {
	&dev_attr_ring.attr,
	&dev_attr_buffer.attr,
	&dev_attr_map_ticks.attr,
	&dev_attr_set_streaming.attr,
	NULL
};

static const struct attribute_group edu_group = { .attrs = edu_attrs };

/* --- an interface, for what looks whether one is up --- */

static netdev_tx_t drop(struct sk_buff *skb, struct net_device *dev)
{
	dev_kfree_skb(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops edu_netdev_ops = { .ndo_start_xmit = drop };

static int add_netdev(struct edu *edu)
{
	int err;

	edu->netdev = alloc_etherdev(0);
	if (!edu->netdev)
		return -ENOMEM;
	SET_NETDEV_DEV(edu->netdev, &edu->pdev->dev);
	edu->netdev->netdev_ops = &edu_netdev_ops;
	strscpy(edu->netdev->name, "edu%d", IFNAMSIZ);
	eth_hw_addr_random(edu->netdev);
	err = register_netdev(edu->netdev);
	if (err) {
		free_netdev(edu->netdev);
		edu->netdev = NULL;
	}
	return err;
}

static void remove_netdev(struct edu *edu)
{
	if (!edu->netdev)
		return;
	unregister_netdev(edu->netdev);
	free_netdev(edu->netdev);
}

/* --- the device --- */

/* A mask that the platform rejects is told, and what was there stays. */
static void set_masks(struct device *dev)
{
	if (streaming && dma_set_mask(dev, DMA_BIT_MASK(streaming)))
		dev_notice(dev, "a streaming mask of %u bit was rejected\n", streaming);
	if (coherent && dma_set_coherent_mask(dev, DMA_BIT_MASK(coherent)))
		dev_notice(dev, "a coherent mask of %u bit was rejected\n", coherent);
}

static int edu_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct edu *edu;
	int err;

	edu = devm_kzalloc(&pdev->dev, sizeof(*edu), GFP_KERNEL);
	if (!edu)
		return -ENOMEM;
	edu->pdev = pdev;
	pci_set_drvdata(pdev, edu);
	err = pcim_enable_device(pdev);
	if (err)
		return err;
	edu->registers = pcim_iomap(pdev, 0, 0);
	if (!edu->registers)
		return -ENOMEM;
	pci_set_master(pdev);
	set_masks(&pdev->dev);
	edu->ring_size = max_t(size_t, ring_kib * SZ_1K, LEAST_RING);
	edu->ring = dma_alloc_coherent(&pdev->dev, edu->ring_size, &edu->ring_dma,
				       GFP_KERNEL | __GFP_NOWARN);
	if (!edu->ring) {
		pci_notice(pdev, "no ring: %zu KiB of coherent memory below %u bit are not to be had\n",
			   edu->ring_size / SZ_1K, fls64(pdev->dev.coherent_dma_mask));
		return -ENOMEM;
	}
	err = devm_device_add_group(&pdev->dev, &edu_group);
	if (!err && netdev)
		err = add_netdev(edu);
	if (err)
		goto err_free_ring;
	return 0;

err_free_ring:
	dma_free_coherent(&pdev->dev, edu->ring_size, edu->ring, edu->ring_dma);
	return err;
}

static void edu_remove(struct pci_dev *pdev)
{
	struct edu *edu = pci_get_drvdata(pdev);

	remove_netdev(edu);
	dma_free_coherent(&pdev->dev, edu->ring_size, edu->ring, edu->ring_dma);
	pci_clear_master(pdev);
}

static const struct pci_device_id edu_ids[] = {
	{ PCI_DEVICE(EDU_VENDOR, EDU_DEVICE) },
	{ }
};

static struct pci_driver edu_driver = {
	.name = KBUILD_MODNAME,
	.id_table = edu_ids,
	.probe = edu_probe,
	.remove = edu_remove,
};

static int __init edu_masks_init(void)
{
	int err = pci_register_driver(&edu_driver);

	if (err)
		disgorge();
	return err;
}

static void __exit edu_masks_exit(void)
{
	pci_unregister_driver(&edu_driver);
	disgorge();
}

module_init(edu_masks_init);
module_exit(edu_masks_exit);

MODULE_DESCRIPTION("Test driver for QEMU's edu device that sets its DMA masks as told");
MODULE_LICENSE("GPL");
