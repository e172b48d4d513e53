/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Tests that register themselves and print TAP (testanything.org).
 *
 * TEST(group, name) { ... } is a test; it fails if one of its CHECKs fails.
 * GROUP(name) { ... } runs the tests of a table by run_test() or run_tests().
 * COMMAND(name) { ... } runs only if it is named; it gets argc and argv.
 * A program runs all tests and groups, or those that are named (main.c).
 */
#ifndef TAP_H
#define TAP_H

#include <stdbool.h>
#include <stddef.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* The test continues after a failure, unless TAP_FIRST_ENDS is defined for tap.c. */
#define CHECK(cond) check_that(cond, #cond, __FILE__, __LINE__)
#define EQUAL(got, want)						\
	check_equal((long long)(got), (long long)(want), #got, #want,	\
		    __FILE__, __LINE__)
/* For a call that returns 0 or an errno. */
#define CHECK_CALL(call, want) EQUAL(call, want)
/* Ends the test on failure. */
#define REQUIRE(cond)							\
	do {								\
		if (!CHECK(cond))					\
			return;						\
	} while (0)
/* A test in one line. */
#define ok(good, ...) tap_ok(good, __FILE__, __LINE__, __VA_ARGS__)

struct test {
	const char *name;
	void (*run)(const void *arg);
	const void *arg;
};

struct tap_entry {
	const char *group;
	const char *name;		/* of a test */
	void (*run)(void);
	int (*main)(int argc, char **argv);	/* of a command */
	struct tap_entry *next;
};

extern struct tap_entry *tap_entries;
void tap_register(struct tap_entry *entry);

#define TAP_ENTRY(function, ...)					\
static void __attribute__((constructor)) register_##function(void)	\
{									\
	static struct tap_entry self = { __VA_ARGS__ };			\
									\
	tap_register(&self);						\
}

#define TEST(of, test)							\
static void of##_##test(void);						\
TAP_ENTRY(of##_##test, .group = #of, .name = #of ": " #test,		\
	  .run = of##_##test)						\
static void of##_##test(void)

#define GROUP(of)							\
static void group_##of(void);						\
TAP_ENTRY(group_##of, .group = #of, .run = group_##of)			\
static void group_##of(void)

#define COMMAND(of)							\
static int command_##of(int argc, char **argv);				\
TAP_ENTRY(command_##of, .group = #of, .main = command_##of)		\
static int command_##of(int argc __attribute__((unused)),		\
			char **argv __attribute__((unused)))

bool check_that(bool good, const char *what, const char *file, int line);
bool check_equal(long long got, long long want, const char *what,
		 const char *wanted, const char *file, int line);
bool tap_ok(bool good, const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* A line of explanation. */
void diag(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Runs a test; its line is @name formatted. */
void run_test(void (*run)(const void *arg), const void *arg,
	      const char *name, ...) __attribute__((format(printf, 3, 4)));
void run_tests(const struct test *tests, size_t n);
/* Runs everything that was registered by TEST() or GROUP(). */
void run_entry(const struct tap_entry *entry);

/* Skips the running test, with the reason. */
void skip(const char *why);

/* Prints the plan.  Returns the exit status of the program. */
int tests_done(void);

#endif /* TAP_H */
