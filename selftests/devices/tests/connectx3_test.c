// SPDX-License-Identifier: GPL-2.0
/* The ConnectX-3 model, as a driver sees it: descriptors in, frames out, and what is counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "connectx3_driver.h"

#define FRAME_LENGTH	100
#define LARGE		(54 + 3000)

/* From 66.9.149.187:2794 to 161.142.100.80:1766, TCP: an example of Microsoft's for RSS. */
static const uint8_t tcp_frame[FRAME_LENGTH] = {
	2, 0, 0, 0xc3, 0, 1, 2, 0, 0, 0xc3, 0, 2, 8, 0,
	0x45, 0, 0, 86, 0, 1, 0, 0, 64, 6, 0, 0, 66, 9, 149, 187, 161, 142, 100, 80,
	0x0a, 0xea, 0x06, 0xe6, 0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x10, 1, 0, 0, 0, 0, 0,
};

#define TCP_HASH	0x51ccc178
#define IPV4_HASH	0x323e8fc2

static int start_in(void **state, enum cx3_blueflame_mode mode)
{
	*state = driver_start(mode);
	driver_set_up(*state);
	return 0;
}

static int start(void **state)
{
	return start_in(state, BLUEFLAME_TRAPPED);
}

static int start_mapped(void **state)
{
	return start_in(state, BLUEFLAME_MAPPED);
}

static int stop(void **state)
{
	driver_stop(*state);
	return 0;
}

/* What came out of the card; its size, or 0. */
static size_t sent(struct driver *driver, uint8_t *frame, size_t room)
{
	ssize_t size = read(driver->wire, frame, room);

	return size < 0 ? 0 : size;
}

static struct wqe_control *put_frame(struct driver *driver, uint32_t key, uint64_t address,
				     uint32_t flags)
{
	struct wqe_data segment = {
		.byte_count = to_be32(FRAME_LENGTH),
		.key = to_be32(key),
		.address = to_be64(address),
	};

	memcpy(driver_page(driver, DATA), tcp_frame, FRAME_LENGTH);
	memcpy(driver_page(driver, QUEUES + REGION), tcp_frame, FRAME_LENGTH);
	return driver_put(driver, SEND_QPN, WQE_SEND, &segment, sizeof(segment), flags);
}

static struct wqe_control *put(struct driver *driver)
{
	return put_frame(driver, PHYSICAL_KEY, driver_address(DATA), WQE_NOTIFY);
}

static void assert_sent(struct driver *driver)
{
	uint8_t frame[2 * FRAME_LENGTH];

	assert_int_equal(sent(driver, frame, sizeof(frame)), FRAME_LENGTH);
	assert_memory_equal(frame, tcp_frame, FRAME_LENGTH);
}

static void assert_nothing_sent(struct driver *driver)
{
	uint8_t frame[2 * FRAME_LENGTH];

	assert_int_equal(sent(driver, frame, sizeof(frame)), 0);
}

/* --- sending --- */

static void doorbell_sends_all_there_is(void **state)
{
	struct driver *driver = *state;

	for (int i = 0; i < 3; i++)
		put(driver);
	assert_nothing_sent(driver);
	driver_ring(driver, SEND_QPN);
	for (unsigned int i = 0; i < 3; i++) {
		const struct completion *completion = driver_completion(driver);

		assert_sent(driver);
		assert_non_null(completion);
		assert_int_equal(from_be16(completion->index), i);
		assert_int_equal(from_be32(completion->vlan_and_qpn), SEND_QPN);
		assert_int_equal(completion->opcode_and_owner, COMPLETION_IS_SEND | WQE_SEND);
	}
	assert_nothing_sent(driver);
	assert_null(driver_completion(driver));
	assert_int_equal(driver->cx3->counters.tx_by_doorbell, 3);
	assert_int_equal(driver->cx3->counters.tx_by_blueflame, 0);
}

/* Twice around all queues, so that the owner bits change their meaning. */
static void queues_go_round(void **state)
{
	struct driver *driver = *state;

	for (unsigned int i = 0; i < 2 * ENTRIES + 5; i++) {
		put(driver);
		driver_ring(driver, SEND_QPN);
		assert_sent(driver);
		assert_non_null(driver_completion(driver));
		assert_null(driver_completion(driver));
	}
	assert_int_equal(driver->cx3->counters.overflows, 0);
}

