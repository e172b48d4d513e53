/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * CRC-32 of IEEE 802.3 by carry-less multiplication.
 *
 * Bytes and bits are in the reflected order of the CRC: the first byte of the
 * message, lowest in a register, has the highest powers of x.  A register is
 * moved D bits forward in the message ("folded") by multiplying its low half
 * by x^(D+32) mod P and its high half by x^(D-32) mod P, P being the CRC's
 * polynomial, and adding the two: a sum congruent to what it stands for.  The
 * constants are bit-reversed and shifted left by one, which makes up for a
 * carry-less product having one bit less than the sum of its factors.
 */
#include <linux/linkage.h>

.section .rodata.sroce_fold, "a", @progbits
.balign 16
.Lfold_1024:	.quad 0x1e88ef372, 0x14a7fe880
.Lfold_512:	.quad 0x154442bd4, 0x1c6e41596
.Lfold_256:	.quad 0x0f1da05aa, 0x15a546366
.Lfold_128:	.quad 0x1751997d0, 0x0ccaa009e
/* x^96 and x^64 mod P */
.Lreduce:	.quad 0x0ccaa009e, 0x163cd6124
/* x^64 / P and P, 33 bits each */
.Lbarrett:	.quad 0x1f7011641, 0x1db710641
.Llow_32:	.quad 0x0ffffffff, 0

#define STATE	%edi
#define P	%rsi
#define LEN	%rdx

/* Fold register \x and add \to, the place where it comes to lie. */
.macro fold x, to, k, t
	vpclmulqdq	$0x00, \k, \x, \t
	vpclmulqdq	$0x11, \k, \x, \x
	vpxor		\t, \x, \x
	vpxor		\to, \x, \x
.endm

/* The rest in steps of 16 bytes, then from %xmm0 to 32 bits in %eax. */
.macro finish
	vmovdqa		.Lfold_128(%rip), %xmm8
	jmp		3f
2:	fold		%xmm0, (P), %xmm8, %xmm4
	add		$16, P
3:	sub		$16, LEN
	jae		2b

	/* The low half moves behind the high one, and 32 zero bits follow. */
	vmovdqa		.Lreduce(%rip), %xmm8
	vmovdqa		.Llow_32(%rip), %xmm9
	vpclmulqdq	$0x00, %xmm8, %xmm0, %xmm4
	vpsrldq		$8, %xmm0, %xmm0
	vpxor		%xmm4, %xmm0, %xmm0
	vpand		%xmm9, %xmm0, %xmm4
	vpsrldq		$4, %xmm0, %xmm0
	vpclmulqdq	$0x10, %xmm8, %xmm4, %xmm4
	vpxor		%xmm4, %xmm0, %xmm0
	/* 64 bits are left: take off the multiple of P (Barrett). */
	vmovdqa		.Lbarrett(%rip), %xmm8
	vpand		%xmm9, %xmm0, %xmm4
	vpclmulqdq	$0x00, %xmm8, %xmm4, %xmm4
	vpand		%xmm9, %xmm4, %xmm4
	vpclmulqdq	$0x10, %xmm8, %xmm4, %xmm4
	vpxor		%xmm4, %xmm0, %xmm0
	vpextrd		$1, %xmm0, %eax
.endm

.text

/*
 * u32 sroce_fold(u32 state, const void *p, size_t len)
 *
 * len is a multiple of 16, at least 16.  AVX and PCLMULQDQ.
 */
SYM_FUNC_START(sroce_fold)
	vmovd		STATE, %xmm0
	vpxor		(P), %xmm0, %xmm0
	add		$16, P
	sub		$16, LEN
	cmp		$112, LEN
	jb		.Lshort

	vmovdqu		(P), %xmm1
	vmovdqu		16(P), %xmm2
	vmovdqu		32(P), %xmm3
	add		$48, P
	sub		$(48 + 64), LEN
	vmovdqa		.Lfold_512(%rip), %xmm8
1:	fold		%xmm0, (P), %xmm8, %xmm4
	fold		%xmm1, 16(P), %xmm8, %xmm5
	fold		%xmm2, 32(P), %xmm8, %xmm6
	fold		%xmm3, 48(P), %xmm8, %xmm7
	add		$64, P
	sub		$64, LEN
	jae		1b
	add		$64, LEN

	vmovdqa		.Lfold_128(%rip), %xmm8
	fold		%xmm0, %xmm1, %xmm8, %xmm4
	fold		%xmm0, %xmm2, %xmm8, %xmm4
	fold		%xmm0, %xmm3, %xmm8, %xmm4
.Lshort:
	finish
	RET
SYM_FUNC_END(sroce_fold)

/*
 * u32 sroce_fold_wide(u32 state, const void *p, size_t len)
 *
 * len is a multiple of 16, at least 256.  AVX2 and VPCLMULQDQ.
 */
SYM_FUNC_START(sroce_fold_wide)
	vmovd		STATE, %xmm0
	vpxor		(P), %ymm0, %ymm0
	vmovdqu		32(P), %ymm1
	vmovdqu		64(P), %ymm2
	vmovdqu		96(P), %ymm3
	add		$128, P
	sub		$(128 + 128), LEN
	vbroadcasti128	.Lfold_1024(%rip), %ymm8
1:	fold		%ymm0, (P), %ymm8, %ymm4
	fold		%ymm1, 32(P), %ymm8, %ymm5
	fold		%ymm2, 64(P), %ymm8, %ymm6
	fold		%ymm3, 96(P), %ymm8, %ymm7
	sub		$-128, P
	sub		$128, LEN
	jae		1b
	add		$128, LEN

	vbroadcasti128	.Lfold_256(%rip), %ymm8
	fold		%ymm0, %ymm1, %ymm8, %ymm4
	fold		%ymm0, %ymm2, %ymm8, %ymm4
	fold		%ymm0, %ymm3, %ymm8, %ymm4
	/* The low lane moves onto the high one. */
	vextracti128	$1, %ymm0, %xmm1
	vmovdqa		.Lfold_128(%rip), %xmm8
	fold		%xmm0, %xmm1, %xmm8, %xmm4
	finish
	vzeroupper
	RET
SYM_FUNC_END(sroce_fold_wide)
