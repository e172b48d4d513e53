// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "completer.h"
#include "rtx.h"
#include "sender.h"
#include "tap.h"

#define US	1000ull
#define MS	1000000ull

static struct sender s;
static struct sroce_rtx x;

/* Send @packets at @now, with the timeout @timeout. */
static void start(u32 packets, u64 timeout, u64 now)
{
	sender_init(&s, 0);
	x = (struct sroce_rtx) { .timeout = timeout };
	post(&s, SROCE_OP_WRITE, packets * MTU);
	send_all(&s);
	sroce_rtx_progress(&x, &s.r, s.r.una, now);
}

/* Everything before @psn is acknowledged at @now. */
static void acked(u32 psn, u64 now)
{
	sroce_requester_acknowledge(&s.r, psn);
	sroce_rtx_restart(&x);
	sroce_rtx_progress(&x, &s.r, s.r.psn, now);
}

TEST(rtx, no_deadline_without_timeout)
{
	start(3, 0, MS);
	CHECK(!x.armed);
}

TEST(rtx, first_probe_is_after_default_interval)
{
	start(3, 67 * MS, MS);
	CHECK(x.armed);
	EQUAL(x.deadline, 21 * MS);
	EQUAL(x.expires, 68 * MS);
	EQUAL(sroce_rtx_expired(&x, &s.r), SROCE_RTX_PROBE);
}

TEST(rtx, short_timeout_expires_before_probe)
{
	start(3, 4 * MS, MS);
	EQUAL(x.deadline, 5 * MS);
	EQUAL(sroce_rtx_expired(&x, &s.r), SROCE_RTX_RETRY);
}

TEST(rtx, probe_interval_grows_until_timeout)
{
	u64 now;

	start(3, 500 * MS, 0);
	EQUAL(x.deadline, 20 * MS);
	for (now = 20 * MS; now < 500 * MS; now = x.deadline) {
		EQUAL(sroce_rtx_expired(&x, &s.r), SROCE_RTX_PROBE);
		sroce_rtx_probe(&x, &s.r, now);
		CHECK(x.probe.due);
		CHECK(x.deadline == 500 * MS ||
		      x.deadline - now == (20 * MS) << (x.probe.count + 1) / 2);
	}
	EQUAL(sroce_rtx_expired(&x, &s.r), SROCE_RTX_RETRY);
	EQUAL(x.probe.count, 6);
}

/* The driver repeats the oldest packet; the peer acknowledges only that one. */
TEST(rtx, ack_of_probe_alone_resends_later_packets)
{
	start(5, 67 * MS, 0);
	sroce_rtx_probe(&x, &s.r, 20 * MS);
	EQUAL(s.r.psn, 5);
	acked(1, 21 * MS);
	EQUAL(s.r.psn, 1);
	send_all(&s);
	/* The ACK covers more than the probe: no packet is sent again. */
	sroce_rtx_probe(&x, &s.r, 40 * MS);
	acked(3, 41 * MS);
	EQUAL(s.r.psn, 5);
}

TEST(rtx, late_ack_of_lone_packet_keeps_window)
{
	start(1, 67 * MS, 0);
	sroce_cc_init(&s.r.cc, 512);
	sroce_rtx_probe(&x, &s.r, 20 * MS);
	acked(1, 21 * MS);
	EQUAL(s.r.cc.window, 512);
	EQUAL(s.r.repair.losses, 0);
}

/*
 * Send a message, and a probe at the deadline.  The response arrives @late after the
 * message was sent.  With @echo the probe has a response, too.
 */
static void send_and_probe(u64 now, u64 late, bool echo)
{
	post(&s, SROCE_OP_WRITE, MTU);
	send_all(&s);
	complete(&s);
	sroce_rtx_progress(&x, &s.r, s.r.una, now);
	sroce_rtx_probe(&x, &s.r, x.deadline);
	acked(s.r.sent, now + late);
	complete(&s);
	if (echo)
		sroce_rtx_echo(&x, &s.r, s.r.una - 1);
}

