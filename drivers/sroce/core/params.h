/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * All tunable constants, with their unit, the reason for the value, and the test
 * suite or benchmark row that needs the constant.
 * Structural sizes (of tables, bitmaps and ABI) are where they are used.
 */
#ifndef SROCE_PARAMS_H
#define SROCE_PARAMS_H

/* --- Congestion control: core/cc.c --- */

/* Packets: 512 KiB at a path MTU of 1024.  Row "WRITE 64 KiB bandwidth". */
#define SROCE_WINDOW		512u
/*
 * Packets that a loss without other signs of congestion leaves in the window: a
 * burst, because shorter ones cost more time.  Row "5 % lost".
 */
#define SROCE_LONE_LOSS_WINDOW	64u
/*
 * Packets: the window after a loss before the first round trip.  The first window may
 * exceed what the path holds by much.  Row "a queue of ten packets".
 */
#define SROCE_FIRST_LOSS_WINDOW	16u
/*
 * A small window is reduced after a loss, if nothing was lost for as many windows, or
 * if it was not reduced after as many losses.  Row "a queue of ten packets".
 */
#define SROCE_CALM_WINDOWS	3
#define SROCE_LONE_LOSSES	16
/* ns that a round trip may grow, besides doubling.  Row "sroce and TCP". */
#define SROCE_QUEUED_NS		1000000u
/*
 * If more packets than the first value are lost, and more than a part of the second
 * of the flight, the network is congested.  Rows "20 % lost" and "a queue of ten
 * packets".
 */
#define SROCE_MANY_LOSSES	8
#define SROCE_MANY_OF_FLIGHT	3
/* The same for a distant peer, where other losses change nothing. */
#define SROCE_MANY_OF_DISTANT	32
/* Packets; with one, the peer would delay every ACK.  Suite congestion. */
#define SROCE_MIN_WINDOW	2u
/*
 * Packets acknowledged for one more in the window; a smaller window grows by one per
 * round trip.  Rows "0.1 % lost" and "eight flows".
 */
#define SROCE_WINDOW_ACKS	16u
/* The same for a distant peer, unless a queue is filled.  Row "10 ms away, 0.1 % lost". */
#define SROCE_DISTANT_ACKS	4u
/* The same if the path is nearly full.  Rows "drop tail". */
#define SROCE_SLOW_ACKS		512u
/* Bursts of a window at least, if it has fewer packets.  Row "a queue of ten packets". */
#define SROCE_WINDOW_BURSTS	4
#define SROCE_SMALL_WINDOW	32u
/*
 * The part of the shortest round trip that is a queueing delay, and the part of the
 * difference by which such a round trip lowers the estimated rate.  Row "10 ms away,
 * 0.1 % lost".
 */
#define SROCE_RATE_QUEUED	4
#define SROCE_RATE_DECAY	4
/* Distant peers: a packet for each 10 us of round trip.  Rows "networks". */
#define SROCE_WINDOW_PACKET_NS	10000
/*
 * The pace of packets to a distant peer, as a multiple of a window per round trip: the
 * window can grow by this factor in a round trip.  If the timer was late, up to the
 * second value (ns) is made up for; a longer lump could overflow a queue on the way.
 * Row "100 ms away, after 10 s".
 */
#define SROCE_PACE_FACTOR	2
#define SROCE_PACE_SLACK_NS	1000000
/* Packets, of distant peers: 8 MiB at a path MTU of 1024.  Rows "networks". */
#define SROCE_MAX_WINDOW	8192u
/* ns between two CNPs of a QP, at least; NICs have the same.  Suite wire. */
#define SROCE_CNP_INTERVAL_NS	50000
/*
 * Windows of a READ that one request asks for.  The pause between two requests
 * costs little, and the responses to one request cannot be stopped.  Row "READ
 * 1 MiB bandwidth".
 */
#define SROCE_READ_WINDOWS	4
/*
 * Local operations queued behind a full window: all of them end with the oldest
 * request, in one lock section.  Suite rings.
 */
#define SROCE_LOCALS_BEHIND	1024

/* --- Retransmission: core/rtx.c, core/rtt.c, core/aeth.c, core/gaps.c --- */

/*
 * ns that a packet may be late at most, before it counts as lost; less than the
 * second value is as good as 0.  Row "5 % in the wrong order".
 */
#define SROCE_MAX_REORDER_NS	4000000u
#define SROCE_MIN_REORDER_NS	1000u
/*
 * Reports of a gap, or probes, in a row that were in vain, until the next one waits
 * longer.  Losses cause some of them, too.  Rows "5 % lost" and "5 % in the wrong
 * order".
 */
#define SROCE_VAIN_REPORTS	8
#define SROCE_VAIN_PROBES	4
/* Each gap takes a part of this of the tolerance away.  Unit tests. */
#define SROCE_REORDER_DECAY	32
/*
 * Packets: if the next loss is nearer, more packets are repeated at once, up to as
 * many.  Row "20 % lost".
 */
