/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_QP_H
#define SROCE_QP_H

#include <linux/hrtimer.h>
#include <linux/kref.h>
#include <linux/log2.h>
#include <linux/rhashtable.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include "../base/ref.h"
#include "../base/sroce.h"
#include "../core/params.h"
#include "../core/responder.h"
#include "../core/rtx.h"
#include "../core/uso.h"
#include "../mem/odp_fault.h"
#include "../mem/sgl.h"
#include "../mem/wmem.h"
#include "cq.h"
#include "doorbell.h"
#include "ooo.h"
#include "queue_mem.h"

struct sroce_av;
struct sroce_comp_cntr;
struct sroce_recv_wqe;
struct sroce_srq;

/* Bits of enum ib_qp_attach_comp_cntr_op */
#define SROCE_CNTR_BITS							\
	(ilog2(IB_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_WRITE) + 1)

/**
 * struct sroce_path - route of one side of a QP; protected by that side's lock
 * @dst: cached route, or NULL
 * @net: network namespace of @dst, which must not outlive it; only compared
 * @cookie: detects that an IPv6 route is stale
 * @ip_id: identification of the next IPv4 packet
 * @copies: bursts whose payload is to be copied, because packets had to be repeated
 * @cpu: CPU that transmitted last; see sroce_tx_in_order()
 * @bursts: bursts in the qdisc, the driver and the peer's backlog, or in the
 *	queue of net/loopback.c; not protected by the lock
 */
struct sroce_path {
	struct dst_entry *dst;
	struct net *net;
	u32 cookie;
	u16 ip_id;
	u16 copies;
	int cpu;
	atomic_t bursts;
};

/**
 * struct sroce_send_ring - send WQEs of a QP, and private copies of their data
 * @mem: entries as user space or verbs/post.c writes them; NULL without a ring
 * @stride: bytes per entry
 * @entries: a power of two
 * @max_sge: maximum number of SGEs in an entry
 * @max_inline: maximum inline payload of an entry, bytes
 * @broken: user space has written an impossible tail; do not read it again
 * @lists: private copy of the SGE list or inline data of each WQE
 * @list_size: bytes per copy in @lists
 * @signal_all: every WQE generates a completion
 * @flush_end: error states: tail up to which WQEs are flushed
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
	bool signal_all;
	u32 flush_end;
};

/* Address of an entry; @index may exceed the ring. */
static inline void *sroce_send_ring_at(const struct sroce_send_ring *ring, u32 index)
{
	return ring->mem + (size_t)(index & (ring->entries - 1)) * ring->stride;
}

/* Reason why nothing is transmitted until &sroce_rtx.deadline. */
enum sroce_sq_blocked {
	SROCE_SQ_OPEN,		/* not blocked */
	SROCE_SQ_LOCAL_DROP,	/* this host's queue is full, or no memory */
	SROCE_SQ_CPU_ORDER,	/* bursts of another CPU are in flight */
	SROCE_SQ_RATE,		/* rate limit */
};

/**
 * struct sroce_sq_timer - timer for &sroce_rtx.deadline, which ends retransmission
 *	timeouts and other waits
 * @hrtimer: not restarted when the deadline moves into the future; the callback
 *	checks the deadline
 * @running: @hrtimer is queued
 * @blocked: enum sroce_sq_blocked
 * @pauses: consecutive local drops
 * @progress: packets were acknowledged since the deadline was set
 * @slack: maximum delay after the deadline, ns
 */
struct sroce_sq_timer {
	struct hrtimer hrtimer;
	bool running;
	u8 blocked;
	u8 pauses;
	bool progress;
	u32 slack;
};

/**
 * struct sroce_batch - coalesced doorbells; see sroce_doorbell_rung()
 * @timer: runs while @active
 * @active: posts are collected, and few of them need a kick
 * @start: number of WQEs that had been copied when @timer was started
 * @polled: number of completions that the process had polled at its last kick
 * @unpolled: kicks since @polled changed, at most SROCE_STREAM_KICKS
 * @kicks: kicks like those of a stream in a row, since @timer was last started for one
 * @idle: consecutive intervals that brought fewer posts than SROCE_BATCH_WORTH
 * @vain: number of times that @timer was started for a kick, and collected nothing since
 */