TEST(rtx, unnecessary_probes_raise_probe_interval)
{
	u32 i;

	start(1, 500 * MS, 0);
	acked(1, 300 * US);
	complete(&s);
	for (i = 1; i < 10; i++)
		send_and_probe(i * 100 * MS, 4 * MS, true);
	EQUAL(x.probe.floor, 5 * MS);
	/* These probes were necessary. */
	for (; i < 20; i++)
		send_and_probe(i * 100 * MS, 4 * MS, false);
	CHECK(x.probe.floor < MS);
}

TEST(rtx, packet_resent_twice_is_not_sampled)
{
	start(3, 67 * MS, 0);
	x.rtt = (struct sroce_rtt) { .smooth = 2 * MS, .least = 2 * MS };
	acked(1, 2 * MS);
	CHECK(sroce_completer_repair(&s.r));
	sroce_rtx_resent(&x, &s.r, 3 * MS);
	sroce_rtx_repaired(&x, &s.r, 3 * MS);
	/* The first retransmission was lost, and the timeout expires. */
	sroce_rtx_resent(&x, &s.r, 300 * MS);
	CHECK(sroce_completer_retry(&s.r));
	send_all(&s);
	acked(3, 301 * MS);
	EQUAL(x.rtt.smooth, 2 * MS);
}

/* Two probes without a response between them count as one. */
TEST(rtx, probes_without_response_between_count_once)
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
	EQUAL(x.probe.floor, 6250 * US);
}

/* Packet 1 of @n is reported missing, and is about to be repeated at 3 ms. */
static void start_with_loss(u32 n)
{
	start(n, 67 * MS, 0);
	x.rtt = (struct sroce_rtt) { .smooth = 2 * MS, .least = 2 * MS };
	acked(1, 2 * MS);
	sroce_rtx_resent(&x, &s.r, 3 * MS);
	sroce_rtx_repaired(&x, &s.r, 3 * MS);
	CHECK(sroce_completer_repair(&s.r));
}

TEST(rtx, repaired_packet_is_sampled)
{
	start_with_loss(3);
	send_all(&s);
	EQUAL(x.rtt.smooth, 2 * MS);
	acked(3, 4 * MS + 200 * US);
	EQUAL(x.rtt.smooth, 1900 * US);
	EQUAL(x.rtt.least, 1200 * US);
}

/* The first copy arrives 50 us after the packet behind it: no path is so short. */
TEST(rtx, late_packet_is_not_sampled)
{
	start_with_loss(3);
	send_all(&s);
	acked(3, 3 * MS + 50 * US);
	EQUAL(x.rtt.least, 2 * MS);
	EQUAL(x.rtt.smooth, 2 * MS);
	CHECK(!x.sample.repair);
}

/* Packets 1 to 4 are repeated, then @again() resets @s.r.repair.repeated. */
static void repeat_run_and(void (*again)(void))
{
	start_with_loss(8);
	s.r.repair.end = 5;
	send_all(&s);
	EQUAL(s.r.repair.repeated, 5);
	again();
	CHECK(sroce_psn_before(s.r.repair.repeated, 5));
	/* The peer reports packet 3 when it fills the gap before: the first copy follows. */
	acked(3, 7 * MS);
	sroce_rtx_resent(&x, &s.r, 7 * MS);
	sroce_rtx_repaired(&x, &s.r, 7 * MS);
	CHECK(!x.sample.repair);
}

static void probe(void)
{
	sroce_rtx_probe(&x, &s.r, 6 * MS);
}

static void rnr_nak(void)
{
	CHECK(sroce_completer_rnr(&s.r));
	sroce_rtx_rnr(&x);
}

/* The peer has no receive request for the repeated packet. */
TEST(rtx, rnr_wait_is_not_sampled)
{
	start_with_loss(3);
	send_all(&s);
	rnr_nak();
	acked(3, 600 * MS);
	EQUAL(x.rtt.smooth, 2 * MS);
	EQUAL(x.rtt.least, 2 * MS);
}

