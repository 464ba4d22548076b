// SPDX-License-Identifier: GPL-2.0
/* Is a mapping that asks for write-combining write-combining in fact? */
#include <linux/bits.h>
#include <linux/kernel.h>

#include "pat.h"
#include "resolve.h"
#include "verdict.h"

/* What Linux has programmed since 4.2, on all but very old CPUs: memtype.c:pat_bp_init(). */
#define PAT_LINUX 0x0407050600070106ULL

/* The things that a host knows, a guest does not, and that may change its policy. */
#define HOST_NONCOHERENT	BIT(0)
#define HOST_ASSIGNED		BIT(1)
#define HOST_HONOURS_PAT	BIT(2)
#define HOST_VARIANTS		8

static const char * const answers[] = {
	[GMT_NO]		= "no",
	[GMT_YES]		= "yes",
	[GMT_HOST_DECIDES]	= "the host decides",
	[GMT_CANNOT_TELL]	= "cannot tell",
};

/**
 * gmt_answer_name() - an answer in words
 * @answer: any
 *
 * Context: any.
 * Return: a string that stays.
 */
const char *gmt_answer_name(enum gmt_answer answer)
{
	return answers[answer];
}

static bool combines(enum gmt_policy policy, unsigned int variant, bool device,
		     const struct gmt_machine *machine, const struct gmt_mapping *mapping)
{
	struct gmt_host host = {
		.policy = policy,
		.pat = PAT_LINUX,
		.noncoherent = variant & HOST_NONCOHERENT,
		.assigned = variant & HOST_ASSIGNED,
		.honours_pat = variant & HOST_HONOURS_PAT,
		.keeps_caches_on = true,
		.self_snoop = true,
	};
	struct gmt_page page = {
		.device = device,
		.large = mapping->large,
		.pat_index = mapping->pat_index,
		.pat = machine->pat,
		.mtrr = mapping->mtrr_kvm,
		/* as firmware leaves them: the host's PAT cannot do more than its MTRRs let it */
		.host_mtrr = device ? GMT_UC : GMT_WB,
	};

	return gmt_combines_writes(gmt_resolve(&host, &page).type);
}

static void ask_policy(enum gmt_policy policy, const struct gmt_machine *machine,
		       const struct gmt_mapping *mapping, struct gmt_hosts *hosts)
{
	unsigned int variant;

	for (variant = 0; variant < HOST_VARIANTS; variant++) {
		/* a device's memory is there only if the device is assigned */
		if (variant & HOST_ASSIGNED) {
			if (combines(policy, variant, true, machine, mapping))
				hosts->device_yes |= BIT(policy);
			else
				hosts->device_no |= BIT(policy);
		}
		if (combines(policy, variant, false, machine, mapping))
			hosts->ram_yes |= BIT(policy);
		else
			hosts->ram_no |= BIT(policy);
	}
}

/* An emulated CPU says nothing of the host's, nor does one that the VMM made up. */
static bool may_run_here(enum gmt_policy policy, const struct gmt_machine *machine)
{
	enum gmt_vendor vendor = gmt_policy_vendor(policy);

	return machine->hypervisor != GMT_HV_KVM || machine->vendor == GMT_VENDOR_UNKNOWN ||
	       vendor == GMT_VENDOR_UNKNOWN || vendor == machine->vendor;
}

/**
 * gmt_ask_hosts() - what hosts make of a mapping
 * @machine: where the guest runs
 * @mapping: the mapping
 *
 * Context: any.
 * Return: the policies that may be in force here, by what they make of it.
 */
struct gmt_hosts gmt_ask_hosts(const struct gmt_machine *machine,
			       const struct gmt_mapping *mapping)
{
	struct gmt_hosts hosts = {};
	enum gmt_policy policy;

	for (policy = 0; policy < GMT_POLICIES; policy++)
		if (may_run_here(policy, machine))
			ask_policy(policy, machine, mapping, &hosts);
	return hosts;
}

static struct gmt_verdict plain(enum gmt_answer answer, const char *why)
{
	return (struct gmt_verdict){ .answer = answer, .why = why };
}

static struct gmt_verdict judge_native(const struct gmt_machine *machine,
				       const struct gmt_mapping *mapping, enum gmt_type asked)
{
	enum gmt_type type;

	if (machine->vendor == GMT_VENDOR_UNKNOWN)
		return plain(GMT_CANNOT_TELL, "the rules of this vendor's CPUs are not known here");
	type = machine->vendor == GMT_VENDOR_INTEL ?
	       gmt_intel_native(mapping->mtrr, asked) : gmt_amd_native(mapping->mtrr, asked);
	return gmt_combines_writes(type) ?
	       plain(GMT_YES, "no hypervisor, and the CPU makes it so") :
	       plain(GMT_NO, "the MTRRs prevail");
}

/**
 * gmt_judge() - is a mapping write-combining?
 * @machine: where the guest runs
 * @mapping: a mapping that was made with ioremap_wc()
 *
 * Being in a virtual machine decides nothing by itself.
 *
 * Context: any.
 * Return: the verdict.
 */
struct gmt_verdict gmt_judge(const struct gmt_machine *machine,
			     const struct gmt_mapping *mapping)
{
	enum gmt_type asked = gmt_pat_entry(machine->pat, mapping->pat_index);

	if (!machine->pat || gmt_pat_find(machine->pat, GMT_WC) < 0)
		return plain(GMT_NO, "the PAT has no entry for it: nopat, or a CPU without");
	if (asked != GMT_WC)
		return plain(GMT_NO, "somebody else has mapped it with another type");
	switch (machine->hypervisor) {
	case GMT_HV_NONE:
		return judge_native(machine, mapping, asked);
	case GMT_HV_TCG:
		return plain(GMT_CANNOT_TELL, "this CPU is emulated, and has no memory types");
	case GMT_HV_OTHER:
		return plain(GMT_CANNOT_TELL, "an unknown hypervisor");
	case GMT_HV_KVM:
		break;
	}
	if (machine->encrypted)
		return plain(GMT_CANNOT_TELL, "the rules for encrypted guests are not known");
	return plain(GMT_HOST_DECIDES, "it hangs on what is behind it, and on the host's age");
}
