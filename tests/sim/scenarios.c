// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The table of scenarios: what the links and the peers do wrong. */
#include "world.h"

static void both(struct world *w, void (*change)(struct world *w,
						 struct side *side))
{
	change(w, &w->sides[0]);
	change(w, &w->sides[1]);
}

static void lose(struct world *w, struct side *side)
{
	side->link.loss = rng_between(&w->rng, 1, 100);
}

static void tune_loss(struct world *w)
{
	both(w, lose);
}

static void shuffle(struct world *w, struct side *side)
{
	side->link.reorder = rng_between(&w->rng, 1, 200);
	side->link.duplicate = rng_between(&w->rng, 1, 200);
}

static void tune_shuffle(struct world *w)
{
	both(w, shuffle);
}

/* Copies that arrive after many round trips: of requests, responses, ACKs and NAKs. */
static void delay_copies(struct world *w, struct side *side)
{
	lose(w, side);
	side->link.late = rng_between(&w->rng, 1, 200);
}

static void tune_late(struct world *w)
{
	both(w, delay_copies);
}

static void mistreat(struct world *w, struct side *side)
{
	lose(w, side);
	shuffle(w, side);
	side->link.loss *= rng_between(&w->rng, 1, 3);
	side->link.corrupt = rng_between(&w->rng, 0, 100);
	side->ep.refuse = rng_between(&w->rng, 0, 100);
}

/* The peer can repeat the response to one READ only, and windows are short. */
static void read_alone(struct world *w, struct side *side)
{
	mistreat(w, side);
	side->ep.req.max_reads = 1;
	side->ep.holds = true;
	side->link.loss = rng_between(&w->rng, 50, 300);
	side->link.duplicate = 500;
	sroce_cc_init(&side->ep.req.cc, rng_between(&w->rng, 6, 12));
}

static void tune_read_alone(struct world *w)
{
	both(w, read_alone);
}

/* Short windows and slow programs besides: many states meet that seldom do. */
static void torment(struct world *w, struct side *side)
{
	mistreat(w, side);
	side->link.late = rng_between(&w->rng, 0, 200);
	if (rng_permille(&w->rng, 500))
		side->recv_pace = rng_between(&w->rng, 20, 200) * 1000;
	if (rng_permille(&w->rng, 500))
		side->next_hold = rng_between(&w->rng, 1, 100000);
	if (rng_permille(&w->rng, 300))
		side->ep.rtx.timeout = rng_between(&w->rng, 1000, 40000);
	if (rng_permille(&w->rng, 300))
		side->ep.req.max_reads = rng_between(&w->rng, 1, 3);
	if (rng_permille(&w->rng, 500))
		sroce_cc_init(&side->ep.req.cc, rng_between(&w->rng, 1, 12));
}

static void tune_torment(struct world *w)
{
	both(w, torment);
}

static void tune_everything(struct world *w)
{
	both(w, mistreat);
}

static void hurry(struct world *w, struct side *side)
{
	side->ep.rtx.timeout = rng_between(&w->rng, 1000, 40000);
	side->link.loss = rng_between(&w->rng, 0, 20);
	side->link.duplicate = rng_between(&w->rng, 0, 50);
}

static void wait_long(struct world *w, struct side *side)
{
	lose(w, side);
	side->ep.rtx.timeout = rng_between(&w->rng, 20, 500) * 1000000ull;
}

/* Timeouts as programs choose them: probes come before. */
static void tune_patience(struct world *w)
{
	both(w, wait_long);
}

/* Timeouts shorter than the round trip. */
static void tune_hurry(struct world *w)
{
	both(w, hurry);
}

static void refuse(struct world *w, struct side *side)
{
	side->ep.refuse = rng_between(&w->rng, 100, 500);
	side->ep.burst = rng_between(&w->rng, 1, 4);
}

static void tune_refuse(struct world *w)
{
	both(w, refuse);
}

static void starve(struct world *w, struct side *side)
{
	side->recv_pace = rng_between(&w->rng, 20, 200) * 1000;
	side->link.loss = rng_permille(&w->rng, 500) ?
			  rng_between(&w->rng, 1, 50) : 0;
	side->link.duplicate = rng_between(&w->rng, 0, 50);
}

