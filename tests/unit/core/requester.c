// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>
#include "params.h"
#include "completer.h"
#include "sender.h"

static struct sender s;

static void next_is(enum sroce_next verdict)
{
	EQUAL(sroce_requester_next(&s.r, &s.out), verdict);
}

static void set_window(u32 packets)
{
	sroce_cc_init(&s.r.cc, packets);
}

static const u8 opcodes[][5] = {
	{ SROCE_OP_WRITE, SROCE_WRITE_ONLY, SROCE_WRITE_FIRST,
	  SROCE_WRITE_MIDDLE, SROCE_WRITE_LAST },
	{ SROCE_OP_WRITE_IMM, SROCE_WRITE_ONLY_IMM, SROCE_WRITE_FIRST,
	  SROCE_WRITE_MIDDLE, SROCE_WRITE_LAST_IMM },
	{ SROCE_OP_SEND, SROCE_SEND_ONLY, SROCE_SEND_FIRST,
	  SROCE_SEND_MIDDLE, SROCE_SEND_LAST },
	{ SROCE_OP_SEND_IMM, SROCE_SEND_ONLY_IMM, SROCE_SEND_FIRST,
	  SROCE_SEND_MIDDLE, SROCE_SEND_LAST_IMM },
	{ SROCE_OP_SEND_INV, SROCE_SEND_ONLY_INV, SROCE_SEND_FIRST,
	  SROCE_SEND_MIDDLE, SROCE_SEND_LAST_INV },
};

static void segments(const u8 *op, u32 psn)
{
	post(&s, op[0], 0);
	post(&s, op[0], MTU);
	post(&s, op[0], MTU + 1);
	post(&s, op[0], 3 * MTU - 3);
	SEND(&s, op[1], psn);
	EQUAL(s.out.pkt.payload, 0);
	SEND(&s, op[1], psn + 1);
	EQUAL(s.out.pkt.payload, MTU);
	SEND(&s, op[2], psn + 2);
	EQUAL(s.out.pkt.payload, MTU);
	EQUAL(s.out.pkt.dma_len, MTU + 1);
	SEND(&s, op[4], psn + 3);
	EQUAL(s.out.pkt.payload, 1);
	EQUAL(s.out.offset, MTU);
	SEND(&s, op[2], psn + 4);
	SEND(&s, op[3], psn + 5);
	EQUAL(s.out.offset, MTU);
	SEND(&s, op[4], psn + 6);
	EQUAL(s.out.pkt.payload, MTU - 3);
	next_is(SROCE_NEXT_NOTHING);
}

TEST(requester, cuts_messages_into_packets)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		sender_init(&s, 0xfffffd);
		segments(opcodes[i], 0xfffffd);
		EQUAL(acknowledge(&s, 4), 4);
		EQUAL(s.r.in.head, s.r.in.tail);
	}
}

TEST(requester, unreliable_requests_finish_when_sent)
{
	u32 i;

	for (i = 0; i < 4; i++) {
		sender_init(&s, 0xfffffd);
		s.r.transport = SROCE_UC;
		set_window(1);
		segments(opcodes[i], 0xfffffd);
		EQUAL(complete(&s), 4);
		CHECK(!sroce_requester_waits(&s.r));
	}
}

TEST(requester, immediate_key_and_solicited)
{
	struct sroce_wr *wr;

	sender_init(&s, 0);
	wr = post(&s, SROCE_OP_SEND_IMM, MTU + 1);
	wr->imm = 0x12345678;
	wr->flags = SROCE_SOLICITED;
	wr = post(&s, SROCE_OP_SEND_INV, 1);
	wr->invalidate = 0xabcd;
	SEND(&s, SROCE_SEND_FIRST, 0);
	CHECK(!s.out.pkt.solicited);
	SEND(&s, SROCE_SEND_LAST_IMM, 1);
	CHECK(s.out.pkt.solicited);
	EQUAL(s.out.pkt.imm, 0x12345678);
	SEND(&s, SROCE_SEND_ONLY_INV, 2);
	EQUAL(s.out.pkt.rkey, 0xabcd);
	CHECK(!s.out.pkt.solicited);
}

/* 9.2.3: only what completes a receive request can solicit an event. */
TEST(requester, solicited_is_of_requests_that_are_received)
{
	static const struct {
		u8 op;
		u32 length;
		bool solicited;
	} cases[] = {
		{ SROCE_OP_SEND, 1, true },
		{ SROCE_OP_SEND_IMM, 1, true },
		{ SROCE_OP_SEND_INV, 1, true },
		{ SROCE_OP_WRITE_IMM, 1, true },
		{ SROCE_OP_WRITE, 1, false },
		{ SROCE_OP_READ, 1, false },
		{ SROCE_OP_CMP_SWP, 8, false },
		{ SROCE_OP_FETCH_ADD, 8, false },
		{ SROCE_OP_FLUSH, 8, false },
		{ SROCE_OP_ATOMIC_WRITE, 8, false },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		sender_init(&s, 0);
		post(&s, cases[i].op, cases[i].length)->flags = SROCE_SOLICITED;
		EQUAL(sroce_requester_next(&s.r, &s.out), SROCE_NEXT_PACKET);
		EQUAL(s.out.pkt.solicited, cases[i].solicited);
	}
}

