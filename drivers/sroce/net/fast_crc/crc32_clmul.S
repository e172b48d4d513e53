/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * CRC-32 of IEEE 802.3 by carry-less multiplication.
 *
 * Bytes and bits are in the reflected order of the CRC: the first byte of the
 * message, which is lowest in a register, has the highest powers of x.  Let P
 * be the polynomial of the CRC.  Folding moves a register D bits forward in the
 * message: its low half is multiplied by x^(D+32) mod P, its high half by
 * x^(D-32) mod P, and the sum of both is congruent to the register.  The
 * constants are bit-reversed and shifted left by one bit, because a carry-less
 * product has one bit less than the sum of its factors.
 */
#include <linux/linkage.h>

.section .rodata.sroce_crc32_clmul, "a", @progbits
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

#define HEAD	%rdi
#define P	%rsi
#define LEN	%rdx
#define N	%rcx
#define TO	%r8

/* Fold register \x and add it to \to, where its data belongs. */
.macro fold x, to, k, t
	vpclmulqdq	$0x00, \k, \x, \t
	vpclmulqdq	$0x11, \k, \x, \x
	vpxor		\t, \x, \x
	vpxor		\to, \x, \x
.endm

/* Fold the head down to three registers; %xmm0 gets the first. */
.macro shorten
	vmovdqu		(HEAD), %xmm0
	sub		$48, N
	jz		2f
	vmovdqa		.Lfold_128(%rip), %xmm8
1:	fold		%xmm0, 16(HEAD), %xmm8, %xmm4
	add		$16, HEAD
	sub		$16, N
	jnz		1b
2:
.endm

/* Fold in the bytes at \at(P); if \copy, also copy them, through register \d. */
.macro fold_in x, at, k, t, d, copy
.if \copy
	vmovdqu		\at(P), \d
	vmovdqu		\d, \at(P, TO)
	fold		\x, \d, \k, \t
.else
	fold		\x, \at(P), \k, \t
.endif
.endm

/* Fold in the next 64 bytes, from \at on. */
.macro fold_64 at, copy
	fold_in		%xmm0, \at, %xmm8, %xmm4, %xmm9, \copy
	fold_in		%xmm1, (\at + 16), %xmm8, %xmm5, %xmm10, \copy
	fold_in		%xmm2, (\at + 32), %xmm8, %xmm6, %xmm11, \copy
	fold_in		%xmm3, (\at + 48), %xmm8, %xmm7, %xmm12, \copy
.endm

/*
 * Fold in the rest in steps of 16 bytes, then reduce %xmm0 to 32 bits in %eax.
 */
.macro finish copy
	vmovdqa		.Lfold_128(%rip), %xmm8
	jmp		3f
2:	fold_in		%xmm0, 0, %xmm8, %xmm4, %xmm9, \copy
	add		$16, P
3:	sub		$16, LEN
	jae		2b

	/* Fold the low half onto the high half, and append 32 zero bits. */
	vmovdqa		.Lreduce(%rip), %xmm8
	vmovdqa		.Llow_32(%rip), %xmm9
	vpclmulqdq	$0x00, %xmm8, %xmm0, %xmm4
	vpsrldq		$8, %xmm0, %xmm0
	vpxor		%xmm4, %xmm0, %xmm0
	vpand		%xmm9, %xmm0, %xmm4
	vpsrldq		$4, %xmm0, %xmm0
	vpclmulqdq	$0x10, %xmm8, %xmm4, %xmm4
	vpxor		%xmm4, %xmm0, %xmm0
	/* 64 bits are left: Barrett reduction. */
	vmovdqa		.Lbarrett(%rip), %xmm8
	vpand		%xmm9, %xmm0, %xmm4
	vpclmulqdq	$0x00, %xmm8, %xmm4, %xmm4
	vpand		%xmm9, %xmm4, %xmm4
	vpclmulqdq	$0x10, %xmm8, %xmm4, %xmm4
	vpxor		%xmm4, %xmm0, %xmm0
	vpextrd		$1, %xmm0, %eax
.endm

/* Body of sroce_crc32_clmul() and sroce_copy_crc32_clmul(). */
.macro clmul copy
	shorten
	vmovdqu		16(HEAD), %xmm1
	vmovdqu		32(HEAD), %xmm2
	sub		$16, LEN
	jb		7f

	vmovdqu		(P), %xmm3
.if \copy
	sub		P, TO
	vmovdqu		%xmm3, (P, TO)
