// SPDX-License-Identifier: GPL-2.0
/* What is said of a write-combining mapping, wherever the guest runs. */
#include <kunit/test.h>
#include <linux/string.h>

#include "pats.h"
#include "verdict.h"

/* Without an entry for WC: what a kernel with nopat has. */
#define PAT_NONE	0

struct answer_row {
	const char *what;
	struct gmt_machine machine;
	struct gmt_mapping mapping;
	enum gmt_answer answer;
	const char *why;
};

#define WC_MAPPING	{ 1, false, GMT_UC, GMT_UC }
#define UC_MAPPING	{ 2, false, GMT_UC, GMT_UC }

static const struct answer_row rows[] = {
	{ "no PAT", { GMT_HV_KVM, GMT_VENDOR_INTEL, false, PAT_NONE },
	  UC_MAPPING, GMT_NO, "no entry" },
	{ "PAT as after power-on", { GMT_HV_KVM, GMT_VENDOR_AMD, false, PAT_POWER_ON }, UC_MAPPING,
	  GMT_NO, "no entry" },
	{ "no PAT, emulated", { GMT_HV_TCG, GMT_VENDOR_AMD, false, PAT_NONE },
	  UC_MAPPING, GMT_NO, "no entry" },
	{ "another user", { GMT_HV_KVM, GMT_VENDOR_INTEL, false, PAT_LINUX }, UC_MAPPING,
	  GMT_NO, "somebody else" },
	{ "emulated", { GMT_HV_TCG, GMT_VENDOR_INTEL, false, PAT_LINUX }, WC_MAPPING,
	  GMT_CANNOT_TELL, "emulated" },
	{ "another hypervisor", { GMT_HV_OTHER, GMT_VENDOR_INTEL, false, PAT_LINUX }, WC_MAPPING,
	  GMT_CANNOT_TELL, "unknown hypervisor" },
	{ "encrypted", { GMT_HV_KVM, GMT_VENDOR_AMD, true, PAT_LINUX }, WC_MAPPING,
	  GMT_CANNOT_TELL, "encrypted" },
	{ "real Intel", { GMT_HV_NONE, GMT_VENDOR_INTEL, false, PAT_LINUX },
	  WC_MAPPING, GMT_YES, "no hypervisor" },
	{ "real AMD", { GMT_HV_NONE, GMT_VENDOR_AMD, false, PAT_LINUX },
	  WC_MAPPING, GMT_YES, "no hypervisor" },
	{ "real, of another vendor", { GMT_HV_NONE, GMT_VENDOR_UNKNOWN, false, PAT_LINUX },
	  WC_MAPPING,
	  GMT_CANNOT_TELL, "vendor" },
	{ "real Intel, overlapping MTRRs", { GMT_HV_NONE, GMT_VENDOR_INTEL, false, PAT_LINUX },
	  { 1, false, GMT_UNDEFINED, GMT_WB }, GMT_NO, "MTRRs" },
	{ "KVM on Intel", { GMT_HV_KVM, GMT_VENDOR_INTEL, false, PAT_LINUX }, WC_MAPPING,
	  GMT_HOST_DECIDES, "hangs on" },
	{ "KVM on AMD", { GMT_HV_KVM, GMT_VENDOR_AMD, false, PAT_LINUX }, WC_MAPPING,
	  GMT_HOST_DECIDES, "hangs on" },
};

static void verdict_answers(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct gmt_verdict verdict = gmt_judge(&rows[i].machine, &rows[i].mapping);

		KUNIT_EXPECT_STREQ_MSG(test, gmt_answer_name(verdict.answer),
				       gmt_answer_name(rows[i].answer), "%s", rows[i].what);
		KUNIT_EXPECT_NOT_ERR_OR_NULL(test, verdict.why);
		KUNIT_EXPECT_TRUE_MSG(test, strstr(verdict.why, rows[i].why), "%s: %s",
				      rows[i].what, verdict.why);
	}
}

static struct gmt_hosts hosts_of(enum gmt_hypervisor hypervisor, enum gmt_vendor vendor)
{
	struct gmt_machine machine = { hypervisor, vendor, false, PAT_LINUX };
	struct gmt_mapping mapping = WC_MAPPING;

	return gmt_ask_hosts(&machine, &mapping);
}

static void verdict_intel_hosts(struct kunit *test)
{
	struct gmt_hosts hosts = hosts_of(GMT_HV_KVM, GMT_VENDOR_INTEL);
	u32 all = GENMASK(GMT_VMX_QUIRK, 0) | BIT(GMT_SHADOW);

	KUNIT_EXPECT_EQ(test, hosts.device_yes, GENMASK(GMT_VMX_QUIRK, GMT_VMX_2009));
	KUNIT_EXPECT_EQ(test, hosts.device_no, all & ~hosts.device_yes);
	/* RAM: where the PAT counts, which hangs on devices and on the VMM */
	KUNIT_EXPECT_EQ(test, hosts.ram_yes, GENMASK(GMT_VMX_QUIRK, GMT_VMX_2009));
	KUNIT_EXPECT_EQ(test, hosts.ram_no, all & ~BIT(GMT_VMX_6_11_RC));
}

static void verdict_amd_hosts(struct kunit *test)
{
	struct gmt_hosts hosts = hosts_of(GMT_HV_KVM, GMT_VENDOR_AMD);

	KUNIT_EXPECT_EQ(test, hosts.device_yes, BIT(GMT_SVM_SERIES) | BIT(GMT_SVM_4_14));
	KUNIT_EXPECT_EQ(test, hosts.device_no, BIT(GMT_SVM_OLD) | BIT(GMT_SHADOW));
	KUNIT_EXPECT_EQ(test, hosts.ram_yes, BIT(GMT_SVM_SERIES) | BIT(GMT_SVM_4_14));
	KUNIT_EXPECT_EQ(test, hosts.ram_no,
			BIT(GMT_SVM_OLD) | BIT(GMT_SVM_SERIES) | BIT(GMT_SHADOW));
}

static void verdict_unknown_vendor(struct kunit *test)
{
	struct gmt_hosts hosts = hosts_of(GMT_HV_KVM, GMT_VENDOR_UNKNOWN);

	KUNIT_EXPECT_EQ(test, hosts.device_yes | hosts.device_no, GENMASK(GMT_POLICIES - 1, 0));
	hosts = hosts_of(GMT_HV_TCG, GMT_VENDOR_AMD);
	KUNIT_EXPECT_EQ(test, hosts.device_yes | hosts.device_no, GENMASK(GMT_POLICIES - 1, 0));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(verdict_answers),
	KUNIT_CASE(verdict_intel_hosts),
	KUNIT_CASE(verdict_amd_hosts),
	KUNIT_CASE(verdict_unknown_vendor),
	{}
};

static struct kunit_suite suite = {
	.name = "guest_memtype_verdict",
	.test_cases = cases,
};

kunit_test_suite(suite);
