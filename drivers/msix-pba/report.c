// SPDX-License-Identifier: GPL-2.0
/* Layouts and measurements as text and as JSON. */
#include <linux/math64.h>

#include "../json.h"
#include "report.h"

static void structure_line(struct seq_buf *out, const char *name, const struct msix_structure *s)
{
	seq_buf_printf(out, "%s: bar %u, offset %#llx, ", name, s->bar, s->offset);
	if (s->fault)
		seq_buf_printf(out, "malformed: %s\n", msix_fault_text(s->fault));
	else
		seq_buf_printf(out, "%llu bytes, pages %#llx-%#llx\n", s->length, s->first_page,
			       s->end_page - 1);
}

static void sharing_lines(struct seq_buf *out, const char *name, const struct msix_structure *s)
{
	seq_buf_printf(out, "page of the %s: shared with %s\n", name,
		       msix_sharing_text(s->sharing));
	seq_buf_printf(out, "not accounted for there: %llu bytes before the %s, %llu after\n",
		       s->before, name, s->after);
}

/**
 * msix_report_layout() - a layout as text, "name: value" in each line
 * @out: where to
 * @layout: the layout
 *
 * Context: any.
 */
void msix_report_layout(struct seq_buf *out, const struct msix_layout *layout)
{
	seq_buf_printf(out, "vectors: %u\n", layout->vectors);
	seq_buf_printf(out, "page size: %llu\n", layout->page_size);
	structure_line(out, "table", &layout->table);
	structure_line(out, "pba", &layout->pba);
	seq_buf_printf(out, "fault: %s\n", msix_fault_text(layout->fault));
	if (layout->fault)
		return;
	seq_buf_printf(out, "bar of the pba: %llu bytes%s, %llu other pages\n",
		       layout->pba.bar_size,
		       layout->small_bar ? " (less than a page)" : "", layout->other_pages);
	sharing_lines(out, "pba", &layout->pba);
	sharing_lines(out, "table", &layout->table);
	seq_buf_printf(out, "isolation: %s\n", msix_isolation_text(layout->isolation));
}

/* "120.5" of 120500 ps */
static void put_ns(struct seq_buf *out, u64 ps)
{
	u32 rest;
	u64 ns = div_u64_rem(ps, 1000, &rest);

	seq_buf_printf(out, "%llu.%u", ns, rest / 100);
}

static void cost_line(struct seq_buf *out, const struct msix_cost *cost)
{
	seq_buf_printf(out, "%llu times, median ", cost->reads);
	put_ns(out, cost->median_ps);
	seq_buf_printf(out, " ns, quartiles ");
	put_ns(out, cost->low_ps);
	seq_buf_printf(out, " ");
	put_ns(out, cost->high_ps);
	seq_buf_printf(out, " ns\n");
}

/**
 * msix_report_measurement() - a measurement as text, "name: value" in each line
 * @out: where to
 * @measurement: the measurement, or NULL if there is none yet
 *
 * Context: any.
 */
void msix_report_measurement(struct seq_buf *out, const struct msix_measurement *measurement)
{
	static const char * const names[MSIX_REQUEST_PAGES] = { "page", "other" };
	unsigned int i;

	if (!measurement) {
		seq_buf_printf(out, "not measured: write pba, barN+OFFSET, or two of these\n");
		return;
	}
	for (i = 0; i < measurement->request.count; i++) {
		const struct msix_place *place = &measurement->request.place[i];

		seq_buf_printf(out, "%s: bar%u+%#llx, read ", names[i], place->bar, place->offset);
		cost_line(out, &measurement->cost[i]);
	}
	if (measurement->leave.reads) {
		seq_buf_printf(out, "leaving the guest: done ");
		cost_line(out, &measurement->leave);
	}
	seq_buf_printf(out, "verdict: %s\n",
		       msix_verdict_text(msix_verdict_of(measurement->reason)));
	seq_buf_printf(out, "because: %s\n", msix_reason_text(measurement->reason));
}

static void json_structure(struct json *json, const char *key, const struct msix_structure *s)
{
	json_open(json, key, '{');
	json_number(json, "bar", s->bar);
	json_number(json, "offset", s->offset);
	json_number(json, "bytes", s->length);
	if (s->fault) {
		json_text(json, "fault", msix_fault_text(s->fault));
	} else {
		json_null(json, "fault");
		json_number(json, "bar_bytes", s->bar_size);
		json_number(json, "first_page", s->first_page);
		json_number(json, "end_page", s->end_page);
	}
	json_close(json, '}');
}

static void json_cost(struct json *json, const struct msix_cost *cost)
{
	json_number(json, "reads", cost->reads);
	json_number(json, "median_ps", cost->median_ps);
	json_number(json, "low_quartile_ps", cost->low_ps);
	json_number(json, "high_quartile_ps", cost->high_ps);
}

static void json_measurement(struct json *json, const struct msix_measurement *m)
{
	unsigned int i;

	json_open(json, "measurement", '{');
	json_open(json, "places", '[');
	for (i = 0; i < m->request.count; i++) {
		json_open(json, NULL, '{');
		json_number(json, "bar", m->request.place[i].bar);
		json_number(json, "offset", m->request.place[i].offset);
		json_cost(json, &m->cost[i]);
		json_close(json, '}');
	}
	json_close(json, ']');
	if (m->leave.reads) {
		json_open(json, "leaving_the_guest", '{');
		json_cost(json, &m->leave);
		json_close(json, '}');
	}
	json_text(json, "verdict", msix_verdict_text(msix_verdict_of(m->reason)));
	json_text(json, "because", msix_reason_text(m->reason));
	json_close(json, '}');
}

static void json_sharing(struct json *json, const struct msix_layout *layout)
{
	json_text(json, "pba_page_shared_with", msix_sharing_text(layout->pba.sharing));
	json_text(json, "table_page_shared_with", msix_sharing_text(layout->table.sharing));
	json_number(json, "not_accounted_before", layout->pba.before);
	json_number(json, "not_accounted_after", layout->pba.after);
	json_number(json, "other_pages", layout->other_pages);
	json_bool(json, "bar_smaller_than_page", layout->small_bar);
	json_text(json, "isolation", msix_isolation_text(layout->isolation));
}

/**
 * msix_report_json() - layout and measurement as one JSON object
 * @out: where to
 * @device: name of the device
 * @layout: the layout
 * @measurement: the measurement, or NULL if there is none yet
 *
 * Context: any.
 */
void msix_report_json(struct seq_buf *out, const char *device, const struct msix_layout *layout,
		      const struct msix_measurement *measurement)
{
	struct json json = { .out = out };

	json_open(&json, NULL, '{');
	json_text(&json, "device", device);
	json_number(&json, "vectors", layout->vectors);
	json_number(&json, "page_bytes", layout->page_size);
	json_structure(&json, "table", &layout->table);
	json_structure(&json, "pba", &layout->pba);
	if (layout->fault) {
		json_text(&json, "fault", msix_fault_text(layout->fault));
	} else {
		json_null(&json, "fault");
		json_sharing(&json, layout);
	}
	if (measurement)
		json_measurement(&json, measurement);
	else
		json_null(&json, "measurement");
	json_close(&json, '}');
	seq_buf_printf(out, "\n");
}
