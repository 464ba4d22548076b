# SPDX-License-Identifier: GPL-2.0
# What be2net_mask.ko consists of besides main.o, which reads its parameter; the KUnit suites link the same.
be2net-mask-units := bus.o function.o apply.o rebind.o sysfs.o ids.o plan.o verdict.o