TEST(rtx, packet_repeated_before_probe_is_not_sampled)
{
	repeat_run_and(probe);
}

TEST(rtx, packet_repeated_before_rnr_nak_is_not_sampled)
{
	repeat_run_and(rnr_nak);
}

/* A PSN of long ago would be ahead. */
TEST(rtx, acknowledged_packets_are_no_repeated_ones)
{
	start_with_loss(8);
	send_all(&s);
	acked(8, 4 * MS);
	EQUAL(s.r.repair.repeated_ever, 8);
}

TEST(rtx, probe_of_read_rewinds)
{
	sender_init(&s, 0);
	x = (struct sroce_rtx) { .timeout = 67 * MS };
	post(&s, SROCE_OP_READ, 3 * MTU);
	send_all(&s);
	sroce_rtx_progress(&x, &s.r, s.r.una, 0);
	sroce_rtx_probe(&x, &s.r, 20 * MS);
	CHECK(!x.probe.due);
	EQUAL(s.r.psn, 0);
	CHECK(s.r.rewound);
}

TEST(rtx, ack_is_rtt_sample)
{
	start(3, 67 * MS, MS);
	acked(3, MS + 300 * US);
	EQUAL(x.rtt.smooth, 300 * US);
	CHECK(!x.armed);
}

/* With a probe before the first response, the sample is only an upper bound. */
TEST(rtx, read_sample_replaces_upper_bound)
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

/* The time when earlier packets were sent is not known. */
TEST(rtx, sample_starts_when_packets_are_sent)
{
	start(3, 67 * MS, 0);
	acked(1, 10 * MS);
	acked(3, 20 * MS);
	EQUAL(x.rtt.least, 20 * MS);
	CHECK(!x.sample.running);
}

/* The peer reports the next gap as soon as the first one is filled. */
TEST(rtx, nak_sent_before_repair_is_detected)
{
	start(8, 67 * MS, 0);
	acked(1, 2 * MS);
	sroce_rtx_resent(&x, &s.r, 3 * MS);
	sroce_rtx_repaired(&x, &s.r, 3 * MS);
	CHECK(sroce_completer_repair(&s.r));
	s.r.repair.end = 5;
	send_all(&s);
	acked(2, 4 * MS);
	x.rtt = (struct sroce_rtt) { .least = 2 * MS };
	CHECK(sroce_rtx_repair_underway(&x, &s.r, 4 * MS));
	CHECK(!sroce_rtx_repair_underway(&x, &s.r, 5 * MS));
	/* The packet behind the repair has not been sent again. */
	acked(5, 4 * MS);
	CHECK(!sroce_rtx_repair_underway(&x, &s.r, 4 * MS));
}

/* The packet at @r.una is reported missing at @now, and repeated. */
static void repair(u64 now)
{
	sroce_rtx_resent(&x, &s.r, now);
	sroce_rtx_restart(&x);
	sroce_rtx_repaired(&x, &s.r, now);
	CHECK(sroce_completer_repair(&s.r));
	send_all(&s);
	sroce_rtx_progress(&x, &s.r, s.r.psn, now);
}

/*
 * The peer reports gaps within a run of repeated packets, and each may be repeated once
 * more.  The first copy fills it, so the time since the second one is no round trip.
 */
TEST(rtx, packet_repeated_twice_is_not_sampled)
{
	u32 gap;

	start(20, 67 * MS, 0);
	x.rtt = (struct sroce_rtt) { .smooth = 2 * MS, .least = 2 * MS };
	acked(1, 2 * MS);
	repair(3 * MS);
	/* The run ends there. */
	s.r.repair.repeated = 12;
	s.r.repair.repeated_ever = 12;
	for (gap = 4; gap < 10; gap += 3) {
		acked(gap, 5 * MS + gap * 100 * US);
		repair(5 * MS + gap * 100 * US);
	}
	acked(12, 6 * MS);
	EQUAL(x.rtt.least, 2 * MS);
}