static void region_is_translated(void **state)
{
	struct driver *driver = *state;

	put_frame(driver, REGION_KEY, REGION_ADDRESS, WQE_NOTIFY);
	driver_ring(driver, SEND_QPN);
	assert_sent(driver);
	assert_int_equal(driver->cx3->counters.bad_keys, 0);
}

static void wrong_memory_is_an_error(void **state)
{
	static const struct {
		uint32_t key;
		uint64_t address;
	} wrong[] = {
		{ 0x300, DRIVER_BASE },				/* no such region */
		{ REGION_KEY | 1, REGION_ADDRESS },		/* of another generation */
		{ REGION_KEY, REGION_ADDRESS - 1 },
		{ REGION_KEY, REGION_ADDRESS + DRIVER_PAGE - FRAME_LENGTH + 1 },
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		const struct error_completion *error;
		struct driver *driver;

		if (i) {
			stop(state);
			start(state);
		}
		driver = *state;
		put_frame(driver, wrong[i].key, wrong[i].address, 0);
		put(driver);
		driver_ring(driver, SEND_QPN);
		assert_nothing_sent(driver);
		error = (const void *)driver_completion(driver);
		assert_non_null(error);
		assert_int_equal(error->opcode_and_owner, COMPLETION_ERROR | COMPLETION_IS_SEND);
		assert_int_equal(error->syndrome, SYNDROME_LOCAL_PROTECTION);
		error = (const void *)driver_completion(driver);
		assert_non_null(error);
		assert_int_equal(error->syndrome, SYNDROME_FLUSHED);
		assert_int_equal(driver->cx3->counters.bad_keys, 1);
	}
}

static void large_packet_is_cut(void **state)
{
	struct driver *driver = *state;
	uint8_t segments[16 * 5 + sizeof(struct wqe_data)] = { 0 }, frame[2000];
	struct wqe_data data = {
		.byte_count = to_be32(LARGE - 54),
		.key = to_be32(PHYSICAL_KEY),
		.address = to_be64(driver_address(DATA)),
	};
	be32 head = to_be32(1400 << WQE_MSS_SHIFT | 54);

	memcpy(segments, &head, sizeof(head));
	memcpy(segments + sizeof(head), tcp_frame, 54);
	segments[4 + 16] = (LARGE - 14) >> 8;
	segments[4 + 17] = (LARGE - 14) & 0xff;
	memcpy(segments + 64, &data, sizeof(data));
	driver_put(driver, SEND_QPN, WQE_LSO, segments, 64 + sizeof(data), WQE_NOTIFY);
	driver_ring(driver, SEND_QPN);
	assert_int_equal(sent(driver, frame, sizeof(frame)), 54 + 1400);
	assert_int_equal(sent(driver, frame, sizeof(frame)), 54 + 1400);
	assert_int_equal(sent(driver, frame, sizeof(frame)), 54 + 200);
	assert_nothing_sent(driver);
	assert_int_equal(driver->cx3->counters.tx_tso, 1);
	assert_int_equal(from_be16(driver_completion(driver)->index), 0);
}

/* Up to the end of a block, and on in the next one: en_tx.c:build_inline_wqe(). */
static void inline_data_is_sent(void **state)
{
	struct driver *driver = *state;
	uint8_t segments[112] = { 0 };
	be32 first = to_be32(WQE_INLINE | 44), second = to_be32(WQE_INLINE | 56);

	memcpy(segments, &first, sizeof(first));
	memcpy(segments + 4, tcp_frame, 44);
	memcpy(segments + 48, &second, sizeof(second));
	memcpy(segments + 52, tcp_frame + 44, 56);
	driver_put(driver, SEND_QPN, WQE_SEND, segments, sizeof(segments), 0);
	driver_ring(driver, SEND_QPN);
	assert_sent(driver);
	assert_int_equal(driver->cx3->counters.tx_inline, 1);
	assert_null(driver_completion(driver));
}

