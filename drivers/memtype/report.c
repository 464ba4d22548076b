// SPDX-License-Identifier: GPL-2.0
/* What was found out about BARs, as text and as JSON. */
#include "../json.h"
#include "pat.h"
#include "report.h"

static const char * const hypervisors[] = {
	[GMT_HV_NONE]	= "none",
	[GMT_HV_KVM]	= "KVM",
	[GMT_HV_TCG]	= "TCG",
	[GMT_HV_OTHER]	= "unknown",
};

static const char *pat_type(const struct gmt_bar *bar)
{
	return gmt_type_name(gmt_pat_entry(bar->machine.pat, bar->mapping.pat_index));
}

static void put_pat(struct seq_buf *out, u64 pat)
{
	unsigned int i;

	if (!pat) {
		seq_buf_printf(out, "pat: none\n");
		return;
	}
	seq_buf_printf(out, "pat:");
	for (i = 0; i < GMT_PAT_ENTRIES; i++)
		seq_buf_printf(out, " %s", gmt_type_name(gmt_pat_entry(pat, i)));
	seq_buf_printf(out, "\n");
}

static const char *by_policy(enum gmt_policy policy, u32 yes, u32 no)
{
	if (!(yes & BIT(policy)))
		return "no";
	return no & BIT(policy) ? "sometimes" : "yes";
}

static void put_hosts(struct seq_buf *out, const struct gmt_hosts *hosts)
{
	enum gmt_policy policy;

	for (policy = 0; policy < GMT_POLICIES; policy++) {
		if (!((hosts->device_yes | hosts->device_no) & BIT(policy)))
			continue;
		seq_buf_printf(out, "%s: %s if it is a device's page, %s if it is the host's RAM\n",
			       gmt_policy_name(policy),
			       by_policy(policy, hosts->device_yes, hosts->device_no),
			       by_policy(policy, hosts->ram_yes, hosts->ram_no));
	}
}

/**
 * gmt_report_text() - "name: value" in each line, the answer first
 * @out: where to
 * @bar: what was found out
 *
 * Context: any.
 */
void gmt_report_text(struct seq_buf *out, const struct gmt_bar *bar)
{
	if (bar->refused) {
		seq_buf_printf(out, "write-combining: cannot tell\nbecause: %s\n", bar->refused);
		return;
	}
	seq_buf_printf(out, "write-combining: %s\n", gmt_answer_name(bar->verdict.answer));
	seq_buf_printf(out, "because: %s\n", bar->verdict.why);
	seq_buf_printf(out, "memory: %#llx, %llu bytes%s\n", bar->start, bar->size,
		       bar->prefetchable ? ", prefetchable" : "");
	seq_buf_printf(out, "driver: %s\n", bar->driver ?: "none");
	seq_buf_printf(out, "asked for: WC\n");
	seq_buf_printf(out, "recorded: %s\n", pat_type(bar));
	seq_buf_printf(out, "mtrr: %s\n", gmt_type_name(bar->mapping.mtrr));
	put_pat(out, bar->machine.pat);
	seq_buf_printf(out, "hypervisor: %s\n", hypervisors[bar->machine.hypervisor]);
	put_hosts(out, &bar->hosts);
}

static void json_hosts(struct json *json, const struct gmt_hosts *hosts)
{
	enum gmt_policy policy;

	json_open(json, "hosts", '[');
	for (policy = 0; policy < GMT_POLICIES; policy++) {
		if (!((hosts->device_yes | hosts->device_no) & BIT(policy)))
			continue;
		json_open(json, NULL, '{');
		json_text(json, "host", gmt_policy_name(policy));
		json_text(json, "device_page",
			  by_policy(policy, hosts->device_yes, hosts->device_no));
		json_text(json, "ram_page", by_policy(policy, hosts->ram_yes, hosts->ram_no));
		json_close(json, '}');
	}
	json_close(json, ']');
}

/**
 * gmt_report_json() - the same as one JSON object
 * @out: where to
 * @device: name of the function
 * @index: number of the BAR
 * @bar: what was found out
 *
 * Context: any.
 */
void gmt_report_json(struct seq_buf *out, const char *device, unsigned int index,
		     const struct gmt_bar *bar)
{
	struct json json = { .out = out };

	json_open(&json, NULL, '{');
	json_text(&json, "device", device);
	json_number(&json, "bar", index);
	json_text(&json, "write_combining",
		  gmt_answer_name(bar->refused ? GMT_CANNOT_TELL : bar->verdict.answer));
	json_text(&json, "because", bar->refused ?: bar->verdict.why);
	if (!bar->refused) {
		json_number(&json, "start", bar->start);
		json_number(&json, "bytes", bar->size);
		json_bool(&json, "prefetchable", bar->prefetchable);
		json_text(&json, "asked_for", gmt_type_name(GMT_WC));
		json_text(&json, "recorded", pat_type(bar));
		json_text(&json, "mtrr", gmt_type_name(bar->mapping.mtrr));
		json_text(&json, "hypervisor", hypervisors[bar->machine.hypervisor]);
		json_hosts(&json, &bar->hosts);
	}
	json_close(&json, '}');
	seq_buf_printf(out, "\n");
}
