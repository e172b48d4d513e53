// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdarg.h>
#include <stdlib.h>
#include "trace.h"
#include "world.h"

#define MICROSECONDS	1000ull
#define MOST_STEPS	2000000

bool wrong(struct world *w, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(w->wrong, sizeof(w->wrong), format, args);
	va_end(args);
	return false;
}

static u32 random_psn(struct rng *rng)
{
	return rng_permille(rng, 500) ? rng_between(rng, 0, 0xffffff) :
	       sroce_psn_add(0, -rng_between(rng, 0, 40));
}

static void init_link(struct world *w, struct link *link, const char *name)
{
	static const u32 batches[] = { 1, 1000, 5000, 20000 };

	link->name = name;
	link->sender = &link->busy;
	link->rng = &w->rng;
	link->delay = rng_between(&w->rng, 1000, 20000);
	link->jitter = rng_between(&w->rng, 0, 5000);
	link->batch = batches[rng_between(&w->rng, 0, 3)];
}

static void init_endpoint(struct world *w, struct endpoint *ep)
{
	u32 window = rng_between(&w->rng, 1, 64);

	ep->rng = &w->rng;
	ep->burst = rng_between(&w->rng, 1, 64);
	ep->answers = rng_between(&w->rng, 1, 64);
	ep->ack_every = rng_between(&w->rng, 1, 64);
	ep->rtx.timeout = rng_between(&w->rng, 100, 500) * MICROSECONDS;
	ep->rnr_code = rng_between(&w->rng, 1, 8);
	ep->rnr_timer = NEVER;
	ep->work_timer = NEVER;
	ep->req = (struct sroce_requester) {
		.in = { ep->wrs, STORE - 1, -5, -5, -5 },
		.mtu = w->mtu,
		.transport = w->transport,
		.max_reads = rng_between(&w->rng, 1, READS),
		.retry_count = 255,
		.rnr_retry = 7,
	};
	sroce_cc_init(&ep->req.cc, window);
	ep->holds = rng_permille(&w->rng, 700);
	ep->resp = (struct sroce_responder) {
		.mtu = w->mtu,
		.permissions = SROCE_MAY_WRITE | SROCE_MAY_READ |
			       SROCE_MAY_ATOMIC | SROCE_MAY_FLUSH,
		.transport = w->transport,
		.res = { .reads = ep->reads, .mtu = w->mtu,
			 .transport = w->transport },
	};
}

static void init_side(struct world *w, u32 i)
{
	struct side *side = &w->sides[i], *peer = &w->sides[!i];

	side->ep.name = i ? "                    B" : "A";
	side->ep.in = &peer->link;
	side->ep.out = &side->link;
	side->post_pace = rng_between(&w->rng, 1, 20) * MICROSECONDS;
	side->recv_pace = rng_permille(&w->rng, 500) ? 0 :
			  rng_between(&w->rng, 1, 40) * MICROSECONDS;
	side->next_hold = NEVER;
	init_link(w, &side->link, i ? "B-A" : "A-B");
	init_endpoint(w, &side->ep);
}

/* Both ends agree on first PSN and READ depth, as a connection manager does. */
static void connect_sides(struct world *w, struct side *side, struct side *peer)
{
	struct sroce_requester *req = &side->ep.req;

	sroce_requester_begin(req, random_psn(&w->rng));
	req->retry_left = req->retry_count;
	req->rnr_left = req->rnr_retry;
	sroce_responder_expect(&peer->ep.resp, req->psn);
	peer->ep.resp.res.size = req->max_reads;
	peer->ep.peer = req;
}

static u32 round_up(u32 n)
{
	u32 power = 1;

	while (power < n)
		power *= 2;
	return power;
}

void world_setup(struct world *w, const struct scenario *scenario, u64 seed)
{
	u32 i, most;

	memset(w, 0, sizeof(*w));
	w->rng.state = seed;
	w->mtu = 256 << rng_between(&w->rng, 0, 4);
	w->transport = scenario->transport;
	w->die = NEVER;
	w->by = NEVER;
	w->wait = NEVER;
	w->failing = NO_REQUEST;
	for (i = 0; i < 2; i++)
		init_side(w, i);
	if (scenario->tune)
		scenario->tune(w);
	for (i = 0; i < 2; i++)
		connect_sides(w, &w->sides[i], &w->sides[!i]);
	most = rng_between(&w->rng, 1, 120);
	program_write(w, most);
	if (scenario->spoil)
		scenario->spoil(w);
	program_model(w);
	for (i = 0; i < 2; i++) {
		struct endpoint *ep = &w->sides[i].ep;

		ep->receive_mask = round_up(w->sides[i].recv_count + 1) - 1;
		ep->receives = calloc(ep->receive_mask + 1,
				      sizeof(*ep->receives));
	}
}

