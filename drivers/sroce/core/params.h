/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * All tunable constants, with their unit, the reason for the value, and the test
 * suite, unit tests or benchmark row that needs it.
 * Structural sizes (of tables, bitmaps and ABI) are where they are used.
 */
#ifndef SROCE_PARAMS_H
#define SROCE_PARAMS_H

/* --- Congestion control: core/cc.c --- */

/* Packets: 512 KiB at a path MTU of 1024.  Row "WRITE 64 KiB bandwidth". */
#define SROCE_WINDOW		512u
/*
 * Packets: minimum window after a loss without other signs of congestion.  One full
 * burst, because shorter bursts cost more time.  Row "5 % lost".
 */
#define SROCE_LONE_LOSS_WINDOW	64u
/*
 * Packets: the window after a loss in the first round trip, when nothing is known of the
 * path.  Row "a queue of ten packets".
 */
#define SROCE_FIRST_LOSS_WINDOW	16u
/*
 * After a loss a small window is reduced if there was no loss for SROCE_CALM_WINDOWS
 * windows, or if the last SROCE_LONE_LOSSES losses did not reduce it.  Without a loss for
 * so long, it also grows faster.  Rows "a queue of ten packets" and "1 ms away".
 */
#define SROCE_CALM_WINDOWS	3
#define SROCE_LONE_LOSSES	16
/*
 * The window grows slowly for this many windows after congestion has reduced it: beside
 * TCP the path is shared then.  With a distant peer, only after marks, and beyond the BDP.
 * Rows "RED", "WRITE and TCP", and "fq_codel".
 */
#define SROCE_STEADY_WINDOWS	16
/*
 * ns: a round trip that is longer than twice the shortest one plus this has met a
 * queue.  Rows "drop tail" and "RED".
 */
#define SROCE_QUEUED_NS		1000000u
/*
 * No queue is filled if the round trip is longer than the shortest one by less than
 * 1 / SROCE_UNLOADED.  Row "1 ms away, 0.3 % lost".
 */
#define SROCE_UNLOADED		2
/*
 * The network is congested if more than SROCE_MANY_LOSSES packets, and more than
 * 1 / SROCE_MANY_OF_FLIGHT of the flight, are lost in a round trip.  Rows "20 % lost"
 * and "a queue of ten packets".
 */
#define SROCE_MANY_LOSSES	8
#define SROCE_MANY_OF_FLIGHT	3
/*
 * The same for a distant peer, where fewer losses do not reduce the window.
 * Unit tests of repair.
 */
#define SROCE_MANY_OF_DISTANT	32
/*
 * If more than 1 / SROCE_MOST_OF_FLIGHT of the flight is lost, a distant peer is as a
 * near one.  Suite networks, "a queue of ten packets".
 */
#define SROCE_MOST_OF_FLIGHT	2
/* Packets; with a window of one, every ACK would be delayed.  Suite congestion. */
#define SROCE_MIN_WINDOW	2u
/*
 * ACKed packets per packet that the window grows; a window smaller than this grows by
 * one per round trip.  Rows "0.1 % lost" and "drop tail".
 */
#define SROCE_WINDOW_ACKS	16u
/*
 * The same for a distant peer, unless a queue is filled, or congestion has reduced the
 * window in the last SROCE_CALM_WINDOWS windows.  Rows "10 ms away, 0.1 % lost" and "RED".
 */
#define SROCE_DISTANT_ACKS	4u
/* The same if the path is nearly full or packets are paced.  Rows "drop tail". */
#define SROCE_SLOW_ACKS		512u
/*
 * ACKed packets since the last loss after which READs overlap by more than the BDP.  A
 * loss is so rare then that the responses it wastes do not matter.  Row "0.1 % lost".
 */
#define SROCE_RARE_LOSS		8192
/*
 * Packets by which READs of a near peer overlap then.  A CPU's backlog holds about as many
 * (net.core.netdev_max_backlog, 1000).  Row "READ 64 KiB bandwidth" of two guests.
 */
#define SROCE_NEAR_OVERLAP	960u
/*
 * After a loss, that takes four times as many packets, up to this often.
 * Unit tests of requester.
 */
