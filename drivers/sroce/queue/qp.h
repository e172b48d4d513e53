/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_QP_H
#define SROCE_QP_H

#include <linux/hrtimer.h>
#include <linux/kref.h>

#include <linux/rhashtable.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include "../base/ref.h"
#include "../base/sroce.h"
#include "../core/responder.h"
#include "../core/rtx.h"
#include "../mem/odp_fault.h"
#include "../mem/sgl.h"
#include "../mem/wmem.h"
#include "cq.h"
#include "doorbell.h"
#include "queue_mem.h"

struct sroce_av;
struct sroce_recv_wqe;
struct sroce_srq;

/**
 * struct sroce_path - a half's way to the peer; that half's lock
 * @dst: cached route, or NULL
 * @net: the namespace that it belongs to, and must not outlive; only compared
 * @cookie: to notice that an IPv6 route has become stale
 * @ip_id: identification of the next IPv4 packet
 * @cpu: who transmitted last, see sroce_tx_in_order()
 * @bursts: in qdisc, driver and the peer's backlog, or in net/loopback.c's queue;
 *	without a lock
 */
struct sroce_path {
	struct dst_entry *dst;
	struct net *net;
	u32 cookie;
	u16 ip_id;
	int cpu;
	atomic_t bursts;
};

/**
 * struct sroce_send_ring - send requests of a QP, and private copies of them
 * @mem: entries as user space or verbs/post.c writes them; NULL without a ring
 * @stride: bytes of an entry
 * @entries: a power of two
 * @max_sge: longest SGE list of an entry
 * @max_inline: longest inline payload of an entry, bytes
 * @broken: user space has written an impossible tail; look at it no more
 * @lists: SGE list or inline data of each request that was copied
 * @list_size: bytes of each of them
 */
struct sroce_send_ring {
	void *mem;
	u32 stride;
	u32 entries;
	u16 max_sge;
	u16 max_inline;
	bool broken;
	void *lists;
	u32 list_size;
};

/**
 * struct sroce_sq_timer - fires at &sroce_rtx.deadline, or later
 * @hrtimer: keeps running when the deadline moves away, and checks it then
 * @running: @hrtimer is queued
 * @slack: by how much it may fire after the deadline, ns
 */
struct sroce_sq_timer {
	struct hrtimer hrtimer;
	bool running;
	u32 slack;
};

/**
 * struct sroce_batch - posts without a kick, see sroce_doorbell_rung()
 * @timer: runs while @active
 * @active: the process need not kick
 * @start: requests that had been copied when @timer was started
 * @polled: completions that the process had taken at its last kick
 * @unpolled: kicks since then
 * @idle: times in a row that @timer found next to nothing
 */
struct sroce_batch {
	struct hrtimer timer;
	bool active;
	u32 start;
	u32 polled;
	u8 unpolled;
	u8 idle;
};

/**
 * struct sroce_ud - datagrams
 * @av: destination of &sroce_sendq.path, referenced
 * @held_up: datagrams wait for earlier ones in this host's queues,
 * @held_until: but not longer than this
 */
struct sroce_ud {
	struct sroce_av *av;
	bool held_up;
	ktime_t held_until;
};

/**
 * struct sroce_rate - rate limit
 * @kbps: kilobits per second; 0 is none
 * @free_at: when the next burst may be sent
 */
struct sroce_rate {
	u32 kbps;
	ktime_t free_at;
};

/**
 * struct sroce_sq_paging - memory on demand that is not present
 * @fault: what is being paged in
 * @refetch: responses were dropped; they are requested again when it is present
 * @waits: times that the next request was held back for it
 */
struct sroce_sq_paging {
	struct sroce_fault fault;
	bool refetch;
	u8 waits;
};

/* Why nothing is sent until &sroce_rtx.deadline. */
enum sroce_sq_blocked {
	SROCE_SQ_OPEN,		/* it is */
	SROCE_SQ_LOCAL_DROP,	/* the host's queue refused it, or memory is short */
	SROCE_SQ_CPU_ORDER,	/* bursts of another CPU are under way */
	SROCE_SQ_RATE,		/* the rate limit */
};

