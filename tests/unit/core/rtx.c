// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "completer.h"
#include "rtx.h"
#include "sender.h"
#include "tap.h"

#define US	1000ull
#define MS	1000000ull

static struct sender s;
static struct sroce_rtx x;

/* A requester with @packets sent at @now, and the timeout @timeout. */
static void start(u32 packets, u64 timeout, u64 now)
{
	sender_init(&s, 0);
	x = (struct sroce_rtx) { .timeout = timeout };
	post(&s, SROCE_OP_WRITE, packets * MTU);
	send_all(&s);
	sroce_rtx_progress(&x, &s.r, s.r.una, now);
}

/* An acknowledgment of all before @psn, at @now. */
static void acked(u32 psn, u64 now)
{
	sroce_requester_acknowledge(&s.r, psn);
	sroce_rtx_restart(&x);
	sroce_rtx_progress(&x, &s.r, s.r.psn, now);
}

TEST(rtx, without_a_timeout_there_is_no_deadline)
{
	start(3, 0, MS);
	CHECK(!x.armed);
}

TEST(rtx, an_unknown_peer_is_probed_after_a_guess)
{
	start(3, 67 * MS, MS);
	CHECK(x.armed);
	EQUAL(x.deadline, 21 * MS);
	EQUAL(x.expires, 68 * MS);
	EQUAL(sroce_rtx_expired(&x, &s.r), SROCE_RTX_PROBE);
}

TEST(rtx, a_timeout_that_is_shorter_comes_before_the_probe)
{
	start(3, 4 * MS, MS);
	EQUAL(x.deadline, 5 * MS);
	EQUAL(sroce_rtx_expired(&x, &s.r), SROCE_RTX_RETRY);
}

TEST(rtx, probes_come_until_the_timeout)
{
	u64 now;

	start(3, 500 * MS, 0);
	EQUAL(x.deadline, 20 * MS);
	for (now = 20 * MS; now < 500 * MS; now = x.deadline) {
		EQUAL(sroce_rtx_expired(&x, &s.r), SROCE_RTX_PROBE);
		sroce_rtx_probe(&x, &s.r, now);
		CHECK(x.probe);
		CHECK(x.deadline == 500 * MS || x.deadline - now == (20 * MS) << (x.probes + 1) / 2);
	}
	EQUAL(sroce_rtx_expired(&x, &s.r), SROCE_RTX_RETRY);
	EQUAL(x.probes, 6);
}

/* The driver repeats the oldest packet; the peer acknowledges only that one. */
TEST(rtx, packets_behind_a_probe_may_be_lost_too)
{
	start(5, 67 * MS, 0);
	sroce_rtx_probe(&x, &s.r, 20 * MS);
	EQUAL(s.r.psn, 5);
	acked(1, 21 * MS);
	EQUAL(s.r.psn, 1);
	send_all(&s);
	/* The peer had more: nothing is repeated. */
	sroce_rtx_probe(&x, &s.r, 40 * MS);
	acked(3, 41 * MS);
	EQUAL(s.r.psn, 5);
}

/* One message; a probe at the deadline, the response @late after the start. */
static void probed(u64 now, u64 late, bool twice)
{
	post(&s, SROCE_OP_WRITE, MTU);
	send_all(&s);
	complete(&s);
	sroce_rtx_progress(&x, &s.r, s.r.una, now);
	sroce_rtx_probe(&x, &s.r, x.deadline);
	acked(s.r.sent, now + late);
	complete(&s);
	if (twice)
		sroce_rtx_echo(&x, &s.r, s.r.una - 1);
}

TEST(rtx, probes_in_vain_make_patient)
{
	u32 i;

	start(1, 500 * MS, 0);
	acked(1, 300 * US);
	complete(&s);
	for (i = 1; i < 10; i++)
		probed(i * 100 * MS, 4 * MS, true);
	EQUAL(x.probe_floor, 5 * MS);
	/* Some were needed. */
	for (; i < 20; i++)
		probed(i * 100 * MS, 4 * MS, false);
	CHECK(x.probe_floor < MS);
}

TEST(rtx, a_packet_repeated_twice_is_no_sample)
{
	start(3, 67 * MS, 0);
	x.rtt = (struct sroce_rtt) { .smooth = 2 * MS, .least = 2 * MS };
	acked(1, 2 * MS);
	CHECK(sroce_completer_repair(&s.r));
	sroce_rtx_resent(&x, &s.r, 3 * MS);
	sroce_rtx_repaired(&x, &s.r, 3 * MS);
	/* The timeout; the first repetition was lost. */
	sroce_rtx_resent(&x, &s.r, 300 * MS);
	CHECK(sroce_completer_retry(&s.r));
	send_all(&s);
	acked(3, 301 * MS);
	EQUAL(x.rtt.smooth, 2 * MS);
}

