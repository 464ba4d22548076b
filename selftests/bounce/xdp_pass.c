// SPDX-License-Identifier: GPL-2.0
/*
 * Has an XDP program in the driver of a network interface that passes every
 * packet, until killed. How often it ran is in /proc/PID/fdinfo/3.
 */
#include <err.h>
#include <net/if.h>
#include <stdio.h>
#include <unistd.h>

#include "xdp.h"

static int load_pass(void)
{
	static const struct bpf_insn program[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = XDP_PASS },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return load_program(program, ARRAY_SIZE(program));
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
	if (dup2(program, 3) < 0)
		err(1, "dup2");
	attach_program(program, interface);
	puts("attached");
	fflush(stdout);
	for (;;)
		pause();
}
