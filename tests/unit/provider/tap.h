/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Test Anything Protocol, as much as is needed here.
 */
#ifndef TAP_H
#define TAP_H

#include <stdarg.h>
#include <stdbool.h>

bool tap_ok(bool good, const char *file, int line, const char *format, ...)
	__attribute__((__format__(__printf__, 4, 5)));
int tap_done(void);

#define ok(good, ...)	tap_ok(good, __FILE__, __LINE__, __VA_ARGS__)

#endif /* TAP_H */
