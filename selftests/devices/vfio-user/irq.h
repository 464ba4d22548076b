/* SPDX-License-Identifier: GPL-2.0 */
#ifndef IRQ_H
#define IRQ_H

#include <stdbool.h>
#include <stdint.h>

#include "channel.h"

/**
 * struct irq_table - MSI-X vectors
 * @eventfds: one per vector; -1 when the guest has it switched off
 * @count: number of vectors
 */
struct irq_table {
	int *eventfds;
	unsigned int count;
};

int irq_init(struct irq_table *table, unsigned int count);
void irq_exit(struct irq_table *table);

/* All vectors off. */
void irq_clear(struct irq_table *table);

/* Returns false when the vector is off. */
bool irq_send(struct irq_table *table, unsigned int vector);

/* What DEVICE_SET_IRQS asks for. Returns 0 or a negative errno. */
int irq_configure(struct irq_table *table, struct message *message);

#endif
