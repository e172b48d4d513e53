// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Shared receive queues.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rdma/sroce-abi.h>

#include "transfer.h"
#include "resources.h"

#define ENTRIES	16

/* Side b's queue; the wr_id of a request is the number of its buffer, 1 KiB each. */
static int post(struct pair *pair, uint64_t id)
{
	return post_recv(&pair->b, id, id % ENTRIES * 1024, 1024);
}

static bool post_many(struct pair *pair, uint64_t first, int n)
{
	while (n--)
		if (!CHECK_CALL(post(pair, first++), 0))
			return false;
	return true;
}

/* A message from a to b takes the request @id. */
static void send_for(struct pair *pair, uint64_t id)
{
	uint32_t length = 100 + id % 900;

	fill(pair->a.buf, length, id);
	CHECK_CALL(post_send(&pair->a, ~id, 0, length, IBV_SEND_SIGNALED), 0);
	EXPECT(pair->b.rcq, pair->b.qp, .wr_id = id, .opcode = IBV_WC_RECV,
	       .length = length);
	EXPECT(pair->a.scq, pair->a.qp, .wr_id = ~id, .opcode = IBV_WC_SEND);
	CHECK(filled(pair->b.buf + id % ENTRIES * 1024, length, id));
}

static void all_operations(const void *arg)
{
	const struct options options = {
		.type = *(const enum ibv_qp_type *)arg, .srq = 64,
	};
	struct pair pair;

	REQUIRE(pair_up(&pair, &options));
	CHECK(works(&pair));
	pair_down(&pair);
}

#define GRH	40

static void datagrams(const void *arg)
{
	const struct options options = { .type = IBV_QPT_UD, .srq = ENTRIES };
	struct pair pair;
	uint64_t id;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	CHECK(post_many(&pair, 1, ENTRIES));
	for (id = 1; id <= ENTRIES; id++) {
		fill(pair.a.buf, 700, id);
		CHECK_CALL(post_datagram(&pair.a, &pair.b, id, 700), 0);
		EXPECT(pair.b.rcq, pair.b.qp, .wr_id = id,
		       .opcode = IBV_WC_RECV, .length = GRH + 700,
		       .src_qp = pair.a.qp->qp_num);
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = id,
		       .opcode = IBV_WC_SEND);
		CHECK(filled(pair.b.buf + id % ENTRIES * 1024 + GRH, 700, id));
	}
	pair_down(&pair);
}

/* The keys in requests are those of the SRQ's protection domain. */
static void several_qps(const void *arg)
{
	const struct options options = { .srq = ENTRIES };
	struct options more;
	struct pair pairs[3];
	uint64_t id;
	int i;

	(void)arg;
	REQUIRE(pair_up(&pairs[0], &options));
	more = (struct options) { .srq_of = &pairs[0] };
	REQUIRE(pair_up(&pairs[1], &more) && pair_up(&pairs[2], &more));
	CHECK(post_many(&pairs[0], 1, 12));
	for (id = 1; id <= 12; id++) {
		struct pair *pair = &pairs[id % 3];

		fill(pair->a.buf, 500, id);
		CHECK_CALL(post_send(&pair->a, id, 0, 500, IBV_SEND_SIGNALED), 0);
		EXPECT(pair->b.rcq, pair->b.qp, .wr_id = id,
		       .opcode = IBV_WC_RECV, .length = 500);
		EXPECT(pair->a.scq, pair->a.qp, .wr_id = id,
		       .opcode = IBV_WC_SEND);
		CHECK(filled(pairs[0].b.buf + id % ENTRIES * 1024, 500, id));
	}
	CHECK(quiet(pairs[2].b.rcq));
	for (i = 2; i >= 0; i--)
		pair_down(&pairs[i]);
}

/* The peer waits, and continues when there is a receive request. */
static void empty(const void *arg)
{
	const struct options options = { .srq = ENTRIES };
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	fill(pair.a.buf, 300, 9);
	CHECK_CALL(post_send(&pair.a, 1, 0, 300, IBV_SEND_SIGNALED), 0);
	CHECK(quiet(pair.b.rcq));
	CHECK_CALL(post(&pair, 5), 0);
	EXPECT(pair.b.rcq, pair.b.qp, .wr_id = 5, .opcode = IBV_WC_RECV,
	       .length = 300);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 1, .opcode = IBV_WC_SEND);
	pair_down(&pair);
}

static bool no_event(const struct side *side)
{
	struct ibv_async_event event;

	if (!next_event(side->host->context, &event, QUIET_MS))
		return true;
	diag("%s", ibv_event_type_str(event.event_type));
	ibv_ack_async_event(&event);
	return false;
}

static uint32_t limit_of(const struct pair *pair)
{
	struct ibv_srq_attr attr = {};

	CHECK_CALL(ibv_query_srq(pair->b.srq, &attr), 0);
	return attr.srq_limit;
}

