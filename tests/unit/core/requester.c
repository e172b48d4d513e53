// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>
#include "params.h"
#include "completer.h"
#include "sender.h"

static struct sender s;

static void expect_next(enum sroce_next verdict)
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

static void check_segments(const u8 *op, u32 psn)
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
	expect_next(SROCE_NEXT_NOTHING);
}

TEST(requester, message_is_split_into_packets)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		sender_init(&s, 0xfffffd);
		check_segments(opcodes[i], 0xfffffd);
		EQUAL(acknowledge(&s, 4), 4);
		EQUAL(s.r.in.head, s.r.in.tail);
	}
}

TEST(requester, uc_request_finishes_when_sent)
{
	u32 i;

	for (i = 0; i < 4; i++) {
		sender_init(&s, 0xfffffd);
		s.r.transport = SROCE_UC;
		set_window(1);
		check_segments(opcodes[i], 0xfffffd);
		EQUAL(complete(&s), 4);
		CHECK(!sroce_requester_waits(&s.r));
	}
}

TEST(requester, last_packet_has_immediate_and_solicited_bit)
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

/* 9.2.3: only requests that complete a receive can solicit an event. */
TEST(requester, solicited_bit_only_if_receive_completes)
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

TEST(requester, atomic_request_has_operands)
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

TEST(requester, atomic_write_and_flush_are_one_packet_with_response)
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
	/* They use responder resources, and a fence waits for them. */
	EQUAL(s.r.reads, 2);
	EQUAL(sroce_requester_next(&s.r, &s.out), SROCE_NEXT_FENCE);
	EQUAL(acknowledge(&s, 7), 2);
	EQUAL(s.r.reads, 0);
	SEND(&s, SROCE_WRITE_ONLY, 7);
}

TEST(requester, read_uses_psns_of_its_response)
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

TEST(requester, read_is_resumed_after_partial_response)
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
	expect_next(SROCE_NEXT_NOTHING);
	EQUAL(s.r.sent, 4);
	EQUAL(s.r.reads, 1);
	EQUAL(acknowledge(&s, 4), 2);
	EQUAL(s.r.reads, 0);
	EQUAL(s.r.read_packets, 0);
}

TEST(requester, window_limits_unacked_packets)
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

/* The peer reports the loss of the packet at @at.  It drops packets behind a gap. */
static void report_loss(u32 at)
{
	s.r.repair.peer = SROCE_PEER_DROPS;
	acknowledge(&s, at);
	EQUAL(sroce_completer_retry(&s.r), true);
	s.r.retry_left = 3;
}

TEST(requester, loss_reduces_window)
{
	sender_init(&s, 0);
	post(&s, SROCE_OP_SEND, 1000 * MTU);
	EQUAL(send_all(&s), SROCE_NEXT_WINDOW);
	report_loss(0);
	EQUAL(s.r.cc.window, 48);
	EQUAL(send_all(&s), SROCE_NEXT_WINDOW);
	EQUAL(sroce_psn_diff(s.r.psn, s.r.una), 48);
	/* The position of the loss in the window does not matter. */
	report_loss(44);
	EQUAL(s.r.cc.window, 37);
}

TEST(requester, loss_reduces_window_relative_to_flight)
{
	sender_init(&s, 0);
	post(&s, SROCE_OP_SEND, 5 * MTU);
	send_all(&s);
	/* The reduction depends on the packets in flight, not on the window. */
	report_loss(0);
	EQUAL(s.r.cc.window, 3);
	send_all(&s);
	report_loss(0);
	EQUAL(s.r.cc.window, 2);
	send_all(&s);
	report_loss(0);
	EQUAL(s.r.cc.window, 2);
}

TEST(requester, acks_restore_reduced_window)
{
	u32 acknowledged = 0;

	sender_init(&s, 0);
	post(&s, SROCE_OP_SEND, 4000 * MTU);
	send_all(&s);
	report_loss(0);
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

/* Near the capacity of the path the window grows by one packet per round trip. */
TEST(requester, window_grows_slowly_on_full_path)
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
	/* The window of a distant peer grows faster, if congestion has not just reduced it. */
	s.r.cc.acked = 0;
	s.r.cc.max_window = 8192;
	s.r.cc.distant = true;
	sroce_cc_congested(&s.r.cc, 200);
	EQUAL(s.r.cc.window, 128);
	sroce_cc_acked(&s.r.cc, 160);
	EQUAL(s.r.cc.window, 138);
	sroce_cc_acked(&s.r.cc, 240);
	s.r.cc.acked = 0;
	s.r.cc.window = 128;
	sroce_cc_acked(&s.r.cc, 160);
	EQUAL(s.r.cc.window, 168);
}

