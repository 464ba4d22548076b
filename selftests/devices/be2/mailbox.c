// SPDX-License-Identifier: GPL-2.0
/* The two ways in which a command comes: the mailbox, and the MCC ring. */
#include <errno.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "be2.h"

/* The driver leaves 23 KiB for the answer to GET_PROFILE_CONFIG, which we do not know. */
#define LARGEST_PAYLOAD	32768

_Static_assert(sizeof(struct command_wrb) == 256, "be_cmds.h:struct be_mcc_wrb");

/*
 * Where the payload is, and how much room there is. An answer may be longer than its request: the
 * driver gives the length of the request only, of LINK_STATUS for one.
 */
static uint64_t locate(const struct command_wrb *wrb, uint64_t address, size_t *size)
{
	if (wrb->flags & WRB_EMBEDDED) {
		*size = WRB_EMBEDDED_SIZE;
		return address + offsetof(struct command_wrb, embedded);
	}
	*size = wrb->sge.length;
	return wrb->sge.address_low | (uint64_t)wrb->sge.address_high << 32;
}

static enum command_status run_payload(struct be2 *be2, uint64_t address, size_t size)
{
	_Alignas(8) uint8_t payload[LARGEST_PAYLOAD];
	enum command_status status;

	if (size < sizeof(struct request_header) || size > sizeof(payload))
		return STATUS_INVALID_LENGTH;
	if (!vfu_dma_read(be2->vfu, "command", address, payload, size))
		return STATUS_FAILED;
	status = be2_execute(be2, payload, &size);
	vfu_dma_write(be2->vfu, "answer to a command", address, payload, size);
	return status;
}

static void run_wrb(struct be2 *be2, uint64_t address, struct command_completion *completion)
{
	struct command_wrb wrb;
	uint64_t pattern, payload;
	size_t size;

	memset(completion, 0, sizeof(*completion));
	completion->flags = COMPLETION_COMPLETED;
	if (!vfu_dma_read(be2->vfu, "WRB", address, &wrb, sizeof(wrb))) {
		completion->status = STATUS_FAILED;
		return;
	}
	memcpy(&pattern, &wrb, sizeof(pattern));
	if (pattern == FIRMWARE_INIT || pattern == FIRMWARE_CLEAN)
		return;
	memcpy(completion->tag, wrb.tag, sizeof(wrb.tag));
	payload = locate(&wrb, address, &size);
	completion->status = run_payload(be2, payload, size);
}

static void run_mailbox(struct be2 *be2)
{
	uint64_t answer = be2->mailbox_address + sizeof(struct command_wrb);
	struct command_completion completion;

	run_wrb(be2, be2->mailbox_address, &completion);
	vfu_dma_write(be2->vfu, "mailbox completion", answer, &completion,
		      offsetof(struct command_completion, flags));
	vfu_dma_publish32(be2->vfu, "mailbox completion",
			  answer + offsetof(struct command_completion, flags),
			  completion.flags | COMPLETION_VALID);
}

void be2_mailbox_doorbell(struct be2 *be2, uint32_t value)
{
	uint64_t address = value >> MAILBOX_ADDRESS_SHIFT;

	if (be2->faults.firmware_hangs)
		return;
	if (value & MAILBOX_ADDRESS_HIGH) {
		be2->mailbox_address = address << MAILBOX_HIGH_SHIFT;
		return;
	}
	be2->mailbox_address |= address << MAILBOX_LOW_SHIFT;
	run_mailbox(be2);
}

/*
 * The firmware takes its time, as that of a real adapter does. be_cmds.c:be_cmd_get_stats() needs
 * that: it notes that a request is under way after it has rung the doorbell, and if the answer is
 * there before, there are no statistics ever after.
 */
void be2_mcc_doorbell(struct be2 *be2, uint32_t value)
{
	uint32_t posted = bits(value, DB_POSTED_SHIFT, DB_POSTED_BITS);
	const struct itimerspec delay = {
		.it_value.tv_sec = be2->firmware_delay_us / 1000000,
		.it_value.tv_nsec = be2->firmware_delay_us % 1000000 * 1000,
	};

	if (!be2->mcc.ring.exists || posted > be2->mcc.ring.entries - be2->mcc.posted)
		return;
	be2->mcc.posted += posted;
	if (be2->firmware_delay_us)
		timerfd_settime(be2->firmware_timer, 0, &delay, NULL);
	else
		be2_mcc_run(be2);
}

void be2_mcc_run(struct be2 *be2)
{
	struct be2_mcc *mcc = &be2->mcc;
	uint64_t expirations;

	/* So that it is not due any more; whether it was does not matter. */
	if (read(be2->firmware_timer, &expirations, sizeof(expirations)) < 0 && errno != EAGAIN)
		return;
	/* One of the commands may be the one that ends the ring. */
	while (!be2->faults.firmware_hangs && mcc->ring.exists && mcc->posted) {
		struct command_completion completion;
		unsigned int cq = mcc->cq;

		mcc->posted--;
		run_wrb(be2, be2_ring_address(&mcc->ring, mcc->ring.next++), &completion);
		be2_complete(be2, cq, (const uint32_t *)&completion,
			     offsetof(struct command_completion, flags) / sizeof(uint32_t));
	}
}
