// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sender.h"

static struct sender s;
static struct sroce_ack_result a;

#define ACK SROCE_ACK_CREDITS_INVALID

static enum sroce_ack_verdict check(struct sroce_pkt pkt)
{
	memset(&a, 0xee, sizeof(a));
	return sroce_completer_check(&s.r, &pkt, &a);
}

/* Handle a response as a driver does. */
static enum sroce_ack_verdict handle_response(struct sroce_pkt pkt)
{
	enum sroce_ack_verdict verdict = check(pkt);

	if (verdict == SROCE_RESP_IGNORE)
		return verdict;
	acknowledge(&s, a.up_to);
	if (verdict == SROCE_RESP_DATA || verdict == SROCE_RESP_ATOMIC)
		acknowledge(&s, a.psn);
	if (verdict == SROCE_RESP_RETRY)
		CHECK(sroce_completer_retry(&s.r));
	if (verdict == SROCE_RESP_REPAIR)
		CHECK(sroce_completer_repair(&s.r));
	if (verdict == SROCE_RESP_RNR)
		CHECK(sroce_completer_rnr(&s.r));
	return verdict;
}

/* Send a SEND (PSN 0), READ (1 to 3), atomic (4) and WRITE (5 to 6), from @psn on. */
static void send_mixed(u32 psn)
{
	sender_init(&s, psn);
	post(&s, SROCE_OP_SEND, 8);
	post(&s, SROCE_OP_READ, 2 * MTU + 8);
	post(&s, SROCE_OP_FETCH_ADD, 8);
	post(&s, SROCE_OP_WRITE, 2 * MTU);
	EQUAL(send_all(&s), SROCE_NEXT_NOTHING);
}

static void send_messages(u32 count)
{
	sender_init(&s, 0);
	while (count--)
		post(&s, SROCE_OP_SEND, 1);
	send_all(&s);
}

static const u32 bases[] = { 0, 5, 0xfffffa, 0xfffffc, 0xffffff };

TEST(completer, acks_are_cumulative)
{
	u32 i;

	for (i = 0; i < 8; i++) {
		sender_init(&s, 0xfffffc);
		post(&s, SROCE_OP_SEND, 3 * MTU);
		post(&s, SROCE_OP_WRITE, 4 * MTU);
		post(&s, SROCE_OP_SEND, 0);
		send_all(&s);
		EQUAL(check(ack(0xfffffc + i, ACK)), SROCE_RESP_ACK);
		EQUAL(a.up_to, (0xfffffd + i) & 0xffffff);
		EQUAL(acknowledge(&s, a.up_to), (i >= 2) + (i >= 6) + (i >= 7));
	}
}

TEST(completer, response_outside_outstanding_psns_is_ignored)
{
	u32 b, i, n;

	for (i = 0; i < ARRAY_SIZE(bases); i++) {
		b = bases[i];
		send_mixed(b);
		for (n = 7; n < 0x800000; n = n * 2 + 1) {
			EQUAL(check(ack(b + n, ACK)), SROCE_RESP_IGNORE);
			EQUAL(check(ack(b + n, SROCE_NAK_REM_OP)),
			      SROCE_RESP_IGNORE);
			EQUAL(check(ack(b - n, ACK)), SROCE_RESP_IGNORE);
		}
		EQUAL(check(ack(b - 1, ACK)), SROCE_RESP_IGNORE);
		EQUAL(check(ack(b - 1, SROCE_NAK_SEQUENCE)),
		      SROCE_RESP_IGNORE);
		EQUAL(check(response(SROCE_READ_RESPONSE_ONLY, b + 7, 8)),
		      SROCE_RESP_IGNORE);
	}
}

TEST(completer, idle_requester_ignores_responses)
{
	u32 i;

	sender_init(&s, 0);
	for (i = 0; i < 256; i++) {
		EQUAL(check(ack(i, i)), SROCE_RESP_IGNORE);
		EQUAL(check(ack(-1, i)), SROCE_RESP_IGNORE);
	}
	EQUAL(check(response(SROCE_ATOMIC_ACKNOWLEDGE, 0, 0)),
	      SROCE_RESP_IGNORE);
}

