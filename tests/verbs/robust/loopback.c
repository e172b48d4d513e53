// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * All QPs of a device send at once, to QPs of the same device, more than the queue of a
 * processor may hold.  Requests of growing length do not share bursts.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "transfer.h"

#define TALKERS		64
#define WORDS		32
#define WORD(i)		(100 + 28 * (i))
#define PLACE		1024
#define GRH		40

/**
 * struct choir - QPs of one type
 * @o: their options
 * @sides: the QPs; they share all other objects of the first one
 * @spoken: of each QP: number of completed requests
 * @heard: datagrams: which ones have arrived from the neighbour, one bit each
 */
struct choir {
	struct options o;
	struct side sides[TALKERS];
	unsigned int spoken[TALKERS];
	uint64_t heard[TALKERS];
};

static bool choir_up(struct choir *c)
{
	unsigned int i;

	c->o.wr = WORDS + 1;
	c->o.sge = 1;
	c->o.cqe = TALKERS * (WORDS + 1);
	/* Their send buffer lies before their receive buffer. */
	c->o.size = (TALKERS * (WORDS + 1) + TALKERS) * (PLACE + GRH);
	if (!side_create(&c->sides[0], &hosts[0], &c->o, false))
		return false;
	for (i = 1; i < TALKERS; i++) {
		c->sides[i] = c->sides[0];
		if (!side_qp(&c->sides[i], &c->o))
			return false;
	}
	fill(c->sides[0].buf, TALKERS * PLACE, c->o.type);
	return true;
}

static void choir_down(struct choir *c)
{
	unsigned int i;

	for (i = 1; i < TALKERS; i++)
		CHECK_CALL(ibv_destroy_qp(c->sides[i].qp), 0);
	side_destroy(&c->sides[0]);
}

static unsigned int neighbour(unsigned int i)
{
	return i ^ 1;
}

static size_t said_at(unsigned int i, unsigned int word)
{
	return i * (PLACE - WORD(0)) / 2 + word * 29;
}

static size_t heard_at(unsigned int i, unsigned int word)
{
	return (TALKERS + i * (WORDS + 1) + word) * (PLACE + GRH);
}

static bool choir_meet(struct choir *c)
{
	unsigned int i, word;

	for (i = 0; i < TALKERS; i++) {
		/* The address is the same for all. */
		c->sides[i].ah = c->sides[0].ah;
		if (!side_connect(&c->sides[i], &c->sides[neighbour(i)], &c->o))
			return false;
		for (word = 0; c->sides[0].ah && word <= WORDS; word++)
			if (!CHECK_CALL(post_recv(&c->sides[i],
						  i * (WORDS + 1) + word,
						  heard_at(i, word),
						  PLACE + GRH), 0))
				return false;
	}
	return true;
}

static struct ibv_send_wr word_wr(struct choir *c, unsigned int i,
				  unsigned int word, struct ibv_sge *sge)
{
	const struct side *to = &c->sides[neighbour(i)];
	struct ibv_send_wr wr;

	*sge = piece(&c->sides[i], said_at(i, word), WORD(word));
	wr = rdma_wr(to, IBV_WR_RDMA_WRITE, word, sge, 1,
		     heard_at(neighbour(i), word));
	if (!c->sides[i].ah)
		return wr;
	wr.opcode = IBV_WR_SEND_WITH_IMM;
	wr.imm_data = htonl(i * (WORDS + 1) + word);
	wr.wr.ud.ah = c->sides[i].ah;
	wr.wr.ud.remote_qpn = to->qp->qp_num;
	wr.wr.ud.remote_qkey = QKEY;
	return wr;
}

