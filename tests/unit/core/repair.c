// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Retransmission of missing packets only (core/recovery.c, core/completer.c). */
#include "sender.h"

static struct sender s;

#define NAK SROCE_NAK_SEQUENCE
#define ACK SROCE_ACK_CREDITS_INVALID

static enum sroce_ack_verdict handle_response(struct sroce_pkt pkt)
{
	struct sroce_ack_result a;
	enum sroce_ack_verdict verdict;

	verdict = sroce_completer_check(&s.r, &pkt, &a);
	if (verdict == SROCE_RESP_IGNORE)
		return verdict;
	sroce_completer_acknowledge(&s.r, verdict, &a);
	complete(&s);
	if (verdict == SROCE_RESP_DATA)
		acknowledge(&s, a.psn);
	if (verdict == SROCE_RESP_REPAIR)
		CHECK(sroce_completer_repair(&s.r));
	if (verdict == SROCE_RESP_ASK)
		sroce_completer_ask(&s.r, true);
	if (verdict == SROCE_RESP_AHEAD && sroce_requester_ahead(&s.r, pkt.psn))
		sroce_completer_ask(&s.r, false);
	return verdict;
}

/* Send a message of @packets to a peer of kind @peer. */
static void send_message(u32 packets, enum sroce_peer peer)
{
	sender_init(&s, 0);
	sroce_cc_init(&s.r.cc, 512);
	s.r.cc.rate = 1;
	s.r.repair.peer = peer;
	post(&s, SROCE_OP_WRITE, packets * MTU);
	send_all(&s);
	EQUAL(s.r.sent, packets);
}

static void expect_stop(enum sroce_next verdict)
{
	EQUAL(sroce_requester_next(&s.r, &s.out), verdict);
}

TEST(repair, nak_repeats_one_packet)
{
	send_message(20, SROCE_PEER_HOLDS);
	EQUAL(handle_response(ack(5, NAK)), SROCE_RESP_REPAIR);
	SEND(&s, SROCE_WRITE_MIDDLE, 5);
	expect_stop(SROCE_NEXT_NOTHING);
	EQUAL(handle_response(ack(19, ACK)), SROCE_RESP_ACK);
	EQUAL(s.r.in.head, s.r.in.tail);
}

TEST(repair, new_request_follows_repair)
{
	send_message(20, SROCE_PEER_HOLDS);
	handle_response(ack(5, NAK));
	post(&s, SROCE_OP_SEND, MTU);
	SEND(&s, SROCE_WRITE_MIDDLE, 5);
	SEND(&s, SROCE_SEND_ONLY, 20);
}

TEST(repair, new_request_waits_for_unknown_peer)
{
	send_message(20, SROCE_PEER_UNKNOWN);
	handle_response(ack(5, NAK));
	post(&s, SROCE_OP_SEND, MTU);
	SEND(&s, SROCE_WRITE_MIDDLE, 5);
	expect_stop(SROCE_NEXT_WINDOW);
	EQUAL(handle_response(ack(9, ACK)), SROCE_RESP_ACK);
	EQUAL(s.r.repair.peer, SROCE_PEER_HOLDS);
	SEND(&s, SROCE_SEND_ONLY, 20);
}

TEST(repair, peer_that_drops_gets_later_packets_again)
{
	u32 psn;

	send_message(20, SROCE_PEER_UNKNOWN);
	handle_response(ack(5, NAK));
	SEND(&s, SROCE_WRITE_MIDDLE, 5);
	EQUAL(handle_response(ack(5, ACK)), SROCE_RESP_ACK);
	EQUAL(s.r.repair.peer, SROCE_PEER_DROPS);
	for (psn = 6; psn < 19; psn++)
		SEND(&s, SROCE_WRITE_MIDDLE, psn);
	SEND(&s, SROCE_WRITE_LAST, 19);
	/* The peer is known from then on. */
	handle_response(ack(8, NAK));
	SEND(&s, SROCE_WRITE_MIDDLE, 8);
	SEND(&s, SROCE_WRITE_MIDDLE, 9);
}

