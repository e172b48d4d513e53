// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/jump_label.h>
#include <linux/udp.h>
#include "core/icrc.h"
#include "crc.h"

#ifdef CONFIG_X86_64
#include <asm/cpufeature.h>
#include <asm/fpu/api.h>
#include <asm/simd.h>
#include <linux/linkage.h>

/* Less than this is not worth the registers. */
#define WORTH_BYTES	512
/* What sroce_fold_wide() needs at least, */
#define WIDE_BYTES	208
/* and both in front of it. */
#define LEAST_HEAD	48

static DEFINE_STATIC_KEY_FALSE(narrow);
static DEFINE_STATIC_KEY_FALSE(wide);

asmlinkage u32 sroce_fold(const void *head, const void *p, size_t len,
			  size_t n);
asmlinkage u32 sroce_fold_wide(const void *head, const void *p, size_t len,
			       size_t n);

/* The kernel clears the feature bits of registers that it does not save. */
void sroce_crc_init(void)
{
	if (!boot_cpu_has(X86_FEATURE_AVX) ||
	    !boot_cpu_has(X86_FEATURE_PCLMULQDQ))
		return;
	static_branch_enable(&narrow);
	if (boot_cpu_has(X86_FEATURE_AVX2) &&
	    boot_cpu_has(X86_FEATURE_VPCLMULQDQ))
		static_branch_enable(&wide);
}

/*
 * Saving the caller's vector registers costs more than the CRC of a short
 * packet, so it is done once a burst, and only if there is enough to do.
 */
static bool begin(u32 bytes)
{
	if (!static_branch_likely(&narrow) || bytes < WORTH_BYTES ||
	    !may_use_simd())
		return false;
	kernel_fpu_begin();
	return true;
}

static void end(bool fast)
{
	if (fast)
		kernel_fpu_end();
}

static __always_inline u32 fold(const void *head, const void *p, u32 len,
				u32 n)
{
	if (static_branch_likely(&wide) && len >= WIDE_BYTES)
		return sroce_fold_wide(head, p, len, n);
	return sroce_fold(head, p, len, n);
}

/* The headers, and @len bytes that follow. */
static __always_inline u32 crc_head(struct sroce_icrc *icrc, const u8 *p,
				    u32 len)
{
	u32 odd = len % SROCE_ICRC_STEP;
	u32 start = sroce_icrc_start(icrc, odd);

	if (odd && len > odd)
		memcpy(icrc->head + SROCE_ICRC_END, p, SROCE_ICRC_STEP);
	else if (odd)
		memcpy(icrc->head + SROCE_ICRC_END, p, odd);
	return fold(icrc->head + start, p + odd, len - odd,
		    SROCE_ICRC_END + odd - start);
}

/* Zeros in front of the first bytes, and the state in them. */
static u32 crc_more(u32 state, const u8 *p, u32 len)
{
	u32 odd = len % SROCE_ICRC_STEP;
	u32 head[LEAST_HEAD / sizeof(u32)] = {};
	u32 *first = head + ARRAY_SIZE(head) - SROCE_ICRC_STEP / sizeof(u32);

	if (odd)
		state = sroce_crc32(state, p, odd);
	if (len == odd)
		return state;
	memcpy(first, p + odd, SROCE_ICRC_STEP);
	*first ^= state;
	return fold(head, p + odd + SROCE_ICRC_STEP,
		    len - odd - SROCE_ICRC_STEP, sizeof(head));
}

#else /* other processors have the library's */

void sroce_crc_init(void)
{
}

static bool begin(u32 bytes)
{
	return false;
}

static void end(bool fast)
{
}

static u32 crc_head(struct sroce_icrc *icrc, const u8 *p, u32 len)
{
	return 0;
}

static u32 crc_more(u32 state, const u8 *p, u32 len)
{
	return 0;
}

#endif /* CONFIG_X86_64 */