TEST(requester, counts_of_acknowledged_packets_do_not_wrap)
{
	sender_init(&s, 0);
	sroce_cc_init(&s.r.cc, 512);
	s.r.cc.since_loss = ~0u - 3;
	s.r.cc.since_cut = ~0u - 5;
	sroce_cc_acked(&s.r.cc, 4);
	EQUAL(s.r.cc.since_loss, ~0u);
	EQUAL(s.r.cc.since_cut, ~0u - 1);
}

TEST(requester, window_of_distant_peer_grows_slowly_after_marks)
{
	sender_init(&s, 0);
	sroce_cc_init(&s.r.cc, 8192);
	s.r.cc.distant = true;
	s.r.cc.window = 200;
	s.r.cc.bdp = 100;
	sroce_cc_marked(&s.r.cc, 200);
	EQUAL(s.r.cc.window, 166);
	sroce_cc_acked(&s.r.cc, 166);
	EQUAL(s.r.cc.window, 167);
	/* Not if the path is not full, or how much it holds is not known. */
	s.r.cc.acked = 0;
	s.r.cc.bdp = 170;
	sroce_cc_acked(&s.r.cc, 160);
	EQUAL(s.r.cc.window, 177);
	s.r.cc.bdp = 0;
	sroce_cc_acked(&s.r.cc, 160);
	EQUAL(s.r.cc.window, 187);
	/* Not if there were no marks for some time, and not after a loss. */
	s.r.cc.bdp = 100;
	s.r.cc.since_cut = 16 * 187;
	sroce_cc_acked(&s.r.cc, 160);
	EQUAL(s.r.cc.window, 227);
	sroce_cc_congested(&s.r.cc, 200);
	EQUAL(s.r.cc.window, 150);
	sroce_cc_acked(&s.r.cc, 160);
	EQUAL(s.r.cc.window, 160);
}

TEST(requester, window_is_sent_in_several_bursts)
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
	/* Flows that share a queue have different estimates of the BDP. */
	s.r.cc.bdp = 0;
	s.r.cc.paced = true;
	EQUAL(sroce_cc_burst(&s.r.cc), 16);
	s.r.cc.paced = false;
	s.r.cc.window = 3;
	EQUAL(sroce_cc_burst(&s.r.cc), 2);
	s.r.cc.window = 512;
	EQUAL(sroce_cc_burst(&s.r.cc), 64);
}

/* Start with the default window and without a sample. */
static struct sroce_rtt start_at_default_window(void)
{
	sender_init(&s, 0);
	set_window(SROCE_WINDOW);
	return (struct sroce_rtt) {};
}

/* Sample a window over a path with an RTT of @ms that carries @rate packets per ms. */
static bool sample_rtt(struct sroce_rtt *rtt, u32 ms, u32 rate)
{
	u32 flight = s.r.cc.window;

	sroce_rtt_add(rtt, max(ms, flight / rate) * 1000000ull);
	sroce_cc_rtt(&s.r.cc, rtt, flight);
	return s.r.cc.distant;
}

TEST(requester, near_peer_keeps_default_window)
{
	struct sroce_rtt rtt = start_at_default_window();
	u32 i;

	for (i = 0; i < 100; i++)
		CHECK(!sample_rtt(&rtt, 5, 1000));
	EQUAL(s.r.cc.window, 512);
	EQUAL(s.r.cc.max_window, 512);
}

static void acked_without_loss(struct sroce_cc *cc, u32 packets)
{
	while (packets) {
		u32 n = min(packets, 64u);

		sroce_cc_acked(cc, n);
		packets -= n;
	}
}

/* Busy processors delay the responses of a near peer, too. */
TEST(requester, reads_overlap_beyond_window_without_losses)
{
	struct sroce_rtt rtt = start_at_default_window();
	struct sroce_cc *cc = &s.r.cc;

	sample_rtt(&rtt, 1, 1000);
	acked_without_loss(cc, SROCE_RARE_LOSS - 64);
	EQUAL(sroce_cc_read_window(cc), 512);
	acked_without_loss(cc, 64);
	EQUAL(sroce_cc_read_window(cc), 516);
	EQUAL(cc->window, 512);
	acked_without_loss(cc, 16 * 1000);
	EQUAL(sroce_cc_read_window(cc), 960);
	cc->window = 500;
	EQUAL(sroce_cc_read_window(cc), 500);
}

