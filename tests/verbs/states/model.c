// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Random calls to queues in every state, compared with a model: three connections whose
 * ends share completion queues, two of them a shared receive queue.  Every completion must
 * be the next one of its queue, none may be missing, and each ibv_req_notify_cq() must
 * raise one event.
 *
 *	SEED, ROUNDS
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chance.h"
#include "transfer.h"

#define MEMBERS		3
#define DEPTH		16
/* Posted and not polled; the CQs have room for as many of all members. */
#define MOST		40
#define RING		256
/* Work requests of a call, and pieces of each */
#define LIST		6
#define PIECES		4
#define SIZE		20000

struct sent {
	uint64_t id;
	bool signaled;
};

struct message {
	uint32_t length;
	bool solicited;
	bool imm;
};

/* FIFOs of what was posted; indices run freely. */
struct member {
	struct pair pair;
	struct ibv_cq *scq, *rcq;	/* its own, unused */
	struct sent sent[RING];
	unsigned int first, last;
	struct message messages[RING];
	unsigned int arrived, begun;
	uint64_t recvs[RING];		/* without SRQ */
	unsigned int taken, given;
	bool flushed_send, flushed_recv, dying, reset;
	uint32_t qpns[2];
};

enum armed { NOT, ANY, SOLICITED };

struct watched {
	struct ibv_cq *cq;
	struct side *side;
	enum armed armed;
	bool got;
	/* Requests whose completion may be lost: each may still raise an event. */
	unsigned int forgotten;
};

static struct member members[MEMBERS];
static struct watched sends, recvs;
static struct chance c;
static uint64_t next_id;
/* By wr_id: posted to the SRQ, and not completed */
static bool srq_waits[1 << 20];
static unsigned int srq_given, srq_taken, steps;
static bool failed;
static const char *doing = "";

