// SPDX-License-Identifier: GPL-2.0
/* What each command does. */
#include <string.h>

#include "be2.h"

/**
 * struct request - a command being executed
 * @bytes: as it came
 * @size: of it
 * @response: where the answer is made; has the header already
 * @response_size: of the answer; a handler that says more than the header sets it
 * @room: for the answer
 */
struct request {
	const void *bytes;
	size_t size;
	void *response;
	size_t response_size;
	size_t room;
};

/* The answer as a structure of that type; NULL when the driver has left no room for it. */
#define answer_with(request, type) ((type *)answer_of_size(request, sizeof(type)))

static void *answer_of_size(struct request *request, size_t size)
{
	if (size > request->room)
		return NULL;
	request->response_size = size;
	return request->response;
}

/* --- the function --- */

static enum command_status succeed(struct be2 *be2, struct request *request)
{
	(void)be2;
	(void)request;
	return STATUS_SUCCESS;
}

static enum command_status function_reset(struct be2 *be2, struct request *request)
{
	(void)request;
	be2_reset(be2);
	return STATUS_SUCCESS;
}

/* Port 0, no name, no serial number: all of it is zero. */
static enum command_status get_zeros(struct be2 *be2, struct request *request)
{
	(void)be2;
	answer_of_size(request, request->room);
	return STATUS_SUCCESS;
}

static bool has_rss(const struct be2 *be2)
{
	return be2->chip->rx_rings > 1;
}

static enum command_status query_firmware_config(struct be2 *be2, struct request *request)
{
	struct firmware_config_response *answer =
		answer_with(request, struct firmware_config_response);

	if (!answer)
		return STATUS_INVALID_LENGTH;
	/* No multi-channel mode, port 0. */
	answer->capabilities = has_rss(be2) ? FUNCTION_HAS_RSS : 0;
	return STATUS_SUCCESS;
}

/* What of the driver's wishes is granted. */
static enum command_status set_function_capability(struct be2 *be2, struct request *request)
{
	const struct function_capability *wanted = request->bytes;
	struct function_capability *answer = answer_with(request, struct function_capability);

	if (!answer)
		return STATUS_INVALID_LENGTH;
	be2->is_native = be2->chip->has_native_mode && wanted->valid & CAPABILITY_NATIVE &&
			 wanted->flags & CAPABILITY_NATIVE;
	answer->valid = wanted->valid;
	answer->flags = be2->is_native ? CAPABILITY_NATIVE : 0;
	return STATUS_SUCCESS;
}

static enum command_status get_port_name(struct be2 *be2, struct request *request)
{
	struct port_name_response *answer = answer_with(request, struct port_name_response);

	(void)be2;
	if (!answer)
		return STATUS_INVALID_LENGTH;
	memcpy(answer->names, "0123", sizeof(answer->names));
	return STATUS_SUCCESS;
}

static enum command_status get_function_privileges(struct be2 *be2, struct request *request)
{
	struct privileges_response *answer = answer_with(request, struct privileges_response);

	(void)be2;
	if (!answer)
		return STATUS_INVALID_LENGTH;
	answer->mask = UINT32_MAX;
	return STATUS_SUCCESS;
}

/* be_main.c warns of a major version below 4. */
#define FIRMWARE_VERSION	"4.9.0.0"

static enum command_status get_firmware_version(struct be2 *be2, struct request *request)
{
	struct firmware_version_response *answer =
		answer_with(request, struct firmware_version_response);

	(void)be2;
	if (!answer)
		return STATUS_INVALID_LENGTH;
	memcpy(answer->running, FIRMWARE_VERSION, sizeof(FIRMWARE_VERSION));
	memcpy(answer->flashed, FIRMWARE_VERSION, sizeof(FIRMWARE_VERSION));
	return STATUS_SUCCESS;
}

/* --- the port --- */

static enum command_status get_link_status(struct be2 *be2, struct request *request)
{
	struct link_status_response *answer = answer_with(request, struct link_status_response);

	if (!answer)
		return STATUS_INVALID_LENGTH;
	if (!be2->link_is_up)
		return STATUS_SUCCESS;
	answer->duplex = LINK_FULL_DUPLEX;
	answer->speed = LINK_SPEED_10G;
	answer->speed_10mbps = LINK_10G_IN_10MBPS;
	answer->is_up = 1;
	return STATUS_SUCCESS;
}

static enum command_status set_flow_control(struct be2 *be2, struct request *request)
{
	const struct flow_control *wanted = request->bytes;

	be2->flow_control[0] = wanted->tx;
	be2->flow_control[1] = wanted->rx;
	return STATUS_SUCCESS;
}

