/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_RTX_H
#define SROCE_RTX_H

#include "requester.h"
#include "rtt.h"

/**
 * struct sroce_sample - sample of the round trip
 * @at: when the sampled packets were sent
 * @psn: all packets before it belong to the sample
 * @flight: packets that were unacknowledged then
 * @skip: flights left until the next sample
 * @running: a sample is being taken
 * @rexmit: likewise, of a retransmission; only with &sroce_rtx.upper_bound
 * @repair: likewise, of the packet before &sroce_rtx.repair_psn
 */
struct sroce_sample {
	u64 at;
	u32 psn;
	u32 flight;
	u8 skip;
	bool running;
	bool rexmit;
	bool repair;
};

/**
 * struct sroce_probe - probes for lost packets; see sroce_rtx_probe()
 * @since: begin of the wait that ended with the last probe
 * @psn: PSN that this probe has repeated
 * @late: delay of the response that it had waited for, ns; or 0
 * @floor: minimum interval before a probe, because responses were late
 * @spurious: consecutive spurious probes, at most SROCE_SPURIOUS_PROBES
 * @count: number of probes since the latest progress
 * @undecided: a probe was sent, and it is not known whether it was needed
 * @due: the driver is to send the oldest packet
 */
struct sroce_probe {
	u64 since;
	u32 psn;
	u32 late;
	u32 floor;
	u8 spurious;
	u8 count;
	bool undecided;
	bool due;
};

/**
 * struct sroce_rtx - when a requester sends again
 * @timeout: the QP's attribute, nanoseconds; 0 for no timeout
 * @deadline: when @armed: the time to call sroce_rtx_expired(), or the end of
 *	another wait of the driver's
 * @expires: when @expires_set: the retransmission timeout
 * @quiet_since: the latest progress or retransmission
 * @rtt: round trips
 * @sample: the next of them
 * @probe: probes
 * @repair_at: when packets were repeated after a NAK
 * @repair_psn: one past the PSN of the first of them
 * @resent_to: packets before this PSN may have been sent twice
 * @armed: there is a deadline
 * @expires_set: @expires belongs to the packets that are unacknowledged now
 * @upper_bound: @rtt, or the sample being taken, is an upper bound
 * @resent: packets before @resent_to are unacknowledged
 *
 * All times are nanoseconds of one monotonic clock.
 */
struct sroce_rtx {
	u64 timeout;
	u64 deadline;
	u64 expires;
	u64 quiet_since;
	struct sroce_rtt rtt;
	struct sroce_sample sample;
	struct sroce_probe probe;
	u64 repair_at;
	u32 repair_psn;
	u32 resent_to;
	bool armed;
	bool expires_set;
	bool upper_bound;
	bool resent;
};

enum sroce_rtx_action {
	SROCE_RTX_NOTHING,	/* nothing is unacknowledged */
	SROCE_RTX_PROBE,	/* sroce_rtx_probe() */
	SROCE_RTX_RETRY,	/* sroce_completer_retry(), or fail */
	SROCE_RTX_REFUSED,	/* fail with @refusal of the requester */
};

/* Forget everything except the timeout. */
static inline void sroce_rtx_reset(struct sroce_rtx *x)
{
	*x = (struct sroce_rtx) { .timeout = x->timeout };
}

/*
 * Does the requester wait for something that a timeout can end?  Behind a refused request the
 * peer is silent, also if the QP has no timeout.
 */
static inline bool sroce_rtx_waits(const struct sroce_rtx *x,
				   const struct sroce_requester *r)
{
	return (x->timeout || r->refusal) && sroce_requester_waits(r);
}

/**
 * sroce_rtx_progress() - something was acknowledged, or the first packet sent
 * @x: state
 * @r: the requester
 * @from: the packets from this PSN to @r->psn have just been sent
 * @now: the time; not read if nothing is sampled and nothing waits
 *
 * Takes a sample if one is complete, and sets the deadline.
 */
void sroce_rtx_progress(struct sroce_rtx *x, struct sroce_requester *r, u32 from,
			u64 now);

/**
 * sroce_rtx_paced() - the same, but the next packet has to wait for its time
 * @x: state
 * @r: the requester
 * @from: the packets from this PSN to @r->psn have just been sent
 * @now: the time
 *
 * Takes a sample if one is complete.  The deadline is not changed.
 */