TEST(completer, response_acks_earlier_requests)
{
	u32 b, i;

	for (i = 0; i < ARRAY_SIZE(bases); i++) {
		b = bases[i];
		send_mixed(b);
		EQUAL(check(response(SROCE_READ_RESPONSE_FIRST, b + 1, MTU)),
		      SROCE_RESP_DATA);
		EQUAL(a.up_to, (b + 1) & 0xffffff);
		EQUAL(a.psn, (b + 2) & 0xffffff);
		EQUAL(a.index, (u32)-1);
		EQUAL(a.offset, 0);
		EQUAL(handle_response(response(SROCE_READ_RESPONSE_FIRST, b + 1, MTU)),
		      SROCE_RESP_DATA);
		EQUAL(s.r.in.head, (u32)-1);
		EQUAL(handle_response(response(SROCE_READ_RESPONSE_MIDDLE, b + 2, MTU)),
		      SROCE_RESP_DATA);
		EQUAL(a.offset, MTU);
		EQUAL(handle_response(response(SROCE_READ_RESPONSE_LAST, b + 3, 8)),
		      SROCE_RESP_DATA);
		EQUAL(a.offset, 2 * MTU);
		EQUAL(s.r.in.head, 0);
		EQUAL(handle_response(response(SROCE_ATOMIC_ACKNOWLEDGE, b + 4, 0)),
		      SROCE_RESP_ATOMIC);
		EQUAL(s.r.in.head, 1);
		EQUAL(s.r.reads, 0);
		EQUAL(handle_response(ack(b + 6, ACK)), SROCE_RESP_ACK);
		EQUAL(s.r.in.head, s.r.in.tail);
	}
}

TEST(completer, duplicate_response_is_ignored)
{
	send_mixed(0);
	handle_response(response(SROCE_READ_RESPONSE_FIRST, 1, MTU));
	EQUAL(handle_response(response(SROCE_READ_RESPONSE_FIRST, 1, MTU)),
	      SROCE_RESP_IGNORE);
	handle_response(response(SROCE_READ_RESPONSE_MIDDLE, 2, MTU));
	handle_response(response(SROCE_READ_RESPONSE_LAST, 3, 8));
	handle_response(response(SROCE_ATOMIC_ACKNOWLEDGE, 4, 0));
	EQUAL(handle_response(response(SROCE_ATOMIC_ACKNOWLEDGE, 4, 0)),
	      SROCE_RESP_IGNORE);
}

TEST(completer, ack_beyond_missing_response_reports_loss)
{
	u32 at;

	for (at = 1; at < 7; at++) {
		send_mixed(0xfffffd);
		EQUAL(check(ack(0xfffffd + at, ACK)), SROCE_RESP_RETRY);
		EQUAL(a.up_to, 0xfffffe);
	}
}

TEST(completer, nak_beyond_missing_response_reports_loss)
{
	static const u8 naks[] = {
		SROCE_NAK_SEQUENCE, SROCE_NAK_INVALID_REQ, SROCE_NAK_REM_ACCESS,
		SROCE_NAK_REM_OP, SROCE_RNR_NAK | 1,
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(naks); i++) {
		send_mixed(0);
		EQUAL(check(ack(5, naks[i])), SROCE_RESP_RETRY);
		EQUAL(a.up_to, 1);
		handle_response(response(SROCE_READ_RESPONSE_FIRST, 1, MTU));
		EQUAL(check(ack(5, naks[i])), SROCE_RESP_RETRY);
		EQUAL(a.up_to, 2);
	}
}

/* Packets like the one before @psn, predicted together and one by one. */
static void alike(u32 psn, u32 payload, u32 most, u32 *together, u32 *one_by_one)
{
	struct sroce_pkt pkt = response(SROCE_READ_RESPONSE_MIDDLE, psn, payload);
	struct sender before = s;
	u8 bth[SROCE_MAX_HEADER];
	u32 offset, n;

	pkt.psn = (psn - 1) & 0xffffff;
	sroce_build(bth, &pkt);
	*together = sroce_completer_predicts_alike(&s.r, bth, payload, most, &offset);
	if (*together)
		EQUAL(offset, (psn - s.r.in.wrs[s.r.in.head & s.r.in.mask].psn) * MTU);
	for (n = 0; n < most; n++) {
		pkt.psn = (psn + n) & 0xffffff;
		sroce_build(bth, &pkt);
		if (!sroce_completer_predicts(&s.r, bth, payload, &offset))
			break;
		sroce_requester_acknowledge(&s.r, (psn + n + 1) & 0xffffff);
	}
	*one_by_one = n;
	s = before;
}

