# SPDX-License-Identifier: GPL-2.0
# What msix_pba.ko consists of besides main.o, which reads its parameters; the KUnit suites link the same.
msix-pba-units := function.o sysfs.o report.o probe.o layout.o selection.o request.o measure.o verdict.o
