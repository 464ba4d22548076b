// SPDX-License-Identifier: GPL-2.0
/* A PCI function without hardware, alone on a bus and in a domain of its own. */
#include <kunit/resource.h>
#include <kunit/test.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "fake_function.h"

#define DOMAIN		0x7357
#define CONFIG_SIZE	256
#define POWER_CAPABILITY 0x40
#define MSIX_CAPABILITY	0x50
#define FOR_EVER	(-1)

/* Where the debug kernel's guest has neither memory nor a device, nor MTRRs that forbid caching. */
#define WINDOW_START	0x90000000

/**
 * struct machine - one root bus and the function on it
 * @function: what the test sees of it
 * @config: its configuration space
 * @sysdata: what x86 wants to know of the bus
 * @window: where its BAR may be
 * @bus: the bus
 */
struct machine {
	struct fake_function function;
	u8 config[CONFIG_SIZE];
	struct pci_sysdata sysdata;
	struct resource window;
	struct pci_bus *bus;
};

static struct machine *machine_of(struct pci_bus *bus)
{
	return container_of((struct pci_sysdata *)bus->sysdata, struct machine, sysdata);
}

/* Looks at the vendor are counted down; at the last one it has gone. */
static bool answers(struct machine *machine, int where)
{
	int *left = &machine->function.answers;

	if (*left > 0 && where == PCI_VENDOR_ID)
		return --*left;
	return *left;
}

static int read_config(struct pci_bus *bus, unsigned int devfn, int where, int size, u32 *value)
{
	struct machine *machine = machine_of(bus);

	*value = ~0U >> (32 - 8 * size);
	if (devfn || !answers(machine, where))
		return PCIBIOS_SUCCESSFUL;
	*value &= get_unaligned_le32(&machine->config[where & ~3]) >> 8 * (where & 3);
	return PCIBIOS_SUCCESSFUL;
}

static int write_config(struct pci_bus *bus, unsigned int devfn, int where, int size, u32 value)
{
	struct machine *machine = machine_of(bus);

	if (devfn)
		return PCIBIOS_SUCCESSFUL;
	if (where == PCI_BASE_ADDRESS_0)
		put_unaligned_le32(value & ~(FAKE_BAR_SIZE - 1), &machine->config[where]);
	else if (where == PCI_COMMAND)
		put_unaligned_le16(value, &machine->config[where]);
	else if (where == POWER_CAPABILITY + PCI_PM_CTRL)
		put_unaligned_le16(value, &machine->config[where]);
	return PCIBIOS_SUCCESSFUL;
}

static struct pci_ops config_ops = {
	.read = read_config,
	.write = write_config,
};

static void fill_config(struct machine *machine, const struct fake_function_params *params)
{
	u8 *config = machine->config;

	put_unaligned_le16(PCI_VENDOR_ID_REDHAT, &config[PCI_VENDOR_ID]);
	put_unaligned_le16(0xffee, &config[PCI_DEVICE_ID]);
	put_unaligned_le16(PCI_STATUS_CAP_LIST, &config[PCI_STATUS]);
	put_unaligned_le16(PCI_CLASS_SYSTEM_OTHER, &config[PCI_CLASS_DEVICE]);
	config[PCI_CAPABILITY_LIST] = POWER_CAPABILITY;
	config[POWER_CAPABILITY] = PCI_CAP_ID_PM;
	put_unaligned_le16(3, &config[POWER_CAPABILITY + PCI_PM_PMC]);
	if (params->no_msix)
		return;
	config[POWER_CAPABILITY + PCI_CAP_LIST_NEXT] = MSIX_CAPABILITY;
	config[MSIX_CAPABILITY] = PCI_CAP_ID_MSIX;
	put_unaligned_le16(params->control, &config[MSIX_CAPABILITY + PCI_MSIX_FLAGS]);
	put_unaligned_le32(params->table, &config[MSIX_CAPABILITY + PCI_MSIX_TABLE]);
	put_unaligned_le32(params->pba, &config[MSIX_CAPABILITY + PCI_MSIX_PBA]);
}

static void unplug(void *data)
{
	struct machine *machine = data;
	struct device *bridge = machine->bus->bridge;

	machine->function.answers = FOR_EVER;
	pci_dev_put(machine->function.pdev);
	pci_lock_rescan_remove();
	pci_stop_root_bus(machine->bus);
	pci_remove_root_bus(machine->bus);
	pci_unlock_rescan_remove();
	/* the reference of pci_scan_root_bus(), which pci_remove_root_bus() leaves to its caller */
	put_device(bridge);
}

/**
 * fake_function_plug() - plug in a function
 * @test: it is unplugged when this test ends
 * @params: what is to be plugged in
 *
 * Its BAR has an address and is decoded.
 *
 * Return: the function; the test is over if there is none.
 */
struct fake_function *fake_function_plug(struct kunit *test,
					 const struct fake_function_params *params)
{
	struct machine *machine = kunit_kzalloc(test, sizeof(*machine), GFP_KERNEL);
	LIST_HEAD(resources);

	KUNIT_ASSERT_NOT_NULL(test, machine);
	machine->function.answers = FOR_EVER;
	machine->sysdata = (struct pci_sysdata) { .domain = DOMAIN, .node = NUMA_NO_NODE };
	machine->window = DEFINE_RES_MEM_NAMED(WINDOW_START, SZ_1M, "fake window");
	fill_config(machine, params);

	pci_add_resource(&resources, &machine->window);
	pci_lock_rescan_remove();
	machine->bus = pci_scan_root_bus(NULL, 0, &config_ops, &machine->sysdata, &resources);
	if (machine->bus) {
		pci_bus_assign_resources(machine->bus);
		pci_bus_add_devices(machine->bus);
	}
	pci_unlock_rescan_remove();
	KUNIT_ASSERT_NOT_NULL(test, machine->bus);
	machine->function.pdev = pci_get_slot(machine->bus, 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, unplug, machine), 0);
	KUNIT_ASSERT_NOT_NULL(test, machine->function.pdev);
	pci_write_config_word(machine->function.pdev, PCI_COMMAND, PCI_COMMAND_MEMORY);
	return &machine->function;
}
