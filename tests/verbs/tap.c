// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdarg.h>
#include <stdio.h>

#include "tap.h"

#define MAX_COMPLAINTS	12

static unsigned int tests, failed;
static unsigned int complaints;
static const char *skipped;

void diag(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("# ", stdout);
	vprintf(format, args);
	putchar('\n');
	va_end(args);
}

bool check_that(bool good, const char *what, const char *file, int line)
{
	if (!good && complaints++ < MAX_COMPLAINTS)
		diag("%s:%d: not so: %s", file, line, what);
	return good;
}

bool check_number(long got, long want, const char *what, const char *file,
		  int line)
{
	if (got != want && complaints++ < MAX_COMPLAINTS)
		diag("%s:%d: %s is %ld, not %ld", file, line, what, got, want);
	return got == want;
}

void skip(const char *why)
{
	skipped = why;
}

void run_test(void (*run)(const void *arg), const void *arg,
	      const char *name, ...)
{
	va_list args;

	complaints = 0;
	skipped = NULL;
	run(arg);
	tests++;
	failed += !!complaints;
	printf("%sok %u - ", complaints ? "not " : "", tests);
	va_start(args, name);
	vprintf(name, args);
	va_end(args);
	if (skipped && !complaints)
		printf(" # SKIP %s", skipped);
	putchar('\n');
	fflush(stdout);
}

void run_tests(const struct test *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		run_test(list[i].run, list[i].arg, "%s", list[i].name);
}

int tests_done(void)
{
	printf("1..%u\n", tests);
	return failed ? 1 : 0;
}
