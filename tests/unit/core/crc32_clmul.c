// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Compares drivers/sroce/net/fast_crc/crc32_clmul.S with the CRC by a table, on processors
 * that can run it.
 */
#include <stdlib.h>
#include <string.h>
#include "crcs.h"

#ifdef __x86_64__

typedef u32 copy_function(const void *head, const void *p, size_t len, size_t n, void *to);

crc_function sroce_crc32_clmul, sroce_crc32_vclmul;
copy_function sroce_copy_crc32_clmul, sroce_copy_crc32_vclmul;

static copy_function *copying;
static u8 copied[4096 + 2];

/* A function that copies, as one that does not; checks the copy and the bytes around it. */
static u32 crc_of_copy(const void *head, const void *p, size_t len, size_t n)
{
	u32 crc;

	memset(copied, 0xa5, sizeof(copied));
	crc = copying(head, p, len, n, copied + 1);
	EQUAL(memcmp(copied + 1, p, len), 0);
	EQUAL(copied[0], 0xa5);
	EQUAL(copied[len + 1], 0xa5);
	return crc;
}

TEST(fold, agrees_with_the_table)
{
	if (__builtin_cpu_supports("avx") && __builtin_cpu_supports("pclmul"))
		compare(sroce_crc32_clmul, 0);
}

TEST(fold, wide_agrees_with_the_table)
{
	if (__builtin_cpu_supports("avx2") &&
	    __builtin_cpu_supports("vpclmulqdq"))
		compare(sroce_crc32_vclmul, 208);
}

TEST(fold, copies)
{
	copying = sroce_copy_crc32_clmul;
	if (__builtin_cpu_supports("avx") && __builtin_cpu_supports("pclmul"))
		compare(crc_of_copy, 0);
}

TEST(fold, wide_copies)
{
	copying = sroce_copy_crc32_vclmul;
	if (__builtin_cpu_supports("avx2") &&
	    __builtin_cpu_supports("vpclmulqdq"))
		compare(crc_of_copy, 208);
}

#endif /* __x86_64__ */
