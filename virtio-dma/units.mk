# SPDX-License-Identifier: GPL-2.0
# What virtio_dma.ko consists of besides main.o, which reads its parameters; the KUnit suites link the same.
virtio-dma-units := bus.o device.o attach.o features.o limits.o types.o rules.o policy.o hook.o \
		    direct.o swiotlb.o bounce.o pool.o chunk.o resize.o sizing.o memory.o window.o rebind.o sysfs.o trace.o
