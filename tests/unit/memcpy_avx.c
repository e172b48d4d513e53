// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* drivers/sroce/mem/x86/memcpy_avx.S, on processors that can run it. */
#include "env.h"
#include "tap.h"

#ifdef __x86_64__

void sroce_memcpy_avx(void *to, const void *from, size_t len);

#define MOST	1500
#define AROUND	64

static void compare(u32 len, u32 i)
{
	static u8 from[MOST + AROUND], to[MOST + 2 * AROUND];
	u32 j;

	for (j = 0; j < sizeof(from); j++)
		from[j] = j * 131 + (j >> 8) * 17 + len;
	memset(to, 0xee, sizeof(to));
	sroce_memcpy_avx(to + AROUND - i, from + i, len);
	CHECK(!memcmp(to + AROUND - i, from + i, len));
	for (j = 0; j < AROUND - i; j++)
		EQUAL(to[j], 0xee);
	for (j = AROUND - i + len; j < sizeof(to); j++)
		EQUAL(to[j], 0xee);
}

TEST(move, copies_all_and_nothing_else)
{
	u32 len;

	if (!__builtin_cpu_supports("avx"))
		return;
	for (len = 256; len <= MOST; len++)
		compare(len, len % 33);
}

#endif /* __x86_64__ */
