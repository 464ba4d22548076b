/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Registers, contexts and descriptors of the ConnectX-3, as the drivers mlx4_core and mlx4_en use
 * them. The source of each is a structure of include/linux/mlx4 or of
 * drivers/net/ethernet/mellanox/mlx4, which is named. The chip is big-endian.
 */
#ifndef HW_H
#define HW_H

#include <stddef.h>
#include <stdint.h>

#include "bytes.h"

#define BIT(number)	(1U << (number))
#define BIT_ULL(number)	(1ULL << (number))

static inline uint32_t bits(uint32_t value, unsigned int first, unsigned int count)
{
	return value >> first & ((1U << count) - 1);
}

/* --- identity: main.c:mlx4_pci_table --- */

#define CX3_VENDOR		0x15b3
#define CX3_DEVICE		0x1003
#define CX3_SUBSYSTEM		0x0055

/* --- BARs: main.c:mlx4_init_one() --- */

#define REGISTER_BAR		0
#define REGISTER_BAR_SIZE	0x100000
#define UAR_BAR			2
#define UAR_BAR_SIZE		0x200000
/* main.c:map_bf_area(): UAR pages come first, then a BlueFlame page for each */
#define UAR_PAGE		4096
#define UAR_AREA_SIZE		0x100000
#define UAR_PAGES		(UAR_AREA_SIZE / UAR_PAGE)
#define BLUEFLAME_AREA		UAR_AREA_SIZE
#define BLUEFLAME_AREA_SIZE	(UAR_BAR_SIZE - BLUEFLAME_AREA)

/* --- registers --- */

/* cmd.c:mlx4_cmd_init(), HCR_*; the last word starts the command */
#define HCR			0x80680
#define HCR_WORDS		7
#define HCR_IN_PARAM		0
#define HCR_IN_MODIFIER		2
#define HCR_OUT_PARAM		3
#define HCR_TOKEN		5
#define HCR_STATUS		6
#define HCR_OPCODE_BITS		12
#define HCR_OPMOD_SHIFT		12
#define HCR_OPMOD_BITS		4
#define HCR_TOGGLE		BIT(21)
#define HCR_EVENT		BIT(22)
#define HCR_GO			BIT(23)
#define HCR_STATUS_SHIFT	24
#define HCR_TOKEN_SHIFT		16
/* reset.c:mlx4_reset() */
#define RESET_REGISTER		0xf0010
#define RESET_VALUE		1
/* catas.c:mlx4_start_catas_poll(), where QUERY_FW says that it is */
#define ERROR_BUFFER		0xe0000
#define ERROR_BUFFER_WORDS	16
/* Where QUERY_FW says that interrupts without MSI-X are cleared. */
#define CLEAR_INTERRUPT		0xf00d8

/* --- UAR page: struct mlx4_uar --- */

/* linux/mlx4/doorbell.h: MLX4_SEND_DOORBELL, MLX4_CQ_DOORBELL; eq.c:mlx4_get_eq_uar() */
#define UAR_SEND_DOORBELL	0x14
#define UAR_CQ_DOORBELL		0x20
#define UAR_EQ_DOORBELLS	0x800
#define UAR_EQ_DOORBELL_SIZE	8
#define UAR_EQS_PER_PAGE	4
#define SEND_DOORBELL_QPN_SHIFT	8
/* linux/mlx4/cq.h:mlx4_cq_arm() */
#define CQ_DOORBELL_NUMBER_BITS	24
/* eq.c:eq_set_ci() */
#define EQ_DOORBELL_ARM		BIT(31)

/* Consumer and producer indices, and most numbers of objects. */
#define INDEX_BITS		24
#define INDEX_MASK		((1U << INDEX_BITS) - 1)

/* --- BlueFlame: pd.c:mlx4_bf_alloc() --- */

/* A register has two halves, and a descriptor goes to one of them in turn. */
#define LOG_BLUEFLAME_REGISTER	9
#define LOG_BLUEFLAME_PER_PAGE	3
#define BLUEFLAME_BUFFER	(1U << (LOG_BLUEFLAME_REGISTER - 1))
#define BLUEFLAME_BUFFERS	(BLUEFLAME_AREA_SIZE / BLUEFLAME_BUFFER)
#define BLUEFLAME_PER_UAR	(UAR_PAGE / BLUEFLAME_BUFFER)
/* qp.c, mlx4.h:MLX4_BF_QP_SKIP_MASK: these bits lie where a descriptor has "insert a VLAN tag" */
#define BLUEFLAME_QPN_SKIP	0xc0
#define BLUEFLAME_INDEX_SHIFT	8
#define BLUEFLAME_INDEX_BITS	16

