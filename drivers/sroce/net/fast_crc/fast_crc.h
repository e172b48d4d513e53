/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_FAST_CRC_H
#define SROCE_FAST_CRC_H

#include "../../core/icrc.h"

/*
 * Choose the CRC implementation, unless the parameter does.  Context: loading
 * the module.
 */
void sroce_fast_crc_init(void);

/**
 * sroce_fast_crc_begin() - begin the CRCs of a burst
 * @icrc: burst; sroce_fast_crc_end() ends its CRCs
 * @bytes: bytes of the burst
 *
 * Context: bottom halves off.
 */
void sroce_fast_crc_begin(struct sroce_icrc *icrc, u32 bytes);
void sroce_fast_crc_end(const struct sroce_icrc *icrc);

/* CRC of the headers and @len bytes at @p. */
u32 sroce_fast_crc_head(struct sroce_icrc *icrc, const u8 *p, u32 len);
/* The same, after copying @n bytes at @from to @p + @at. */
u32 sroce_fast_crc_copy(struct sroce_icrc *icrc, u8 *p, u32 len, u32 at, const u8 *from,
			u32 n);
/*
 * CRC of the headers and @n bytes at @from, which are copied to @to.  False if one pass cannot
 * do both.
 */
bool sroce_fast_crc_store(const struct sroce_icrc *icrc, const u8 *from, u32 n, u8 *to,
			  u32 *state);
/* Continue a CRC from @state with @len bytes at @p. */
u32 sroce_fast_crc_more(const struct sroce_icrc *icrc, u32 state, const u8 *p,
			u32 len);

/* The names that net/icrc.c uses; without this folder it has its own. */
static __always_inline u32 crc_head(struct sroce_icrc *icrc, const u8 *p,
				    u32 len)
{
	return sroce_fast_crc_head(icrc, p, len);
}

static __always_inline u32 crc_copy(struct sroce_icrc *icrc, u8 *p, u32 len, u32 at,
				    const u8 *from, u32 n)
{
	return sroce_fast_crc_copy(icrc, p, len, at, from, n);
}

static __always_inline bool crc_store(const struct sroce_icrc *icrc, const u8 *from, u32 n,
				      u8 *to, u32 *state)
{
	return sroce_fast_crc_store(icrc, from, n, to, state);
}

static __always_inline u32 crc_more(const struct sroce_icrc *icrc, u32 state,
				    const u8 *p, u32 len)
{
	return sroce_fast_crc_more(icrc, state, p, len);
}

static __always_inline void crc_begin(struct sroce_icrc *icrc, u32 bytes)
{
	sroce_fast_crc_begin(icrc, bytes);
}

static __always_inline void crc_end(const struct sroce_icrc *icrc)
{
	sroce_fast_crc_end(icrc);
}

#endif /* SROCE_FAST_CRC_H */
