/* SPDX-License-Identifier: GPL-2.0 */
/* Commands to the firmware, as linux/mlx4/cmd.h, cmd.c and fw.c have them. */
#ifndef COMMAND_H
#define COMMAND_H

#include <stdint.h>

#include "hw.h"

#define MAC_SIZE		6
/* MLX4_MAILBOX_SIZE */
#define MAILBOX_SIZE		4096

/* MLX4_CMD_* */
enum opcode {
	QUERY_DEV_CAP = 0x03,
	QUERY_FW = 0x04,
	QUERY_ADAPTER = 0x06,
	INIT_HCA = 0x07,
	CLOSE_HCA = 0x08,
	INIT_PORT = 0x09,
	CLOSE_PORT = 0x0a,
	QUERY_HCA = 0x0b,
	SET_PORT = 0x0c,
	SW2HW_MPT = 0x0d,
	HW2SW_MPT = 0x0f,
	MAP_EQ = 0x12,
	SW2HW_EQ = 0x13,
	HW2SW_EQ = 0x14,
	SW2HW_CQ = 0x16,
	HW2SW_CQ = 0x17,
	RST2INIT_QP = 0x19,
	INIT2RTR_QP = 0x1a,
	RTR2RTS_QP = 0x1b,
	RTS2RTS_QP = 0x1c,
	TO_ERROR_QP = 0x1e,
	TO_RESET_QP = 0x21,
	QUERY_QP = 0x22,
	CONF_SPECIAL_QP = 0x23,
	MODIFY_CQ = 0x2c,
	SYNC_TPT = 0x2f,
	NOP = 0x31,
	MOD_STAT_CFG = 0x34,
	QUERY_PORT = 0x43,
	SET_VLAN_FILTER = 0x47,
	SET_MULTICAST_FILTER = 0x48,
	DUMP_ETH_STATS = 0x49,
	RUN_FW = 0xff6,
	UNMAP_ICM = 0xff9,
	MAP_ICM = 0xffa,
	UNMAP_ICM_AUX = 0xffb,
	MAP_ICM_AUX = 0xffc,
	SET_ICM_SIZE = 0xffd,
	UNMAP_FA = 0xffe,
	MAP_FA = 0xfff,
};

/* CMD_STAT_* */
enum command_status {
	COMMAND_OK = 0x00,
	COMMAND_INTERNAL_ERROR = 0x01,
	COMMAND_BAD_OPCODE = 0x02,
	COMMAND_BAD_PARAMETER = 0x03,
	COMMAND_BAD_STATE = 0x04,
	COMMAND_BAD_RESOURCE = 0x05,
	COMMAND_EXCEEDS_LIMIT = 0x08,
	COMMAND_BAD_RESOURCE_STATE = 0x09,
	COMMAND_BAD_INDEX = 0x0a,
	COMMAND_ICM_ERROR = 0x0c,
	COMMAND_BAD_QP_STATE = 0x10,
};

/**
 * struct command - a command being executed
 * @opcode: which
 * @modifier: opcode modifier
 * @in_modifier: often the number of what it is about
 * @in_param: address of @in, or a number
 * @out_param: address of @out; or the number that is the answer
 * @in: what the driver has written, zeros beyond what the command needs
 * @out: the answer, zeros at first
 */
struct command {
	unsigned int opcode;
	unsigned int modifier;
	uint32_t in_modifier;
	uint64_t in_param;
	uint64_t out_param;
	uint8_t in[MAILBOX_SIZE];
	uint8_t out[MAILBOX_SIZE];
};

/* --- QUERY_FW_*: the chip's firmware, and where its registers are --- */

struct firmware {
	be16 pages;
	be16 version_major;
	be16 version_subminor;
	be16 version_minor;
	uint8_t reserved1[2];
	be16 interface;
	uint8_t reserved2[3];
	uint8_t log_commands;
	uint8_t reserved3[16];
	be64 clear_interrupt;
	uint8_t clear_interrupt_bar;
	uint8_t reserved4[7];
	be64 error_buffer;
	be32 error_buffer_words;
	uint8_t error_buffer_bar;
};

/* MLX4_COMMAND_INTERFACE_NEW_PORT_CMDS: port commands as they are here */
#define COMMAND_INTERFACE	3

/* --- QUERY_DEV_CAP_*_OFFSET: bytes, but where a width is said --- */

