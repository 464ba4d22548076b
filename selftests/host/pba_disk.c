// SPDX-License-Identifier: GPL-2.0
/*
 * A driver for an NVMe disk, as small as one can be, that reads a register of BAR 0 in every
 * request, as drivers do whose device has a register that they need all the time. Where in the BAR
 * it lies is what matters: with the pending bit array on the same page, each read may leave the
 * guest.
 *
 * One request at a time: 4 KiB from a random place, no interrupt, its completion polled for. What
 * is read is checked: each block of the disk begins with its own number. Only the admin queue has
 * an interrupt, vector 0.
 *
 * Binds by driver_override alone. Files of the PCI device: hot_register (an offset in BAR 0, or
 * -1), read_blocks (write how many; read how many, and the ns for all), admin_command (write
 * anything: one command with an interrupt), interrupts.
 */
#include <linux/dma-mapping.h>
#include <linux/interrupt.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/nvme.h>
#include <linux/pci.h>
#include <linux/prandom.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#define QUEUE_DEPTH	16
#define READ_SIZE	4096
#define NAMESPACE	1
#define NO_REGISTER	(-1)
#define COMMAND_TIMEOUT	(60 * HZ)
#define STATUS_PHASE	1

enum queue_id { ADMIN_QUEUE, IO_QUEUE, QUEUES };

/**
 * struct queue - a submission queue and its completion queue, of QUEUE_DEPTH entries each
 * @submissions: of the driver
 * @submissions_dma: their address for the device
 * @completions: of the device
 * @completions_dma: their address for the device
 * @tail: where the next submission goes
 * @head: where the next completion comes
 * @phase: which the next completion has
 */
struct queue {
	struct nvme_command *submissions;
	dma_addr_t submissions_dma;
	struct nvme_completion *completions;
	dma_addr_t completions_dma;
	u16 tail;
	u16 head;
	u16 phase;
};

/**
 * struct pba_disk - one disk
 * @pdev: the function
 * @registers: BAR 0
 * @doorbell_stride: bytes from one doorbell to the next
 * @lock: guards all of the following but @interrupts
 * @queues: admin and I/O
 * @buffer: where the device puts data, a page
 * @buffer_dma: its address for the device
 * @block_shift: logarithm of the number of logical blocks in READ_SIZE
 * @blocks: size of the disk in units of READ_SIZE
 * @random: where the next request reads
 * @hot_register: the offset of what is read in every request; NO_REGISTER for none
 * @read_count: how many blocks were read last
 * @read_ns: how long that took
 * @interrupts: of vector 0
 */
struct pba_disk {
	struct pci_dev *pdev;
	void __iomem *registers;
	unsigned int doorbell_stride;
	struct mutex lock;	/* guards what follows, but for interrupts */
	struct queue queues[QUEUES];
	__le64 *buffer;
	dma_addr_t buffer_dma;
	unsigned int block_shift;
	u64 blocks;
	struct rnd_state random;
	int hot_register;
	unsigned int read_count;
	u64 read_ns;
	atomic_t interrupts;
};

static void __iomem *doorbell(struct pba_disk *disk, enum queue_id id, bool is_completion)
{
	return disk->registers + NVME_REG_DBS + (2 * id + is_completion) * disk->doorbell_stride;
}

static void submit(struct pba_disk *disk, enum queue_id id, const struct nvme_command *command)
{
	struct queue *queue = &disk->queues[id];

	queue->submissions[queue->tail] = *command;
	queue->tail = (queue->tail + 1) % QUEUE_DEPTH;
	writel(queue->tail, doorbell(disk, id, false));
}

/* Returns 0, -ETIMEDOUT, or -EIO for a command that failed. */
static int complete_one(struct pba_disk *disk, enum queue_id id)
{
	unsigned long deadline = jiffies + COMMAND_TIMEOUT;
	struct queue *queue = &disk->queues[id];
	struct nvme_completion *completion = &queue->completions[queue->head];
	u16 status;

	while (true) {
		status = le16_to_cpu(READ_ONCE(completion->status));
		if ((status & STATUS_PHASE) == queue->phase)
			break;
		if (time_after(jiffies, deadline)) {
			pci_err(disk->pdev, "no completion on queue %d\n", id);
			return -ETIMEDOUT;
		}
		cpu_relax();
	}
	/* The device wrote its data before. */
	dma_rmb();
	queue->head = (queue->head + 1) % QUEUE_DEPTH;
	if (!queue->head)
		queue->phase ^= STATUS_PHASE;
	writel(queue->head, doorbell(disk, id, true));
	if (status & ~STATUS_PHASE) {
		pci_err(disk->pdev, "command on queue %d failed: status %#x\n", id, status >> 1);
		return -EIO;
	}
	return 0;
}