static enum command_status get_flow_control(struct be2 *be2, struct request *request)
{
	struct flow_control *answer = answer_with(request, struct flow_control);

	if (!answer)
		return STATUS_INVALID_LENGTH;
	answer->tx = be2->flow_control[0];
	answer->rx = be2->flow_control[1];
	return STATUS_SUCCESS;
}

static enum command_status get_statistics(struct be2 *be2, struct request *request)
{
	const struct request_header *header = request->bytes;
	struct statistics_response *answer;
	struct statistics_response_v1 *answer_v1;

	if (header->version != be2->chip->statistics_version)
		return STATUS_NOT_SUPPORTED;
	if (header->version) {
		answer_v1 = answer_with(request, struct statistics_response_v1);
		if (answer_v1)
			statistics_to_v1(&be2->statistics, &answer_v1->statistics);
		return answer_v1 ? STATUS_SUCCESS : STATUS_INVALID_LENGTH;
	}
	answer = answer_with(request, struct statistics_response);
	if (answer)
		answer->statistics = be2->statistics;
	return answer ? STATUS_SUCCESS : STATUS_INVALID_LENGTH;
}

/* --- the interface and its filter --- */

static enum command_status query_mac(struct be2 *be2, struct request *request)
{
	const struct mac_query_request *wanted = request->bytes;
	struct mac_query_response *answer = answer_with(request, struct mac_query_response);
	const uint8_t *mac = be2->mac;

	if (!answer)
		return STATUS_INVALID_LENGTH;
	if (!wanted->permanent) {
		if (wanted->pmac >= BE2_MACS || !be2->filter.mac_used[wanted->pmac])
			return STATUS_ILLEGAL_FIELD;
		mac = be2->filter.macs[wanted->pmac];
	}
	answer->size = sizeof(answer->size) + sizeof(answer->mac);
	memcpy(answer->mac, mac, sizeof(answer->mac));
	return STATUS_SUCCESS;
}

#define THE_INTERFACE	1

static enum command_status create_interface(struct be2 *be2, struct request *request)
{
	const struct interface_create_request *wanted = request->bytes;
	uint32_t flags = wanted->enabled & wanted->capabilities;
	bool has_mac = !wanted->has_no_mac;
	uint8_t mac[MAC_SIZE];
	struct interface_create_response *answer;

	memcpy(mac, wanted->mac, sizeof(mac));
	answer = answer_with(request, struct interface_create_response);
	if (!answer)
		return STATUS_INVALID_LENGTH;
	memset(&be2->filter, 0, sizeof(be2->filter));
	be2->filter.flags = flags;
	answer->id = THE_INTERFACE;
	if (has_mac)
		answer->pmac = be2_filter_add_mac(&be2->filter, mac);
	return STATUS_SUCCESS;
}

static enum command_status destroy_interface(struct be2 *be2, struct request *request)
{
	(void)request;
	memset(&be2->filter, 0, sizeof(be2->filter));
	return STATUS_SUCCESS;
}

static enum command_status add_mac(struct be2 *be2, struct request *request)
{
	const struct pmac_add_request *wanted = request->bytes;
	int id = be2_filter_add_mac(&be2->filter, wanted->mac);
	struct pmac_add_response *answer = answer_with(request, struct pmac_add_response);

	if (!answer)
		return STATUS_INVALID_LENGTH;
	if (id < 0)
		return STATUS_FAILED;
	answer->pmac = id;
	return STATUS_SUCCESS;
}

static enum command_status remove_mac(struct be2 *be2, struct request *request)
{
	const struct pmac_del_request *wanted = request->bytes;

	if (wanted->pmac >= BE2_MACS || !be2->filter.mac_used[wanted->pmac])
		return STATUS_ILLEGAL_FIELD;
	be2->filter.mac_used[wanted->pmac] = false;
	return STATUS_SUCCESS;
}

static enum command_status set_rx_filter(struct be2 *be2, struct request *request)
{
	const struct rx_filter_request *wanted = request->bytes;

	if (wanted->multicast_count > FILTER_MULTICASTS)
		return STATUS_ILLEGAL_FIELD;
	be2->filter.flags = (be2->filter.flags & ~wanted->mask) | (wanted->flags & wanted->mask);
	if (wanted->mask & INTERFACE_MULTICAST) {
		be2->filter.multicast_count = wanted->multicast_count;
		memcpy(be2->filter.multicasts, wanted->multicasts, sizeof(wanted->multicasts));
	}
	return STATUS_SUCCESS;
}

static enum command_status configure_vlans(struct be2 *be2, struct request *request)
{
	const struct vlan_config_request *wanted = request->bytes;