struct sroce_batch {
	struct hrtimer timer;
	bool active;
	u32 start;
	u32 polled;
	u16 kicks;
	u8 unpolled;
	u8 idle;
	u8 vain;
};

/**
 * struct sroce_ud - state of UD and GSI QPs
 * @av: address vector that &sroce_sendq.path leads to, referenced
 * @held_up: datagrams wait for earlier ones in this host's queues
 * @held_until: end of that wait
 */
struct sroce_ud {
	struct sroce_av *av;
	bool held_up;
	ktime_t held_until;
};

/**
 * struct sroce_rate - rate limit
 * @kbps: kilobits per second; 0 for no limit
 * @psns: number of PSNs that are not charged yet; a READ request uses the PSNs of
 *	its response
 * @free_at: time at which the next burst may be sent
 */
struct sroce_rate {
	u32 kbps;
	u32 psns;
	ktime_t free_at;
};

/**
 * struct sroce_sq_paging - page-in of memory on demand
 * @fault: page-in in progress
 * @refetch: responses were dropped; request them again after the page-in
 * @waits: times that the next WQE has waited for the memory of its response
 */
struct sroce_sq_paging {
	struct sroce_fault fault;
	bool refetch;
	u8 waits;
};

/**
 * struct sroce_sendq - requester side of a QP
 * @lock: protects all members below, and sq_head and kick of the slot; taken
 *	with _bh.  Only state changes nest it inside struct sroce_recvq.lock
 * @ring: send WQEs
 * @req: protocol state; its records are allocated on first use
 * @rtx: retransmission state
 * @uso: detects a NIC that spoils bursts
 * @cq: CQ for completions
 * @cache: memory region used last; dropped before the lock is
 * @path: route
 * @ud: UD and GSI QPs only
 * @timer: timer for @rtx and other waits
 * @batch: coalesced doorbells
 * @rate: rate limit
 * @paging: memory on demand
 * @ooo: packets of a READ response behind a gap
 * @ask_drained: SQD: raise IB_EVENT_SQ_DRAINED when nothing is outstanding
 * @since_ack_req: packets since the last one that requested an ACK
 */
struct sroce_sendq {
	spinlock_t lock;	/* see above */
	struct sroce_send_ring ring;
	struct sroce_requester req;
	struct sroce_rtx rtx;
	struct sroce_uso uso;
	struct sroce_cq *cq;
	struct sroce_mr_cache cache;
	struct sroce_path path;
	struct sroce_ud ud;
	struct sroce_sq_timer timer;
	struct sroce_batch batch;
	struct sroce_rate rate;
	struct sroce_sq_paging paging;
	struct sroce_ooo_queue ooo;
	bool ask_drained;
	u32 since_ack_req;
};

/**
 * struct sroce_write_back - FLUSH to persistent memory that is being executed
 * @addr: first byte, as the key names it
 * @length: bytes
 * @done: bytes written back
 * @psn: of the request
 * @rkey: key of the memory
 * @srqn: XRC: SRQ that the request names
 * @begun: the other members are valid; with all @done, the peer's next attempt completes it
 */
struct sroce_write_back {
	u64 addr;
	u64 length;
	u64 done;
	u32 psn;
	u32 rkey;
	u32 srqn;
	bool begun;
};

/**
 * struct sroce_pending_ack - ACK or NAK that is to be sent
 * @ack: an ACK is pending
 * @ack_again: an ACK for duplicate requests is pending
 * @syndrome: syndrome of the pending NAK, or 0
 * @nak_psn: PSN of the pending NAK
 */
struct sroce_pending_ack {
	bool ack;
	bool ack_again;
	u8 syndrome;
	u32 nak_psn;
};

