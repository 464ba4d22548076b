/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A PCI device that is a process: the server's side of vfio-user.
 *
 * A model describes its device in a struct vfu_setup, gets a struct vfu for it, and from then on is
 * called for every access to its BARs and for resets. It reaches guest memory by the vfu_dma_*()
 * functions and interrupts the guest by vfu_interrupt(). QEMU (10.1 and later) is the client:
 *
 *	static const struct vfu_setup setup = {
 *		.id = { .vendor = 0xf00d, .device = 1, .class_code = 0x020000 },
 *		.bar = { [0] = { .size = 4096 } },
 *		.msix = {
 *			.config_offset = 0x80, .vectors = 4, .table_bar = 0,
 *			.table_offset = 0x800, .pba_bar = 0, .pba_offset = 0xc00,
 *		},
 *		.pcie = { .config_offset = 0xc0, .speed = 2, .width = 8 },
 *		.read = my_read, .write = my_write, .reset = my_reset,
 *	};
 *
 *	device = vfu_create(&setup, &my_model);
 *	vfu_listen(device, "/run/my-device");
 *	while (!vfu_serve(device))
 *		poll for vfu_poll_fd(device), and for what else the model waits for
 *
 * Nothing here is global: a process may have many devices. Nothing here locks: all calls for one
 * device come from one thread. No call makes the process exit, whatever the client sends.
 *
 * The protocol is docs/interop/vfio-user.rst of QEMU.
 */
#ifndef VFU_H
#define VFU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define VFU_BARS		6
#define VFU_MAX_VECTORS		2048
#define VFU_CONFIG_SIZE		4096
/* How many accesses to memory that is not there are kept in full; all of them are counted. */
#define VFU_KEPT_VIOLATIONS	16

struct vfu;

/**
 * struct vfu_area - a part of a BAR
 * @offset: in bytes, a multiple of 4096
 * @size: in bytes, a multiple of 4096
 */
struct vfu_area {
	uint64_t offset;
	uint64_t size;
};

/**
 * struct vfu_bar - a memory BAR
 * @size: in bytes, a power of two of at least 16; 0 when there is no such BAR
 * @is_64bit: takes the next BAR's place, too
 * @prefetchable: so that a driver may map it write-combining
 * @shared: areas that the guest reaches without a message, as memory that it has in common with the
 *	model (see vfu_bar_memory()). All other accesses are calls of the model's read and write.
 *	With any such area QEMU sends every write and waits for the answer, which keeps writes to
 *	the two kinds of area in order.
 * @shared_count: number of areas
 */
struct vfu_bar {
	uint64_t size;
	bool is_64bit;
	bool prefetchable;
	const struct vfu_area *shared;
	unsigned int shared_count;
};

/**
 * struct vfu_id - what a driver recognizes the device by
 * @vendor: PCI vendor ID
 * @device: PCI device ID
 * @subsystem_vendor: PCI subsystem vendor ID
 * @subsystem: PCI subsystem ID
 * @class_code: base class, subclass, interface: 0x020000 is Ethernet
 * @revision: revision ID
 */
struct vfu_id {
	uint16_t vendor;
	uint16_t device;
	uint16_t subsystem_vendor;
	uint16_t subsystem;
	uint32_t class_code;
	uint8_t revision;
};

/**
 * struct vfu_msix - the MSI-X capability; the library answers for table and PBA
 * @config_offset: of the capability in configuration space
 * @vectors: number of vectors; 0 when there is no MSI-X
 * @table_bar: BAR of the vector table
 * @table_offset: of the table in it, a multiple of 8
 * @pba_bar: BAR of the pending bit array
 * @pba_offset: of the array in it, a multiple of 8
 */
struct vfu_msix {
	uint8_t config_offset;
	uint16_t vectors;
	uint8_t table_bar;
	uint32_t table_offset;
	uint8_t pba_bar;
	uint32_t pba_offset;
};

/**
 * struct vfu_pcie - the PCI Express capability of an endpoint that can be reset alone (FLR)
 * @config_offset: of the capability; 0 when there is none
 * @speed: of the link as PCI_EXP_LNKSTA_CLS has it: 1 is 2.5 GT/s, 2 is 5, 3 is 8
 * @width: of the link in lanes
 */
struct vfu_pcie {
	uint8_t config_offset;
	uint8_t speed;
	uint8_t width;
};

/**
 * enum vfu_reset - why the device is reset
 * @VFU_RESET_CLIENT: the client demands it, as at the reset of the machine
 * @VFU_RESET_FUNCTION: the guest has set "Initiate Function Level Reset"
 * @VFU_RESET_DISCONNECT: the client has gone, and guest memory with it
 */
enum vfu_reset {
	VFU_RESET_CLIENT,
	VFU_RESET_FUNCTION,
	VFU_RESET_DISCONNECT,
};