/* From one word to before another, with one call */
static bool say(struct choir *c, unsigned int i, unsigned int from,
		unsigned int to)
{
	struct ibv_send_wr wrs[WORDS + 1], *bad;
	struct ibv_sge sges[WORDS + 1];
	unsigned int word;

	for (word = from; word < to; word++) {
		wrs[word] = word_wr(c, i, word, &sges[word]);
		wrs[word].next = word + 1 < to ? &wrs[word + 1] : NULL;
	}
	return CHECK_CALL(ibv_post_send(c->sides[i].qp, &wrs[from], &bad), 0);
}

static unsigned int who(const struct choir *c, uint32_t qp_num)
{
	unsigned int i;

	for (i = 0; i < TALKERS; i++)
		if (c->sides[i].qp->qp_num == qp_num)
			break;
	return i;
}

/* The completions of each QP come in order. */
static bool spoken(struct choir *c, unsigned int n)
{
	struct ibv_wc wc;
	unsigned int i;

	while (n--) {
		if (!next_wc(c->sides[0].scq, &wc))
			return false;
		i = who(c, wc.qp_num);
		if (!CHECK(i < TALKERS) || !CHECK_CALL(wc.status, 0) ||
		    !CHECK_CALL(wc.wr_id, c->spoken[i]++))
			return false;
	}
	return true;
}

static bool is_right(const struct choir *c, unsigned int i, unsigned int word,
		     size_t at)
{
	return !memcmp(c->sides[0].buf + at,
		       c->sides[0].buf + said_at(i, word), WORD(word));
}

static bool all_written(const struct choir *c)
{
	unsigned int i, word;

	for (i = 0; i < TALKERS; i++)
		for (word = 0; word < WORDS; word++)
			if (!CHECK(is_right(c, i, word,
					    heard_at(neighbour(i), word))))
				return false;
	return true;
}

/* A datagram comes from the neighbour, once, and is complete. */
static bool hear(struct choir *c, const struct ibv_wc *wc)
{
	unsigned int word = ntohl(wc->imm_data) % (WORDS + 1);
	unsigned int i = ntohl(wc->imm_data) / (WORDS + 1);
	unsigned int to = wc->wr_id / (WORDS + 1);

	if (!CHECK_CALL(wc->status, 0) || !CHECK(i < TALKERS) ||
	    !CHECK(to == neighbour(i)) ||
	    !CHECK(wc->qp_num == c->sides[to].qp->qp_num) ||
	    !CHECK(wc->src_qp == c->sides[i].qp->qp_num) ||
	    !CHECK_CALL(wc->byte_len, GRH + WORD(word)) ||
	    !CHECK(!(c->heard[to] >> word & 1)))
		return false;
	c->heard[to] |= 1ull << word;
	return CHECK(is_right(c, i, word,
			      heard_at(to, wc->wr_id % (WORDS + 1)) + GRH));
}

/* Until a second has passed in which nothing came: some may have been lost. */
static bool hear_some(struct choir *c, unsigned int *n)
{
	uint64_t end = now_ms() + 1000;
	struct ibv_wc wc;

	while (*n < TALKERS * WORDS && now_ms() < end) {
		if (!ibv_poll_cq(c->sides[0].rcq, 1, &wc))
			continue;
		if (!hear(c, &wc))
			return false;
		++*n;
		end = now_ms() + 1000;
	}
	return true;
}

/* Without load the neighbour's last datagram arrives. */
static bool hear_last(struct choir *c)
{
	struct ibv_wc wc;
	unsigned int i;

	for (i = 0; i < TALKERS; i++) {
		if (!say(c, i, WORDS, WORDS + 1) || !spoken(c, 1))
			return false;
		while (!(c->heard[neighbour(i)] >> WORDS & 1))
			if (!next_wc(c->sides[0].rcq, &wc) || !hear(c, &wc))
				return false;
	}
	return true;
}

/*
 * Two QPs that send so much that softirqs are left to a thread, too.  Like the work
 * items that deliver packets, that thread does not run before all have sent.
 */
#define SPEECH		(1u << 20)
#define SPEECHES	16

