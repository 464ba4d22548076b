# SPDX-License-Identifier: GPL-2.0
# The pure units of guest_memtype.ko; the KUnit suites link the same.
memtype-units := memtype.o pat.o mtrr.o resolve.o host_policy.o verdict.o