void sroce_rtx_paced(struct sroce_rtx *x, struct sroce_requester *r, u32 from, u64 now);

/**
 * sroce_rtx_ahead() - a response behind a missing one has arrived
 * @x: state; the deadline, if any, is the one of sroce_rtx_progress()
 * @r: the requester
 * @now: the time
 *
 * The response to a repeated READ comes behind all that the peer has sent before.  While
 * that arrives, another repetition would only fill the queue on the way.  If packets are
 * paced, the interval is long enough, and flows that share a queue would lose their shares.
 */
void sroce_rtx_ahead(struct sroce_rtx *x, const struct sroce_requester *r, u64 now);

/* Does sroce_rtx_progress() read the time? */
static inline bool sroce_rtx_needs_time(const struct sroce_rtx *x,
					const struct sroce_requester *r)
{
	return sroce_rtx_waits(x, r) || x->sample.running || x->sample.rexmit ||
	       x->sample.repair || (x->probe.undecided && !x->probe.late);
}

/**
 * sroce_rtx_resent() - packets are about to be sent again
 * @x: state
 * @r: the requester, before the rewind
 * @now: the time
 */
void sroce_rtx_resent(struct sroce_rtx *x, struct sroce_requester *r, u64 now);

/**
 * sroce_rtx_repaired() - the oldest packet is about to be sent again, alone
 * @x: state
 * @r: the requester
 * @now: the time
 *
 * Call it after sroce_rtx_resent(), and before sroce_completer_repair().
 */
void sroce_rtx_repaired(struct sroce_rtx *x, const struct sroce_requester *r,
			u64 now);

/**
 * sroce_rtx_repair_underway() - can a NAK be about packets that were just repeated?
 * @x: state
 * @r: the requester
 * @now: the time
 *
 * Packets that were repeated for an earlier NAK make the peer report the next gap, whose
 * packet may have been repeated in the meantime.
 *
 * Return: true if the peer has sent the NAK before it could receive them.
 */
bool sroce_rtx_repair_underway(const struct sroce_rtx *x,
			       const struct sroce_requester *r, u64 now);

/**
 * sroce_rtx_echo() - a response without effect has arrived
 * @x: state
 * @r: the requester
 * @psn: its PSN, before @r->una
 *
 * If it is the response to a probe, the probe was unnecessary: the first response was
 * only late.  After several unnecessary probes in a row, probes wait as long as the
 * response was late.  RFC 3522 (Eifel) detects the same for TCP.
 */
void sroce_rtx_echo(struct sroce_rtx *x, const struct sroce_requester *r,
		    u32 psn);

/**
 * sroce_rtx_expired() - the deadline has passed
 * @x: state; not armed any more
 * @r: the requester; no RNR wait runs
 *
 * Return: enum sroce_rtx_action.
 */
enum sroce_rtx_action sroce_rtx_expired(const struct sroce_rtx *x,
					const struct sroce_requester *r);

/**
 * sroce_rtx_probe() - ask the peer what it has received
 * @x: state
 * @r: the requester; rewound if READs or atomics are outstanding
 * @now: the time
 *
 * The probe repeats the oldest packet, because the peer always answers it.  The
 * peer sends only one NAK for a gap, and that may be lost (vol. 1, 9.7).  If
 * nothing was lost, the probe is a harmless duplicate.  A probe is no retry: the
 * peer still has the time that the QP's attribute allows.  RFC 8985 has the same
 * for TCP.
 */
void sroce_rtx_probe(struct sroce_rtx *x, struct sroce_requester *r, u64 now);

/* Retransmissions have the whole timeout again (vol. 1, 9.7.6.1.3). */
static inline void sroce_rtx_restart(struct sroce_rtx *x)
{
	x->expires_set = false;
}

/* An RNR NAK arrived: the response to the sampled packets will be late. */
static inline void sroce_rtx_rnr(struct sroce_rtx *x)
{
	x->sample.running = false;
	x->sample.rexmit = false;
	x->sample.repair = false;
	x->expires_set = false;
}

#endif /* SROCE_RTX_H */