.endif
	add		$16, P
	vmovdqa		.Lfold_512(%rip), %xmm8
	sub		$256, LEN
	jb		4f
3:	fold_64		0, \copy
	fold_64		64, \copy
	fold_64		128, \copy
	fold_64		192, \copy
	add		$256, P
	sub		$256, LEN
	jae		3b
4:	add		$128, LEN
	js		5f
	fold_64		0, \copy
	fold_64		64, \copy
	sub		$-128, P
	sub		$128, LEN
5:	add		$64, LEN
	js		6f
	fold_64		0, \copy
	add		$64, P
	sub		$64, LEN
6:	add		$64, LEN

	vmovdqa		.Lfold_128(%rip), %xmm8
	fold		%xmm0, %xmm1, %xmm8, %xmm4
	fold		%xmm0, %xmm2, %xmm8, %xmm4
	fold		%xmm0, %xmm3, %xmm8, %xmm4
	finish		\copy
	RET

7:	vmovdqa		.Lfold_128(%rip), %xmm8
	fold		%xmm0, %xmm1, %xmm8, %xmm4
	fold		%xmm0, %xmm2, %xmm8, %xmm4
	xor		%edx, %edx
	finish		0
	RET
.endm

/* Body of sroce_crc32_vclmul() and sroce_copy_crc32_vclmul(). */
.macro vclmul copy
	shorten
	vinserti128	$1, 16(HEAD), %ymm0, %ymm0
	vmovdqu		32(HEAD), %xmm1
	vinserti128	$1, (P), %ymm1, %ymm1
	vmovdqu		16(P), %ymm2
	vmovdqu		48(P), %ymm3
.if \copy
	sub		P, TO
	vextracti128	$1, %ymm1, (P, TO)
	vmovdqu		%ymm2, 16(P, TO)
	vmovdqu		%ymm3, 48(P, TO)
.endif
	add		$80, P
	sub		$(80 + 128), LEN
	vbroadcasti128	.Lfold_1024(%rip), %ymm8
3:	fold_in		%ymm0, 0, %ymm8, %ymm4, %ymm9, \copy
	fold_in		%ymm1, 32, %ymm8, %ymm5, %ymm10, \copy
	fold_in		%ymm2, 64, %ymm8, %ymm6, %ymm11, \copy
	fold_in		%ymm3, 96, %ymm8, %ymm7, %ymm12, \copy
	sub		$-128, P
	sub		$128, LEN
	jae		3b
	add		$128, LEN

	vbroadcasti128	.Lfold_256(%rip), %ymm8
	fold		%ymm0, %ymm1, %ymm8, %ymm4
	fold		%ymm0, %ymm2, %ymm8, %ymm4
	fold		%ymm0, %ymm3, %ymm8, %ymm4
	/* Fold the low lane onto the high one. */
	vextracti128	$1, %ymm0, %xmm1
	vmovdqa		.Lfold_128(%rip), %xmm8
	fold		%xmm0, %xmm1, %xmm8, %xmm4
	finish		\copy
	vzeroupper
	RET
.endm

.text

/*
 * u32 sroce_crc32_clmul(const void *head, const void *p, size_t len, size_t n)
 *
 * CRC, starting from 0, of n bytes at head and len bytes at p, both multiples
 * of 16; n is at least 48.  AVX and PCLMULQDQ.
 */
SYM_FUNC_START(sroce_crc32_clmul)
	clmul		0
SYM_FUNC_END(sroce_crc32_clmul)

/*
 * u32 sroce_copy_crc32_clmul(const void *head, const void *p, size_t len, size_t n,
 *			      void *copy)
 *
 * Like sroce_crc32_clmul(); also copies the len bytes at p.
 */
SYM_FUNC_START(sroce_copy_crc32_clmul)
	clmul		1
SYM_FUNC_END(sroce_copy_crc32_clmul)

/*
 * u32 sroce_crc32_vclmul(const void *head, const void *p, size_t len, size_t n)
 *
 * Like sroce_crc32_clmul(), but len is at least 208.  AVX2 and VPCLMULQDQ.
 */
SYM_FUNC_START(sroce_crc32_vclmul)
	vclmul		0
SYM_FUNC_END(sroce_crc32_vclmul)

/* Like sroce_copy_crc32_clmul(), but len is at least 208.  AVX2 and VPCLMULQDQ. */
SYM_FUNC_START(sroce_copy_crc32_vclmul)
	vclmul		1
SYM_FUNC_END(sroce_copy_crc32_vclmul)
