/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Two endpoints, two links, a random program for each side, and a model that
 * predicts memory and completions at the end.
 */
#ifndef SROCE_SIM_WORLD_H
#define SROCE_SIM_WORLD_H

#include "endpoint.h"

#define SECONDS		1000000000ull

#define MOST_FLOWS	8

/* Virtual time at which a run is ended. */
#define LIMIT		(600 * SECONDS)

#define CELLS	8	/* atomics work on these, at the start of memory */

/* How a run must end. */
enum ending {
	ALL_DONE,	/* every request succeeds */
	ONE_FAILS,	/* of side 0 request @failing fails with @status */
	ANY_FAILS,	/* some fail: at most one with a status, then flushes */
	UNRELIABLE,	/* messages may be missing, but not damaged */
};

/**
 * struct op - one request of a program
 * @wr: as it is posted; its wr_id is its place in the program
 * @local: buffer of the requester
 * @recv: receive request it takes if all goes well, or NO_RECV
 */
struct op {
	struct sroce_wr wr;
	u32 local;
	u32 recv;
};

#define NO_RECV		(~0u)
#define NO_REQUEST	(~0u)

/**
 * struct side - one application
 * @ep: its QP
 * @link: from here to the peer
 * @model: what its memory must be in the end
 * @ops: its program
 * @count: of @ops
 * @posted: of @ops
 * @recvs: receive requests it is going to post
 * @recv_count: of @recvs
 * @recv_posted: of @recvs
 * @next_post: when it posts requests again
 * @next_recv: when it posts receive requests again
 * @next_hold: when it begins to drain the queue (SQD)
 * @post_pace: mean time between posts
 * @recv_pace: mean time between posts of receive requests
 */
struct side {
	struct endpoint ep;
	struct link link;
	u8 *model;
	struct op *ops;
	u32 count;
	u32 posted;
	struct receive *recvs;
	u32 recv_count;
	u32 recv_posted;
	u64 next_post;
	u64 next_recv;
	u64 next_hold;
	u32 post_pace;
	u32 recv_pace;
};

/**
 * struct world - a run
 * @rng: chance
 * @sides: the two
 * @mtu: path MTU
 * @transport: SROCE_RC, SROCE_UC or SROCE_XRC
 * @stream: if not 0: only side 0 has a program, of messages with as many packets
 * @stream_op: their opcode
 * @by: virtual time at which all must be done
 * @wait: ns that frames may wait for the links' rate, on the average
 * @ending: what is expected
 * @failing: request that cannot succeed, or NO_REQUEST
 * @status: with this; 0: with any
 * @recv_status: how the receive request of that one fails, if not 0
 * @die: when the links die
 * @now: virtual time
 * @wrong: what was found to be wrong
 */
struct world {
	struct rng rng;
	struct side sides[2];
	u32 mtu;
	u8 transport;
	u32 stream;
	u8 stream_op;
	u64 by;
	u64 wait;
	enum ending ending;
	u32 failing;
	u8 status;
	u8 recv_status;
	u64 die;
	u64 now;
	char wrong[200];
};

/**
 * struct scenario - a family of runs
 * @name: of the test
 * @transport: SROCE_RC, SROCE_UC or SROCE_XRC
 * @seeds: how many runs a check makes
 * @tune: changes the defaults before the programs are written
 * @spoil: changes the programs
 * @flows: if not 0: as many connections share the link; at most MOST_FLOWS
 * @least: if not 0: the shortest round trip that the first of them has seen, ns: it began
 *	while others had filled the queue
 * @within: percent by which the share of a flow may differ from the mean
 */
struct scenario {
	const char *name;
	u8 transport;
	u32 seeds;
	void (*tune)(struct world *w);
	void (*spoil)(struct world *w);
	u32 flows;
	u32 least;
	u32 within;
};

extern const struct scenario scenarios[];

/*
 * world.c: a run, or its parts for a caller that runs several worlds together: after the
 * last step world_check() judges each.
 */
bool world_run(struct world *w, const struct scenario *scenario, u64 seed);
void world_setup(struct world *w, const struct scenario *scenario, u64 seed);
u64 world_next(const struct world *w);
void world_step(struct world *w, u64 now);
bool world_finished(const struct world *w);
bool world_check(struct world *w);
void world_free(struct world *w);
bool wrong(struct world *w, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* program.c */
void program_write(struct world *w, u32 most);
void program_model(struct world *w);

/* shares.c: scenarios with flows; what is wrong is in the first world */
bool shares_run(struct world *flows, const struct scenario *scenario, u64 seed);

/* verify.c */
bool verify(struct world *w);

#endif /* SROCE_SIM_WORLD_H */