	if (wanted->count > FILTER_VLANS)
		return STATUS_ILLEGAL_FIELD;
	be2_filter_set_vlans(&be2->filter, wanted->vlans, wanted->count);
	return STATUS_SUCCESS;
}

static enum command_status configure_rss(struct be2 *be2, struct request *request)
{
	const struct rss_config_request *wanted = request->bytes;
	struct be2_rss *rss = &be2->rss;

	if (!has_rss(be2))
		return STATUS_NOT_SUPPORTED;
	if (wanted->table_size_log2 >= 8 || 1U << wanted->table_size_log2 > RSS_TABLE_SIZE)
		return STATUS_ILLEGAL_FIELD;
	rss->hashes = wanted->hashes;
	rss->table_size = 1U << wanted->table_size_log2;
	memcpy(rss->table, wanted->table, sizeof(rss->table));
	memcpy(rss->key, wanted->key, sizeof(rss->key));
	return STATUS_SUCCESS;
}

/* --- queues --- */

static enum command_status answer_id(struct request *request, unsigned int id)
{
	struct create_response *answer = answer_with(request, struct create_response);

	if (!answer)
		return STATUS_INVALID_LENGTH;
	answer->id = id;
	return STATUS_SUCCESS;
}

static enum command_status create_eq(struct be2 *be2, struct request *request)
{
	const struct eq_create_request *wanted = request->bytes;
	uint32_t entries = 256 << bits(wanted->context[1], EQ_CONTEXT1_COUNT_SHIFT,
				       EQ_CONTEXT1_COUNT_BITS);
	unsigned int id = 0;

	while (id < be2->chip->eqs && be2->eqs[id].ring.exists)
		id++;
	if (id == be2->chip->eqs)
		return STATUS_FAILED;
	memset(&be2->eqs[id], 0, sizeof(be2->eqs[id]));
	if (!be2_ring_init(&be2->eqs[id].ring, entries, EVENT_SIZE, wanted->pages,
			   wanted->page_count))
		return STATUS_ILLEGAL_FIELD;
	be2->eqs[id].armed = wanted->context[1] & EQ_CONTEXT1_ARMED;
	return answer_id(request, id);
}

static enum command_status create_cq(struct be2 *be2, struct request *request)
{
	const struct cq_create_request *wanted = request->bytes;
	uint32_t entries = 256 << bits(wanted->context[0], CQ_CONTEXT0_COUNT_SHIFT,
				       CQ_CONTEXT0_COUNT_BITS);
	unsigned int eq = bits(wanted->context[1], CQ_CONTEXT1_EQ_SHIFT, CQ_CONTEXT1_EQ_BITS);
	unsigned int id = 0;

	while (id < BE2_CQS && be2->cqs[id].ring.exists)
		id++;
	if (id == BE2_CQS)
		return STATUS_FAILED;
	if (eq >= BE2_EQS || !be2->eqs[eq].ring.exists)
		return STATUS_ILLEGAL_FIELD;
	memset(&be2->cqs[id], 0, sizeof(be2->cqs[id]));
	if (!be2_ring_init(&be2->cqs[id].ring, entries, COMPLETION_WORDS * sizeof(uint32_t),
			   wanted->pages, wanted->page_count))
		return STATUS_ILLEGAL_FIELD;
	be2->cqs[id].eq = eq;
	be2->cqs[id].armed = wanted->context[1] & CQ_CONTEXT1_ARMED;
	return answer_id(request, id);
}

/* be_cmds.c:be_encoded_q_len(): the number of bits in it, where 16 is 0. */
static uint32_t decoded_length(unsigned int code)
{
	return 1U << ((code ? code : 16) - 1);
}

static bool cq_exists(const struct be2 *be2, unsigned int id)
{
	return id < BE2_CQS && be2->cqs[id].ring.exists;
}

static enum command_status create_mcc(struct be2 *be2, struct request *request)
{
	const struct mcc_create_request *wanted = request->bytes;
	uint32_t entries = decoded_length(bits(wanted->context[0], MCC_CONTEXT0_SIZE_SHIFT,
					       MCC_CONTEXT0_SIZE_BITS));
	unsigned int cq = bits(wanted->context[0], MCC_CONTEXT0_CQ_SHIFT, MCC_CONTEXT0_CQ_BITS);

	if (be2->mcc.ring.exists || !cq_exists(be2, cq) ||
	    !be2_ring_init(&be2->mcc.ring, entries, sizeof(struct command_wrb), wanted->pages,
			   wanted->page_count))
		return STATUS_ILLEGAL_FIELD;
	be2->mcc.cq = cq;
	be2->mcc.posted = 0;
	be2->mcc.async_events = wanted->async_events;
	return answer_id(request, 0);
}