/**
 * struct sroce_recvq - responder side of a QP
 * @lock: protects all members below; taken with _bh
 * @ring: receive WQEs of the QP; unused with an SRQ
 * @resp: protocol state
 * @wqe: private copy of the receive WQE that the message in progress has taken
 * @wqe_held: UD: @wqe has been taken, but no datagram has completed it
 * @flushing: error state: number of WQEs in @ring to flush
 * @taken_from: XRC: serial number of the SRQ that @wqe was taken from
 * @cq: CQ for completions.  XRC target: CQ of &sroce_qp.srq, or NULL
 * @pd: PD of the memory that requests name: that of the QP.  XRC target: that
 *	of &sroce_qp.srq, or NULL
 * @cache: memory region used last; dropped before the lock is
 * @path: route
 * @qkey: Q_Key of datagrams
 * @pending: ACK or NAK that is to be sent
 * @pauses: consecutive local drops
 * @budget: rest of SROCE_RESP_BUDGET in this lock section; see sroce_rq_begin()
 * @pause: timer that resumes responses after a local drop, or reports a gap that
 *	lasts (core/reorder.c)
 * @min_rnr_timer: timer code in RNR NAKs
 * @last_told: error state: IB_EVENT_QP_LAST_WQE_REACHED has been raised
 * @write_back: FLUSH to persistent memory
 * @fault: page-in of memory on demand
 * @ooo: requests behind a gap
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
	struct sroce_pending_ack pending;
	u8 pauses;
	u32 budget;
	struct hrtimer pause;
	u8 min_rnr_timer;
	bool last_told;
	struct sroce_write_back write_back;
	struct sroce_fault fault;
	struct sroce_ooo_queue ooo;
};

/* Deferred work of a QP: bits of struct sroce_qp_run.todo. */
enum sroce_qp_todo {
	SROCE_TODO_SEND,	/* resume the requester */
	SROCE_TODO_RESPOND,	/* resume the responder */
	SROCE_TODO_FLUSH,	/* error states: read the tails, then flush */
	SROCE_TODO_FLUSH_REST,	/* continue without reading the tails again */
	/* Events of the QP to raise. */
	SROCE_TODO_FATAL,	/* IB_EVENT_QP_FATAL */
	SROCE_TODO_REQ_ERR,	/* IB_EVENT_QP_REQ_ERR */
	SROCE_TODO_ACCESS_ERR,	/* IB_EVENT_QP_ACCESS_ERR */
	SROCE_TODO_DRAINED,	/* IB_EVENT_SQ_DRAINED */
	SROCE_TODO_ESTABLISHED,	/* IB_EVENT_COMM_EST */
	SROCE_TODO_LAST_RECV,	/* IB_EVENT_QP_LAST_WQE_REACHED */
	/* Events of its SRQ to raise. */
	SROCE_TODO_SRQ_LIMIT,	/* IB_EVENT_SRQ_LIMIT_REACHED */
	SROCE_TODO_SRQ_ERR,	/* IB_EVENT_SRQ_ERR */
};

/**
 * struct sroce_qp_run - schedule of a QP's deferred work (queue/qp_run.c)
 * @work: work item
 * @todo: bits of enum sroce_qp_todo
 * @on_list: bit 0: the QP is on a CPU's run list
 * @next: next QP on that list
 * @timer_period: start of the last period in which a CPU's timer budget counted the QP
 */
struct sroce_qp_run {
	struct work_struct work;
	unsigned long todo;
	unsigned long on_list;
	struct sroce_qp *next;
	u64 timer_period;
};

/**
 * struct sroce_gsi - what tells GSI QPs apart, which all have number 1
 * @list: entry in the list of GSI QPs; RCU
 * @net_cookie: cookie of the device's network namespace
 */
struct sroce_gsi {
	struct list_head list;
	u64 net_cookie;
};

