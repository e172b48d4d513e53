/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Two devices in one process, and pairs of connected QPs between them.
 *
 *	D1, D2		names of the devices (sroce1, sroce2); may be the same
 *	G1, G2		GID indices
 */
#ifndef QP_PAIR_H
#define QP_PAIR_H

#include <infiniband/verbs.h>
#include <stdint.h>

#include "tap.h"

/* An expected event never takes this long, even on a debug kernel. */
#define PATIENCE_MS	60000
/* Time to check that nothing comes. */
#define QUIET_MS	60

#define ALL_ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
		    IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

#define QKEY		0x11111111

/**
 * struct host - an open device
 * @context: the device's context
 * @name: its name
 * @gid_index: of the address to use
 * @gid: that address
 * @mtu: active MTU of the port
 */
struct host {
	struct ibv_context *context;
	const char *name;
	int gid_index;
	union ibv_gid gid;
	enum ibv_mtu mtu;
};

extern struct host hosts[2];

/* Opens both devices; ends the program on failure. */
void fabric_open(void);

/* Call it before any other function, unless fabric_open() was called. */
void tap_begin(void);

bool host_open(struct host *host, const char *name, int gid_index);

struct pair;

/**
 * struct options - options of a pair of QPs; 0 means the default in brackets
 * @type: RC, UC, UD; XRC_SEND for a connection from a to b only [RC]
 * @mtu: path MTU [1024, or the active MTU of the port]
 * @wr: entries of each queue [64]
 * @no_send: no entries of the send queue
 * @sge: of each entry [4]
 * @inline_data: bytes
 * @size: bytes of each side's buffer [64 KiB]
 * @cqe: entries of the completion queues [4 * wr]
 * @sig_all: every request is signalled
 * @extended: with the ibv_wr_*() interface
 * @send_ops: operations of that interface [those of all providers]
 * @mr_access: [all]
 * @qp_access: [all]
 * @no_qp_access: none at all
 * @psn: [0x123456]
 * @rd_atomic: both ways [16]
 * @no_reads: both ways 0
 * @timeout: [14: 67 ms]
 * @no_timeout: timeout 0
 * @retry_cnt: [7]
 * @no_retry: retry_cnt 0
 * @rnr_retry: [7, without end]
 * @no_rnr_retry: rnr_retry 0
 * @min_rnr_timer: [1: 10 us]
 * @stop_at: state to leave them in [RTS]
 * @srq: entries of a shared receive queue for each side [none; 64 with XRC]
 * @srq_of: take those of that pair instead
 */
struct options {
	enum ibv_qp_type type;
	enum ibv_mtu mtu;
	int wr;
	bool no_send;
	int sge;
	int inline_data;
	size_t size;
	int cqe;
	bool sig_all;
	bool extended;
	uint64_t send_ops;
	int mr_access;
	int qp_access;
	bool no_qp_access;
	uint32_t psn;
	int rd_atomic;
	bool no_reads;
	int timeout;
	bool no_timeout;
	int retry_cnt;
	bool no_retry;
	int rnr_retry;
	bool no_rnr_retry;
	int min_rnr_timer;
	enum ibv_qp_state stop_at;
	int srq;
	const struct pair *srq_of;
};

/* One end of a pair: a QP, its completion queues, its memory. */
struct side {
	struct host *host;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *scq;
	struct ibv_cq *rcq;
	struct ibv_srq *srq;
	bool own_srq;
	struct ibv_xrcd *xrcd;
	uint32_t srqn;			/* XRC: the peer's SRQ */
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	struct ibv_ah *ah;		/* UD: leads to the peer */
	struct ibv_qp_cap cap;
	uint8_t *buf;
	size_t size;
};

struct pair {
	struct side a, b;
	struct options options;
};

/* Sides with QPs in RESET; returns false after printing the reason. */
bool pair_create(struct pair *pair, const struct options *options);
/* The same, and connected. */
bool pair_up(struct pair *pair, const struct options *options);
void pair_down(struct pair *pair);
/* Another QP for a side; the old one, if any, is the caller's to destroy. */
bool side_qp(struct side *side, const struct options *o);
bool pair_connect(struct pair *pair);
/* Both QPs go through RESET and are connected again. */
bool pair_again(struct pair *pair);

/* One side without a QP; @target: it is the receiving one of XRC. */
bool side_open(struct side *side, struct host *host,
	       const struct options *options, bool target);
/* The same, and a QP in RESET. */
bool side_create(struct side *side, struct host *host,
		 const struct options *options, bool target);
bool side_connect(struct side *side, const struct side *peer,
		  const struct options *options);
void side_destroy(struct side *side);

/* A private XRC domain, and an SRQ in it; NULL after printing the reason. */
struct ibv_xrcd *xrcd_open(struct ibv_context *context);
struct ibv_srq *xrc_srq(struct ibv_pd *pd, struct ibv_xrcd *xrcd,
			struct ibv_cq *cq, const struct options *o);
uint32_t srq_number(struct ibv_srq *srq);

/* Steps of one side; 0 or an errno. */
int to_reset(struct side *side);
int to_init(struct side *side, const struct options *options);
int to_rtr(struct side *side, const struct side *peer,
	   const struct options *options);
int to_rts(struct side *side, const struct options *options);
int to_state(struct side *side, enum ibv_qp_state state);
enum ibv_qp_state state_of(const struct side *side);

/* Attributes and mask of a step, for tests that change them. */
void init_attr(struct ibv_qp_attr *attr, int *mask, enum ibv_qp_type type,
	       const struct options *options);
void rtr_attr(struct ibv_qp_attr *attr, int *mask, enum ibv_qp_type type,
	      const struct side *side, const struct side *peer,
	      const struct options *options);
void rts_attr(struct ibv_qp_attr *attr, int *mask, enum ibv_qp_type type,
	      const struct options *options);

struct ibv_ah *address_of(struct ibv_pd *pd, const struct host *from,
			  const struct host *to);

/* Waits for an asynchronous event of that context; false if none comes. */
bool next_event(struct ibv_context *context, struct ibv_async_event *event,
		int ms);
/*
 * Waits until this event comes for that QP or its SRQ, taking others;
 * acknowledges it.
 */
bool wait_event(const struct side *side, enum ibv_event_type type);
/* Takes all that are there. */
void forget_events(struct ibv_context *context);

/* Value of a counter of that device's port; -1 if there is none. */
long long counter(const struct host *host, const char *name);
/* Waits until it differs from @value; false if it stays. */
bool counter_leaves(const struct host *host, const char *name, long long value);

#endif /* QP_PAIR_H */