/* The next time they wait for four times as many packets. */
TEST(requester, loss_ends_overlap_beyond_window)
{
	struct sroce_rtt rtt = start_at_default_window();
	struct sroce_cc *cc = &s.r.cc;

	sample_rtt(&rtt, 1, 1000);
	acked_without_loss(cc, 2 * SROCE_RARE_LOSS);
	CHECK(cc->overlap > 512);
	sroce_cc_lost(cc, cc->window, true);
	CHECK(cc->overlap <= 512);
	cc->window = 512;
	cc->overlap = 512;
	acked_without_loss(cc, 4 * SROCE_RARE_LOSS - 64);
	EQUAL(cc->overlap, 512);
	acked_without_loss(cc, 64);
	EQUAL(cc->overlap, 516);
	sroce_cc_marked(cc, 516);
	EQUAL(cc->overlap, 512);
}

/* On a slow link they would only wait in its queue. */
TEST(requester, reads_do_not_overlap_beyond_window_on_slow_link)
{
	struct sroce_rtt rtt = start_at_default_window();
	struct sroce_cc *cc = &s.r.cc;
	u32 i;

	sample_rtt(&rtt, 1, 1000);
	for (i = 0; i < 20; i++)
		CHECK(!sample_rtt(&rtt, 1, 10));
	CHECK(rtt.smooth > 20 * 1000000);
	acked_without_loss(cc, 2 * SROCE_RARE_LOSS);
	EQUAL(cc->overlap, 512);
}

TEST(requester, posted_reads_fill_read_window)
{
	u32 i;

	sender_init(&s, 0);
	set_window(64);
	s.r.max_reads = 16;
	s.r.cc.overlap = 96;
	for (i = 0; i < 10; i++)
		post(&s, SROCE_OP_READ, 16 * MTU);
	EQUAL(send_all(&s), SROCE_NEXT_WINDOW);
	EQUAL(s.r.reads, 6);
}

static void start_at_known_path(void)
{
	start_at_default_window();
	s.r.max_reads = 16;
	s.r.cc.rate = 1;
}

/* Post @n READs, of which @started fill the window. */
static void post_reads(u32 n, u32 packets, u32 started)
{
	while (n--)
		post(&s, SROCE_OP_READ, packets * MTU);
	EQUAL(send_all(&s), SROCE_NEXT_WINDOW);
	EQUAL(s.r.reads, started);
}

/* Their requests share a burst, and so do the ends of their responses. */
TEST(requester, reads_of_near_peer_start_in_groups)
{
	start_at_known_path();
	post_reads(12, 64, 8);
	EQUAL(acknowledge(&s, 64), 1);
	expect_next(SROCE_NEXT_WINDOW);
	acknowledge(&s, 127);
	expect_next(SROCE_NEXT_WINDOW);
	EQUAL(acknowledge(&s, 128), 1);
	EQUAL(send_all(&s), SROCE_NEXT_WINDOW);
	EQUAL(s.r.reads, 8);
}

/* The overlap would be too short in between. */
TEST(requester, long_reads_large_bdps_and_losses_need_no_groups)
{
	start_at_known_path();
	post_reads(9, 65, 8);
	EQUAL(acknowledge(&s, 65), 1);
	EQUAL(send_all(&s), SROCE_NEXT_NOTHING);

	start_at_known_path();
	s.r.cc.bdp = 400;
	post_reads(9, 64, 8);
	EQUAL(acknowledge(&s, 64), 1);
	EQUAL(send_all(&s), SROCE_NEXT_NOTHING);

	start_at_known_path();
	s.r.cc.overlap = 500;
	post_reads(10, 60, 9);
	EQUAL(acknowledge(&s, 60), 1);
	EQUAL(send_all(&s), SROCE_NEXT_NOTHING);
}

/* While requests are repeated, those behind them do not wait for others. */
TEST(requester, group_of_reads_does_not_delay_repair)
{
	start_at_known_path();
	post_reads(12, 64, 8);
	acknowledge(&s, 10);
	sroce_requester_rewind(&s.r);
	EQUAL(send_all(&s), SROCE_NEXT_WINDOW);
	EQUAL(s.r.sent, 512);
	EQUAL(s.r.psn, 512);
}

TEST(requester, window_grows_with_distance)
{
	struct sroce_rtt rtt = start_at_default_window();

	CHECK(sample_rtt(&rtt, 20, 1000));
	EQUAL(s.r.cc.window, 1024);
	sample_rtt(&rtt, 20, 1000);
	EQUAL(s.r.cc.window, 2000);
	sample_rtt(&rtt, 20, 1000);
	EQUAL(s.r.cc.window, 2000);
	EQUAL(s.r.cc.max_window, 2000);
}

TEST(requester, window_is_limited)
{
	struct sroce_rtt rtt = start_at_default_window();
	u32 i;

	for (i = 0; i < 10; i++)
		sample_rtt(&rtt, 900, 1000);
	EQUAL(s.r.cc.window, 8192);
}