#define MUST(cond)							\
	do {								\
		bool good = (cond);					\
									\
		if (!failed && !check_that(good, #cond, __FILE__, __LINE__)) { \
			failed = true;					\
			diag("step %u: %s", steps, doing);		\
		}							\
	} while (0)

static bool uses_srq(const struct member *m)
{
	return m->pair.b.srq;
}

static struct member *member_of(uint32_t qpn, bool sender)
{
	int i;

	for (i = 0; i < MEMBERS; i++)
		if (members[i].qpns[!sender] == qpn)
			return &members[i];
	return NULL;
}

/* Events */

static bool event_within(struct watched *w, int ms)
{
	struct pollfd pollfd = { .fd = w->side->channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	if (poll(&pollfd, 1, ms) != 1)
		return false;
	MUST(!ibv_get_cq_event(w->side->channel, &cq, &context) && cq == w->cq);
	ibv_ack_cq_events(w->cq, 1);
	return true;
}

static void look_for_event(struct watched *w)
{
	if (!event_within(w, 0))
		return;
	if (w->armed != NOT && !w->got) {
		w->got = true;
		return;
	}
	MUST(w->forgotten);
	if (w->forgotten)
		w->forgotten--;
}

/* A completion was found that the event stands for. */
static void event_due(struct watched *w, bool solicited)
{
	if (w->armed == ANY || (w->armed == SOLICITED && solicited)) {
		MUST(w->got || event_within(w, PATIENCE_MS));
		w->armed = NOT;
		w->got = false;
	}
}

/* Completions */

static void check_send(const struct ibv_wc *wc)
{
	struct member *m = member_of(wc->qp_num, true);
	struct sent *s;

	event_due(&sends, wc->status);
	MUST(m && !m->reset);
	if (failed)
		return;
	MUST(!wc->status || (wc->status == IBV_WC_WR_FLUSH_ERR && m->dying));
	for (;;) {
		MUST(m->first != m->last);
		if (failed)
			return;
		s = &m->sent[m->first++ % RING];
		if (s->id == wc->wr_id)
			break;
		/* It has succeeded. */
		MUST(!s->signaled && !m->flushed_send);
	}
	MUST(s->signaled || wc->status);
	MUST(wc->status || !m->flushed_send);
	m->flushed_send |= !!wc->status;
}

static void check_recv(const struct ibv_wc *wc)
{
	struct member *m = member_of(wc->qp_num, false);
	struct message *msg;
	bool solicited = wc->status;

	MUST(m && (!m->reset || uses_srq(m)));
	if (failed)
		return;
	if (!wc->status) {
		MUST(m->arrived != m->begun);
		msg = &m->messages[m->arrived++ % RING];
		MUST(wc->byte_len == msg->length);
		MUST(!!(wc->wc_flags & IBV_WC_WITH_IMM) == msg->imm);
		MUST(!m->flushed_recv);
		solicited = msg->solicited;
	} else {
		MUST(wc->status == IBV_WC_WR_FLUSH_ERR && m->dying && !uses_srq(m));
		m->flushed_recv = true;
	}
	if (uses_srq(m)) {
		MUST(wc->wr_id < srq_given && srq_waits[wc->wr_id]);
		if (!failed)
			srq_waits[wc->wr_id] = false;
		srq_taken++;
	} else {
		MUST(m->taken != m->given && m->recvs[m->taken % RING] == wc->wr_id);
		m->taken++;
	}
	event_due(&recvs, solicited);
}

static void check_wc(struct watched *w, const struct ibv_wc *wc)
{
	if (w == &sends)
		check_send(wc);
	else
		check_recv(wc);
}

static int poll_some(struct watched *w, int n)
{
	struct ibv_wc wc[16];
	int i, got;

	look_for_event(w);
	got = ibv_poll_cq(w->cq, n, wc);
	MUST(got >= 0);
	for (i = 0; i < got; i++)
		check_wc(w, &wc[i]);
	return got;
}

static void poll_all(struct watched *w)
{
	while (!failed && poll_some(w, 16) > 0)
		;
}

static void arm(struct watched *w)
{
	bool solicited = one_in(&c, 3);

	if (w->armed != NOT)
		return;
	poll_all(w);
	look_for_event(w);
	/* Time for a completion, and for the event of a request that is forgotten. */
	if (one_in(&c, 2))
		usleep(300);
	MUST(!ibv_req_notify_cq(w->cq, solicited));
	w->armed = solicited ? SOLICITED : ANY;
}

/* Completions that an event stands for may be removed. */
static void forget_arm(struct watched *w)
{
	w->forgotten += w->armed != NOT && !w->got;
	w->armed = NOT;
	w->got = false;
}

static void forget_arms(void)
{
	forget_arm(&sends);
	forget_arm(&recvs);
}

/* Posting */

static bool message(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM ||
	       opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

static void note_sent(struct member *m, const struct ibv_send_wr *wr)
{
	uint32_t length = 0;
	int i;

	m->sent[m->last++ % RING] = (struct sent) {
		wr->wr_id, wr->send_flags & IBV_SEND_SIGNALED };
	for (i = 0; i < wr->num_sge; i++)
		length += wr->sg_list[i].length;
	if (message(wr->opcode))
		m->messages[m->begun++ % RING] = (struct message) {
			length, wr->send_flags & IBV_SEND_SOLICITED,
			wr->opcode != IBV_WR_SEND };
}

static void make_wr(struct member *m, struct ibv_send_wr *wr, struct ibv_sge *sge)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND, IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ,
	};
	enum ibv_wr_opcode opcode = PICK(&c, opcodes);
	int i, n = 1 + draw_below(&c, PIECES);
	/* A message of an SRQ has one packet: RESET loses no receive request. */
	uint32_t most = uses_srq(m) && message(opcode) ? 250 : 4000;

	for (i = 0; i < n; i++)
		sge[i] = piece(&m->pair.a, 4000 * i, draw_below(&c, most));
	*wr = rdma_wr(&m->pair.b, opcode, next_id++, sge, n, 20000);
	wr->send_flags = (one_in(&c, 2) ? IBV_SEND_SIGNALED : 0) |
			 (one_in(&c, 3) ? IBV_SEND_SOLICITED : 0) |
			 (one_in(&c, 8) ? IBV_SEND_FENCE : 0);
	if (opcode != IBV_WR_RDMA_READ && one_in(&c, 4)) {
		for (i = 0; i < n; i++)
			sge[i].length %= 60;
		wr->send_flags |= IBV_SEND_INLINE;
	}
}

static void post_list(struct member *m)
{
	int i, err, n = 1 + draw_below(&c, LIST);
	int bad_at = one_in(&c, 5) ? (int)draw_below(&c, n) : -1;
	struct ibv_send_wr wr[LIST], *bad = NULL;
	struct ibv_sge sge[LIST][PIECES];

	if (m->last - m->first + n > MOST)
		return;
	for (i = 0; i < n; i++) {
		make_wr(m, &wr[i], sge[i]);
		wr[i].next = i + 1 < n ? &wr[i + 1] : NULL;
	}
	if (bad_at >= 0) {
		wr[bad_at].send_flags &= ~IBV_SEND_INLINE;
		wr[bad_at].num_sge = m->pair.a.cap.max_send_sge + 1;
	}
	err = ibv_post_send(m->pair.a.qp, wr, &bad);
	MUST(!err || err == ENOMEM || (err == EINVAL && bad == &wr[bad_at]));
	MUST(err || bad_at < 0);
	for (i = 0; i < n && !(err && bad == &wr[i]); i++)
		note_sent(m, &wr[i]);
}

static void begin_extended(struct ibv_qp_ex *qp, const struct ibv_send_wr *wr)
{
	qp->wr_id = wr->wr_id;
	qp->wr_flags = wr->send_flags & ~IBV_SEND_INLINE;
	switch (wr->opcode) {
	case IBV_WR_SEND:
		ibv_wr_send(qp);
		break;
	case IBV_WR_SEND_WITH_IMM:
		ibv_wr_send_imm(qp, 7);
		break;
	case IBV_WR_RDMA_WRITE:
		ibv_wr_rdma_write(qp, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr);
		break;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		ibv_wr_rdma_write_imm(qp, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr, 7);
		break;
	default:
		ibv_wr_rdma_read(qp, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr);
	}
}

static void set_payload(struct ibv_qp_ex *qp, const struct ibv_send_wr *wr)
{
	struct ibv_data_buf bufs[4];
	int i;

	if (!(wr->send_flags & IBV_SEND_INLINE)) {
		ibv_wr_set_sge_list(qp, wr->num_sge, wr->sg_list);
		return;
	}
	for (i = 0; i < wr->num_sge; i++)
		bufs[i] = (struct ibv_data_buf) {
			(void *)(uintptr_t)wr->sg_list[i].addr, wr->sg_list[i].length };
	ibv_wr_set_inline_data_list(qp, wr->num_sge, bufs);
}

static void post_extended(struct member *m)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(m->pair.a.qp);
	int i, err, n = 1 + draw_below(&c, LIST);
	bool bad = one_in(&c, 5), abort = one_in(&c, 5);
	struct ibv_sge sge[LIST][PIECES];
	struct ibv_send_wr wr[LIST];

	if (m->last - m->first + n > MOST)
		return;
	ibv_wr_start(qp);
	for (i = 0; i < n; i++) {
		make_wr(m, &wr[i], sge[i]);
		begin_extended(qp, &wr[i]);
		set_payload(qp, &wr[i]);
	}
	if (bad)
		ibv_wr_set_inline_data(qp, m->pair.a.buf, 10000);
	if (abort) {
		ibv_wr_abort(qp);
		return;
	}
	err = ibv_wr_complete(qp);
	MUST(!err || err == ENOMEM || (bad && err == EINVAL));
	MUST(err || !bad);
	for (i = 0; i < n && !err; i++)
		note_sent(m, &wr[i]);
}

