/* SPDX-License-Identifier: GPL-2.0 */
#ifndef CONFIG_H
#define CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vfu.h"

/**
 * struct config_space - configuration space of a PCI Express function
 * @bytes: as the guest reads it
 * @initial: as after a reset
 * @writable: the bits that the guest may change
 * @last_capability: where the next one is linked from
 * @flr_at: the byte with "Initiate Function Level Reset"; 0 when there is none
 */
struct config_space {
	uint8_t bytes[VFU_CONFIG_SIZE];
	uint8_t initial[VFU_CONFIG_SIZE];
	uint8_t writable[VFU_CONFIG_SIZE];
	unsigned int last_capability;
	unsigned int flr_at;
};

/* Returns 0, or -EINVAL when capabilities do not fit. */
int config_init(struct config_space *config, const struct vfu_setup *setup);

void config_reset(struct config_space *config);

/* What lies outside reads as all ones. */
void config_read(const struct config_space *config, uint64_t offset, uint8_t *data, size_t size);

/* Returns true when the guest wants a function level reset. */
bool config_write(struct config_space *config, uint64_t offset, const uint8_t *data, size_t size);

void config_set(struct config_space *config, unsigned int offset, unsigned int size,
		uint32_t value);
uint32_t config_get(const struct config_space *config, unsigned int offset, unsigned int size);

#endif
