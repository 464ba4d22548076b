/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Commands to the firmware of the BladeEngine 2 and 3, as be_cmds.h and be_cmds.c have them.
 *
 * A command is in a work request block (WRB), either in the mailbox, or in the MCC ring once there
 * is one.
 */
#ifndef COMMAND_H
#define COMMAND_H

#include <stdint.h>

#define MAC_SIZE		6

/* struct be_sge, be_mcc_wrb, MCC_WRB_* */
struct command_sge {
	uint32_t address_low;
	uint32_t address_high;
	uint32_t length;
};

#define WRB_EMBEDDED		0x1
#define WRB_EMBEDDED_SIZE	236

struct command_wrb {
	uint32_t flags;
	uint32_t payload_size;
	uint32_t tag[2];		/* comes back in the completion */
	uint32_t reserved;
	union {
		uint8_t embedded[WRB_EMBEDDED_SIZE];
		struct command_sge sge;
	};
};

/* struct be_mcc_compl, CQE_FLAGS_*, ASYNC_EVENT_* */
struct command_completion {
	uint32_t status;
	uint32_t tag[2];
	uint32_t flags;
};

#define COMPLETION_ASYNC	0x40000000
#define COMPLETION_COMPLETED	0x10000000
#define ASYNC_CODE_SHIFT	8
#define ASYNC_CODE_LINK		1

/* struct be_async_event_link_state: the first words of such a completion */
struct link_event {
	uint8_t port;
	uint8_t status;			/* bit 0: up */
	uint8_t duplex;
	uint8_t speed;
	uint8_t fault;
	uint8_t reserved[7];
	uint32_t flags;
};

/* be_cmd_fw_init(), be_cmd_fw_clean(): the first eight bytes of a WRB that is no command */
#define FIRMWARE_INIT		0xff7856ffff3412ffULL
#define FIRMWARE_CLEAN		0xffddccffffbbaaffULL

/* struct be_cmd_req_hdr */
struct request_header {
	uint8_t opcode;
	uint8_t subsystem;
	uint8_t port;
	uint8_t domain;
	uint32_t timeout;
	uint32_t request_length;
	uint8_t version;
	uint8_t reserved[3];
};

/* struct be_cmd_resp_hdr */
struct response_header {
	uint8_t opcode;
	uint8_t subsystem;
	uint8_t reserved[2];
	uint8_t status;
	uint8_t additional_status;
	uint8_t reserved2[2];
	uint32_t response_length;
	uint32_t actual_length;
};

/* enum mcc_base_status */
enum command_status {
	STATUS_SUCCESS = 0,
	STATUS_FAILED = 1,
	STATUS_ILLEGAL_REQUEST = 2,
	STATUS_ILLEGAL_FIELD = 3,
	STATUS_NOT_SUPPORTED = 66,
	STATUS_INVALID_LENGTH = 116,
};

/* CMD_SUBSYSTEM_* */
enum command_subsystem {
	SUBSYSTEM_COMMON = 1,
	SUBSYSTEM_ETH = 3,
};

/* OPCODE_COMMON_* */
enum common_opcode {
	COMMON_MAC_QUERY = 1,
	COMMON_VLAN_CONFIG = 4,
	COMMON_LINK_STATUS = 5,
	COMMON_CQ_CREATE = 12,
	COMMON_EQ_CREATE = 13,
	COMMON_GET_CONTROLLER_ATTRIBUTES = 32,
	COMMON_RX_FILTER = 34,
	COMMON_GET_FIRMWARE_VERSION = 35,
	COMMON_SET_FLOW_CONTROL = 36,
	COMMON_GET_FLOW_CONTROL = 37,
	COMMON_MODIFY_EQ_DELAY = 41,
	COMMON_INTERFACE_CREATE = 50,
	COMMON_INTERFACE_DESTROY = 51,
	COMMON_MCC_DESTROY = 53,
	COMMON_CQ_DESTROY = 54,
	COMMON_EQ_DESTROY = 55,
	COMMON_QUERY_FIRMWARE_CONFIG = 58,
	COMMON_PMAC_ADD = 59,
	COMMON_PMAC_DEL = 60,
	COMMON_FUNCTION_RESET = 61,
	COMMON_GET_PORT_NAME = 77,
	COMMON_SET_INTERRUPT_ENABLE = 89,
	COMMON_MCC_CREATE_EXT = 90,
	COMMON_SET_DRIVER_FUNCTION_CAP = 103,
	COMMON_GET_FUNCTION_PRIVILEGES = 170,
};