static void post_receives(struct member *m, int n)
{
	struct side *b = &m->pair.b;
	/* The keys belong to the domain of the SRQ. */
	struct ibv_sge sge = piece(uses_srq(m) ? &members[0].pair.b : b, 40000, SIZE);
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;
	int err;

	for (; n--; ) {
		if (uses_srq(m)) {
			if (srq_given - srq_taken >= 2 * MOST ||
			    srq_given == ARRAY_SIZE(srq_waits))
				return;
			wr.wr_id = srq_given;
			err = ibv_post_srq_recv(b->srq, &wr, &bad);
			if (!err)
				srq_waits[srq_given++] = true;
		} else {
			if (m->given - m->taken >= MOST)
				return;
			wr.wr_id = next_id++;
			err = ibv_post_recv(b->qp, &wr, &bad);
			if (!err)
				m->recvs[m->given++ % RING] = wr.wr_id;
		}
		MUST(!err || err == ENOMEM);
		if (err)
			return;
	}
}

/* States */

static void restart(struct member *m)
{
	m->qpns[0] = m->pair.a.qp->qp_num;
	m->qpns[1] = m->pair.b.qp->qp_num;
	m->first = m->last;
	m->arrived = m->begun;
	m->taken = m->given;
	m->flushed_send = m->flushed_recv = m->dying = m->reset = false;
}