enum capability {
	CAP_LOG_SRQ_SIZE = 0x10,
	CAP_LOG_QP_SIZE = 0x11,
	CAP_LOG_RESERVED_QPS = 0x12,
	CAP_LOG_QPS = 0x13,
	CAP_LOG_RESERVED_SRQS = 0x14,	/* high 4 bits */
	CAP_LOG_SRQS = 0x15,
	CAP_LOG_CQ_SIZE = 0x19,
	CAP_LOG_RESERVED_CQS = 0x1a,
	CAP_LOG_CQS = 0x1b,
	CAP_LOG_MPTS = 0x1d,
	CAP_LOG_RESERVED_EQS = 0x1e,
	CAP_LOG_EQS = 0x1f,
	CAP_LOG_RESERVED_MTTS = 0x20,	/* high 4 bits */
	CAP_LOG_RESERVED_MRWS = 0x22,
	CAP_LOG_GSO_SIZE = 0x2d,
	CAP_RSS = 0x2e,
	CAP_PORTS = 0x37,
	CAP_LOG_MESSAGE_SIZE = 0x38,
	CAP_EXTENDED_FLAGS = 0x40,	/* 32 bits */
	CAP_FLAGS = 0x44,		/* 32 bits */
	CAP_RESERVED_UARS = 0x48,	/* high 4 bits */
	CAP_LOG_UAR_MEGABYTES = 0x49,
	CAP_LOG_PAGE_SIZE = 0x4b,
	CAP_BLUEFLAME = 0x4c,
	CAP_LOG_BLUEFLAME_REGISTER = 0x4d,
	CAP_LOG_BLUEFLAME_PER_PAGE = 0x4e,
	CAP_SEND_SEGMENTS = 0x51,
	CAP_SEND_SIZE = 0x52,		/* 16 bits */
	CAP_RECEIVE_SEGMENTS = 0x55,
	CAP_RECEIVE_SIZE = 0x56,	/* 16 bits */
	CAP_LOG_QPS_PER_GROUP = 0x61,
	CAP_LOG_GROUPS = 0x63,
	CAP_LOG_PDS = 0x65,
	CAP_LOG_XRCDS = 0x67,
	CAP_RDMARC_ENTRY = 0x80,	/* 16 bits, as those that follow */
	CAP_QPC_ENTRY = 0x82,
	CAP_AUX_ENTRY = 0x84,
	CAP_ALTC_ENTRY = 0x86,
	CAP_EQC_ENTRY = 0x88,
	CAP_CQC_ENTRY = 0x8a,
	CAP_SRQ_ENTRY = 0x8c,
	CAP_CMPT_ENTRY = 0x8e,
	CAP_MTT_ENTRY = 0x90,
	CAP_DMPT_ENTRY = 0x92,
	CAP_ICM_SIZE = 0xa0,		/* 64 bits */
};

#define CAP_BLUEFLAME_THERE	0x80
#define CAP_RSS_TOEPLITZ	0x10
/* en_main.c:mlx4_en_add(): LSO_support; MLX4_DEV_CAP_FLAG_*, bits of which are in two halves */
#define CAP_FLAG_LSO		BIT(15)
#define CAP_EXTENDED_UDP_RSS	BIT(40 - 32)
#define CAP_EXTENDED_PORT_EVENTS BIT(59 - 32)

/* --- QUERY_PORT_*, struct mlx4_en_query_port_context --- */

struct port_answer {
	uint8_t link_and_type;
	uint8_t autonegotiation;
	be16 ethernet_mtu;
	uint8_t reserved1;
	uint8_t speed;
	uint8_t width;
	uint8_t log_gids_pkeys;
	uint8_t reserved2[2];
	uint8_t log_vlans_macs;
	uint8_t lanes;
	uint8_t reserved3[4];
	be64 mac;
};

#define PORT_LINK_UP		0x80
#define PORT_ETHERNET		0x02
#define PORT_SPEED_40G		0x40
#define LOG_PORT_MACS		7
#define LOG_PORT_VLANS		7
#define PORT_MACS		BIT(LOG_PORT_MACS)

/* --- SET_PORT: mlx4.h:struct mlx4_set_port_general_context, mlx4_set_port_rqp_calc_context --- */

/* MLX4_SET_PORT_*: in_modifier has that from bit 8 on */
enum port_setting {
	PORT_GENERAL = 0,
	PORT_RECEIVERS = 1,
	PORT_MAC_TABLE = 2,
};

#define PORT_SETTING_SHIFT	8
/* MLX4_SET_PORT_ETH_OPCODE */
#define PORT_SETTING_ETHERNET	1

struct port_general {
	uint8_t reserved1[3];
	uint8_t valid;
	uint8_t reserved2[2];
	be16 mtu;			/* of the whole frame, with its checksum */
};

#define PORT_GENERAL_MTU	BIT(0)

struct port_receivers {
	be32 base_qpn;			/* of the first entry in the table of MAC addresses */
	uint8_t reserved[16];
	be32 promiscuous;
	be32 multicast;
};

#define PORT_PROMISCUOUS	BIT(31)
#define PORT_MULTICAST_SHIFT	30
#define MAC_VALID		BIT_ULL(63)

/* --- SET_MCAST_FLTR: MLX4_MCAST_*, in the opcode modifier --- */

enum multicast_setting {
	MULTICAST_CONFIGURE = 0,
	MULTICAST_DISABLE = 1,
	MULTICAST_ENABLE = 2,
};

#define MULTICAST_CLEAR		BIT_ULL(63)

/* --- SET_VLAN_FLTR: struct mlx4_set_vlan_fltr_mbox; its last word has the first 32 VLANs --- */

#define VLAN_FILTER_WORDS	128

/* --- MAP_ICM: fw.c:mlx4_map_cmd() --- */

struct icm_chunk {
	be64 address;
	be64 memory;			/* low 5 bits: log2 of the size in pages */
};

#define ICM_LOG_PAGES_BITS	5
#define ICM_CHUNKS		(MAILBOX_SIZE / sizeof(struct icm_chunk))

/* INIT_HCA_*_OFFSET */
#define HCA_LOG_QPS		0x37
#define HCA_LOG_CQS		0x57
#define HCA_LOG_MPTS		0xfb
#define HCA_MTT_BASE		0x100
#define HCA_SIZE		0x200

#endif