TEST(requester, atomics)
{
	struct sroce_wr *wr;

	sender_init(&s, 0xffffff);
	wr = post(&s, SROCE_OP_CMP_SWP, 8);
	wr->swap = 1;
	wr->compare_add = 2;
	wr = post(&s, SROCE_OP_FETCH_ADD, 8);
	wr->compare_add = 3;
	SEND(&s, SROCE_COMPARE_SWAP, 0xffffff);
	EQUAL(s.out.pkt.swap_add, 1);
	EQUAL(s.out.pkt.compare, 2);
	EQUAL(s.out.pkt.payload, 0);
	EQUAL(s.out.pkt.va, 0x10000);
	EQUAL(s.out.pkt.rkey, 0x99);
	SEND(&s, SROCE_FETCH_ADD, 0);
	EQUAL(s.out.pkt.swap_add, 3);
}

TEST(requester, atomic_write_and_flush_are_one_packet_that_is_answered)
{
	struct sroce_wr *wr;
	struct sender s;

	sender_init(&s, 5);
	post(&s, SROCE_OP_ATOMIC_WRITE, 8);
	wr = post(&s, SROCE_OP_FLUSH, 100 * MTU);
	wr->packets = 1;
	wr->flush.type = SROCE_FLUSH_PERSISTENT;
	wr->flush.level = SROCE_FLUSH_REGION;
	post(&s, SROCE_OP_WRITE, 1)->flags = SROCE_FENCE;
	SEND(&s, SROCE_ATOMIC_WRITE, 5);
	EQUAL(s.out.pkt.payload, 8);
	EQUAL(s.out.pkt.dma_len, 8);
	EQUAL(s.out.pkt.va, 0x10000);
	EQUAL(sroce_requester_more(&s.r, &s.out), 0);
	SEND(&s, SROCE_FLUSH, 6);
	EQUAL(s.out.pkt.payload, 0);
	EQUAL(s.out.pkt.dma_len, 100 * MTU);
	EQUAL(s.out.pkt.flush_type, SROCE_FLUSH_PERSISTENT);
	EQUAL(s.out.pkt.flush_level, SROCE_FLUSH_REGION);
	/* They use resources of the peer, and fences wait for them. */
	EQUAL(s.r.reads, 2);
	EQUAL(sroce_requester_next(&s.r, &s.out), SROCE_NEXT_FENCE);
	EQUAL(acknowledge(&s, 7), 2);
	EQUAL(s.r.reads, 0);
	SEND(&s, SROCE_WRITE_ONLY, 7);
}

TEST(requester, read_takes_the_psns_of_its_answer)
{
	sender_init(&s, 0xfffffe);
	post(&s, SROCE_OP_READ, 5 * MTU);
	post(&s, SROCE_OP_SEND, 1);
	SEND(&s, SROCE_READ_REQUEST, 0xfffffe);
	EQUAL(s.out.pkt.dma_len, 5 * MTU);
	EQUAL(s.out.pkt.payload, 0);
	SEND(&s, SROCE_SEND_ONLY, 3);
	EQUAL(s.r.sent, 4);
}

TEST(requester, partly_answered_read_asks_for_the_rest)
{
	sender_init(&s, 0xfffffe);
	post(&s, SROCE_OP_READ, 5 * MTU - 1);
	post(&s, SROCE_OP_SEND, 1);
	send_all(&s);
	EQUAL(acknowledge(&s, 1), 0);
	sroce_requester_rewind(&s.r);
	SEND(&s, SROCE_READ_REQUEST, 1);
	EQUAL(s.out.pkt.va, 0x10000 + 3 * MTU);
	EQUAL(s.out.pkt.dma_len, 2 * MTU - 1);
	EQUAL(s.out.offset, 3 * MTU);
	SEND(&s, SROCE_SEND_ONLY, 3);
	next_is(SROCE_NEXT_NOTHING);
	EQUAL(s.r.sent, 4);
	EQUAL(s.r.reads, 1);
	EQUAL(acknowledge(&s, 4), 2);
	EQUAL(s.r.reads, 0);
	EQUAL(s.r.read_packets, 0);
}

TEST(requester, window)
{
	sender_init(&s, 0xffffff);
	set_window(3);
	post(&s, SROCE_OP_SEND, 5 * MTU);
	post(&s, SROCE_OP_SEND, 1);
	EQUAL(send_all(&s), SROCE_NEXT_WINDOW);
	EQUAL(s.r.sent, 2);
	acknowledge(&s, 1);
	EQUAL(send_all(&s), SROCE_NEXT_WINDOW);
	EQUAL(s.r.sent, 4);
	EQUAL(acknowledge(&s, 4), 1);
	EQUAL(send_all(&s), SROCE_NEXT_NOTHING);
	EQUAL(acknowledge(&s, 5), 1);
}

/* A loss at @at of what is under way, told by a NAK. */
/* The peer drops what is behind a gap. */
static void lose(u32 at)
{
	s.r.repair.peer = SROCE_PEER_DROPS;
	acknowledge(&s, at);
	EQUAL(sroce_completer_retry(&s.r), true);
	s.r.retry_left = 3;
}

TEST(requester, losses_make_the_window_smaller)
{
	sender_init(&s, 0);
	post(&s, SROCE_OP_SEND, 1000 * MTU);
	EQUAL(send_all(&s), SROCE_NEXT_WINDOW);
	lose(0);
	EQUAL(s.r.cc.window, 48);
	EQUAL(send_all(&s), SROCE_NEXT_WINDOW);
	EQUAL(sroce_psn_diff(s.r.psn, s.r.una), 48);
	/* Where in it the loss is does not matter. */
	lose(44);
	EQUAL(s.r.cc.window, 37);
}

