// SPDX-License-Identifier: GPL-2.0
/*
 * What a guest does to its host, on request: reads of one register of a BAR, timed and counted
 * exactly; the mask bit of an MSI-X vector, behind the back of whoever owns the device; and a value
 * in the PAT. Each is a file in /sys/module/mmio_probe/parameters/.
 *
 * All of it is for tests: a register is read as it is told to, whatever reading it does.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/io.h>
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pci.h>

#include <asm/msr.h>

/* Guards the results, and keeps requests apart. */
static DEFINE_MUTEX(lock);

struct reads {
	unsigned int count;
	u32 value;
	u64 ns;
};

static struct reads last_reads;

/* With a reference; pci_dev_put() it. */
static struct pci_dev *find_device(unsigned int domain, unsigned int bus, unsigned int slot)
{
	struct pci_dev *pdev = pci_get_domain_bus_and_slot(domain, bus, PCI_DEVFN(slot, 0));

	if (!pdev)
		pr_err("no device at %04x:%02x:%02x.0\n", domain, bus, slot);
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

/* "0000:01:00 BAR OFFSET COUNT" */
static int set_read(const char *text, const struct kernel_param *param)
{
	unsigned int domain, bus, slot, bar, offset, count;
	struct pci_dev *pdev;
	void __iomem *reg;

	if (sscanf(text, "%x:%x:%x %u %x %u", &domain, &bus, &slot, &bar, &offset, &count) != 6 ||
	    offset % sizeof(u32))
		return -EINVAL;
	pdev = find_device(domain, bus, slot);
	if (!pdev)
		return -ENODEV;
	reg = map_bar(pdev, bar, offset, sizeof(u32));
	if (reg) {
		mutex_lock(&lock);
		read_register(reg, count, &last_reads);
		mutex_unlock(&lock);
		iounmap(reg);
	}
	pci_dev_put(pdev);
	return reg ? 0 : -ENXIO;
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
MODULE_PARM_DESC(read, "write \"0000:01:00 BAR OFFSET COUNT\"; read: how many, ns of all, last value");

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

/* "0000:01:00 VECTOR 0|1" */
static int set_mask(const char *text, const struct kernel_param *param)
{
	unsigned int domain, bus, slot, vector, is_masked;
	struct pci_dev *pdev;
	int error;

	if (sscanf(text, "%x:%x:%x %u %u", &domain, &bus, &slot, &vector, &is_masked) != 5)
		return -EINVAL;
	pdev = find_device(domain, bus, slot);
	if (!pdev)
		return -ENODEV;
	mutex_lock(&lock);
	error = write_mask(pdev, vector, is_masked);
	mutex_unlock(&lock);
	pci_dev_put(pdev);
	return error;
}

static const struct kernel_param_ops mask_ops = { .set = set_mask };
module_param_cb(mask, &mask_ops, NULL, 0200);
MODULE_PARM_DESC(mask, "write \"0000:01:00 VECTOR 0|1\": its mask bit");

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

static int __init mmio_probe_init(void)
{
	return 0;
}
module_init(mmio_probe_init);

static void __exit mmio_probe_exit(void)
{
}
module_exit(mmio_probe_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Test: counted register reads, an MSI-X mask bit, the PAT");