static int execute(struct pba_disk *disk, enum queue_id id, const struct nvme_command *command)
{
	submit(disk, id, command);
	return complete_one(disk, id);
}

static int identify(struct pba_disk *disk)
{
	struct nvme_command command = {
		.identify = {
			.opcode = nvme_admin_identify,
			.nsid = cpu_to_le32(NAMESPACE),
			.dptr.prp1 = cpu_to_le64(disk->buffer_dma),
			.cns = NVME_ID_CNS_NS,
		},
	};

	return execute(disk, ADMIN_QUEUE, &command);
}

static int find_size(struct pba_disk *disk)
{
	const struct nvme_id_ns *id = (void *)disk->buffer;
	unsigned int shift;
	int error = identify(disk);

	if (error)
		return error;
	shift = id->lbaf[id->flbas & NVME_NS_FLBAS_LBA_MASK].ds;
	if (shift > ilog2(READ_SIZE)) {
		pci_err(disk->pdev, "logical blocks of 2^%u bytes, at most %u are taken\n", shift,
			READ_SIZE);
		return -EINVAL;
	}
	disk->block_shift = ilog2(READ_SIZE) - shift;
	disk->blocks = le64_to_cpu(id->nsze) >> disk->block_shift;
	return disk->blocks && disk->blocks <= U32_MAX ? 0 : -EINVAL;
}

static int create_io_queue(struct pba_disk *disk)
{
	struct queue *queue = &disk->queues[IO_QUEUE];
	struct nvme_command cq = {
		.create_cq = {
			.opcode = nvme_admin_create_cq,
			.prp1 = cpu_to_le64(queue->completions_dma),
			.cqid = cpu_to_le16(IO_QUEUE),
			.qsize = cpu_to_le16(QUEUE_DEPTH - 1),
			.cq_flags = cpu_to_le16(NVME_QUEUE_PHYS_CONTIG),
		},
	};
	struct nvme_command sq = {
		.create_sq = {
			.opcode = nvme_admin_create_sq,
			.prp1 = cpu_to_le64(queue->submissions_dma),
			.sqid = cpu_to_le16(IO_QUEUE),
			.qsize = cpu_to_le16(QUEUE_DEPTH - 1),
			.sq_flags = cpu_to_le16(NVME_QUEUE_PHYS_CONTIG),
			.cqid = cpu_to_le16(IO_QUEUE),
		},
	};
	int error = execute(disk, ADMIN_QUEUE, &cq);

	return error ? error : execute(disk, ADMIN_QUEUE, &sq);
}

static int read_block(struct pba_disk *disk)
{
	u32 block = prandom_u32_state(&disk->random) % (u32)disk->blocks;
	struct nvme_command command = {
		.rw = {
			.opcode = nvme_cmd_read,
			.nsid = cpu_to_le32(NAMESPACE),
			.dptr.prp1 = cpu_to_le64(disk->buffer_dma),
			.slba = cpu_to_le64((u64)block << disk->block_shift),
			.length = cpu_to_le16((1 << disk->block_shift) - 1),
		},
	};
	int error;

	submit(disk, IO_QUEUE, &command);
	if (disk->hot_register != NO_REGISTER)
		readl(disk->registers + disk->hot_register);
	error = complete_one(disk, IO_QUEUE);
	if (error)
		return error;
	if (le64_to_cpu(*disk->buffer) != block) {
		pci_err(disk->pdev, "block %u begins with %llu\n", block,
			le64_to_cpu(*disk->buffer));
		return -EILSEQ;
	}
	return 0;
}

static int read_blocks(struct pba_disk *disk, unsigned int count)
{
	u64 start = ktime_get_ns();
	unsigned int i;
	int error;

	for (i = 0; i < count; i++) {
		error = read_block(disk);
		if (error)
			return error;
	}
	disk->read_count = count;
	disk->read_ns = ktime_get_ns() - start;
	return 0;
}

