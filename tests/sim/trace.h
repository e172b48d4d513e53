/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_SIM_TRACE_H
#define SROCE_SIM_TRACE_H

#include <stdbool.h>
#include <stdio.h>

extern bool tracing;

#define TRACE(...) do {							\
	if (tracing)							\
		printf("# " __VA_ARGS__);				\
} while (0)

#endif /* SROCE_SIM_TRACE_H */