static void tag_and_checksums_are_put_in(void **state)
{
	struct driver *driver = *state;
	struct wqe_control *control =
		put_frame(driver, PHYSICAL_KEY, driver_address(DATA),
			  WQE_IP_CHECKSUM | WQE_L4_CHECKSUM);
	struct frame_headers headers;
	uint8_t frame[200];
	size_t size;

	control->insert_vlan = WQE_INSERT_CVLAN;
	control->vlan = to_be16(0x2005);
	driver_ring(driver, SEND_QPN);
	size = sent(driver, frame, sizeof(frame));
	assert_int_equal(size, FRAME_LENGTH + VLAN_TAG_SIZE);
	frame_parse(frame, size, &headers);
	assert_int_equal(headers.vlan, 0x2005);
	assert_true(frame_ip_checksum_ok(frame, &headers));
	assert_true(frame_l4_checksum_ok(frame, &headers));
	assert_int_equal(driver->cx3->counters.tx_tagged, 1);
}

static void nops_complete_only_if_signalled(void **state)
{
	struct driver *driver = *state;

	driver_put(driver, SEND_QPN, WQE_NOP, "", 0, 0);
	driver_ring(driver, SEND_QPN);
	assert_null(driver_completion(driver));
	driver_put(driver, SEND_QPN, WQE_NOP, "", 0, WQE_NOTIFY);
	driver_ring(driver, SEND_QPN);
	assert_int_equal(from_be16(driver_completion(driver)->index), 1);
	assert_int_equal(driver->cx3->counters.tx_nops, 2);
	assert_nothing_sent(driver);
}

/* --- BlueFlame --- */

static void blueflame_sends_what_came_and_nothing_beyond(void **state)
{
	struct driver *driver = *state;
	const struct cx3_counters *counters = &driver->cx3->counters;
	struct wqe_control *first, *third;

	first = put(driver);
	driver_blueflame(driver, first, 0, 0, SEND_BLOCK - 8);
	assert_nothing_sent(driver);
	assert_int_equal(cx3_blueflame_pending(driver->cx3), 1);
	driver_blueflame(driver, first, 0, SEND_BLOCK - 8, SEND_BLOCK);
	assert_sent(driver);
	assert_int_equal(counters->tx_by_blueflame, 1);
	/* The second is fetched before the third, and the fourth not at all. */
	put(driver);
	third = put(driver);
	put(driver);
	driver_blueflame(driver, third, 1, 0, SEND_BLOCK);
	assert_sent(driver);
	assert_sent(driver);
	assert_nothing_sent(driver);
	assert_int_equal(counters->tx_by_blueflame, 2);
	assert_int_equal(counters->tx_by_doorbell, 1);
	assert_int_equal(counters->blueflame_stores, 2 * SEND_BLOCK / 8);
	assert_int_equal(counters->blueflame_whole, 2);
	assert_int_equal(cx3_blueflame_pending(driver->cx3), 0);
	assert_int_equal(counters->blueflame_different + counters->blueflame_unordered_stores, 0);
}

static void torn_descriptor_is_fetched(void **state)
{
	struct driver *driver = *state;
	struct wqe_control *first = put(driver), *second;

	driver_blueflame(driver, first, 0, 0, SEND_BLOCK / 2);
	second = put(driver);
	/* The half is used again, so the rest of the first does not come. */
	driver_blueflame(driver, second, 0, 0, SEND_BLOCK);
	assert_sent(driver);
	assert_sent(driver);
	assert_int_equal(driver->cx3->counters.blueflame_torn, 1);
	driver->cx3->faults.torn_count = 1;
	driver_blueflame(driver, put(driver), 1, 0, SEND_BLOCK);
	assert_sent(driver);
	assert_int_equal(driver->cx3->counters.blueflame_torn, 2);
	assert_int_equal(driver->cx3->faults.torn_count, 0);
	assert_int_equal(driver->cx3->counters.tx_by_blueflame, 0);
}

static void stores_in_another_order_are_told(void **state)
{
	struct driver *driver = *state;
	struct wqe_control *wqe = put(driver);

	driver_blueflame(driver, wqe, 0, 32, SEND_BLOCK);
	driver_blueflame(driver, wqe, 0, 0, 32);
	assert_sent(driver);
	assert_int_equal(driver->cx3->counters.blueflame_unordered_stores, 2);
	assert_int_equal(driver->cx3->counters.tx_by_blueflame, 1);
}

