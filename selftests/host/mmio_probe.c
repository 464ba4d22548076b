// SPDX-License-Identifier: GPL-2.0
/*
 * What a guest does to its host, on request: reads of one register of a BAR, timed and counted
 * exactly; a write; the mask bit of an MSI-X vector, behind the back of whoever owns the device;
 * and a value in the PAT. Each is a file in /sys/module/mmio_probe/parameters/.
 *
 * Also a driver for functions that have none, bound by driver_override alone: it enables vector 0
 * and counts its interrupts, in the file interrupts of the PCI device.
 *
 * All of it is for tests: a register is read as it is told to, whatever reading it does.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include <asm/msr.h>

/* Guards the results, and keeps requests apart. */
static DEFINE_MUTEX(lock);

struct reads {
	unsigned int count;
	u32 value;
	u64 ns;
};

static struct reads last_reads;

/* "0000:01:00.0 REST"; with a reference: pci_dev_put() it. */
static struct pci_dev *find_device(const char *text, const char **rest)
{
	unsigned int domain, bus, slot, function;
	struct pci_dev *pdev;
	int used = 0;

	if (sscanf(text, "%x:%x:%x.%x %n", &domain, &bus, &slot, &function, &used) != 4 || !used)
		return NULL;
	*rest = text + used;
	pdev = pci_get_domain_bus_and_slot(domain, bus, PCI_DEVFN(slot, function));
	if (!pdev)
		pr_err("no device at %04x:%02x:%02x.%x\n", domain, bus, slot, function);
	return pdev;
}

/* Maps size bytes of a BAR that must have them; iounmap() it. */
static void __iomem *map_bar(struct pci_dev *pdev, unsigned int bar, u64 offset, size_t size)
{
	if (bar >= PCI_STD_NUM_BARS || !(pci_resource_flags(pdev, bar) & IORESOURCE_MEM) ||
	    offset + size > pci_resource_len(pdev, bar)) {
		pci_err(pdev, "no %zu bytes at %#llx in BAR %u\n", size, offset, bar);
		return NULL;
	}
	return ioremap(pci_resource_start(pdev, bar) + offset, size);
}

static void read_register(void __iomem *reg, unsigned int count, struct reads *reads)
{
	u64 start = ktime_get_ns();
	unsigned int i;
	u32 value = 0;

	for (i = 0; i < count; i++)
		value = readl(reg);
	*reads = (struct reads){ .count = count, .value = value, .ns = ktime_get_ns() - start };
}

/* "BAR OFFSET NUMBER"; iounmap() the register, if there is one. */
static int map_register(struct pci_dev *pdev, const char *text, void __iomem **reg, u32 *number)
{
	unsigned int bar, offset;

	if (sscanf(text, "%u %x %u", &bar, &offset, number) != 3 || offset % sizeof(u32))
		return -EINVAL;
	*reg = map_bar(pdev, bar, offset, sizeof(u32));
	return *reg ? 0 : -ENXIO;
}

/* "0000:01:00.0 BAR OFFSET COUNT" */
static int set_read(const char *text, const struct kernel_param *param)
{
	struct pci_dev *pdev = find_device(text, &text);
	void __iomem *reg;
	u32 count;
	int error;

	if (!pdev)
		return -ENODEV;
	error = map_register(pdev, text, &reg, &count);
	if (!error) {
		mutex_lock(&lock);
		read_register(reg, count, &last_reads);
		mutex_unlock(&lock);
		iounmap(reg);
	}
	pci_dev_put(pdev);
	return error;
}

static int get_read(char *buffer, const struct kernel_param *param)
{
	int length;

	mutex_lock(&lock);
	length = sysfs_emit(buffer, "%u %llu %#x\n", last_reads.count, last_reads.ns,
			    last_reads.value);
	mutex_unlock(&lock);
	return length;
}

static const struct kernel_param_ops read_ops = { .set = set_read, .get = get_read };
module_param_cb(read, &read_ops, NULL, 0600);
MODULE_PARM_DESC(read,
		 "write \"0000:01:00.0 BAR OFFSET COUNT\"; read: count, ns of all, last value");

/* "0000:01:00.0 BAR OFFSET VALUE" */
static int set_write(const char *text, const struct kernel_param *param)
{
	struct pci_dev *pdev = find_device(text, &text);
	void __iomem *reg;
	u32 value;
	int error;

	if (!pdev)
		return -ENODEV;
	error = map_register(pdev, text, &reg, &value);
	if (!error) {
		writel(value, reg);
		iounmap(reg);
	}
	pci_dev_put(pdev);
	return error;
}

static const struct kernel_param_ops write_ops = { .set = set_write };
module_param_cb(write, &write_ops, NULL, 0200);
MODULE_PARM_DESC(write, "write \"0000:01:00.0 BAR OFFSET VALUE\": so into a register");