TEST(requester, window_does_not_grow_into_queue)
{
	struct sroce_rtt rtt = start_at_default_window();
	u32 i;

	for (i = 0; i < 10; i++) {
		sample_rtt(&rtt, 40, 15);
		CHECK(s.r.cc.window <= 1300);
	}
	CHECK(s.r.cc.window >= 1100);
	/* Other traffic uses most of the path. */
	for (i = 0; i < 10; i++)
		sample_rtt(&rtt, 40, 5);
	EQUAL(s.r.cc.window, 512);
}

/* After losses the window may be smaller than the bandwidth-delay product. */
TEST(requester, small_window_does_not_reduce_bdp)
{
	struct sroce_rtt rtt = start_at_default_window();

	sample_rtt(&rtt, 20, 1000);
	sample_rtt(&rtt, 20, 1000);
	EQUAL(s.r.cc.bdp, 1024);
	s.r.cc.window = 200;
	sample_rtt(&rtt, 20, 1000);
	EQUAL(s.r.cc.bdp, 1024);
	/* With queueing delay it does. */
	sample_rtt(&rtt, 20, 5);
	EQUAL(s.r.cc.bdp, 793);
}

TEST(requester, sample_of_small_flight_keeps_window)
{
	struct sroce_rtt rtt = start_at_default_window();

	sample_rtt(&rtt, 20, 1000);
	sroce_rtt_add(&rtt, 100000000);
	sroce_cc_rtt(&s.r.cc, &rtt, 512);
	CHECK(s.r.cc.distant);
	EQUAL(s.r.cc.window, 1024);
}

TEST(requester, rtt_sample_keeps_reduced_window)
{
	struct sroce_rtt rtt = start_at_default_window();

	sample_rtt(&rtt, 20, 1000);
	s.r.cc.window = 700;
	sample_rtt(&rtt, 20, 1000);
	EQUAL(s.r.cc.window, 700);
	EQUAL(s.r.cc.max_window, 1400);
}

TEST(requester, short_rtt_restores_default_window)
{
	struct sroce_rtt rtt = start_at_default_window();

	sample_rtt(&rtt, 20, 1000);
	sample_rtt(&rtt, 20, 1000);
	EQUAL(s.r.cc.window, 2000);
	s.r.cc.overlap = 2000;
	CHECK(!sample_rtt(&rtt, 1, 100000));
	EQUAL(s.r.cc.window, 512);
	EQUAL(sroce_cc_read_window(&s.r.cc), 512);
}

/* READs of a distant peer do not exceed a window that has become smaller. */
TEST(requester, distant_reads_keep_within_window)
{
	struct sroce_rtt rtt = start_at_default_window();

	CHECK(sample_rtt(&rtt, 20, 1000));
	s.r.cc.overlap = 4000;
	EQUAL(sroce_cc_read_window(&s.r.cc), s.r.cc.window);
}

TEST(requester, loss_keeps_window_of_one)
{
	sender_init(&s, 0);
	set_window(1);
	post(&s, SROCE_OP_SEND, 5 * MTU);
	send_all(&s);
	report_loss(0);
	EQUAL(s.r.cc.window, 1);
	acknowledge(&s, 0);
	EQUAL(send_all(&s), SROCE_NEXT_WINDOW);
}

TEST(requester, send_does_not_wait_for_read_responses)
{
	u32 i;

	sender_init(&s, 0);
	set_window(40);
	post(&s, SROCE_OP_READ, 100 * MTU);
	post(&s, SROCE_OP_SEND, 50 * MTU);
	EQUAL(send_all(&s), SROCE_NEXT_WINDOW);
	EQUAL(s.r.sent, 140);
	/* The arrival of responses does not open the window. */
	for (i = 1; i <= 100; i++) {
		acknowledge(&s, i);
		expect_next(SROCE_NEXT_WINDOW);
	}
	acknowledge(&s, 101);
	EQUAL(send_all(&s), SROCE_NEXT_WINDOW);
	EQUAL(s.r.sent, 141);
}

TEST(requester, read_waits_for_earlier_responses)
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
	expect_next(SROCE_NEXT_WINDOW);
	acknowledge(&s, 21);
	EQUAL(send_all(&s), SROCE_NEXT_NOTHING);
	EQUAL(s.r.sent, 90);
}

static void reduce_window(u32 window)
{
	s.r.cc.window = window;
	s.r.cc.max_window = 64;
	s.r.cc.acked = 0;
}