/**
 * struct sroce_sendq - the requester's half of a QP
 * @lock: protects all below and the slot's sq_head and kick; taken with _bh.
 *	Nested inside struct sroce_recvq.lock by state changes only
 * @ring: requests
 * @req: protocol state; its records are allocated on first use
 * @rtx: retransmission state
 * @cq: completions go here
 * @cache: memory region used last under the lock
 * @path: route
 * @ud: of UD and GSI QPs
 * @timer: of @rtx and of @blocked
 * @batch: coalesced doorbells
 * @rate: rate limit
 * @paging: memory on demand
 * @blocked: enum sroce_sq_blocked
 * @pauses: local drops in a row
 * @progress: something was acknowledged since the deadline was set
 * @ask_drained: SQD: raise the event when nothing is outstanding
 * @signal_all: every request completes with a CQE
 * @unasked: packets since one that asked for an acknowledgment
 * @flush_end: in error: the tail up to which requests are to be flushed
 */
struct sroce_sendq {
	spinlock_t lock;	/* see above */
	struct sroce_send_ring ring;
	struct sroce_requester req;
	struct sroce_rtx rtx;
	struct sroce_cq *cq;
	struct sroce_mr_cache cache;
	struct sroce_path path;
	struct sroce_ud ud;
	struct sroce_sq_timer timer;
	struct sroce_batch batch;
	struct sroce_rate rate;
	struct sroce_sq_paging paging;
	u8 blocked;
	u8 pauses;
	bool progress;
	bool ask_drained;
	bool signal_all;
	u32 unasked;
	u32 flush_end;
};

/**
 * struct sroce_recvq - the half of a QP that answers
 * @lock: protects all below; taken with _bh
 * @ring: the QP's own receive requests; none with an SRQ
 * @resp: protocol state
 * @wqe: the receive request that the message in progress has taken; its SGE
 *	list is private
 * @wqe_held: datagrams: @wqe is waiting for its datagram
 * @flushing: in error: requests in @ring that are to be flushed
 * @taken_from: XRC: the SRQ (its serial number) that @wqe is of
 * @cq: completions go here; of an XRC target, those of @srq's requests
 * @pd: of the memory that requests name: the QP's, or of an XRC target @srq's
 * @cache: memory region used last under the lock
 * @path: route
 * @qkey: of datagrams
 * @syndrome: of the NAK to send, or 0
 * @nak_psn: the packet it is about
 * @pauses: local drops in a row
 * @ack: an acknowledgment is to be sent
 * @ack_again: of what the peer has repeated
 * @budget: what is left for answers under this hold of @lock, see recv/rq.h
 * @pause: runs after a local drop of an answer
 * @min_rnr_timer: code for RNR NAKs
 * @last_told: in error: there has been the event for the last receive request
 * @fault: memory that was not present
 */
struct sroce_recvq {
	spinlock_t lock;	/* see above */
	struct sroce_recv_ring ring;
	struct sroce_responder resp;
	struct sroce_recv_wqe *wqe;
	bool wqe_held;
	u32 flushing;
	u64 taken_from;
	struct sroce_cq *cq;
	struct ib_pd *pd;
	struct sroce_mr_cache cache;
	struct sroce_path path;
	u32 qkey;
	u8 syndrome;
	u8 pauses;
	u32 nak_psn;
	bool ack;
	bool ack_again;
	u32 budget;
	struct hrtimer pause;
	u8 min_rnr_timer;
	bool last_told;
	struct sroce_fault fault;
};

/* What the work item, or an run_list, has to do: bits of struct sroce_qp.todo. */
enum sroce_qp_todo {
	SROCE_TODO_SEND,	/* the requester can go on */
	SROCE_TODO_RESPOND,	/* the responder can go on */
	SROCE_TODO_FLUSH,	/* the QP is in an error state: look, and flush */
	SROCE_TODO_FLUSH_REST,	/* go on with that, and look no more */
	SROCE_TODO_FATAL,	/* events to raise: IB_EVENT_QP_FATAL, */
	SROCE_TODO_REQ_ERR,	/* IB_EVENT_QP_REQ_ERR, */
	SROCE_TODO_ACCESS_ERR,	/* IB_EVENT_QP_ACCESS_ERR, */
	SROCE_TODO_DRAINED,	/* IB_EVENT_SQ_DRAINED, */
	SROCE_TODO_ESTABLISHED,	/* IB_EVENT_COMM_EST, */
	SROCE_TODO_LAST_RECV,	/* IB_EVENT_QP_LAST_WQE_REACHED; of its SRQ */
	SROCE_TODO_SRQ_LIMIT,	/* IB_EVENT_SRQ_LIMIT_REACHED, */
	SROCE_TODO_SRQ_ERR,	/* IB_EVENT_SRQ_ERR */
};