/* Losses may begin with the first packet, and the first sample must not wait for their end. */
TEST(rtx, response_to_repair_may_be_first_sample)
{
	start(8, 67 * MS, 0);
	repair(MS);
	EQUAL(x.deadline, 21 * MS);
	acked(1, 3 * MS);
	EQUAL(x.rtt.least, 2 * MS);
	CHECK(!x.sample.running && !x.upper_bound);
	EQUAL(x.deadline, 3 * MS + sroce_rtt_repair(&x.rtt));
}

TEST(rtx, nak_is_response_to_repair)
{
	start(8, 67 * MS, 0);
	repair(MS);
	/* The peer reports the next gap. */
	sroce_requester_acknowledge(&s.r, 3);
	repair(3 * MS);
	EQUAL(x.rtt.least, 2 * MS);
	sroce_requester_acknowledge(&s.r, 5);
	repair(4 * MS);
	EQUAL(x.rtt.least, MS);
}

/* PSNs are compared modulo 2^24: what an earlier recovery has left behind is not valid. */
TEST(rtx, first_repair_is_sampled_at_any_psn)
{
	sender_init(&s, 0xfffff0);
	x = (struct sroce_rtx) { .timeout = 67 * MS };
	post(&s, SROCE_OP_WRITE, 8 * MTU);
	send_all(&s);
	sroce_rtx_progress(&x, &s.r, s.r.una, 0);
	repair(MS);
	acked(0xfffff1, 3 * MS);
	EQUAL(x.rtt.least, 2 * MS);
}

TEST(rtx, retransmission_is_not_sampled)
{
	u32 i;

	start(3, 67 * MS, 0);
	acked(3, 300 * US);
	/* The next sampled flight is lost and sent again. */
	for (i = 0; i < 16; i++) {
		post(&s, SROCE_OP_WRITE, MTU);
		send_all(&s);
		complete(&s);
		sroce_rtx_progress(&x, &s.r, s.r.una, MS);
		if (!x.sample.running)
			acked(s.r.psn, MS);
	}
	CHECK(x.sample.running);
	sroce_rtx_resent(&x, &s.r, 2 * MS);
	acked(s.r.psn, 3 * MS);
	EQUAL(x.rtt.smooth, 300 * US);
}

/* Acknowledges @packets of the posted packets.  Then nothing arrives until a probe is sent. */
static void break_off(u32 packets)
{
	x = (struct sroce_rtx) { .timeout = 67 * MS };
	send_all(&s);
	sroce_rtx_progress(&x, &s.r, s.r.una, 0);
	sroce_requester_acknowledge(&s.r, packets);
	sroce_rtx_probe(&x, &s.r, 20 * MS);
}

TEST(rtx, probe_within_response_counts_rest_as_lost)
{
	sender_init(&s, 0);
	post(&s, SROCE_OP_READ, 40 * MTU);
	break_off(1);
	EQUAL(s.r.repair.losses, 39);
}

TEST(rtx, probe_within_write_is_no_loss_of_later_read)
{
	sender_init(&s, 0);
	post(&s, SROCE_OP_WRITE, 4 * MTU);
	post(&s, SROCE_OP_READ, 40 * MTU);
	break_off(2);
	EQUAL(s.r.repair.losses, 0);
}

/* A READ of which the second response is missing; the repair is underway at 1 ms. */
static void start_with_lost_response(void)
{
	sender_init(&s, 0);
	x = (struct sroce_rtx) { .timeout = 67 * MS };
	post(&s, SROCE_OP_READ, 40 * MTU);
	send_all(&s);
	sroce_rtx_progress(&x, &s.r, s.r.una, 0);
	acked(1, 400 * US);
	EQUAL(x.rtt.smooth, 400 * US);
	CHECK(sroce_requester_ahead(&s.r, 2));
	CHECK(sroce_completer_ask(&s.r, false));
	sroce_rtx_resent(&x, &s.r, MS);
	sroce_rtx_repaired(&x, &s.r, MS);
	send_all(&s);
	sroce_rtx_progress(&x, &s.r, 1, MS);
	EQUAL(x.deadline, MS + 800 * US);
}