/* With other PSNs, so that packets of the old connection do not fit. */
static void connect_again(struct member *m)
{
	m->pair.options.psn = 1 + draw_below(&c, 0xffffff);
	MUST(pair_connect(&m->pair));
}

static void go_through_reset(struct member *m)
{
	MUST(!to_reset(&m->pair.a) && !to_reset(&m->pair.b));
	m->reset = true;
	forget_arms();
	poll_all(&sends);
	poll_all(&recvs);
	restart(m);
	connect_again(m);
}

static void create_again(struct member *m)
{
	MUST(!ibv_destroy_qp(m->pair.a.qp) && !ibv_destroy_qp(m->pair.b.qp));
	m->reset = true;
	forget_arms();
	if (uses_srq(m))
		poll_all(&recvs);
	MUST(side_qp(&m->pair.a, &m->pair.options) && side_qp(&m->pair.b, &m->pair.options));
	poll_all(&sends);
	poll_all(&recvs);
	restart(m);
	connect_again(m);
}

/* Behind all others, so that these are complete when it is. */
static void post_beacon(struct member *m)
{
	uint64_t end = now_ms() + PATIENCE_MS;
	struct ibv_send_wr wr = { .wr_id = next_id++ }, *bad;
	int err;

	wr.opcode = IBV_WR_RDMA_WRITE;
	wr.send_flags = IBV_SEND_SIGNALED;
	while ((err = ibv_post_send(m->pair.a.qp, &wr, &bad)) == ENOMEM && !failed &&
	       now_ms() < end)
		poll_some(&sends, 16);
	MUST(!err);
	note_sent(m, &wr);
}

static bool all_polled(const struct member *m)
{
	return m->first == m->last && (uses_srq(m) || m->taken == m->given);
}

static void to_err(struct member *m)
{
	uint64_t end = now_ms() + PATIENCE_MS;

	m->dying = true;
	MUST(!to_state(&m->pair.a, IBV_QPS_ERR));
	if (one_in(&c, 2))
		post_list(m);
	MUST(!to_state(&m->pair.b, IBV_QPS_ERR));
	if (one_in(&c, 2))
		post_receives(m, 3);
	if (one_in(&c, 3)) {
		go_through_reset(m);
		return;
	}
	post_beacon(m);
	while (!failed && !all_polled(m) && now_ms() < end) {
		poll_some(&sends, 16);
		poll_some(&recvs, 16);
	}
	MUST(all_polled(m));
	if (one_in(&c, 2))
		go_through_reset(m);
	else
		create_again(m);
}

static void drained(struct member *m)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1 };
	struct ibv_qp_init_attr init;
	uint64_t end = now_ms() + PATIENCE_MS;
	struct ibv_async_event event;
	bool came = false;

	forget_events(m->pair.a.host->context);
	MUST(!ibv_modify_qp(m->pair.a.qp, &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY));
	if (one_in(&c, 2))
		post_list(m);
	while (!came && !failed && now_ms() < end) {
		post_receives(m, 4);
		poll_some(&sends, 16);
		poll_some(&recvs, 16);
		if (!next_event(m->pair.a.host->context, &event, 1))
			continue;
		came = event.event_type == IBV_EVENT_SQ_DRAINED &&
		       event.element.qp == m->pair.a.qp;
		ibv_ack_async_event(&event);
	}
	MUST(came);
	MUST(!ibv_query_qp(m->pair.a.qp, &attr, IBV_QP_STATE, &init));
	MUST(attr.qp_state == IBV_QPS_SQD && !attr.sq_draining);
	if (one_in(&c, 2))
		post_extended(m);
	MUST(!to_state(&m->pair.a, IBV_QPS_RTS));
}

static void resize_srq(void)
{
	struct ibv_srq_attr attr = { .max_wr = 2 * MOST + draw_below(&c, 1000) };

	MUST(!ibv_modify_srq(members[0].pair.b.srq, &attr, IBV_SRQ_MAX_WR));
}