/* A NAK of @psn makes the requester repeat the packets before @end. */
static void expect_repair(u32 psn, u32 end)
{
	handle_response(ack(psn, NAK));
	EQUAL(s.r.repair.end, end);
	send_all(&s);
}

TEST(repair, repair_doubles_while_losses_are_dense)
{
	send_message(40, SROCE_PEER_HOLDS);
	expect_repair(5, 6);
	expect_repair(6, 8);
	expect_repair(8, 12);
	/* A loss that is not part of the run is repaired with one packet. */
	expect_repair(20, 21);
}

/* A queue that overflows loses every other packet, and each round trip is long. */
TEST(repair, repair_grows_faster_if_peer_is_distant)
{
	send_message(200, SROCE_PEER_HOLDS);
	s.r.cc.distant = true;
	s.r.cc.bdp = 80;
	expect_repair(5, 6);
	expect_repair(7, 11);
	expect_repair(12, 28);
	/* A quarter of the BDP */
	expect_repair(29, 49);
}

TEST(repair, peer_that_starts_to_drop_is_detected)
{
	u32 psn = 5;

	send_message(200, SROCE_PEER_HOLDS);
	do {
		handle_response(ack(psn, NAK));
		send_all(&s);
		psn = s.r.repair.repeated;
	} while (!s.r.repair.waits);
	handle_response(ack(psn - 1, ACK));
	EQUAL(s.r.repair.peer, SROCE_PEER_DROPS);
}

/* The peer has packets behind the gap, so it was the response that was lost or late. */
TEST(repair, nak_after_probe_is_one_loss)
{
	send_message(200, SROCE_PEER_HOLDS);
	sroce_requester_probed(&s.r);
	handle_response(ack(1, NAK));
	EQUAL(s.r.repair.losses, 1);
	EQUAL(s.r.cc.window, 512 / 2 - 1);
	SEND(&s, SROCE_WRITE_MIDDLE, 1);
	expect_stop(SROCE_NEXT_NOTHING);
}

/* Losses are frequent with a distant peer, but a loss rate of one half is congestion. */
TEST(repair, loss_of_most_of_flight_is_congestion)
{
	struct sroce_cc cc;

	sroce_cc_init(&cc, 1000);
	cc.distant = true;
	cc.window = 64;
	CHECK(sroce_cc_lost_many(&cc, 20, 64));
	EQUAL(cc.window, 64);
	CHECK(sroce_cc_lost_many(&cc, 40, 64));
	EQUAL(cc.window, 32);
}

/* A loss is no congestion if no queue is filled, and then the window soon grows again. */
TEST(repair, loss_without_queue_leaves_window)
{
	struct sroce_rtt rtt = { .smooth = 1200000, .least = 1000000, .last = 1000000 };
	struct sroce_cc cc;

	sroce_cc_init(&cc, 512);
	cc.window = 100;
	cc.since_cut = 4000;
	sroce_cc_rtt(&cc, &rtt, 90);
	CHECK(cc.unloaded);
	EQUAL(cc.bdp, 90);
	sroce_cc_lost(&cc, 100, false);
	EQUAL(cc.window, 100);
	/* First by one in a round trip, without losses by more. */
	sroce_cc_acked(&cc, 200);
	EQUAL(cc.window, 102);
	sroce_cc_acked(&cc, 200);
	sroce_cc_acked(&cc, 160);
	CHECK(cc.window > 110);
	/* The queue counts that the last flight has met, not the one that a repair meets. */
	rtt.last = 1600000;
	sroce_cc_rtt(&cc, &rtt, 0);
	CHECK(cc.unloaded);
	sroce_cc_rtt(&cc, &rtt, 144);
	CHECK(!cc.unloaded);
	/* With pacing it is the queue of all flows, and a loss reduces the window by a quarter. */
	CHECK(cc.paced);
	sroce_cc_lost(&cc, 100, false);
	EQUAL(cc.window, 75);
}

