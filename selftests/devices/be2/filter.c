// SPDX-License-Identifier: GPL-2.0
/* Which frames the interface takes. */
#include <string.h>

#include "be2.h"

#define VLAN_ID_MASK	0xfff

static bool is_own(const struct be2_filter *filter, const uint8_t *mac)
{
	for (unsigned int i = 0; i < BE2_MACS; i++)
		if (filter->mac_used[i] && !memcmp(filter->macs[i], mac, MAC_SIZE))
			return true;
	return false;
}

static bool is_in_group(const struct be2_filter *filter, const uint8_t *mac)
{
	for (unsigned int i = 0; i < filter->multicast_count; i++)
		if (!memcmp(filter->multicasts[i], mac, MAC_SIZE))
			return true;
	return false;
}

static bool takes_address(const struct be2_filter *filter, const uint8_t *mac)
{
	if (filter->flags & INTERFACE_PROMISCUOUS)
		return true;
	switch (frame_cast(mac)) {
	case FRAME_BROADCAST:
		return filter->flags & INTERFACE_BROADCAST;
	case FRAME_MULTICAST:
		return filter->flags & INTERFACE_ALL_MULTICAST ||
		       (filter->flags & INTERFACE_MULTICAST && is_in_group(filter, mac));
	default:
		return is_own(filter, mac);
	}
}

static bool takes_vlan(const struct be2_filter *filter, const struct frame_headers *headers)
{
	unsigned int id = headers->vlan & VLAN_ID_MASK;

	if (filter->flags & (INTERFACE_VLAN_PROMISCUOUS | INTERFACE_PROMISCUOUS))
		return true;
	if (!headers->has_vlan)
		return filter->flags & INTERFACE_UNTAGGED;
	return filter->vlans[id / 32] & BIT(id % 32);
}

static bool takes_checksums(const struct be2_filter *filter, const uint8_t *frame,
			    const struct frame_headers *headers)
{
	if (filter->flags & INTERFACE_PASS_L3L4_ERRORS)
		return true;
	return frame_ip_checksum_ok(frame, headers) && frame_l4_checksum_ok(frame, headers);
}

bool be2_filter_takes(struct be2 *be2, const uint8_t *frame, const struct frame_headers *headers)
{
	struct port_statistics *port = &be2->statistics.port[0];

	if (!takes_address(&be2->filter, frame)) {
		port->rx_address_filtered++;
		return false;
	}
	if (!takes_vlan(&be2->filter, headers)) {
		port->rx_vlan_filtered++;
		return false;
	}
	return takes_checksums(&be2->filter, frame, headers);
}

int be2_filter_add_mac(struct be2_filter *filter, const uint8_t *mac)
{
	for (unsigned int i = 0; i < BE2_MACS; i++) {
		if (filter->mac_used[i])
			continue;
		memcpy(filter->macs[i], mac, MAC_SIZE);
		filter->mac_used[i] = true;
		return i;
	}
	return -1;
}

void be2_filter_set_vlans(struct be2_filter *filter, const uint16_t *vlans, unsigned int count)
{
	memset(filter->vlans, 0, sizeof(filter->vlans));
	for (unsigned int i = 0; i < count; i++) {
		unsigned int id = vlans[i] & VLAN_ID_MASK;

		filter->vlans[id / 32] |= BIT(id % 32);
	}
}