/* Two probes in a silence count as one. */
TEST(rtx, several_probes_of_one_silence)
{
	u32 i;

	start(1, 500 * MS, 0);
	acked(1, 300 * US);
	complete(&s);
	for (i = 1; i < 10; i++) {
		post(&s, SROCE_OP_WRITE, MTU);
		send_all(&s);
		complete(&s);
		sroce_rtx_progress(&x, &s.r, s.r.una, i * 100 * MS);
		sroce_rtx_probe(&x, &s.r, x.deadline);
		sroce_rtx_probe(&x, &s.r, x.deadline);
		acked(s.r.sent, i * 100 * MS + 5 * MS);
		complete(&s);
		sroce_rtx_echo(&x, &s.r, s.r.una - 1);
	}
	EQUAL(x.probe_floor, 6250 * US);
}

TEST(rtx, a_repeated_packet_is_a_sample)
{
	start(3, 67 * MS, 0);
	x.rtt = (struct sroce_rtt) { .smooth = 2 * MS, .least = 2 * MS };
	acked(1, 2 * MS);
	sroce_rtx_resent(&x, &s.r, 3 * MS);
	sroce_rtx_repaired(&x, &s.r, 3 * MS);
	CHECK(sroce_completer_repair(&s.r));
	send_all(&s);
	EQUAL(x.rtt.smooth, 2 * MS);
	acked(3, 3 * MS + 400 * US);
	EQUAL(x.rtt.smooth, 1800 * US);
}

TEST(rtx, a_probe_of_a_read_rewinds)
{
	sender_init(&s, 0);
	x = (struct sroce_rtx) { .timeout = 67 * MS };
	post(&s, SROCE_OP_READ, 3 * MTU);
	send_all(&s);
	sroce_rtx_progress(&x, &s.r, s.r.una, 0);
	sroce_rtx_probe(&x, &s.r, 20 * MS);
	CHECK(!x.probe);
	EQUAL(s.r.psn, 0);
	CHECK(s.r.rewound);
}

TEST(rtx, a_response_is_a_sample_of_the_round_trip)
{
	start(3, 67 * MS, MS);
	acked(3, MS + 300 * US);
	EQUAL(x.rtt.smooth, 300 * US);
	CHECK(!x.armed);
}

/* A probe before the first response: the next READs have to replace the bound. */
TEST(rtx, reads_replace_an_upper_bound)
{
	u32 i;

	sender_init(&s, 0);
	s.r.max_reads = 16;
	x = (struct sroce_rtx) { .timeout = 500 * MS };
	for (i = 0; i < 4; i++)
		post(&s, SROCE_OP_READ, MTU);
	send_all(&s);
	sroce_rtx_progress(&x, &s.r, s.r.una, 0);
	sroce_rtx_resent(&x, &s.r, 20 * MS);
	acked(4, 21 * MS);
	complete(&s);
	CHECK(x.upper_bound);
	for (i = 0; i < 2; i++)
		post(&s, SROCE_OP_READ, MTU);
	send_all(&s);
	sroce_rtx_progress(&x, &s.r, sroce_psn_add(s.r.una, 1), 30 * MS);
	acked(6, 51 * MS);
	CHECK(!x.upper_bound);
	CHECK(s.r.cc.distant);
}

/* When the packets were sent that were sent before is not known. */
TEST(rtx, a_sample_begins_when_packets_are_sent)
{
	start(3, 67 * MS, 0);
	acked(1, 10 * MS);
	acked(3, 20 * MS);
	EQUAL(x.rtt.least, 20 * MS);
	CHECK(!x.sampling);
}

/* The peer reports the next gap as soon as the first one is filled. */
TEST(rtx, a_report_may_be_older_than_the_repair)
{
	start(8, 67 * MS, 0);
	acked(1, 2 * MS);
	sroce_rtx_resent(&x, &s.r, 3 * MS);
	sroce_rtx_repaired(&x, &s.r, 3 * MS);
	CHECK(sroce_completer_repair(&s.r));
	s.r.repair.end = 5;
	x.rtt = (struct sroce_rtt) { .least = 2 * MS };
	send_all(&s);
	acked(2, 4 * MS);
	CHECK(sroce_rtx_repair_underway(&x, &s.r, 4 * MS));
	CHECK(!sroce_rtx_repair_underway(&x, &s.r, 5 * MS));
	/* The packet behind the repair has not been repeated. */
	acked(5, 4 * MS);
	CHECK(!sroce_rtx_repair_underway(&x, &s.r, 4 * MS));
}