/* Bursts that are not paced make a queue themselves: the BDP is kept. */
TEST(repair, loss_without_pacing_leaves_bdp)
{
	struct sroce_rtt rtt = { .smooth = 900000, .least = 500000, .last = 800000 };
	struct sroce_cc cc;

	sroce_cc_init(&cc, 512);
	cc.window = 300;
	sroce_cc_rtt(&cc, &rtt, 290);
	CHECK(!cc.paced);
	EQUAL(cc.bdp, 181);
	cc.since_loss = 4000;
	sroce_cc_lost(&cc, 290, false);
	EQUAL(cc.window, 181);
}

/* Send a long message, limited by @window, to a peer that holds packets. */
static void send_stream(u32 window)
{
	sender_init(&s, 0);
	sroce_cc_init(&s.r.cc, window);
	s.r.cc.rate = 1;
	s.r.repair.peer = SROCE_PEER_HOLDS;
	post(&s, SROCE_OP_WRITE, 4000 * MTU);
	send_all(&s);
}

/* Lose a packet after @packets without a loss, with a window of @window packets. */
static void lose_after(u32 window, u32 packets)
{
	s.r.cc.window = window;
	send_all(&s);
	acknowledge(&s, s.r.una + packets);
	s.r.cc.window = window;
	send_all(&s);
	handle_response(ack(s.r.una, NAK));
}

/* A short queue loses packets only when the window exceeds it. */
TEST(repair, loss_after_windows_without_loss_is_congestion)
{
	send_stream(28);
	s.r.cc.max_window = 64;
	handle_response(ack(0, NAK));
	EQUAL(s.r.cc.window, 28);
	lose_after(28, 300);
	EQUAL(s.r.cc.window, 21);
	lose_after(21, 21);
	EQUAL(s.r.cc.window, 21);
}

TEST(repair, single_loss_halves_large_window)
{
	send_stream(512);
	handle_response(ack(5, NAK));
	EQUAL(s.r.cc.window, 256 - 1);
	/* Further losses in the same round trip do not halve the window again. */
	send_all(&s);
	handle_response(ack(50, NAK));
	EQUAL(s.r.cc.window, 258 - 2);
}

/* Other flows may need the path, although no queue is filled. */
TEST(repair, window_grows_slowly_after_congestion)
{
	struct sroce_rtt rtt = { .smooth = 1200000, .least = 1000000, .last = 1000000 };
	struct sroce_cc cc;
	u32 i;

	sroce_cc_init(&cc, 512);
	cc.window = 100;
	sroce_cc_rtt(&cc, &rtt, 90);
	sroce_cc_congested(&cc, 100);
	EQUAL(cc.window, 75);
	for (i = 0; i < 14; i++)
		sroce_cc_acked(&cc, cc.window);
	CHECK(cc.unloaded);
	EQUAL(cc.window, 75 + 14);
	for (i = 0; i < 14; i++)
		sroce_cc_acked(&cc, cc.window);
	CHECK(cc.window > 75 + 2 * 14);
}

/* The path has carried the rest of the flight. */
TEST(repair, window_shrinks_by_lost_packets)
{
	struct sroce_cc cc;

	sroce_cc_init(&cc, 512);
	cc.window = 190;
	sroce_cc_lost_packets(&cc, 25);
	EQUAL(cc.window, 165);
	sroce_cc_lost_packets(&cc, 1000);
	EQUAL(cc.window, 64);
	cc.window = 32;
	sroce_cc_lost_packets(&cc, 1);
	EQUAL(cc.window, 32);
}

/* If the peer drops packets behind a gap, the number of losses does not matter. */
TEST(repair, loss_of_peer_that_drops_takes_a_quarter)
{
	send_stream(512);
	s.r.repair.peer = SROCE_PEER_DROPS;
	sroce_requester_lost(&s.r, 1);
	EQUAL(s.r.cc.window, 512 / 2 * 3 / 4);
}

/* It takes no second quarter if the loss is congestion for other reasons, too. */
TEST(repair, loss_of_peer_that_drops_is_congestion_once)
{
	send_stream(24);
	s.r.repair.peer = SROCE_PEER_DROPS;
	s.r.cc.since_loss = 1000;
	sroce_requester_lost(&s.r, 1);
	EQUAL(s.r.cc.window, 18);
}

