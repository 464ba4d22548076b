// SPDX-License-Identifier: GPL-2.0
#include "be2.h"

/* Tells the driver, if it wants to know: be_cmds.c:be_async_link_state_process(). */
void be2_set_link(struct be2 *be2, bool is_up)
{
	const struct link_event event = {
		.status = is_up,
		.duplex = is_up ? LINK_FULL_DUPLEX : 0,
		.speed = is_up ? LINK_SPEED_10G : 0,
		.flags = COMPLETION_ASYNC | ASYNC_CODE_LINK << ASYNC_CODE_SHIFT,
	};

	if (be2->link_is_up == is_up)
		return;
	be2->link_is_up = is_up;
	if (be2->mcc.ring.exists && be2->mcc.async_events & BIT(ASYNC_CODE_LINK))
		be2_complete(be2, be2->mcc.cq, (const uint32_t *)&event,
			     offsetof(struct link_event, flags) / sizeof(uint32_t));
}
