// SPDX-License-Identifier: GPL-2.0
/* What the chip can do, as the driver asks before it begins. */
#include <string.h>

#include "connectx3.h"

/* So many that the driver finds room for its reserved ranges: main.c:mlx4_dev_cap(). */
#define LOG_QPS		18
#define LOG_SRQS	16
#define LOG_CQS		16
#define LOG_MPTS	19
#define RESERVED_UARS	1
#define LOG_RSS_TABLE	7
/* 64 KiB of TCP. */
#define LOG_GSO_SIZE	16

enum command_status cx3_query_firmware(struct cx3 *cx3, struct command *command)
{
	const struct firmware firmware = {
		.pages = to_be16(16),
		.version_major = to_be16(2),
		.version_minor = to_be16(42),
		.version_subminor = to_be16(5700),
		.interface = to_be16(COMMAND_INTERFACE),
		.log_commands = 4,
		.clear_interrupt = to_be64(CLEAR_INTERRUPT),
		.clear_interrupt_bar = REGISTER_BAR,
		.error_buffer = to_be64(ERROR_BUFFER),
		.error_buffer_words = to_be32(ERROR_BUFFER_WORDS),
	};

	(void)cx3;
	memcpy(command->out, &firmware, offsetof(struct firmware, error_buffer_bar));
	return COMMAND_OK;
}

static void put_bytes(uint8_t *answer)
{
	static const struct {
		enum capability at;
		uint8_t value;
	} bytes[] = {
		{ CAP_LOG_SRQ_SIZE, 14 },
		{ CAP_LOG_QP_SIZE, 15 },
		{ CAP_LOG_RESERVED_QPS, 6 },
		{ CAP_LOG_QPS, LOG_QPS },
		{ CAP_LOG_RESERVED_SRQS, 6 << 4 },
		{ CAP_LOG_SRQS, LOG_SRQS },
		{ CAP_LOG_CQ_SIZE, 22 },
		{ CAP_LOG_RESERVED_CQS, 7 },
		{ CAP_LOG_CQS, LOG_CQS },
		{ CAP_LOG_MPTS, LOG_MPTS },
		{ CAP_LOG_RESERVED_EQS, 2 },
		{ CAP_LOG_EQS, CX3_LOG_EQS },
		{ CAP_LOG_RESERVED_MTTS, 4 << 4 },
		{ CAP_LOG_RESERVED_MRWS, 4 },
		{ CAP_LOG_GSO_SIZE, LOG_GSO_SIZE },
		{ CAP_RSS, CAP_RSS_TOEPLITZ | LOG_RSS_TABLE },
		{ CAP_PORTS, 1 },
		{ CAP_LOG_MESSAGE_SIZE, 30 },
		{ CAP_RESERVED_UARS, RESERVED_UARS << 4 },
		{ CAP_LOG_UAR_MEGABYTES, 0 },
		{ CAP_LOG_PAGE_SIZE, 12 },
		{ CAP_SEND_SEGMENTS, 62 },
		{ CAP_RECEIVE_SEGMENTS, 32 },
		{ CAP_LOG_QPS_PER_GROUP, 8 },
		{ CAP_LOG_GROUPS, 13 },
		{ CAP_LOG_PDS, 17 },
		{ CAP_LOG_XRCDS, 16 },
	};

	for (size_t i = 0; i < sizeof(bytes) / sizeof(*bytes); i++)
		answer[bytes[i].at] = bytes[i].value;
}

static void put_sizes(uint8_t *answer)
{
	static const struct {
		enum capability at;
		uint16_t value;
	} sizes[] = {
		{ CAP_SEND_SIZE, 1008 },   { CAP_RECEIVE_SIZE, 512 }, { CAP_RDMARC_ENTRY, 32 },
		{ CAP_QPC_ENTRY, 256 },	   { CAP_AUX_ENTRY, 64 },     { CAP_ALTC_ENTRY, 64 },
		{ CAP_EQC_ENTRY, 64 },	   { CAP_CQC_ENTRY, 64 },     { CAP_SRQ_ENTRY, 64 },
		{ CAP_CMPT_ENTRY, 64 },	   { CAP_MTT_ENTRY, 8 },      { CAP_DMPT_ENTRY, 64 },
	};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		be16 value = to_be16(sizes[i].value);

		memcpy(answer + sizes[i].at, &value, sizeof(value));
	}
}

static void put_word(uint8_t *answer, enum capability at, uint32_t value)
{
	be32 word = to_be32(value);

	memcpy(answer + at, &word, sizeof(word));
}

/*
 * The physical function takes BlueFlame away from virtual ones by that one bit, and leaves the
 * sizes: fw.c:mlx4_QUERY_DEV_CAP_wrapper().
 */
static void put_blueflame(const struct cx3 *cx3, uint8_t *answer)
{
	if (cx3->blueflame_mode == BLUEFLAME_OFF)
		return;
	answer[CAP_BLUEFLAME] = cx3->is_vf ? 0 : CAP_BLUEFLAME_THERE;
	answer[CAP_LOG_BLUEFLAME_REGISTER] = LOG_BLUEFLAME_REGISTER;
	answer[CAP_LOG_BLUEFLAME_PER_PAGE] = LOG_BLUEFLAME_PER_PAGE;
}

enum command_status cx3_query_capabilities(struct cx3 *cx3, struct command *command)
{
	const be64 icm_size = to_be64(1ULL << 40);

	put_bytes(command->out);
	put_sizes(command->out);
	put_blueflame(cx3, command->out);
	put_word(command->out, CAP_FLAGS, CAP_FLAG_LSO);
	put_word(command->out, CAP_EXTENDED_FLAGS,
		 CAP_EXTENDED_UDP_RSS | (cx3->is_vf ? CAP_EXTENDED_PORT_EVENTS : 0));
	memcpy(command->out + CAP_ICM_SIZE, &icm_size, sizeof(icm_size));
	return COMMAND_OK;
}

enum command_status cx3_query_port(struct cx3 *cx3, struct command *command)
{
	struct port_answer answer = {
		.link_and_type = PORT_ETHERNET | (cx3_port_is_up(&cx3->port) ? PORT_LINK_UP : 0),
		.ethernet_mtu = to_be16(CX3_LARGEST_MTU),
		.speed = PORT_SPEED_40G,
		.width = 2,
		.log_vlans_macs = LOG_PORT_VLANS << 4 | LOG_PORT_MACS,
		.lanes = 0x81,
	};
	uint64_t mac = 0;

	for (unsigned int i = 0; i < MAC_SIZE; i++)
		mac = mac << 8 | cx3->mac[i];
	answer.mac = to_be64(mac);
	memcpy(command->out, &answer, sizeof(answer));
	return COMMAND_OK;
}