static void limit(const void *arg)
{
	const struct options options = { .srq = ENTRIES };
	struct ibv_srq_attr attr = { .srq_limit = 4 };
	struct pair pair;
	uint64_t id;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	forget_events(pair.b.host->context);
	CHECK(post_many(&pair, 1, 6));
	CHECK_CALL(ibv_modify_srq(pair.b.srq, &attr, IBV_SRQ_LIMIT), 0);
	CHECK(limit_of(&pair) == 4);
	send_for(&pair, 1);
	send_for(&pair, 2);
	CHECK(no_event(&pair.b));
	send_for(&pair, 3);
	CHECK(wait_event(&pair.b, IBV_EVENT_SRQ_LIMIT_REACHED));
	CHECK(limit_of(&pair) == 0);
	for (id = 4; id <= 6; id++)
		send_for(&pair, id);
	CHECK(no_event(&pair.b));
	/* Fewer than the limit already: the event is raised at once. */
	attr.srq_limit = 1;
	CHECK_CALL(ibv_modify_srq(pair.b.srq, &attr, IBV_SRQ_LIMIT), 0);
	CHECK(wait_event(&pair.b, IBV_EVENT_SRQ_LIMIT_REACHED));
	pair_down(&pair);
}

static int resize(struct pair *pair, uint32_t max_wr)
{
	struct ibv_srq_attr attr = { .max_wr = max_wr };

	return ibv_modify_srq(pair->b.srq, &attr, IBV_SRQ_MAX_WR);
}

static uint32_t size_of(const struct pair *pair)
{
	struct ibv_srq_attr attr = {};

	CHECK_CALL(ibv_query_srq(pair->b.srq, &attr), 0);
	return attr.max_wr;
}

static void resized(const void *arg)
{
	static const uint32_t sizes[] = { 128, 9, 4096, 8, 8, 65536, 16 };
	const struct options options = { .srq = ENTRIES };
	uint64_t first = 1, last = 0;
	struct pair pair;
	size_t i;
	int n;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		while (last - first + 1 < 8)
			CHECK_CALL(post(&pair, ++last), 0);
		CHECK_CALL(resize(&pair, sizes[i]), 0);
		CHECK(size_of(&pair) >= sizes[i]);
		for (n = 0; n < 5; n++)
			send_for(&pair, first++);
	}
	/* Full, it takes no more; and it cannot shrink below what is in it. */
	while (last - first + 1 < 16)
		CHECK_CALL(post(&pair, ++last), 0);
	CHECK_CALL(post(&pair, 99), ENOMEM);
	CHECK_CALL(resize(&pair, 4), EINVAL);
	CHECK(size_of(&pair) == 16);
	while (first <= last)
		send_for(&pair, first++);
	pair_down(&pair);
}

/* A call that fails changes nothing, also if there is no room to map the new ring. */
static void resized_without_space(const void *arg)
{
	const struct options options = { .srq = ENTRIES };
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	CHECK(post_many(&pair, 1, 3));
	limit_space(true);
	CHECK_CALL(resize(&pair, 65536), ENOMEM);
	limit_space(false);
	CHECK(size_of(&pair) == ENTRIES);
	CHECK_CALL(post(&pair, 4), 0);
	send_for(&pair, 1);
	CHECK_CALL(resize(&pair, 65536), 0);
	send_for(&pair, 2);
	pair_down(&pair);
}

static void last_reached(const void *arg)
{
	const struct options options = { .srq = ENTRIES };
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	CHECK(post_many(&pair, 1, 3));
	forget_events(pair.b.host->context);
	send_for(&pair, 1);
	CHECK_CALL(to_state(&pair.b, IBV_QPS_ERR), 0);
	CHECK(wait_event(&pair.b, IBV_EVENT_QP_LAST_WQE_REACHED));
	/* Posted requests do not belong to the QP: none is flushed, none is lost. */
	CHECK(quiet(pair.b.rcq));
	CHECK(no_event(&pair.b));
	REQUIRE(pair_again(&pair));
	send_for(&pair, 2);
	CHECK_CALL(to_state(&pair.b, IBV_QPS_ERR), 0);
	CHECK(wait_event(&pair.b, IBV_EVENT_QP_LAST_WQE_REACHED));
	pair_down(&pair);
}

static void basic_ex(const void *arg)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr.max_wr = 10, .attr.max_sge = 2,
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_BASIC,
	};
	struct ibv_srq *srq;
	struct pair pair;

	(void)arg;
	REQUIRE(pair_create(&pair, NULL));
	attr.pd = pair.a.pd;
	srq = ibv_create_srq_ex(pair.a.host->context, &attr);
	REQUIRE(CHECK(srq));
	CHECK(attr.attr.max_wr >= 10 && attr.attr.max_sge >= 2);
	CHECK_CALL(ibv_destroy_srq(srq), 0);
	pair_down(&pair);
}