TEST(requester, losses_of_little_leave_a_little_window)
{
	sender_init(&s, 0);
	post(&s, SROCE_OP_SEND, 5 * MTU);
	send_all(&s);
	/* The packets in flight count, not the size of the window. */
	lose(0);
	EQUAL(s.r.cc.window, 3);
	send_all(&s);
	lose(0);
	EQUAL(s.r.cc.window, 2);
	send_all(&s);
	lose(0);
	EQUAL(s.r.cc.window, 2);
}

TEST(requester, progress_makes_it_larger_again)
{
	u32 acknowledged = 0;

	sender_init(&s, 0);
	post(&s, SROCE_OP_SEND, 4000 * MTU);
	send_all(&s);
	lose(0);
	EQUAL(s.r.cc.window, 48);
	for (; acknowledged < 16; acknowledged++) {
		EQUAL(s.r.cc.window, 48);
		send_all(&s);
		acknowledge(&s, acknowledged + 1);
	}
	EQUAL(s.r.cc.window, 49);
	for (; acknowledged < 3000; acknowledged += 20) {
		send_all(&s);
		acknowledge(&s, acknowledged + 20);
	}
	EQUAL(s.r.cc.window, 64);
}

/* One for each round trip, where more would overflow the queue. */
TEST(requester, it_grows_slowly_when_the_path_is_full)
{
	sender_init(&s, 0);
	sroce_cc_init(&s.r.cc, 512);
	s.r.cc.window = 160;
	sroce_cc_acked(&s.r.cc, 160);
	EQUAL(s.r.cc.window, 170);
	s.r.cc.acked = 0;
	s.r.cc.bdp = 100;
	sroce_cc_acked(&s.r.cc, 170);
	EQUAL(s.r.cc.window, 171);
	/* Of a distant peer. */
	s.r.cc.acked = 0;
	s.r.cc.max_window = 8192;
	s.r.cc.distant = true;
	sroce_cc_acked(&s.r.cc, 160);
	EQUAL(s.r.cc.window, 211);
}

TEST(requester, a_window_leaves_in_several_bursts)
{
	sender_init(&s, 0);
	sroce_cc_init(&s.r.cc, 20);
	post(&s, SROCE_OP_WRITE, 100 * MTU);
	SEND(&s, SROCE_WRITE_FIRST, 0);
	SEND(&s, SROCE_WRITE_MIDDLE, 1);
	EQUAL(sroce_requester_more(&s.r, &s.out), 4);
	EQUAL(sroce_cc_burst(&s.r.cc), 5);
	s.r.cc.window = 64;
	EQUAL(sroce_cc_burst(&s.r.cc), 64);
	s.r.cc.bdp = 40;
	EQUAL(sroce_cc_burst(&s.r.cc), 16);
	s.r.cc.bdp = 0;
	s.r.cc.window = 3;
	EQUAL(sroce_cc_burst(&s.r.cc), 2);
	s.r.cc.window = 512;
	EQUAL(sroce_cc_burst(&s.r.cc), 64);
}

/* With the whole window, and nothing known about the peer */
static struct sroce_rtt set_out(void)
{
	sender_init(&s, 0);
	set_window(SROCE_WINDOW);
	return (struct sroce_rtt) {};
}

/* The window as it is, sent to somebody @ms away through what passes @rate packets a millisecond. */
static bool travel(struct sroce_rtt *rtt, u32 ms, u32 rate)
{
	u32 flight = s.r.cc.window;

	sroce_rtt_add(rtt, max(ms, flight / rate) * 1000000ull);
	sroce_cc_rtt(&s.r.cc, rtt, flight);
	return s.r.cc.distant;
}

TEST(requester, who_is_near_needs_no_large_window)
{
	struct sroce_rtt rtt = set_out();
	u32 i;

	for (i = 0; i < 100; i++)
		CHECK(!travel(&rtt, 5, 1000));
	EQUAL(s.r.cc.window, 512);
	EQUAL(s.r.cc.max_window, 512);
}

TEST(requester, the_window_grows_with_the_distance)
{
	struct sroce_rtt rtt = set_out();

	CHECK(travel(&rtt, 20, 1000));
	EQUAL(s.r.cc.window, 1024);
	travel(&rtt, 20, 1000);
	EQUAL(s.r.cc.window, 2000);
	travel(&rtt, 20, 1000);
	EQUAL(s.r.cc.window, 2000);
	EQUAL(s.r.cc.max_window, 2000);
}

TEST(requester, but_not_without_end)
{
	struct sroce_rtt rtt = set_out();
	u32 i;

	for (i = 0; i < 10; i++)
		travel(&rtt, 900, 1000);
	EQUAL(s.r.cc.window, 8192);
}

TEST(requester, nor_where_it_fills_queues)
{
	struct sroce_rtt rtt = set_out();
	u32 i;

	for (i = 0; i < 10; i++) {
		travel(&rtt, 40, 15);
		CHECK(s.r.cc.window <= 1300);
	}
	CHECK(s.r.cc.window >= 1100);
	/* Something else takes most of the way. */
	for (i = 0; i < 10; i++)
		travel(&rtt, 40, 5);
	EQUAL(s.r.cc.window, 512);
}

/* After losses the window may be less than what the path holds. */
TEST(requester, a_small_window_says_little_of_the_path)
{
	struct sroce_rtt rtt = set_out();

	travel(&rtt, 20, 1000);
	travel(&rtt, 20, 1000);
	EQUAL(s.r.cc.bdp, 1024);
	s.r.cc.window = 200;
	travel(&rtt, 20, 1000);
	EQUAL(s.r.cc.bdp, 1024);
	/* Unless it fills a queue. */
	travel(&rtt, 20, 5);
	EQUAL(s.r.cc.bdp, 793);
}

