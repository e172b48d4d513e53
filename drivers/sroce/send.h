/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_SEND_H
#define SROCE_SEND_H

#include "burst.h"
#include "loop.h"
#include "qp.h"
#include "rx.h"

/* Bursts, and looks at the ring, in one go; the rest is sroce_worker_wake()'s. */
#define SROCE_SEND_BUDGET	16

static inline void sroce_send_lock(struct sroce_qp *qp)
{
	spin_lock_bh(&qp->sq.lock);
}

/* Completion handlers may post, peers answer: after the lock is gone. */
static inline void sroce_send_unlock(struct sroce_qp *qp)
{
	sroce_grip_drop(&qp->sq.grip);
	spin_unlock(&qp->sq.lock);
	if (qp->sq.cq)
		sroce_cq_notify(qp->sq.cq);
	sroce_loop_run();
	local_bh_enable();
}

/**
 * sroce_send_run() - send whatever can be sent
 * @qp: any type; sq.lock held
 *
 * Takes new entries out of the ring, builds and transmits, and asks for a kick
 * if nothing else will make it look again.
 */
void sroce_send_run(struct sroce_qp *qp);

/**
 * sroce_send_kicked() - a process has rung the doorbell
 * @qp: any type; sq.lock held
 *
 * Sends.  If the process posts in a stream, what it posts next is gathered for
 * a moment, and fewer kicks are asked for.
 */
void sroce_send_kicked(struct sroce_qp *qp);

/**
 * sroce_send_answered() - a response or acknowledgment has arrived
 * @qp: RC; sq.lock held; sroce_send_run() follows
 * @rx: the packet, its ICRC verified
 */
void sroce_send_answered(struct sroce_qp *qp, const struct sroce_rx *rx);

/**
 * sroce_send_predicted() - take the READ data that was to come next
 * @qp: any type; sq.lock held; sroce_send_run() follows
 * @bth: base transport header of an intact packet for this QP and transport
 * @payload: reads its payload; moved behind it if that was taken
 * @len: of the payload and pad, bytes
 *
 * Return: false if it is something else: then it is sroce_send_answered()'s.
 */
bool sroce_send_predicted(struct sroce_qp *qp, const u8 *bth,
			  struct sroce_reader *payload, u32 len);

/**
 * sroce_send_complete() - finish the oldest request
 * @qp: the QP, sq.lock held
 * @status: enum sroce_status
 */
void sroce_send_complete(struct sroce_qp *qp, u8 status);

/**
 * sroce_send_fail() - the oldest request fails and takes the QP with it
 * @qp: the QP, sq.lock held
 * @status: enum sroce_status
 */
void sroce_send_fail(struct sroce_qp *qp, u8 status);

/**
 * sroce_send_flush() - complete requests of a QP in error, in order
 * @qp: the QP, sq.lock held
 *
 * Return: true if there are more.
 */
bool sroce_send_flush(struct sroce_qp *qp);

/* Forget everything that was posted (RESET); sq.lock held. */
void sroce_send_reset(struct sroce_qp *qp);

enum hrtimer_restart sroce_send_timeout(struct hrtimer *timer);
enum hrtimer_restart sroce_send_gathered(struct hrtimer *timer);

/**
 * sroce_send_held() - does the QP's rate limit keep it from sending now?
 * @qp: the QP; its send lock is held
 *
 * Return: true if it is paused, and will go on by itself.
 */
bool sroce_send_held(struct sroce_qp *qp);

/**
 * sroce_send_charge() - a burst goes out and costs its time
 * @qp: the QP; its send lock is held
 * @burst: before sroce_burst_send(); may be empty
 */
void sroce_send_charge(struct sroce_qp *qp, const struct sroce_burst *burst);

/* A new limit, kilobits per second, or 0 for none; takes effect at once. */
void sroce_send_limit(struct sroce_qp *qp, u32 rate);

#endif /* SROCE_SEND_H */
