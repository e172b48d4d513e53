// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* ICRC of the packets of a burst. */
#include <linux/percpu.h>
#include <linux/udp.h>
#include "../core/icrc_known.h"
#include "icrc.h"
#ifdef SROCE_OUT_OF_TREE
#include "fast_crc/fast_crc.h"
#else
/* CRC of the headers and @len bytes at @p. */
static u32 crc_head(const struct sroce_icrc *icrc, const u8 *p, u32 len)
{
	u32 state = sroce_crc32(SROCE_ICRC_AFTER_LRH, icrc->head + icrc->ip,
				SROCE_ICRC_END - icrc->ip);

	return sroce_crc32(state, p, len);
}

/* The same, after copying @n bytes at @from to @p + @at. */
static u32 crc_copy(const struct sroce_icrc *icrc, u8 *p, u32 len, u32 at, const u8 *from,
		    u32 n)
{
	memcpy(p + at, from, n);
	return crc_head(icrc, p, len);
}

/* Only net/fast_crc copies @n bytes at @from to @to while it computes their CRC. */
static bool crc_store(const struct sroce_icrc *icrc, const u8 *from, u32 n, u8 *to, u32 *state)
{
	return false;
}

/* Continue a CRC from @state with @len bytes at @p. */
static u32 crc_more(const struct sroce_icrc *icrc, u32 state, const u8 *p,
		    u32 len)
{
	return sroce_crc32(state, p, len);
}

/* Only net/fast_crc prepares a burst. */
static void crc_begin(struct sroce_icrc *icrc, u32 bytes)
{
}

static void crc_end(const struct sroce_icrc *icrc)
{
}
#endif

/* CRC of the headers and the @len bytes at @r, in any layout.  Moves @r past them. */
static noinline bool crc_rest(struct sroce_icrc *icrc, struct sroce_reader *r, u32 len,
			      u32 *state)
{
	const u8 *p = icrc->head;
	u32 n = len;

	if (n)
		p = sroce_reader_piece(r, &n);
	if (!p)
		return false;
	*state = crc_head(icrc, p, n);
	for (len -= n; len; len -= n) {
		n = len;
		p = sroce_reader_piece(r, &n);
		if (!p)
			return false;
		*state = crc_more(icrc, *state, p, n);
	}
	return true;
}

/*
 * CRC of a packet in a layout that our bursts do not have.  Moves @r to the
 * trailer.
 */
static noinline bool crc_pieces(struct sroce_icrc *icrc, u32 index,
				struct sroce_reader *r, u32 len, u32 *state)
{
	u8 buffer[SROCE_BTH_BYTES];
	const u8 *p;

	p = sroce_reader_take(r, SROCE_BTH_BYTES, buffer);
	if (!p)
		return false;
	sroce_icrc_head(icrc, index, p, len + sizeof(struct udphdr));
	return crc_rest(icrc, r, len - SROCE_BTH_BYTES - SROCE_ICRC_BYTES, state);
}

/*
 * Find the trailer of the packet of @len bytes at @r, and compute its ICRC.
 * Moves @r past the packet.  A trailer that is not contiguous is copied to
 * @buffer.  Returns NULL if the packet is too short.
 */
static __always_inline const u8 *
crc_packet(struct sroce_icrc *icrc, u32 index, struct sroce_reader *r, u32 len,
	   u8 *buffer, __le32 *trailer)
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
		state = crc_head(icrc, p, rest);
	} else {
		if (!crc_pieces(icrc, index, r, len, &state))
			return NULL;
		to = sroce_reader_take(r, SROCE_ICRC_BYTES, buffer);
	}
	*trailer = sroce_icrc_final(state);
	return to;
}

static DEFINE_PER_CPU(struct sroce_icrc_known [SROCE_ICRC_KNOWN], known_headers);

void __init sroce_icrc_init(void)
{
	sroce_icrc_known_init();
#ifdef SROCE_OUT_OF_TREE
	sroce_fast_crc_init();
#endif
}

__le32 sroce_icrc_alone(const u8 *ip, u32 len)
{
	u32 state = sroce_icrc_known(this_cpu_ptr(known_headers), ip);

	lockdep_assert_in_softirq();
	return sroce_icrc_final(sroce_crc32(state, ip + SROCE_ICRC_KNOWN_BYTES,
					    len - SROCE_BTH_BYTES -
					    SROCE_ICRC_BYTES));
}