static void tune_starve(struct world *w)
{
	both(w, starve);
}

static void drain(struct world *w, struct side *side)
{
	side->next_hold = rng_between(&w->rng, 1, 100000);
	side->link.loss = rng_between(&w->rng, 0, 50);
}

static void tune_drain(struct world *w)
{
	both(w, drain);
}

static void lock_step(struct world *w, struct side *side)
{
	(void)w;
	sroce_cc_init(&side->ep.req.cc, 1);
	side->ep.req.max_reads = 1;
	side->ep.answers = 1;
	side->link.loss = 100;
	side->link.duplicate = 300;
	side->link.reorder = 300;
}

static void tune_lock_step(struct world *w)
{
	both(w, lock_step);
}

static void little_patience(struct world *w, struct side *side)
{
	side->ep.req.retry_count = rng_between(&w->rng, 0, 7);
}

static void tune_dead(struct world *w)
{
	both(w, little_patience);
	w->die = rng_between(&w->rng, 0, 300000);
	w->ending = ANY_FAILS;
	w->status = SROCE_RETRY_EXC_ERR;
}

/* Side 0 sends, side 1 only answers, and nothing is lost. */
static void spoil_setup(struct world *w)
{
	w->sides[1].count = 0;
	w->ending = ONE_FAILS;
	w->failing = rng_between(&w->rng, 0, w->sides[0].count - 1);
}

static void nothing_fails(struct world *w)
{
	w->ending = ALL_DONE;
	w->failing = NO_REQUEST;
}

static void tune_no_receiver(struct world *w)
{
	w->sides[0].ep.req.rnr_retry = rng_between(&w->rng, 0, 6);
	w->sides[1].recv_pace = 0;
}

static void spoil_no_receiver(struct world *w)
{
	const struct op *op;

	spoil_setup(w);
	for (op = w->sides[0].ops; op < w->sides[0].ops + w->sides[0].count;
	     op++)
		if (op->recv != NO_RECV && op->wr.wr_id >= w->failing)
			break;
	if (op == w->sides[0].ops + w->sides[0].count) {
		nothing_fails(w);
		return;
	}
	w->failing = op->wr.wr_id;
	w->status = SROCE_RNR_RETRY_EXC_ERR;
	w->sides[1].recv_count = op->recv;
}

static void spoil_memory(struct world *w, struct sroce_wr *wr)
{
	bool word = sroce_wr_atomic(wr) || wr->opcode == SROCE_OP_ATOMIC_WRITE;

	w->status = SROCE_REM_ACCESS_ERR;
	if (word && rng_permille(&w->rng, 300)) {
		wr->remote_addr++;
		w->status = SROCE_REM_INV_REQ_ERR;
	} else if (wr->opcode == SROCE_OP_FLUSH ||
		   rng_permille(&w->rng, 500)) {
		wr->rkey++;
	} else if (rng_permille(&w->rng, 500)) {
		wr->remote_addr = w->sides[1].ep.size - wr->length + 1;
		if (word)
			wr->remote_addr += -wr->remote_addr & 7;
	} else {
		wr->remote_addr = -8ull;
	}
}

static void spoil_request(struct world *w)
{
	struct op *op;

	spoil_setup(w);
	op = &w->sides[0].ops[w->failing];
	if (rng_permille(&w->rng, 200)) {
		op->wr.status = SROCE_LOC_PROT_ERR;
		w->status = SROCE_LOC_PROT_ERR;
	} else if (!op->wr.length) {
		nothing_fails(w);
	} else if (op->recv != NO_RECV &&
		   op->wr.opcode != SROCE_OP_WRITE_IMM) {
		w->sides[1].recvs[op->recv].length = op->wr.length - 1;
		w->status = SROCE_REM_INV_REQ_ERR;
		w->recv_status = SROCE_LOC_LEN_ERR;
	} else {
		spoil_memory(w, &op->wr);
	}
}

/* The same on a bad link: the NAK may be lost, and with it the reason. */
static void tune_bad_link(struct world *w)
{
	both(w, lose);
	both(w, little_patience);
}