/* --- the files --- */

static ssize_t read_blocks_store(struct device *dev, struct device_attribute *attr,
				 const char *text, size_t length)
{
	struct pba_disk *disk = dev_get_drvdata(dev);
	unsigned int count;
	int error = kstrtouint(text, 0, &count);

	if (error)
		return error;
	mutex_lock(&disk->lock);
	error = read_blocks(disk, count);
	mutex_unlock(&disk->lock);
	return error ? error : length;
}

static ssize_t read_blocks_show(struct device *dev, struct device_attribute *attr, char *buffer)
{
	struct pba_disk *disk = dev_get_drvdata(dev);
	int length;

	mutex_lock(&disk->lock);
	length = sysfs_emit(buffer, "%u %llu\n", disk->read_count, disk->read_ns);
	mutex_unlock(&disk->lock);
	return length;
}
static DEVICE_ATTR_RW(read_blocks);

static ssize_t hot_register_store(struct device *dev, struct device_attribute *attr,
				  const char *text, size_t length)
{
	struct pba_disk *disk = dev_get_drvdata(dev);
	int offset, error = kstrtoint(text, 0, &offset);

	if (error)
		return error;
	if (offset != NO_REGISTER &&
	    (offset < 0 || offset % sizeof(u32) || offset >= pci_resource_len(disk->pdev, 0)))
		return -ERANGE;
	mutex_lock(&disk->lock);
	disk->hot_register = offset;
	mutex_unlock(&disk->lock);
	return length;
}
static DEVICE_ATTR_WO(hot_register);

static ssize_t admin_command_store(struct device *dev, struct device_attribute *attr,
				   const char *text, size_t length)
{
	struct pba_disk *disk = dev_get_drvdata(dev);
	int error;

	mutex_lock(&disk->lock);
	error = identify(disk);
	mutex_unlock(&disk->lock);
	return error ? error : length;
}
static DEVICE_ATTR_WO(admin_command);

static ssize_t interrupts_show(struct device *dev, struct device_attribute *attr, char *buffer)
{
	struct pba_disk *disk = dev_get_drvdata(dev);

	return sysfs_emit(buffer, "%d\n", atomic_read(&disk->interrupts));
}
static DEVICE_ATTR_RO(interrupts);

static struct attribute *pba_disk_attrs[] = {
	&dev_attr_read_blocks.attr,
	&dev_attr_hot_register.attr,
	&dev_attr_admin_command.attr,
	&dev_attr_interrupts.attr,
	NULL,
};

static const struct attribute_group pba_disk_group = { .attrs = pba_disk_attrs };

/* --- coming and going --- */

static irqreturn_t handle_interrupt(int irq, void *data)
{
	struct pba_disk *disk = data;

	atomic_inc(&disk->interrupts);
	return IRQ_HANDLED;
}

static int wait_ready(struct pba_disk *disk, u32 ready)
{
	unsigned long deadline = jiffies + COMMAND_TIMEOUT;

	while ((readl(disk->registers + NVME_REG_CSTS) & NVME_CSTS_RDY) != ready) {
		if (time_after(jiffies, deadline)) {
			pci_err(disk->pdev, "the controller does not become %s\n",
				ready ? "ready" : "idle");
			return -ETIMEDOUT;
		}
		cond_resched();
	}
	return 0;
}

static int stop_controller(struct pba_disk *disk)
{
	writel(0, disk->registers + NVME_REG_CC);
	return wait_ready(disk, 0);
}

static int start_controller(struct pba_disk *disk)
{
	struct queue *admin = &disk->queues[ADMIN_QUEUE];
	int error = stop_controller(disk);

	if (error)
		return error;
	writel((QUEUE_DEPTH - 1) << 16 | (QUEUE_DEPTH - 1), disk->registers + NVME_REG_AQA);
	writel(lower_32_bits(admin->submissions_dma), disk->registers + NVME_REG_ASQ);
	writel(upper_32_bits(admin->submissions_dma), disk->registers + NVME_REG_ASQ + 4);
	writel(lower_32_bits(admin->completions_dma), disk->registers + NVME_REG_ACQ);
	writel(upper_32_bits(admin->completions_dma), disk->registers + NVME_REG_ACQ + 4);
	writel(NVME_CC_ENABLE | NVME_CC_CSS_NVM | NVME_CC_IOSQES | NVME_CC_IOCQES,
	       disk->registers + NVME_REG_CC);
	return wait_ready(disk, NVME_CSTS_RDY);
}

