// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Congestion notification: the reaction of a requester to CNPs and marked responses. */
#include "params.h"
#include "sender.h"

static struct sender s;

/* Send a whole window of @window packets from @psn on. */
static void send_window(u32 window, u32 psn)
{
	sender_init(&s, psn);
	s.r.reduced_psn = s.r.psn;
	s.r.cc.window = window;
	s.r.cc.max_window = window;
	post(&s, SROCE_OP_WRITE, 4000 * MTU);
	EQUAL(send_all(&s), SROCE_NEXT_WINDOW);
	EQUAL(sroce_psn_diff(s.r.sent, s.r.una), window);
}

/* Acknowledge @packets more, and send what the window allows. */
static void ack_and_send(u32 packets)
{
	acknowledge(&s, s.r.una + packets);
	send_all(&s);
}

TEST(ecn, cnp_reduces_window_by_sixth_of_flight)
{
	send_window(64, 0);
	sroce_requester_congested(&s.r);
	EQUAL(s.r.cc.window, 53);
	EQUAL(s.r.cc.max_window, 64);
	/* No packet is sent again. */
	EQUAL(sroce_psn_diff(s.r.psn, s.r.una), 64);
	EQUAL(sroce_requester_next(&s.r, &s.out), SROCE_NEXT_WINDOW);
	acknowledge(&s, 10);
	EQUAL(sroce_requester_next(&s.r, &s.out), SROCE_NEXT_WINDOW);
	acknowledge(&s, 13);
	EQUAL(sroce_requester_next(&s.r, &s.out), SROCE_NEXT_PACKET);
}

TEST(ecn, window_is_reduced_once_per_round_trip)
{
	static const u32 psns[] = { 0, 500, SROCE_PSN_MASK, SROCE_PSN_MASK - 40,
				    1 << 23 };
	u32 i, window;

	for (i = 0; i < ARRAY_SIZE(psns); i++) {
		send_window(64, psns[i]);
		sroce_requester_congested(&s.r);
		sroce_requester_congested(&s.r);
		ack_and_send(40);
		window = s.r.cc.window;
		CHECK(window >= 53);
		sroce_requester_congested(&s.r);
		ack_and_send(23);
		sroce_requester_congested(&s.r);
		CHECK(s.r.cc.window >= window);
		/* This acknowledges the last packet sent before the reduction. */
		ack_and_send(1);
		window = s.r.cc.window;
		sroce_requester_congested(&s.r);
		CHECK(s.r.cc.window < window);
		EQUAL(s.r.cc.window, s.r.flight - (s.r.flight + 5) / 6);
	}
}

TEST(ecn, cnp_without_outstanding_packets_is_ignored)
{
	sender_init(&s, 7);
	sroce_requester_congested(&s.r);
	EQUAL(s.r.cc.window, 64);
	post(&s, SROCE_OP_WRITE, 3 * MTU);
	send_all(&s);
	EQUAL(acknowledge(&s, 10), 1);
	sroce_requester_congested(&s.r);
	EQUAL(s.r.cc.window, 64);
}

TEST(ecn, window_has_minimum)
{
	u32 i;

	send_window(64, 100);
	for (i = 0; i < 100; i++) {
		sroce_requester_congested(&s.r);
		ack_and_send(sroce_psn_diff(s.r.sent, s.r.una));
	}
	CHECK(s.r.cc.window >= SROCE_MIN_WINDOW);
	CHECK(s.r.cc.window <= 8);
	send_window(1, 100);
	sroce_requester_congested(&s.r);
	EQUAL(s.r.cc.window, 1);
}

/* After half of the PSN space, the PSN of the reduction appears to be ahead. */
TEST(ecn, old_reduction_is_ignored)
{
	u32 i;

	send_window(64, 0);
	sroce_requester_congested(&s.r);
	for (i = 0; i < SROCE_PSN_MASK; i += SROCE_PSN_MASK / 64) {
		u32 window;

		sender_init(&s, 64 + i);
		s.r.reduced_psn = 64;
		post(&s, SROCE_OP_WRITE, 40 * MTU);
		send_all(&s);
		window = s.r.cc.window;
		sroce_requester_congested(&s.r);
		CHECK(s.r.cc.window < window);
	}
}

TEST(ecn, cnp_does_not_change_window_of_uc)
{
	sender_init(&s, 0);
	s.r.transport = SROCE_UC;
	post(&s, SROCE_OP_WRITE, 8 * MTU);
	send_all(&s);
	sroce_requester_congested(&s.r);
	EQUAL(s.r.cc.window, 64);
}

TEST(ecn, requests_and_read_responses_are_ecn_capable)
{
	u32 i, capable = 0;

	for (i = 0; i < 256; i++)
		capable += sroce_ecn_capable(i);
	CHECK(sroce_ecn_capable(SROCE_RC | SROCE_SEND_ONLY));
	CHECK(sroce_ecn_capable(SROCE_RC | SROCE_WRITE_MIDDLE));
	CHECK(sroce_ecn_capable(SROCE_RC | SROCE_READ_REQUEST));
	CHECK(sroce_ecn_capable(SROCE_RC | SROCE_READ_RESPONSE_MIDDLE));
	CHECK(sroce_ecn_capable(SROCE_XRC | SROCE_READ_RESPONSE_ONLY));
	CHECK(sroce_ecn_capable(SROCE_UC | SROCE_WRITE_LAST));
	CHECK(!sroce_ecn_capable(SROCE_RC | SROCE_ACKNOWLEDGE));
	CHECK(!sroce_ecn_capable(SROCE_RC | SROCE_ATOMIC_ACKNOWLEDGE));
	CHECK(!sroce_ecn_capable(SROCE_XRC | SROCE_ACKNOWLEDGE));
	CHECK(!sroce_ecn_capable(SROCE_ANY | SROCE_CNP));
	CHECK(!sroce_ecn_capable(0xff));
	/* RC and XRC: all 32 of each, without ACK and ATOMIC_ACKNOWLEDGE */
	EQUAL(capable, 2 * (32 - 2) + 12 + 2);
}