static void duplicates_are_not_sent_twice(void **state)
{
	struct driver *driver = *state;
	struct wqe_control *wqe = put(driver);

	driver_blueflame(driver, wqe, 0, 0, SEND_BLOCK);
	assert_sent(driver);
	driver_blueflame(driver, wqe, 1, 0, SEND_BLOCK);
	assert_nothing_sent(driver);
	assert_int_equal(driver->cx3->counters.blueflame_duplicated, 1);
}

static void misuse_is_told(void **state)
{
	struct driver *driver = *state;
	const struct cx3_counters *counters = &driver->cx3->counters;
	uint8_t other[SEND_BLOCK];
	struct wqe_control *first = put(driver), *second = put(driver);

	driver_blueflame(driver, second, 0, 0, SEND_BLOCK);
	driver_blueflame(driver, first, 1, 0, SEND_BLOCK);
	assert_int_equal(counters->blueflame_reordered, 1);
	assert_sent(driver);
	assert_sent(driver);
	assert_nothing_sent(driver);
	/* What is not in the queue is sent as it came, and told. */
	memcpy(other, put(driver), sizeof(other));
	other[sizeof(struct wqe_control) - 1] ^= 1;
	driver_blueflame(driver, other, 0, 0, SEND_BLOCK);
	assert_sent(driver);
	assert_int_equal(counters->blueflame_different, 1);
	/* One that leaves out what is not in the queue either. */
	driver->posted++;
	driver_blueflame(driver, put(driver), 1, 0, SEND_BLOCK);
	assert_nothing_sent(driver);
	assert_int_equal(counters->blueflame_reordered, 2);
}

/* A number with bits 6 or 7 looks like "insert a VLAN tag" to the card. */
static void some_queue_pairs_must_not_use_it(void **state)
{
	struct driver *driver = *state;
	struct wqe_data nothing = { 0 };
	struct wqe_control *wqe;

	wqe = driver_put(driver, SPREAD_QPN, WQE_SEND, &nothing, sizeof(nothing), 0);
	driver_blueflame(driver, wqe, 0, 0, SEND_BLOCK);
	assert_int_equal(driver->cx3->counters.blueflame_rejected, 1);
	assert_int_equal(driver->cx3->counters.tx_by_blueflame, 0);
}

static void mapped_registers_are_looked_at(void **state)
{
	struct driver *driver = *state;
	uint8_t *registers = vfu_bar_memory(driver->cx3->vfu, UAR_BAR);
	struct wqe_control *wqe = put(driver);

	registers += BLUEFLAME_AREA + DRIVER_UAR * UAR_PAGE;
	/* While the guest is storing. */
	memcpy(registers, wqe, sizeof(*wqe));
	cx3_blueflame_poll(driver->cx3);
	assert_nothing_sent(driver);
	memcpy(registers, wqe, SEND_BLOCK);
	cx3_blueflame_poll(driver->cx3);
	assert_sent(driver);
	cx3_blueflame_poll(driver->cx3);
	assert_nothing_sent(driver);
	assert_int_equal(driver->cx3->counters.tx_by_blueflame, 1);
	assert_int_equal(driver->cx3->counters.blueflame_whole, 1);
	/* Only the last one is there when the card looks. */
	put(driver);
	memcpy(registers + BLUEFLAME_BUFFER, put(driver), SEND_BLOCK);
	cx3_blueflame_poll(driver->cx3);
	assert_sent(driver);
	assert_sent(driver);
	assert_int_equal(driver->cx3->counters.tx_by_doorbell, 1);
	assert_int_equal(driver->cx3->counters.blueflame_stores, 0);
}

/* --- queues --- */

static void armed_queues_interrupt_once(void **state)
{
	struct driver *driver = *state;
	uint64_t count;

	while (driver_event(driver))
		;
	if (read(driver->interrupt, &count, sizeof(count)) < 0)
		count = 0;
	put(driver);
	driver_ring(driver, SEND_QPN);
	assert_null(driver_event(driver));
	/* A completion is there already, so that arming tells at once. */
	driver_arm_cq(driver);
	assert_int_equal(read(driver->interrupt, &count, sizeof(count)), sizeof(count));
	assert_int_equal(from_be32(driver_event(driver)->completion.cqn), DRIVER_CQN);
	put(driver);
	driver_ring(driver, SEND_QPN);
	assert_null(driver_event(driver));
	assert_int_equal(read(driver->interrupt, &count, sizeof(count)), -1);
	while (driver_completion(driver))
		;
	driver_arm_cq(driver);
	assert_null(driver_event(driver));
	put(driver);
	driver_ring(driver, SEND_QPN);
	assert_int_equal(driver_event(driver)->type, EVENT_COMPLETION);
	assert_int_equal(read(driver->interrupt, &count, sizeof(count)), sizeof(count));
	/* Two events that the driver has not taken are one interrupt. */
	driver_arm_cq(driver);
	driver_arm_cq(driver);
	assert_int_equal(read(driver->interrupt, &count, sizeof(count)), sizeof(count));
	assert_int_equal(count, 1);
}

