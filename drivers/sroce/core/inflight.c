// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Requests in flight: search by PSN. */
#include "inflight.h"

/* Are all PSNs of the request before @psn?  False if it has not started. */
static bool ends_before(const struct sroce_wr *wr, u32 psn)
{
	return wr->started &&
	       sroce_psn_diff(psn, wr->psn) >= (s32)wr->packets;
}

/*
 * Nearly all responses are for the oldest request, so check that first.  PSNs
 * ascend with the index, so bisect after that.
 */
u32 sroce_inflight_find(const struct sroce_inflight *f, u32 psn)
{
	u32 low = f->head;
	u32 n = f->tail - low;

	if (n && !ends_before(sroce_inflight_wr(f, low), psn))
		return low;
	while (n) {
		u32 half = n / 2;

		if (ends_before(sroce_inflight_wr(f, low + half), psn)) {
			low += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return low;
}