/* The peer has sent them before it could receive the second request. */
TEST(rtx, responses_behind_missing_one_delay_next_request)
{
	start_with_lost_response();
	sroce_rtx_ahead(&x, &s.r, MS + 700 * US);
	EQUAL(x.deadline, MS + 1500 * US);
	/* The timeout of the QP remains. */
	sroce_rtx_ahead(&x, &s.r, 67 * MS);
	EQUAL(x.deadline, x.expires);
	CHECK(x.expires < 68 * MS);
}

/* An interval that grew after probes does not become shorter. */
TEST(rtx, response_behind_missing_one_keeps_later_deadline)
{
	start_with_lost_response();
	x.deadline = 10 * MS;
	sroce_rtx_ahead(&x, &s.r, 2 * MS);
	EQUAL(x.deadline, 10 * MS);
}

/* The interval contains the queue on the way. */
TEST(rtx, paced_packets_are_requested_again_in_time)
{
	start_with_lost_response();
	s.r.cc.paced = true;
	sroce_rtx_ahead(&x, &s.r, MS + 700 * US);
	EQUAL(x.deadline, MS + 800 * US);
}

/* Another wait has ended.  The deadline was the end of that wait. */
TEST(rtx, no_sample_behind_outstanding_packets)
{
	start(3, 67 * MS, 0);
	acked(3, 10 * MS);
	complete(&s);
	post(&s, SROCE_OP_READ, 4 * MTU);
	send_all(&s);
	sroce_rtx_progress(&x, &s.r, s.r.una, 10 * MS);
	x.sample.running = false;
	x.armed = false;
	post(&s, SROCE_OP_WRITE, MTU);
	send_all(&s);
	sroce_rtx_progress(&x, &s.r, sroce_psn_add(s.r.psn, -1), 19 * MS);
	acked(sroce_psn_add(s.r.una, 1), 20 * MS);
	EQUAL(x.rtt.least, 10 * MS);
}

TEST(rtx, paced_packets_are_sampled_and_keep_deadline)
{
	start(3, 67 * MS, 0);
	acked(3, 10 * MS);
	complete(&s);
	x.sample.skip = 0;
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

TEST(rtx, next_sample_replaces_upper_bound)
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

TEST(rtx, distant_peer_gets_up_to_four_timeouts)
{
	start(3, 10 * MS, 0);
	x.rtt = (struct sroce_rtt) { .smooth = 100 * MS, .least = 100 * MS };
	acked(1, MS);
	EQUAL(x.expires, MS + 40 * MS);
}

TEST(rtx, refused_request_fails_at_timeout)
{
	start(3, 4 * MS, 0);
	s.r.refusal = SROCE_REM_ACCESS_ERR;
	EQUAL(sroce_rtx_expired(&x, &s.r), SROCE_RTX_REFUSED);
}

TEST(rtx, refused_request_fails_without_timeout)
{
	start(3, 0, 0);
	CHECK(!x.armed);
	s.r.refusal = SROCE_REM_ACCESS_ERR;
	sroce_rtx_progress(&x, &s.r, s.r.psn, MS);
	CHECK(x.armed);
	x.deadline = x.expires;
	EQUAL(sroce_rtx_expired(&x, &s.r), SROCE_RTX_REFUSED);
}

TEST(rtx, no_action_without_unacked_packets)
{
	start(3, 4 * MS, 0);
	sroce_requester_acknowledge(&s.r, 3);
	EQUAL(sroce_rtx_expired(&x, &s.r), SROCE_RTX_NOTHING);
}