TEST(repair, many_losses_in_round_trip_are_congestion)
{
	u32 psn;

	send_stream(64);
	handle_response(ack(0, NAK));
	send_all(&s);
	EQUAL(s.r.cc.window, 64);
	for (psn = 2; psn < 60; psn += 2) {
		handle_response(ack(psn, NAK));
		send_all(&s);
	}
	CHECK(s.r.cc.window < 48);
}

TEST(repair, single_loss_keeps_window_of_distant_peer)
{
	send_stream(512);
	s.r.cc.distant = true;
	s.r.cc.bdp = 400;
	handle_response(ack(5, NAK));
	EQUAL(s.r.cc.window, 512);
	sroce_requester_lost(&s.r, 30);
	EQUAL(s.r.cc.window, 400);
}

TEST(repair, first_loss_on_unknown_path_reduces_window)
{
	send_stream(512);
	s.r.cc.rate = 0;
	handle_response(ack(5, NAK));
	EQUAL(s.r.cc.window, 16);
}

/* Each lost response wastes those behind it, so READs overlap by what the path holds. */
TEST(repair, reads_with_losses_overlap_by_bdp)
{
	struct sroce_cc cc;

	sroce_cc_init(&cc, 512);
	cc.rate = 1;
	cc.bdp = 20;
	sroce_cc_lost(&cc, 400, true);
	EQUAL(cc.overlap, 100);
	sroce_cc_acked(&cc, SROCE_RARE_LOSS - 1);
	EQUAL(cc.overlap, 100);
	sroce_cc_lost(&cc, 400, true);
	sroce_cc_lost(&cc, 400, true);
	EQUAL(cc.overlap, 20);
	cc.bdp = 0;
	sroce_cc_lost(&cc, 400, true);
	EQUAL(cc.overlap, 5);
	sroce_cc_acked(&cc, 160);
	EQUAL(cc.overlap, 15);
	sroce_cc_acked(&cc, 160);
	sroce_cc_acked(&cc, 160);
	EQUAL(cc.overlap, 15);
	/* Losses are rare, or a round trip takes long. */
	cc.paced = true;
	sroce_cc_acked(&cc, 160);
	CHECK(cc.overlap > 15);
	cc.paced = false;
	cc.overlap = 15;
	sroce_cc_acked(&cc, SROCE_RARE_LOSS);
	CHECK(cc.overlap > 100);
}

/* The responses to a request for a large gap are over after a round trip. */
TEST(repair, gap_request_is_paced_like_a_window)
{
	const struct sroce_rtt rtt = { .smooth = 100000000 };
	struct sroce_cc cc;

	sroce_cc_init(&cc, 512);
	EQUAL(sroce_cc_pace(&cc, &rtt, 1400), 0);
	cc.paced = true;
	cc.window = 8;
	EQUAL(sroce_cc_pace(&cc, &rtt, 2), 12500000);
	EQUAL(sroce_cc_pace(&cc, &rtt, 1400), 50000000);
}

/* Two flows that share a queue have different estimates of the BDP. */
TEST(repair, paced_reads_overlap_by_half_of_window)
{
	struct sroce_cc cc;

	sroce_cc_init(&cc, 512);
	cc.rate = 1;
	cc.bdp = 20;
	cc.paced = true;
	cc.window = 80;
	sroce_cc_lost(&cc, 80, true);
	EQUAL(cc.overlap, 20);
	cc.bdp = 60;
	cc.window = 80;
	sroce_cc_lost(&cc, 80, true);
	EQUAL(cc.overlap, 40);
	cc.distant = true;
	sroce_cc_lost(&cc, 80, true);
	EQUAL(cc.overlap, 60);
}