/* The next packet requests @packets of the READ, from PSN @at on; send it. */
#define SEND_READ(at, packets) do {						\
	SEND(&s, SROCE_READ_REQUEST, at);				\
	EQUAL(s.out.pkt.va, 0x10000 + (at) * MTU);			\
	EQUAL(s.out.pkt.dma_len, (packets) * MTU);			\
} while (0)

TEST(requester, reduced_window_splits_read)
{
	sender_init(&s, 0);
	reduce_window(4);
	post(&s, SROCE_OP_READ, 10 * MTU);
	SEND_READ(0, 4);
	acknowledge(&s, 1);
	/* The window has no room for a burst. */
	expect_next(SROCE_NEXT_WINDOW);
	acknowledge(&s, 2);
	SEND_READ(4, 2);
	acknowledge(&s, 4);
	/* The window has grown by one. */
	SEND_READ(6, 3);
	EQUAL(acknowledge(&s, 9), 0);
	SEND_READ(9, 1);
	EQUAL(acknowledge(&s, 10), 1);
	expect_next(SROCE_NEXT_NOTHING);
	EQUAL(s.r.reads, 0);
	EQUAL(s.r.read_packets, 0);
}

TEST(requester, rewound_read_part_waits_for_previous_part)
{
	sender_init(&s, 0);
	s.r.max_reads = 16;
	post(&s, SROCE_OP_READ, 40 * MTU);
	SEND_READ(0, 40);
	s.r.cc.window = 8;
	sroce_requester_rewind(&s.r);
	SEND_READ(0, 8);
	acknowledge(&s, 6);
	expect_next(SROCE_NEXT_WINDOW);
	acknowledge(&s, 8);
	SEND_READ(8, 9);
}

TEST(requester, read_part_uses_responder_resource)
{
	sender_init(&s, 0);
	reduce_window(8);
	s.r.max_reads = 1;
	post(&s, SROCE_OP_READ, 20 * MTU);
	SEND_READ(0, 8);
	acknowledge(&s, 7);
	expect_next(SROCE_NEXT_WINDOW);
	acknowledge(&s, 8);
	s.r.max_reads = 2;
	s.r.cc.window = 8;
	SEND_READ(8, 8);
	acknowledge(&s, 12);
	s.r.cc.window = 8;
	SEND_READ(16, 4);
	/* The READ has two requests outstanding. */
	s.r.cc.window = 16;
	post(&s, SROCE_OP_READ, MTU);
	post(&s, SROCE_OP_FETCH_ADD, 8);
	expect_next(SROCE_NEXT_READS);
	acknowledge(&s, 16);
	SEND(&s, SROCE_READ_REQUEST, 20);
	expect_next(SROCE_NEXT_READS);
}

TEST(requester, long_read_is_split)
{
	sender_init(&s, 0);
	post(&s, SROCE_OP_READ, 600 * MTU);
	SEND_READ(0, 256);
	acknowledge(&s, 255);
	expect_next(SROCE_NEXT_WINDOW);
	acknowledge(&s, 256);
	SEND_READ(256, 256);
	acknowledge(&s, 512);
	SEND_READ(512, 88);
	EQUAL(acknowledge(&s, 600), 1);
	expect_next(SROCE_NEXT_NOTHING);
}

TEST(requester, reads_share_reduced_window)
{
	sender_init(&s, 0);
	reduce_window(8);
	post(&s, SROCE_OP_READ, 3 * MTU);
	post(&s, SROCE_OP_READ, 10 * MTU);
	SEND(&s, SROCE_READ_REQUEST, 0);
	EQUAL(s.out.pkt.dma_len, 3 * MTU);
	SEND(&s, SROCE_READ_REQUEST, 3);
	EQUAL(s.out.pkt.dma_len, 5 * MTU);
	expect_next(SROCE_NEXT_WINDOW);
	acknowledge(&s, 4);
	SEND(&s, SROCE_READ_REQUEST, 8);
	EQUAL(s.out.pkt.dma_len, 4 * MTU);
	EQUAL(s.out.pkt.va, 0x10000 + 5 * MTU);
}

TEST(requester, rewound_read_part_keeps_its_end)
{
	sender_init(&s, 0);
	reduce_window(16);
	post(&s, SROCE_OP_READ, 100 * MTU);
	SEND_READ(0, 16);
	acknowledge(&s, 3);
	reduce_window(4);
	sroce_requester_rewind(&s.r);
	SEND_READ(3, 4);
	acknowledge(&s, 7);
	reduce_window(4);
	SEND_READ(7, 4);
	acknowledge(&s, 9);
	reduce_window(60);
	sroce_requester_rewind(&s.r);
	SEND_READ(9, 2);
	acknowledge(&s, 11);
	SEND_READ(11, 5);
	acknowledge(&s, 16);
	reduce_window(64);
	SEND_READ(16, 84);
	EQUAL(acknowledge(&s, 100), 1);
}

