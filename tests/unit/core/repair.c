// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Retransmission of missing packets only (core/requester.c, core/completer.c). */
#include "sender.h"

static struct sender s;

#define NAK SROCE_NAK_SEQUENCE
#define ACK SROCE_ACK_CREDITS_INVALID

static enum sroce_ack_verdict take(struct sroce_pkt pkt)
{
	struct sroce_ack_result a;
	enum sroce_ack_verdict verdict;

	verdict = sroce_completer_check(&s.r, &pkt, &a);
	if (verdict == SROCE_RESP_IGNORE)
		return verdict;
	acknowledge(&s, a.up_to);
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

/* One message of @packets, all sent; peer as said. */
static void sent(u32 packets, enum sroce_peer peer)
{
	sender_init(&s, 0);
	sroce_cc_init(&s.r.cc, 512);
	s.r.cc.rate = 1;
	s.r.repair.peer = peer;
	post(&s, SROCE_OP_WRITE, packets * MTU);
	send_all(&s);
	EQUAL(s.r.sent, packets);
}

static void nothing_more(enum sroce_next why)
{
	EQUAL(sroce_requester_next(&s.r, &s.out), why);
}

TEST(repair, one_packet_is_repeated)
{
	sent(20, SROCE_PEER_HOLDS);
	EQUAL(take(ack(5, NAK)), SROCE_RESP_REPAIR);
	SEND(&s, SROCE_WRITE_MIDDLE, 5);
	nothing_more(SROCE_NEXT_NOTHING);
	EQUAL(take(ack(19, ACK)), SROCE_RESP_ACK);
	EQUAL(s.r.in.head, s.r.in.tail);
}

TEST(repair, new_requests_follow_it)
{
	sent(20, SROCE_PEER_HOLDS);
	take(ack(5, NAK));
	post(&s, SROCE_OP_SEND, MTU);
	SEND(&s, SROCE_WRITE_MIDDLE, 5);
	SEND(&s, SROCE_SEND_ONLY, 20);
}

TEST(repair, nothing_new_until_the_peer_is_known)
{
	sent(20, SROCE_PEER_UNKNOWN);
	take(ack(5, NAK));
	post(&s, SROCE_OP_SEND, MTU);
	SEND(&s, SROCE_WRITE_MIDDLE, 5);
	nothing_more(SROCE_NEXT_WINDOW);
	EQUAL(take(ack(9, ACK)), SROCE_RESP_ACK);
	EQUAL(s.r.repair.peer, SROCE_PEER_HOLDS);
	SEND(&s, SROCE_SEND_ONLY, 20);
}

TEST(repair, a_peer_that_drops_the_rest_gets_it_again)
{
	u32 psn;

	sent(20, SROCE_PEER_UNKNOWN);
	take(ack(5, NAK));
	SEND(&s, SROCE_WRITE_MIDDLE, 5);
	EQUAL(take(ack(5, ACK)), SROCE_RESP_ACK);
	EQUAL(s.r.repair.peer, SROCE_PEER_DROPS);
	for (psn = 6; psn < 19; psn++)
		SEND(&s, SROCE_WRITE_MIDDLE, psn);
	SEND(&s, SROCE_WRITE_LAST, 19);
	/* It is remembered. */
	take(ack(8, NAK));
	SEND(&s, SROCE_WRITE_MIDDLE, 8);
	SEND(&s, SROCE_WRITE_MIDDLE, 9);
}

TEST(repair, a_run_of_losses_is_repeated_faster_and_faster)
{
	sent(40, SROCE_PEER_HOLDS);
	take(ack(5, NAK));
	EQUAL(s.r.repair.end, 6);
	send_all(&s);
	take(ack(6, NAK));
	EQUAL(s.r.repair.end, 8);
	send_all(&s);
	take(ack(8, NAK));
	EQUAL(s.r.repair.end, 12);
	send_all(&s);
	/* Another loss begins with one again. */
	take(ack(20, NAK));
	EQUAL(s.r.repair.end, 21);
}

TEST(repair, a_peer_that_no_longer_holds_is_noticed)
{
	u32 psn = 5;

	sent(200, SROCE_PEER_HOLDS);
	do {
		take(ack(psn, NAK));
		send_all(&s);
		psn = s.r.repair.repeated;
	} while (!s.r.repair.waits);
	take(ack(psn - 1, ACK));
	EQUAL(s.r.repair.peer, SROCE_PEER_DROPS);
}

/* Losses of a distant peer are many, but no network loses every other packet by itself. */
TEST(repair, most_of_a_flight_lost_is_congestion_at_any_distance)
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

/* A long message to a peer that holds, limited by the window. */
static void streaming(u32 window)
{
	sender_init(&s, 0);
	sroce_cc_init(&s.r.cc, window);
	s.r.cc.rate = 1;
	s.r.repair.peer = SROCE_PEER_HOLDS;
	post(&s, SROCE_OP_WRITE, 4000 * MTU);
	send_all(&s);
}

/* With a window of @window packets: a loss after @packets without one. */
static void loss_after(u32 window, u32 packets)
{
	s.r.cc.window = window;
	send_all(&s);
	acknowledge(&s, s.r.una + packets);
	s.r.cc.window = window;
	send_all(&s);
	take(ack(s.r.una, NAK));
}

/* A short queue loses packets only when the window exceeds it. */
TEST(repair, a_loss_after_calm_windows_is_congestion)
{
	streaming(28);
	s.r.cc.max_window = 64;
	take(ack(0, NAK));
	EQUAL(s.r.cc.window, 28);
	loss_after(28, 300);
	EQUAL(s.r.cc.window, 21);
	loss_after(21, 21);
	EQUAL(s.r.cc.window, 21);
}

TEST(repair, a_lone_loss_leaves_a_burst_in_the_window)
{
	streaming(512);
	take(ack(5, NAK));
	EQUAL(s.r.cc.window, 256);
	/* Losses of one round trip count once... */
	send_all(&s);
	take(ack(50, NAK));
	EQUAL(s.r.cc.window, 258);
}

/* ... unless they are many. */
TEST(repair, many_losses_are_congestion)
{
	u32 psn;

	streaming(64);
	take(ack(0, NAK));
	send_all(&s);
	EQUAL(s.r.cc.window, 64);
	for (psn = 2; psn < 60; psn += 2) {
		take(ack(psn, NAK));
		send_all(&s);
	}
	CHECK(s.r.cc.window < 48);
}

TEST(repair, a_distant_peer_keeps_its_window)
{
	streaming(512);
	s.r.cc.distant = true;
	s.r.cc.bdp = 400;
	take(ack(5, NAK));
	EQUAL(s.r.cc.window, 512);
	sroce_requester_lost(&s.r, 30);
	EQUAL(s.r.cc.window, 400);
}

TEST(repair, the_first_loss_says_that_the_path_is_unknown)
{
	streaming(512);
	s.r.cc.rate = 0;
	take(ack(5, NAK));
	EQUAL(s.r.cc.window, 16);
}

TEST(repair, that_a_peer_drops_packets_is_tested_again)
{
	u32 i;

	sent(200, SROCE_PEER_DROPS);
	s.r.repair.retest = 2 * SROCE_PEER_RETEST;
	for (i = 0; i < 2 * SROCE_PEER_RETEST - 1; i++) {
		take(ack(i, NAK));
		CHECK(!s.r.repair.active);
		send_all(&s);
	}
	take(ack(i, NAK));
	CHECK(s.r.repair.active && s.r.repair.waits);
	/* It still does. */
	send_all(&s);
	take(ack(i, ACK));
	EQUAL(s.r.repair.peer, SROCE_PEER_DROPS);
	EQUAL(s.r.repair.retest, 32 * SROCE_PEER_RETEST);
}

static struct sroce_pkt data(u32 psn, u32 packets)
{
	return response(psn + 1 == packets ? SROCE_READ_RESPONSE_LAST :
			psn ? SROCE_READ_RESPONSE_MIDDLE :
			      SROCE_READ_RESPONSE_FIRST, psn, MTU);
}

static void reading(u32 packets)
{
	sender_init(&s, 0);
	post(&s, SROCE_OP_READ, packets * MTU);
	post(&s, SROCE_OP_READ, MTU);
	send_all(&s);
}

/* The next packet asks for @packets from PSN @at on. */
static void asks(u32 at, u32 packets)
{
	SEND(&s, SROCE_READ_REQUEST, at);
	EQUAL(s.out.pkt.va, 0x10000 + at * MTU);
	EQUAL(s.out.pkt.dma_len, packets * MTU);
}

TEST(repair, gaps_of_a_read_are_asked_for_alone)
{
	reading(20);
	EQUAL(take(data(0, 20)), SROCE_RESP_DATA);
	EQUAL(take(data(3, 20)), SROCE_RESP_AHEAD);
	EQUAL(take(data(5, 20)), SROCE_RESP_AHEAD);
	asks(1, 2);
	asks(4, 1);
	/* A later READ must not return older data: it waits. */
	nothing_more(SROCE_NEXT_WINDOW);
	EQUAL(take(data(1, 20)), SROCE_RESP_DATA);
	EQUAL(take(data(2, 20)), SROCE_RESP_DATA);
	EQUAL(take(data(3, 20)), SROCE_RESP_DATA);
	EQUAL(take(data(4, 20)), SROCE_RESP_DATA);
	CHECK(!sroce_requester_holds(&s.r));
}

TEST(repair, what_later_reads_returned_is_dropped)
{
	reading(4);
	take(data(0, 4));
	take(data(2, 4));
	asks(1, 1);
	EQUAL(take(data(3, 4)), SROCE_RESP_AHEAD);
	EQUAL(take(response(SROCE_READ_RESPONSE_ONLY, 4, MTU)), SROCE_RESP_ASK);
	nothing_more(SROCE_NEXT_WINDOW);
	take(data(1, 4));
	take(data(2, 4));
	take(data(3, 4));
	SEND(&s, SROCE_READ_REQUEST, 4);
	EQUAL(take(response(SROCE_READ_RESPONSE_ONLY, 4, MTU)), SROCE_RESP_DATA);
	EQUAL(s.r.in.head, s.r.in.tail);
}

TEST(repair, the_end_of_a_response_is_a_gap_as_well)
{
	reading(6);
	take(data(0, 6));
	take(data(2, 6));
	asks(1, 1);
	EQUAL(take(response(SROCE_READ_RESPONSE_ONLY, 6, MTU)), SROCE_RESP_ASK);
	asks(3, 3);
	EQUAL(take(response(SROCE_READ_RESPONSE_ONLY, 6, MTU)), SROCE_RESP_ASK);
	nothing_more(SROCE_NEXT_WINDOW);
}

TEST(repair, too_many_gaps_are_found_one_after_another)
{
	u32 psn;

	reading(60);
	take(data(0, 60));
	for (psn = 2; psn < 60; psn += 2)
		take(data(psn, 60));
	for (psn = 1; psn <= 2 * SROCE_GAPS - 1; psn += 2)
		asks(psn, 1);
	nothing_more(SROCE_NEXT_WINDOW);
	EQUAL(s.r.repair.gaps.top, 2 * SROCE_GAPS + 1);
}

TEST(repair, a_rewind_forgets_the_gaps)
{
	reading(20);
	take(data(0, 20));
	take(data(3, 20));
	CHECK(sroce_requester_holds(&s.r));
	CHECK(sroce_completer_retry(&s.r));
	CHECK(!sroce_requester_holds(&s.r));
	asks(1, 19);
}

TEST(repair, the_queue_of_this_host_refuses_it)
{
	sent(20, SROCE_PEER_HOLDS);
	take(ack(5, NAK));
	SEND(&s, SROCE_WRITE_MIDDLE, 5);
	sroce_requester_refused(&s.r, 5);
	SEND(&s, SROCE_WRITE_MIDDLE, 5);
	nothing_more(SROCE_NEXT_NOTHING);
	reading(20);
	take(data(0, 20));
	take(data(3, 20));
	asks(1, 2);
	sroce_requester_refused(&s.r, 1);
	asks(1, 2);
}

/* The peer takes the next part of a READ for a new request. */
TEST(repair, gaps_end_where_the_request_did)
{
	sender_init(&s, 0);
	post(&s, SROCE_OP_READ, 8 * MTU);
	send_all(&s);
	/* The request was lost, and the next one asks for less. */
	s.r.cc.window = 4;
	CHECK(sroce_completer_retry(&s.r));
	asks(0, 4);
	take(data(0, 8));
	take(data(2, 8));
	asks(1, 1);
	EQUAL(sroce_requester_gaps_end(&s.r), 4);
	sroce_completer_ask(&s.r, true);
	asks(3, 1);
	nothing_more(SROCE_NEXT_WINDOW);
}

/* The READ that has the gap goes on meanwhile. */
TEST(repair, later_parts_do_not_wait_for_the_gap)
{
	sender_init(&s, 0);
	s.r.cc.window = 8;
	s.r.max_reads = 16;
	post(&s, SROCE_OP_READ, 20 * MTU);
	asks(0, 8);
	take(data(0, 20));
	take(data(2, 20));
	asks(1, 1);
	s.r.cc.window = 12;
	asks(8, 5);
	take(data(1, 20));
	EQUAL(s.r.una, 2);
	CHECK(!sroce_requester_holds(&s.r));
	EQUAL(s.r.psn, 13);
}

/*
 * Other READs must not return older data than the gap.  Their responses are dropped,
 * and with a distant peer they are requested again behind the last gap.
 */
TEST(repair, later_reads_follow_the_repair)
{
	bool distant;

	for (distant = false; ; distant = true) {
		sender_init(&s, 0);
		s.r.cc.distant = distant;
		s.r.max_reads = 16;
		post(&s, SROCE_OP_READ, 4 * MTU);
		post(&s, SROCE_OP_READ, 4 * MTU);
		asks(0, 4);
		SEND(&s, SROCE_READ_REQUEST, 4);
		take(data(0, 4));
		take(data(2, 4));
		asks(1, 1);
		nothing_more(SROCE_NEXT_WINDOW);
		take(data(3, 4));
		if (distant)
			break;
		nothing_more(SROCE_NEXT_WINDOW);
	}
	SEND(&s, SROCE_READ_REQUEST, 4);
	EQUAL(s.out.pkt.dma_len, 4 * MTU);
	nothing_more(SROCE_NEXT_NOTHING);
}

/* READ responses that this end holds say nothing of its peer. */
TEST(repair, read_responses_do_not_judge_the_peer)
{
	reading(20);
	take(data(0, 20));
	take(data(3, 20));
	asks(1, 2);
	take(data(1, 20));
	take(data(2, 20));
	take(data(3, 20));
	EQUAL(s.r.repair.peer, SROCE_PEER_UNKNOWN);
}

/* @repeated is of an old repair, and half the PSN space behind. */
TEST(repair, an_old_repair_is_none)
{
	sent(20, SROCE_PEER_HOLDS);
	s.r.repair.repeated = 0x10;
	take(ack(19, ACK));
	s.r.psn = 0x900000;
	s.r.una = 0x900000;
	s.r.sent = 0x900000;
	post(&s, SROCE_OP_WRITE, 4 * MTU);
	send_all(&s);
	sroce_requester_refused(&s.r, 0x900001);
	CHECK(!s.r.repair.active);
	SEND(&s, SROCE_WRITE_MIDDLE, 0x900001);
}
