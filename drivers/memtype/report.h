/* SPDX-License-Identifier: GPL-2.0 */
/* What was found out about BARs, as text and as JSON. */
#ifndef _GMT_REPORT_H
#define _GMT_REPORT_H

#include <linux/seq_buf.h>

#include "bar.h"

void gmt_report_text(struct seq_buf *out, const struct gmt_bar *bar);
void gmt_report_json(struct seq_buf *out, const char *device, unsigned int index,
		     const struct gmt_bar *bar);

#endif /* _GMT_REPORT_H */
