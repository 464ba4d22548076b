/* SPDX-License-Identifier: GPL-2.0 */
/* What happens on the virtio bus. */
#ifndef _VDMA_BUS_H
#define _VDMA_BUS_H

int vdma_bus_start(void);
void vdma_bus_stop(void);

#endif /* _VDMA_BUS_H */
