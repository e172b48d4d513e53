/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A connected QP with memory: the smallest driver of the core.  It is also the
 * specification of how the kernel driver calls the core.  send.c here corresponds
 * to send/req.c and send/response.c there, receive.c to recv/resp.c.
 */
#ifndef SROCE_SIM_ENDPOINT_H
#define SROCE_SIM_ENDPOINT_H

#include "completer.h"
#include "link.h"
#include "recovery.h"
#include "responder.h"
#include "rtx.h"

#define STORE	32	/* requests in flight */
#define HELD	4096	/* packets behind a gap; by their PSN */
#define READS	16
#define RKEY	0x4242

struct receive {
	u32 id;
	u32 offset;
	u32 length;
};

/* @opcode of a receive: SROCE_OP_SEND, _SEND_IMM, _SEND_INV or _WRITE_IMM. */
struct completion {
	u32 id;
	u32 length;
	u32 imm;
	u8 status;
	u8 opcode;
};

/* A copy of a packet behind a gap. */
struct held {
	struct sroce_pkt pkt;
	u8 payload[];
};

struct held_queue {
	struct held *places[HELD];
	u32 count;
};

struct completions {
	struct completion *list;
	u32 count;
	u32 room;
};

/**
 * struct endpoint - a QP, its memory and its timers
 * @name: for traces
 * @rng: chance
 * @in: where packets come from
 * @out: where packets go
 * @memory: all of it; an address is an offset in it
 * @size: of @memory
 * @req: requester
 * @wrs: its store
 * @local: the buffer of each request in the store
 * @rtx: retransmission state; its clock is the virtual one
 * @progress: something was acknowledged since the deadline was set
 * @burst: packets sent in one go
 * @holds: packets behind a gap are held
 * @held_requests: these packets, by their PSN modulo HELD
 * @held_responses: likewise, of a READ
 * @refuse: chance that the transmit queue refuses a packet, permille
 * @resp: responder
 * @peer: the requester whose requests it executes
 * @reads: its responder resources
 * @receives: receive requests, free running
 * @receive_head: the next to take
 * @receive_tail: one past the newest
 * @receive_mask: size - 1
 * @taken: receive request of the message in progress
 * @rnr_code: of the RNR NAK timer field
 * @ack_every: packets that are acknowledged without being asked
 * @answers: packets of READ answers sent in one go
 * @unacked: packets executed since the last acknowledgment
 * @ack_due: an acknowledgment is to be sent
 * @nak: syndrome to report, 0 for none
 * @refused: the NAK ends the connection
 * @failed: the QP is in the error state
 * @rnr_timer: end of the wait after an RNR NAK
 * @work_timer: when to go on with what exceeded its budget
 * @next_cnp: when the next CNP may be sent
 * @free_at: when the next packet may be sent to a distant peer
 * @sends: completions of send requests
 * @recvs: completions of receive requests
 * @resent: packets sent again
 * @repairs: gaps that were filled alone
 * @probes: that were asked for
 * @timeouts: retransmission timeouts
 */
struct endpoint {
	const char *name;
	struct rng *rng;
	struct link *in;
	struct link *out;
	u8 *memory;
	u32 size;

	struct sroce_requester req;
	struct sroce_wr wrs[STORE];
	u32 local[STORE];
	struct sroce_rtx rtx;
	bool progress;
	u32 burst;
	bool holds;
	struct held_queue held_requests;
	struct held_queue held_responses;
	u32 refuse;

	struct sroce_responder resp;
	const struct sroce_requester *peer;
	struct sroce_resource reads[READS];
	struct receive *receives;
	u32 receive_head;
	u32 receive_tail;
	u32 receive_mask;
	struct receive taken;
	u8 rnr_code;
	u32 ack_every;
	u32 answers;
	u32 unacked;
	bool ack_due;
	u8 nak;
	bool refused;

	bool failed;
	u64 rnr_timer;
	u64 work_timer;
	u64 next_cnp;
	u64 free_at;
	struct completions sends;
	struct completions recvs;
	u64 resent;
	u64 repairs;
	u64 probes;
	u64 timeouts;
};

/* endpoint.c */
void endpoint_transmit(struct endpoint *ep, u64 now, struct sroce_pkt *pkt,
		       const u8 *payload);
void endpoint_receive(struct endpoint *ep, u64 now);
void endpoint_timers(struct endpoint *ep, u64 now);
u64 endpoint_next_timer(const struct endpoint *ep);
void endpoint_fail(struct endpoint *ep, u8 status);
bool endpoint_hold(struct held_queue *queue, const struct sroce_pkt *pkt,
		   const u8 *payload);
struct held *endpoint_held(struct held_queue *queue, u32 psn);
void endpoint_drop_held(struct held_queue *queue);
void complete(struct completions *c, struct completion completion);

/* send.c */
bool send_post(struct endpoint *ep, const struct sroce_wr *wr, u32 local);
void send_requests(struct endpoint *ep, u64 now);
void send_take_answer(struct endpoint *ep, u64 now,
		      const struct sroce_pkt *pkt, const u8 *payload);
void send_retry(struct endpoint *ep, u64 now);
void send_expired(struct endpoint *ep, u64 now);

/* receive.c */
bool receive_post(struct endpoint *ep, struct receive receive);
void receive_take_request(struct endpoint *ep, u64 now,
			  const struct sroce_pkt *pkt, const u8 *payload);
void receive_gap_lasts(struct endpoint *ep, u64 now);
void receive_answer(struct endpoint *ep, u64 now);

#endif /* SROCE_SIM_ENDPOINT_H */