static u64 soon(struct world *w, u64 now, u32 pace)
{
	return now + rng_between(&w->rng, 1, 2 * pace + 1);
}

static void post(struct world *w, struct side *side, u64 now)
{
	u32 n = rng_between(&w->rng, 1, 12);

	while (n-- && side->posted < side->count && !side->ep.failed) {
		const struct op *op = &side->ops[side->posted];

		if (!send_post(&side->ep, &op->wr, op->local))
			break;
		side->posted++;
	}
	send_requests(&side->ep, now);
	side->next_post = side->posted < side->count && !side->ep.failed ?
			  soon(w, now, side->post_pace) : NEVER;
}

static void post_receives(struct world *w, struct side *side, u64 now)
{
	u32 n = side->recv_pace ? rng_between(&w->rng, 1, 4) : -1;

	while (n-- && side->recv_posted < side->recv_count)
		receive_post(&side->ep, side->recvs[side->recv_posted++]);
	side->next_recv = side->recv_posted < side->recv_count ?
			  soon(w, now, side->recv_pace) : NEVER;
}

static bool drained(const struct sroce_requester *r)
{
	const struct sroce_wr *wr = sroce_inflight_wr(&r->in, r->in.next);

	return !sroce_requester_waits(r) &&
	       (r->in.next == r->in.tail || !wr->started);
}

/* SQD: hold until what has started is done, then go on. */
static void hold(struct world *w, struct side *side, u64 now)
{
	struct sroce_requester *r = &side->ep.req;

	if (side->next_hold <= now) {
		TRACE("%9llu %s is held\n", (unsigned long long)now,
		      side->ep.name);
		r->drain = true;
		side->next_hold = NEVER;
	}
	if (r->drain && drained(r)) {
		TRACE("%9llu %s is drained\n", (unsigned long long)now,
		      side->ep.name);
		r->drain = false;
		if (side->posted < side->count)
			side->next_hold = soon(w, now, 20 * MICROSECONDS);
		send_requests(&side->ep, now);
	}
}

u64 world_next(const struct world *w)
{
	u64 at = NEVER;
	u32 i;

	for (i = 0; i < 2; i++) {
		const struct side *side = &w->sides[i];

		at = min(at, side->next_post);
		at = min(at, side->next_recv);
		at = min(at, side->next_hold);
		at = min(at, link_next(&side->link));
		at = min(at, endpoint_next_timer(&side->ep));
	}
	return at;
}

void world_step(struct world *w, u64 now)
{
	u32 i;

	w->now = now;
	for (i = 0; i < 2; i++) {
		struct side *side = &w->sides[i];

		if (w->die <= now)
			side->link.dead = true;
		if (side->next_recv <= now)
			post_receives(w, side, now);
		if (side->next_post <= now)
			post(w, side, now);
		endpoint_receive(&side->ep, now);
		endpoint_timers(&side->ep, now);
		hold(w, side, now);
	}
}

static bool finished(const struct side *side)
{
	return side->ep.failed || (side->posted == side->count &&
				   side->ep.req.in.head == side->ep.req.in.tail);
}

bool world_finished(const struct world *w)
{
	return finished(&w->sides[0]) && finished(&w->sides[1]);
}

static u64 mean_wait(const struct link *link)
{
	return link->frames ? link->waited / link->frames : 0;
}

bool world_check(struct world *w)
{
	u64 next = world_next(w);
	u32 i;

	if (!world_finished(w))
		return wrong(w, next == NEVER ? "deadlock" : "no progress");
	if (w->now > w->by)
		return wrong(w, "%llu virtual us", (unsigned long long)w->now / 1000);
	if (next != NEVER)
		return wrong(w, "does not come to rest");
	for (i = 0; i < 2; i++)
		if (mean_wait(&w->sides[i].link) > w->wait)
			return wrong(w, "frames waited %llu virtual us",
				     (unsigned long long)mean_wait(&w->sides[i].link) / 1000);
	return verify(w);
}

bool world_run(struct world *w, const struct scenario *scenario, u64 seed)
{
	u32 steps;

	world_setup(w, scenario, seed);
	for (steps = 0; steps < MOST_STEPS && world_next(w) <= LIMIT; steps++)
		world_step(w, world_next(w));
	return world_check(w);
}

void world_free(struct world *w)
{
	u32 i;

	for (i = 0; i < 2; i++) {
		struct side *side = &w->sides[i];
		struct frame *frame;

		while ((frame = link_receive(&side->link, NEVER)))
			free(frame);
		endpoint_drop_held(&side->ep.held_requests);
		endpoint_drop_held(&side->ep.held_responses);
		free(side->ep.memory);
		free(side->ep.receives);
		free(side->ep.sends.list);
		free(side->ep.recvs.list);
		free(side->model);
		free(side->ops);
		free(side->recvs);
	}
}