/* ibv_create_qp(3): the sizes of a receive queue of its own are ignored. */
static void own_sizes(const void *arg)
{
	const enum ibv_qp_type types[] = { IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD };
	const struct options options = { .srq = ENTRIES };
	struct ibv_qp *qp;
	struct pair pair;
	size_t i;

	(void)arg;
	REQUIRE(pair_create(&pair, &options));
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		struct ibv_qp_init_attr attr = {
			.send_cq = pair.b.scq, .recv_cq = pair.b.rcq,
			.srq = pair.b.srq, .qp_type = types[i],
			.cap = { .max_send_wr = 1, .max_recv_wr = -1,
				 .max_recv_sge = -1 },
		};

		qp = ibv_create_qp(pair.b.pd, &attr);
		REQUIRE(CHECK(qp));
		CHECK(!attr.cap.max_recv_wr && !attr.cap.max_recv_sge);
		CHECK_CALL(ibv_destroy_qp(qp), 0);
	}
	pair_down(&pair);
}

struct sroce_qp_slot *find_slot(uint32_t tail)
{
	FILE *file = fopen("/proc/self/maps", "r");
	struct sroce_qp_slot *slots, *found = NULL;
	unsigned long from, to;
	char line[512];
	int i;

	while (file && !found && fgets(line, sizeof(line), file)) {
		if (!strstr(line, "uverbs") ||
		    sscanf(line, "%lx-%lx", &from, &to) != 2 ||
		    to - from != SROCE_SLOTS_PER_PAGE * SROCE_SLOT_SIZE)
			continue;
		slots = (struct sroce_qp_slot *)from;
		for (i = 0; i < SROCE_SLOTS_PER_PAGE; i++)
			if (slots[i].rq_tail == tail)
				found = &slots[i];
	}
	if (file)
		fclose(file);
	return found;
}

/* An impossible count of requests breaks only that queue. */
static void bad_tail(const void *arg)
{
	const struct options options = { .srq = 256 };
	struct sroce_qp_slot *slot;
	struct pair pair, other;

	(void)arg;
	REQUIRE(pair_up(&other, NULL) && pair_up(&pair, &options));
	CHECK(post_many(&pair, 1, 211));
	slot = find_slot(211);
	REQUIRE(CHECK(slot));
	forget_events(pair.b.host->context);
	slot->rq_tail = 0x40000000;
	CHECK_CALL(post_send(&pair.a, 1, 0, 100, IBV_SEND_SIGNALED), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 1, .status = IBV_WC_REM_OP_ERR);
	CHECK(wait_event(&pair.b, IBV_EVENT_SRQ_ERR));
	CHECK(state_of(&pair.b) == IBV_QPS_ERR);
	CHECK_CALL(resize(&pair, 512), EINVAL);
	CHECK(works(&other));
	pair_down(&pair);
	pair_down(&other);
}

/* A stranger's datagram that meets the broken queue completes nothing. */
static void bad_tail_datagram(const void *arg)
{
	const struct options options = { .type = IBV_QPT_UD, .srq = 256 };
	struct sroce_qp_slot *slot;
	struct pair pair, other;

	(void)arg;
	REQUIRE(pair_up(&other, NULL) && pair_up(&pair, &options));
	CHECK(post_many(&pair, 1, 217));
	slot = find_slot(217);
	REQUIRE(CHECK(slot));
	forget_events(pair.b.host->context);
	slot->rq_tail = 0x40000000;
	CHECK_CALL(post_datagram(&pair.a, &pair.b, 1, 100), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 1, .opcode = IBV_WC_SEND);
	CHECK(wait_event(&pair.b, IBV_EVENT_SRQ_ERR));
	CHECK(wait_event(&pair.b, IBV_EVENT_QP_FATAL));
	CHECK(state_of(&pair.b) == IBV_QPS_ERR);
	CHECK(quiet(pair.b.rcq));
	CHECK(works(&other));
	pair_down(&pair);
	pair_down(&other);
}

GROUP(srq)
{
	static const enum ibv_qp_type rc = IBV_QPT_RC, uc = IBV_QPT_UC;
	static const struct test tests[] = {
		{ "SRQ: RC, all operations", all_operations, &rc },
		{ "SRQ: UC, all operations", all_operations, &uc },
		{ "SRQ: datagrams", datagrams },
		{ "SRQ: several QPs, each with a PD of its own", several_qps },
		{ "SRQ: the peer waits while it is empty", empty },
		{ "SRQ: limit event, once", limit },
		{ "SRQ: resized, no receive request is lost", resized },
		{ "SRQ: resized without address space, nothing changes",
		  resized_without_space },
		{ "SRQ: QP in error, IBV_EVENT_QP_LAST_WQE_REACHED",
		  last_reached },
		{ "SRQ: ibv_create_srq_ex(), basic", basic_ex },
		{ "SRQ: a QP's own receive sizes are ignored", own_sizes },
		{ "SRQ: an impossible tail fails the QP", bad_tail },
		{ "SRQ: an impossible tail fails the UD QP",
		  bad_tail_datagram },
	};

	run_tests(tests, ARRAY_SIZE(tests));
}