/**
 * struct sroce_qp - queue pair
 * @node: in the table, by @qpn
 * @qpn: its number, random, unique in the module; 1 for the GSI
 * @dev: device
 * @counters: its device's, or those of the QPs that it is counted with
 * @ib: what the RDMA core sees and frees; valid while @ref is not 0
 * @pd: protection domain
 * @srq: where receive requests come from, or NULL: its own ring.  Of an XRC
 *	target the one that the request in hand names, referenced; rq.lock
 * @xrcd: an XRC target's domain
 * @type: IB_QPT_RC, UC, UD, GSI, XRC_INI or XRC_TGT
 * @state: enum ib_qp_state.  Written with both locks held, but for the step
 *	into an error state, which takes either; read under either lock
 * @user: a process owns it, or an XRC domain
 * @ctx: that process's context
 * @slot: doorbell words
 * @place: where the slot is in the context
 * @kernel_slot: @slot of a kernel user
 * @ring: memory behind both rings
 * @av: path to the peer of a connected QP; changed with both locks held
 * @dest_qpn: its number
 * @pkey: P_Key in packets: its entry of the device's table
 * @attr: attributes as they were set, for query; @mutex
 * @mutex: one modify_qp() at a time; outside of the locks
 * @gsi: in the list of GSI QPs; RCU
 * @net_cookie: of a GSI QP: its device's namespace
 * @sq: sending half
 * @rq: answering half
 * @work: what the fast path hands over
 * @todo: enum sroce_qp_todo
 * @on_run_list: bit 0: it is on a processor's run_list (queue/qp_run.c)
 * @next: on that run_list
 * @turn: when its timers last took part in a processor's turn (queue/qp_run.c)
 * @post_lock: kernel users' posting; taken with interrupts off
 * @tx_done_at: UC: when the stack released the last burst, jiffies
 * @tx_full: somebody waits for the bursts of a path, or of both, to be less
 * @wmem: of a process: what its packets are charged to
 * @wmem_wait: it waits for room there
 * @seen: a packet has arrived since RTR (communication established)
 * @ref: one for being there, one per user of the data path
 * @mem: one for @ref being above 0, one per skb in flight
 * @rcu: lookups may still look at it
 *
 * The structure is not the ib_qp itself, which the RDMA core frees as soon as
 * destroy_qp() returns: packets in flight and RCU readers outlive that.
 */
struct sroce_qp {
	struct rhash_head node;
	u32 qpn;
	struct sroce_device *dev;
	struct sroce_counters __percpu *counters;
	struct ib_qp *ib;
	struct ib_pd *pd;
	struct sroce_srq *srq;
	struct ib_xrcd *xrcd;
	u8 type;
	u8 state;
	bool user;
	struct sroce_ucontext *ctx;
	struct sroce_qp_slot *slot;
	struct sroce_doorbell place;
	struct sroce_queue_mem *ring;
	struct sroce_av *av;
	u32 dest_qpn;
	const u16 *pkey;
	struct ib_qp_attr attr;
	struct mutex mutex;	/* see above */
	struct list_head gsi;
	u64 net_cookie;

	struct sroce_sendq sq ____cacheline_aligned_in_smp;
	struct sroce_recvq rq ____cacheline_aligned_in_smp;

	struct work_struct work;
	unsigned long todo;
	unsigned long on_run_list;
	struct sroce_qp *next;
	u64 turn;
	spinlock_t post_lock;	/* see above */
	unsigned long tx_done_at;
	bool tx_full;
	struct sroce_wmem *wmem;
	struct sroce_wmem_waiter wmem_wait;
	bool seen;
	struct sroce_ref ref;
	struct kref mem;
	struct rcu_head rcu;
	struct sroce_qp_slot kernel_slot;
};

/**
 * struct sroce_ib_qp - what the RDMA core allocates for a QP
 * @ib: what it sees; first
 * @qp: the QP, which may outlive it
 */