TEST(requester, number_of_read_parts_is_limited)
{
	u32 window = 60;
	u32 i;

	sender_init(&s, 0);
	post(&s, SROCE_OP_READ, 100 * MTU);
	SEND_READ(0, 100);
	for (i = 0; i < SROCE_PARTS; i++) {
		reduce_window(--window);
		sroce_requester_rewind(&s.r);
		SEND_READ(0, window);
	}
	reduce_window(2);
	sroce_requester_rewind(&s.r);
	SEND_READ(0, window);
	acknowledge(&s, window);
	SEND_READ(window, 1);
}

TEST(requester, lost_read_response_reduces_window)
{
	sender_init(&s, 0);
	post(&s, SROCE_OP_READ, 200 * MTU);
	SEND_READ(0, 200);
	report_loss(10);
	EQUAL(s.r.cc.window, 48);
	SEND_READ(10, 48);
	report_loss(50);
	EQUAL(s.r.cc.window, 37);
	SEND_READ(50, 8);
	expect_next(SROCE_NEXT_WINDOW);
	acknowledge(&s, 58);
	SEND_READ(58, 37);
}

TEST(requester, max_rd_atomic_limits_reads_and_atomics)
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

/* The outstanding READ completes in SQD; then max_rd_atomic is set to 0. */
TEST(requester, read_fails_when_max_rd_atomic_becomes_zero)
{
	sender_init(&s, 0);
	s.r.max_reads = 1;
	post(&s, SROCE_OP_READ, MTU);
	post(&s, SROCE_OP_READ, MTU);
	EQUAL(send_all(&s), SROCE_NEXT_READS);
	s.r.drain = true;
	EQUAL(acknowledge(&s, 1), 1);
	s.r.max_reads = 0;
	expect_next(SROCE_NEXT_HOLD);
	s.r.drain = false;
	expect_next(SROCE_NEXT_FAULT);
	EQUAL(sroce_inflight_wr(&s.r.in, s.r.in.next)->status,
	      SROCE_LOC_QP_OP_ERR);
}

/* The QP is in SQD; a READ that has started goes on. */
TEST(requester, distant_read_is_repeated_when_max_rd_atomic_becomes_zero)
{
	sender_init(&s, 0);
	s.r.cc.distant = true;
	post(&s, SROCE_OP_READ, 2 * MTU);
	EQUAL(send_all(&s), SROCE_NEXT_NOTHING);
	s.r.drain = true;
	s.r.max_reads = 0;
	sroce_requester_rewind(&s.r);
	SEND(&s, SROCE_READ_REQUEST, 0);
}

TEST(requester, read_ahead_of_rewind_does_not_open_window)
{
	u32 i;

	sender_init(&s, 0);
	for (i = 0; i < 4; i++)
		post(&s, SROCE_OP_SEND, 1);
	post(&s, SROCE_OP_READ, 10 * MTU);
	EQUAL(send_all(&s), SROCE_NEXT_NOTHING);
	CHECK(sroce_completer_rnr(&s.r));
	s.r.rnr_wait = false;
	SEND(&s, SROCE_SEND_ONLY, 0);
	expect_next(SROCE_NEXT_WINDOW);
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
	expect_next(SROCE_NEXT_FENCE);
	EQUAL(acknowledge(&s, 3), 1);
	EQUAL(send_all(&s), SROCE_NEXT_NOTHING);
}

TEST(requester, drain_continues_started_request)
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
	expect_next(SROCE_NEXT_HOLD);
	CHECK(!sroce_requester_waits(&s.r));
	s.r.drain = false;
	SEND(&s, SROCE_SEND_ONLY, 2);
}

TEST(requester, rewind_restarts_at_oldest_unacked_packet)
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

TEST(requester, packets_after_rewind_are_marked_as_resent)
{
	u32 i;

	sender_init(&s, 0xfffffe);
	for (i = 0; i < 3; i++) {
		post(&s, SROCE_OP_SEND, 1);
		expect_next(SROCE_NEXT_PACKET);
		CHECK(!sroce_requester_again(&s.r, &s.out));
		send_all(&s);
	}
	post(&s, SROCE_OP_SEND, 2 * MTU);
	acknowledge(&s, 0xffffff);
	sroce_requester_rewind(&s.r);
	for (i = 0; i < 4; i++) {
		expect_next(SROCE_NEXT_PACKET);
		EQUAL(sroce_requester_again(&s.r, &s.out), i < 2);
		sroce_requester_sent(&s.r, &s.out);
	}
	expect_next(SROCE_NEXT_NOTHING);
}

