#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""`make shell`: a prompt in the guest of `make run`, with the modules loaded."""

import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

# pylint: disable=wrong-import-position
import guest
import options as knobs
from lib import accel, build, child, image, initramfs, kernels, qemu
from lib.failure import Failure

DISK_MIB = 64


def main():
    child.exit_on_sigterm()
    options = knobs.from_environment()
    kernel = kernels.kernel(options.line)
    modules = build.build(kernel)
    accelerator = accel.choose(options.accel, kernel)
    initrd = initramfs.image(kernel, modules.values(), {"/shell": Path(__file__).with_name("guest-shell")})
    initrd_args, initrd_fd = qemu.initrd_arguments(initrd)
    with image.image(DISK_MIB) as disk_image:
        argv = qemu.command(kernel, accelerator, "q35", options.cpus, f"{options.mem}M",
                            guest.append(options) + " quiet", guest.devices(options, disk_image))
        # Unlike other guests this one shares our terminal, so it stays in our process group.
        status = subprocess.call(["setpriv", "--pdeathsig", "KILL", *argv, *initrd_args, "-serial", "mon:stdio"],
                                 pass_fds=[initrd_fd])
    os.close(initrd_fd)
    sys.exit(status)


if __name__ == "__main__":
    try:
        main()
    except (Failure, OSError) as failure:
        sys.exit(f"make shell: {failure}")