#define SROCE_MAX_TOO_MANY	4
/*
 * ns: if a round trip to a near peer is longer, the link is slow.  A longer queue would
 * exceed the timeouts of programs.  Row "100 Mbit/s".
 */
#define SROCE_SLOW_NS		20000000
/*
 * Part of the overlap by which READs of a near peer start together.  Requests of a group
 * share a burst, and so do the ends of their responses.  Row "READ 64 KiB bandwidth" of
 * two guests.
 */
#define SROCE_GROUP_PART	4
/* Packets by which they overlap if the BDP is smaller.  Row "a queue of ten packets". */
#define SROCE_LEAST_OVERLAP	8u
/*
 * Minimum number of bursts in a window, and the packets below which a window is small.
 * Row "a queue of ten packets".
 */
#define SROCE_WINDOW_BURSTS	4
#define SROCE_SMALL_WINDOW	32u
/*
 * A round trip that is longer than the shortest one by 1 / SROCE_RATE_QUEUED has
 * queueing delay; it lowers the estimated rate by 1 / SROCE_RATE_DECAY of the
 * difference.  Row "10 ms away, 0.1 % lost".
 */
#define SROCE_RATE_QUEUED	4
#define SROCE_RATE_DECAY	4
/* Distant peers: a packet for each 10 us of round trip.  Row "100 ms away". */
#define SROCE_WINDOW_PACKET_NS	10000
/*
 * ns: packets are paced if the shortest round trip is at least this long.  If the peer is
 * nearer, the timers cost more than the losses.  Row "1 ms away, 0.3 % lost".
 */
#define SROCE_PACE_LEAST_NS	1000000
/*
 * The pace of packets, as a multiple of a window per round trip; the
 * window can grow by this factor in a round trip.  After a late timer the QP makes up
 * for at most SROCE_PACE_SLACK_NS; a longer burst could overflow a queue on the way.
 * Row "100 ms away, after 10 s".
 */
#define SROCE_PACE_FACTOR	2
#define SROCE_PACE_SLACK_NS	1000000
/*
 * Packets, of distant peers: 8 MiB at a path MTU of 1024.
 * Row "100 ms away, after 10 s".
 */
#define SROCE_MAX_WINDOW	8192u
/* Minimum ns between two CNPs of a QP; NICs use the same.  Suite wire. */
#define SROCE_CNP_INTERVAL_NS	50000
/*
 * Windows of a READ that one request asks for.  The pause between two requests
 * costs little, and the responses to one request cannot be stopped.  Row "READ
 * 1 MiB bandwidth".
 */
#define SROCE_READ_WINDOWS	4
/*
 * Local operations queued behind a full window: all of them complete with the oldest
 * request, in one lock section.  Suite rings.
 */
#define SROCE_LOCALS_BEHIND	1024

/* --- Retransmission: core/rtx.c, core/rtt.c, core/aeth.c, core/gaps.c --- */

/*
 * Maximum tolerance, ns: a packet that is later counts as lost.  A tolerance below
 * SROCE_MIN_REORDER_NS becomes 0.  Row "5 % in the wrong order".
 */
#define SROCE_MAX_REORDER_NS	4000000u
#define SROCE_MIN_REORDER_NS	1000u
/*
 * After this many consecutive unnecessary reports of a gap, or probes, the next one waits
 * longer.  Losses cause some of them, too.  Rows "5 % lost" and "5 % in the wrong order".
 */
#define SROCE_SPURIOUS_REPORTS	8
#define SROCE_SPURIOUS_PROBES	4
/* Each gap reduces the tolerance by 1 / SROCE_REORDER_DECAY.  Unit tests of reorder. */
#define SROCE_REORDER_DECAY	32
/*
 * Packets: if two losses are nearer than this, up to this many packets are repeated at
 * once.  Row "20 % lost".
 */
#define SROCE_DENSE_LOSSES	8u
/*
 * With a distant peer, up to 1 / SROCE_DENSE_PART of the BDP: a round trip that the path
 * is idle costs more than packets that are repeated in vain.  Unit tests of repair.
 */
#define SROCE_DENSE_PART	4
/*
 * The number of packets repeated at once grows by this factor from loss to loss; of a
 * distant peer by the second one.  Row "20 % lost"; unit tests of repair.
 */