TEST(completer, responses_alike_are_those_predicted_one_by_one)
{
	u32 length, most, together, one_by_one;

	for (length = 2 * MTU; length <= 6 * MTU; length += MTU / 2)
		for (most = 0; most < 8; most++) {
			sender_init(&s, 0);
			post(&s, SROCE_OP_READ, length);
			post(&s, SROCE_OP_READ, length);
			send_all(&s);
			handle_response(response(SROCE_READ_RESPONSE_FIRST, 0, MTU));
			alike(1, MTU, most, &together, &one_by_one);
			EQUAL(together, one_by_one);
		}
	EQUAL(together, 4);
	alike(1, MTU - 4, 8, &together, &one_by_one);
	EQUAL(together, 0);
	/* Not behind the last one */
	alike(2, MTU, 8, &together, &one_by_one);
	EQUAL(together, 0);
	/* No response can come before it has been requested. */
	s.r.sent = 3;
	alike(1, MTU, 8, &together, &one_by_one);
	EQUAL(together, 2);
	EQUAL(one_by_one, 2);
}

static void set_refusal(u32 psn, u8 status)
{
	s.r.refused = psn & 0xffffff;
	s.r.refusal = status;
}

TEST(completer, fatal_nak_takes_effect_after_missing_response)
{
	u32 at, b, i;

	for (i = 0; i < ARRAY_SIZE(bases); i++)
		for (at = 4; at < 7; at++) {
			b = bases[i];
			send_mixed(b);
			EQUAL(check(ack(b + at, ACK)), SROCE_RESP_RETRY);
			EQUAL(a.status, 0);
			CHECK(!sroce_completer_refused(&s.r, &a));
			EQUAL(handle_response(ack(b + at, SROCE_NAK_REM_OP)),
			      SROCE_RESP_RETRY);
			EQUAL(a.status, SROCE_REM_OP_ERR);
			set_refusal(b + at, a.status);
			CHECK(!sroce_completer_refused(&s.r, &a));
			send_all(&s);
			handle_response(response(SROCE_READ_RESPONSE_FIRST, b + 1, MTU));
			handle_response(response(SROCE_READ_RESPONSE_MIDDLE, b + 2, MTU));
			CHECK(!sroce_completer_refused(&s.r, &a));
			handle_response(response(SROCE_READ_RESPONSE_LAST, b + 3, 8));
			EQUAL(sroce_completer_refused(&s.r, &a), at == 4);
			handle_response(response(SROCE_ATOMIC_ACKNOWLEDGE, b + 4, 0));
			CHECK(sroce_completer_refused(&s.r, &a));
			EQUAL(a.status, SROCE_REM_OP_ERR);
			EQUAL(a.up_to, (b + (at == 6 ? 6 : 5)) & 0xffffff);
		}
}

TEST(completer, response_beyond_missing_one_reports_loss)
{
	send_mixed(0);
	EQUAL(check(response(SROCE_READ_RESPONSE_MIDDLE, 2, MTU)),
	      SROCE_RESP_AHEAD);
	EQUAL(a.up_to, 1);
	EQUAL(check(response(SROCE_ATOMIC_ACKNOWLEDGE, 4, 0)),
	      SROCE_RESP_RETRY);
	EQUAL(a.up_to, 1);
	handle_response(response(SROCE_READ_RESPONSE_FIRST, 1, MTU));
	EQUAL(check(response(SROCE_READ_RESPONSE_LAST, 3, 8)),
	      SROCE_RESP_AHEAD);
	EQUAL(a.up_to, 2);
	/* This length is wrong. */
	EQUAL(check(response(SROCE_READ_RESPONSE_LAST, 3, 9)),
	      SROCE_RESP_RETRY);
}

/* The READ was requested again while its response was on the way. */
TEST(completer, fatal_nak_to_repeated_read_is_accepted)
{
	send_mixed(0);
	handle_response(ack(0, ACK));
	EQUAL(handle_response(response(SROCE_READ_RESPONSE_FIRST, 1, MTU)),
	      SROCE_RESP_DATA);
	EQUAL(handle_response(response(SROCE_READ_RESPONSE_MIDDLE, 2, MTU)),
	      SROCE_RESP_DATA);
	EQUAL(check(ack(1, SROCE_NAK_SEQUENCE)), SROCE_RESP_IGNORE);
	EQUAL(check(ack(0, SROCE_NAK_REM_ACCESS)), SROCE_RESP_IGNORE);
	EQUAL(check(ack(1, ACK)), SROCE_RESP_IGNORE);
	EQUAL(handle_response(ack(1, SROCE_NAK_REM_ACCESS)), SROCE_RESP_FAIL);
	EQUAL(a.status, SROCE_REM_ACCESS_ERR);
	EQUAL(s.r.una, 3);
}

