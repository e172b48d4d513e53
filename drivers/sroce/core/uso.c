// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Detects UDP segmentation offload that spoils the ICRCs of bursts.  One burst is
 * watched at a time, by its second packet, because a loss can hit any packet.
 */
#include "params.h"
#include "psn.h"
#include "uso.h"

static bool range_includes(u32 psn, u32 packets, u32 wanted)
{
	s32 at = sroce_psn_diff(wanted, psn);

	return at >= 0 && at < (s32)packets;
}

static void start_watch(struct sroce_uso *uso, u32 psn, u32 packets, bool again)
{
	uso->first = psn;
	uso->packets = packets;
	uso->again = again;
	uso->state = SROCE_USO_SENT;
}

/*
 * The result of the watched burst.  Only a burst that was sent for the first time
 * can show that the device is good.
 */
static bool finish_watch(struct sroce_uso *uso, bool spoiled)
{
	uso->state = SROCE_USO_IDLE;
	if (spoiled)
		uso->spoiled++;
	else if (!uso->again)
		uso->spoiled = 0;
	if (uso->spoiled < SROCE_USO_SPOILED)
		return false;
	uso->spoiled = 0;
	return true;
}

/*
 * A burst that is sent for the first time replaces a repeated one, because only the
 * former can show that the device is good.
 */
static bool may_watch(const struct sroce_uso *uso, bool again)
{
	return uso->state == SROCE_USO_IDLE ||
	       (uso->state == SROCE_USO_SENT && uso->again && !again);
}

void sroce_uso_sent(struct sroce_uso *uso, u32 psn, u32 packets, u32 una,
		    bool again)
{
	u32 second = sroce_psn_add(uso->first, 1);

	/* If the first packet has not arrived either, this is a loss. */
	if (uso->state == SROCE_USO_SENT && range_includes(psn, packets, second))
		uso->state = una == second ? SROCE_USO_REPEATED : SROCE_USO_IDLE;
	if (packets > 1 && may_watch(uso, again))
		start_watch(uso, psn, packets, again);
}

bool sroce_uso_acked(struct sroce_uso *uso, u32 una)
{
	s32 arrived = sroce_psn_diff(una, uso->first);
	u8 state = uso->state;

	if (state == SROCE_USO_IDLE || arrived < 2)
		return false;
	uso->state = SROCE_USO_IDLE;
	/*
	 * The peer has kept later packets: the second one alone was lost.  Or
	 * these are the first ones of other bursts.
	 */
	if (state == SROCE_USO_REPEATED && arrived > 2 &&
	    (uso->packets > 2 || uso->again))
		return false;
	return finish_watch(uso, state == SROCE_USO_REPEATED);
}
