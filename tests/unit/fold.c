// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* drivers/sroce/fold.S against the table, on processors that can run it. */
#include <stdlib.h>
#include "env.h"
#include "tap.h"

#ifdef __x86_64__

u32 sroce_fold(u32 state, const void *p, size_t len);
u32 sroce_fold_wide(u32 state, const void *p, size_t len);

static void compare(u32 (*fold)(u32 state, const void *p, size_t len),
		    u32 least)
{
	static u8 data[4096 + 16];
	u32 i, len;

	for (i = 0; i < sizeof(data); i++)
		data[i] = i * 131 + (i >> 8) * 17 + 5;
	for (len = least; len <= 4096; len += 16)
		for (i = 0; i < 16; i += 5)
			EQUAL(fold(len * 0x9e3779b9u, data + i, len),
			      sroce_crc32(len * 0x9e3779b9u, data + i, len));
}

TEST(fold, agrees_with_the_table)
{
	if (__builtin_cpu_supports("avx") && __builtin_cpu_supports("pclmul"))
		compare(sroce_fold, 16);
}

TEST(fold, wide_agrees_with_the_table)
{
	if (__builtin_cpu_supports("avx2") &&
	    __builtin_cpu_supports("vpclmulqdq"))
		compare(sroce_fold_wide, 256);
}

#endif /* __x86_64__ */