/* After a rewind, further NAKs and gaps report the same loss. */
TEST(completer, loss_reported_again_uses_no_retry)
{
	send_mixed(0);
	EQUAL(handle_response(ack(4, ACK)), SROCE_RESP_RETRY);
	EQUAL(s.r.psn, 1);
	EQUAL(s.r.retry_left, 2);
	EQUAL(handle_response(ack(5, ACK)), SROCE_RESP_ACK);
	EQUAL(handle_response(ack(6, ACK)), SROCE_RESP_ACK);
	EQUAL(handle_response(response(SROCE_ATOMIC_ACKNOWLEDGE, 4, 0)),
	      SROCE_RESP_ACK);
	EQUAL(s.r.una, 1);
	EQUAL(s.r.retry_left, 2);
}

/* After a rewind, a NAK with progress reports another loss. */
TEST(completer, nak_with_progress_reports_next_loss)
{
	send_messages(6);
	s.r.repair.peer = SROCE_PEER_DROPS;
	s.r.repair.retest = SROCE_PEER_RETEST;
	EQUAL(handle_response(ack(1, SROCE_NAK_SEQUENCE)), SROCE_RESP_REPAIR);
	EQUAL(s.r.psn, 1);
	send_all(&s);
	EQUAL(handle_response(ack(1, SROCE_NAK_SEQUENCE)), SROCE_RESP_ACK);
	/* The reduced window ends here; PSN 5 was sent before. */
	EQUAL(s.r.psn, 5);
	EQUAL(handle_response(ack(3, SROCE_NAK_SEQUENCE)), SROCE_RESP_REPAIR);
	EQUAL(s.r.psn, 3);
}

TEST(completer, loss_after_rewind_and_progress_uses_retry)
{
	send_mixed(0);
	CHECK(sroce_completer_retry(&s.r));
	send_all(&s);
	EQUAL(handle_response(ack(0, ACK)), SROCE_RESP_ACK);
	EQUAL(handle_response(ack(6, ACK)), SROCE_RESP_RETRY);
	EQUAL(s.r.psn, 1);
}

TEST(completer, nak_acks_earlier_packets)
{
	send_messages(4);
	EQUAL(handle_response(ack(2, SROCE_NAK_SEQUENCE)), SROCE_RESP_REPAIR);
	EQUAL(s.r.una, 2);
	EQUAL(s.r.psn, 2);
	EQUAL(s.r.in.head, 0);
}

TEST(completer, fatal_nak_sets_status)
{
	static const u8 naks[][2] = {
		{ SROCE_NAK_INVALID_REQ, SROCE_REM_INV_REQ_ERR },
		{ SROCE_NAK_REM_ACCESS, SROCE_REM_ACCESS_ERR },
		{ SROCE_NAK_REM_OP, SROCE_REM_OP_ERR },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(naks); i++) {
		send_messages(3);
		EQUAL(check(ack(1, naks[i][0])), SROCE_RESP_FAIL);
		EQUAL(a.up_to, 1);
		EQUAL(a.status, naks[i][1]);
	}
}

TEST(completer, reserved_syndrome_is_ignored)
{
	u32 syndrome;

	for (syndrome = 0; syndrome < 256; syndrome++) {
		send_messages(1);
		if (syndrome < 0x40 ||
		    (syndrome >= 0x60 && syndrome <= 0x63))
			CHECK(check(ack(0, syndrome)) != SROCE_RESP_IGNORE);
		else
			EQUAL(check(ack(0, syndrome)), SROCE_RESP_IGNORE);
	}
}

/* Other NAKs would report a loss here. */
TEST(completer, reserved_nak_beyond_missing_response_is_ignored)
{
	u32 code;

	send_mixed(0);
	for (code = 4; code < 32; code++)
		EQUAL(check(ack(6, SROCE_AETH_NAK << 5 | code)),
		      SROCE_RESP_IGNORE);
	EQUAL(check(response(SROCE_ATOMIC_ACKNOWLEDGE, 1, 0)),
	      SROCE_RESP_IGNORE);
	EQUAL(check(response(SROCE_READ_RESPONSE_ONLY, 4, 8)),
	      SROCE_RESP_IGNORE);
}

