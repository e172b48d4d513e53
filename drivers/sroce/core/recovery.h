/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_RECOVERY_H
#define SROCE_RECOVERY_H

#include "requester.h"

/**
 * sroce_requester_acknowledge() - all packets before @psn are acknowledged
 * @r: state
 * @psn: from @r->una to @r->sent, inclusive
 *
 * The driver then completes requests while sroce_requester_finished() is true.
 */
void sroce_requester_acknowledge(struct sroce_requester *r, u32 psn);

/**
 * sroce_requester_lost() - reduce the window after losses
 * @r: state, before the rewind or repair
 * @packets: packets known to be lost
 *
 * Losses of one round trip count once, unless they are many.
 */
void sroce_requester_lost(struct sroce_requester *r, u32 packets);

/**
 * sroce_requester_congested() - the network has marked packets of this QP
 * @r: state
 *
 * Reduces the window, once per round trip: packets that were sent before the reduction
 * may be marked, too, and are no new sign.  No effect if nothing is unacknowledged.
 */
void sroce_requester_congested(struct sroce_requester *r);

/**
 * sroce_requester_rewind() - go back to the oldest unacknowledged packet
 * @r: state
 *
 * Everything from there on is sent again, and responses that are held are
 * forgotten.
 */
void sroce_requester_rewind(struct sroce_requester *r);

/* A sequence NAK for @r->una has arrived.  Call it before sroce_requester_lost(). */
void sroce_requester_nak(struct sroce_requester *r);

/**
 * sroce_requester_repair() - the request packet at @r->una is lost
 * @r: state
 *
 * Sends that packet again, then continues where it was.  If the next loss is near, the
 * number of repeated packets doubles.  A peer that acknowledges only the repeated packets
 * drops packets behind a gap: it gets everything again, now and after later losses.  No
 * new packet is sent until this is known.
 */
void sroce_requester_repair(struct sroce_requester *r);

/**
 * sroce_requester_probed() - the oldest packet is about to be repeated as a probe
 * @r: state
 *
 * If the peer acknowledges that packet alone, the packets behind it are lost, too.
 */
static inline void sroce_requester_probed(struct sroce_requester *r)
{
	r->repair.probed = true;
	r->repair.repeated = sroce_psn_add(r->una, 1);
	if (r->repair.repeated_ever == r->una)
		r->repair.repeated_ever = r->repair.repeated;
}

/**
 * sroce_requester_ahead() - take a READ response packet behind a gap
 * @r: state
 * @psn: PSN of the packet, which the completer found to be SROCE_RESP_AHEAD
 *
 * The driver has a copy of the packet.  It passes it to the completer again
 * when @r->una has reached it, and drops its copies when the requester has
 * forgotten the gaps: sroce_requester_holds().
 *
 * Return: false if the packet cannot be taken.
 */
bool sroce_requester_ahead(struct sroce_requester *r, u32 psn);

/**
 * sroce_requester_ask() - request the missing response packets again
 * @r: state
 *
 * Return: false if all of them have been requested again before.
 */
bool sroce_requester_ask(struct sroce_requester *r);

/**
 * sroce_requester_refused() - this host's queue has refused packets
 * @r: state
 * @psn: the first of them; they follow one another
 */
void sroce_requester_refused(struct sroce_requester *r, u32 psn);

#endif /* SROCE_RECOVERY_H */