/**
 * struct sroce_qp - queue pair
 * @node: entry in the QP table, by @qpn
 * @qpn: QP number, random, unique in the module; 1 for a GSI QP
 * @dev: device
 * @counters: counters of the device, or of the rdma_counter it is bound to
 * @ib: the RDMA core's part, which the core frees; valid while @ref is not 0
 * @pd: protection domain
 * @srq: SRQ, or NULL if the QP uses its own ring.  XRC target: SRQ that the
 *	current request names, referenced, protected by rq.lock
 * @xrcd: XRC target: XRC domain
 * @type: IB_QPT_RC, UC, UD, GSI, XRC_INI or XRC_TGT
 * @state: enum ib_qp_state.  Written with both locks held, except that one lock
 *	suffices to enter an error state; read under either lock.  This and @tx_full
 *	have 32 bits, because not all architectures have a shorter cmpxchg()
 * @user: owned by a process or an XRC domain
 * @ctx: context of the process, or NULL
 * @slot: doorbell words
 * @doorbell: location of @slot in the context
 * @kernel_slot: memory of @slot for a kernel user
 * @memory: memory of both rings
 * @av: address vector of a connected QP; changed with both locks held
 * @dest_qpn: QP number of the peer
 * @pkey: P_Key for packets: an entry of the device's table
 * @attr: attributes for query_qp(), as they were set; protected by @mutex
 * @mutex: serializes modify_qp(); taken before the locks
 * @gsi: GSI QPs only
 * @sq: requester side
 * @rq: responder side
 * @run: schedule of its deferred work
 * @post_lock: serializes posts of kernel users; taken with interrupts off
 * @tx_grace: UC: RCU grace period after the stack released the last burst
 * @tx_full: true: wake the QP when the bursts of one path, or of both, have decreased
 * @wmem: QP of a process: account to which packets are charged
 * @wmem_wait: waits for room in @wmem
 * @resets: number of resets of all QPs up to the latest one of this QP; written with both
 *	locks held, read under either
 * @seen: a packet has arrived since RTR, so IB_EVENT_COMM_EST is not due
 * @cnp_at: time of the last CNP, ns; both sides may send one
 * @cntr_ops: enum ib_qp_attach_comp_cntr_op: operations that @cntrs count;
 *	written with both locks held, read under either lock
 * @cntrs: completion counters, by bit of @cntr_ops
 * @ref: one for the QP's existence, one per user of the data path
 * @mem: one for the QP's existence, one per skb or loopback packet in flight, one per page-in
 * @rcu: RCU readers may still access the QP
 *
 * The ib_qp is a separate structure, because the RDMA core frees it as soon as
 * destroy_qp() returns.  Packets in flight and RCU readers outlive that.
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
	bool user;
	u32 state;
	struct sroce_ucontext *ctx;
	struct sroce_qp_slot *slot;
	struct sroce_doorbell doorbell;
	struct sroce_queue_mem *memory;
	struct sroce_av *av;
	u32 dest_qpn;
	const u16 *pkey;
	struct ib_qp_attr attr;
	struct mutex mutex;	/* see above */
	struct sroce_gsi gsi;

	struct sroce_sendq sq ____cacheline_aligned_in_smp;
	struct sroce_recvq rq ____cacheline_aligned_in_smp;

	struct sroce_qp_run run;
	spinlock_t post_lock;	/* see above */
	unsigned long tx_grace;
	u32 tx_full;
	struct sroce_wmem *wmem;
	struct sroce_wmem_waiter wmem_wait;
	u64 resets;
	bool seen;
	atomic64_t cnp_at;
	u32 cntr_ops;
	struct sroce_comp_cntr *cntrs[SROCE_CNTR_BITS];
	struct sroce_ref ref;
	struct kref mem;
	struct rcu_head rcu;
	struct sroce_qp_slot kernel_slot;
} __aligned(64);	/* for tags in pointers, see net/tx.c */

/**
 * struct sroce_ib_qp - memory that the RDMA core allocates for a QP
 * @ib: the RDMA core's part; first member
 * @qp: the QP, which may outlive this structure
 */
struct sroce_ib_qp {
	struct ib_qp ib;
	struct sroce_qp *qp;
};

/*
 * @payload bytes have to be sent again.  Their owner may be changing the memory, so the next
 * bursts are copied.  Short payload is always copied.  Context: lock of the side held.
 */
static inline void sroce_path_repeats(struct sroce_path *path, u32 payload)
{
	if (payload > SROCE_COPY_BREAK)
		path->copies = SROCE_COPIED_BURSTS;
}

static inline struct sroce_qp *sroce_qp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct sroce_ib_qp, ib)->qp;
}

/* Under one lock only, the state may become ERR or SQE at any time. */
static inline u8 sroce_qp_state(const struct sroce_qp *qp)
{
	return READ_ONCE(qp->state);
}

