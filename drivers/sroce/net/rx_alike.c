// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Received packets that differ from the last one in PSN and payload only. */
#include "../core/packet.h"
#include "../core/wire.h"
#include "rx_alike.h"

u32 sroce_rx_store_alike(struct sroce_reader *reader, const u8 *bth, u32 payload, u32 most,
			 struct sroce_sgl_iter *to)
{
	u32 n, psn = get_unaligned_be32(bth + 8) & SROCE_PSN_MASK;
	u64 start = get_unaligned((const u64 *)bth);
	u8 next[SROCE_BTH_BYTES] __uninitialized;

	for (n = 0; n < most && sroce_sgl_iter_has(to, payload); n++) {
		struct sroce_reader r = *reader;

		psn = sroce_psn_add(psn, 1);
		if (!sroce_reader_copy(&r, NULL, SROCE_ICRC_BYTES) ||
		    !sroce_reader_copy(&r, next, SROCE_BTH_BYTES))
			break;
		/* As sroce_headers_read(): the packet may change meanwhile. */
		barrier_data(next);
		if (get_unaligned((u64 *)next) != start ||
		    get_unaligned_be32(next + 8) != psn ||
		    !sroce_reader_store(&r, to->p, payload))
			break;
		*reader = r;
		to->p += payload;
		to->left -= payload;
	}
	return n;
}