#define SROCE_REPAIR_GROWTH	2
#define SROCE_DISTANT_GROWTH	4
/* Maximum number of gaps that are recorded in the response to a READ.  Unit tests of gaps. */
#define SROCE_GAPS		16
/*
 * A peer that drops packets behind a gap is tested again after this many NAKs; the
 * number grows by this factor.  Row "a queue of ten packets".
 */
#define SROCE_PEER_RETEST	16u
/*
 * If this many packets were repeated at once, the peer may drop packets.
 * Unit tests of repair.
 */
#define SROCE_DOUBTFUL_REPAIR	16

/* ns; longer samples are cut to this.  Unit tests of rtt. */
#define SROCE_RTT_MAX_NS	1000000000
/*
 * Minimum ns without a response before a probe: a busy processor delays responses, too,
 * and the timer of an active QP runs this often.
 * Suite networks.
 */
#define SROCE_MIN_PROBE_NS	500000
/* The same after a packet was repeated.  Row "20 % lost". */
#define SROCE_MIN_REPAIR_NS	200000
/* ns before the first sample: more than most networks need.  Unit tests of rtt. */
#define SROCE_FIRST_PROBE_NS	20000000
/* Probes until the timeout; the interval doubles every second time.  Unit tests of rtx. */
#define SROCE_MAX_PROBES	16
/*
 * Maximum ns that probes wait because responses were late.  Each sample reduces the
 * wait by 1 / SROCE_PROBE_FLOOR_DECAY.  Unit tests of rtx.
 */
#define SROCE_MAX_PROBE_FLOOR_NS	8000000
#define SROCE_PROBE_FLOOR_DECAY	256
/* Shift of the probe interval with several READs outstanding.  Suite errors. */
#define SROCE_READ_PROBE_SHIFT	3
/* Without pacing: flights that are skipped after a sampled one.  Row "WRITE 2 B rate". */
#define SROCE_RTT_SAMPLE_SKIP	15
/* us; RNR waits longer than this do not double.  Suite unready. */
#define SROCE_RNR_BACKOFF_US	1000
/*
 * ns.  While ACKs arrive, the timer expires for nothing.  Each time its slack doubles,
 * from the first value to the second.  Row "WRITE 2 B rate, 16 QPs".
 */
#define SROCE_TIMER_SLACK_NS		64000
#define SROCE_MAX_TIMER_SLACK_NS	1000000
/* Timeout of a QP without one once the peer has refused a request.  Unit tests of rtx. */
#define SROCE_REFUSED_NS	500000000

/* --- Sending: send/, net/burst.c, net/tx.c --- */

/* Bursts in a lock section before the work item goes on.  Suite resources. */
#define SROCE_SEND_BUDGET	16
/* Requests copied at a time; each may have a kilobyte.  Suite resources. */
#define SROCE_FETCH_BUDGET	512
/* Local operations in a lock section.  Suite rings. */
#define SROCE_LOCAL_BUDGET	256
/*
 * Bytes that a FLUSH to persistent memory writes back in a lock section: 1,024 cache lines.
 * Suite pmem.
 */
#define SROCE_WRITE_BACK_BYTES	65536
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
/*
 * Packets of a burst: bits of the mask that sroce_icrc_check() returns.
 * Row "WRITE 64 KiB".
 */
#define SROCE_BURST_PACKETS	64
/* READs and atomics whose responses may share a burst.  Row "READ 64 KiB". */
#define SROCE_BATCH_READS	16
/*
 * Bursts of which only the first packet arrived, until the netdev is found to spoil
 * bursts.  Losses sometimes look the same.  Suite segmentation.
 */
#define SROCE_USO_SPOILED	64
/*
 * Weight of a burst of which no packet arrived, in bursts of SROCE_USO_SPOILED, if a packet
 * that was sent alone did arrive.  An outage looks the same, but not eight times without a
 * good burst.  Suite segmentation.
 */
#define SROCE_USO_LOST		8
/*
 * Peers at which bursts of a netdev were spoiled until all peers get single packets.  A
 * peer can pretend that.  Suite segmentation.
 */
#define SROCE_USO_PEERS		3
/*
 * Time until bursts to such a peer are tried again, ns: costs SROCE_USO_SPOILED repairs.
 * Unit tests of uso.
 */