#define SROCE_DENSE_LOSSES	8u
/* Gaps in the response to a READ; more are noticed one after another. */
#define SROCE_GAPS		16
/*
 * NAKs of a peer that drops packets behind a gap, until that is tested again; the
 * number grows by this factor.  Row "a queue of ten packets".
 */
#define SROCE_PEER_RETEST	16u
/* Packets repeated at once, from which on the peer is in doubt.  Unit tests. */
#define SROCE_DOUBTFUL_REPAIR	16

/* ns; a longer sample counts as this: no network is as slow.  Unit tests. */
#define SROCE_RTT_MAX_NS	1000000000
/*
 * ns without a sign of the peer before a probe, at least: a busy processor
 * delays responses, too, and an active QP runs its timer once in this time.
 * Suite networks.
 */
#define SROCE_MIN_PROBE_NS	500000
/* ns without a response to a repeated packet, at least.  Row "20 % lost". */
#define SROCE_MIN_REPAIR_NS	200000
/* ns, while no sample exists: more than most networks need.  Unit tests. */
#define SROCE_FIRST_PROBE_NS	20000000
/* Probes until the timeout; the interval doubles every second time.  Unit tests. */
#define SROCE_MAX_PROBES	16
/*
 * ns that probes wait at most because responses have been late, and the part of it
 * that each sample takes away.  Unit tests.
 */
#define SROCE_MAX_PROBE_FLOOR_NS	8000000
#define SROCE_PROBE_FLOOR_DECAY	256
/* Shift of the probe interval with several READs outstanding.  Suite errors. */
#define SROCE_READ_PROBE_SHIFT	3
/* Near peers: flights without a sample after one.  Row "WRITE 2 B rate". */
#define SROCE_RTT_SAMPLE_SKIP	15
/* us; RNR waits longer than this do not double.  Suite unready. */
#define SROCE_RNR_BACKOFF_US	1000
/*
 * ns.  While ACKs arrive, the timer expires for nothing.  Each time its slack
 * doubles, between these.  Row "WRITE 2 B rate, 16 QPs".
 */
#define SROCE_TIMER_SLACK_NS		64000
#define SROCE_MAX_TIMER_SLACK_NS	1000000

/* --- Sending: send/, net/burst.c, net/tx.c --- */

/* Bursts in a lock section before the work item goes on.  Suite resources. */
#define SROCE_SEND_BUDGET	16
/* Requests copied at a time; each may have a kilobyte.  Suite resources. */
#define SROCE_FETCH_BUDGET	512
/* Local operations in a lock section.  Suite rings. */
#define SROCE_LOCAL_BUDGET	256
/* Requests flushed in a lock section.  Suite ending. */
#define SROCE_FLUSH_BUDGET	256
/*
 * With this many unacknowledged packets the process need not kick: an ACK will
 * arrive soon, and the requester then reads the ring.  Row "WRITE 2 B rate".
 */
#define SROCE_NO_KICK_PACKETS	32
/* Packets of a stream between two ACK requests.  Row "WRITE 64 KiB". */
#define SROCE_ACK_REQ_PACKETS	128
/* Times that a request waits for the memory of its response.  Suite paging. */
#define SROCE_MAX_PAGE_WAITS	2
/* Packets of a burst: bits of the mask that sroce_icrc_check() returns. */
#define SROCE_BURST_PACKETS	64
/*
 * Bursts of which only the first packet arrived, until the netdev is found to spoil
 * bursts.  Losses sometimes look the same.  Suite uso.
 */
#define SROCE_USO_SPOILED	64
/* Bytes of payload that are cheaper to copy than to attach.  Row "SEND 2 B". */
#define SROCE_COPY_BREAK	256
/* Bytes of a packet that is built in one piece of memory.  Row "SEND 2 B". */
#define SROCE_LINEAR_BYTES	2048
/*
 * Pages of 32 KiB per CPU for copied payload, used in turn: together they hold two
 * bursts.  Row "UD 1 KiB".
 */
#define SROCE_FRAG_PAGES	4
/* ns until a burst that this host's queue refused is sent again.  Suite congestion. */
#define SROCE_PAUSE_NS		200000
/* Refusals in a row after which packets count as lost.  Suite congestion. */
#define SROCE_MAX_PAUSES	100
/* Bursts of a QP in this host's queues before it waits.  Suite plugged. */
#define SROCE_TX_LIMIT		32
/*
 * The same for datagrams, which do not wait forever: more are dropped.  A kernel
 * queue with its own limit (nfnetlink_queue, 1024) drops earlier.  Suite plugged.
 */
#define SROCE_UD_TX_LIMIT	2048
/* ns that datagrams wait for earlier ones.  Suite plugged. */
#define SROCE_UD_HOLD_NS	10000000
/* ns between attempts of UC to transmit on another CPU.  Suite verbs. */
#define SROCE_ORDER_NS		1000000
/* ns of delay that a rate limit makes up for.  Suite states. */
#define SROCE_RATE_SLACK_NS	10000000
/*
 * Bytes of packets in this host's queues from which on the QPs of a context wait,
 * and the QPs of a user.  32 MiB are 2.7 ms at 100 Gb/s; a longer local queue makes
 * nothing faster.  Suite plugged.
 */