static int alloc_memory(struct pba_disk *disk)
{
	struct device *dev = &disk->pdev->dev;
	struct queue *queue;

	for (queue = disk->queues; queue < disk->queues + QUEUES; queue++) {
		queue->submissions =
			dmam_alloc_coherent(dev, QUEUE_DEPTH * sizeof(*queue->submissions),
					    &queue->submissions_dma, GFP_KERNEL);
		queue->completions =
			dmam_alloc_coherent(dev, QUEUE_DEPTH * sizeof(*queue->completions),
					    &queue->completions_dma, GFP_KERNEL);
		if (!queue->submissions || !queue->completions)
			return -ENOMEM;
		queue->phase = STATUS_PHASE;
	}
	disk->buffer = dmam_alloc_coherent(dev, READ_SIZE, &disk->buffer_dma, GFP_KERNEL);
	return disk->buffer ? 0 : -ENOMEM;
}

static int pba_disk_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct pba_disk *disk = devm_kzalloc(&pdev->dev, sizeof(*disk), GFP_KERNEL);
	int error;

	if (!disk)
		return -ENOMEM;
	disk->pdev = pdev;
	disk->hot_register = NO_REGISTER;
	mutex_init(&disk->lock);
	prandom_seed_state(&disk->random, NAMESPACE);
	pci_set_drvdata(pdev, disk);

	error = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	if (error)
		return error;
	error = alloc_memory(disk);
	if (error)
		return error;
	error = pci_enable_device_mem(pdev);
	if (error)
		return error;
	error = pci_request_mem_regions(pdev, KBUILD_MODNAME);
	if (error)
		goto err_disable;
	disk->registers = pci_iomap(pdev, 0, 0);
	if (!disk->registers) {
		error = -ENOMEM;
		goto err_release;
	}
	disk->doorbell_stride = sizeof(u32) << NVME_CAP_STRIDE((u64)readl(disk->registers +
									  NVME_REG_CAP + 4) << 32);
	pci_set_master(pdev);
	error = pci_alloc_irq_vectors(pdev, 1, 1, PCI_IRQ_MSIX);
	if (error < 0)
		goto err_unmap;
	error = request_irq(pci_irq_vector(pdev, 0), handle_interrupt, 0, KBUILD_MODNAME, disk);
	if (error)
		goto err_free_vectors;
	error = start_controller(disk);
	if (error)
		goto err_stop;
	error = find_size(disk);
	if (error)
		goto err_stop;
	error = create_io_queue(disk);
	if (error)
		goto err_stop;
	error = sysfs_create_group(&pdev->dev.kobj, &pba_disk_group);
	if (error)
		goto err_stop;
	return 0;

err_stop:
	stop_controller(disk);
	free_irq(pci_irq_vector(pdev, 0), disk);
err_free_vectors:
	pci_free_irq_vectors(pdev);
err_unmap:
	pci_clear_master(pdev);
	pci_iounmap(pdev, disk->registers);
err_release:
	pci_release_mem_regions(pdev);
err_disable:
	pci_disable_device(pdev);
	return error;
}

static void pba_disk_remove(struct pci_dev *pdev)
{
	struct pba_disk *disk = pci_get_drvdata(pdev);

	sysfs_remove_group(&pdev->dev.kobj, &pba_disk_group);
	stop_controller(disk);
	free_irq(pci_irq_vector(pdev, 0), disk);
	pci_free_irq_vectors(pdev);
	pci_clear_master(pdev);
	pci_iounmap(pdev, disk->registers);
	pci_release_mem_regions(pdev);
	pci_disable_device(pdev);
}

static const struct pci_device_id pba_disk_ids[] = {
	{ },
};

static struct pci_driver pba_disk_driver = {
	.name = KBUILD_MODNAME,
	.id_table = pba_disk_ids,
	.probe = pba_disk_probe,
	.remove = pba_disk_remove,
};
module_pci_driver(pba_disk_driver);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Test: an NVMe disk whose driver reads a register in every request");