static void spoil_on_bad_link(struct world *w)
{
	spoil_request(w);
	w->ending = ANY_FAILS;
	w->status = 0;
}

static void lose_unreliably(struct world *w, struct side *side)
{
	side->link.loss = rng_between(&w->rng, 1, 300);
	side->link.corrupt = rng_between(&w->rng, 0, 100);
}

static void tune_unreliable(struct world *w)
{
	both(w, lose_unreliably);
	w->ending = UNRELIABLE;
}

static void ready(struct world *w, struct side *side)
{
	(void)w;
	side->recv_pace = 0;
}

static void tune_ready(struct world *w)
{
	both(w, ready);
}

/* A long stream over a link with a rate, as the driver sends it. */
static void flow(struct world *w, struct side *side)
{
	side->ep.req.mtu = w->mtu;
	side->ep.resp.mtu = w->mtu;
	side->ep.resp.res.mtu = w->mtu;
	side->ep.burst = 64;
	side->ep.answers = 64;
	side->ep.ack_every = -1;
	side->ep.holds = true;
	side->ep.rtx.timeout = 67000000;
	sroce_cc_init(&side->ep.req.cc, 512);
	side->ep.req.max_reads = 16;
	side->link.delay = 20000;
	side->link.jitter = 0;
	side->link.batch = 1;
	side->link.serial = 10000;
	side->link.queue = 4096;
}

static void tune_stream(struct world *w)
{
	w->stream = 64;
	w->stream_op = SROCE_OP_WRITE;
	w->mtu = 256;
	both(w, flow);
	w->by = 300000000;
}

static void tune_short_queue(struct world *w)
{
	tune_stream(w);
	w->sides[0].link.serial = 46000;
	w->sides[0].link.queue = 10;
	/* Two thirds of the rate. */
	w->by = 1770000000;
}

static void tune_lossy_stream(struct world *w)
{
	u32 i;

	tune_stream(w);
	for (i = 0; i < 2; i++)
		w->sides[i].link.loss = rng_between(&w->rng, 1, 100);
	w->by *= 10;
}

static void tune_read_stream(struct world *w)
{
	tune_stream(w);
	w->stream_op = SROCE_OP_READ;
}

static void tune_read_short_queue(struct world *w)
{
	tune_stream(w);
	w->stream_op = SROCE_OP_READ;
	w->sides[1].link.serial = 46000;
	w->sides[1].link.queue = 10;
	w->by = 1770000000;
}

static void tune_read_lossy_stream(struct world *w)
{
	tune_lossy_stream(w);
	w->stream_op = SROCE_OP_READ;
}

/* A round trip of a millisecond, as between buildings: the path holds a hundred packets. */
static void tune_near_stream(struct world *w)
{
	u32 i;

	tune_stream(w);
	for (i = 0; i < 2; i++) {
		w->sides[i].link.delay = 500000;
		w->sides[i].link.loss = 3;
	}
	/* Two thirds of the rate. */
	w->by = 400000000;
}

/* A queue of @queue packets overflows again and again. */
static void drop_tail(struct world *w, u32 messages, u64 delay, u32 queue)
{
	u32 i;

	tune_stream(w);
	w->stream = messages;
	for (i = 0; i < 2; i++) {
		w->sides[i].link.delay = delay;
		w->sides[i].link.serial = 21000;
		w->sides[i].link.queue = queue;
	}
}

/* The path holds a hundred packets, and the queue as many. */
static void tune_drop_tail(struct world *w)
{
	drop_tail(w, 128, 1000000, 105);
	/* Two thirds of the rate. */
	w->by = 1610000000;
}

/* The same, with twice the distance. */
static void tune_farther_drop_tail(struct world *w)
{
	drop_tail(w, 128, 2000000, 190);
	w->by = 1610000000;
}

/*
 * A slow link to a near peer.  Its queue holds more than a window, but fewer packets than
 * READs may request at the same time.
 */
static void tune_slow_link(struct world *w)
{
	drop_tail(w, 256, 50000, 700);
	/* 93 % of the rate. */
	w->by = 2310000000;
}

static void tune_slow_read_link(struct world *w)
{
	tune_slow_link(w);
	w->stream_op = SROCE_OP_READ;
}