static enum command_status create_tx(struct be2 *be2, struct request *request)
{
	const struct tx_create_request *wanted = request->bytes;
	unsigned int id = 0;
	struct be2_tx *tx;

	while (id < be2->chip->tx_rings && be2->tx[id].ring.exists)
		id++;
	if (id == be2->chip->tx_rings)
		return STATUS_FAILED;
	tx = &be2->tx[id];
	memset(tx, 0, sizeof(*tx));
	if (wanted->size > 16 || !cq_exists(be2, wanted->cq) ||
	    !be2_ring_init(&tx->ring, decoded_length(wanted->size), sizeof(struct tx_fragment),
			   wanted->pages, wanted->page_count))
		return STATUS_ILLEGAL_FIELD;
	tx->cq = wanted->cq;
	return answer_id(request, id);
}

static bool rss_id_is_used(const struct be2 *be2, unsigned int rss_id)
{
	for (unsigned int i = 0; i < be2->chip->rx_rings; i++)
		if (be2->rx[i].ring.exists && be2->rx[i].is_rss && be2->rx[i].rss_id == rss_id)
			return true;
	return false;
}

/* Rings for RSS are numbered on their own, so that their numbers are not taken for the others. */
static unsigned int free_rss_id(const struct be2 *be2)
{
	unsigned int rss_id = 0;

	while (rss_id_is_used(be2, rss_id))
		rss_id++;
	return rss_id;
}

static enum command_status create_rx(struct be2 *be2, struct request *request)
{
	const struct rx_create_request *wanted = request->bytes;
	unsigned int id = 0, rss_id = free_rss_id(be2);
	struct create_response *answer;
	struct be2_rx *rx;

	while (id < be2->chip->rx_rings && be2->rx[id].ring.exists)
		id++;
	if (id == be2->chip->rx_rings)
		return STATUS_FAILED;
	rx = &be2->rx[id];
	memset(rx, 0, sizeof(*rx));
	if (wanted->fragment_size < 8 || wanted->fragment_size > 13 ||
	    !cq_exists(be2, wanted->cq) ||
	    !be2_ring_init(&rx->ring, BE2_RX_ENTRIES, sizeof(struct rx_buffer), wanted->pages,
			   wanted->page_count < 2 ? wanted->page_count : 2))
		return STATUS_ILLEGAL_FIELD;
	rx->cq = wanted->cq;
	rx->fragment_size = 1U << wanted->fragment_size;
	rx->is_rss = wanted->is_rss && has_rss(be2);
	rx->rss_id = rss_id;
	answer = answer_with(request, struct create_response);
	if (!answer)
		return STATUS_INVALID_LENGTH;
	answer->id = id;
	answer->rss_id = rss_id;
	return STATUS_SUCCESS;
}

static unsigned int id_of(const struct request *request)
{
	const struct destroy_request *wanted = request->bytes;

	return wanted->id;
}

static enum command_status destroy_ring(struct be2_ring *ring)
{
	if (!ring->exists)
		return STATUS_ILLEGAL_FIELD;
	ring->exists = false;
	return STATUS_SUCCESS;
}

static enum command_status destroy_eq(struct be2 *be2, struct request *request)
{
	unsigned int id = id_of(request);

	return id < BE2_EQS ? destroy_ring(&be2->eqs[id].ring) : STATUS_ILLEGAL_FIELD;
}

static enum command_status destroy_cq(struct be2 *be2, struct request *request)
{
	unsigned int id = id_of(request);

	return id < BE2_CQS ? destroy_ring(&be2->cqs[id].ring) : STATUS_ILLEGAL_FIELD;
}

static enum command_status destroy_mcc(struct be2 *be2, struct request *request)
{
	return id_of(request) ? STATUS_ILLEGAL_FIELD : destroy_ring(&be2->mcc.ring);
}

static enum command_status destroy_tx(struct be2 *be2, struct request *request)
{
	unsigned int id = id_of(request);

	return id < be2->chip->tx_rings ? destroy_ring(&be2->tx[id].ring) : STATUS_ILLEGAL_FIELD;
}

static enum command_status destroy_rx(struct be2 *be2, struct request *request)
{
	const struct destroy_request *wanted = request->bytes;
	enum command_status status;

	if (wanted->id >= be2->chip->rx_rings)
		return STATUS_ILLEGAL_FIELD;
	status = destroy_ring(&be2->rx[wanted->id].ring);
	if (!status && !wanted->bypass_flush)
		be2_rx_flush(be2, &be2->rx[wanted->id]);
	return status;
}