/**
 * struct vfu_setup - a device
 * @id: what a driver recognizes it by
 * @bar: its BARs
 * @msix: its MSI-X capability
 * @pcie: its PCI Express capability
 * @read: the guest reads 1, 2, 4 or 8 bytes, naturally aligned; returns them in the low bytes
 * @write: the guest writes 1, 2, 4 or 8 bytes, naturally aligned. What the client sends as one
 *	longer write arrives as several calls in ascending order.
 * @reset: all state is to become as it was at first, configuration space aside, which is the
 *	library's
 *
 * The callbacks must not call vfu_serve() or vfu_destroy().
 */
struct vfu_setup {
	struct vfu_id id;
	struct vfu_bar bar[VFU_BARS];
	struct vfu_msix msix;
	struct vfu_pcie pcie;
	uint64_t (*read)(void *model, unsigned int bar, uint64_t offset, unsigned int size);
	void (*write)(void *model, unsigned int bar, uint64_t offset, unsigned int size,
		      uint64_t value);
	void (*reset)(void *model, enum vfu_reset why);
};

/**
 * vfu_create() - make a device
 * @setup: what it is; copied, but for the areas that it points to
 * @model: handed to the callbacks
 *
 * Return: the device, or NULL with errno EINVAL (the setup contradicts itself), ENOMEM or what
 * memfd_create(2) gave.
 */
struct vfu *vfu_create(const struct vfu_setup *setup, void *model);

/**
 * vfu_destroy() - end the connection and free everything
 * @device: may be NULL
 */
void vfu_destroy(struct vfu *device);

/**
 * vfu_listen() - wait for the client at a socket
 * @device: has neither socket nor client yet
 * @path: where the socket is made; one that is there already is replaced
 *
 * One client is taken, once.
 *
 * Return: 0, or a negative errno.
 */
int vfu_listen(struct vfu *device, const char *path);

/**
 * vfu_attach() - serve a client that is connected already
 * @device: has neither socket nor client yet
 * @fd: connected stream socket; the library closes it, if this succeeds
 *
 * Return: 0, or a negative errno.
 */
int vfu_attach(struct vfu *device, int fd);

/**
 * vfu_hang_up() - behave to the client like a process that was killed, without being it
 * @device: has a client
 *
 * The client reads the end of the connection, and can write nothing more: it does not wait for
 * answers. What it has sent already is taken and dropped, and then vfu_serve() says -ECONNRESET. (A
 * real kill leaves messages unread, and some versions of QEMU then end with an assertion in
 * error_setv() that has nothing to do with the guest.)
 */
void vfu_hang_up(struct vfu *device);

/**
 * vfu_poll_fd() - what to poll(2) for POLLIN before vfu_serve() is called again
 * @device: the device
 *
 * Return: a file descriptor, or -1 when the client has gone.
 */
int vfu_poll_fd(const struct vfu *device);

/**
 * vfu_serve() - take the client, or handle the messages that have come
 * @device: the device
 *
 * Does not wait. The callbacks run from here.
 *
 * Return: 0, or a negative errno when the connection is over: -ECONNRESET when the client has gone,
 * -EPROTO when it has sent what is no message. The device has then been reset.
 */
int vfu_serve(struct vfu *device);

/**
 * vfu_interrupt() - send an MSI-X interrupt
 * @device: the device
 * @vector: its number
 *
 * Several that come close together may reach the guest as one.
 *
 * Return: true if it was sent; false when the guest has the vector switched off.
 */
bool vfu_interrupt(struct vfu *device, unsigned int vector);

/**
 * vfu_bar_memory() - the memory behind a BAR's shared areas
 * @device: the device
 * @bar: number of the BAR
 *
 * The guest may change it at any time, without notice.
 *
 * Return: memory as large as the BAR, or NULL when it has no shared area.
 */
void *vfu_bar_memory(struct vfu *device, unsigned int bar);

/**
 * vfu_config_set() - set bytes of configuration space that the guest can only read
 * @device: the device
 * @offset: of the first byte
 * @size: 1, 2 or 4
 * @value: what the guest reads from now on, also after a reset
 */
void vfu_config_set(struct vfu *device, unsigned int offset, unsigned int size, uint32_t value);

/**
 * vfu_config_get() - what the guest would read
 * @device: the device
 * @offset: of the first byte
 * @size: 1, 2 or 4
 *
 * Return: the value.
 */
uint32_t vfu_config_get(const struct vfu *device, unsigned int offset, unsigned int size);

/**
 * vfu_dma_read() - copy from guest memory
 * @device: the device
 * @what: what is read, for the record when it is not there: a string that lives for ever
 * @address: as the driver gave it; need not lie in one mapping
 * @buffer: where to
 * @size: in bytes
 *
 * Each call looks up what the guest has mapped for the device at this moment, so that nothing is
 * reached that it has taken back.
 *
 * Return: true; false if any of the bytes may not be read. Nothing was copied then, and a violation
 * was counted.
 */
