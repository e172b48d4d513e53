// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory that changes while it is sent: trees and hash tables whose readers detect a
 * torn value by themselves, or a log whose last page is replicated again and again.
 * Changes of attached pages spoil ICRCs, and each time packets are lost.  Only the
 * first ones may be: then the payload is copied.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "transfer.h"

#define DEPTH	8

/**
 * struct changer - thread that changes every 64th byte, round and round
 * @thread: the thread
 * @side: whose memory it changes
 * @length: bytes of it
 * @end: it shall end
 */
struct changer {
	pthread_t thread;
	const struct side *side;
	size_t length;
	atomic_bool end;
};

static void *change(void *arg)
{
	struct changer *c = arg;
	uint8_t *at = c->side->buf;
	size_t i;

	while (!atomic_load(&c->end))
		for (i = 0; i < c->length; i += 64)
			__atomic_store_n(&at[i], at[i] + 1, __ATOMIC_RELAXED);
	return NULL;
}

static bool changer_start(struct changer *c, const struct side *side, size_t length)
{
	c->side = side;
	c->length = length;
	atomic_init(&c->end, false);
	return CHECK(!pthread_create(&c->thread, NULL, change, c));
}

static void changer_stop(struct changer *c)
{
	atomic_store(&c->end, true);
	pthread_join(c->thread, NULL);
}

/**
 * struct flow - messages from hot memory
 * @name: of the test
 * @opcode: READ, WRITE or SEND
 * @length: bytes of each
 * @count: number of messages
 */
struct flow {
	const char *name;
	enum ibv_wr_opcode opcode;
	uint32_t length;
	int count;
};

static bool post(struct pair *pair, const struct flow *flow, int i)
{
	size_t at = (size_t)i % DEPTH * flow->length;

	if (flow->opcode != IBV_WR_SEND)
		return CHECK_CALL(post_rdma(&pair->a, &pair->b, flow->opcode, i, at, at,
					    flow->length, IBV_SEND_SIGNALED), 0);
	return CHECK_CALL(post_recv(&pair->b, i, at, flow->length), 0) &&
	       CHECK_CALL(post_send(&pair->a, i, at, flow->length, IBV_SEND_SIGNALED), 0);
}

static bool finish(struct pair *pair, const struct flow *flow, int i)
{
	return EXPECT(pair->a.scq, pair->a.qp, .wr_id = i,
		      .opcode = flow->opcode == IBV_WR_RDMA_READ ? IBV_WC_RDMA_READ :
				flow->opcode == IBV_WR_SEND ? IBV_WC_SEND : IBV_WC_RDMA_WRITE,
		      .length = flow->length) &&
	       (flow->opcode != IBV_WR_SEND ||
		EXPECT(pair->b.rcq, pair->b.qp, .wr_id = i, .opcode = IBV_WC_RECV,
		       .length = flow->length));
}

static void run_flow(const void *arg)
{
	const struct flow *flow = arg;
	const struct options options = { .size = DEPTH * flow->length };
	bool read = flow->opcode == IBV_WR_RDMA_READ;
	const struct side *from, *to;
	struct changer changer;
	struct pair pair;
	uint64_t start;
	long long damaged, repeats;
	int i;

	REQUIRE(pair_up(&pair, &options));
	from = read ? &pair.b : &pair.a;
	to = read ? &pair.a : &pair.b;
	damaged = counter(to->host, "rx_icrc_encapsulated");
	repeats = counter(pair.a.host, "tx_retransmits");
	REQUIRE(changer_start(&changer, from, DEPTH * flow->length));
	start = now_ms();
	for (i = 0; i < flow->count + DEPTH; i++) {
		if (i >= DEPTH && !finish(&pair, flow, i - DEPTH))
			break;
		if (i < flow->count && !post(&pair, flow, i))
			break;
	}
	changer_stop(&changer);
	damaged = counter(to->host, "rx_icrc_encapsulated") - damaged;
	repeats = counter(pair.a.host, "tx_retransmits") - repeats;
	diag("%d messages, %lld damaged packets, %lld repeats, %lu ms", flow->count, damaged,
	     repeats, (unsigned long)(now_ms() - start));
	/* Some are in flight at each conflict.  Without the copies it is a tenth to a third. */
	CHECK(damaged <= flow->count / 64 + 32);
	pair_down(&pair);
}

GROUP(hot)
{
	static const struct flow flows[] = {
		{ "READs", IBV_WR_RDMA_READ, 1024, 8000 },
		{ "WRITEs", IBV_WR_RDMA_WRITE, 1024, 8000 },
		{ "SENDs", IBV_WR_SEND, 1024, 8000 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(flows); i++)
		run_test(run_flow, &flows[i], "memory that changes: %s", flows[i].name);
}
