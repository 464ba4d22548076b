/* SPDX-License-Identifier: GPL-2.0 */
/* An XDP program in the driver of a network interface, by system calls alone. */
#ifndef _SELFTESTS_XDP_H
#define _SELFTESTS_XDP_H

#include <err.h>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

static inline int bpf(enum bpf_cmd command, union bpf_attr *attr)
{
	int result = syscall(SYS_bpf, command, attr, sizeof(*attr));

	if (result < 0)
		err(1, "the kernel on command %d", command);
	return result;
}

static inline int load_program(const struct bpf_insn *program, unsigned int count)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_XDP;
	attr.insns = (unsigned long)program;
	attr.insn_cnt = count;
	attr.license = (unsigned long)"GPL";
	return bpf(BPF_PROG_LOAD, &attr);
}

/* Detached when the descriptor is closed. */
static inline int attach_program(int program, unsigned int interface)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.link_create.prog_fd = program;
	attr.link_create.target_ifindex = interface;
	attr.link_create.attach_type = BPF_XDP;
	attr.link_create.flags = XDP_FLAGS_DRV_MODE;
	return bpf(BPF_LINK_CREATE, &attr);
}

#endif /* _SELFTESTS_XDP_H */