/* OPCODE_ETH_* */
enum eth_opcode {
	ETH_RSS_CONFIG = 1,
	ETH_GET_STATISTICS = 4,
	ETH_TX_CREATE = 7,
	ETH_RX_CREATE = 8,
	ETH_TX_DESTROY = 9,
	ETH_RX_DESTROY = 10,
};

/* struct phys_addr; rings are in pages of 4 KiB */
#define RING_PAGE		4096
#define RING_PAGES		8

struct page_address {
	uint32_t low;
	uint32_t high;
};

/* struct be_cmd_req_eq_create, amap_eq_context */
struct eq_create_request {
	struct request_header header;
	uint16_t page_count;
	uint16_t reserved;
	uint32_t context[4];
	struct page_address pages[RING_PAGES];
};

#define EQ_CONTEXT1_COUNT_SHIFT	26
#define EQ_CONTEXT1_COUNT_BITS	3
#define EQ_CONTEXT1_ARMED	0x80000000

/* struct be_cmd_req_cq_create, amap_cq_context_be */
struct cq_create_request {
	struct request_header header;
	uint16_t page_count;
	uint8_t page_size;
	uint8_t reserved;
	uint32_t context[4];
	struct page_address pages[RING_PAGES];
};

#define CQ_CONTEXT0_COUNT_SHIFT	27
#define CQ_CONTEXT0_COUNT_BITS	2
#define CQ_CONTEXT1_EQ_SHIFT	22
#define CQ_CONTEXT1_EQ_BITS	8
#define CQ_CONTEXT1_ARMED	0x80000000

/* struct be_cmd_req_mcc_ext_create, amap_mcc_context_be */
struct mcc_create_request {
	struct request_header header;
	uint16_t page_count;
	uint16_t reserved;
	uint32_t async_events;		/* bit number is the event's code */
	uint32_t context[4];
	struct page_address pages[RING_PAGES];
};

#define MCC_CONTEXT0_SIZE_SHIFT	16
#define MCC_CONTEXT0_SIZE_BITS	4
#define MCC_CONTEXT0_CQ_SHIFT	22
#define MCC_CONTEXT0_CQ_BITS	10

/* struct be_cmd_req_eth_tx_create */
struct tx_create_request {
	struct request_header header;
	uint8_t page_count;
	uint8_t ulp;
	uint16_t type;
	uint16_t interface;
	uint8_t size;			/* be_encoded_q_len() */
	uint8_t reserved;
	uint32_t reserved2;
	uint16_t cq;
	uint16_t reserved3;
	uint32_t reserved4[13];
	struct page_address pages[RING_PAGES];
};

/* struct be_cmd_req_eth_rx_create */
struct rx_create_request {
	struct request_header header;
	uint16_t cq;
	uint8_t fragment_size;		/* log2 of it */
	uint8_t page_count;
	struct page_address pages[2];
	uint32_t interface;
	uint16_t max_frame_size;
	uint16_t reserved;
	uint32_t is_rss;
};

/* struct be_cmd_req_q_destroy */
struct destroy_request {
	struct request_header header;
	uint16_t id;
	uint16_t bypass_flush;
};

/* struct be_cmd_req_rss_config, RSS_ENABLE_*, RSS_INDIR_TABLE_LEN */
#define RSS_KEY_SIZE		40
#define RSS_TABLE_SIZE		128

struct rss_config_request {
	struct request_header header;
	uint32_t interface;
	uint16_t hashes;
	uint16_t table_size_log2;
	uint8_t key[RSS_KEY_SIZE];
	uint8_t table[RSS_TABLE_SIZE];	/* RSS numbers of rings, not the rings' */
	uint8_t flush;
	uint8_t reserved[3];
};

#define RSS_HASH_IPV4		0x01
#define RSS_HASH_TCP_IPV4	0x02
#define RSS_HASH_IPV6		0x04
#define RSS_HASH_TCP_IPV6	0x08
#define RSS_HASH_UDP_IPV4	0x10
#define RSS_HASH_UDP_IPV6	0x20

/* What all the commands that make a queue answer first. */
struct create_response {
	struct response_header header;
	uint16_t id;
	uint8_t rss_id;
	uint8_t reserved;
};

