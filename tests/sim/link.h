/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* One direction of a bad network, in virtual time (nanoseconds). */
#ifndef SROCE_SIM_LINK_H
#define SROCE_SIM_LINK_H

#include "rng.h"

#define NEVER (~0ull)

struct frame {
	struct frame *next;
	struct frame *prev;
	u64 arrives;
	bool marked;
	u32 len;
	u8 bytes[];
};

/**
 * struct codel - a queue that marks a frame from time to time while frames wait too long
 * (RFC 8289)
 * @target: ns that a frame may wait; 0: none is marked
 * @interval: ns that all frames must have waited for longer before the first one is marked
 * @begins: then they will have; 0 if the latest frame did not wait too long
 * @next: when the next one is marked
 * @count: frames marked since @marking was set; they come faster
 * @before: @count when it was set
 * @marking: frames are being marked
 */
struct codel {
	u64 target;
	u64 interval;
	u64 begins;
	u64 next;
	u32 count;
	u32 before;
	bool marking;
};

/**
 * struct link - frames under way
 * @rng: chance
 * @name: for traces
 * @loss: chance to be lost, permille
 * @corrupt: chance that a bit flips, permille
 * @duplicate: chance to arrive twice, permille
 * @late: chance that a second copy arrives much later, permille
 * @reorder: chance to be overtaken, permille
 * @delay: from end to end
 * @jitter: added at most
 * @batch: arrivals are a multiple of this, so that bursts form
 * @serial: time that it takes for each frame, one after another; or 0
 * @queue: frames that wait for this at most; more are lost
 * @codel: marks frames that wait for it
 * @waited: ns that all frames together have waited for it
 * @busy: until then the sender of the frames is busy
 * @sender: &link.busy of the link whose sender and queue this one uses
 * @dead: nothing comes through any more
 * @first: the frame that arrives next
 * @last: the latest
 * @in_order: arrival of the latest frame that was not held back
 * @frames: sent in all
 */
struct link {
	struct rng *rng;
	const char *name;
	u32 loss;
	u32 corrupt;
	u32 duplicate;
	u32 late;
	u32 reorder;
	u32 delay;
	u32 jitter;
	u32 batch;
	u32 serial;
	u32 queue;
	struct codel codel;
	u64 waited;
	u64 busy;
	u64 *sender;
	bool dead;
	struct frame *first;
	struct frame *last;
	u64 in_order;
	u64 frames;
};

void link_send(struct link *link, u64 now, const u8 *bytes, u32 len);

/* The next frame that has arrived, for the caller to free; or NULL. */
struct frame *link_receive(struct link *link, u64 now);

static inline u64 link_next(const struct link *link)
{
	return link->first ? link->first->arrives : NEVER;
}

#endif /* SROCE_SIM_LINK_H */