/* The response to packets sent before a rewind arrives after it. */
TEST(requester, ack_after_rewind_skips_acked_packets)
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

TEST(requester, psn_window_is_half_psn_space)
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
	/* The READ is identified by its first PSN until its response is complete. */
	acknowledge(&s, 0xabcdef + 1);
	EQUAL(send_all(&s), SROCE_NEXT_WINDOW);
	EQUAL(s.r.reads, 1);
	EQUAL(acknowledge(&s, 0xabcdef + (1 << 22)), 1);
	EQUAL(send_all(&s), SROCE_NEXT_NOTHING);
}

TEST(requester, rnr_wait_stops_sending)
{
	sender_init(&s, 0);
	post(&s, SROCE_OP_SEND, 1);
	s.r.rnr_wait = true;
	expect_next(SROCE_NEXT_RNR);
	s.r.rnr_wait = false;
	SEND(&s, SROCE_SEND_ONLY, 0);
}

TEST(requester, request_is_not_finished_before_ack)
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

TEST(requester, requests_before_fault_complete)
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
	expect_next(SROCE_NEXT_FAULT);
	EQUAL(s.r.in.head, s.r.in.next);
	s.r.drain = true;
	expect_next(SROCE_NEXT_HOLD);
}

TEST(requester, unstarted_request_can_be_flushed)
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

