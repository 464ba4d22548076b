// SPDX-License-Identifier: GPL-2.0
/*
 * MSI-X vectors: an eventfd each, which the client gives us while the guest has the vector switched
 * on. The client itself holds back interrupts of a masked vector.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/vfio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "irq.h"

int irq_init(struct irq_table *table, unsigned int count)
{
	table->count = count;
	table->eventfds = malloc((count ? count : 1) * sizeof(*table->eventfds));
	if (!table->eventfds)
		return -ENOMEM;
	for (unsigned int i = 0; i < count; i++)
		table->eventfds[i] = -1;
	return 0;
}

static void set(struct irq_table *table, unsigned int vector, int fd)
{
	if (table->eventfds[vector] >= 0)
		close(table->eventfds[vector]);
	table->eventfds[vector] = fd;
}

void irq_clear(struct irq_table *table)
{
	for (unsigned int i = 0; i < table->count; i++)
		set(table, i, -1);
}

void irq_exit(struct irq_table *table)
{
	if (!table->eventfds)
		return;
	irq_clear(table);
	free(table->eventfds);
	table->eventfds = NULL;
}

bool irq_send(struct irq_table *table, unsigned int vector)
{
	uint64_t one = 1;

	if (vector >= table->count || table->eventfds[vector] < 0)
		return false;
	/* An eventfd that is full is one that the client will read. */
	return write(table->eventfds[vector], &one, sizeof(one)) == sizeof(one) || errno == EAGAIN;
}

/* Of any other file a write might wait, or end us with a signal. */
static bool is_eventfd(int fd)
{
	static const char wanted[] = "anon_inode:[eventfd]";
	char link[64], target[sizeof(wanted)];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return readlink(link, target, sizeof(target)) == sizeof(wanted) - 1 &&
	       !memcmp(target, wanted, sizeof(wanted) - 1) && !fcntl(fd, F_SETFL, O_NONBLOCK);
}

static int set_eventfds(struct irq_table *table, struct message *message,
			const struct vfio_irq_set *request)
{
	if (message->fd_count > request->count)
		return -EINVAL;
	for (unsigned int i = 0; i < message->fd_count; i++)
		if (!is_eventfd(message->fds[i]))
			return -EINVAL;
	for (uint32_t i = 0; i < request->count; i++)
		set(table, request->start + i, message_take_fd(message, i));
	return 0;
}

static int trigger(struct irq_table *table, const struct vfio_irq_set *request)
{
	if (!request->count) {
		irq_clear(table);
		return 0;
	}
	for (uint32_t i = 0; i < request->count; i++)
		irq_send(table, request->start + i);
	return 0;
}

int irq_configure(struct irq_table *table, struct message *message)
{
	const struct vfio_irq_set *request = (const void *)message->body;

	if (message->length < sizeof(*request))
		return -EINVAL;
	/* There are no other interrupts, so all that can be done to them is to switch them off. */
	if (request->index != VFIO_PCI_MSIX_IRQ_INDEX)
		return request->count ? -EINVAL : 0;
	if (request->start > table->count || request->count > table->count - request->start)
		return -EINVAL;
	switch (request->flags) {
	case VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER:
		return set_eventfds(table, message, request);
	case VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_TRIGGER:
		return trigger(table, request);
	case VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_MASK:
	case VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_UNMASK:
		return 0;
	default:
		return -EINVAL;
	}
}