static int write_mask(struct pci_dev *pdev, unsigned int vector, bool is_masked)
{
	void __iomem *entry;
	u16 flags;
	u32 table;

	if (!pdev->msix_cap)
		return -EOPNOTSUPP;
	pci_read_config_word(pdev, pdev->msix_cap + PCI_MSIX_FLAGS, &flags);
	pci_read_config_dword(pdev, pdev->msix_cap + PCI_MSIX_TABLE, &table);
	if (vector > (flags & PCI_MSIX_FLAGS_QSIZE))
		return -ERANGE;
	entry = map_bar(pdev, table & PCI_MSIX_TABLE_BIR,
			(table & PCI_MSIX_TABLE_OFFSET) + vector * PCI_MSIX_ENTRY_SIZE,
			PCI_MSIX_ENTRY_SIZE);
	if (!entry)
		return -ENXIO;
	writel(is_masked ? PCI_MSIX_ENTRY_CTRL_MASKBIT : 0, entry + PCI_MSIX_ENTRY_VECTOR_CTRL);
	/* Posted until something is read. */
	readl(entry + PCI_MSIX_ENTRY_VECTOR_CTRL);
	iounmap(entry);
	return 0;
}

/* "0000:01:00.0 VECTOR 0|1" */
static int set_mask(const char *text, const struct kernel_param *param)
{
	struct pci_dev *pdev = find_device(text, &text);
	unsigned int vector, is_masked;
	int error;

	if (!pdev)
		return -ENODEV;
	if (sscanf(text, "%u %u", &vector, &is_masked) != 2) {
		pci_dev_put(pdev);
		return -EINVAL;
	}
	mutex_lock(&lock);
	error = write_mask(pdev, vector, is_masked);
	mutex_unlock(&lock);
	pci_dev_put(pdev);
	return error;
}

static const struct kernel_param_ops mask_ops = { .set = set_mask };
module_param_cb(mask, &mask_ops, NULL, 0200);
MODULE_PARM_DESC(mask, "write \"0000:01:00.0 VECTOR 0|1\": its mask bit");

static u64 read_pat(void)
{
	u32 low, high;

	rdmsr(MSR_IA32_CR_PAT, low, high);
	return (u64)high << 32 | low;
}

static void write_pat(u64 value)
{
	wrmsr(MSR_IA32_CR_PAT, lower_32_bits(value), upper_32_bits(value));
}

/*
 * The kernel's own value comes back before anything can run that needs it. Until then this CPU may
 * use only entries that both values have in common; what the kernel maps normally has entry 0.
 */
static int set_pat(const char *text, const struct kernel_param *param)
{
	unsigned long flags;
	u64 value, own, seen;
	int error = kstrtou64(text, 0, &value);

	if (error)
		return error;
	local_irq_save(flags);
	own = read_pat();
	if ((u8)value == (u8)own) {
		write_pat(value);
		seen = read_pat();
		write_pat(own);
	} else {
		error = -EINVAL;
	}
	local_irq_restore(flags);
	if (!error && seen != value)
		error = -EIO;
	return error;
}

static int get_pat(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%016llx\n", read_pat());
}

static const struct kernel_param_ops pat_ops = { .set = set_pat, .get = get_pat };
module_param_cb(pat, &pat_ops, NULL, 0600);
MODULE_PARM_DESC(pat, "write a value that the PAT has for a moment; read: what it has");

/* --- the driver --- */

static irqreturn_t count_interrupt(int irq, void *data)
{
	atomic_t *interrupts = data;

	atomic_inc(interrupts);
	return IRQ_HANDLED;
}

static ssize_t interrupts_show(struct device *dev, struct device_attribute *attr, char *buffer)
{
	atomic_t *interrupts = dev_get_drvdata(dev);

	return sysfs_emit(buffer, "%d\n", atomic_read(interrupts));
}
static DEVICE_ATTR_RO(interrupts);

static int mmio_probe_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	atomic_t *interrupts = devm_kzalloc(&pdev->dev, sizeof(*interrupts), GFP_KERNEL);
	int error;

	if (!interrupts)
		return -ENOMEM;
	pci_set_drvdata(pdev, interrupts);
	error = pci_enable_device_mem(pdev);
	if (error)
		return error;
	/* An interrupt is a write of the device. */
	pci_set_master(pdev);
	error = pci_alloc_irq_vectors(pdev, 1, 1, PCI_IRQ_MSIX);
	if (error < 0)
		goto err_disable;
	error = request_irq(pci_irq_vector(pdev, 0), count_interrupt, 0, KBUILD_MODNAME,
			    interrupts);
	if (error)
		goto err_free_vectors;
	error = device_create_file(&pdev->dev, &dev_attr_interrupts);
	if (error)
		goto err_free_irq;
	return 0;

err_free_irq:
	free_irq(pci_irq_vector(pdev, 0), interrupts);
err_free_vectors:
	pci_free_irq_vectors(pdev);
err_disable:
	pci_clear_master(pdev);
	pci_disable_device(pdev);
	return error;
}

static void mmio_probe_remove(struct pci_dev *pdev)
{
	device_remove_file(&pdev->dev, &dev_attr_interrupts);
	free_irq(pci_irq_vector(pdev, 0), pci_get_drvdata(pdev));
	pci_free_irq_vectors(pdev);
	pci_clear_master(pdev);
	pci_disable_device(pdev);
}

static const struct pci_device_id mmio_probe_ids[] = {
	{ },
};

static struct pci_driver mmio_probe_driver = {
	.name = KBUILD_MODNAME,
	.id_table = mmio_probe_ids,
	.probe = mmio_probe_probe,
	.remove = mmio_probe_remove,
};
module_pci_driver(mmio_probe_driver);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Test: counted register reads, an MSI-X mask bit, an interrupt, the PAT");