/* Everything that is posted completes. */
static void settle(void)
{
	uint64_t end = now_ms() + PATIENCE_MS;
	int i, busy;

	do {
		busy = 0;
		for (i = 0; i < MEMBERS; i++) {
			struct member *m = &members[i];
			struct ibv_send_wr wr, *bad;
			struct ibv_sge sge[PIECES];

			post_receives(m, 8);
			if (m->first != m->last && !m->sent[(m->last - 1) % RING].signaled) {
				make_wr(m, &wr, sge);
				wr.send_flags |= IBV_SEND_SIGNALED;
				if (!ibv_post_send(m->pair.a.qp, &wr, &bad))
					note_sent(m, &wr);
			}
			busy += m->first != m->last || m->arrived != m->begun;
		}
		poll_some(&sends, 16);
		poll_some(&recvs, 16);
	} while (busy && !failed && now_ms() < end);
	MUST(!busy);
}

static void step(void)
{
	struct member *m = &members[draw_below(&c, MEMBERS)];
	struct watched *w = one_in(&c, 2) ? &sends : &recvs;
	uint32_t what = draw_below(&c, 1000);

#define DO(share, call)							\
	if (what < (share)) {						\
		doing = #call;						\
		call;							\
		return;							\
	}								\
	what -= (share)
	DO(200, post_list(m));
	DO(200, post_extended(m));
	DO(230, post_receives(m, draw_below(&c, 8)));
	DO(250, poll_some(w, 1 + draw_below(&c, 15)));
	DO(60, arm(w));
	DO(20, MUST(!ibv_resize_cq(w->cq, 300 + draw_below(&c, 3000))));
	DO(10, resize_srq());
	DO(6, drained(m));
	DO(6, go_through_reset(m));
	DO(6, create_again(m));
	DO(6, to_err(m));
	DO(6, settle());
}

static bool join(struct member *m, const struct options *o)
{
	struct pair *pair = &m->pair;

	m->scq = pair->a.scq;
	m->rcq = pair->b.rcq;
	pair->a.scq = members[0].pair.a.scq;
	pair->b.rcq = members[0].pair.b.rcq;
	if (ibv_destroy_qp(pair->a.qp) || ibv_destroy_qp(pair->b.qp) ||
	    !side_qp(&pair->a, o) || !side_qp(&pair->b, o) || !pair_connect(pair))
		return false;
	restart(m);
	return true;
}

static void compare(const void *arg)
{
	struct options options = {
		.extended = true, .srq = 4 * MOST, .wr = DEPTH, .cqe = 3000, .inline_data = 256,
		.size = 80000, .mtu = *(const enum ibv_mtu *)arg,
	};
	unsigned int rounds = atoi(getenv("ROUNDS") ?: "1500");
	int i;

	memset(members, 0, sizeof(members));
	memset(srq_waits, 0, sizeof(srq_waits));
	srq_given = srq_taken = 0;
	failed = false;
	for (i = 0; i < MEMBERS; i++) {
		if (i == 1)
			options.srq = 0, options.srq_of = &members[0].pair;
		else if (i == 2)
			options.srq_of = NULL;
		REQUIRE(pair_create(&members[i].pair, &options));
		REQUIRE(join(&members[i], &options));
	}
	sends = (struct watched) { members[0].pair.a.scq, &members[0].pair.a };
	recvs = (struct watched) { members[0].pair.b.rcq, &members[0].pair.b };
	for (steps = 0; steps < rounds && !failed; steps++)
		step();
	doing = "the end";
	settle();
	for (i = MEMBERS; i--; ) {
		members[i].pair.a.scq = members[i].scq;
		members[i].pair.b.rcq = members[i].rcq;
		if (i)
			pair_down(&members[i].pair);
	}
	pair_down(&members[0].pair);
}

GROUP(model)
{
	static const enum ibv_mtu small = IBV_MTU_256, usual = IBV_MTU_1024;

	c.state = strtoull(getenv("SEED") ?: "1", NULL, 10);
	run_test(compare, &usual, "random calls have the results of a model");
	run_test(compare, &small, "random calls have the results of a model, MTU 256");
}