TEST(requester, little_under_way_says_nothing)
{
	struct sroce_rtt rtt = set_out();

	travel(&rtt, 20, 1000);
	sroce_rtt_add(&rtt, 100000000);
	sroce_cc_rtt(&s.r.cc, &rtt, 512);
	CHECK(s.r.cc.distant);
	EQUAL(s.r.cc.window, 1024);
}

TEST(requester, a_window_that_losses_made_small_stays_so)
{
	struct sroce_rtt rtt = set_out();

	travel(&rtt, 20, 1000);
	s.r.cc.window = 700;
	travel(&rtt, 20, 1000);
	EQUAL(s.r.cc.window, 700);
	EQUAL(s.r.cc.max_window, 1400);
}

TEST(requester, who_moves_near_is_near)
{
	struct sroce_rtt rtt = set_out();

	travel(&rtt, 20, 1000);
	travel(&rtt, 20, 1000);
	EQUAL(s.r.cc.window, 2000);
	CHECK(!travel(&rtt, 1, 100000));
	EQUAL(s.r.cc.window, 512);
}

TEST(requester, a_window_of_one_stays)
{
	sender_init(&s, 0);
	set_window(1);
	post(&s, SROCE_OP_SEND, 5 * MTU);
	send_all(&s);
	lose(0);
	EQUAL(s.r.cc.window, 1);
	acknowledge(&s, 0);
	EQUAL(send_all(&s), SROCE_NEXT_WINDOW);
}

TEST(requester, without_losses_what_is_sent_waits_for_no_answers)
{
	u32 i;

	sender_init(&s, 0);
	set_window(40);
	post(&s, SROCE_OP_READ, 100 * MTU);
	post(&s, SROCE_OP_SEND, 50 * MTU);
	EQUAL(send_all(&s), SROCE_NEXT_WINDOW);
	EQUAL(s.r.sent, 140);
	/* Nor do they open it when they arrive. */
	for (i = 1; i <= 100; i++) {
		acknowledge(&s, i);
		next_is(SROCE_NEXT_WINDOW);
	}
	acknowledge(&s, 101);
	EQUAL(send_all(&s), SROCE_NEXT_WINDOW);
	EQUAL(s.r.sent, 141);
}

TEST(requester, reads_wait_for_answers)
{
	sender_init(&s, 0);
	s.r.max_reads = 10;
	set_window(40);
	post(&s, SROCE_OP_READ, 30 * MTU);
	post(&s, SROCE_OP_READ, 30 * MTU);
	post(&s, SROCE_OP_READ, 30 * MTU);
	EQUAL(send_all(&s), SROCE_NEXT_WINDOW);
	EQUAL(s.r.sent, 60);
	acknowledge(&s, 20);
	next_is(SROCE_NEXT_WINDOW);
	acknowledge(&s, 21);
	EQUAL(send_all(&s), SROCE_NEXT_NOTHING);
	EQUAL(s.r.sent, 90);
}

static void slow_down(u32 window)
{
	s.r.cc.window = window;
	s.r.cc.max_window = 64;
	s.r.cc.acked = 0;
}

/* The next packet asks for @packets of the READ, from PSN @at on. */
#define ASK(at, packets) do {						\
	SEND(&s, SROCE_READ_REQUEST, at);				\
	EQUAL(s.out.pkt.va, 0x10000 + (at) * MTU);			\
	EQUAL(s.out.pkt.dma_len, (packets) * MTU);			\
} while (0)

TEST(requester, after_losses_reads_are_asked_for_in_parts)
{
	sender_init(&s, 0);
	slow_down(4);
	post(&s, SROCE_OP_READ, 10 * MTU);
	ASK(0, 4);
	acknowledge(&s, 1);
	/* There is no room for a burst. */
	next_is(SROCE_NEXT_WINDOW);
	acknowledge(&s, 2);
	ASK(4, 2);
	acknowledge(&s, 4);
	/* The window has grown by one. */
	ASK(6, 3);
	EQUAL(acknowledge(&s, 9), 0);
	ASK(9, 1);
	EQUAL(acknowledge(&s, 10), 1);
	next_is(SROCE_NEXT_NOTHING);
	EQUAL(s.r.reads, 0);
	EQUAL(s.r.read_packets, 0);
}

TEST(requester, repeated_parts_wait_for_one_another)
{
	sender_init(&s, 0);
	s.r.max_reads = 16;
	post(&s, SROCE_OP_READ, 40 * MTU);
	ASK(0, 40);
	s.r.cc.window = 8;
	sroce_requester_rewind(&s.r);
	ASK(0, 8);
	acknowledge(&s, 6);
	next_is(SROCE_NEXT_WINDOW);
	acknowledge(&s, 8);
	ASK(8, 9);
}

TEST(requester, each_part_takes_a_resource_of_the_peer)
{
	sender_init(&s, 0);
	slow_down(8);
	s.r.max_reads = 1;
	post(&s, SROCE_OP_READ, 20 * MTU);
	ASK(0, 8);
	acknowledge(&s, 7);
	next_is(SROCE_NEXT_WINDOW);
	acknowledge(&s, 8);
	s.r.max_reads = 2;
	s.r.cc.window = 8;
	ASK(8, 8);
	acknowledge(&s, 12);
	s.r.cc.window = 8;
	ASK(16, 4);
	/* The READ has two requests outstanding. */
	s.r.cc.window = 16;
	post(&s, SROCE_OP_READ, MTU);
	post(&s, SROCE_OP_FETCH_ADD, 8);
	next_is(SROCE_NEXT_READS);
	acknowledge(&s, 16);
	SEND(&s, SROCE_READ_REQUEST, 20);
	next_is(SROCE_NEXT_READS);
}