static u32 crc_head_slowly(struct sroce_icrc *icrc, const u8 *p, u32 len)
{
	const u8 *ip = icrc->head + icrc->ip;
	u32 n = SROCE_ICRC_END - icrc->ip;

	return sroce_crc32(sroce_crc32(SROCE_ICRC_AFTER_LRH, ip, n), p, len);
}

/* Of a packet in other pieces than our own: its CRC, @r moved to its trailer. */
static noinline bool crc_pieces(bool fast, struct sroce_icrc *icrc, u32 index,
				struct sroce_reader *r, u32 len, u32 *state)
{
	u8 buffer[SROCE_BTH_BYTES];
	const u8 *p;
	u32 n;

	p = sroce_reader_take(r, SROCE_BTH_BYTES, buffer);
	if (!p)
		return false;
	sroce_icrc_head(icrc, index, p, len + sizeof(struct udphdr));
	len -= SROCE_BTH_BYTES + SROCE_ICRC_BYTES;
	n = len;
	if (n)
		p = sroce_reader_piece(r, &n);
	if (!p)
		return false;
	*state = fast ? crc_head(icrc, p, n) : crc_head_slowly(icrc, p, n);
	for (len -= n; len; len -= n) {
		n = len;
		p = sroce_reader_piece(r, &n);
		if (!p)
			return false;
		*state = fast ? crc_more(*state, p, n) :
				sroce_crc32(*state, p, n);
	}
	return true;
}

/*
 * Finds the trailer of the packet of @len bytes at @r, which is moved behind
 * it, and what has to be there.  A trailer in pieces is copied to @buffer; NULL
 * if there is none.
 */
static __always_inline const u8 *
crc_packet(bool fast, struct sroce_icrc *icrc, u32 index,
	   struct sroce_reader *r, u32 len, u8 *buffer, __le32 *trailer)
{
	u32 rest = len - SROCE_BTH_BYTES - SROCE_ICRC_BYTES;
	const u8 *bth, *p, *to;
	u32 state;

	if (unlikely(len < SROCE_BTH_BYTES + SROCE_ICRC_BYTES))
		return NULL;
	if (unlikely(!r->left))
		sroce_reader_refill(r);
	if (r->left >= len) {
		bth = sroce_reader_take(r, len, NULL);
		p = bth + SROCE_BTH_BYTES;
		to = p + rest;
	} else {
		p = sroce_reader_payload(r, SROCE_BTH_BYTES, rest,
					 SROCE_ICRC_BYTES, &bth, &to);
	}
	if (likely(p)) {
		sroce_icrc_head(icrc, index, bth, len + sizeof(struct udphdr));
		state = fast ? crc_head(icrc, p, rest) :
			       crc_head_slowly(icrc, p, rest);
	} else {
		if (!crc_pieces(fast, icrc, index, r, len, &state))
			return NULL;
		to = sroce_reader_take(r, SROCE_ICRC_BYTES, buffer);
	}
	*trailer = sroce_icrc_final(state);
	return to;
}

void sroce_crc_sign(struct sroce_icrc *icrc, struct sroce_reader r, u32 size,
		    u32 left)
{
	bool fast = begin(left);
	u32 i, len;

	for (i = 0; left; i++, left -= len) {
		const u8 *to;
		__le32 trailer;

		len = min(left, size);
		to = crc_packet(fast, icrc, i, &r, len, NULL, &trailer);
		memcpy((u8 *)to, &trailer, sizeof(trailer));
	}
	end(fast);
}

u64 sroce_crc_check(struct sroce_icrc *icrc, u32 index, struct sroce_reader r,
		    u32 size, u32 left)
{
	bool fast = begin(left);
	u8 buffer[SROCE_ICRC_BYTES];
	u64 good = 0, bit;
	u32 len;

	for (bit = 1; left; bit <<= 1, index++, left -= len) {
		const u8 *found;
		__le32 right;

		len = min(left, size);
		found = crc_packet(fast, icrc, index, &r, len, buffer, &right);
		if (found && !memcmp(found, &right, sizeof(right)))
			good |= bit;
	}
	end(fast);
	return good;
}