static inline bool sroce_qp_connected(const struct sroce_qp *qp)
{
	return BIT(qp->type) & (BIT(IB_QPT_RC) | BIT(IB_QPT_UC) |
				BIT(IB_QPT_XRC_INI) | BIT(IB_QPT_XRC_TGT));
}

/* True if its packets are acknowledged. */
static inline bool sroce_qp_reliable(const struct sroce_qp *qp)
{
	return BIT(qp->type) & (BIT(IB_QPT_RC) | BIT(IB_QPT_XRC_INI) |
				BIT(IB_QPT_XRC_TGT));
}

/* enum sroce_transport: upper bits of the opcodes of its packets. */
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

/*
 * XRC target: each request names an SRQ, which determines the CQ and the PD.
 */
static inline bool sroce_qp_target(const struct sroce_qp *qp)
{
	return qp->type == IB_QPT_XRC_TGT;
}

/* Q_Key of its datagrams.  Context: either lock held. */
static inline u32 sroce_qp_qkey(const struct sroce_qp *qp)
{
	return qp->type == IB_QPT_GSI ? SROCE_QKEY_GSI : qp->rq.qkey;
}

/*
 * Number of times that QPs of the module were reset.  A loopback packet has the number at the
 * time it was sent, which tells it from packets of a later connection.
 */
extern atomic64_t sroce_qp_resets;

int sroce_qp_table_init(void);
/*
 * Wait until the structures of all QPs are released, and so all packets of the driver
 * that this host has.  A grace period of RCU has passed, too.  Context: unloading the
 * module; there are no QPs.
 */
void sroce_qp_drain(void);
/* After sroce_qp_drain(), which waits for the last lookups. */
void sroce_qp_table_exit(void);

/**
 * sroce_qp_lookup() - find the QP of a packet
 * @qpn: destination QP number, not 1 (GSI)
 *
 * Context: RCU read side.  Return: a QP with a reference, or NULL.
 */
struct sroce_qp *sroce_qp_lookup(u32 qpn);

/**
 * sroce_qp_hold() - take a reference to the QP of an ib_qp
 * @ibqp: not freed, but possibly destroyed
 *
 * Context: process.  Return: a QP with a reference, or NULL if it is destroyed.
 */
struct sroce_qp *sroce_qp_hold(struct ib_qp *ibqp);

/**
 * sroce_qp_find_gsi() - find the first GSI QP that matches
 * @matches: called with a reference to the QP held
 * @arg: argument of @matches
 *
 * Context: RCU read side.  Return: a QP with a reference, or NULL.
 */
struct sroce_qp *sroce_qp_find_gsi(bool (*matches)(struct sroce_qp *qp,
						   void *arg), void *arg);

/*
 * A GSI QP of the namespace, always the same one while the devices stay.  Context: RCU
 * read side.  Return: with a reference, or NULL.
 */
struct sroce_qp *sroce_qp_first_gsi(const struct net *net);

/* Return: false if the QP is going away. */
static inline bool sroce_qp_get(struct sroce_qp *qp)
{
	return sroce_ref_get(&qp->ref);
}

static inline void sroce_qp_put(struct sroce_qp *qp)
{
	sroce_ref_put(&qp->ref);
}

/*
 * Allocate a structure of zeros, with one reference in @mem.  Context: process.
 * Return: the structure, or NULL.
 */
struct sroce_qp *sroce_qp_alloc(void);
/* Release function of @mem: frees the structure and drops its account. */
void sroce_qp_free(struct kref *mem);

/*
 * Choose the number of a new QP, and make lookups find the QP.  Context:
 * process, may sleep.  Return: 0 or an errno.
 */
int sroce_qp_publish(struct sroce_qp *qp);
/* Lookups no longer find the QP.  Context: process. */
void sroce_qp_unpublish(struct sroce_qp *qp);

/**
 * sroce_qp_for_each() - visit all QPs of the module
 * @visit: called under RCU, possibly twice for the same QP
 * @arg: argument of @visit
 *
 * Context: process, may sleep.
 */
void sroce_qp_for_each(void (*visit)(struct sroce_qp *qp, const void *arg),
		       const void *arg);

#endif /* SROCE_QP_H */