TEST(requester, a_long_read_is_asked_for_in_parts)
{
	sender_init(&s, 0);
	post(&s, SROCE_OP_READ, 600 * MTU);
	ASK(0, 256);
	acknowledge(&s, 255);
	next_is(SROCE_NEXT_WINDOW);
	acknowledge(&s, 256);
	ASK(256, 256);
	acknowledge(&s, 512);
	ASK(512, 88);
	EQUAL(acknowledge(&s, 600), 1);
	next_is(SROCE_NEXT_NOTHING);
}

TEST(requester, several_reads_share_a_small_window)
{
	sender_init(&s, 0);
	slow_down(8);
	post(&s, SROCE_OP_READ, 3 * MTU);
	post(&s, SROCE_OP_READ, 10 * MTU);
	SEND(&s, SROCE_READ_REQUEST, 0);
	EQUAL(s.out.pkt.dma_len, 3 * MTU);
	SEND(&s, SROCE_READ_REQUEST, 3);
	EQUAL(s.out.pkt.dma_len, 5 * MTU);
	next_is(SROCE_NEXT_WINDOW);
	acknowledge(&s, 4);
	SEND(&s, SROCE_READ_REQUEST, 8);
	EQUAL(s.out.pkt.dma_len, 4 * MTU);
	EQUAL(s.out.pkt.va, 0x10000 + 5 * MTU);
}

TEST(requester, a_part_asked_for_again_ends_where_it_did)
{
	sender_init(&s, 0);
	slow_down(16);
	post(&s, SROCE_OP_READ, 100 * MTU);
	ASK(0, 16);
	acknowledge(&s, 3);
	slow_down(4);
	sroce_requester_rewind(&s.r);
	ASK(3, 4);
	acknowledge(&s, 7);
	slow_down(4);
	ASK(7, 4);
	acknowledge(&s, 9);
	slow_down(60);
	sroce_requester_rewind(&s.r);
	ASK(9, 2);
	acknowledge(&s, 11);
	ASK(11, 5);
	acknowledge(&s, 16);
	slow_down(64);
	ASK(16, 84);
	EQUAL(acknowledge(&s, 100), 1);
}

TEST(requester, parts_cannot_be_cut_without_end)
{
	u32 window = 60;
	u32 i;

	sender_init(&s, 0);
	post(&s, SROCE_OP_READ, 100 * MTU);
	ASK(0, 100);
	for (i = 0; i < SROCE_PARTS; i++) {
		slow_down(--window);
		sroce_requester_rewind(&s.r);
		ASK(0, window);
	}
	slow_down(2);
	sroce_requester_rewind(&s.r);
	ASK(0, window);
	acknowledge(&s, window);
	ASK(window, 1);
}

TEST(requester, answers_of_reads_slow_down_as_well)
{
	sender_init(&s, 0);
	post(&s, SROCE_OP_READ, 200 * MTU);
	ASK(0, 200);
	lose(10);
	EQUAL(s.r.cc.window, 48);
	ASK(10, 48);
	lose(50);
	EQUAL(s.r.cc.window, 37);
	ASK(50, 8);
	next_is(SROCE_NEXT_WINDOW);
	acknowledge(&s, 58);
	ASK(58, 37);
}

TEST(requester, max_rd_atomic)
{
	sender_init(&s, 0);
	post(&s, SROCE_OP_READ, MTU);
	post(&s, SROCE_OP_FETCH_ADD, 8);
	post(&s, SROCE_OP_READ, MTU);
	post(&s, SROCE_OP_SEND, MTU);
	EQUAL(send_all(&s), SROCE_NEXT_READS);
	EQUAL(s.r.sent, 2);
	EQUAL(acknowledge(&s, 1), 1);
	EQUAL(send_all(&s), SROCE_NEXT_NOTHING);
	EQUAL(s.r.sent, 4);
}

/* SQD lets those before it end, and then the limit becomes 0. */
TEST(requester, no_reads_allowed_any_more)
{
	sender_init(&s, 0);
	s.r.max_reads = 1;
	post(&s, SROCE_OP_READ, MTU);
	post(&s, SROCE_OP_READ, MTU);
	EQUAL(send_all(&s), SROCE_NEXT_READS);
	s.r.drain = true;
	EQUAL(acknowledge(&s, 1), 1);
	s.r.max_reads = 0;
	next_is(SROCE_NEXT_HOLD);
	s.r.drain = false;
	next_is(SROCE_NEXT_FAULT);
	EQUAL(sroce_inflight_wr(&s.r.in, s.r.in.next)->status,
	      SROCE_LOC_QP_OP_ERR);
}

TEST(requester, fence_waits_for_reads_and_atomics_only)
{
	sender_init(&s, 0);
	post(&s, SROCE_OP_SEND, 1)->flags = SROCE_FENCE;
	post(&s, SROCE_OP_SEND, 1)->flags = SROCE_FENCE;
	post(&s, SROCE_OP_READ, 1)->flags = SROCE_FENCE;
	post(&s, SROCE_OP_SEND, 1);
	post(&s, SROCE_OP_SEND, 1)->flags = SROCE_FENCE;
	EQUAL(send_all(&s), SROCE_NEXT_FENCE);
	EQUAL(s.r.sent, 4);
	EQUAL(acknowledge(&s, 2), 2);
	next_is(SROCE_NEXT_FENCE);
	EQUAL(acknowledge(&s, 3), 1);
	EQUAL(send_all(&s), SROCE_NEXT_NOTHING);
}