/* Flows that share a queue become equal only if their windows grow by the same. */
TEST(repair, paced_windows_grow_by_one_per_round_trip)
{
	struct sroce_cc cc;

	sroce_cc_init(&cc, 512);
	cc.paced = true;
	cc.window = 100;
	sroce_cc_acked(&cc, 99);
	EQUAL(cc.window, 100);
	sroce_cc_acked(&cc, 1);
	EQUAL(cc.window, 101);
	cc.paced = false;
	sroce_cc_acked(&cc, 101);
	EQUAL(cc.window, 107);
}

TEST(repair, peer_that_drops_is_tested_again)
{
	u32 i;

	send_message(200, SROCE_PEER_DROPS);
	s.r.repair.retest = 2 * SROCE_PEER_RETEST;
	for (i = 0; i < 2 * SROCE_PEER_RETEST - 1; i++) {
		handle_response(ack(i, NAK));
		CHECK(!s.r.repair.active);
		send_all(&s);
	}
	handle_response(ack(i, NAK));
	CHECK(s.r.repair.active && s.r.repair.waits);
	/* The peer still drops packets. */
	send_all(&s);
	handle_response(ack(i, ACK));
	EQUAL(s.r.repair.peer, SROCE_PEER_DROPS);
	EQUAL(s.r.repair.retest, 32 * SROCE_PEER_RETEST);
	/* It has a packet behind the next one: the last judgement was wrong. */
	handle_response(ack(i + 1, NAK));
	EQUAL(s.r.repair.peer, SROCE_PEER_UNKNOWN);
	EQUAL(s.r.repair.retest, 2 * SROCE_PEER_RETEST);
}

static struct sroce_pkt read_response(u32 psn, u32 packets)
{
	return response(psn + 1 == packets ? SROCE_READ_RESPONSE_LAST :
			psn ? SROCE_READ_RESPONSE_MIDDLE :
			      SROCE_READ_RESPONSE_FIRST, psn, MTU);
}

static void send_reads(u32 packets)
{
	sender_init(&s, 0);
	post(&s, SROCE_OP_READ, packets * MTU);
	post(&s, SROCE_OP_READ, MTU);
	send_all(&s);
}

/* The next packet requests @packets from PSN @at on; send it. */
static void expect_read(u32 at, u32 packets)
{
	SEND(&s, SROCE_READ_REQUEST, at);
	EQUAL(s.out.pkt.va, 0x10000 + at * MTU);
	EQUAL(s.out.pkt.dma_len, packets * MTU);
}

TEST(repair, only_gaps_of_read_are_requested_again)
{
	send_reads(20);
	EQUAL(handle_response(read_response(0, 20)), SROCE_RESP_DATA);
	EQUAL(handle_response(read_response(3, 20)), SROCE_RESP_AHEAD);
	EQUAL(handle_response(read_response(5, 20)), SROCE_RESP_AHEAD);
	expect_read(1, 2);
	expect_read(4, 1);
	/* A later READ must not return older data, so it waits. */
	expect_stop(SROCE_NEXT_WINDOW);
	EQUAL(handle_response(read_response(1, 20)), SROCE_RESP_DATA);
	EQUAL(handle_response(read_response(2, 20)), SROCE_RESP_DATA);
	EQUAL(handle_response(read_response(3, 20)), SROCE_RESP_DATA);
	EQUAL(handle_response(read_response(4, 20)), SROCE_RESP_DATA);
	CHECK(!sroce_requester_holds(&s.r));
}

TEST(repair, response_to_later_read_is_dropped)
{
	send_reads(4);
	handle_response(read_response(0, 4));
	handle_response(read_response(2, 4));
	expect_read(1, 1);
	EQUAL(handle_response(read_response(3, 4)), SROCE_RESP_AHEAD);
	EQUAL(handle_response(response(SROCE_READ_RESPONSE_ONLY, 4, MTU)), SROCE_RESP_ASK);
	expect_stop(SROCE_NEXT_WINDOW);
	handle_response(read_response(1, 4));
	handle_response(read_response(2, 4));
	handle_response(read_response(3, 4));
	SEND(&s, SROCE_READ_REQUEST, 4);
	EQUAL(handle_response(response(SROCE_READ_RESPONSE_ONLY, 4, MTU)), SROCE_RESP_DATA);
	EQUAL(s.r.in.head, s.r.in.tail);
}

