// SPDX-License-Identifier: GPL-2.0
/* The wire, with the test at its other end. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "wire.h"

#define SIZE	1000

struct cable {
	struct wire wire;
	int far_end;
	uint8_t sent[SIZE];
	uint8_t got[LARGEST_FRAME];
};

static int plug_in(void **state, int type)
{
	struct cable *cable = calloc(1, sizeof(*cable));
	int ends[2];

	assert_non_null(cable);
	assert_int_equal(socketpair(AF_UNIX, type | SOCK_NONBLOCK, 0, ends), 0);
	wire_init(&cable->wire);
	assert_int_equal(wire_join(&cable->wire, ends[0]), 0);
	cable->far_end = ends[1];
	for (size_t i = 0; i < SIZE; i++)
		cable->sent[i] = i * 7 + 1;
	*state = cable;
	return 0;
}

static int plug_in_datagrams(void **state)
{
	return plug_in(state, SOCK_DGRAM);
}

static int plug_in_stream(void **state)
{
	return plug_in(state, SOCK_STREAM);
}

static int unplug(void **state)
{
	struct cable *cable = *state;

	wire_exit(&cable->wire);
	if (cable->far_end >= 0)
		close(cable->far_end);
	free(cable);
	return 0;
}

static void hang_up(struct cable *cable)
{
	close(cable->far_end);
	cable->far_end = -1;
}

static void put(struct cable *cable, const void *bytes, size_t size)
{
	assert_int_equal(write(cable->far_end, bytes, size), size);
}

static void put_prefix(struct cable *cable, uint32_t size)
{
	uint32_t prefix = htonl(size);

	put(cable, &prefix, sizeof(prefix));
}

static size_t receive(struct cable *cable)
{
	return wire_receive(&cable->wire, cable->got, sizeof(cable->got));
}

static void datagrams_go_both_ways(void **state)
{
	struct cable *cable = *state;

	assert_true(wire_send(&cable->wire, cable->sent, SIZE));
	assert_int_equal(read(cable->far_end, cable->got, sizeof(cable->got)), SIZE);
	assert_memory_equal(cable->got, cable->sent, SIZE);
	put(cable, cable->sent, SIZE);
	put(cable, cable->sent, SIZE / 2);
	assert_int_equal(receive(cable), SIZE);
	assert_int_equal(receive(cable), SIZE / 2);
	assert_int_equal(receive(cable), 0);
}

static void short_frames_are_padded(void **state)
{
	struct cable *cable = *state;

	memset(cable->got, 0xff, SHORTEST_FRAME);
	put_prefix(cable, ETHERNET_HEADER);
	put(cable, cable->sent, ETHERNET_HEADER);
	assert_int_equal(receive(cable), SHORTEST_FRAME);
	assert_memory_equal(cable->got, cable->sent, ETHERNET_HEADER);
	for (size_t i = ETHERNET_HEADER; i < SHORTEST_FRAME; i++)
		assert_int_equal(cable->got[i], 0);
}

static void stream_sends_the_size_first(void **state)
{
	struct cable *cable = *state;
	uint32_t prefix;

	assert_true(wire_send(&cable->wire, cable->sent, SIZE));
	assert_int_equal(read(cable->far_end, cable->got, sizeof(cable->got)),
			 sizeof(prefix) + SIZE);
	memcpy(&prefix, cable->got, sizeof(prefix));
	assert_int_equal(ntohl(prefix), SIZE);
	assert_memory_equal(cable->got + sizeof(prefix), cable->sent, SIZE);
}

static void stream_comes_in_pieces(void **state)
{
	struct cable *cable = *state;
	uint32_t prefix = htonl(SIZE);

	for (size_t i = 0; i < sizeof(prefix); i++) {
		put(cable, (uint8_t *)&prefix + i, 1);
		assert_int_equal(receive(cable), 0);
	}
	for (size_t i = 0; i < SIZE - 1; i++) {
		put(cable, cable->sent + i, 1);
		assert_int_equal(receive(cable), 0);
	}
	put(cable, cable->sent + SIZE - 1, 1);
	assert_int_equal(receive(cable), SIZE);
	assert_memory_equal(cable->got, cable->sent, SIZE);
}

static void stream_has_several_frames(void **state)
{
	struct cable *cable = *state;

	for (int i = 0; i < 3; i++) {
		put_prefix(cable, SIZE - i);
		put(cable, cable->sent + i, SIZE - i);
	}
	for (int i = 0; i < 3; i++) {
		assert_int_equal(receive(cable), SIZE - i);
		assert_memory_equal(cable->got, cable->sent + i, SIZE - i);
	}
	assert_int_equal(receive(cable), 0);
	assert_true(cable->wire.fd >= 0);
}

static void stream_without_frames_is_unplugged(void **state)
{
	struct cable *cable = *state;

	put_prefix(cable, LARGEST_FRAME + 1);
	assert_int_equal(receive(cable), 0);
	assert_int_equal(cable->wire.fd, -1);
	assert_false(wire_send(&cable->wire, cable->sent, SIZE));
}

static void frame_that_nobody_has_room_for_is_not_written(void **state)
{
	struct cable *cable = *state;

	put_prefix(cable, SIZE);
	put(cable, cable->sent, SIZE);
	memset(cable->got, 0, SIZE);
	assert_int_equal(wire_receive(&cable->wire, cable->got, SIZE - 1), 0);
	assert_int_equal(cable->got[0], 0);
}

static void stream_that_ends_is_unplugged(void **state)
{
	struct cable *cable = *state;

	put_prefix(cable, SIZE);
	hang_up(cable);
	assert_int_equal(receive(cable), 0);
	assert_int_equal(cable->wire.fd, -1);
}

static void sending_to_nobody_is_no_signal(void **state)
{
	struct cable *cable = *state;

	hang_up(cable);
	assert_false(wire_send(&cable->wire, cable->sent, SIZE));
	assert_int_equal(cable->wire.fd, -1);
}

/* Large ones, of which the kernel would take a part. */
static void full_stream_loses_whole_frames(void **state)
{
	struct cable *cable = *state;
	uint8_t frame[LARGEST_FRAME];
	unsigned int sent = 0, got = 0;
	struct wire other;

	memset(frame, 0x5a, sizeof(frame));
	while (wire_send(&cable->wire, frame, sizeof(frame)))
		sent++;
	assert_true(cable->wire.fd >= 0);
	assert_false(wire_has_room(&cable->wire));
	wire_init(&other);
	assert_int_equal(wire_join(&other, cable->far_end), 0);
	while (wire_receive(&other, cable->got, sizeof(cable->got)) == sizeof(frame)) {
		assert_memory_equal(cable->got, frame, sizeof(frame));
		got++;
	}
	assert_int_equal(got, sent);
	assert_true(wire_send(&cable->wire, cable->sent, SIZE));
}

int main(void)
{
#define ON_DATAGRAMS(test) cmocka_unit_test_setup_teardown(test, plug_in_datagrams, unplug)
#define ON_STREAM(test) cmocka_unit_test_setup_teardown(test, plug_in_stream, unplug)
	const struct CMUnitTest tests[] = {
		ON_DATAGRAMS(datagrams_go_both_ways),
		ON_STREAM(short_frames_are_padded),
		ON_STREAM(stream_sends_the_size_first),
		ON_STREAM(stream_comes_in_pieces),
		ON_STREAM(stream_has_several_frames),
		ON_STREAM(stream_without_frames_is_unplugged),
		ON_STREAM(frame_that_nobody_has_room_for_is_not_written),
		ON_STREAM(stream_that_ends_is_unplugged),
		ON_STREAM(sending_to_nobody_is_no_signal),
		ON_STREAM(full_stream_loses_whole_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
