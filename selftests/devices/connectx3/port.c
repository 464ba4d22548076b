// SPDX-License-Identifier: GPL-2.0
/* The port: its link, and what the driver sets. */
#include <string.h>

#include "connectx3.h"

#define CRC_SIZE	4
#define THE_PORT	1
#define QPN_MASK	0xffffff

bool cx3_port_is_up(const struct cx3_port *port)
{
	return port->has_light && port->is_open;
}

static void tell(struct cx3 *cx3)
{
	struct event event = {
		.type = EVENT_PORT_CHANGE,
		.subtype = cx3_port_is_up(&cx3->port) ? PORT_CHANGE_ACTIVE : PORT_CHANGE_DOWN,
	};

	event.port_change.port = to_be32(THE_PORT << PORT_CHANGE_SHIFT);
	cx3_async_event(cx3, &event);
}

void cx3_set_light(struct cx3 *cx3, bool has_light)
{
	if (cx3->port.has_light == has_light)
		return;
	cx3->port.has_light = has_light;
	if (cx3->port.is_open)
		tell(cx3);
}

static void set_open(struct cx3 *cx3, bool is_open)
{
	if (cx3->port.is_open == is_open)
		return;
	cx3->port.is_open = is_open;
	if (cx3->port.has_light)
		tell(cx3);
}

enum command_status cx3_port_open(struct cx3 *cx3, struct command *command)
{
	if (command->in_modifier != THE_PORT)
		return COMMAND_BAD_INDEX;
	set_open(cx3, true);
	return COMMAND_OK;
}

enum command_status cx3_port_close(struct cx3 *cx3, struct command *command)
{
	if (command->in_modifier != THE_PORT)
		return COMMAND_BAD_INDEX;
	set_open(cx3, false);
	return COMMAND_OK;
}

static void set_general(struct cx3_port *port, const struct port_general *wanted)
{
	uint16_t mtu = from_be16(wanted->mtu);

	if (wanted->valid & PORT_GENERAL_MTU && mtu > CRC_SIZE)
		port->largest_frame = mtu - CRC_SIZE;
}

static void set_receivers(struct cx3_port *port, const struct port_receivers *wanted)
{
	uint32_t promiscuous = from_be32(wanted->promiscuous);
	uint32_t multicast = from_be32(wanted->multicast);

	port->base_qpn = from_be32(wanted->base_qpn) & QPN_MASK;
	port->is_promiscuous = promiscuous & PORT_PROMISCUOUS;
	port->promiscuous_qpn = promiscuous & QPN_MASK;
	port->takes_multicast = multicast >> PORT_MULTICAST_SHIFT;
	port->multicast_qpn = multicast & QPN_MASK;
}

static void set_macs(struct cx3_port *port, const uint8_t *table)
{
	be64 entries[PORT_MACS];

	memcpy(entries, table, sizeof(entries));
	for (unsigned int i = 0; i < PORT_MACS; i++)
		port->macs[i] = from_be64(entries[i]);
}

enum command_status cx3_port_set(struct cx3 *cx3, struct command *command)
{
	/* What is set of InfiniBand does not matter here. */
	if (command->modifier != PORT_SETTING_ETHERNET)
		return COMMAND_OK;
	switch (command->in_modifier >> PORT_SETTING_SHIFT) {
	case PORT_GENERAL:
		set_general(&cx3->port, (const void *)command->in);
		return COMMAND_OK;
	case PORT_RECEIVERS:
		set_receivers(&cx3->port, (const void *)command->in);
		return COMMAND_OK;
	case PORT_MAC_TABLE:
		set_macs(&cx3->port, command->in);
		return COMMAND_OK;
	default:
		/* VLAN tables, priorities, scheduling: nothing here depends on them. */
		return COMMAND_OK;
	}
}

enum command_status cx3_port_set_vlans(struct cx3 *cx3, struct command *command)
{
	be32 words[VLAN_FILTER_WORDS];

	memcpy(words, command->in, sizeof(words));
	for (unsigned int i = 0; i < VLAN_FILTER_WORDS; i++)
		cx3->port.vlans[i] = from_be32(words[VLAN_FILTER_WORDS - 1 - i]);
	return COMMAND_OK;
}

/* en_port.c:mlx4_SET_MCAST_FLTR(): the address is in the parameter, and the top bit empties. */
static enum command_status add_group(struct cx3_port *port, uint64_t parameter)
{
	if (parameter & MULTICAST_CLEAR)
		port->group_count = 0;
	if (port->group_count == CX3_GROUPS)
		return COMMAND_EXCEEDS_LIMIT;
	port->groups[port->group_count++] = parameter & ~MULTICAST_CLEAR;
	return COMMAND_OK;
}

enum command_status cx3_port_set_multicast(struct cx3 *cx3, struct command *command)
{
	switch (command->modifier) {
	case MULTICAST_CONFIGURE:
		return add_group(&cx3->port, command->in_param);
	case MULTICAST_DISABLE:
		cx3->port.filters_multicast = false;
		return COMMAND_OK;
	case MULTICAST_ENABLE:
		cx3->port.filters_multicast = true;
		return COMMAND_OK;
	default:
		return COMMAND_BAD_PARAMETER;
	}
}
