// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Instantiates the tracepoints that queue/trace.h defines. */
#define CREATE_TRACE_POINTS
#include "trace.h"
