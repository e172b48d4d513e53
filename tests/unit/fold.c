// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* fold.S, on processors that can run it, and sparse.c against the table. */
#include <stdlib.h>
#include "sparse.h"
#include "tap.h"

static void compare(u32 (*fold)(const void *head, const void *p, size_t len,
				size_t n),
		    u32 least)
{
	static u8 data[4096 + 16], head[112 + 16];
	u32 i, len, n;

	for (i = 0; i < sizeof(data); i++)
		data[i] = i * 131 + (i >> 8) * 17 + 5;
	for (i = 0; i < sizeof(head); i++)
		head[i] = i * 59 + 7;
	for (n = 48; n <= 112; n += 16)
		for (len = least; len <= 4096; len += 16)
			for (i = 0; i < 16; i += 5)
				EQUAL(fold(head + i, data + i, len, n),
				      sroce_crc32(sroce_crc32(0, head + i, n),
						  data + i, len));
}

TEST(sparse, agrees_with_the_table)
{
	compare(sroce_sparse, 0);
}

/* x^300 + x^155 + x^117 + x^89 + 1: what moves bits, and changes no CRC. */
TEST(sparse, polynomial_is_a_multiple)
{
	static const u32 bits[] = { 0, 145, 183, 211, 300 };
	u8 data[48] = {};
	u32 i;

	for (i = 0; i < 5; i++)
		data[bits[i] / 8] |= 1 << bits[i] % 8;
	EQUAL(sroce_crc32(0, data, sizeof(data)), 0);
}

#ifdef __x86_64__

u32 sroce_fold(const void *head, const void *p, size_t len, size_t n);
u32 sroce_fold_wide(const void *head, const void *p, size_t len, size_t n);

TEST(fold, agrees_with_the_table)
{
	if (__builtin_cpu_supports("avx") && __builtin_cpu_supports("pclmul"))
		compare(sroce_fold, 0);
}

TEST(fold, wide_agrees_with_the_table)
{
	if (__builtin_cpu_supports("avx2") &&
	    __builtin_cpu_supports("vpclmulqdq"))
		compare(sroce_fold_wide, 208);
}

#endif /* __x86_64__ */