static void full_queue_is_an_error(void **state)
{
	struct driver *driver = *state;
	const struct event *event;

	while (driver_event(driver))
		;
	for (unsigned int i = 0; i < ENTRIES + 1; i++) {
		put(driver);
		driver_ring(driver, SEND_QPN);
	}
	assert_int_equal(driver->cx3->counters.overflows, 1);
	event = driver_event(driver);
	assert_int_equal(event->type, EVENT_CQ_ERROR);
	assert_int_equal(event->cq_error.syndrome, CQ_ERROR_OVERRUN);
}

static void memory_that_is_taken_back_is_not_used(void **state)
{
	struct driver *driver = *state;

	assert_int_equal(driver_command(driver, UNMAP_ICM, 0, 1, ICM_TRANSLATIONS), COMMAND_OK);
	put(driver);
	driver_ring(driver, SEND_QPN);
	assert_nothing_sent(driver);
	assert_int_equal(driver->cx3->counters.icm_unmapped, 1);
	assert_int_equal(vfu_get_counters(driver->cx3->vfu)->violations, 0);
}

static void commands_in_the_wrong_state_are_refused(void **state)
{
	struct driver *driver = *state;
	uint64_t in = driver_address(MAILBOX_IN);

	assert_int_equal(driver_command(driver, RST2INIT_QP, 0, SEND_QPN, in),
			 COMMAND_BAD_QP_STATE);
	assert_int_equal(driver_command(driver, INIT2RTR_QP, 0, SEND_QPN, in),
			 COMMAND_BAD_QP_STATE);
	assert_int_equal(driver_command(driver, SW2HW_EQ, 0, DRIVER_EQN, in),
			 COMMAND_BAD_RESOURCE_STATE);
	assert_int_equal(driver_command(driver, SW2HW_EQ, 0, CX3_EQS, in), COMMAND_BAD_INDEX);
	assert_int_equal(driver_command(driver, HW2SW_CQ, 0, DRIVER_CQN + 1, 0),
			 COMMAND_BAD_INDEX);
	assert_int_equal(driver_command(driver, SW2HW_CQ, 0, DRIVER_CQN, in),
			 COMMAND_BAD_RESOURCE_STATE);
	assert_int_equal(driver_command(driver, QUERY_PORT, 0, 1, 0), COMMAND_OK);
	assert_int_equal(driver_command(driver, 0x777, 0, 0, 0), COMMAND_BAD_OPCODE);
	assert_int_equal(driver->cx3->counters.commands_unknown, 1);
	assert_int_equal(driver_command(driver, SET_PORT, 1, 1, 1ULL << 60),
			 COMMAND_BAD_PARAMETER);
}

/* --- receiving --- */

static void frame_is_described(void **state)
{
	struct driver *driver = *state;
	uint8_t frame[LARGEST_FRAME];
	const struct completion *completion;
	struct frame_headers headers;

	memcpy(frame, tcp_frame, FRAME_LENGTH);
	frame_parse(frame, FRAME_LENGTH, &headers);
	frame_fill_ip_checksum(frame, &headers);
	frame_fill_l4_checksum(frame, &headers);
	driver_give_buffer(driver, QUEUE_RECEIVE, DATA);
	driver_give_buffer(driver, QUEUE_RECEIVE, DATA + 1);
	cx3_receive(driver->cx3, frame, FRAME_LENGTH);
	completion = driver_completion(driver);
	assert_non_null(completion);
	assert_int_equal(from_be32(completion->byte_count), FRAME_LENGTH);
	assert_int_equal(from_be32(completion->hash), TCP_HASH);
	assert_int_equal(from_be16(completion->checksum), CHECKSUM_OK);
	assert_int_equal(from_be16(completion->status), STATUS_IPV4 | STATUS_TCP | STATUS_IP_OK);
	assert_int_equal(completion->opcode_and_owner, COMPLETION_RECEIVED);
	assert_memory_equal(driver_page(driver, DATA), frame, FRAME_LENGTH);
	/* A wrong checksum is told by not saying that it is right. */
	frame[FRAME_LENGTH - 1] ^= 1;
	cx3_receive(driver->cx3, frame, FRAME_LENGTH);
	assert_int_equal(from_be16(driver_completion(driver)->checksum), 0);
	cx3_receive(driver->cx3, frame, FRAME_LENGTH);
	assert_null(driver_completion(driver));
	assert_int_equal(driver->cx3->counters.rx_no_buffer, 1);
}