struct sroce_ib_qp {
	struct ib_qp ib;
	struct sroce_qp *qp;
};

static inline struct sroce_qp *sroce_qp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct sroce_ib_qp, ib)->qp;
}

static inline bool sroce_qp_connected(const struct sroce_qp *qp)
{
	return BIT(qp->type) & (BIT(IB_QPT_RC) | BIT(IB_QPT_UC) |
				BIT(IB_QPT_XRC_INI) | BIT(IB_QPT_XRC_TGT));
}

/* Are its packets acknowledged? */
static inline bool sroce_qp_reliable(const struct sroce_qp *qp)
{
	return BIT(qp->type) & (BIT(IB_QPT_RC) | BIT(IB_QPT_XRC_INI) |
				BIT(IB_QPT_XRC_TGT));
}

/* Upper bits of the opcodes of its packets: enum sroce_transport. */
static inline u8 sroce_qp_transport(const struct sroce_qp *qp)
{
	static const u8 transports[] = {
		[IB_QPT_GSI] = SROCE_UD,
		[IB_QPT_RC] = SROCE_RC,
		[IB_QPT_UC] = SROCE_UC,
		[IB_QPT_UD] = SROCE_UD,
		[IB_QPT_XRC_INI] = SROCE_XRC,
		[IB_QPT_XRC_TGT] = SROCE_XRC,
	};

	return transports[qp->type];
}

/* Of XRC: its SRQ, CQ and protection domain are those that a request names. */
static inline bool sroce_qp_target(const struct sroce_qp *qp)
{
	return qp->type == IB_QPT_XRC_TGT;
}

/* The Q_Key of its datagrams.  Context: either lock held. */
static inline u32 sroce_qp_qkey(const struct sroce_qp *qp)
{
	return qp->type == IB_QPT_GSI ? SROCE_QKEY_GSI : qp->rq.qkey;
}

int sroce_qp_table_init(void);
/* After sroce_tx_drain(). */
void sroce_qp_table_exit(void);

/**
 * sroce_qp_lookup() - find the QP of a packet
 * @qpn: destination number, not that of the GSI
 *
 * Context: RCU read side.  Return: a QP with a reference, or NULL.
 */
struct sroce_qp *sroce_qp_lookup(u32 qpn);

/**
 * sroce_qp_hold() - the QP behind what the RDMA core knows
 * @ibqp: not freed, but on kernels without rdma_restrack_begin_del() netlink
 *	asks also for one that has been destroyed
 *
 * Context: process.  Return: a QP with a reference, or NULL if it has gone.
 */
struct sroce_qp *sroce_qp_hold(struct ib_qp *ibqp);

/**
 * sroce_qp_find_gsi() - find the GSI QP that a packet is for
 * @matches: called for each of them
 * @arg: for @matches
 *
 * Context: RCU read side.  Return: a QP with a reference, or NULL.
 */
struct sroce_qp *sroce_qp_find_gsi(bool (*matches)(struct sroce_qp *qp,
						   void *arg), void *arg);

/*
 * Count a packet of @bytes that belongs to no QP at a device of its namespace.
 * It has been received, too: strangers may read how many were (verbs/pma.c), and must
 * not learn from that which QPs exist.
 */
void sroce_qp_count_stray(const struct net *net, enum sroce_counter counter,
			  u32 bytes);

/* Pin a QP found under RCU; false if it is going away. */
static inline bool sroce_qp_get(struct sroce_qp *qp)
{
	return sroce_ref_get(&qp->ref);
}

static inline void sroce_qp_put(struct sroce_qp *qp)
{
	sroce_ref_put(&qp->ref);
}

/* For skb destructors: the structure alone, not what it points to. */
void sroce_qp_free(struct kref *mem);

/* Let packets find a new QP; draws its number.  Return: 0 or an errno. */
int sroce_qp_publish(struct sroce_qp *qp);
/* No packet finds it any more.  Context: process. */
void sroce_qp_unpublish(struct sroce_qp *qp);

/**
 * sroce_qp_for_each() - visit all QPs of the module
 * @visit: called under RCU, perhaps twice for the same QP
 * @arg: for @visit
 *
 * Context: process, may sleep.
 */
void sroce_qp_for_each(void (*visit)(struct sroce_qp *qp, const void *arg),
		       const void *arg);

#endif /* SROCE_QP_H */
