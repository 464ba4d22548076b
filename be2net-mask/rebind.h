/* SPDX-License-Identifier: GPL-2.0 */
/* Raising the mask of a function at run time, when nobody uses it. */
#ifndef _BNM_REBIND_H
#define _BNM_REBIND_H

#include <linux/workqueue.h>

struct bnm_function;

int bnm_rebind_init(void);
void bnm_rebind_exit(void);
void bnm_rebind_later(struct bnm_function *fn);
void bnm_rebind_work(struct work_struct *work);
int bnm_choose(struct bnm_function *fn, bool on);

#endif /* _BNM_REBIND_H */
