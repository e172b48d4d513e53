/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A test is TEST(unit, name) { ... }; it registers itself.  The first failed
 * check ends it.  Output is TAP (testanything.org).
 */
#ifndef SROCE_TAP_H
#define SROCE_TAP_H

#include <env_native.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

struct tap_test {
	const char *name;
	void (*run)(void);
	struct tap_test *next;
};

void tap_register(struct tap_test *test);
void tap_fail(const char *file, int line, const char *format, ...)
	__attribute__((noreturn, format(printf, 3, 4)));

#define TEST(unit, test)						\
static void unit##_##test(void);					\
static void __attribute__((constructor)) register_##unit##_##test(void)	\
{									\
	static struct tap_test self = { #unit ": " #test,		\
					unit##_##test, NULL };		\
									\
	tap_register(&self);						\
}									\
static void unit##_##test(void)

#define CHECK(condition) do {						\
	if (!(condition))						\
		tap_fail(__FILE__, __LINE__, "%s", #condition);		\
} while (0)

#define EQUAL(a, b) do {						\
	long long equal_a = (long long)(a);				\
	long long equal_b = (long long)(b);				\
									\
	if (equal_a != equal_b)						\
		tap_fail(__FILE__, __LINE__,				\
			 "%s is %lld (0x%llx), not %s = %lld (0x%llx)",	\
			 #a, equal_a, equal_a, #b, equal_b, equal_b);	\
} while (0)

#endif /* SROCE_TAP_H */