TEST(completer, response_with_nak_syndrome_is_ignored)
{
	static const u8 ops[] = {
		SROCE_READ_RESPONSE_FIRST, SROCE_READ_RESPONSE_LAST,
		SROCE_READ_RESPONSE_ONLY, SROCE_ATOMIC_ACKNOWLEDGE,
	};
	u32 syndrome, i, psn;

	send_mixed(0);
	for (syndrome = 0x20; syndrome < 256; syndrome++)
		for (i = 0; i < ARRAY_SIZE(ops); i++)
			for (psn = 0; psn < 8; psn++) {
				struct sroce_pkt pkt = response(ops[i], psn,
								MTU);

				pkt.syndrome = syndrome;
				EQUAL(check(pkt), SROCE_RESP_IGNORE);
			}
}

TEST(completer, response_of_other_kind_is_ignored)
{
	send_mixed(0);
	EQUAL(check(response(SROCE_READ_RESPONSE_ONLY, 0, 8)),
	      SROCE_RESP_IGNORE);
	EQUAL(check(response(SROCE_ATOMIC_ACKNOWLEDGE, 0, 0)),
	      SROCE_RESP_IGNORE);
	EQUAL(check(response(SROCE_ATOMIC_ACKNOWLEDGE, 1, 0)),
	      SROCE_RESP_IGNORE);
	EQUAL(check(response(SROCE_READ_RESPONSE_ONLY, 5, MTU)),
	      SROCE_RESP_IGNORE);
	handle_response(response(SROCE_READ_RESPONSE_FIRST, 1, MTU));
	handle_response(response(SROCE_READ_RESPONSE_MIDDLE, 2, MTU));
	handle_response(response(SROCE_READ_RESPONSE_LAST, 3, 8));
	EQUAL(check(response(SROCE_READ_RESPONSE_ONLY, 4, 8)),
	      SROCE_RESP_IGNORE);
}

TEST(completer, response_of_wrong_length_or_position_fails)
{
	send_mixed(0);
	EQUAL(check(response(SROCE_READ_RESPONSE_FIRST, 1, MTU - 4)),
	      SROCE_RESP_FAIL);
	EQUAL(a.status, SROCE_BAD_RESP_ERR);
	EQUAL(a.up_to, 1);
	EQUAL(check(response(SROCE_READ_RESPONSE_FIRST, 1, MTU + 4)),
	      SROCE_RESP_FAIL);
	EQUAL(check(response(SROCE_READ_RESPONSE_ONLY, 1, MTU)),
	      SROCE_RESP_FAIL);
	handle_response(response(SROCE_READ_RESPONSE_FIRST, 1, MTU));
	handle_response(response(SROCE_READ_RESPONSE_MIDDLE, 2, MTU));
	EQUAL(check(response(SROCE_READ_RESPONSE_MIDDLE, 3, 8)),
	      SROCE_RESP_FAIL);
	EQUAL(check(response(SROCE_READ_RESPONSE_LAST, 3, 9)),
	      SROCE_RESP_FAIL);
	EQUAL(check(response(SROCE_READ_RESPONSE_LAST, 3, 0)),
	      SROCE_RESP_FAIL);
	/* The response to a repeated request starts with a first or only packet. */
	EQUAL(check(response(SROCE_READ_RESPONSE_ONLY, 3, 8)),
	      SROCE_RESP_DATA);
}

TEST(completer, response_may_end_with_read_part)
{
	sender_init(&s, 0);
	s.r.cc.window = 2;
	post(&s, SROCE_OP_READ, 4 * MTU);
	EQUAL(send_all(&s), SROCE_NEXT_WINDOW);
	EQUAL(handle_response(response(SROCE_READ_RESPONSE_FIRST, 0, MTU)),
	      SROCE_RESP_DATA);
	EQUAL(handle_response(response(SROCE_READ_RESPONSE_LAST, 1, MTU)),
	      SROCE_RESP_DATA);
	EQUAL(send_all(&s), SROCE_NEXT_NOTHING);
	EQUAL(check(response(SROCE_READ_RESPONSE_ONLY, 2, 8)),
	      SROCE_RESP_FAIL);
	EQUAL(handle_response(response(SROCE_READ_RESPONSE_FIRST, 2, MTU)),
	      SROCE_RESP_DATA);
	EQUAL(check(response(SROCE_READ_RESPONSE_MIDDLE, 3, MTU)),
	      SROCE_RESP_FAIL);
	EQUAL(handle_response(response(SROCE_READ_RESPONSE_LAST, 3, MTU)),
	      SROCE_RESP_DATA);
	EQUAL(s.r.reads, 0);
}