TEST(requester, drain_lets_started_requests_go_on)
{
	sender_init(&s, 0);
	set_window(1);
	post(&s, SROCE_OP_SEND, 2 * MTU);
	post(&s, SROCE_OP_SEND, 1);
	EQUAL(send_all(&s), SROCE_NEXT_WINDOW);
	s.r.drain = true;
	sroce_requester_rewind(&s.r);
	SEND(&s, SROCE_SEND_FIRST, 0);
	acknowledge(&s, 1);
	SEND(&s, SROCE_SEND_LAST, 1);
	EQUAL(acknowledge(&s, 2), 1);
	next_is(SROCE_NEXT_HOLD);
	CHECK(!sroce_requester_waits(&s.r));
	s.r.drain = false;
	SEND(&s, SROCE_SEND_ONLY, 2);
}

TEST(requester, rewind_goes_to_any_packet)
{
	u32 una;

	for (una = 0; una <= 10; una++) {
		sender_init(&s, 0xfffffa);
		post(&s, SROCE_OP_SEND, 4 * MTU);
		post(&s, SROCE_OP_WRITE, 1);
		post(&s, SROCE_OP_SEND, 5 * MTU);
		send_all(&s);
		acknowledge(&s, 0xfffffa + una);
		sroce_requester_rewind(&s.r);
		EQUAL(s.r.psn, (0xfffffa + una) & 0xffffff);
		EQUAL(send_all(&s), SROCE_NEXT_NOTHING);
		EQUAL(s.r.psn, 4);
		EQUAL(s.r.sent, 4);
		EQUAL(acknowledge(&s, 4), 3 - (una > 3) - (una > 4) -
					  (una > 9));
	}
}

TEST(requester, rewind_makes_known_what_goes_again)
{
	u32 i;

	sender_init(&s, 0xfffffe);
	for (i = 0; i < 3; i++) {
		post(&s, SROCE_OP_SEND, 1);
		next_is(SROCE_NEXT_PACKET);
		CHECK(!sroce_requester_again(&s.r, &s.out));
		send_all(&s);
	}
	post(&s, SROCE_OP_SEND, 2 * MTU);
	acknowledge(&s, 0xffffff);
	sroce_requester_rewind(&s.r);
	for (i = 0; i < 4; i++) {
		next_is(SROCE_NEXT_PACKET);
		EQUAL(sroce_requester_again(&s.r, &s.out), i < 2);
		sroce_requester_sent(&s.r, &s.out);
	}
	next_is(SROCE_NEXT_NOTHING);
}

/* The answer to what was sent before a rewind comes in after it. */
TEST(requester, acknowledgment_overtakes_the_cursor)
{
	u32 at;

	for (at = 1; at <= 7; at++) {
		sender_init(&s, 0xfffffd);
		post(&s, SROCE_OP_SEND, 3 * MTU);
		post(&s, SROCE_OP_SEND, 3 * MTU);
		post(&s, SROCE_OP_SEND, 1);
		send_all(&s);
		sroce_requester_rewind(&s.r);
		SEND(&s, SROCE_SEND_FIRST, 0xfffffd);
		EQUAL(acknowledge(&s, 0xfffffd + at),
		      (at >= 3) + (at >= 6) + (at >= 7));
		EQUAL(s.r.psn, (0xfffffd + at) & 0xffffff);
		send_all(&s);
		EQUAL(s.r.psn, 4);
	}
}

TEST(requester, psn_window_is_half_the_space)
{
	sender_init(&s, 0xabcdef);
	s.r.max_reads = 10;
	s.r.mtu = 256;
	set_window(1 << 23);
	post(&s, SROCE_OP_READ, 1 << 30);
	post(&s, SROCE_OP_READ, 1 << 30);
	EQUAL(sroce_inflight_wr(&s.r.in, -2)->packets, SROCE_MAX_PACKETS);
	EQUAL(send_all(&s), SROCE_NEXT_WINDOW);
	EQUAL(s.r.reads, 1);
	post(&s, SROCE_OP_READ, 1);
	/* It is found by its first PSN until all of it has come. */
	acknowledge(&s, 0xabcdef + 1);
	EQUAL(send_all(&s), SROCE_NEXT_WINDOW);
	EQUAL(s.r.reads, 1);
	EQUAL(acknowledge(&s, 0xabcdef + (1 << 22)), 1);
	EQUAL(send_all(&s), SROCE_NEXT_NOTHING);
}

TEST(requester, rnr_wait_stops_everything)
{
	sender_init(&s, 0);
	post(&s, SROCE_OP_SEND, 1);
	s.r.rnr_wait = true;
	next_is(SROCE_NEXT_RNR);
	s.r.rnr_wait = false;
	SEND(&s, SROCE_SEND_ONLY, 0);
}

TEST(requester, nothing_is_finished_before_it_is_sent)
{
	sender_init(&s, 0);
	CHECK(!sroce_requester_finished(&s.r));
	post(&s, SROCE_OP_SEND, 1);
	CHECK(!sroce_requester_finished(&s.r));
	SEND(&s, SROCE_SEND_ONLY, 0);
	CHECK(!sroce_requester_finished(&s.r));
	CHECK(sroce_requester_waits(&s.r));
	EQUAL(acknowledge(&s, 1), 1);
	CHECK(!sroce_requester_waits(&s.r));
	CHECK(!sroce_requester_finished(&s.r));
}

