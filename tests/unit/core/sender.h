/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A requester with a small store of requests, for tests. */
#ifndef SROCE_TEST_SENDER_H
#define SROCE_TEST_SENDER_H

#include "completer.h"
#include "recovery.h"
#include "test_packet.h"
#include "resp_res.h"
#include "tap.h"

struct sender {
	struct sroce_requester r;
	struct sroce_wr wrs[16];
	struct sroce_outgoing out;
};

static inline void sender_init(struct sender *s, u32 psn)
{
	memset(s, 0, sizeof(*s));
	psn &= SROCE_PSN_MASK;
	s->r = (struct sroce_requester) {
		.in = { s->wrs, ARRAY_SIZE(s->wrs) - 1, -2, -2, -2 },
		.mtu = MTU,
		.transport = SROCE_RC,
		.max_reads = 2,
		.retry_count = 3,
		.retry_left = 3,
		.rnr_retry = 2,
		.rnr_left = 2,
	};
	sroce_requester_begin(&s->r, psn);
	sroce_cc_init(&s->r.cc, 64);
	/* A path that is known. */
	s->r.cc.rate = 1;
}

static inline struct sroce_wr *post(struct sender *s, u8 opcode, u32 length)
{
	struct sroce_wr *wr = sroce_inflight_wr(&s->r.in, s->r.in.tail++);

	*wr = (struct sroce_wr) {
		.remote_addr = 0x10000,
		.rkey = 0x99,
		.length = length,
		.opcode = opcode,
		.packets = sroce_packets(length, s->r.mtu),
	};
	return wr;
}

/* The next packet is @operation at @psn; send it. */
#define SEND(s, operation, at) do {					\
	EQUAL(sroce_requester_next(&(s)->r, &(s)->out),			\
	      SROCE_NEXT_PACKET);					\
	EQUAL((s)->out.pkt.opcode, (s)->r.transport | (operation));	\
	EQUAL((s)->out.pkt.psn, (at) & SROCE_PSN_MASK);			\
	EQUAL((s)->out.pkt.pad, -(s)->out.pkt.payload & 3);		\
	sroce_requester_sent(&(s)->r, &(s)->out);			\
} while (0)

/* Send all that may be sent; why does it stop? */
static inline enum sroce_next send_all(struct sender *s)
{
	enum sroce_next verdict;

	while (!(verdict = sroce_requester_next(&s->r, &s->out)))
		sroce_requester_sent(&s->r, &s->out);
	return verdict;
}

/* Retire what is finished, as a driver does; how many were it? */
static inline u32 complete(struct sender *s)
{
	u32 n;

	for (n = 0; sroce_requester_finished(&s->r); n++)
		sroce_requester_retire(&s->r);
	return n;
}

static inline u32 acknowledge(struct sender *s, u32 psn)
{
	sroce_requester_acknowledge(&s->r, psn & SROCE_PSN_MASK);
	return complete(s);
}

#endif /* SROCE_TEST_SENDER_H */