TEST(rtx, a_retransmission_is_no_sample)
{
	u32 i;

	start(3, 67 * MS, 0);
	acked(3, 300 * US);
	/* The next flight that is sampled is lost, and sent again. */
	for (i = 0; i < 16; i++) {
		post(&s, SROCE_OP_WRITE, MTU);
		send_all(&s);
		complete(&s);
		sroce_rtx_progress(&x, &s.r, s.r.una, MS);
		if (!x.sampling)
			acked(s.r.psn, MS);
	}
	CHECK(x.sampling);
	sroce_rtx_resent(&x, &s.r, 2 * MS);
	acked(s.r.psn, 3 * MS);
	EQUAL(x.rtt.smooth, 300 * US);
}

TEST(rtx, a_silence_within_a_response_is_the_loss_of_its_rest)
{
	sender_init(&s, 0);
	x = (struct sroce_rtx) { .timeout = 67 * MS };
	post(&s, SROCE_OP_READ, 40 * MTU);
	send_all(&s);
	sroce_rtx_progress(&x, &s.r, s.r.una, 0);
	sroce_requester_acknowledge(&s.r, 1);
	sroce_rtx_probe(&x, &s.r, 20 * MS);
	EQUAL(s.r.repair.losses, 39);
}

/* A wait for something else has ended: the deadline was that of the wait. */
TEST(rtx, a_sample_does_not_begin_behind_what_is_outstanding)
{
	start(3, 67 * MS, 0);
	acked(3, 10 * MS);
	complete(&s);
	post(&s, SROCE_OP_READ, 4 * MTU);
	send_all(&s);
	sroce_rtx_progress(&x, &s.r, s.r.una, 10 * MS);
	x.sampling = false;
	x.armed = false;
	post(&s, SROCE_OP_WRITE, MTU);
	send_all(&s);
	sroce_rtx_progress(&x, &s.r, sroce_psn_add(s.r.psn, -1), 19 * MS);
	acked(sroce_psn_add(s.r.una, 1), 20 * MS);
	EQUAL(x.rtt.least, 10 * MS);
}

TEST(rtx, paced_packets_are_sampled_and_keep_the_deadline)
{
	start(3, 67 * MS, 0);
	acked(3, 10 * MS);
	complete(&s);
	x.samples_skipped = 0;
	x.deadline = 11 * MS;
	x.armed = true;
	post(&s, SROCE_OP_WRITE, 2 * MTU);
	send_all(&s);
	sroce_rtx_paced(&x, &s.r, s.r.una, 10 * MS);
	sroce_requester_acknowledge(&s.r, s.r.psn);
	sroce_rtx_paced(&x, &s.r, s.r.psn, 18 * MS);
	EQUAL(x.rtt.last, 8 * MS);
	CHECK(x.armed);
	EQUAL(x.deadline, 11 * MS);
}

TEST(rtx, an_upper_bound_is_replaced_by_the_next_sample)
{
	start(3, 67 * MS, 0);
	sroce_rtx_resent(&x, &s.r, 20 * MS);
	acked(3, 30 * MS);
	EQUAL(x.rtt.smooth, 30 * MS);
	CHECK(x.upper_bound);
	post(&s, SROCE_OP_WRITE, MTU);
	send_all(&s);
	sroce_rtx_progress(&x, &s.r, s.r.una, 40 * MS);
	acked(4, 40 * MS + 200 * US);
	EQUAL(x.rtt.smooth, 200 * US);
	CHECK(!x.upper_bound);
}

TEST(rtx, a_distant_peer_gets_up_to_four_timeouts)
{
	start(3, 10 * MS, 0);
	x.rtt = (struct sroce_rtt) { .smooth = 100 * MS, .least = 100 * MS };
	acked(1, MS);
	EQUAL(x.expires, MS + 40 * MS);
}

TEST(rtx, a_refusal_fails_at_the_timeout)
{
	start(3, 4 * MS, 0);
	s.r.refusal = SROCE_REM_ACCESS_ERR;
	EQUAL(sroce_rtx_expired(&x, &s.r), SROCE_RTX_REFUSED);
}

TEST(rtx, nothing_unacknowledged_needs_nothing)
{
	start(3, 4 * MS, 0);
	sroce_requester_acknowledge(&s.r, 3);
	EQUAL(sroce_rtx_expired(&x, &s.r), SROCE_RTX_NOTHING);
}