TEST(requester, fault_lets_requests_before_it_complete)
{
	sender_init(&s, 0);
	post(&s, SROCE_OP_SEND, 1);
	post(&s, SROCE_OP_SEND, 1)->status = SROCE_LOC_PROT_ERR;
	EQUAL(send_all(&s), SROCE_NEXT_FAULT);
	EQUAL(s.r.sent, 1);
	CHECK(s.r.in.head != s.r.in.next);
	sroce_requester_rewind(&s.r);
	SEND(&s, SROCE_SEND_ONLY, 0);
	acknowledge(&s, 1);
	next_is(SROCE_NEXT_FAULT);
	EQUAL(s.r.in.head, s.r.in.next);
	s.r.drain = true;
	next_is(SROCE_NEXT_HOLD);
}

TEST(requester, request_that_never_started_can_be_flushed)
{
	sender_init(&s, 0);
	post(&s, SROCE_OP_READ, 1);
	post(&s, SROCE_OP_READ, 1);
	SEND(&s, SROCE_READ_REQUEST, 0);
	sroce_requester_retire(&s.r);
	EQUAL(s.r.reads, 0);
	sroce_requester_retire(&s.r);
	EQUAL(s.r.reads, 0);
	EQUAL(s.r.read_packets, 0);
}

TEST(requester, resume_sends_what_never_left)
{
	u32 at;

	for (at = 0; at <= 5; at++) {
		sender_init(&s, 0xfffffd);
		post(&s, SROCE_OP_SEND, 2 * MTU);
		post(&s, SROCE_OP_READ, 2 * MTU);
		post(&s, SROCE_OP_SEND, 1);
		send_all(&s);
		/* A READ goes whole or not at all. */
		if (at == 3)
			continue;
		sroce_requester_resume(&s.r, (0xfffffd + at) & 0xffffff);
		EQUAL(s.r.psn, (0xfffffd + at) & 0xffffff);
		EQUAL(send_all(&s), SROCE_NEXT_NOTHING);
		EQUAL(s.r.psn, 2);
		EQUAL(s.r.sent, 2);
		EQUAL(s.r.reads, 1);
		EQUAL(acknowledge(&s, 2), 3);
	}
}

/* A reader of the next one may not have finished the one before. */
TEST(requester, the_longest_messages_of_uc_follow_one_another)
{
	sender_init(&s, 7);
	s.r.transport = SROCE_UC;
	s.r.mtu = 256;
	post(&s, SROCE_OP_WRITE, SROCE_MAX_PACKETS * 256);
	EQUAL(send_all(&s), SROCE_NEXT_NOTHING);
	post(&s, SROCE_OP_WRITE, SROCE_MAX_PACKETS * 256);
	SEND(&s, SROCE_WRITE_FIRST, 7 + SROCE_MAX_PACKETS);
}

/* Its rest must not become the next one's: each reads a list of its own length. */
TEST(requester, begins_anew_behind_a_request_that_failed_half_sent)
{
	struct sroce_wr *bad;

	sender_init(&s, 7);
	s.r.transport = SROCE_UC;
	bad = post(&s, SROCE_OP_WRITE, 3 * MTU);
	post(&s, SROCE_OP_SEND, 1);
	SEND(&s, SROCE_WRITE_FIRST, 7);
	bad->status = SROCE_LOC_PROT_ERR;
	EQUAL(sroce_requester_next(&s.r, &s.out), SROCE_NEXT_FAULT);
	sroce_requester_retire(&s.r);
	EQUAL(s.r.in.next, s.r.in.head);
	EQUAL(s.r.packet, 0);
	SEND(&s, SROCE_SEND_ONLY, 8);
	EQUAL(s.out.offset, 0);
	EQUAL(s.out.pkt.payload, 1);
	EQUAL(send_all(&s), SROCE_NEXT_NOTHING);
}

static void post_local(u8 opcode)
{
	post(&s, opcode, 0)->packets = 0;
}

TEST(requester, local_requests_have_their_turn_and_no_packet)
{
	sender_init(&s, 10);
	post(&s, SROCE_OP_SEND, 1);
	post_local(SROCE_OP_BIND_MW);
	post(&s, SROCE_OP_SEND, 1);
	SEND(&s, SROCE_SEND_ONLY, 10);
	next_is(SROCE_NEXT_LOCAL);
	CHECK(!s.out.wr->started);
	sroce_requester_done(&s.r);
	SEND(&s, SROCE_SEND_ONLY, 11);
	/* It completes in its turn, too. */
	EQUAL(complete(&s), 0);
	sroce_requester_acknowledge(&s.r, 11);
	EQUAL(complete(&s), 2);
	sroce_requester_acknowledge(&s.r, 12);
	EQUAL(complete(&s), 1);
}

static u32 do_locals(void)
{
	u32 n = 0;

	while (sroce_requester_next(&s.r, &s.out) == SROCE_NEXT_LOCAL) {
		sroce_requester_done(&s.r);
		n++;
	}
	return n;
}

