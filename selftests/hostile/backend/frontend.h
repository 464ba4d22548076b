/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FRONTEND_H
#define FRONTEND_H

#include "device.h"

/**
 * frontend_serve() - receive and answer a message of a device's front end
 *
 * Return: 0, or a negative errno when the connection cannot go on.
 */
int frontend_serve(struct device *device);

/**
 * frontend_disconnect() - forget all that a front end said
 */
void frontend_disconnect(struct device *device);

#endif /* FRONTEND_H */