/* Several connections share the link.  All of them together have three quarters of the rate. */
static void tune_two_flows(struct world *w)
{
	drop_tail(w, 256, 1000000, 105);
	w->by = 5740000000;
}

static void tune_eight_flows(struct world *w)
{
	drop_tail(w, 64, 1000000, 105);
	w->by = 5740000000;
}

static void tune_two_read_flows(struct world *w)
{
	tune_two_flows(w);
	w->stream_op = SROCE_OP_READ;
}

static void tune_eight_read_flows(struct world *w)
{
	tune_eight_flows(w);
	w->stream_op = SROCE_OP_READ;
}

/* The path holds a thousand packets, and one of as many is lost. */
static void go_far(struct world *w, struct side *side)
{
	(void)w;
	side->link.delay = 5000000;
	side->link.loss = 1;
}

static void tune_distant_stream(struct world *w)
{
	tune_stream(w);
	both(w, go_far);
	w->by = 1000000000;
}

static void tune_distant_read_stream(struct world *w)
{
	tune_distant_stream(w);
	w->stream_op = SROCE_OP_READ;
}

/* The queue is shorter than the window. */
static void go_far_past_queue(struct world *w, struct side *side)
{
	(void)w;
	side->link.delay = 20000000;
	side->link.queue = 512;
}

static void tune_distant_short_queue(struct world *w)
{
	tune_stream(w);
	both(w, go_far_past_queue);
	w->by = 1000000000;
}

static void tune_distant_read_short_queue(struct world *w)
{
	u32 i;

	tune_distant_short_queue(w);
	w->stream_op = SROCE_OP_READ;
	for (i = 0; i < 2; i++) {
		w->sides[i].link.delay = 5000000;
		w->sides[i].link.queue = 200;
	}
}

/* All that is requested again after a loss would overflow the queue. */
static void tune_distant_read_again(struct world *w)
{
	u32 i;

	tune_read_stream(w);
	for (i = 0; i < 2; i++) {
		w->sides[i].ep.rtx.timeout = 268000000;
		w->sides[i].link.delay = 40000000;
		w->sides[i].link.queue = 200;
		w->sides[i].post_pace = 100000;
	}
	w->by = 5000000000;
}

/* The queue is shorter than what the path holds. */
static void tune_distant_drop_tail(struct world *w)
{
	drop_tail(w, 64, 5000000, 300);
	/* A fifth of the rate. */
	w->by = 2700000000;
}

/*
 * The path holds 500 packets; the queue is fq_codel's, as one flow meets it.  It must not
 * fill, and the link must be busy.
 */
static void tune_marks(struct world *w)
{
	u32 i;

	drop_tail(w, 300, 5000000, 10000);
	for (i = 0; i < 2; i++) {
		w->sides[i].link.codel.target = 5000000;
		w->sides[i].link.codel.interval = 100000000;
	}
	w->wait = 8000000;
	w->by = 2700000000;
}

static void tune_read_marks(struct world *w)
{
	tune_marks(w);
	w->stream_op = SROCE_OP_READ;
}

/* Most of a burst is lost, until the window is as small as the queue. */
static void tune_distant_read_ten_packets(struct world *w)
{
	tune_read_short_queue(w);
	w->stream = 32;
	w->sides[0].link.delay = 2600000;
	w->sides[1].link.delay = 2600000;
	w->sides[0].post_pace = 100000;
	w->sides[1].post_pace = 100000;
	w->by = 13000000000;
}

