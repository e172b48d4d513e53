// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Finds out if UDP segmentation offload spoils the ICRCs of bursts.  One burst is
 * watched at a time, by its second packet: a loss hits others as well.
 */
#include "params.h"
#include "psn.h"
#include "uso.h"

static bool includes(u32 psn, u32 packets, u32 wanted)
{
	s32 at = sroce_psn_diff(wanted, psn);

	return at >= 0 && at < (s32)packets;
}

void sroce_uso_sent(struct sroce_uso *uso, u32 psn, u32 packets, u32 una)
{
	u32 second = sroce_psn_add(uso->first, 1);

	/* If the first packet has not arrived either, this is a loss. */
	if (uso->state == SROCE_USO_SENT && includes(psn, packets, second))
		uso->state = una == second ? SROCE_USO_REPEATED : SROCE_USO_IDLE;
	if (uso->state == SROCE_USO_IDLE && packets > 1) {
		uso->first = psn;
		uso->state = SROCE_USO_SENT;
	}
}

bool sroce_uso_acked(struct sroce_uso *uso, u32 una)
{
	u8 state = uso->state;

	if (state == SROCE_USO_IDLE || sroce_psn_diff(una, uso->first) < 2)
		return false;
	uso->state = SROCE_USO_IDLE;
	if (state == SROCE_USO_SENT) {
		uso->spoiled = 0;
		return false;
	}
	uso->spoiled++;
	if (uso->spoiled < SROCE_USO_SPOILED)
		return false;
	uso->spoiled = 0;
	return true;
}
