// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Impossible entries, impossible indices, random bytes.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rings.h"

/* The abuser recovers, works as before, and ends. */
static void recover_and_end(struct abuser *abuser)
{
	REQUIRE(pair_again(&abuser->pair));
	CHECK(works(&abuser->pair));
	abuser_down(abuser);
}

/* The abuser's QP has failed, and nobody else is affected. */
static void only_abuser_fails(struct abuser *abuser)
{
	CHECK_CALL(state_of(&abuser->pair.a), IBV_QPS_ERR);
	victim_works();
}

/* Send entries */

#define BAD_ID	0xbad

struct bad_sqe {
	const char *name;
	void (*spoil)(struct sroce_sqe *sqe, uint32_t value);
	uint32_t values[12];
	enum ibv_wc_status status;
};

static struct sroce_sge *list(struct sroce_sqe *sqe)
{
	return (struct sroce_sge *)(sqe + 1);
}

static void opcode(struct sroce_sqe *sqe, uint32_t value)
{
	sqe->opcode = value;
}

static void flags(struct sroce_sqe *sqe, uint32_t value)
{
	sqe->flags |= value;
}

static void pieces(struct sroce_sqe *sqe, uint32_t value)
{
	sqe->num_sge = value;
}

static void inline_bytes(struct sroce_sqe *sqe, uint32_t value)
{
	sqe->flags |= SROCE_WR_INLINE;
	sqe->num_sge = value;
}

static void inline_result(struct sroce_sqe *sqe, uint32_t value)
{
	sqe->opcode = value;
	sqe->flags |= SROCE_WR_INLINE;
	sqe->num_sge = 8;
}

static void reserved(struct sroce_sqe *sqe, uint32_t value)
{
	sqe->rdma.reserved[value - 1] = 0x80000000;
}

static void srqn(struct sroce_sqe *sqe, uint32_t value)
{
	sqe->rdma.srqn = value;
}

static void atomic_srqn(struct sroce_sqe *sqe, uint32_t value)
{
	sqe->opcode = SROCE_WR_ATOMIC_FETCH_AND_ADD;
	sqe->atomic.srqn = value;
}

static void bind_reserved(struct sroce_sqe *sqe, uint32_t value)
{
	sqe->opcode = SROCE_WR_BIND_MW;
	sqe->bind.reserved = value;
}

static void lengths(struct sroce_sqe *sqe, uint32_t value)
{
	int i;

	sqe->num_sge = 4;
	for (i = 0; i < 4; i++)
		list(sqe)[i].length = value;
}

static void atomic_length(struct sroce_sqe *sqe, uint32_t value)
{
	sqe->opcode = SROCE_WR_ATOMIC_CMP_AND_SWP;
	sqe->num_sge = 1;
	list(sqe)[0].length = value;
}

static void word_length(struct sroce_sqe *sqe, uint32_t value)
{
	sqe->opcode = SROCE_WR_ATOMIC_WRITE;
	sqe->num_sge = 1;
	list(sqe)[0].length = value;
}

static void inline_word(struct sroce_sqe *sqe, uint32_t value)
{
	sqe->opcode = SROCE_WR_ATOMIC_WRITE;
	sqe->flags |= SROCE_WR_INLINE;
	sqe->num_sge = value;
}

static void flush_kind(struct sroce_sqe *sqe, uint32_t value)
{
	sqe->opcode = SROCE_WR_FLUSH;
	sqe->flush.type = value;
	sqe->flush.level = value >> 8;
}

static void flush_reserved(struct sroce_sqe *sqe, uint32_t value)
{
	flush_kind(sqe, 1);
	sqe->flush.reserved = value;
	sqe->flush.reserved2 = (uint64_t)(value >> 16) << 40;
}

static void flush_list(struct sroce_sqe *sqe, uint32_t value)
{
	flush_kind(sqe, 1);
	sqe->num_sge = value;
}

static void flush_inline(struct sroce_sqe *sqe, uint32_t value)
{
	flush_kind(sqe, 1);
	sqe->flags |= value;
}

static void flush_length(struct sroce_sqe *sqe, uint32_t value)
{
	flush_kind(sqe, 1);
	sqe->flush.length = value;
}