static void frames_are_spread(void **state)
{
	struct driver *driver = *state;
	uint8_t frame[LARGEST_FRAME];
	const struct completion *completion;

	memcpy(frame, tcp_frame, FRAME_LENGTH);
	driver_give_buffer(driver, QUEUE_RECEIVE, DATA);
	driver_give_buffer(driver, QUEUE_RECEIVE_OTHER, DATA + 1);
	/* Other addresses and ports of Microsoft's list with an odd hash: 199.92.111.2... */
	memcpy(frame + 26, (const uint8_t[]){ 24, 19, 198, 95, 12, 22, 207, 184 }, 8);
	memcpy(frame + 34, (const uint8_t[]){ 12898 >> 8, 12898 & 0xff, 38024 >> 8, 38024 & 0xff },
	       4);
	cx3_receive(driver->cx3, frame, FRAME_LENGTH);
	completion = driver_completion(driver);
	assert_int_equal(from_be32(completion->hash), 0x5c2b394a);
	assert_int_equal(from_be32(completion->vlan_and_qpn), RECEIVE_QPN);
	/* No TCP any more: only the addresses are hashed. */
	memcpy(frame, tcp_frame, FRAME_LENGTH);
	frame[23] = 1;
	driver_give_buffer(driver, QUEUE_RECEIVE, DATA);
	cx3_receive(driver->cx3, frame, FRAME_LENGTH);
	completion = driver_completion(driver);
	assert_int_equal(from_be32(completion->hash), IPV4_HASH);
	/* One with another source port has an odd hash. */
	memcpy(frame, tcp_frame, FRAME_LENGTH);
	for (unsigned int port = 0; port < 256; port++) {
		frame[35] = port;
		driver_give_buffer(driver, QUEUE_RECEIVE, DATA);
		cx3_receive(driver->cx3, frame, FRAME_LENGTH);
		completion = driver_completion(driver);
		assert_int_equal(from_be32(completion->vlan_and_qpn),
				 RECEIVE_QPN + (from_be32(completion->hash) & 1));
		if (from_be32(completion->hash) & 1)
			return;
	}
	fail_msg("all hashes are even");
}

static void tag_is_taken_out(void **state)
{
	struct driver *driver = *state;
	const struct completion *completion;
	uint8_t frame[LARGEST_FRAME];
	size_t size;

	for (unsigned int i = 0; i < 2; i++) {
		memcpy(frame, tcp_frame, FRAME_LENGTH);
		size = frame_insert_vlan(frame, FRAME_LENGTH, 7);
		driver_give_buffer(driver, QUEUE_RECEIVE, DATA);
		cx3_receive(driver->cx3, frame, size);
		/* The filter lets no VLAN through at first. */
		if (i)
			break;
		assert_int_equal(driver->cx3->counters.rx_filtered, 1);
		driver->cx3->port.vlans[0] = BIT(7);
	}
	completion = driver_completion(driver);
	assert_int_equal(from_be32(completion->vlan_and_qpn), COMPLETION_HAS_VLAN | RECEIVE_QPN);
	assert_int_equal(from_be16(completion->vlan), 7);
	assert_int_equal(from_be32(completion->byte_count), FRAME_LENGTH);
	assert_memory_equal(driver_page(driver, DATA), tcp_frame, FRAME_LENGTH);
}