TEST(repair, missing_end_of_response_is_gap)
{
	send_reads(6);
	handle_response(read_response(0, 6));
	handle_response(read_response(2, 6));
	expect_read(1, 1);
	EQUAL(handle_response(response(SROCE_READ_RESPONSE_ONLY, 6, MTU)), SROCE_RESP_ASK);
	expect_read(3, 3);
	EQUAL(handle_response(response(SROCE_READ_RESPONSE_ONLY, 6, MTU)), SROCE_RESP_ASK);
	expect_stop(SROCE_NEXT_WINDOW);
}

TEST(repair, gaps_beyond_limit_are_not_recorded)
{
	u32 psn;

	send_reads(60);
	handle_response(read_response(0, 60));
	for (psn = 2; psn < 60; psn += 2)
		handle_response(read_response(psn, 60));
	for (psn = 1; psn <= 2 * SROCE_GAPS - 1; psn += 2)
		expect_read(psn, 1);
	expect_stop(SROCE_NEXT_WINDOW);
	EQUAL(s.r.repair.gaps.top, 2 * SROCE_GAPS + 1);
}

TEST(repair, rewind_discards_gaps)
{
	send_reads(20);
	handle_response(read_response(0, 20));
	handle_response(read_response(3, 20));
	CHECK(sroce_requester_holds(&s.r));
	CHECK(sroce_completer_retry(&s.r));
	CHECK(!sroce_requester_holds(&s.r));
	expect_read(1, 19);
}

TEST(repair, repair_refused_by_local_queue_is_repeated)
{
	send_message(20, SROCE_PEER_HOLDS);
	handle_response(ack(5, NAK));
	SEND(&s, SROCE_WRITE_MIDDLE, 5);
	sroce_requester_refused(&s.r, 5);
	SEND(&s, SROCE_WRITE_MIDDLE, 5);
	expect_stop(SROCE_NEXT_NOTHING);
	send_reads(20);
	handle_response(read_response(0, 20));
	handle_response(read_response(3, 20));
	expect_read(1, 2);
	sroce_requester_refused(&s.r, 1);
	expect_read(1, 2);
}

/* To the peer, the next part of a READ is a new request. */
TEST(repair, gap_ends_with_request)
{
	sender_init(&s, 0);
	post(&s, SROCE_OP_READ, 8 * MTU);
	send_all(&s);
	/* The request was lost.  The next one is shorter. */
	s.r.cc.window = 4;
	CHECK(sroce_completer_retry(&s.r));
	expect_read(0, 4);
	handle_response(read_response(0, 8));
	handle_response(read_response(2, 8));
	expect_read(1, 1);
	EQUAL(sroce_requester_gaps_end(&s.r), 4);
	sroce_completer_ask(&s.r, true);
	expect_read(3, 1);
	expect_stop(SROCE_NEXT_WINDOW);
}

/* The READ that has the gap continues in the meantime. */
TEST(repair, later_read_part_does_not_wait_for_gap)
{
	sender_init(&s, 0);
	s.r.cc.window = 8;
	s.r.max_reads = 16;
	post(&s, SROCE_OP_READ, 20 * MTU);
	expect_read(0, 8);
	handle_response(read_response(0, 20));
	handle_response(read_response(2, 20));
	expect_read(1, 1);
	s.r.cc.window = 12;
	expect_read(8, 5);
	handle_response(read_response(1, 20));
	EQUAL(s.r.una, 2);
	CHECK(!sroce_requester_holds(&s.r));
	EQUAL(s.r.psn, 13);
}

/* A READ of ten responses and a SEND have been sent to a peer that holds packets. */
static void send_read_and_send(u8 max_reads)
{
	sender_init(&s, 0);
	s.r.max_reads = max_reads;
	s.r.repair.peer = SROCE_PEER_HOLDS;
	post(&s, SROCE_OP_READ, 10 * MTU);
	post(&s, SROCE_OP_SEND, MTU);
	send_all(&s);
}

