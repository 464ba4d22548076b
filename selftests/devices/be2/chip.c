// SPDX-License-Identifier: GPL-2.0
/* The chips of the family: be_main.c:BEx_get_resources(), be_map_pci_bars(). */
#include <string.h>

#include "be2.h"

static const struct be2_chip chips[] = {
	{
		.name = "be2",
		.device = BE2_DEVICE,
		.pcicfg_bar = BE2_PCICFG_BAR,
		.family = SLI_FAMILY_BE2,
		.eqs = 8,
		.tx_rings = 1,
		.rx_rings = 1,
	},
	{
		.name = "be3",
		.device = BE3_DEVICE,
		.pcicfg_bar = BE3_PCICFG_BAR,
		.family = SLI_FAMILY_BE3,
		.eqs = BE2_EQS,
		.tx_rings = BE2_TX_RINGS,
		.rx_rings = BE2_RX_RINGS,
		.has_native_mode = true,
		.statistics_version = 1,
	},
};

const struct be2_chip *be2_find_chip(const char *name)
{
	for (size_t i = 0; i < sizeof(chips) / sizeof(*chips); i++)
		if (!strcmp(chips[i].name, name))
			return &chips[i];
	return NULL;
}