TEST(requester, resume_sends_from_given_psn)
{
	u32 at;

	for (at = 0; at <= 5; at++) {
		sender_init(&s, 0xfffffd);
		post(&s, SROCE_OP_SEND, 2 * MTU);
		post(&s, SROCE_OP_READ, 2 * MTU);
		post(&s, SROCE_OP_SEND, 1);
		send_all(&s);
		/* A READ request is a single packet. */
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

/* The second message starts before the first one is retired. */
TEST(requester, uc_sends_longest_messages_back_to_back)
{
	sender_init(&s, 7);
	s.r.transport = SROCE_UC;
	s.r.mtu = 256;
	post(&s, SROCE_OP_WRITE, SROCE_MAX_PACKETS * 256);
	EQUAL(send_all(&s), SROCE_NEXT_NOTHING);
	post(&s, SROCE_OP_WRITE, SROCE_MAX_PACKETS * 256);
	SEND(&s, SROCE_WRITE_FIRST, 7 + SROCE_MAX_PACKETS);
}

/* The next request must not continue at the packet of the failed one: its SGL may be shorter. */
TEST(requester, request_after_partly_sent_failure_starts_at_first_packet)
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

TEST(requester, local_request_keeps_order_and_has_no_packet)
{
	sender_init(&s, 10);
	post(&s, SROCE_OP_SEND, 1);
	post_local(SROCE_OP_BIND_MW);
	post(&s, SROCE_OP_SEND, 1);
	SEND(&s, SROCE_SEND_ONLY, 10);
	expect_next(SROCE_NEXT_LOCAL);
	CHECK(!s.out.wr->started);
	sroce_requester_done(&s.r);
	SEND(&s, SROCE_SEND_ONLY, 11);
	/* It also completes in order. */
	EQUAL(complete(&s), 0);
	sroce_requester_acknowledge(&s.r, 11);
	EQUAL(complete(&s), 2);
	sroce_requester_acknowledge(&s.r, 12);
	EQUAL(complete(&s), 1);
}

static u32 do_local_requests(void)
{
	u32 n = 0;

	while (sroce_requester_next(&s.r, &s.out) == SROCE_NEXT_LOCAL) {
		sroce_requester_done(&s.r);
		n++;
	}
	return n;
}

/* All of them complete at once, when the outstanding request before them does. */
TEST(requester, local_requests_behind_outstanding_are_limited)
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
	n = do_local_requests();
	CHECK(n > 500 && n < 2000);
	expect_next(SROCE_NEXT_WINDOW);
	sroce_requester_acknowledge(&s.r, 11);
	EQUAL(complete(&s), 1 + n);
	/* Without an outstanding request there is no limit. */
	EQUAL(do_local_requests(), 4000 - n);
	expect_next(SROCE_NEXT_NOTHING);
	EQUAL(complete(&s), 4000 - n);
}

/* @before: how many of the requests before it may use the key */
static void post_local_inv(u32 before)
{
	post(&s, SROCE_OP_LOCAL_INV, 0)->packets = 0;
	sroce_inflight_wr(&s.r.in, s.r.in.tail - 1)->key_end = s.r.in.head + before;
}

TEST(requester, local_inv_waits_for_earlier_users_of_key)
{
	sender_init(&s, 10);
	post(&s, SROCE_OP_WRITE, 2 * MTU);
	post(&s, SROCE_OP_SEND, 1);
	post_local_inv(1);
	SEND(&s, SROCE_WRITE_FIRST, 10);
	SEND(&s, SROCE_WRITE_LAST, 11);
	SEND(&s, SROCE_SEND_ONLY, 12);
	expect_next(SROCE_NEXT_KEY);
	sroce_requester_acknowledge(&s.r, 11);
	EQUAL(complete(&s), 0);
	expect_next(SROCE_NEXT_KEY);
	sroce_requester_acknowledge(&s.r, 12);
	EQUAL(complete(&s), 1);
	expect_next(SROCE_NEXT_LOCAL);
	sroce_requester_done(&s.r);
	EQUAL(complete(&s), 0);
	sroce_requester_acknowledge(&s.r, 13);
	EQUAL(complete(&s), 2);
}

TEST(requester, local_inv_waits_for_no_other_request)
{
	sender_init(&s, 10);
	post(&s, SROCE_OP_SEND, 1);
	post_local_inv(0);
	post(&s, SROCE_OP_SEND, 1);
	SEND(&s, SROCE_SEND_ONLY, 10);
	expect_next(SROCE_NEXT_LOCAL);
	sroce_requester_done(&s.r);
	SEND(&s, SROCE_SEND_ONLY, 11);
}

TEST(requester, rewound_local_request_is_marked_as_started)
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
	expect_next(SROCE_NEXT_LOCAL);
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
 * Local requests use no PSN, so a thousand of them may follow a lost request.  A
 * rewind must not access their pages of the ring.
 */
#define RING_ENTRIES		1024

static struct sroce_wr *large_ring(void)
{
	void *ring = mmap(NULL, RING_ENTRIES * sizeof(struct sroce_wr),
			  PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	CHECK(ring != MAP_FAILED);
	s.r.in.wrs = ring;
	s.r.in.mask = RING_ENTRIES - 1;
	s.r.in.head = 0;
	s.r.in.next = 0;
	s.r.in.tail = 0;
	return ring;
}

/* Set the access to all pages except the first, which has the oldest request. */
static void set_access(struct sroce_wr *ring, int access)
{
	size_t page = sysconf(_SC_PAGESIZE);

	EQUAL(mprotect((char *)ring + page, RING_ENTRIES * sizeof(*ring) - page,
		       access), 0);
}

static void on_access(int sig)
{
	(void)sig;
	CHECK(!"the rewind accessed a local request");
}

/* The first access ends the test. */
static void guarded_rewind(struct sroce_wr *ring)
{
	struct sigaction guard = {
		.sa_handler = on_access,
		.sa_flags = SA_NODEFER | SA_RESETHAND,
	};
	struct sigaction before;

	EQUAL(sigaction(SIGSEGV, &guard, &before), 0);
	set_access(ring, PROT_NONE);
	sroce_requester_rewind(&s.r);
	set_access(ring, PROT_READ | PROT_WRITE);
	EQUAL(sigaction(SIGSEGV, &before, NULL), 0);
}

TEST(requester, rewind_does_not_access_local_requests)
{
	struct sroce_wr *ring;
	u32 i;

	sender_init(&s, 10);
	ring = large_ring();
	post(&s, SROCE_OP_SEND, 1);
	SEND(&s, SROCE_SEND_ONLY, 10);
	for (i = 1; i < RING_ENTRIES; i++) {
		post_local(SROCE_OP_BIND_MW);
		expect_next(SROCE_NEXT_LOCAL);
		sroce_requester_done(&s.r);
	}
	guarded_rewind(ring);
	SEND(&s, SROCE_SEND_ONLY, 10);
	guarded_rewind(ring);
	EQUAL(s.r.in.next, 0);
	EQUAL(acknowledge(&s, 11), RING_ENTRIES);
	munmap(ring, RING_ENTRIES * sizeof(*ring));
}

TEST(requester, local_request_obeys_fence_and_drain)
{
	sender_init(&s, 10);
	post(&s, SROCE_OP_READ, 1);
	post_local(SROCE_OP_BIND_MW);
	s.wrs[(s.r.in.tail - 1) & s.r.in.mask].flags = SROCE_FENCE;
	SEND(&s, SROCE_READ_REQUEST, 10);
	expect_next(SROCE_NEXT_FENCE);
	sroce_requester_acknowledge(&s.r, 11);
	EQUAL(complete(&s), 1);
	s.r.drain = true;
	expect_next(SROCE_NEXT_HOLD);
	s.r.drain = false;
	expect_next(SROCE_NEXT_LOCAL);
}