const struct scenario scenarios[] = {
	{ "lossless", SROCE_RC, 300 },
	{ "loss", SROCE_RC, 600, tune_loss },
	{ "reordered-and-duplicated", SROCE_RC, 600, tune_shuffle },
	{ "copies-arrive-late", SROCE_RC, 300, tune_late },
	{ "everything", SROCE_RC, 600, tune_everything },
	{ "one-read-at-a-time", SROCE_RC, 600, tune_read_alone },
	{ "timeouts-too-short", SROCE_RC, 300, tune_hurry },
	{ "loss-is-probed", SROCE_RC, 300, tune_patience },
	{ "transmit-queue-refuses", SROCE_RC, 300, tune_refuse },
	{ "receiver-not-ready", SROCE_RC, 400, tune_starve },
	{ "send-queue-drained", SROCE_RC, 300, tune_drain },
	{ "lock-step", SROCE_RC, 300, tune_lock_step },
	{ "link-dies", SROCE_RC, 400, tune_dead },
	{ "rnr-retries-exhausted", SROCE_RC, 300, tune_no_receiver,
	  spoil_no_receiver },
	{ "bad-request", SROCE_RC, 600, NULL, spoil_request },
	{ "bad-request-and-link", SROCE_RC, 400, tune_bad_link,
	  spoil_on_bad_link },
	{ "xrc", SROCE_XRC, 200 },
	{ "xrc-everything", SROCE_XRC, 300, tune_everything },
	{ "xrc-everything-at-once", SROCE_XRC, 900, tune_torment },
	{ "xrc-receiver-not-ready", SROCE_XRC, 200, tune_starve },
	{ "unreliable-lossless", SROCE_UC, 200, tune_ready },
	{ "unreliable", SROCE_UC, 600, tune_unreliable },
	{ "stream", SROCE_RC, 1, tune_stream },
	{ "stream-through-short-queue", SROCE_RC, 3, tune_short_queue },
	{ "stream-with-losses", SROCE_RC, 3, tune_lossy_stream },
	{ "read-stream", SROCE_RC, 1, tune_read_stream },
	{ "read-stream-through-short-queue", SROCE_RC, 3,
	  tune_read_short_queue },
	{ "read-stream-with-losses", SROCE_RC, 3, tune_read_lossy_stream },
	{ "stream-with-losses-between-buildings", SROCE_RC, 3, tune_near_stream },
	{ "stream-through-queue-of-one-bdp", SROCE_RC, 3, tune_drop_tail },
	{ "stream-through-long-queue", SROCE_RC, 3, tune_slow_link },
	{ "read-stream-through-long-queue", SROCE_RC, 3, tune_slow_read_link },
	{ "two-streams-share-queue-of-one-bdp", SROCE_RC, 3, tune_two_flows,
	  .flows = 2, .within = 10 },
	{ "eight-streams-share-queue-of-one-bdp", SROCE_RC, 3, tune_eight_flows,
	  .flows = 8, .within = 20 },
	{ "two-read-streams-share-queue-of-one-bdp", SROCE_RC, 3, tune_two_read_flows,
	  .flows = 2, .within = 10 },
	{ "eight-read-streams-share-queue-of-one-bdp", SROCE_RC, 3, tune_eight_read_flows,
	  .flows = 8, .within = 20 },
	{ "two-read-streams-of-which-one-began-in-a-queue", SROCE_RC, 5, tune_two_read_flows,
	  .flows = 2, .within = 10, .least = 2200000 },
	{ "eight-read-streams-of-which-one-began-in-a-queue", SROCE_RC, 5, tune_eight_read_flows,
	  .flows = 8, .within = 20, .least = 2600000 },
	{ "stream-through-queue-of-one-bdp-and-4-ms", SROCE_RC, 3, tune_farther_drop_tail },
	{ "distant-stream-with-losses", SROCE_RC, 3, tune_distant_stream },
	{ "distant-read-stream-with-losses", SROCE_RC, 3,
	  tune_distant_read_stream },
	{ "distant-stream-through-short-queue", SROCE_RC, 3,
	  tune_distant_short_queue },
	{ "distant-stream-through-queue-of-half-a-bdp", SROCE_RC, 3, tune_distant_drop_tail },
	{ "distant-read-stream-through-short-queue", SROCE_RC, 3,
	  tune_distant_read_short_queue },
	{ "distant-read-stream-repeated-at-its-pace", SROCE_RC, 3,
	  tune_distant_read_again },
	{ "distant-read-stream-through-queue-of-ten", SROCE_RC, 3,
	  tune_distant_read_ten_packets },
	{ "distant-stream-through-queue-that-marks", SROCE_RC, 3, tune_marks },
	{ "distant-read-stream-through-queue-that-marks", SROCE_RC, 3, tune_read_marks },
	{}
};