static bool speakers_up(struct pair *p)
{
	p->options = (struct options) {
		.wr = SPEECHES, .size = 2 * SPEECH, .type = IBV_QPT_RC,
	};
	if (!side_create(&p->a, &hosts[0], &p->options, false) ||
	    !side_create(&p->b, &hosts[0], &p->options, false) ||
	    !pair_connect(p))
		return false;
	fill(p->a.buf, SPEECH, 3);
	fill(p->b.buf, SPEECH, 4);
	return true;
}

static bool speak(struct side *from, const struct side *to)
{
	unsigned int i;

	for (i = 0; i < SPEECHES; i++)
		if (!CHECK_CALL(post_rdma(from, to, IBV_WR_RDMA_WRITE, i, 0,
					  SPEECH, SPEECH, IBV_SEND_SIGNALED),
				0))
			return false;
	return true;
}

static bool have_spoken(const struct pair *p)
{
	unsigned int i;

	for (i = 0; i < SPEECHES; i++)
		if (!EXPECT(p->a.scq, p->a.qp, .wr_id = i,
			    .opcode = IBV_WC_RDMA_WRITE) ||
		    !EXPECT(p->b.scq, p->b.qp, .wr_id = i,
			    .opcode = IBV_WC_RDMA_WRITE))
			return false;
	return CHECK(filled(p->b.buf + SPEECH, SPEECH, 3)) &&
	       CHECK(filled(p->a.buf + SPEECH, SPEECH, 4));
}

/* From here on, no thread of the kernel runs on this processor. */
static bool become_urgent(cpu_set_t *all)
{
	struct sched_param urgent = { .sched_priority = 1 };
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	return CHECK(!sched_getaffinity(0, sizeof(*all), all)) &&
	       CHECK(!sched_setaffinity(0, sizeof(one), &one)) &&
	       CHECK(!sched_setscheduler(0, SCHED_FIFO, &urgent));
}

static bool become_usual(const cpu_set_t *all)
{
	struct sched_param usual = {};

	return CHECK(!sched_setscheduler(0, SCHED_OTHER, &usual)) &&
	       CHECK(!sched_setaffinity(0, sizeof(*all), all));
}

static bool say_all(struct pair *speakers, struct choir *rc, struct choir *ud)
{
	cpu_set_t all;
	unsigned int i;
	bool good;

	good = become_urgent(&all) && speak(&speakers->a, &speakers->b) &&
	       speak(&speakers->b, &speakers->a);
	for (i = 0; good && i < TALKERS; i++)
		good = say(ud, i, 0, WORDS);
	for (i = 0; good && i < TALKERS; i++)
		good = say(rc, i, 0, WORDS);
	return become_usual(&all) && good;
}

static void all_at_once(const void *arg)
{
	static struct choir rc, ud;
	struct pair speakers;
	unsigned int n = 0;

	(void)arg;
	rc = (struct choir) { .o.type = IBV_QPT_RC };
	ud = (struct choir) { .o.type = IBV_QPT_UD };
	REQUIRE(choir_up(&rc) && choir_up(&ud) && speakers_up(&speakers));
	REQUIRE(choir_meet(&rc) && choir_meet(&ud));
	REQUIRE(say_all(&speakers, &rc, &ud));
	REQUIRE(spoken(&rc, TALKERS * WORDS));
	REQUIRE(all_written(&rc));
	REQUIRE(have_spoken(&speakers));
	REQUIRE(spoken(&ud, TALKERS * WORDS));
	REQUIRE(hear_some(&ud, &n));
	if (n < TALKERS * WORDS)
		diag("%u of %u datagrams were lost", TALKERS * WORDS - n,
		     TALKERS * WORDS);
	REQUIRE(hear_last(&ud));
	choir_down(&rc);
	choir_down(&ud);
	pair_down(&speakers);
}

