// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The Test Anything Protocol for all programs of tests/. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include "tap.h"

#define MAX_COMPLAINTS	12

struct tap_entry *tap_entries;
static struct tap_entry **end = &tap_entries;
static unsigned int tests, failed;
static unsigned int complaints;
static const char *skipped;
static jmp_buf test_ends;

void tap_register(struct tap_entry *entry)
{
	*end = entry;
	end = &entry->next;
}

/* The caller may still want to look at errno. */
void diag(const char *format, ...)
{
	int saved = errno;
	va_list args;

	va_start(args, format);
	fputs("# ", stdout);
	vprintf(format, args);
	putchar('\n');
	va_end(args);
	errno = saved;
}

static bool heard(void)
{
	return complaints++ < MAX_COMPLAINTS;
}

static bool not_good(void)
{
#ifdef TAP_FIRST_ENDS
	longjmp(test_ends, 1);
#endif
	return false;
}

bool check_that(bool good, const char *what, const char *file, int line)
{
	if (good)
		return true;
	if (heard())
		diag("%s:%d: not so: %s", file, line, what);
	return not_good();
}

bool check_equal(long long got, long long want, const char *what,
		 const char *wanted, const char *file, int line)
{
	if (got == want)
		return true;
	if (heard())
		diag("%s:%d: %s is %lld (0x%llx), not %s = %lld (0x%llx)",
		     file, line, what, got, got, wanted, want, want);
	return not_good();
}

void skip(const char *why)
{
	skipped = why;
}

static void result(bool good, const char *format, va_list args)
{
	failed += !good;
	printf("%sok %u - ", good ? "" : "not ", ++tests);
	vprintf(format, args);
	if (skipped && good)
		printf(" # SKIP %s", skipped);
	putchar('\n');
	fflush(stdout);
}

bool tap_ok(bool good, const char *file, int line, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	result(good, format, args);
	va_end(args);
	if (!good)
		diag("failed at %s:%d", file, line);
	return good;
}

void run_test(void (*run)(const void *arg), const void *arg,
	      const char *name, ...)
{
	va_list args;

	complaints = 0;
	skipped = NULL;
	if (!setjmp(test_ends))
		run(arg);
	va_start(args, name);
	result(!complaints, name, args);
	va_end(args);
	skipped = NULL;
}

void run_tests(const struct test *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		run_test(list[i].run, list[i].arg, "%s", list[i].name);
}

static void run_registered(const void *arg)
{
	((const struct tap_entry *)arg)->run();
}

void run_entry(const struct tap_entry *entry)
{
	if (entry->name)
		run_test(run_registered, entry, "%s", entry->name);
	else
		entry->run();
}

int tests_done(void)
{
	printf("1..%u\n", tests);
	return failed || !tests;
}