/* They end with what is under way before them, all at once. */
TEST(requester, local_requests_behind_others_have_a_limit)
{
	static struct sroce_wr wrs[4096];
	u32 i, n;

	sender_init(&s, 10);
	s.r.in.wrs = wrs;
	s.r.in.mask = ARRAY_SIZE(wrs) - 1;
	post(&s, SROCE_OP_SEND, 1);
	for (i = 0; i < 4000; i++)
		post_local(SROCE_OP_BIND_MW);
	SEND(&s, SROCE_SEND_ONLY, 10);
	n = do_locals();
	CHECK(n > 500 && n < 2000);
	next_is(SROCE_NEXT_WINDOW);
	sroce_requester_acknowledge(&s.r, 11);
	EQUAL(complete(&s), 1 + n);
	/* With nothing under way there is nothing to wait for. */
	EQUAL(do_locals(), 4000 - n);
	next_is(SROCE_NEXT_NOTHING);
	EQUAL(complete(&s), 4000 - n);
}

TEST(requester, invalidation_waits_until_all_before_is_acknowledged)
{
	sender_init(&s, 10);
	post(&s, SROCE_OP_WRITE, 2 * MTU);
	post_local(SROCE_OP_LOCAL_INV);
	SEND(&s, SROCE_WRITE_FIRST, 10);
	SEND(&s, SROCE_WRITE_LAST, 11);
	next_is(SROCE_NEXT_ALONE);
	sroce_requester_acknowledge(&s.r, 11);
	next_is(SROCE_NEXT_ALONE);
	sroce_requester_acknowledge(&s.r, 12);
	next_is(SROCE_NEXT_LOCAL);
	sroce_requester_done(&s.r);
	EQUAL(complete(&s), 2);
}

TEST(requester, local_requests_are_done_once)
{
	sender_init(&s, 10);
	post(&s, SROCE_OP_SEND, 1);
	post_local(SROCE_OP_BIND_MW);
	post(&s, SROCE_OP_SEND, 1);
	SEND(&s, SROCE_SEND_ONLY, 10);
	sroce_requester_done(&s.r);
	SEND(&s, SROCE_SEND_ONLY, 11);
	sroce_requester_rewind(&s.r);
	SEND(&s, SROCE_SEND_ONLY, 10);
	next_is(SROCE_NEXT_LOCAL);
	CHECK(s.out.wr->started);
	sroce_requester_done(&s.r);
	SEND(&s, SROCE_SEND_ONLY, 11);
	sroce_requester_acknowledge(&s.r, 11);
	sroce_requester_rewind(&s.r);
	SEND(&s, SROCE_SEND_ONLY, 11);
	sroce_requester_acknowledge(&s.r, 12);
	EQUAL(complete(&s), 3);
}

/*
 * A thousand local requests may stand behind one that is lost, as they take no
 * PSN.  Pages of a ring that a rewind has no business with are not to be
 * read or written then.
 */
#define CROWD		1024

static struct sroce_wr *large_ring(void)
{
	void *ring = mmap(NULL, CROWD * sizeof(struct sroce_wr),
			  PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	CHECK(ring != MAP_FAILED);
	s.r.in.wrs = ring;
	s.r.in.mask = CROWD - 1;
	s.r.in.head = 0;
	s.r.in.next = 0;
	s.r.in.tail = 0;
	return ring;
}

/* All but the first page, which has the oldest request */
static void allow(struct sroce_wr *ring, int access)
{
	size_t page = sysconf(_SC_PAGESIZE);

	EQUAL(mprotect((char *)ring + page, CROWD * sizeof(*ring) - page,
		       access), 0);
}

static void touched(int sig)
{
	(void)sig;
	CHECK(!"a request is visited for nothing");
}

/* The first touch is the last: it ends the test. */
static void watched_rewind(struct sroce_wr *ring)
{
	struct sigaction watch = {
		.sa_handler = touched,
		.sa_flags = SA_NODEFER | SA_RESETHAND,
	};
	struct sigaction before;

	EQUAL(sigaction(SIGSEGV, &watch, &before), 0);
	allow(ring, PROT_NONE);
	sroce_requester_rewind(&s.r);
	allow(ring, PROT_READ | PROT_WRITE);
	EQUAL(sigaction(SIGSEGV, &before, NULL), 0);
}

TEST(requester, rewind_leaves_alone_what_it_does_not_send)
{
	struct sroce_wr *ring;
	u32 i;

	sender_init(&s, 10);
	ring = large_ring();
	post(&s, SROCE_OP_SEND, 1);
	SEND(&s, SROCE_SEND_ONLY, 10);
	for (i = 1; i < CROWD; i++) {
		post_local(SROCE_OP_BIND_MW);
		next_is(SROCE_NEXT_LOCAL);
		sroce_requester_done(&s.r);
	}
	watched_rewind(ring);
	SEND(&s, SROCE_SEND_ONLY, 10);
	watched_rewind(ring);
	EQUAL(s.r.in.next, 0);
	EQUAL(acknowledge(&s, 11), CROWD);
	munmap(ring, CROWD * sizeof(*ring));
}

TEST(requester, local_requests_are_fenced_and_held)
{
	sender_init(&s, 10);
	post(&s, SROCE_OP_READ, 1);
	post_local(SROCE_OP_BIND_MW);
	s.wrs[(s.r.in.tail - 1) & s.r.in.mask].flags = SROCE_FENCE;
	SEND(&s, SROCE_READ_REQUEST, 10);
	next_is(SROCE_NEXT_FENCE);
	sroce_requester_acknowledge(&s.r, 11);
	EQUAL(complete(&s), 1);
	s.r.drain = true;
	next_is(SROCE_NEXT_HOLD);
	s.r.drain = false;
	next_is(SROCE_NEXT_LOCAL);
}