/* Copy the payload of a packet of @len bytes at @r, and compute its ICRC; moves @r. */
static const u8 *crc_uncopied(struct sroce_icrc *icrc, u32 index, struct sroce_reader *r,
			      u32 len, const void *from, __le32 *trailer)
{
	u8 *bth = (u8 *)sroce_reader_take(r, len, NULL);
	u32 state;

	sroce_icrc_head(icrc, index, bth, len + sizeof(struct udphdr));
	state = crc_copy(icrc, bth + SROCE_BTH_BYTES, len - SROCE_BTH_BYTES - SROCE_ICRC_BYTES,
			 sroce_header_bytes(bth) - SROCE_BTH_BYTES, from,
			 sroce_payload_bytes(bth, len));
	*trailer = sroce_icrc_final(state);
	return bth + len - SROCE_ICRC_BYTES;
}

void sroce_icrc_write(struct sroce_icrc *icrc, struct sroce_reader r, u32 size,
		      u32 left, const struct sroce_uncopied *uncopied)
{
	u32 i, len;

	crc_begin(icrc, left);
	for (i = 0; left; i++, left -= len) {
		const u8 *to;
		__le32 trailer;

		len = min(left, size);
		if (uncopied->packets >> i & 1)
			to = crc_uncopied(icrc, i, &r, len, uncopied->from[i], &trailer);
		else
			to = crc_packet(icrc, i, &r, len, NULL, &trailer);
		memcpy((u8 *)to, &trailer, sizeof(trailer));
	}
	crc_end(icrc);
}

u64 sroce_icrc_check(struct sroce_icrc *icrc, u32 index, struct sroce_reader r,
		     u32 size, u32 left)
{
	u8 buffer[SROCE_ICRC_BYTES];
	u64 good = 0, bit;
	u32 len;

	crc_begin(icrc, left);
	for (bit = 1; left; bit <<= 1, index++, left -= len) {
		const u8 *found;
		__le32 right;

		len = min(left, size);
		found = crc_packet(icrc, index, &r, len, buffer, &right);
		if (found && !memcmp(found, &right, sizeof(right)))
			good |= bit;
	}
	crc_end(icrc);
	return good;
}

void sroce_icrc_store_begin(struct sroce_icrc *icrc, u32 bytes)
{
	crc_begin(icrc, bytes);
}

void sroce_icrc_store_end(const struct sroce_icrc *icrc)
{
	crc_end(icrc);
}

/* Apart, because a buffer on the stack slows each call down. */
static noinline bool has_scattered_trailer(struct sroce_reader r, __le32 right)
{
	__le32 trailer;

	return sroce_reader_copy(&r, &trailer, sizeof(trailer)) && trailer == right;
}

/* Is the ICRC at @r that of @state?  @r stays there. */
static __always_inline bool has_trailer(struct sroce_reader *r, u32 state)
{
	const __le32 right = sroce_icrc_final(state);

	if (!r->left)
		sroce_reader_refill(r);
	if (likely(r->left >= sizeof(right)))
		return get_unaligned((const __le32 *)r->p) == right;
	return has_scattered_trailer(*r, right);
}

/* Checks the ICRC first, and then copies. */
static noinline bool check_and_store(struct sroce_icrc *icrc, struct sroce_reader *r, u32 len,
				     u8 *to)
{
	struct sroce_reader payload = *r;
	u32 state;

	return crc_rest(icrc, r, len, &state) && has_trailer(r, state) &&
	       sroce_reader_store(&payload, to, len);
}

bool sroce_icrc_store(struct sroce_icrc *icrc, u32 index, const u8 *bth,
		      struct sroce_reader *r, u32 len, u8 *to)
{
	u32 state;

	sroce_icrc_head(icrc, index, bth,
			sizeof(struct udphdr) + SROCE_BTH_BYTES + len + SROCE_ICRC_BYTES);
	if (!r->left)
		sroce_reader_refill(r);
	if (likely(r->left >= len && crc_store(icrc, r->p, len, to, &state))) {
		r->p += len;
		r->left -= len;
		/* Programs that poll the end of the message see this before. */
		smp_wmb();
		return has_trailer(r, state);
	}
	return check_and_store(icrc, r, len, to);
}
