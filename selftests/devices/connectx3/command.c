// SPDX-License-Identifier: GPL-2.0
/* The commands, and what those do that concern the chip as a whole. */
#include <string.h>

#include "connectx3.h"

/* How much the chip wants for tables that it keeps for itself. */
#define AUXILIARY_PAGES	16
#define LARGEST_LOG	24
/* en_port.c:mlx4_en_DUMP_ETH_STATS() */
#define STATISTICS_RESET	BIT(8)

static enum command_status succeed(struct cx3 *cx3, struct command *command)
{
	(void)cx3;
	(void)command;
	return COMMAND_OK;
}

static enum command_status set_icm_size(struct cx3 *cx3, struct command *command)
{
	(void)cx3;
	command->out_param = AUXILIARY_PAGES;
	return COMMAND_OK;
}

static enum command_status init_hca(struct cx3 *cx3, struct command *command)
{
	const uint8_t *wanted = command->in;
	be64 mtt_base;

	memcpy(&mtt_base, wanted + HCA_MTT_BASE, sizeof(mtt_base));
	if (wanted[HCA_LOG_QPS] > LARGEST_LOG || wanted[HCA_LOG_CQS] > LARGEST_LOG ||
	    wanted[HCA_LOG_MPTS] > LARGEST_LOG)
		return COMMAND_BAD_PARAMETER;
	cx3->log_qps = wanted[HCA_LOG_QPS];
	cx3->log_cqs = wanted[HCA_LOG_CQS];
	cx3->log_mpts = wanted[HCA_LOG_MPTS];
	cx3->icm.mtt_base = from_be64(mtt_base);
	return COMMAND_OK;
}

/* The driver has taken back all queues before. */
static enum command_status close_hca(struct cx3 *cx3, struct command *command)
{
	(void)command;
	cx3->port.is_open = false;
	return COMMAND_OK;
}

static enum command_status dump_statistics(struct cx3 *cx3, struct command *command)
{
	statistics_dump(&cx3->statistics, command->out);
	if (command->in_modifier & STATISTICS_RESET)
		memset(&cx3->statistics, 0, sizeof(cx3->statistics));
	return COMMAND_OK;
}

_Static_assert(sizeof(struct port_statistics) <= MAILBOX_SIZE, "en_port.h");

#define MAC_TABLE_SIZE	(PORT_MACS * sizeof(uint64_t))
#define ANSWER_SIZE	0x100
#define QP_MAILBOX_SIZE	(8 + sizeof(struct qp_context))

/* Sizes are of the mailboxes; 0 where a parameter is no address. */
static const struct {
	uint16_t opcode;
	uint16_t in_size;
	uint16_t out_size;
	enum command_status (*run)(struct cx3 *cx3, struct command *command);
} commands[] = {
	{ QUERY_DEV_CAP, 0, ANSWER_SIZE, cx3_query_capabilities },
	{ QUERY_FW, 0, ANSWER_SIZE, cx3_query_firmware },
	/* No board name, and no INTx: all of it is zero. */
	{ QUERY_ADAPTER, 0, ANSWER_SIZE, succeed },
	{ INIT_HCA, HCA_SIZE, 0, init_hca },
	{ CLOSE_HCA, 0, 0, close_hca },
	{ INIT_PORT, 0, 0, cx3_port_open },
	{ CLOSE_PORT, 0, 0, cx3_port_close },
	/* Read for the frequency of a clock, which there is not. */
	{ QUERY_HCA, 0, HCA_SIZE, succeed },
	{ SET_PORT, MAC_TABLE_SIZE, 0, cx3_port_set },
	{ SW2HW_MPT, sizeof(struct mpt_entry), 0, cx3_mr_create },
	{ HW2SW_MPT, 0, 0, cx3_mr_destroy },
	{ MAP_EQ, 0, 0, cx3_eq_map_events },
	{ SW2HW_EQ, sizeof(struct eq_context), 0, cx3_eq_create },
	{ HW2SW_EQ, 0, 0, cx3_eq_destroy },
	{ SW2HW_CQ, sizeof(struct cq_context), 0, cx3_cq_create },
	{ HW2SW_CQ, 0, 0, cx3_cq_destroy },
	{ MODIFY_CQ, sizeof(struct cq_context), 0, cx3_cq_modify },
	{ RST2INIT_QP, QP_MAILBOX_SIZE, 0, cx3_qp_init },
	{ INIT2RTR_QP, QP_MAILBOX_SIZE, 0, cx3_qp_modify },
	{ RTR2RTS_QP, QP_MAILBOX_SIZE, 0, cx3_qp_modify },
	{ RTS2RTS_QP, QP_MAILBOX_SIZE, 0, cx3_qp_modify },
	{ TO_ERROR_QP, 0, 0, cx3_qp_modify },
	{ TO_RESET_QP, 0, 0, cx3_qp_modify },
	{ QUERY_QP, 0, QP_MAILBOX_SIZE, cx3_qp_query },
	/* InfiniBand's, told where they are all the same. */
	{ CONF_SPECIAL_QP, 0, 0, succeed },
	{ SYNC_TPT, 0, 0, succeed },
	{ NOP, 0, 0, succeed },
	{ MOD_STAT_CFG, 0, 0, succeed },
	{ QUERY_PORT, 0, ANSWER_SIZE, cx3_query_port },
	{ SET_VLAN_FILTER, VLAN_FILTER_WORDS * sizeof(be32), 0, cx3_port_set_vlans },
	{ SET_MULTICAST_FILTER, 0, 0, cx3_port_set_multicast },
	{ DUMP_ETH_STATS, 0, MAILBOX_SIZE, dump_statistics },
	/* The firmware's own memory is not used, so that it does not matter where it is. */
	{ MAP_FA, 0, 0, succeed },
	{ UNMAP_FA, 0, 0, succeed },
	{ RUN_FW, 0, 0, succeed },
	{ SET_ICM_SIZE, 0, 0, set_icm_size },
	{ MAP_ICM_AUX, 0, 0, succeed },
	{ UNMAP_ICM_AUX, 0, 0, succeed },
	{ MAP_ICM, MAILBOX_SIZE, 0, cx3_icm_map },
	{ UNMAP_ICM, 0, 0, cx3_icm_unmap },
};

static bool must_fail(struct cx3_faults *faults, unsigned int opcode)
{
	if (!faults->command_count || opcode != faults->command_opcode)
		return false;
	faults->command_count--;
	return true;
}

enum command_status cx3_execute(struct cx3 *cx3, struct command *command)
{
	enum command_status status;

	cx3->counters.commands++;
	if (must_fail(&cx3->faults, command->opcode))
		return cx3->faults.command_status;
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		if (commands[i].opcode != command->opcode)
			continue;
		memset(command->in, 0, sizeof(command->in));
		memset(command->out, 0, commands[i].out_size);
		if (commands[i].in_size &&
		    !vfu_dma_read(cx3->vfu, "command mailbox", command->in_param, command->in,
				  commands[i].in_size))
			return COMMAND_BAD_PARAMETER;
		status = commands[i].run(cx3, command);
		if (!status && commands[i].out_size &&
		    !vfu_dma_write(cx3->vfu, "answer to a command", command->out_param,
				   command->out, commands[i].out_size))
			return COMMAND_BAD_PARAMETER;
		return status;
	}
	cx3->counters.commands_unknown++;
	return COMMAND_BAD_OPCODE;
}