/*
 * A repair of several packets has repeated the first part of a READ only, when a response
 * to it is missing.  The peer learns of the next part as usual, and its end is kept.
 */
TEST(repair, gap_comes_before_rest_of_repair)
{
	send_read_and_send(16);
	EQUAL(handle_response(ack(0, NAK)), SROCE_RESP_REPAIR);
	s.r.repair.end = 7;
	s.r.cc.window = 5;
	expect_read(0, 5);
	expect_stop(SROCE_NEXT_WINDOW);
	EQUAL(handle_response(read_response(0, 10)), SROCE_RESP_DATA);
	EQUAL(handle_response(read_response(2, 10)), SROCE_RESP_AHEAD);
	expect_read(1, 1);
	EQUAL(s.r.psn, 5);
	acknowledge(&s, 5);
	expect_read(5, 5);
	SEND(&s, SROCE_SEND_ONLY, 10);
}

/*
 * The request for a READ is lost, and is repeated in parts.  The second part is not sent
 * before the peer has sent the whole first one: max_rd_atomic is 1.
 */
TEST(repair, rest_of_repeated_read_waits_for_first_part)
{
	send_read_and_send(1);
	s.r.cc.window = 8;
	EQUAL(handle_response(ack(0, NAK)), SROCE_RESP_REPAIR);
	expect_read(0, 8);
	expect_stop(SROCE_NEXT_NOTHING);
	handle_response(response(SROCE_READ_RESPONSE_FIRST, 0, MTU));
	handle_response(response(SROCE_READ_RESPONSE_LAST, 7, MTU));
	EQUAL(handle_response(ack(8, NAK)), SROCE_RESP_ASK);
	expect_read(1, 6);
	expect_stop(SROCE_NEXT_WINDOW);
	acknowledge(&s, 8);
	expect_read(8, 2);
	SEND(&s, SROCE_SEND_ONLY, 10);
}

/*
 * Other READs must not return older data than the gap.  Their responses are dropped,
 * and with a distant peer they are requested again behind the last gap.
 */
TEST(repair, later_reads_wait_for_repair)
{
	bool distant;

	for (distant = false; ; distant = true) {
		sender_init(&s, 0);
		s.r.cc.distant = distant;
		s.r.max_reads = 16;
		post(&s, SROCE_OP_READ, 4 * MTU);
		post(&s, SROCE_OP_READ, 4 * MTU);
		expect_read(0, 4);
		SEND(&s, SROCE_READ_REQUEST, 4);
		handle_response(read_response(0, 4));
		handle_response(read_response(2, 4));
		expect_read(1, 1);
		expect_stop(SROCE_NEXT_WINDOW);
		handle_response(read_response(3, 4));
		if (distant)
			break;
		expect_stop(SROCE_NEXT_WINDOW);
	}
	SEND(&s, SROCE_READ_REQUEST, 4);
	EQUAL(s.out.pkt.dma_len, 4 * MTU);
	expect_stop(SROCE_NEXT_NOTHING);
}

/* READ responses are held here; they do not show whether the peer holds packets. */
TEST(repair, held_read_response_does_not_classify_peer)
{
	send_reads(20);
	handle_response(read_response(0, 20));
	handle_response(read_response(3, 20));
	expect_read(1, 2);
	handle_response(read_response(1, 20));
	handle_response(read_response(2, 20));
	handle_response(read_response(3, 20));
	EQUAL(s.r.repair.peer, SROCE_PEER_UNKNOWN);
}

/* @repeated belongs to an old repair, half of the PSN space behind. */
TEST(repair, old_repair_is_ignored)
{
	send_message(20, SROCE_PEER_HOLDS);
	s.r.repair.repeated = 0x10;
	handle_response(ack(19, ACK));
	s.r.psn = 0x900000;
	s.r.una = 0x900000;
	s.r.sent = 0x900000;
	post(&s, SROCE_OP_WRITE, 4 * MTU);
	send_all(&s);
	sroce_requester_refused(&s.r, 0x900001);
	CHECK(!s.r.repair.active);
	SEND(&s, SROCE_WRITE_MIDDLE, 0x900001);
}
