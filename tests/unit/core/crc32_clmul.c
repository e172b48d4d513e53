// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Compares drivers/sroce/net/fast_crc/crc32_clmul.S with the CRC by a table, on processors
 * that can run it.
 */
#include <stdlib.h>
#include "crcs.h"

#ifdef __x86_64__

crc_function sroce_crc32_clmul, sroce_crc32_vclmul;
copy_function sroce_copy_crc32_clmul, sroce_copy_crc32_vclmul;

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