static void key(struct sroce_sqe *sqe, uint32_t value)
{
	sqe->num_sge = 1;
	list(sqe)[0].length = 8;
	list(sqe)[0].lkey = value;
}

static const struct bad_sqe bad_sqes[] = {
	{ "unknown opcodes", opcode,
	  { 10, 11, 12, 13, 16, 31, 32, 64, 128, 255 },
	  IBV_WC_LOC_QP_OP_ERR },
	{ "local invalidation of a key that does not exist", opcode,
	  { SROCE_WR_LOCAL_INV }, IBV_WC_MW_BIND_ERR },
	{ "bind of a window that does not exist", opcode,
	  { SROCE_WR_BIND_MW }, IBV_WC_MW_BIND_ERR },
	{ "reserved field of a bind", bind_reserved, { 1, 0x80000000 },
	  IBV_WC_LOC_QP_OP_ERR },
	{ "unknown flags", flags, { 0x10, 0x20, 0x40, 0x80, 0xf0 },
	  IBV_WC_LOC_QP_OP_ERR },
	{ "more SGEs than an entry holds", pieces,
	  { 6, 32, 33, 255, 256, 0x7fff, 0x8000, 0xffff },
	  IBV_WC_LOC_QP_OP_ERR },
	{ "more inline data than an entry holds", inline_bytes,
	  { 81, 128, 976, 977, 0x7fff, 0xffff }, IBV_WC_LOC_QP_OP_ERR },
	{ "inline READ or atomic", inline_result, { 4, 5, 6 },
	  IBV_WC_LOC_QP_OP_ERR },
	{ "reserved fields", reserved, { 1, 2, 3, 4 },
	  IBV_WC_LOC_QP_OP_ERR },
	{ "an SRQ without XRC", srqn, { 1, 0xffffff, 0x80000000 },
	  IBV_WC_LOC_QP_OP_ERR },
	{ "an SRQ of an atomic without XRC", atomic_srqn, { 1, 0x80000000 },
	  IBV_WC_LOC_QP_OP_ERR },
	{ "lengths that overflow", lengths,
	  { 0xffffffff, 0x80000000, 0x40000000, 0x20000001 },
	  IBV_WC_LOC_LEN_ERR },
	{ "length of an atomic's result",
	  atomic_length, { 1, 7, 0xffffffff },
	  IBV_WC_LOC_LEN_ERR },
	{ "lengths of an atomic WRITE", word_length,
	  { 1, 4, 7, 9, 16, 0x80000000, 0xffffffff }, IBV_WC_LOC_LEN_ERR },
	{ "lengths of an inline atomic WRITE", inline_word, { 1, 7, 9, 80 },
	  IBV_WC_LOC_LEN_ERR },
	{ "placement and selectivity of FLUSH", flush_kind,
	  { 4, 5, 0x80, 0x100, 0x201, 0xff01 }, IBV_WC_LOC_QP_OP_ERR },
	{ "reserved fields of FLUSH", flush_reserved,
	  { 1, 0x8000, 0x10000, 0x80000000 }, IBV_WC_LOC_QP_OP_ERR },
	{ "FLUSH with a list", flush_list, { 1, 4, 0xffff },
	  IBV_WC_LOC_QP_OP_ERR },
	{ "inline FLUSH", flush_inline, { SROCE_WR_INLINE },
	  IBV_WC_LOC_QP_OP_ERR },
	{ "FLUSH of more than 2 GiB", flush_length, { 0x80000001, 0xffffffff },
	  IBV_WC_LOC_LEN_ERR },
	{ "unknown keys", key, { 1, 0xff, 0xffffffff, 0x12345678 },
	  IBV_WC_LOC_PROT_ERR },
};

/* Posts an entry without the provider; returns 0 or the errno of the kick. */
static int publish(struct abuser *abuser, void (*spoil)(struct sroce_sqe *sqe,
							uint32_t value),
		   uint32_t value)
{
	uint32_t tail = abuser->slot->sq_tail;
	struct sroce_sqe *sqe = sqe_at(abuser, tail);

	memset(sqe, 0, STRIDE);
	sqe->wr_id = BAD_ID;
	sqe->opcode = SROCE_WR_RDMA_WRITE;
	sqe->flags = SROCE_WR_SIGNALED;
	spoil(sqe, value);
	__atomic_store_n(&abuser->slot->sq_tail, tail + 1, __ATOMIC_SEQ_CST);
	return kick(abuser) ? errno : 0;
}