TEST(completer, read_of_zero_bytes_completes)
{
	sender_init(&s, 0xffffff);
	post(&s, SROCE_OP_READ, 0);
	send_all(&s);
	EQUAL(handle_response(response(SROCE_READ_RESPONSE_ONLY, 0xffffff, 0)),
	      SROCE_RESP_DATA);
	EQUAL(s.r.in.head, s.r.in.tail);
}

/* Send a WRITE (PSN 0), atomic WRITE (1), FLUSH of nine MTUs (2) and SEND (3). */
static void send_placements(void)
{
	sender_init(&s, 0);
	post(&s, SROCE_OP_WRITE, 8);
	post(&s, SROCE_OP_ATOMIC_WRITE, 8);
	post(&s, SROCE_OP_FLUSH, 9 * MTU)->packets = 1;
	post(&s, SROCE_OP_SEND, 8);
	EQUAL(send_all(&s), SROCE_NEXT_NOTHING);
}

TEST(completer, empty_response_completes_atomic_write_and_flush)
{
	send_placements();
	EQUAL(handle_response(response(SROCE_READ_RESPONSE_ONLY, 1, 0)),
	      SROCE_RESP_ACK);
	EQUAL(s.r.in.tail - s.r.in.head, 2);
	EQUAL(handle_response(response(SROCE_READ_RESPONSE_ONLY, 1, 0)),
	      SROCE_RESP_IGNORE);
	EQUAL(handle_response(response(SROCE_READ_RESPONSE_ONLY, 2, 0)),
	      SROCE_RESP_ACK);
	EQUAL(handle_response(ack(3, ACK)), SROCE_RESP_ACK);
	EQUAL(s.r.in.head, s.r.in.tail);
	EQUAL(s.r.reads, 0);
}

TEST(completer, ack_does_not_complete_atomic_write_and_flush)
{
	send_placements();
	EQUAL(check(ack(3, ACK)), SROCE_RESP_RETRY);
	EQUAL(a.up_to, 1);
	EQUAL(check(ack(1, ACK)), SROCE_RESP_RETRY);
	EQUAL(check(response(SROCE_READ_RESPONSE_ONLY, 2, 0)),
	      SROCE_RESP_RETRY);
	EQUAL(handle_response(ack(1, SROCE_NAK_REM_ACCESS)), SROCE_RESP_FAIL);
	EQUAL(a.status, SROCE_REM_ACCESS_ERR);
	EQUAL(a.up_to, 1);
}

TEST(completer, wrong_response_does_not_complete_atomic_write_and_flush)
{
	u32 psn;

	send_placements();
	for (psn = 1; psn <= 2; psn++) {
		EQUAL(check(response(SROCE_READ_RESPONSE_ONLY, psn, 8)),
		      SROCE_RESP_FAIL);
		EQUAL(a.status, SROCE_BAD_RESP_ERR);
		EQUAL(check(response(SROCE_READ_RESPONSE_FIRST, psn, 0)),
		      SROCE_RESP_FAIL);
		EQUAL(check(response(SROCE_ATOMIC_ACKNOWLEDGE, psn, 0)),
		      SROCE_RESP_IGNORE);
		EQUAL(handle_response(response(SROCE_READ_RESPONSE_ONLY, psn, 0)),
		      SROCE_RESP_ACK);
	}
}

TEST(completer, retries_are_limited_and_restored_by_progress)
{
	u32 i;

	send_messages(2);
	for (i = 0; i < 3; i++)
		CHECK(sroce_completer_retry(&s.r));
	CHECK(!sroce_completer_retry(&s.r));
	send_all(&s);
	EQUAL(handle_response(ack(0, ACK)), SROCE_RESP_ACK);
	for (i = 0; i < 3; i++)
		CHECK(sroce_completer_retry(&s.r));
	CHECK(!sroce_completer_retry(&s.r));
	s.r.retry_count = 0;
	s.r.retry_left = 0;
	CHECK(!sroce_completer_retry(&s.r));
}

