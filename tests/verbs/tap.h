/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Tests that print TAP.  A test is a function; it fails when one of its
 * CHECKs does, and goes on.  REQUIRE leaves the test.
 */
#ifndef TAP_H
#define TAP_H

#include <stdbool.h>
#include <stddef.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define CHECK(cond) check_that(cond, #cond, __FILE__, __LINE__)
#define REQUIRE(cond)							\
	do {								\
		if (!CHECK(cond))					\
			return;						\
	} while (0)

/* The same for a call that returns 0 or an errno, which is shown. */
#define CHECK_CALL(call, want)						\
	check_number(call, want, #call, __FILE__, __LINE__)

struct test {
	const char *name;
	void (*run)(const void *arg);
	const void *arg;
};

bool check_that(bool good, const char *what, const char *file, int line);
bool check_number(long got, long want, const char *what, const char *file,
		  int line);

/* A line of explanation. */
void diag(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Runs a test; its line is @name formatted. */
void run_test(void (*run)(const void *arg), const void *arg,
	      const char *name, ...) __attribute__((format(printf, 3, 4)));
void run_tests(const struct test *tests, size_t n);

/* The test that runs tells why it cannot be done here. */
void skip(const char *why);

/* Prints the plan.  Returns the exit status of the program. */
int tests_done(void);

#endif /* TAP_H */