/*
 * Packets that wait for delivery when both QPs go through RESET are of the old connection.
 * The new one has the same numbers and PSNs, and could not tell them from its own.  They wait
 * on a processor that has no time to deliver them, behind those of a crowd.
 */
#define CROWD		30
#define OLD		4
#define RECVS		2
#define SHORT		300

struct busy {
	pthread_t thread;
	struct choir *crowd;
	struct pair *pair;
	bool good;
	atomic_bool posted, over;
};

static void *post_and_spin(void *arg)
{
	struct busy *busy = arg;
	cpu_set_t all;
	unsigned int i;

	busy->good = become_urgent(&all);
	for (i = 0; busy->good && i < CROWD; i++)
		busy->good = say(busy->crowd, i, 0, WORDS);
	for (i = 0; busy->good && i < OLD; i++)
		busy->good = CHECK_CALL(post_send(&busy->pair->a, i, 0, SHORT,
						  IBV_SEND_SIGNALED), 0);
	busy->posted = true;
	while (!busy->over)
		;
	return NULL;
}

static bool reconnect_behind(struct choir *crowd, struct pair *p)
{
	struct busy busy = { .crowd = crowd, .pair = p };
	cpu_set_t all, others;
	unsigned int i;
	bool good;

	CPU_ZERO(&others);
	CPU_SET(1, &others);
	if (!CHECK(!sched_getaffinity(0, sizeof(all), &all)) ||
	    !CHECK(!sched_setaffinity(0, sizeof(others), &others)) ||
	    !CHECK(!pthread_create(&busy.thread, NULL, post_and_spin, &busy)))
		return false;
	while (!busy.posted)
		sched_yield();
	good = pair_again(p);
	for (i = 0; good && i < RECVS; i++)
		good = CHECK_CALL(post_recv(&p->b, i, SHORT * (i + 1), SHORT), 0);
	busy.over = true;
	pthread_join(busy.thread, NULL);
	return CHECK(!sched_setaffinity(0, sizeof(all), &all)) && good && busy.good;
}

static void reset_while_queued(const void *arg)
{
	enum ibv_qp_type type = *(const enum ibv_qp_type *)arg;
	static struct choir crowd;
	struct pair p = { .options = { .type = type, .wr = 2 * OLD } };
	unsigned int i;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
		skip("there is one processor");
		return;
	}
	/* Its QPs have no timers, which would deliver packets, too. */
	crowd = (struct choir) { .o.type = IBV_QPT_UC };
	REQUIRE(choir_up(&crowd) && choir_meet(&crowd));
	REQUIRE(side_create(&p.a, &hosts[0], &p.options, false) &&
		side_create(&p.b, &hosts[0], &p.options, false) && pair_connect(&p));
	for (i = 0; i < OLD; i++)
		CHECK_CALL(post_recv(&p.b, i, SHORT, SHORT), 0);
	REQUIRE(reconnect_behind(&crowd, &p));
	REQUIRE(spoken(&crowd, CROWD * WORDS));
	CHECK(quiet(p.b.rcq) && quiet(p.a.scq));
	fill(p.a.buf, SHORT, 5);
	CHECK_CALL(post_send(&p.a, OLD, 0, SHORT, IBV_SEND_SIGNALED), 0);
	EXPECT(p.b.rcq, p.b.qp, .opcode = IBV_WC_RECV, .length = SHORT);
	EXPECT(p.a.scq, p.a.qp, .wr_id = OLD);
	CHECK(filled(p.b.buf + SHORT, SHORT, 5));
	pair_down(&p);
	choir_down(&crowd);
}

GROUP(loopback)
{
	static const enum ibv_qp_type rc = IBV_QPT_RC, uc = IBV_QPT_UC;

	run_test(all_at_once, NULL, "%u QPs send to one another on one device",
		 2 * TALKERS + 2);
	run_test(reset_while_queued, &rc, "RESET forgets looped packets, RC");
	run_test(reset_while_queued, &uc, "RESET forgets looped packets, UC");
}
