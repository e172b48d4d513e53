// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Received packets that differ from the last one in PSN and payload only. */
#include "../core/packet.h"
#include "../core/wire.h"
#include "icrc.h"
#include "rx_alike.h"

/*
 * Store packets in the current piece of @to.  @done: number of packets that were stored before;
 * @most: of packets that follow.
 */
static u32 store_in_piece(struct sroce_rx_alike *alike, u32 done, u32 most,
			  struct sroce_sgl_iter *to)
{
	u32 n, psn = sroce_psn_add(sroce_bth_psn(alike->bth), done);
	u64 start = get_unaligned((const u64 *)alike->bth);
	struct sroce_reader r = *alike->reader, stored = r;
	u8 next[SROCE_BTH_BYTES] __uninitialized;
	u32 payload = alike->payload;

	for (n = 0; n < most && to->left >= payload; n++) {
		psn = sroce_psn_add(psn, 1);
		if (!sroce_reader_copy(&r, NULL, SROCE_ICRC_BYTES) ||
		    !sroce_reader_copy(&r, next, SROCE_BTH_BYTES))
			break;
		/* As sroce_headers_read(): the packet may change meanwhile. */
		barrier_data(next);
		if (get_unaligned((u64 *)next) != start ||
		    get_unaligned_be32(next + 8) != psn)
			break;
		if (!(alike->icrc ? sroce_icrc_store(alike->icrc, alike->index + done + n + 1,
						     next, &r, payload, to->p) :
				    sroce_reader_store(&r, to->p, payload)))
			break;
		stored = r;
		to->p += payload;
		to->left -= payload;
	}
	*alike->reader = stored;
	return n;
}

/* Finding the next piece may take a lock, so it is not done while the FPU is in use. */
u32 sroce_rx_store_alike(struct sroce_rx_alike *alike, u32 most, struct sroce_sgl_iter *to)
{
	u32 n = 0, stored;

	while (n < most && sroce_sgl_iter_has(to, alike->payload)) {
		if (alike->icrc)
			sroce_icrc_store_begin(alike->icrc, (most - n) * alike->payload);
		stored = store_in_piece(alike, n, most - n, to);
		if (alike->icrc)
			sroce_icrc_store_end(alike->icrc);
		n += stored;
		if (to->left >= alike->payload)
			break;
	}
	return n;
}
