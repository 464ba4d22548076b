// SPDX-License-Identifier: GPL-2.0
/*
 * Has an XDP program in the driver of a network interface that passes every
 * packet, until killed. How often it ran is in /proc/PID/fdinfo/3.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

static int bpf(enum bpf_cmd command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static int load_pass(void)
{
	static const struct bpf_insn program[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = XDP_PASS },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_XDP;
	attr.insns = (unsigned long)program;
	attr.insn_cnt = ARRAY_SIZE(program);
	attr.license = (unsigned long)"GPL";
	return bpf(BPF_PROG_LOAD, &attr);
}

/* Detached when the descriptor is closed. */
static int attach(int program, unsigned int interface)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.link_create.prog_fd = program;
	attr.link_create.target_ifindex = interface;
	attr.link_create.attach_type = BPF_XDP;
	attr.link_create.flags = XDP_FLAGS_DRV_MODE;
	return bpf(BPF_LINK_CREATE, &attr);
}

int main(int argc, char **argv)
{
	unsigned int interface;
	int program;

	if (argc != 2)
		errx(2, "usage: xdp_pass INTERFACE");
	interface = if_nametoindex(argv[1]);
	if (!interface)
		err(1, "%s", argv[1]);
	program = load_pass();
	if (program < 0)
		err(1, "loading the program");
	if (dup2(program, 3) < 0)
		err(1, "dup2");
	if (attach(program, interface) < 0)
		err(1, "attaching the program");
	puts("attached");
	fflush(stdout);
	for (;;)
		pause();
}
