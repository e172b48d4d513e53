// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <math.h>
#include <stdlib.h>
#include "link.h"
#include "trace.h"

static u64 arrival(struct link *link, u64 now)
{
	u64 at = now + link->delay + rng_between(link->rng, 0, link->jitter);

	if (rng_permille(link->rng, link->reorder))
		return at + rng_between(link->rng, 0, 4 * link->delay);
	if (at < link->in_order)
		at = link->in_order;
	at += link->batch - 1;
	at -= at % link->batch;
	link->in_order = at;
	return at;
}

/* Behind all that arrive at the same time or before. */
static void insert(struct link *link, struct frame *frame)
{
	struct frame *before = link->last;

	while (before && before->arrives > frame->arrives)
		before = before->prev;
	frame->prev = before;
	frame->next = before ? before->next : link->first;
	*(before ? &before->next : &link->first) = frame;
	*(frame->next ? &frame->next->prev : &link->last) = frame;
}

static void carry(struct link *link, u64 arrives, u64 now, bool marked, const u8 *bytes, u32 len)
{
	struct frame *frame = malloc(sizeof(*frame) + len);

	frame->arrives = arrives;
	frame->marked = marked;
	frame->len = len;
	memcpy(frame->bytes, bytes, len);
	if (rng_permille(link->rng, link->corrupt)) {
		u32 bit = rng_between(link->rng, 0, len * 8 - 1);

		TRACE("%9llu %s corrupts it\n", (unsigned long long)now,
		      link->name);
		frame->bytes[bit / 8] ^= 1 << bit % 8;
	}
	insert(link, frame);
}

/* Has each frame of the last interval waited too long? */
static bool waits_too_long(struct codel *codel, u64 now, u64 waited)
{
	if (waited < codel->target)
		codel->begins = 0;
	else if (!codel->begins)
		codel->begins = now + codel->interval;
	return codel->begins && now >= codel->begins;
}

/* Is the frame marked that leaves the queue @now, after it has waited? */
static bool codel_marks(struct codel *codel, u64 now, u64 waited)
{
	bool lately = now < codel->next + 16 * codel->interval;
	u32 more = codel->count - codel->before;

	if (!codel->target || !waits_too_long(codel, now, waited)) {
		codel->marking = false;
		return false;
	}
	if (codel->marking && now < codel->next)
		return false;
	if (codel->marking) {
		codel->count++;
	} else {
		codel->marking = true;
		codel->count = more > 1 && lately ? more : 1;
		codel->before = codel->count;
		codel->next = now;
	}
	codel->next += codel->interval / sqrt(codel->count);
	return true;
}

/* A link with a rate sends one frame after another, and queues few. */
static bool has_room(struct link *link, u64 *now, bool *marked)
{
	u64 waited;

	if (!link->serial)
		return true;
	*link->sender = max(*link->sender, *now);
	waited = *link->sender - *now;
	if (waited > (u64)link->queue * link->serial)
		return false;
	link->waited += waited;
	*marked = codel_marks(&link->codel, *link->sender, waited);
	*link->sender += link->serial;
	*now = *link->sender;
	return true;
}

void link_send(struct link *link, u64 now, const u8 *bytes, u32 len)
{
	bool marked = false;

	link->frames++;
	if (link->dead || rng_permille(link->rng, link->loss) ||
	    !has_room(link, &now, &marked)) {
		TRACE("%9llu %s loses it\n", (unsigned long long)now,
		      link->name);
		return;
	}
	carry(link, arrival(link, now), now, marked, bytes, len);
	if (rng_permille(link->rng, link->duplicate))
		carry(link, arrival(link, now), now, marked, bytes, len);
	if (rng_permille(link->rng, link->late))
		carry(link, now + rng_between(link->rng, 1, 200) * link->delay, now, marked,
		      bytes, len);
}

struct frame *link_receive(struct link *link, u64 now)
{
	struct frame *frame = link->first;

	if (!frame || frame->arrives > now)
		return NULL;
	link->first = frame->next;
	*(frame->next ? &frame->next->prev : &link->last) = NULL;
	return frame;
}
