// SPDX-License-Identifier: GPL-2.0
/* The tracepoints' own code, which belongs into one object. */
#define CREATE_TRACE_POINTS
#include "trace.h"