static void only_own_frames_are_taken(void **state)
{
	struct driver *driver = *state;
	struct cx3_port *port = &driver->cx3->port;
	static const struct {
		uint8_t mac[MAC_SIZE];
		bool filters, is_promiscuous, is_taken;
	} table[] = {
		{ { 2, 0, 0, 0xc3, 0, 1 }, true, false, true },
		{ { 2, 0, 0, 0xc3, 0, 9 }, true, false, false },
		{ { 2, 0, 0, 0xc3, 0, 9 }, true, true, true },
		{ { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff }, true, false, true },
		{ { 1, 0, 0x5e, 0, 0, 1 }, true, false, true },
		{ { 1, 0, 0x5e, 0, 0, 2 }, true, false, false },
		{ { 1, 0, 0x5e, 0, 0, 2 }, false, false, true },
	};

	/* The list begins anew with the second. */
	assert_int_equal(driver_command(driver, SET_MULTICAST_FILTER, MULTICAST_CONFIGURE, 1,
					0x01005e000002), COMMAND_OK);
	assert_int_equal(driver_command(driver, SET_MULTICAST_FILTER, MULTICAST_CONFIGURE, 1,
					MULTICAST_CLEAR | 0xffffffffffff), COMMAND_OK);
	assert_int_equal(driver_command(driver, SET_MULTICAST_FILTER, MULTICAST_CONFIGURE, 1,
					0x01005e000001), COMMAND_OK);
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		uint8_t frame[FRAME_LENGTH];

		assert_int_equal(driver_command(driver, SET_MULTICAST_FILTER,
						table[i].filters ? MULTICAST_ENABLE :
								   MULTICAST_DISABLE, 1, 0),
				 COMMAND_OK);
		port->is_promiscuous = table[i].is_promiscuous;
		port->promiscuous_qpn = RECEIVE_QPN;
		memcpy(frame, tcp_frame, FRAME_LENGTH);
		memcpy(frame, table[i].mac, MAC_SIZE);
		driver_give_buffer(driver, QUEUE_RECEIVE, DATA);
		cx3_receive(driver->cx3, frame, FRAME_LENGTH);
		assert_int_equal(!!driver_completion(driver), table[i].is_taken);
	}
}

/* --- the port --- */

static void link_is_told(void **state)
{
	struct driver *driver = *state;
	const struct event *event;

	while (driver_event(driver))
		;
	cx3_set_light(driver->cx3, false);
	event = driver_event(driver);
	assert_int_equal(event->type, EVENT_PORT_CHANGE);
	assert_int_equal(event->subtype, PORT_CHANGE_DOWN);
	assert_int_equal(from_be32(event->port_change.port), 1 << PORT_CHANGE_SHIFT);
	put(driver);
	driver_ring(driver, SEND_QPN);
	assert_nothing_sent(driver);
	assert_int_equal(driver->cx3->counters.tx_lost, 1);
	cx3_set_light(driver->cx3, true);
	assert_int_equal(driver_event(driver)->subtype, PORT_CHANGE_ACTIVE);
	/* Twice around the queue of events. */
	for (unsigned int i = 0; i < ENTRIES; i++) {
		cx3_set_light(driver->cx3, false);
		assert_int_equal(driver_event(driver)->subtype, PORT_CHANGE_DOWN);
		cx3_set_light(driver->cx3, true);
		assert_int_equal(driver_event(driver)->subtype, PORT_CHANGE_ACTIVE);
		assert_null(driver_event(driver));
	}
}

static uint64_t statistic(struct driver *driver, size_t offset)
{
	be64 value;

	memcpy(&value, driver_page(driver, MAILBOX_OUT) + offset, sizeof(value));
	return from_be64(value);
}

static void frames_are_counted(void **state)
{
	struct driver *driver = *state;
	uint8_t frame[LARGEST_FRAME];

	for (int i = 0; i < 3; i++)
		put(driver);
	driver_ring(driver, SEND_QPN);
	memcpy(frame, tcp_frame, FRAME_LENGTH);
	cx3_receive(driver->cx3, frame, FRAME_LENGTH);
	assert_int_equal(driver_command(driver, DUMP_ETH_STATS, 0, 1, 0), COMMAND_OK);
	/* Of en_port.h: TTOT_novlan, TOCT_novlan, T127_novlan, RTOT_novlan. */
	assert_int_equal(statistic(driver, offsetof(struct port_statistics, tx_frames[8].all)), 3);
	assert_int_equal(statistic(driver, offsetof(struct port_statistics, tx_octets[8].good)),
			 3 * (FRAME_LENGTH + 4));
	assert_int_equal(statistic(driver, offsetof(struct port_statistics, tx_sizes[1][8])), 3);
	assert_int_equal(statistic(driver, offsetof(struct port_statistics, rx_frames[8].all)), 1);
	/* Asked with "and begin anew", it still says what was. */
	assert_int_equal(driver_command(driver, DUMP_ETH_STATS, 0, 1 | BIT(8), 0), COMMAND_OK);
	assert_int_equal(statistic(driver, offsetof(struct port_statistics, tx_frames[8].all)), 3);
	assert_int_equal(driver_command(driver, DUMP_ETH_STATS, 0, 1, 0), COMMAND_OK);
	assert_int_equal(statistic(driver, offsetof(struct port_statistics, tx_frames[8].all)), 0);
}