#define SROCE_USO_RETRY_NS	600000000000ull
/* Bytes of payload that are cheaper to copy than to attach.  Row "SEND 2 B". */
#define SROCE_COPY_BREAK	256
/*
 * Bursts of one side of a QP whose payload is copied after a packet was repeated.  The owner
 * may keep changing the memory, and each conflict with attached pages costs a repeat, that is
 * up to milliseconds.  After a loss in the network, the copies cost a tenth to a third more
 * instructions for nothing.  Suite verbs, group hot.
 */
#define SROCE_COPIED_BURSTS	1024
/* Bytes of a packet that is built in one piece of memory.  Row "SEND 2 B". */
#define SROCE_LINEAR_BYTES	2048
/*
 * Pages of 32 KiB per CPU for copied payload, used in turn.  With fewer, the packets of a
 * page are still in a queue when its turn comes, and a new one has to be cleared.  Row
 * "WRITE 64 KiB bandwidth" of veth that copies.
 */
#define SROCE_FRAG_PAGES	16
/* ns until a burst that this host's queue refused is sent again.  Suite congestion. */
#define SROCE_PAUSE_NS		200000
/*
 * Refusals in a row after which packets count as lost.  Suite congestion.  Without a timeout
 * nothing would repeat them: then they are sent again after SROCE_LONG_PAUSE_NS.  Suite plugged.
 */
#define SROCE_MAX_PAUSES	100
#define SROCE_LONG_PAUSE_NS	20000000
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
/*
 * Times that these kicks are doubled at most, while batches collect nothing: 16,384.
 * Suite rings.
 */
#define SROCE_STREAM_VAIN	12
/* ns that posts of a stream are collected for.  Row "WRITE 2 B rate". */
#define SROCE_BATCH_NS		30000
/* Posts that are collected before the next kick.  Row "WRITE 2 B rate". */
#define SROCE_BATCH_POSTS	32u
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
/*
 * Bytes of memory for consecutive packets behind a gap: more packets would save little.
 * Row "1 % lost".
 */
#define SROCE_OOO_RUN_BYTES	16384u
/*
 * Packets by which a request that is kept may be ahead of a gap: windows of requests and of
 * READs.  A packet further ahead is likely to be forged, or to belong to an earlier
 * connection.  It would stay until its PSN is due.  Suite wire.
 */
#define SROCE_MAX_AHEAD	32768
/* Packets behind a gap that are executed in a lock section.  Suite networks. */
#define SROCE_OOO_BUDGET	512
/*
 * Duplicates of a READ that are ignored after its key was revoked; the next one is
 * refused.  Suite wire, "a READ repeated many times".
 */
#define SROCE_IGNORED_READS	8
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
/*
 * Loopback: short packets that a CPU can hold without an skb, a power of two.  More
 * than a delivery causes.  Row "READ 2 B latency" on one device.
 */
#define SROCE_LOOPBACK_SHORT	8
/*
 * Bytes of a packet, from the BTH on, that are not many compared with its headers.
 * Row "READ 2 B latency".
 */
#define SROCE_ICRC_SHORT	128
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

/*
 * Bytes of a message to page in at once, and ahead if its length is not known yet.
 * Suite paging.
 */
#define SROCE_FAULT_BYTES	0x400000u
#define SROCE_FAULT_AHEAD	0x10000u
/* Attempts until a temporary failure becomes an error.  Suite paging. */
#define SROCE_FAULT_TRIES	1000
/* Threads of a user that page in for QPs, and for advice.  Suite paging. */
#define SROCE_FAULT_THREADS	64
#define SROCE_ADVICE_THREADS	4
/* s that a user's workqueues outlive their last region.  Suite paging. */
#define SROCE_ODP_WQ_LINGER_S	10
/*
 * Chunks of a region; limits the memory for tables if accesses are scattered.
 * Suite paging.
 */
#define SROCE_ODP_MAX_CHUNKS	16384
/* Pages per call of hmm_range_fault(), and per lookup for a burst.  Suite paging. */
#define SROCE_ODP_BATCH		64
#define SROCE_ODP_RUN_PAGES	32

#endif /* SROCE_PARAMS_H */