#define SROCE_WMEM_CONTEXT	(32l << 20)
#define SROCE_WMEM_USER		(4 * SROCE_WMEM_CONTEXT)
/* ms until QPs that wait for room try again, and how many of them.  Suite plugged. */
#define SROCE_WMEM_RETRY_MS	10
#define SROCE_WMEM_WAKE		32u

/* --- Doorbells: send/doorbell_batch.c --- */

/*
 * A process posts a stream after this many kicks in a row without polling, or if
 * more than this many requests and completions are unread.  Row "WRITE 2 B rate".
 */
#define SROCE_STREAM_KICKS	4
#define SROCE_STREAM_REQUESTS	4
/* ns that posts of a stream are collected for.  Row "WRITE 2 B rate". */
#define SROCE_BATCH_NS		30000
/* Posts that are collected before the next kick.  Row "WRITE 2 B rate". */
#define SROCE_BATCH_POSTS	32
/*
 * The batch timer stops after SROCE_BATCH_IDLE intervals in a row that each
 * collected fewer than SROCE_BATCH_WORTH WQEs.  Row "CPU time, SEND 64 KiB, events".
 */
#define SROCE_BATCH_IDLE	16
#define SROCE_BATCH_WORTH	3

/* --- Receiving: recv/, net/ --- */

/*
 * Bytes of all packets of a device that are kept behind a gap.  Suite networks.
 */
#define SROCE_OOO_BYTES		(64l << 20)
/* Packets behind a gap that are executed in a lock section.  Suite networks. */
#define SROCE_OOO_BUDGET	512
/*
 * READ responses in a lock section: KiB, or packets if they are larger.  If a
 * device segments them, a CPU's backlog holds about as many packets
 * (net.core.netdev_max_backlog, 1000).  Row "READ 64 KiB bandwidth".
 */
#define SROCE_RESP_BUDGET	1024
/* Loopback: path MTU, bytes.  Row "one device, WRITE 64 KiB". */
#define SROCE_LOOPBACK_MTU	16384u
/*
 * Loopback: bursts of up to 256 KiB that may wait on a CPU before connected QPs
 * do.  A process may have very many QPs.  Suite resources.
 */
#define SROCE_LOOPBACK_LIMIT	256
/* Loopback: bursts before the rest is left to the workqueue.  Suite resources. */
#define SROCE_LOOPBACK_BUDGET	8
/* Default device memory of a device, MiB.  Suite pyverbs (test_device.DMTest). */
#define SROCE_DM_MIB	64
#ifdef SROCE_OUT_OF_TREE
/* Bytes of a burst from which on saving the FPU state pays.  Row "WRITE 64 KiB". */
#define SROCE_CLMUL_BYTES	512
/* Bytes for which sroce_chorba() is faster than the library.  Row "UD 1 KiB". */
#define SROCE_CHORBA_MIN_BYTES	128
#endif

/* --- Fairness between QPs: queue/qp_run.c, entry/qp_work.c --- */

/* QPs, and ms, per run of the per-CPU run list.  Suite resources. */
#define SROCE_SOFTIRQ_BUDGET	16
#define SROCE_SOFTIRQ_MS	2
/*
 * Once timers of more than SROCE_TIMER_QPS QPs have fired within SROCE_TIMER_PERIOD_NS,
 * timers may transmit for at most SROCE_TIMER_SHARE_NS of it; the workqueue sends
 * the rest.  Suite resources.
 */
#define SROCE_TIMER_QPS		32
#define SROCE_TIMER_SHARE_NS	2000000
#define SROCE_TIMER_PERIOD_NS	4000000
/*
 * Binary logarithm of the number of routes of received packets that a CPU keeps.
 * Peers that send at the same time each need one.  Row "READ 2 B latency".
 */
#define SROCE_RX_ROUTE_BITS	6
/* Completions copied to a resized CQ in a lock section.  Suite resources. */
#define SROCE_CQ_RESIZE_BATCH	64
/* ms that the sum of all counters is cached for PMA queries.  Suite management. */
#define SROCE_RECENT_MS		10

/* --- Memory on demand: mem/odp*.c --- */

/* Bytes of a message to page in at once, and if its length is not known yet. */
#define SROCE_FAULT_BYTES	0x400000u
#define SROCE_FAULT_AHEAD	0x10000u
/* Attempts until a temporary failure becomes an error.  Suite paging. */
#define SROCE_FAULT_TRIES	1000
/* Threads of a user that page in for QPs, and for advice.  Suite paging. */
#define SROCE_FAULT_THREADS	64
#define SROCE_ADVICE_THREADS	4
/* s that a user's workqueues outlive their last region.  Suite paging. */
#define SROCE_ODP_WQ_LINGER_S	10
/* Chunks of a region; limits the memory for tables if accesses are scattered. */
#define SROCE_ODP_MAX_CHUNKS	16384
/* Pages per call of hmm_range_fault(), and per lookup for a burst. */
#define SROCE_ODP_BATCH		64
#define SROCE_ODP_RUN_PAGES	32

#endif /* SROCE_PARAMS_H */