static void capabilities_say_whether_there_is_blueflame(void **state)
{
	static const struct {
		enum cx3_blueflame_mode mode;
		bool is_vf;
		uint8_t blueflame, log_register;
	} table[] = {
		{ BLUEFLAME_OFF, false, 0, 0 },
		{ BLUEFLAME_TRAPPED, false, 0x80, 9 },
		{ BLUEFLAME_MAPPED, false, 0x80, 9 },
		{ BLUEFLAME_TRAPPED, true, 0, 9 },
	};
	struct driver *driver = *state;

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		const uint8_t *answer = driver_page(driver, MAILBOX_OUT);

		driver->cx3->blueflame_mode = table[i].mode;
		driver->cx3->is_vf = table[i].is_vf;
		assert_int_equal(driver_command(driver, QUERY_DEV_CAP, 0, 0, 0), COMMAND_OK);
		assert_int_equal(answer[CAP_BLUEFLAME], table[i].blueflame);
		assert_int_equal(answer[CAP_LOG_BLUEFLAME_REGISTER], table[i].log_register);
	}
}

static void internal_error_is_seen_until_reset(void **state)
{
	struct driver *driver = *state;
	const be32 reset = to_be32(RESET_VALUE);
	be32 word;

	driver->cx3->faults.error_buffer = 0xdeadbeef;
	assert_int_equal(client_read(&driver->client, REGISTER_BAR, ERROR_BUFFER, &word,
				     sizeof(word)), 0);
	assert_int_equal(from_be32(word), 0xdeadbeef);
	assert_int_equal(client_write(&driver->client, REGISTER_BAR, RESET_REGISTER, &reset,
				      sizeof(reset)), 0);
	assert_int_equal(client_read(&driver->client, REGISTER_BAR, ERROR_BUFFER, &word,
				     sizeof(word)), 0);
	assert_int_equal(from_be32(word), 0);
	put(driver);
	driver_ring(driver, SEND_QPN);
	assert_nothing_sent(driver);
	driver->posted = 0;
	driver_set_up(driver);
	put(driver);
	driver_ring(driver, SEND_QPN);
	assert_sent(driver);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(doorbell_sends_all_there_is),
		TEST(queues_go_round),
		TEST(region_is_translated),
		TEST(wrong_memory_is_an_error),
		TEST(large_packet_is_cut),
		TEST(inline_data_is_sent),
		TEST(tag_and_checksums_are_put_in),
		TEST(nops_complete_only_if_signalled),
		TEST(blueflame_sends_what_came_and_nothing_beyond),
		TEST(torn_descriptor_is_fetched),
		TEST(stores_in_another_order_are_told),
		TEST(duplicates_are_not_sent_twice),
		TEST(misuse_is_told),
		TEST(some_queue_pairs_must_not_use_it),
		cmocka_unit_test_setup_teardown(mapped_registers_are_looked_at, start_mapped, stop),
		TEST(armed_queues_interrupt_once),
		TEST(full_queue_is_an_error),
		TEST(memory_that_is_taken_back_is_not_used),
		TEST(commands_in_the_wrong_state_are_refused),
		TEST(frame_is_described),
		TEST(frames_are_spread),
		TEST(tag_is_taken_out),
		TEST(only_own_frames_are_taken),
		TEST(link_is_told),
		TEST(frames_are_counted),
		TEST(capabilities_say_whether_there_is_blueflame),
		TEST(internal_error_is_seen_until_reset),
	};

	return cmocka_run_group_tests_name("connectx3", tests, NULL, NULL);
}
