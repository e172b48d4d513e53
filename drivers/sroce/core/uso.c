// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Detects UDP segmentation offload that spoils the ICRCs of bursts or loses them.  One
 * burst is watched at a time, by its second packet, because a loss can hit any packet.  Remembers
 * the peers that did not receive bursts of a netdev.
 */
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
static bool finish_watch(struct sroce_uso *uso, u32 spoiled)
{
	uso->state = SROCE_USO_IDLE;
	if (spoiled)
		uso->spoiled += spoiled;
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
	if (uso->state == SROCE_USO_SENT && uso->lone && psn == uso->first && psn == una)
		uso->state = SROCE_USO_LOST_ALL;
	if (uso->state == SROCE_USO_SENT && range_includes(psn, packets, second))
		uso->state = una == second ? SROCE_USO_REPEATED : SROCE_USO_IDLE;
	if (packets > 1 && may_watch(uso, again))
		start_watch(uso, psn, packets, again);
}

bool sroce_uso_acked(struct sroce_uso *uso, u32 una)
{
	s32 arrived = sroce_psn_diff(una, uso->first);
	u8 state = uso->state;

	if (state == SROCE_USO_LOST_ALL && arrived == 1)
		return finish_watch(uso, SROCE_USO_LOST);
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
	return finish_watch(uso, state == SROCE_USO_REPEATED ? 1 : 0);
}

/* The entry of @addr, else one that is free at @now; SROCE_USO_PEERS if there is none. */
static u32 peer_entry(const struct sroce_uso_peers *peers, u32 addr, u64 now)
{
	u32 i, free = SROCE_USO_PEERS;

	for (i = 0; i < SROCE_USO_PEERS; i++) {
		if (peers->until[i] && peers->addr[i] == addr)
			return i;
		if (peers->until[i] <= now)
			free = i;
	}
	return free;
}

bool sroce_uso_peers_add(struct sroce_uso_peers *peers, u32 addr, u64 now)
{
	u32 i = peer_entry(peers, addr, now);
	bool known;

	if (i == SROCE_USO_PEERS)
		return false;
	known = peers->until[i] && peers->addr[i] == addr;
	peers->addr[i] = addr;
	peers->until[i] = now + SROCE_USO_RETRY_NS;
	return !known;
}

bool sroce_uso_peers_all(const struct sroce_uso_peers *peers, u64 now)
{
	u32 i;

	for (i = 0; i < SROCE_USO_PEERS; i++)
		if (peers->until[i] <= now)
			return false;
	return true;
}

bool sroce_uso_peers_include(const struct sroce_uso_peers *peers, u32 addr, u64 now)
{
	u32 i = peer_entry(peers, addr, now);

	return i == SROCE_USO_PEERS || peers->until[i] > now;
}