/* struct be_cmd_req_if_create, be_if_flags */
struct interface_create_request {
	struct request_header header;
	uint32_t version;
	uint32_t capabilities;
	uint32_t enabled;
	uint8_t mac[MAC_SIZE];
	uint8_t reserved;
	uint8_t has_no_mac;
	uint32_t vlan;
};

struct interface_create_response {
	struct response_header header;
	uint32_t id;
	uint32_t pmac;
};

#define INTERFACE_PROMISCUOUS		0x8
#define INTERFACE_BROADCAST		0x10
#define INTERFACE_UNTAGGED		0x20
#define INTERFACE_VLAN_PROMISCUOUS	0x80
#define INTERFACE_ALL_MULTICAST		0x200
#define INTERFACE_PASS_L3L4_ERRORS	0x800
#define INTERFACE_MULTICAST		0x1000

/* struct be_cmd_req_pmac_add, be_cmd_resp_pmac_add, be_cmd_req_pmac_del */
struct pmac_add_request {
	struct request_header header;
	uint32_t interface;
	uint8_t mac[MAC_SIZE];
	uint8_t reserved[2];
};

struct pmac_add_response {
	struct response_header header;
	uint32_t pmac;
};

struct pmac_del_request {
	struct request_header header;
	uint32_t interface;
	uint32_t pmac;
};

/* struct be_cmd_req_rx_filter, BE_MAX_MC */
#define FILTER_MULTICASTS	64

struct rx_filter_request {
	struct request_header header;
	uint32_t global_mask;
	uint32_t global_flags;
	uint32_t mask;
	uint32_t flags;
	uint32_t interface;
	uint32_t multicast_count;
	uint8_t multicasts[FILTER_MULTICASTS][MAC_SIZE];
};

/* struct be_cmd_req_vlan_config */
#define FILTER_VLANS		64

struct vlan_config_request {
	struct request_header header;
	uint8_t interface;
	uint8_t promiscuous;
	uint8_t untagged;
	uint8_t count;
	uint16_t vlans[FILTER_VLANS];
};

/* struct be_cmd_req_mac_query, be_cmd_resp_mac_query, mac_addr */
struct mac_query_request {
	struct request_header header;
	uint8_t type;
	uint8_t permanent;		/* the adapter's own, not the one that was added */
	uint16_t interface;
	uint32_t pmac;
};

struct mac_query_response {
	struct response_header header;
	uint16_t size;			/* of this member and the next */
	uint8_t mac[MAC_SIZE];
};

/* struct be_cmd_resp_link_status, PHY_LINK_* */
struct link_status_response {
	struct response_header header;
	uint8_t port;
	uint8_t duplex;
	uint8_t speed;
	uint8_t fault;
	uint8_t management_duplex;
	uint8_t management_speed;
	uint16_t speed_10mbps;
	uint8_t is_up;
	uint8_t reserved[3];
};

#define LINK_FULL_DUPLEX	2
#define LINK_SPEED_10G		4
#define LINK_10G_IN_10MBPS	1000

/* struct be_cmd_resp_get_fw_version */
struct firmware_version_response {
	struct response_header header;
	char running[32];
	char flashed[32];
};

/* struct be_cmd_req_set_flow_control, be_cmd_resp_get_flow_control */
struct flow_control {
	uint8_t header[16];
	uint16_t tx;
	uint16_t rx;
};

/* struct be_cmd_resp_query_fw_cfg */
struct firmware_config_response {
	struct response_header header;
	uint32_t config_number;
	uint32_t asic_revision;
	uint32_t port;
	uint32_t mode;
	uint32_t reserved[26];
	uint32_t capabilities;
};

/* BE_FUNCTION_CAPS_RSS */
#define FUNCTION_HAS_RSS	0x2

/* struct be_cmd_req_set_func_cap, be_cmd_resp_set_func_cap: alike */
struct function_capability {
	uint8_t header[16];
	uint32_t valid;			/* bits that the next member tells of */
	uint32_t flags;
	uint8_t reserved[212];
};

/* CAPABILITY_BE3_NATIVE_ERX_API: receive completions of version 1 */
#define CAPABILITY_NATIVE	0x4

/* be_cmd_query_port_name() */
struct port_name_response {
	struct response_header header;
	char names[4];
};

/* struct be_cmd_resp_get_fn_privileges */
struct privileges_response {
	struct response_header header;
	uint32_t mask;
};

#endif