static void bad_sqe(const void *arg)
{
	const struct bad_sqe *bad = arg;
	struct abuser abuser;
	size_t i;

	REQUIRE(abuser_up(&abuser));
	for (i = 0; i < ARRAY_SIZE(bad->values) && bad->values[i]; i++) {
		CHECK_CALL(publish(&abuser, bad->spoil, bad->values[i]), 0);
		if (!EXPECT(abuser.pair.a.scq, abuser.pair.a.qp,
			    .wr_id = BAD_ID, .status = bad->status))
			diag("value %#x", bad->values[i]);
		only_abuser_fails(&abuser);
		CHECK_CALL(state_of(&abuser.pair.b), IBV_QPS_RTS);
		REQUIRE(pair_again(&abuser.pair));
	}
	recover_and_end(&abuser);
}

/* Receive entries */

struct bad_rqe {
	uint32_t num_sge;
	uint32_t reserved;
};

static void bad_rqe(const void *arg)
{
	static const struct bad_rqe bad[] = {
		{ 8, 0 }, { 33, 0 }, { 0x10000, 0 }, { 0x10000001, 0 },
		{ 0xffffffff, 0 }, { 0, 1 }, { 1, 0x80000000 },
	};
	struct abuser abuser;
	size_t i;

	(void)arg;
	REQUIRE(abuser_up(&abuser));
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		REQUIRE(pair_again(&abuser.pair));
		CHECK_CALL(post_recv(&abuser.pair.a, BAD_ID, 0, 64), 0);
		rqe_at(&abuser, 0)->num_sge = bad[i].num_sge;
		rqe_at(&abuser, 0)->reserved = bad[i].reserved;
		CHECK_CALL(post_send(&abuser.pair.b, 3, 0, 8,
				     IBV_SEND_SIGNALED), 0);
		EXPECT(abuser.pair.b.scq, abuser.pair.b.qp, .wr_id = 3,
		       .status = IBV_WC_REM_OP_ERR);
		EXPECT(abuser.pair.a.rcq, abuser.pair.a.qp, .wr_id = BAD_ID,
		       .status = IBV_WC_LOC_QP_OP_ERR);
		only_abuser_fails(&abuser);
	}
	recover_and_end(&abuser);
}

/* Indices */

static const uint32_t bad_tails[] = {
	ENTRIES + 1, ENTRIES + 2, 2 * ENTRIES, 0x7fffffff, 0x80000000, -ENTRIES,
	-2u, -1u,
};

static void bad_send_tail(const void *arg)
{
	struct abuser abuser;
	size_t i;

	(void)arg;
	REQUIRE(abuser_up(&abuser));
	for (i = 0; i < ARRAY_SIZE(bad_tails); i++) {
		REQUIRE(pair_again(&abuser.pair));
		forget_events(hosts[0].context);
		abuser.slot->sq_tail += bad_tails[i];
		CHECK_CALL(kick(&abuser), 0);
		CHECK(wait_event(&abuser.pair.a, IBV_EVENT_QP_FATAL));
		CHECK(quiet(abuser.pair.a.scq));
		only_abuser_fails(&abuser);
	}
	recover_and_end(&abuser);
}

static void bad_receive_tail(const void *arg)
{
	struct abuser abuser;
	size_t i;

	(void)arg;
	REQUIRE(abuser_up(&abuser));
	for (i = 0; i < ARRAY_SIZE(bad_tails); i++) {
		REQUIRE(pair_again(&abuser.pair));
		forget_events(hosts[0].context);
		abuser.slot->rq_tail += bad_tails[i];
		CHECK_CALL(post_send(&abuser.pair.b, 3, 0, 8,
				     IBV_SEND_SIGNALED), 0);
		EXPECT(abuser.pair.b.scq, abuser.pair.b.qp, .wr_id = 3,
		       .status = IBV_WC_REM_OP_ERR);
		CHECK(wait_event(&abuser.pair.a, IBV_EVENT_QP_FATAL));
		only_abuser_fails(&abuser);
	}
	recover_and_end(&abuser);
}

