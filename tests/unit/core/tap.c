// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* usage: unit [WORD]: all tests, or those with WORD in their name */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include "tap.h"

static struct tap_test *tests;
static struct tap_test **end = &tests;
static jmp_buf failed;

void tap_register(struct tap_test *test)
{
	*end = test;
	end = &test->next;
}

void tap_fail(const char *file, int line, const char *format, ...)
{
	va_list args;

	printf("# %s:%d: ", file, line);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	longjmp(failed, 1);
}

static bool passes(const struct tap_test *test)
{
	if (setjmp(failed))
		return false;
	test->run();
	return true;
}

int main(int argc, char **argv)
{
	static int count, failures;
	const struct tap_test *test;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (test = tests; test; test = test->next) {
		bool ok;

		if (argc > 1 && !strstr(test->name, argv[1]))
			continue;
		ok = passes(test);
		failures += !ok;
		printf("%sok %d - %s\n", ok ? "" : "not ", ++count, test->name);
	}
	printf("1..%d\n", count);
	return failures || !count;
}
