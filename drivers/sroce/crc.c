// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <crypto/hash.h>
#include <linux/highmem.h>
#include <linux/skbuff.h>
#include "core/env.h"
#include "crc.h"

/*
 * Below this many bytes the table is faster than asking the crypto API, whose
 * implementation may use carry-less multiplication.
 */
#define SHORT_BYTES	64

static struct crypto_shash *crc32;

int sroce_crc_init(void)
{
	crc32 = crypto_alloc_shash("crc32", 0, 0);
	return PTR_ERR_OR_ZERO(crc32);
}

void sroce_crc_exit(void)
{
	crypto_free_shash(crc32);
}

static u32 crc(u32 state, const void *p, u32 len)
{
	SHASH_DESC_ON_STACK(desc, crc32);

	if (len < SHORT_BYTES)
		return sroce_crc32(state, p, len);
	desc->tfm = crc32;
	*(u32 *)shash_desc_ctx(desc) = state;
	if (crypto_shash_update(desc, p, len))
		return sroce_crc32(state, p, len);
	return *(u32 *)shash_desc_ctx(desc);
}

u32 sroce_crc_skb(u32 state, const struct sk_buff *skb, u32 offset, u32 len)
{
	const skb_frag_t *frag = skb_shinfo(skb)->frags;
	const skb_frag_t *end = frag + skb_shinfo(skb)->nr_frags;
	u32 piece = skb_headlen(skb);

	if (offset < piece) {
		piece = min(piece - offset, len);
		state = crc(state, skb->data + offset, piece);
		len -= piece;
		offset = 0;
	} else {
		offset -= piece;
	}
	for (; len && frag < end; frag++) {
		void *p;

		if (offset >= skb_frag_size(frag)) {
			offset -= skb_frag_size(frag);
			continue;
		}
		/* A fragment may span pages of one compound page. */
		piece = min_t(u32, skb_frag_size(frag) - offset, len);
		p = skb_frag_address(frag) + offset;
		state = crc(state, p, piece);
		len -= piece;
		offset = 0;
	}
	return state;
}