/* The same with datagrams, where no peer is connected. */

static bool datagrams_up(struct abuser *abuser)
{
	const struct options options = { .type = IBV_QPT_UD, .wr = ENTRIES };

	return abuser_doorbells(abuser, &options);
}

/* The completion includes the 40 bytes before the data. */
static void datagram_arrives(struct side *from, struct side *to)
{
	CHECK_CALL(post_recv(to, 5, 64, 64), 0);
	CHECK_CALL(post_datagram(from, to, 6, 8), 0);
	EXPECT(from->scq, from->qp, .wr_id = 6, .opcode = IBV_WC_SEND);
	EXPECT(to->rcq, to->qp, .wr_id = 5, .opcode = IBV_WC_RECV,
	       .length = 48, .src_qp = from->qp->qp_num);
}

/* The QP has failed, and there are no completions of requests that were not posted. */
static bool broken_by_tail(struct abuser *abuser)
{
	struct side *a = &abuser->pair.a;

	return CHECK(wait_event(a, IBV_EVENT_QP_FATAL)) &&
	       CHECK_CALL(state_of(a), IBV_QPS_ERR) && CHECK(quiet(a->scq)) &&
	       CHECK(quiet(a->rcq));
}

static void datagrams_down(struct abuser *abuser)
{
	REQUIRE(pair_again(&abuser->pair));
	datagram_arrives(&abuser->pair.a, &abuser->pair.b);
	datagram_arrives(&abuser->pair.b, &abuser->pair.a);
	abuser_down(abuser);
}

static void bad_datagram_send_tail(const void *arg)
{
	struct abuser abuser;
	size_t i;

	(void)arg;
	REQUIRE(datagrams_up(&abuser));
	for (i = 0; i < ARRAY_SIZE(bad_tails); i++) {
		REQUIRE(pair_again(&abuser.pair));
		/* The impossible tail is not the first one. */
		if (i % 2)
			datagram_arrives(&abuser.pair.a, &abuser.pair.b);
		forget_events(hosts[0].context);
		abuser.slot->sq_tail += bad_tails[i];
		CHECK_CALL(kick(&abuser), 0);
		if (!broken_by_tail(&abuser))
			break;
		victim_works();
	}
	datagrams_down(&abuser);
}

static void bad_datagram_receive_tail(const void *arg)
{
	struct abuser abuser;
	struct pair *pair = &abuser.pair;
	size_t i;

	(void)arg;
	REQUIRE(datagrams_up(&abuser));
	for (i = 0; i < ARRAY_SIZE(bad_tails); i++) {
		REQUIRE(pair_again(pair));
		if (i % 2)
			datagram_arrives(&pair->b, &pair->a);
		forget_events(hosts[0].context);
		abuser.slot->rq_tail += bad_tails[i];
		CHECK_CALL(post_datagram(&pair->b, &pair->a, 3, 8), 0);
		EXPECT(pair->b.scq, pair->b.qp, .wr_id = 3,
		       .opcode = IBV_WC_SEND);
		if (!broken_by_tail(&abuser))
			break;
		CHECK_CALL(state_of(&pair->b), IBV_QPS_RTS);
		victim_works();
	}
	datagrams_down(&abuser);
}

/* A tail without a queue */

/* Normal timers make some tens per second, an endless one thousands. */
#define MANY_TIMERS	1000

/* Number of softirqs for timers, on all CPUs; -1 if it is not known. */
static long timers(void)
{
	FILE *file = fopen("/proc/softirqs", "r");
	long sum = -1, n;
	char word[80];

	while (file && sum < 0 && fscanf(file, "%79s", word) == 1)
		if (!strcmp(word, "HRTIMER:"))
			sum = 0;
	while (file && sum >= 0 && fscanf(file, "%ld", &n) == 1)
		sum += n;
	if (file)
		fclose(file);
	return sum;
}

