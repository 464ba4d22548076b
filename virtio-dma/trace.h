/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints: what is mapped, on which path, and how the pool is doing. In a guest:
 * /sys/kernel/tracing/events/virtio_dma, or perf, trace-cmd and bpftrace.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM virtio_dma

#if !defined(_VDMA_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _VDMA_TRACE_H

#include <linux/device.h>
#include <linux/dma-direction.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <virtio_dma.h>

/* Longer names are cut; those of PCI devices, and of MMIO devices, are not as long. */
#define VDMA_TRACE_NAME 32

TRACE_DEFINE_ENUM(VIRTIO_DMA_DIRECT);
TRACE_DEFINE_ENUM(VIRTIO_DMA_BOUNCE);
TRACE_DEFINE_ENUM(DMA_BIDIRECTIONAL);
TRACE_DEFINE_ENUM(DMA_TO_DEVICE);
TRACE_DEFINE_ENUM(DMA_FROM_DEVICE);
TRACE_DEFINE_ENUM(DMA_NONE);

#define vdma_show_path(path) __print_symbolic(path, \
	{ VIRTIO_DMA_DIRECT, "direct" }, \
	{ VIRTIO_DMA_BOUNCE, "bounce" })

#define vdma_show_dir(dir) __print_symbolic(dir, \
	{ DMA_BIDIRECTIONAL, "bidirectional" }, \
	{ DMA_TO_DEVICE, "to_device" }, \
	{ DMA_FROM_DEVICE, "from_device" }, \
	{ DMA_NONE, "none" })

DECLARE_EVENT_CLASS(vdma_mapping,
		    TP_PROTO(struct device *dev, enum virtio_dma_path path, u64 addr, size_t size,
			     enum dma_data_direction dir),
		    TP_ARGS(dev, path, addr, size, dir),
		    TP_STRUCT__entry(__array(char, device, VDMA_TRACE_NAME)
				     __field(int, path)
				     __field(int, dir)
				     __field(u64, addr)
				     __field(u64, size)),
		    TP_fast_assign(strscpy(__entry->device, dev_name(dev), VDMA_TRACE_NAME);
				   __entry->path = path;
				   __entry->dir = dir;
				   __entry->addr = addr;
				   __entry->size = size;),
		    TP_printk("device=%s path=%s dir=%s addr=%#llx size=%llu", __entry->device,
			      vdma_show_path(__entry->path), vdma_show_dir(__entry->dir),
			      __entry->addr, __entry->size)
);

/* A buffer was mapped, at that DMA address. */
DEFINE_EVENT(vdma_mapping, vdma_map,
	     TP_PROTO(struct device *dev, enum virtio_dma_path path, u64 addr, size_t size,
		      enum dma_data_direction dir),
	     TP_ARGS(dev, path, addr, size, dir)
);

/* It is to be unmapped. */
DEFINE_EVENT(vdma_mapping, vdma_unmap,
	     TP_PROTO(struct device *dev, enum virtio_dma_path path, u64 addr, size_t size,
		      enum dma_data_direction dir),
	     TP_ARGS(dev, path, addr, size, dir)
);

/* A part of what is mapped changes hands. Only bounce has something to sync. */
TRACE_EVENT(vdma_sync,
	    TP_PROTO(struct device *dev, u64 addr, size_t size, enum dma_data_direction dir,
		     bool for_device),
	    TP_ARGS(dev, addr, size, dir, for_device),
	    TP_STRUCT__entry(__array(char, device, VDMA_TRACE_NAME)
			     __field(int, path)
			     __field(int, dir)
			     __field(u64, addr)
			     __field(u64, size)
			     __field(bool, for_device)),
	    TP_fast_assign(strscpy(__entry->device, dev_name(dev), VDMA_TRACE_NAME);
			   __entry->path = VIRTIO_DMA_BOUNCE;
			   __entry->dir = dir;
			   __entry->addr = addr;
			   __entry->size = size;
			   __entry->for_device = for_device;),
	    TP_printk("device=%s path=%s dir=%s addr=%#llx size=%llu for=%s", __entry->device,
		      vdma_show_path(__entry->path), vdma_show_dir(__entry->dir),
		      __entry->addr, __entry->size, __entry->for_device ? "device" : "cpu")
);

/* A mapping found no room, or none that the device may have: -ENOMEM, -EDQUOT, -E2BIG. */
TRACE_EVENT(vdma_full,
	    TP_PROTO(struct device *dev, size_t size, int error),
	    TP_ARGS(dev, size, error),
	    TP_STRUCT__entry(__array(char, device, VDMA_TRACE_NAME)
			     __field(int, path)
			     __field(u64, size)
			     __field(int, error)),
	    TP_fast_assign(strscpy(__entry->device, dev_name(dev), VDMA_TRACE_NAME);
			   __entry->path = VIRTIO_DMA_BOUNCE;
			   __entry->size = size;
			   __entry->error = error;),
	    TP_printk("device=%s path=%s size=%llu error=%d", __entry->device,
		      vdma_show_path(__entry->path), __entry->size, __entry->error)
);

DECLARE_EVENT_CLASS(vdma_resize,
		    TP_PROTO(u64 from, u64 to, u64 used),
		    TP_ARGS(from, to, used),
		    TP_STRUCT__entry(__field(u64, from)
				     __field(u64, to)
				     __field(u64, used)),
		    TP_fast_assign(__entry->from = from;
				   __entry->to = to;
				   __entry->used = used;),
		    TP_printk("from=%llu to=%llu used=%llu", __entry->from, __entry->to,
			      __entry->used)
);

/* The pool has grown; all in bytes. */
DEFINE_EVENT(vdma_resize, vdma_grow,
	     TP_PROTO(u64 from, u64 to, u64 used),
	     TP_ARGS(from, to, used)
);

/* The pool is to give a chunk back; all in bytes. */
DEFINE_EVENT(vdma_resize, vdma_shrink,
	     TP_PROTO(u64 from, u64 to, u64 used),
	     TP_ARGS(from, to, used)
);

#endif /* _VDMA_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
