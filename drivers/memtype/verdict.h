/* SPDX-License-Identifier: GPL-2.0 */
/* Is a mapping that asks for write-combining write-combining in fact? */
#ifndef _GMT_VERDICT_H
#define _GMT_VERDICT_H

#include "host_policy.h"

/**
 * enum gmt_hypervisor - who runs this guest
 * @GMT_HV_NONE: nobody: a real machine
 * @GMT_HV_KVM: KVM
 * @GMT_HV_TCG: QEMU's emulation
 * @GMT_HV_OTHER: another one
 */
enum gmt_hypervisor {
	GMT_HV_NONE,
	GMT_HV_KVM,
	GMT_HV_TCG,
	GMT_HV_OTHER,
};

/**
 * struct gmt_machine - what a guest can know of where it runs
 * @hypervisor: by CPUID
 * @vendor: of the CPU, by CPUID; a VMM can make it up
 * @encrypted: the host cannot read this guest's memory
 * @pat: the guest's PAT; 0 if there is none
 */
struct gmt_machine {
	enum gmt_hypervisor hypervisor;
	enum gmt_vendor vendor;
	bool encrypted;
	u64 pat;
};

/**
 * struct gmt_mapping - a mapping of device memory
 * @pat_index: entry of the PAT that its page asks for
 * @large: it is mapped with more than 4 KiB
 * @mtrr: what the MTRRs say of it
 * @mtrr_kvm: what KVM would take them to say
 */
struct gmt_mapping {
	unsigned int pat_index;
	bool large;
	enum gmt_type mtrr;
	enum gmt_type mtrr_kvm;
};

/**
 * enum gmt_answer - is it write-combining?
 * @GMT_NO: no
 * @GMT_YES: yes
 * @GMT_HOST_DECIDES: it depends on the host, as &struct gmt_hosts says
 * @GMT_CANNOT_TELL: nothing to go by
 */
enum gmt_answer {
	GMT_NO,
	GMT_YES,
	GMT_HOST_DECIDES,
	GMT_CANNOT_TELL,
};

/**
 * struct gmt_verdict - the answer and its reason
 * @answer: the answer
 * @why: in words
 */
struct gmt_verdict {
	enum gmt_answer answer;
	const char *why;
};

/**
 * struct gmt_hosts - with which policies of hosts it is, as sets of bits
 * @device_yes: it is, if the host maps a device's memory there
 * @device_no: it is not
 * @ram_yes: it is, if the host backs it by its own RAM
 * @ram_no: it is not
 *
 * A policy in both sets depends on what devices are assigned, or on the VMM.
 */
struct gmt_hosts {
	u32 device_yes;
	u32 device_no;
	u32 ram_yes;
	u32 ram_no;
};

struct gmt_verdict gmt_judge(const struct gmt_machine *machine,
			     const struct gmt_mapping *mapping);
struct gmt_hosts gmt_ask_hosts(const struct gmt_machine *machine,
			       const struct gmt_mapping *mapping);
const char *gmt_answer_name(enum gmt_answer answer);

#endif /* _GMT_VERDICT_H */
