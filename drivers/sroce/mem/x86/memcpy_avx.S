/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include <linux/linkage.h>

#define TO	%rdi
#define FROM	%rsi
#define LEN	%rdx

.macro move from, to
	vmovdqu		\from(FROM), %ymm0
	vmovdqu		(\from + 32)(FROM), %ymm1
	vmovdqu		(\from + 64)(FROM), %ymm2
	vmovdqu		(\from + 96)(FROM), %ymm3
	vmovdqu		%ymm0, \to(TO)
	vmovdqu		%ymm1, (\to + 32)(TO)
	vmovdqu		%ymm2, (\to + 64)(TO)
	vmovdqu		%ymm3, (\to + 96)(TO)
.endm

.text

/*
 * void sroce_memcpy_avx(void *to, const void *from, size_t len)
 *
 * len is at least 256; from front to back.  AVX.
 */
SYM_FUNC_START(sroce_memcpy_avx)
	sub		$256, LEN
1:	move		0, 0
	move		128, 128
	add		$256, FROM
	add		$256, TO
	sub		$256, LEN
	jae		1b
	add		$256, LEN
	sub		$128, LEN
	jb		2f
	move		0, 0
	sub		$-128, FROM
	sub		$-128, TO
	sub		$128, LEN
2:	add		$128, LEN
	jz		3f
	/* Up to the end, some bytes for the second time. */
	add		LEN, FROM
	add		LEN, TO
	move		-128, -128
3:	vzeroupper
	RET
SYM_FUNC_END(sroce_memcpy_avx)