/* --- translation: mr.c --- */

#define ICM_PAGE_SHIFT		12
#define MTT_ENTRY_SIZE		8
#define MTT_PRESENT		1

/* --- event queue: struct mlx4_eq_context, mlx4_eqe --- */

struct eq_context {
	be32 flags;
	uint8_t reserved1[8];
	uint8_t log_size;
	uint8_t reserved2[10];
	uint8_t vector;
	uint8_t log_page_size;
	uint8_t reserved3[2];
	uint8_t mtt_high;
	be32 mtt_low;
	uint8_t reserved4[32];
};

struct event {
	uint8_t reserved1;
	uint8_t type;
	uint8_t reserved2;
	uint8_t subtype;
	union {
		uint8_t raw[24];
		struct {
			be32 cqn;
		} completion;
		struct {
			uint8_t reserved1[2];
			be16 token;
			uint8_t reserved2[7];
			uint8_t status;
			be64 out_param;
		} command;
		struct {
			be32 cqn;
			uint8_t reserved[7];
			uint8_t syndrome;
		} cq_error;
		struct {
			uint8_t reserved[8];
			be32 port;		/* high 4 bits */
		} port_change;
	};
	uint8_t reserved3[3];
	uint8_t owner;
};

_Static_assert(sizeof(struct event) == 32, "struct mlx4_eqe");

#define PORT_CHANGE_SHIFT	28
#define CQ_ERROR_OVERRUN	1
/* The top bit of an entry's last byte says whose it is, and changes its meaning with each round. */
#define OWNER_BIT		0x80

/* MLX4_EVENT_TYPE_*, MLX4_PORT_CHANGE_SUBTYPE_* */
enum event_type {
	EVENT_COMPLETION = 0x00,
	EVENT_CQ_ERROR = 0x04,
	EVENT_PORT_CHANGE = 0x09,
	EVENT_COMMAND = 0x0a,
	EVENT_TYPES = 64,
};

enum port_change {
	PORT_CHANGE_DOWN = 1,
	PORT_CHANGE_ACTIVE = 4,
};

/* --- completion queue: struct mlx4_cq_context, mlx4_cqe, mlx4_err_cqe --- */

struct cq_context {
	be32 flags;
	uint8_t reserved1[8];
	be32 log_size_and_uar;
	uint8_t reserved2[7];
	uint8_t eqn;
	uint8_t log_page_size;
	uint8_t reserved3[2];
	uint8_t mtt_high;
	be32 mtt_low;
	uint8_t reserved4[24];
	be64 doorbell_record;
};

_Static_assert(sizeof(struct cq_context) == 64, "struct mlx4_cq_context");

#define CQ_LOG_SIZE_SHIFT	24
#define CQ_LOG_SIZE_BITS	5

struct completion {
	be32 vlan_and_qpn;
	be32 hash;
	be32 reserved1;
	be16 vlan;
	be16 reserved2;
	be16 status;
	uint8_t ipv6_extensions;
	uint8_t bad_fcs;
	be32 byte_count;
	be16 index;
	be16 checksum;
	uint8_t reserved3[3];
	uint8_t opcode_and_owner;
};

struct error_completion {
	be32 qpn;
	uint8_t reserved1[20];
	be16 index;
	uint8_t vendor_syndrome;
	uint8_t syndrome;
	uint8_t reserved2[3];
	uint8_t opcode_and_owner;
};

_Static_assert(sizeof(struct completion) == 32, "struct mlx4_cqe");
_Static_assert(sizeof(struct error_completion) == 32, "struct mlx4_err_cqe");

#define COMPLETION_HAS_VLAN	BIT(29)
#define COMPLETION_IS_SEND	0x40
#define COMPLETION_RECEIVED	0x01
#define COMPLETION_ERROR	0x1e
#define STATUS_IPV4		BIT(6)
#define STATUS_IPV4_FRAGMENT	BIT(7)
#define STATUS_IPV6		BIT(8)
#define STATUS_TCP		BIT(10)
#define STATUS_UDP		BIT(11)
#define STATUS_IP_OK		BIT(12)
#define CHECKSUM_OK		0xffff

/* MLX4_CQE_SYNDROME_* */
enum syndrome {
	SYNDROME_NONE = 0,
	SYNDROME_LOCAL_LENGTH = 0x01,
	SYNDROME_LOCAL_OPERATION = 0x02,
	SYNDROME_LOCAL_PROTECTION = 0x04,
	SYNDROME_FLUSHED = 0x05,
	SYNDROMES = 0x100,
};

