/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Registers and descriptors of the BladeEngine 2 and 3 (OneConnect), as be2net uses them.
 *
 * There is no public manual. The source of each is be_hw.h of the driver, in
 * drivers/net/ethernet/emulex/benet, unless said otherwise. The chip is little-endian.
 */
#ifndef HW_H
#define HW_H

#include <stdint.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	       "descriptors are used as the chip has them, which is little-endian");

#define BIT(number)	(1U << (number))

static inline uint32_t bits(uint32_t value, unsigned int first, unsigned int count)
{
	return value >> first & ((1U << count) - 1);
}

/* --- identity: be_main.c:be_dev_ids, be.h --- */

#define BE2_VENDOR		0x19a2
#define BE2_DEVICE		0x0211
#define BE3_DEVICE		0x0221
/* be_map_pci_bars(); that of PCICFG is the chip's choice */
#define BE2_PCICFG_BAR		1
#define BE3_PCICFG_BAR		0
#define PCICFG_BAR_SIZE		0x4000
#define CSR_BAR			2
#define CSR_BAR_SIZE		0x20000
#define DOORBELL_BAR		4
#define DOORBELL_BAR_SIZE	0x20000

/*
 * SLI_INTF_*: in configuration space; type 0 says BladeEngine, function type 0 says PF. Families
 * are LPFC_SLI_INTF_FAMILY_* of drivers/scsi/lpfc/lpfc_hw4.h.
 */
#define SLI_INTF		0x58
#define SLI_INTF_VALID		0xc0000000
#define SLI_INTF_FAMILY_SHIFT	8
#define SLI_FAMILY_BE2		0
#define SLI_FAMILY_BE3		1

/* --- PCICFG BAR: PCICFG_UE_STATUS_* --- */

#define PCICFG_UE_LOW		0xa0
#define PCICFG_UE_HIGH		0xa4

/* --- CSR BAR: SLIPORT_SEMAPHORE_OFFSET_BEx, POST_STAGE_* --- */

#define CSR_POST_STAGE		0xac
#define POST_READY		0xc000
#define POST_ERROR		0xf000

/* --- doorbell BAR --- */

/* MPU_MAILBOX_DB_*; the address comes in two writes: be_cmds.c:be_mbox_notify_wait() */
#define DB_MAILBOX		0x160
#define MAILBOX_READY		BIT(0)
#define MAILBOX_ADDRESS_HIGH	BIT(1)
#define MAILBOX_ADDRESS_SHIFT	2
#define MAILBOX_HIGH_SHIFT	34
#define MAILBOX_LOW_SHIFT	4

/* DB_EQ_*, DB_CQ_*: one register for both */
#define DB_EVENT		0x120
#define DB_EVENT_IS_EQ		BIT(10)
#define DB_EVENT_REARM		BIT(29)
#define DB_EVENT_EQ_ID_BITS	9
#define DB_EVENT_CQ_ID_BITS	10
#define DB_EVENT_POPPED_SHIFT	16
#define DB_EVENT_POPPED_BITS	13

/* DB_TXULP*, DB_RQ_*, DB_MCCQ_* */
#define DB_TX			0x60
#define DB_TX_ID_BITS		11
#define DB_RX			0x100
#define DB_RX_ID_BITS		10
#define DB_RX_POSTED_SHIFT	24
#define DB_RX_POSTED_BITS	8
#define DB_MCC			0x140
#define DB_POSTED_SHIFT		16
#define DB_POSTED_BITS		14

/* --- event queue: struct be_eq_entry --- */

#define EVENT_SIZE		4
#define EVENT_VALID		BIT(0)
#define EVENT_CQ_SHIFT		16

/* --- transmit: struct be_eth_wrb, amap_eth_hdr_wrb, amap_eth_tx_compl --- */

struct tx_fragment {
	uint32_t address_high;
	uint32_t address_low;
	uint32_t reserved;
	uint32_t length;		/* low 16 bits */
};

struct tx_header {
	uint32_t reserved[2];
	uint32_t flags;
	uint32_t length_and_vlan;	/* low 16 bits, high 16 bits */
};

#define TX_COMPLETE		BIT(0)
#define TX_EVENT		BIT(1)
#define TX_LSO6			BIT(4)
#define TX_IP_CHECKSUM		BIT(6)
#define TX_UDP_CHECKSUM		BIT(7)
#define TX_TCP_CHECKSUM		BIT(8)
#define TX_LSO			BIT(9)
#define TX_VLAN			BIT(10)
#define TX_WRBS_SHIFT		13
#define TX_WRBS_BITS		5
#define TX_MSS_SHIFT		18
#define TX_MSS_BITS		14

struct tx_completion {
	uint32_t index_and_status; /* of the packet's last WRB: low 16 bits; status: high 4 bits */
	uint32_t reserved[2];
	uint32_t valid;
};

#define TX_STATUS_SHIFT		28
/* BE_TX_COMP_* */
#define TX_STATUS_PARSE_ERROR	0x2
#define TX_STATUS_DMA_ERROR	0x3

/*
 * --- receive: struct be_eth_rx_d, amap_eth_rx_compl_v0; amap_eth_rx_compl_v1 in native mode ---
 */

struct rx_buffer {
	uint32_t address_high;
	uint32_t address_low;
};

struct rx_completion {
	uint32_t vlan_and_size;
	uint32_t flags;
	uint32_t cast_and_valid;
	uint32_t hash;
};

#define RX_SIZE_SHIFT		16
#define RX_SIZE_BITS		14
#define RX_ERROR		BIT(0)
#define RX_HAS_HASH		BIT(1)
#define RX_IS_TCP		BIT(3)
#define RX_IS_UDP		BIT(4)
#define RX_IP_CHECKSUM_OK	BIT(5)
#define RX_L4_CHECKSUM_OK	BIT(6)
#define RX_IS_IPV6		BIT(7)
/* Not in native mode, where the destination address takes the place of one of them. */
#define RX_HAS_VLAN		BIT(14)
#define RX_IS_IP_FRAGMENT	BIT(15)
#define RX_INDEX_SHIFT		16
#define RX_INDEX_BITS		10
#define RX_FRAGMENTS_SHIFT	29
#define RX_FRAGMENTS_BITS	3
#define RX_CAST_SHIFT		1
/* In native mode, in vlan_and_size. */
#define RX_NATIVE_HAS_VLAN	BIT(30)

/* All completions have their valid bit there. */
#define COMPLETION_VALID	BIT(31)
#define COMPLETION_WORDS	4

#endif
