// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdio.h>

#include "tap.h"

static int tests;
static int failures;

bool tap_ok(bool good, const char *file, int line, const char *format, ...)
{
	va_list args;

	printf("%sok %d - ", good ? "" : "not ", ++tests);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	if (!good) {
		printf("# failed at %s:%d\n", file, line);
		failures++;
	}
	fflush(stdout);
	return good;
}

/* Prints the plan; returns the exit status. */
int tap_done(void)
{
	printf("1..%d\n", tests);
	return failures != 0;
}