bool vfu_dma_read(struct vfu *device, const char *what, uint64_t address, void *buffer,
		  size_t size);

/**
 * vfu_dma_write() - copy to guest memory
 * @device: the device
 * @what: as for vfu_dma_read()
 * @address: as for vfu_dma_read()
 * @buffer: where from
 * @size: in bytes
 *
 * Return: as vfu_dma_read().
 */
bool vfu_dma_write(struct vfu *device, const char *what, uint64_t address, const void *buffer,
		   size_t size);

/**
 * vfu_dma_publish32() - write a word that tells the driver that something is complete
 * @device: the device
 * @what: as for vfu_dma_read()
 * @address: a multiple of 4
 * @value: as the guest's memory shall have it, that is, with its bytes already in the device's
 *	order
 *
 * All that was written before is visible to a guest CPU that sees this word.
 *
 * Return: as vfu_dma_read().
 */
bool vfu_dma_publish32(struct vfu *device, const char *what, uint64_t address, uint32_t value);

/**
 * enum vfu_violation_reason - why guest memory could not be reached
 * @VFU_UNMAPPED: nothing is mapped for the device there: a bug of the driver, or of the model
 * @VFU_NOT_PERMITTED: the mapping does not allow this direction: likewise
 * @VFU_NO_MEMORY: it is mapped, but the client has not shared that memory with us, as it was not
 *	started with "memory-backend-memfd,share=on", or as it is ROM or another device's BAR
 */
enum vfu_violation_reason {
	VFU_UNMAPPED,
	VFU_NOT_PERMITTED,
	VFU_NO_MEMORY,
};

/**
 * struct vfu_violation - an access to guest memory that could not be done
 * @what: as the model said
 * @address: first byte that could not be reached
 * @size: of the whole access, in bytes
 * @is_write: towards the guest
 * @reason: why
 */
struct vfu_violation {
	const char *what;
	uint64_t address;
	uint64_t size;
	bool is_write;
	enum vfu_violation_reason reason;
};

/**
 * struct vfu_counters - what has happened since the device was made
 * @messages: messages from the client
 * @posted: those of them that wanted no answer
 * @reads: calls of the model's read
 * @writes: calls of the model's write
 * @interrupts: interrupts that were sent
 * @interrupts_off: those that were not, as the guest has the vector switched off
 * @resets: resets of any kind
 * @dma_maps: ranges mapped
 * @dma_unmaps: ranges unmapped
 * @dma_reads: accesses to guest memory
 * @dma_writes: likewise
 * @dma_read_bytes: bytes of them
 * @dma_write_bytes: likewise
 * @dma_lowest: lowest address accessed; all ones when none was
 * @dma_highest: highest address accessed
 * @dma_above_4g: accesses that reach beyond the first 4 GiB
 * @violations: accesses to guest memory that could not be done
 */
struct vfu_counters {
	uint64_t messages;
	uint64_t posted;
	uint64_t reads;
	uint64_t writes;
	uint64_t interrupts;
	uint64_t interrupts_off;
	uint64_t resets;
	uint64_t dma_maps;
	uint64_t dma_unmaps;
	uint64_t dma_reads;
	uint64_t dma_writes;
	uint64_t dma_read_bytes;
	uint64_t dma_write_bytes;
	uint64_t dma_lowest;
	uint64_t dma_highest;
	uint64_t dma_above_4g;
	uint64_t violations;
};

/**
 * vfu_get_counters() - what has happened since the device was made
 * @device: the device
 *
 * Return: valid as long as the device; changes.
 */
const struct vfu_counters *vfu_get_counters(const struct vfu *device);

/**
 * vfu_get_violation() - one of the first accesses to guest memory that could not be done
 * @device: the device
 * @index: 0 is the first
 *
 * Return: NULL when there were no more, or when no more were kept.
 */
const struct vfu_violation *vfu_get_violation(const struct vfu *device, unsigned int index);

/**
 * vfu_set_log() - write down every access, mapping and interrupt from now on
 * @device: the device
 * @log: stays the caller's; NULL for no log
 *
 * One line each, with a running number first:
 *
 *	N read REGION OFFSET SIZE VALUE		REGION: 0 to 5 is a BAR, 7 configuration space
 *	N write REGION OFFSET SIZE VALUE
 *	N map ADDRESS SIZE file|none		whether the memory's file came along
 *	N unmap ADDRESS SIZE
 *	N interrupt VECTOR
 *	N reset
 *
 * Offsets, values and addresses are hexadecimal, sizes decimal.
 */
void vfu_set_log(struct vfu *device, FILE *log);

#endif