TEST(completer, rnr_nak_waits_then_resends)
{
	send_messages(4);
	EQUAL(handle_response(ack(2, SROCE_RNR_NAK | 12)), SROCE_RESP_RNR);
	EQUAL(a.rnr_timer, 12);
	EQUAL(s.r.una, 2);
	EQUAL(send_all(&s), SROCE_NEXT_RNR);
	/* A repeated RNR NAK uses no retry. */
	EQUAL(handle_response(ack(2, SROCE_RNR_NAK | 12)), SROCE_RESP_ACK);
	EQUAL(s.r.rnr_left, 1);
	EQUAL(s.r.retry_left, 3);
	s.r.rnr_wait = false;
	SEND(&s, SROCE_SEND_ONLY, 2);
	EQUAL(handle_response(ack(2, ACK)), SROCE_RESP_ACK);
	SEND(&s, SROCE_SEND_ONLY, 3);
}

TEST(completer, one_packet_is_sent_after_rnr_wait)
{
	sender_init(&s, 0);
	post(&s, SROCE_OP_SEND, 3 * MTU);
	post(&s, SROCE_OP_SEND, 1);
	send_all(&s);
	EQUAL(handle_response(ack(0, SROCE_RNR_NAK | 12)), SROCE_RESP_RNR);
	s.r.rnr_wait = false;
	SEND(&s, SROCE_SEND_FIRST, 0);
	EQUAL(sroce_requester_next(&s.r, &s.out), SROCE_NEXT_WINDOW);
	EQUAL(handle_response(ack(0, SROCE_RNR_NAK | 12)), SROCE_RESP_RNR);
	s.r.rnr_wait = false;
	SEND(&s, SROCE_SEND_FIRST, 0);
	EQUAL(handle_response(ack(0, ACK)), SROCE_RESP_ACK);
	EQUAL(send_all(&s), SROCE_NEXT_NOTHING);
	EQUAL(s.r.psn, 4);
}

TEST(completer, progress_ends_rnr_wait)
{
	send_messages(4);
	handle_response(ack(2, SROCE_RNR_NAK | 12));
	EQUAL(s.r.rnr_waits, 1);
	EQUAL(handle_response(ack(2, ACK)), SROCE_RESP_ACK);
	CHECK(!s.r.rnr_wait);
	EQUAL(s.r.rnr_left, 2);
	SEND(&s, SROCE_SEND_ONLY, 3);
}

TEST(completer, rnr_retries_are_limited)
{
	u32 i;

	send_messages(1);
	CHECK(sroce_completer_rnr(&s.r));
	CHECK(sroce_completer_rnr(&s.r));
	CHECK(!sroce_completer_rnr(&s.r));
	s.r.rnr_retry = 7;
	s.r.rnr_left = 7;
	for (i = 0; i < 300; i++)
		CHECK(sroce_completer_rnr(&s.r));
	EQUAL(s.r.rnr_waits, 255);
	s.r.rnr_retry = 0;
	s.r.rnr_left = 0;
	CHECK(!sroce_completer_rnr(&s.r));
}

/* The READ is being sent again; the response to the first request arrives. */
TEST(completer, response_to_request_before_rewind_is_accepted)
{
	send_mixed(0xfffffe);
	CHECK(sroce_completer_retry(&s.r));
	SEND(&s, SROCE_SEND_ONLY, 0xfffffe);
	EQUAL(handle_response(response(SROCE_READ_RESPONSE_FIRST, 0xffffff, MTU)),
	      SROCE_RESP_DATA);
	EQUAL(s.r.psn, 0);
	SEND(&s, SROCE_READ_REQUEST, 0);
	EQUAL(s.out.pkt.dma_len, MTU + 8);
	EQUAL(handle_response(response(SROCE_READ_RESPONSE_MIDDLE, 0, MTU)),
	      SROCE_RESP_DATA);
	EQUAL(s.r.psn, 2);
	EQUAL(handle_response(response(SROCE_READ_RESPONSE_FIRST, 0, MTU)),
	      SROCE_RESP_IGNORE);
	EQUAL(handle_response(response(SROCE_READ_RESPONSE_LAST, 1, 8)),
	      SROCE_RESP_DATA);
}
