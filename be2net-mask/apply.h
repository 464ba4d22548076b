/* SPDX-License-Identifier: GPL-2.0 */
/* The masks of one function: learned, raised, checked, put back. */
#ifndef _BNM_APPLY_H
#define _BNM_APPLY_H

#include "function.h"
#include "verdict.h"

struct bnm_masks bnm_masks_of(struct device *dev);
void bnm_learn(struct bnm_function *fn);
void bnm_before_probe(struct bnm_function *fn);
void bnm_after_probe(struct bnm_function *fn);
void bnm_after_failed_probe(struct bnm_function *fn);
void bnm_recheck(struct bnm_function *fn);
void bnm_restore(struct bnm_function *fn);
void bnm_after_unbind(struct bnm_function *fn);
void bnm_gather(struct bnm_function *fn, struct bnm_facts *facts);

#endif /* _BNM_APPLY_H */
