// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "inflight.h"

/* Does the request end at or before @psn?  One not started ends nowhere. */
static bool ends_before(const struct sroce_wr *wr, u32 psn)
{
	return wr->started &&
	       sroce_psn_diff(psn, wr->psn) >= (s32)wr->packets;
}

/*
 * Answers are for the oldest requests nearly always, so look there first;
 * PSNs ascend with the index, so bisect after that.
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
