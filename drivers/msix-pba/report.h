/* SPDX-License-Identifier: GPL-2.0 */
/* Layouts and measurements as text and as JSON. No side effects. */
#ifndef _MSIX_PBA_REPORT_H
#define _MSIX_PBA_REPORT_H

#include <linux/seq_buf.h>

#include "layout.h"
#include "measure.h"

void msix_report_layout(struct seq_buf *out, const struct msix_layout *layout);
void msix_report_measurement(struct seq_buf *out, const struct msix_measurement *measurement);
void msix_report_json(struct seq_buf *out, const char *device, const struct msix_layout *layout,
		      const struct msix_measurement *measurement);

#endif /* _MSIX_PBA_REPORT_H */
