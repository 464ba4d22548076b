/* SPDX-License-Identifier: GPL-2.0 */
/* What happens on the PCI bus. */
#ifndef _BNM_BUS_H
#define _BNM_BUS_H

int bnm_bus_start(void);
void bnm_bus_stop(void);

#endif /* _BNM_BUS_H */
