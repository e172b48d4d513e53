// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * drivers/sroce/mem/last_word.h: the stores for the end of a packet, and their program
 * order.  tests/verbs/data/polling.c tests the order that another processor sees.
 */
#include "env.h"
#include "tap.h"

#define MAX_LENGTH	80

/* The stores so far, one letter each; address and size of the last one. */
static char order[8];
static u32 stores;
static const void *last_at;
static u32 last_bytes;

static void record(char what)
{
	if (stores < sizeof(order) - 1)
		order[stores++] = what;
}

static void recorded_memcpy(void *to, const void *from, size_t len)
{
	record('c');
	memcpy(to, from, len);
}

#define unlikely(condition)	(condition)
#define get_unaligned(p) ({						\
	__typeof__(*(p) + 0) unaligned_v = 0;				\
	__builtin_memcpy(&unaligned_v, p, sizeof(*(p)));		\
	(__typeof__(*(p)))unaligned_v;					\
})
#define smp_store_release(p, v)	do {					\
	record('r');							\
	last_at = p;							\
	last_bytes = sizeof(*(p));					\
	*(p) = v;							\
} while (0)
#define smp_wmb()	record('w')
#define memcpy(to, from, len)	recorded_memcpy(to, from, len)
#include "../../../drivers/sroce/mem/last_word.h"
#undef memcpy

static void check_copy(u32 at, u32 len)
{
	static u8 memory[MAX_LENGTH + 32] __attribute__((aligned(64)));
	u8 from[MAX_LENGTH + 32];
	u32 bytes = 8, i;

	for (i = 0; i < sizeof(from); i++)
		from[i] = i * 7 + len;
	memset(memory, 0xee, sizeof(memory));
	memset(order, 0, sizeof(order));
	stores = 0;
	sroce_copy_ordered(memory + at, from + 3, len);
	CHECK(!memcmp(memory + at, from + 3, len));
	for (i = 0; i < at; i++)
		EQUAL(memory[i], 0xee);
	for (i = at + len; i < sizeof(memory); i++)
		EQUAL(memory[i], 0xee);
	/* The last store has the largest aligned size. */
	while (bytes > len || (at + len) % bytes)
		bytes /= 2;
	EQUAL(last_bytes, bytes);
	CHECK(last_at == memory + at + len - bytes);
	CHECK(!strcmp(order, bytes < len ? "crw" : "rw"));
}

TEST(last_word, last_word_is_stored_last_in_one_access)
{
	u32 at, len;

	for (at = 0; at < 17; at++)
		for (len = 1; len <= MAX_LENGTH; len++)
			check_copy(at, len);
}