/* --- queue pair: struct mlx4_qp_context, mlx4_rss_context --- */

#define RSS_KEY_SIZE		40

struct qp_context {
	be32 flags;
	be32 pd;
	uint8_t mtu;
	uint8_t rq_size_stride;
	uint8_t sq_size_stride;
	uint8_t reserved1;
	be32 uar;
	be32 number;
	uint8_t reserved2[40];
	/* struct mlx4_rss_context, in a queue pair that only spreads */
	be32 rss_base;
	be32 rss_default;
	uint8_t rss_reserved[2];
	uint8_t rss_function;
	uint8_t rss_flags;
	uint8_t rss_key[RSS_KEY_SIZE];
	be32 rss_base_udp;
	uint8_t reserved3[8];
	be32 send_cq;
	uint8_t reserved4[28];
	be32 receive_cq;
	be64 doorbell_record;
	uint8_t reserved5[24];
	be32 param3;
	be32 reserved6;
	uint8_t log_page_size;
	uint8_t reserved7[2];
	uint8_t mtt_high;
	be32 mtt_low;
	uint8_t reserved8[40];
};

_Static_assert(offsetof(struct qp_context, send_cq) == 124, "struct mlx4_qp_context");
_Static_assert(offsetof(struct qp_context, receive_cq) == 156, "struct mlx4_qp_context");
_Static_assert(offsetof(struct qp_context, param3) == 192, "struct mlx4_qp_context");
_Static_assert(sizeof(struct qp_context) == 248, "struct mlx4_qp_context");

#define QP_STATE_SHIFT		28
#define QP_SERVICE_SHIFT	16
#define QP_SERVICE_BITS		8
#define QP_SERVICE_RAW		7	/* MLX4_QP_ST_MLX */
#define QP_IS_RSS		BIT(13)
#define QP_LOG_SIZE_SHIFT	3
#define QP_STRIDE_BITS		3
#define QP_SMALLEST_STRIDE	4
#define QP_KEEP_VLAN		BIT(30)
#define RSS_LOG_SIZE_SHIFT	24
#define RSS_LOG_SIZE_BITS	4
#define RSS_TOEPLITZ		1
#define RSS_UDP_IPV6		BIT(0)
#define RSS_UDP_IPV4		BIT(1)
#define RSS_TCP_IPV6		BIT(2)
#define RSS_IPV6		BIT(3)
#define RSS_TCP_IPV4		BIT(4)
#define RSS_IPV4		BIT(5)

/* --- work requests: struct mlx4_wqe_ctrl_seg, mlx4_wqe_data_seg, mlx4_wqe_lso_seg --- */

/* Descriptors are made of blocks of this size, and counted by it. */
#define LOG_SEND_BLOCK		6
#define SEND_BLOCK		64
#define SEGMENT			16
#define LARGEST_WQE		1024

struct wqe_control {
	be32 owner_opcode;
	be16 vlan;
	uint8_t insert_vlan;
	uint8_t size;			/* low 6 bits: segments */
	be32 flags;
	be32 immediate;
};

struct wqe_data {
	be32 byte_count;
	be32 key;
	be64 address;
};

#define WQE_OWNER		BIT(31)
#define WQE_OPCODE_BITS		5
#define WQE_SIZE_MASK		0x3f
#define WQE_INSERT_CVLAN	0x40
#define WQE_INSERT_SVLAN	0x80
#define WQE_NOTIFY		0x0c
#define WQE_IP_CHECKSUM		BIT(4)
#define WQE_L4_CHECKSUM		BIT(5)
#define WQE_INLINE		BIT(31)
#define WQE_MSS_SHIFT		16
#define WQE_HEADER_BITS		16

/* MLX4_OPCODE_* */
enum wqe_opcode {
	WQE_NOP = 0x00,
	WQE_SEND = 0x0a,
	WQE_LSO = 0x0e,
};

/* --- memory protection: struct mlx4_mpt_entry --- */

struct mpt_entry {
	be32 flags;
	be32 qpn;
	be32 key;
	be32 pd_flags;
	be64 start;
	be64 length;
	be32 lkey;
	be32 windows;
	uint8_t reserved[4];
	be64 mtt;
	be32 mtt_size;
	be32 page_shift;
	be32 first_byte_offset;
};

#define MPT_PHYSICAL		BIT(9)
#define PD_MASK			0xffffff

#endif