/* Another QP of the abuser, without a send queue; sets @side and the slot to it. */
static bool receiver_up(struct abuser *abuser, struct side *side)
{
	struct sroce_qp_slot *slots = (void *)abuser->page.addr;
	struct ibv_qp_init_attr attr = {
		.send_cq = abuser->pair.a.scq,
		.recv_cq = abuser->pair.a.rcq,
		.cap = { .max_recv_wr = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_UD,
	};
	unsigned long i;

	*side = abuser->pair.a;
	side->qp = ibv_create_qp(side->pd, &attr);
	if (!CHECK(side->qp) || !CHECK_CALL(attr.cap.max_send_wr, 0) ||
	    !side_connect(side, &abuser->pair.b, &abuser->pair.options) ||
	    !CHECK_CALL(post_recv(side, 5, 64, 64), 0))
		return false;
	abuser->slot = NULL;
	/* The first three slots belong to known queues. */
	for (i = 3; i < SROCE_SLOTS_PER_PAGE && !abuser->slot; i++)
		if (slots[i].rq_tail == 1) {
			abuser->slot = &slots[i];
			abuser->slot_number = i;
		}
	return CHECK(abuser->slot);
}

/* The kernel does not read this tail, so nothing may wait for it to change. */
static void tail_without_queue(const void *arg)
{
	struct abuser abuser;
	struct side side;
	long before;

	(void)arg;
	REQUIRE(datagrams_up(&abuser) && receiver_up(&abuser, &side));
	abuser.slot->sq_tail = 1000;
	CHECK_CALL(kick(&abuser), 0);
	before = timers();
	sleep(1);
	CHECK(before >= 0);
	if (!CHECK(timers() - before < MANY_TIMERS))
		diag("%ld", timers() - before);
	CHECK(quiet(side.scq));
	CHECK_CALL(state_of(&side), IBV_QPS_RTS);
	CHECK_CALL(post_datagram(&abuser.pair.b, &side, 6, 8), 0);
	EXPECT(abuser.pair.b.scq, abuser.pair.b.qp, .wr_id = 6,
	       .opcode = IBV_WC_SEND);
	EXPECT(side.rcq, side.qp, .wr_id = 5, .opcode = IBV_WC_RECV,
	       .length = 48, .src_qp = abuser.pair.b.qp->qp_num);
	victim_works();
	CHECK_CALL(ibv_destroy_qp(side.qp), 0);
	abuser_down(&abuser);
}

static bool cq_error(void)
{
	struct ibv_async_event event;
	bool found = false;

	while (!found && next_event(hosts[0].context, &event, PATIENCE_MS)) {
		found = event.event_type == IBV_EVENT_CQ_ERR;
		ibv_ack_async_event(&event);
	}
	return found;
}

/* With an impossible consumer index the queue counts as full. */
static void bad_cq_head(const void *arg)
{
	struct abuser abuser;
	int i, tries, err = 0;

	(void)arg;
	REQUIRE(abuser_up(&abuser));
	for (i = 0; i < 2; i++)
		abuser.cq_slots[i]->head = 0x80000000;
	for (i = 0; i < CQ_ENTRIES + 1; i++)
		for (tries = 0; tries < 10000000; tries++) {
			err = post_rdma(&abuser.pair.a, &abuser.pair.b,
					IBV_WR_RDMA_WRITE, i, 0, 0, 8,
					IBV_SEND_SIGNALED);
			if (err != ENOMEM)
				break;
		}
	CHECK_CALL(err, 0);
	CHECK(cq_error());
	only_abuser_fails(&abuser);
	abuser_down(&abuser);
}

/* The kernel does not trust words that it has written itself. */
static void kernel_words(const void *arg)
{
	struct abuser abuser;
	int i;

	(void)arg;
	REQUIRE(abuser_up(&abuser));
	for (i = 0; i < 50; i++) {
		abuser.slot->kick = i * 0x01010101;
		abuser.slot->rq_head = random();
		memset(abuser.cqs[0].addr, i, abuser.cqs[0].size);
		memset(abuser.cqs[1].addr, i, abuser.cqs[1].size);
		CHECK_CALL(post_rdma(&abuser.pair.a, &abuser.pair.b,
				     IBV_WR_RDMA_WRITE, i, 0, 0, 3000,
				     IBV_SEND_SIGNALED), 0);
		CHECK_CALL(kick(&abuser), 0);
	}
	victim_works();
	CHECK_CALL(state_of(&abuser.pair.a), IBV_QPS_RTS);
	abuser_down(&abuser);
}

/* Random bytes */

struct scribbler {
	struct abuser *abuser;
	pthread_t thread;
	atomic_bool stop;
	unsigned int seed;
};

static void scribble(const struct mapping *map, unsigned int *seed)
{
	uint32_t value = rand_r(seed) ^ (uint32_t)rand_r(seed) << 16;
	size_t at = rand_r(seed) % (map->size - 4);

	/* Small numbers get further than large ones. */
	if (value & 1)
		value &= 0xff;
	memcpy(map->addr + at, &value, 1 + value % 4);
}

static void *scribbler_run(void *arg)
{
	struct scribbler *s = arg;
	const struct mapping slots = {
		s->abuser->page.addr, 3 * SROCE_SLOT_SIZE, 0,
	};

	while (!atomic_load(&s->stop)) {
		scribble(&s->abuser->ring, &s->seed);
		scribble(&s->abuser->ring, &s->seed);
		scribble(&s->abuser->cqs[0], &s->seed);
		scribble(&s->abuser->cqs[1], &s->seed);
		if (rand_r(&s->seed) % 64 == 0)
			scribble(&slots, &s->seed);
	}
	return NULL;
}

/* Uses the QP as if nothing were wrong; the results do not matter. */
static void use(struct abuser *abuser, unsigned int *seed)
{
	struct pair *pair = &abuser->pair;
	struct ibv_wc wc[16];
	int i;

	for (i = 0; i < 20; i++) {
		post_recv(&pair->a, i, 0, 4096);
		post_recv(&pair->b, i, 0, 4096);
		post_send(&pair->a, i, 0, rand_r(seed) % 4096, 0);
		post_send(&pair->b, i, 0, rand_r(seed) % 4096, 0);
		post_rdma(&pair->a, &pair->b, rand_r(seed) & 1 ?
			  IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, i, 0, 0,
			  rand_r(seed) % 60000, rand_r(seed) % 8);
		if (rand_r(seed) % 4 == 0)
			abuser->slot->sq_tail++;
		kick(abuser);
		ibv_poll_cq(pair->a.scq, 16, wc);
		ibv_poll_cq(pair->a.rcq, 16, wc);
		ibv_poll_cq(pair->b.scq, 16, wc);
		ibv_poll_cq(pair->b.rcq, 16, wc);
		ibv_req_notify_cq(pair->a.scq, rand_r(seed) & 1);
	}
}

static void random_bytes(const void *arg)
{
	struct scribbler s = { .seed = *(const unsigned int *)arg };
	struct abuser abuser;
	unsigned int seed = s.seed + 1;
	int round;

	REQUIRE(abuser_up(&abuser));
	s.abuser = &abuser;
	pthread_create(&s.thread, NULL, scribbler_run, &s);
	for (round = 0; round < 60; round++) {
		use(&abuser, &seed);
		if (round % 10 == 9)
			victim_works();
		forget_events(hosts[0].context);
		forget_events(hosts[1].context);
		if (round % 4 == 3 && !pair_again(&abuser.pair))
			break;
	}
	atomic_store(&s.stop, true);
	pthread_join(s.thread, NULL);
	victim_works();
	abuser_down(&abuser);
}

GROUP(abuse)
{
	static const unsigned int seeds[] = { 1, 22, 333 };
	static const struct test tests[] = {
		{ "receive entries with bad SGE counts or reserved bits",
		  bad_rqe },
		{ "impossible tails of the send queue", bad_send_tail },
		{ "impossible tails of the receive queue", bad_receive_tail },
		{ "impossible tails of a UD QP's send queue",
		  bad_datagram_send_tail },
		{ "impossible tails of a UD QP's receive queue",
		  bad_datagram_receive_tail },
		{ "tail of a send queue without entries",
		  tail_without_queue },
		{ "impossible head of a completion queue", bad_cq_head },
		{ "overwritten words and completions of the kernel",
		  kernel_words },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad_sqes); i++)
		run_test(bad_sqe, &bad_sqes[i], "send entries: %s",
			 bad_sqes[i].name);
	run_tests(tests, ARRAY_SIZE(tests));
	for (i = 0; i < ARRAY_SIZE(seeds); i++)
		run_test(random_bytes, &seeds[i],
			 "random bytes in rings and doorbells, seed %u",
			 seeds[i]);
}
