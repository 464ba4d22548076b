// SPDX-License-Identifier: GPL-2.0
/*
 * Which frames the port takes, and for which queue pair. That is the oldest of the chip's ways, A0
 * steering: each own address has a queue pair, the number of which is its place in the table.
 */
#include "connectx3.h"

#define VLAN_ID_MASK	0xfff

static uint64_t address_of(const uint8_t *mac)
{
	uint64_t address = 0;

	for (unsigned int i = 0; i < MAC_SIZE; i++)
		address = address << 8 | mac[i];
	return address;
}

static bool takes_group(const struct cx3_port *port, uint64_t address)
{
	if (!port->takes_multicast)
		return false;
	if (!port->filters_multicast)
		return true;
	for (unsigned int i = 0; i < port->group_count; i++)
		if (port->groups[i] == address)
			return true;
	return false;
}

static bool takes_address(const struct cx3_port *port, const uint8_t *mac, uint32_t *qpn)
{
	uint64_t address = address_of(mac);

	if (frame_cast(mac) != FRAME_UNICAST && takes_group(port, address)) {
		*qpn = port->multicast_qpn;
		return true;
	}
	for (unsigned int i = 0; i < PORT_MACS; i++) {
		if (port->macs[i] != (address | MAC_VALID))
			continue;
		*qpn = port->base_qpn + i;
		return true;
	}
	*qpn = port->promiscuous_qpn;
	return port->is_promiscuous;
}

/* Tag 0 is no VLAN, but a priority. */
static bool takes_vlan(const struct cx3_port *port, const struct frame_headers *headers)
{
	unsigned int id = headers->vlan & VLAN_ID_MASK;

	return !headers->has_vlan || !id || port->is_promiscuous ||
	       port->vlans[id / 32] & BIT(id % 32);
}

bool cx3_filter_takes(struct cx3 *cx3, const uint8_t *frame, const struct frame_headers *headers,
		      uint32_t *qpn)
{
	return takes_address(&cx3->port, frame, qpn) && takes_vlan(&cx3->port, headers);
}