/* --- all of them --- */

static const struct {
	uint8_t subsystem;
	uint8_t opcode;
	uint16_t size;			/* of the request, at least */
	enum command_status (*run)(struct be2 *be2, struct request *request);
} commands[] = {
#define COMMON(opcode, type, run) { SUBSYSTEM_COMMON, COMMON_##opcode, sizeof(struct type), run }
#define ETH(opcode, type, run) { SUBSYSTEM_ETH, ETH_##opcode, sizeof(struct type), run }
	COMMON(FUNCTION_RESET, request_header, function_reset),
	COMMON(SET_INTERRUPT_ENABLE, request_header, succeed),
	COMMON(SET_DRIVER_FUNCTION_CAP, function_capability, set_function_capability),
	COMMON(GET_CONTROLLER_ATTRIBUTES, request_header, get_zeros),
	COMMON(QUERY_FIRMWARE_CONFIG, request_header, query_firmware_config),
	COMMON(GET_FUNCTION_PRIVILEGES, request_header, get_function_privileges),
	COMMON(GET_FIRMWARE_VERSION, request_header, get_firmware_version),
	COMMON(MODIFY_EQ_DELAY, request_header, succeed),
	COMMON(GET_PORT_NAME, request_header, get_port_name),
	COMMON(LINK_STATUS, request_header, get_link_status),
	COMMON(SET_FLOW_CONTROL, flow_control, set_flow_control),
	COMMON(GET_FLOW_CONTROL, request_header, get_flow_control),
	COMMON(MAC_QUERY, mac_query_request, query_mac),
	COMMON(INTERFACE_CREATE, interface_create_request, create_interface),
	COMMON(INTERFACE_DESTROY, request_header, destroy_interface),
	COMMON(PMAC_ADD, pmac_add_request, add_mac),
	COMMON(PMAC_DEL, pmac_del_request, remove_mac),
	COMMON(RX_FILTER, rx_filter_request, set_rx_filter),
	COMMON(VLAN_CONFIG, vlan_config_request, configure_vlans),
	COMMON(EQ_CREATE, eq_create_request, create_eq),
	COMMON(EQ_DESTROY, destroy_request, destroy_eq),
	COMMON(CQ_CREATE, cq_create_request, create_cq),
	COMMON(CQ_DESTROY, destroy_request, destroy_cq),
	COMMON(MCC_CREATE_EXT, mcc_create_request, create_mcc),
	COMMON(MCC_DESTROY, destroy_request, destroy_mcc),
	ETH(RSS_CONFIG, rss_config_request, configure_rss),
	ETH(GET_STATISTICS, request_header, get_statistics),
	ETH(TX_CREATE, tx_create_request, create_tx),
	ETH(TX_DESTROY, destroy_request, destroy_tx),
	ETH(RX_CREATE, rx_create_request, create_rx),
	ETH(RX_DESTROY, destroy_request, destroy_rx),
#undef COMMON
#undef ETH
};

static bool must_fail(struct be2_faults *faults, const struct request_header *header)
{
	if (!faults->command_count || header->subsystem != faults->command_subsystem ||
	    header->opcode != faults->command_opcode)
		return false;
	faults->command_count--;
	return true;
}

static enum command_status run(struct be2 *be2, struct request *request)
{
	const struct request_header *header = request->bytes;

	if (must_fail(&be2->faults, header))
		return be2->faults.command_status;
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		if (commands[i].subsystem != header->subsystem ||
		    commands[i].opcode != header->opcode)
			continue;
		if (request->size < commands[i].size)
			return STATUS_INVALID_LENGTH;
		return commands[i].run(be2, request);
	}
	be2->counters.commands_unknown++;
	return STATUS_NOT_SUPPORTED;
}

#define LARGEST_REQUEST	1024

enum command_status be2_execute(struct be2 *be2, uint8_t *payload, size_t *size)
{
	_Alignas(8) uint8_t bytes[LARGEST_REQUEST];
	struct request request = {
		.bytes = bytes,
		.size = *size < sizeof(bytes) ? *size : sizeof(bytes),
		.response = payload,
		.response_size = sizeof(struct response_header),
		.room = *size,
	};
	const struct request_header *asked = request.bytes;
	struct response_header *answer = request.response;

	memcpy(bytes, payload, request.size);
	memset(payload, 0, *size);
	be2->counters.commands++;
	answer->status = run(be2, &request);
	answer->opcode = asked->opcode;
	answer->subsystem = asked->subsystem;
	answer->response_length = request.response_size - sizeof(*answer);
	answer->actual_length = answer->response_length;
	*size = request.response_size;
	return answer->status;
}
