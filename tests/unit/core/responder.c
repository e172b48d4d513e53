// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "responder.h"
#include "test_packet.h"
#include "tap.h"

static struct sroce_resource reads[4];
static struct sroce_responder r;
static struct sroce_request req;

static void setup(bool reliable, u32 epsn)
{
	memset(reads, 0, sizeof(reads));
	r = (struct sroce_responder) {
		.epsn = epsn & 0xffffff,
		.mtu = MTU,
		.permissions = SROCE_MAY_WRITE | SROCE_MAY_READ |
			       SROCE_MAY_ATOMIC | SROCE_MAY_FLUSH,
		.transport = reliable ? SROCE_RC : SROCE_UC,
		.res = { .reads = reads, .size = ARRAY_SIZE(reads), .mtu = MTU },
	};
}

static enum sroce_request_verdict check(struct sroce_pkt pkt)
{
	memset(&req, 0xee, sizeof(req));
	return sroce_responder_check(&r, &pkt, &req);
}

static void expect_refusal(struct sroce_pkt pkt, u8 reason)
{
	EQUAL(check(pkt), SROCE_REFUSE);
	EQUAL(req.reason, reason);
}

static void execute(struct sroce_pkt pkt)
{
	EQUAL(check(pkt), SROCE_EXECUTE);
	sroce_responder_done(&r, &pkt, &req, 0);
}

static struct sroce_pkt write_first(u32 psn, u32 length)
{
	struct sroce_pkt pkt = packet(SROCE_WRITE_FIRST, psn, MTU);

	pkt.dma_len = length;
	return pkt;
}

/* Start a message of @kind.  Its next packet has PSN 1. */
static void start_message(u8 kind, bool reliable)
{
	u8 transport = reliable ? SROCE_RC : SROCE_UC;
	struct sroce_pkt pkt;

	setup(reliable, 0);
	pkt = kind == SROCE_KIND_WRITE ? write_first(0, 2 * MTU) :
					 packet(SROCE_SEND_FIRST, 0, MTU);
	pkt.opcode |= transport;
	pkt.op = &sroce_opcodes[pkt.opcode];
	if (kind == SROCE_KIND_NONE)
		r.epsn = 1;
	else
		execute(pkt);
}

/* 9.7.4.1.4: valid opcode sequences. */
static bool may_follow(u8 kind, u8 operation)
{
	switch (operation) {
	case SROCE_SEND_MIDDLE:
	case SROCE_SEND_LAST:
	case SROCE_SEND_LAST_IMM:
	case SROCE_SEND_LAST_INV:
		return kind == SROCE_KIND_SEND;
	case SROCE_WRITE_MIDDLE:
	case SROCE_WRITE_LAST:
	case SROCE_WRITE_LAST_IMM:
		return kind == SROCE_KIND_WRITE;
	default:
		return kind == SROCE_KIND_NONE &&
		       sroce_opcodes[operation].kind != SROCE_KIND_RESERVED;
	}
}

static struct sroce_pkt valid_packet(u8 opcode)
{
	const struct sroce_opcode *op = &sroce_opcodes[opcode];
	struct sroce_pkt pkt = packet(opcode, 1, 0);

	if (op->headers & SROCE_PAYLOAD)
		pkt.payload = MTU;
	pkt.dma_len = op->pos & SROCE_LAST ? MTU : 3 * MTU;
	if (op->kind == SROCE_KIND_ATOMIC_WRITE)
		pkt = atomic_write(1, 0x100);
	if (op->kind == SROCE_KIND_FLUSH)
		pkt = flush(1, SROCE_FLUSH_GLOBAL, SROCE_FLUSH_RANGE);
	/* After a middle packet at least one more packet has to follow. */
	if (op->kind == SROCE_KIND_WRITE && op->pos == SROCE_MIDDLE)
		r.left = 2 * MTU;
	return pkt;
}

static void check_next(u8 kind, u8 opcode)
{
	struct sroce_pkt pkt;

	start_message(kind, true);
	pkt = valid_packet(opcode);
	if (may_follow(kind, opcode & 0x1f))
		EQUAL(check(pkt), SROCE_EXECUTE);
	else
		expect_refusal(pkt, SROCE_OUT_OF_PLACE);
}

TEST(responder, rc_opcode_out_of_sequence_is_refused)
{
	static const u8 kinds[] = { SROCE_KIND_NONE, SROCE_KIND_SEND,
				    SROCE_KIND_WRITE };
	u32 i, opcode;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		for (opcode = 0; opcode < 0x20; opcode++) {
			u8 kind = sroce_opcodes[opcode].kind;

			if (kind && kind < SROCE_KIND_RESPONSES)
				check_next(kinds[i], opcode);
		}
}

/* 9.8.2.2.1: a packet out of sequence drops the message, not the connection. */
static void check_next_unreliable(u8 kind, u8 opcode)
{
	struct sroce_pkt pkt;
	bool begins = sroce_opcodes[opcode].pos & SROCE_FIRST;

	start_message(kind, false);
	pkt = valid_packet(opcode);
	if (begins || may_follow(kind, opcode & 0x1f)) {
		execute(pkt);
	} else {
		expect_refusal(pkt, SROCE_OUT_OF_PLACE);
		EQUAL(r.kind, SROCE_KIND_NONE);
	}
	EQUAL(r.epsn, 2);
}

TEST(responder, uc_opcode_out_of_sequence_drops_message)
{
	static const u8 kinds[] = { SROCE_KIND_NONE, SROCE_KIND_SEND,
				    SROCE_KIND_WRITE };
	u32 i, opcode;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		for (opcode = 0x20; opcode < 0x2c; opcode++)
			check_next_unreliable(kinds[i], opcode);
}

TEST(responder, send_takes_receive_at_first_packet)
{
	setup(true, 0xfffffe);
	execute(packet(SROCE_SEND_FIRST, 0xfffffe, MTU));
	CHECK(req.take && req.begins && !req.completes && !req.receives);
	EQUAL(req.offset, 0);
	execute(packet(SROCE_SEND_MIDDLE, 0xffffff, MTU));
	CHECK(!req.take && !req.begins && !req.completes);
	EQUAL(req.offset, MTU);
	EQUAL(r.msn, 0);
	execute(packet(SROCE_SEND_LAST_IMM, 0, 1));
	CHECK(!req.take && req.completes && req.receives);
	EQUAL(req.offset, 2 * MTU);
	EQUAL(r.epsn, 1);
	EQUAL(r.msn, 1);
	execute(packet(SROCE_SEND_ONLY, 1, 0));
	CHECK(req.take && req.begins && req.completes && req.receives);
	EQUAL(req.offset, 0);
	EQUAL(r.msn, 2);
}

TEST(responder, write_address_advances_by_payload)
{
	setup(true, 0);
	execute(write_first(0, 2 * MTU + 7));
	EQUAL(req.va, 0x1000);
	execute(packet(SROCE_WRITE_MIDDLE, 1, MTU));
	EQUAL(req.va, 0x1000 + MTU);
	EQUAL(req.rkey, 0x77);
	CHECK(!req.take && !req.receives);
	execute(packet(SROCE_WRITE_LAST, 2, 7));
	EQUAL(req.va, 0x1000 + 2 * MTU);
	CHECK(req.completes && !req.receives && !req.take);
	EQUAL(r.msn, 1);
	EQUAL(r.kind, SROCE_KIND_NONE);
}

TEST(responder, write_imm_takes_receive_at_last_packet)
{
	setup(true, 0);
	execute(write_first(0, MTU + 7));
	CHECK(!req.take);
	execute(packet(SROCE_WRITE_LAST_IMM, 1, 7));
	CHECK(req.take && req.receives);
	execute(packet(SROCE_WRITE_ONLY_IMM, 2, 0));
	CHECK(req.take && req.receives && req.begins);
	CHECK(!r.rwqe_taken);
}

TEST(responder, payload_must_fit_path_mtu)
{
	setup(true, 0);
	expect_refusal(packet(SROCE_SEND_FIRST, 0, MTU - 4), SROCE_BAD_LENGTH);
	expect_refusal(packet(SROCE_SEND_FIRST, 0, MTU + 4), SROCE_BAD_LENGTH);
	expect_refusal(packet(SROCE_SEND_ONLY, 0, MTU + 4), SROCE_BAD_LENGTH);
	expect_refusal(packet(SROCE_WRITE_ONLY, 0, MTU + 4), SROCE_BAD_LENGTH);
	CHECK(check(packet(SROCE_SEND_ONLY, 0, MTU)) == SROCE_EXECUTE);
	execute(packet(SROCE_SEND_FIRST, 0, MTU));
	expect_refusal(packet(SROCE_SEND_MIDDLE, 1, 0), SROCE_BAD_LENGTH);
	expect_refusal(packet(SROCE_SEND_LAST, 1, 0), SROCE_BAD_LENGTH);
	expect_refusal(packet(SROCE_SEND_LAST_INV, 1, 0), SROCE_BAD_LENGTH);
	expect_refusal(packet(SROCE_SEND_LAST, 1, MTU + 4), SROCE_BAD_LENGTH);
	execute(packet(SROCE_SEND_LAST, 1, 1));
}

TEST(responder, payload_must_match_reth_length)
{
	struct sroce_pkt only = packet(SROCE_WRITE_ONLY, 0, 8);

	setup(true, 0);
	only.dma_len = 0;
	expect_refusal(only, SROCE_BAD_LENGTH);
	only.dma_len = 7;
	expect_refusal(only, SROCE_BAD_LENGTH);
	only.dma_len = 9;
	expect_refusal(only, SROCE_BAD_LENGTH);
	only.dma_len = 8;
	CHECK(check(only) == SROCE_EXECUTE);
	only = packet(SROCE_WRITE_ONLY_IMM, 0, 0);
	only.dma_len = 1;
	expect_refusal(only, SROCE_BAD_LENGTH);
	expect_refusal(write_first(0, 0), SROCE_BAD_LENGTH);
	expect_refusal(write_first(0, MTU - 1), SROCE_BAD_LENGTH);
	expect_refusal(write_first(0, MTU), SROCE_BAD_LENGTH);
	expect_refusal(write_first(0, SROCE_MAX_MSG + 1), SROCE_BAD_LENGTH);
	CHECK(check(write_first(0, SROCE_MAX_MSG)) == SROCE_EXECUTE);
	execute(write_first(0, MTU + 10));
	expect_refusal(packet(SROCE_WRITE_MIDDLE, 1, MTU), SROCE_BAD_LENGTH);
	expect_refusal(packet(SROCE_WRITE_LAST, 1, 9), SROCE_BAD_LENGTH);
	expect_refusal(packet(SROCE_WRITE_LAST_IMM, 1, 11), SROCE_BAD_LENGTH);
	execute(packet(SROCE_WRITE_LAST, 1, 10));
}

TEST(responder, request_without_permission_is_refused)
{
	setup(true, 0);
	r.permissions = 0;
	expect_refusal(packet(SROCE_WRITE_ONLY, 0, 8), SROCE_NOT_ENABLED);
	expect_refusal(read_request(0, 0, 8), SROCE_NOT_ENABLED);
	expect_refusal(atomic(0, 0), SROCE_NOT_ENABLED);
	execute(packet(SROCE_SEND_ONLY, 0, 8));
	r.permissions = SROCE_MAY_READ;
	expect_refusal(atomic(1, 0), SROCE_NOT_ENABLED);
	execute(read_request(1, 0, 8));
}

TEST(responder, misaligned_atomic_is_refused)
{
	u32 i;

	setup(true, 0);
	for (i = 1; i < 8; i++)
		expect_refusal(atomic(0, 0x100 + i), SROCE_MISALIGNED);
	execute(atomic(0, 0x100));
	EQUAL(r.epsn, 1);
	EQUAL(r.msn, 1);
}

TEST(responder, atomic_write_must_be_one_aligned_word)
{
	struct sroce_pkt pkt;
	u32 i;

	setup(true, 0);
	for (i = 1; i < 8; i++)
		expect_refusal(atomic_write(0, 0x100 + i), SROCE_MISALIGNED);
	for (i = 0; i < 17; i++) {
		if (i == 8)
			continue;
		pkt = packet(SROCE_ATOMIC_WRITE, 0, i);
		expect_refusal(pkt, SROCE_BAD_LENGTH);
		pkt.dma_len = 8;
		expect_refusal(pkt, SROCE_BAD_LENGTH);
		pkt = atomic_write(0, 0x100);
		pkt.dma_len = i;
		expect_refusal(pkt, SROCE_BAD_LENGTH);
	}
	r.permissions = SROCE_MAY_ALL & ~SROCE_MAY_WRITE;
	expect_refusal(atomic_write(0, 0x100), SROCE_NOT_ENABLED);
	r.permissions = SROCE_MAY_WRITE;
	execute(atomic_write(0, 0x100));
	EQUAL(r.epsn, 1);
	EQUAL(r.msn, 1);
	EQUAL(r.res.waiting, 1);
	EQUAL(r.kind, SROCE_KIND_NONE);
}

TEST(responder, flush_needs_permission_for_its_placement)
{
	u32 type, level;

	setup(true, 0);
	for (type = 0; type < 16; type++) {
		for (level = 0; level < 4; level++) {
			r.permissions = SROCE_MAY_FLUSH | SROCE_MAY_PERSIST;
			if (!type || type > 3 || level > 1) {
				expect_refusal(flush(0, type, level), SROCE_NOT_ENABLED);
				continue;
			}
			setup(true, 0);
			r.permissions = type << 8;
			execute(flush(0, type, level));
			EQUAL(r.epsn, 1);
			EQUAL(r.res.waiting, 1);
			setup(true, 0);
			r.permissions = SROCE_MAY_ALL & ~(type << 8);
			expect_refusal(flush(0, type, level), SROCE_NOT_ENABLED);
		}
	}
}

TEST(responder, flush_length_is_checked_only_with_range)
{
	struct sroce_pkt pkt = flush(0, SROCE_FLUSH_GLOBAL, SROCE_FLUSH_RANGE);

	setup(true, 0);
	r.permissions = SROCE_MAY_FLUSH;
	pkt.dma_len = SROCE_MAX_MSG + 1;
	expect_refusal(pkt, SROCE_BAD_LENGTH);
	pkt.flush_level = SROCE_FLUSH_REGION;
	execute(pkt);
	pkt = flush(1, SROCE_FLUSH_GLOBAL, SROCE_FLUSH_RANGE);
	pkt.dma_len = SROCE_MAX_MSG;
	execute(pkt);
	EQUAL(r.epsn, 2);
}

TEST(responder, read_uses_psns_of_its_response)
{
	setup(true, 0xffffff);
	execute(read_request(0xffffff, 0, 3 * MTU));
	EQUAL(r.epsn, 2);
	EQUAL(r.msn, 1);
	execute(read_request(2, 0, 0));
	EQUAL(r.epsn, 3);
}

TEST(responder, ack_never_has_psn_of_read)
{
	setup(true, 0);
	sroce_responder_expect(&r, 0);
	EQUAL(sroce_responder_acked(&r), 0xffffff);
	execute(read_request(0, 0, 3 * MTU));
	EQUAL(sroce_responder_acked(&r), 0xffffff);
	execute(packet(SROCE_SEND_ONLY, 3, 1));
	EQUAL(sroce_responder_acked(&r), 3);
	execute(atomic(4, 0));
	execute(read_request(5, 0, 8));
	EQUAL(sroce_responder_acked(&r), 3);
	execute(packet(SROCE_WRITE_ONLY, 6, 0));
	EQUAL(sroce_responder_acked(&r), 6);
	/* The last ACK is half of the PSN space old. */
	r.epsn = 7 + 0x800000;
	EQUAL(sroce_responder_acked(&r), 6 + 0x800000);
}

TEST(responder, read_length_is_limited)
{
	setup(true, 0);
	r.mtu = 256;
	r.res.mtu = 256;
	expect_refusal(read_request(0, 0, SROCE_MAX_MSG + 1), SROCE_BAD_LENGTH);
	/* 2^22 packets */
	expect_refusal(read_request(0, 0, (1 << 30) + 1), SROCE_BAD_LENGTH);
	execute(read_request(0, 0, 1 << 30));
	EQUAL(r.epsn, 1 << 22);
}

TEST(responder, reads_beyond_max_dest_rd_atomic_are_refused)
{
	u32 i;

	setup(true, 0);
	for (i = 0; i < ARRAY_SIZE(reads); i++)
		execute(read_request(i, 0, 8));
	expect_refusal(read_request(i, 0, 8), SROCE_TOO_MANY_READS);
	expect_refusal(atomic(i, 0), SROCE_TOO_MANY_READS);
	sroce_resp_res_sent(&r.res, sroce_resp_res_pending(&r.res), 1);
	execute(atomic(i, 0));
	r.res.size = 0;
	r.res.count = 0;
	expect_refusal(read_request(i + 1, 0, 8), SROCE_TOO_MANY_READS);
}

/* Receive a packet behind a gap.  Does it cause a NAK? */
static bool causes_nak(struct sroce_pkt pkt)
{
	EQUAL(check(pkt), SROCE_AHEAD);
	return sroce_responder_gap(&r, 0, 0);
}

TEST(responder, one_nak_per_gap)
{
	setup(true, 0xfffffe);
	CHECK(causes_nak(packet(SROCE_SEND_ONLY, 0xffffff, 1)));
	CHECK(!causes_nak(packet(SROCE_SEND_ONLY, 0, 1)));
	CHECK(!causes_nak(read_request(1, 0, 1)));
	EQUAL(check(packet(SROCE_SEND_ONLY, 0xfffffd, 1)), SROCE_RESEND_ACK);
	CHECK(r.nak_sent);
	execute(packet(SROCE_SEND_ONLY, 0xfffffe, 1));
	CHECK(!r.nak_sent);
	CHECK(causes_nak(packet(SROCE_SEND_ONLY, 0, 1)));
	CHECK(!causes_nak(packet(SROCE_SEND_ONLY, 0, 1)));
	EQUAL(r.epsn, 0xffffff);
}

TEST(responder, gap_is_at_most_half_psn_space)
{
	setup(true, 0x10);
	CHECK(causes_nak(packet(SROCE_SEND_ONLY, 0x10 + 0x7fffff, 1)));
	EQUAL(check(packet(SROCE_SEND_ONLY, 0x10 + 0x800000, 1)),
	      SROCE_RESEND_ACK);
}

TEST(responder, only_packets_that_a_peer_can_have_sent_are_kept)
{
	setup(true, 0xffffff);
	CHECK(sroce_responder_may_hold(&r, 0));
	CHECK(sroce_responder_may_hold(&r, SROCE_MAX_AHEAD - 1));
	CHECK(!sroce_responder_may_hold(&r, SROCE_MAX_AHEAD));
	CHECK(!sroce_responder_may_hold(&r, 0x7ffffe));
}

TEST(responder, later_packets_are_ignored_after_rnr_nak)
{
	setup(true, 5);
	EQUAL(check(packet(SROCE_SEND_ONLY, 5, 1)), SROCE_EXECUTE);
	CHECK(req.take);
	sroce_responder_rnr(&r);
	EQUAL(check(packet(SROCE_SEND_ONLY, 6, 1)), SROCE_IGNORE);
	EQUAL(check(packet(SROCE_SEND_ONLY, 5, 1)), SROCE_EXECUTE);
	CHECK(req.take);
	sroce_responder_rnr(&r);
	EQUAL(check(packet(SROCE_SEND_ONLY, 4, 1)), SROCE_RESEND_ACK);
	execute(packet(SROCE_SEND_ONLY, 5, 1));
	CHECK(causes_nak(packet(SROCE_SEND_ONLY, 7, 1)));
	CHECK(!causes_nak(packet(SROCE_SEND_ONLY, 8, 1)));
}

TEST(responder, reorder_tolerance_delays_nak)
{
	setup(true, 5);
	r.reorder.tolerance = 100;
	EQUAL(check(packet(SROCE_SEND_ONLY, 6, 1)), SROCE_AHEAD);
	CHECK(!sroce_responder_gap(&r, 1000, 1000));
	EQUAL(sroce_responder_deadline(&r), 1100);
	/* After an RNR NAK there is no deadline. */
	sroce_responder_rnr(&r);
	EQUAL(sroce_responder_deadline(&r), 0);
	/* The packet arrives: the gap is closed, and there is no deadline. */
	execute(packet(SROCE_SEND_ONLY, 5, 1));
	EQUAL(sroce_responder_deadline(&r), 0);
	CHECK(!sroce_responder_gap(&r, 2000, 2000));
	CHECK(sroce_responder_gap(&r, 2000, 2100));
	EQUAL(sroce_responder_deadline(&r), 0);
}

TEST(responder, duplicate_gets_its_response_again)
{
	struct sroce_pkt add = atomic(11, 0x100);

	setup(true, 10);
	execute(packet(SROCE_WRITE_ONLY, 10, 4));
	EQUAL(check(add), SROCE_EXECUTE);
	sroce_responder_done(&r, &add, &req, 99);
	execute(read_request(12, 0x100, 2 * MTU));
	EQUAL(r.epsn, 14);
	EQUAL(check(packet(SROCE_WRITE_ONLY, 10, 4)), SROCE_RESEND_ACK);
	EQUAL(check(packet(SROCE_SEND_LAST, 9, 4)), SROCE_RESEND_ACK);
	EQUAL(check(add), SROCE_RESEND_RESPONSE);
	EQUAL(sroce_resp_res_pending(&r.res)->original, 99);
	EQUAL(check(read_request(13, 0x100 + MTU, MTU)), SROCE_RESEND_RESPONSE);
	/* A duplicate atomic with the PSN of a READ, and the reverse. */
	EQUAL(check(atomic(12, 0x100)), SROCE_IGNORE);
	EQUAL(check(read_request(11, 0x100, 8)), SROCE_IGNORE);
	/* This request is not recorded. */
	EQUAL(check(atomic(9, 0x100)), SROCE_IGNORE);
	EQUAL(r.epsn, 14);
	EQUAL(r.msn, 3);
}

/* A duplicate is neither executed nor checked against the message in progress. */
TEST(responder, duplicate_does_not_change_message_in_progress)
{
	setup(true, 0);
	execute(write_first(0, 2 * MTU));
	EQUAL(check(write_first(0, 2 * MTU)), SROCE_RESEND_ACK);
	EQUAL(r.left, MTU);
	execute(packet(SROCE_WRITE_LAST, 1, MTU));
	EQUAL(req.va, 0x1000 + MTU);
}

TEST(responder, msn_wraps_at_24_bits)
{
	setup(true, 0);
	r.msn = 0xffffff;
	execute(packet(SROCE_SEND_ONLY, 0, 0));
	EQUAL(r.msn, 0);
}

static struct sroce_pkt uc(u8 operation, u32 psn, u32 payload)
{
	return packet(SROCE_UC | operation, psn, payload);
}

TEST(responder, uc_loss_drops_message)
{
	setup(false, 0xfffffe);
	execute(uc(SROCE_SEND_FIRST, 0xfffffe, MTU));
	CHECK(req.take);
	/* 0xffffff is lost. */
	expect_refusal(uc(SROCE_SEND_MIDDLE, 0, MTU), SROCE_OUT_OF_PLACE);
	expect_refusal(uc(SROCE_SEND_LAST, 1, MTU), SROCE_OUT_OF_PLACE);
	execute(uc(SROCE_SEND_ONLY, 2, 5));
	/* This message uses the receive that the lost one has taken. */
	CHECK(!req.take && req.receives);
	EQUAL(req.offset, 0);
	execute(uc(SROCE_SEND_ONLY, 3, 5));
	CHECK(req.take);
	EQUAL(r.msn, 2);
}

TEST(responder, uc_loss_of_last_packet_keeps_receive)
{
	setup(false, 0);
	execute(uc(SROCE_SEND_FIRST, 0, MTU));
	execute(uc(SROCE_SEND_FIRST, 2, MTU));
	CHECK(!req.take);
	EQUAL(req.offset, 0);
	execute(uc(SROCE_SEND_LAST, 3, 1));
	EQUAL(req.offset, MTU);
}

/* A packet of the next message must not continue the current one. */
TEST(responder, uc_loss_of_last_and_first_packet_drops_both_messages)
{
	setup(false, 0);
	execute(uc(SROCE_SEND_FIRST, 0, MTU));
	/* The last packet of this message and the first one of the next are lost. */
	expect_refusal(uc(SROCE_SEND_LAST, 3, 4), SROCE_OUT_OF_PLACE);
	execute(uc(SROCE_SEND_FIRST, 4, MTU));
	execute(uc(SROCE_SEND_LAST, 5, 4));
	EQUAL(req.offset, MTU);
}

TEST(responder, uc_write_imm_uses_receive_of_dropped_send)
{
	setup(false, 0);
	execute(uc(SROCE_SEND_FIRST, 0, MTU));
	execute(uc(SROCE_WRITE_ONLY_IMM, 7, 4));
	CHECK(!req.take && req.receives);
	CHECK(!r.rwqe_taken);
}

/* A driver that cannot execute a packet does not call sroce_responder_done(). */
TEST(responder, uc_rest_of_dropped_send_is_refused)
{
	setup(false, 0);
	EQUAL(check(uc(SROCE_SEND_FIRST, 0, MTU)), SROCE_EXECUTE);
	CHECK(req.take);
	expect_refusal(uc(SROCE_SEND_MIDDLE, 1, MTU), SROCE_OUT_OF_PLACE);
	expect_refusal(uc(SROCE_SEND_LAST, 2, MTU), SROCE_OUT_OF_PLACE);
	execute(uc(SROCE_SEND_ONLY, 3, MTU));
	CHECK(req.take);
}

TEST(responder, uc_rest_of_dropped_write_is_refused)
{
	struct sroce_pkt first = uc(SROCE_WRITE_FIRST, 0, MTU);

	setup(false, 0);
	first.dma_len = 3 * MTU;
	execute(first);
	EQUAL(check(uc(SROCE_WRITE_MIDDLE, 1, MTU)), SROCE_EXECUTE);
	expect_refusal(uc(SROCE_WRITE_LAST, 2, MTU), SROCE_OUT_OF_PLACE);
}

static struct sroce_pkt xrc(u8 operation, u32 psn, u32 payload, u32 srqn)
{
	struct sroce_pkt pkt = packet(SROCE_XRC | operation, psn, payload);

	pkt.srqn = srqn;
	return pkt;
}

static void setup_xrc(void)
{
	setup(true, 0);
	r.transport = SROCE_XRC;
	r.res.transport = SROCE_XRC;
}

TEST(responder, xrc_message_must_keep_its_srq)
{
	setup_xrc();
	execute(xrc(SROCE_SEND_FIRST, 0, MTU, 5));
	expect_refusal(xrc(SROCE_SEND_MIDDLE, 1, MTU, 6), SROCE_OUT_OF_PLACE);
	expect_refusal(xrc(SROCE_SEND_LAST, 1, 1, 6), SROCE_OUT_OF_PLACE);
	execute(xrc(SROCE_SEND_MIDDLE, 1, MTU, 5));
	execute(xrc(SROCE_SEND_LAST, 2, 1, 5));
	EQUAL(req.offset, 2 * MTU);
	CHECK(req.receives);
	/* The next message may name another SRQ. */
	execute(xrc(SROCE_SEND_ONLY, 3, 1, 6));
	EQUAL(r.msn, 2);
}

static bool predicts(struct sroce_pkt pkt)
{
	u8 headers[SROCE_MAX_HEADER];

	sroce_build(headers, &pkt);
	return sroce_responder_predicts(&r, headers, pkt.payload);
}

TEST(responder, xrc_middle_packet_is_predicted)
{
	setup_xrc();
	execute(xrc(SROCE_SEND_FIRST, 0, MTU, 5));
	CHECK(predicts(xrc(SROCE_SEND_MIDDLE, 1, MTU, 5)));
	CHECK(!predicts(xrc(SROCE_SEND_MIDDLE, 1, MTU, 4)));
	CHECK(!predicts(xrc(SROCE_SEND_MIDDLE, 1, MTU - 4, 5)));
	CHECK(!predicts(packet(SROCE_SEND_MIDDLE, 1, MTU)));
}

/* Packets that were held are stored together, if all of them are expected. */
TEST(responder, several_middle_packets_are_predicted)
{
	struct sroce_pkt first = packet(SROCE_WRITE_FIRST, 0, MTU);
	struct sroce_pkt middle = packet(SROCE_WRITE_MIDDLE, 1, MTU);

	setup(true, 0);
	first.dma_len = 5 * MTU + 1;
	execute(first);
	CHECK(!sroce_responder_predicts_more(&r, &middle, 3));
	execute(middle);
	CHECK(sroce_responder_predicts_more(&r, &middle, 3));
	/* The last packet of the message is no middle packet. */
	CHECK(!sroce_responder_predicts_more(&r, &middle, 4));
	first.dma_len = 5 * MTU;
	setup(true, 0);
	execute(first);
	execute(middle);
	CHECK(!sroce_responder_predicts_more(&r, &middle, 3));
	CHECK(sroce_responder_predicts_more(&r, &middle, 2));
	middle.payload = MTU - 4;
	CHECK(!sroce_responder_predicts_more(&r, &middle, 2));
	r.permissions &= ~SROCE_MAY_WRITE;
	middle.payload = MTU;
	CHECK(!sroce_responder_predicts_more(&r, &middle, 2));
}

TEST(responder, several_middle_packets_of_send_are_predicted)
{
	struct sroce_pkt middle = xrc(SROCE_SEND_MIDDLE, 1, MTU, 5);

	setup_xrc();
	execute(xrc(SROCE_SEND_FIRST, 0, MTU, 5));
	execute(middle);
	CHECK(sroce_responder_predicts_more(&r, &middle, 3));
	CHECK(!sroce_responder_predicts_more(&r, &middle, SROCE_MAX_MSG / MTU));
	middle.srqn = 6;
	CHECK(!sroce_responder_predicts_more(&r, &middle, 3));
}

/* Packets with the headers of @pkt that follow it, by sroce_responder_predicts_alike(). */
static u32 alike(struct sroce_pkt pkt, u32 most)
{
	u8 bth[SROCE_MAX_HEADER];

	sroce_build(bth, &pkt);
	return sroce_responder_predicts_alike(&r, bth, pkt.payload, most);
}

/* The same, by predicting them one by one. */
static u32 alike_one_by_one(struct sroce_pkt pkt, u32 most)
{
	struct sroce_responder before = r;
	u32 n;

	for (n = 0; n < most; n++) {
		pkt.psn = (pkt.psn + 1) & 0xffffff;
		if (!predicts(pkt))
			break;
		sroce_responder_advance(&r, pkt.payload, 1);
	}
	r = before;
	return n;
}

TEST(responder, middle_packets_alike_are_those_predicted_one_by_one)
{
	struct sroce_pkt middle = packet(SROCE_WRITE_MIDDLE, 1, MTU);
	u32 length, most;

	for (length = 3 * MTU - 1; length <= 6 * MTU + 1; length++)
		for (most = 0; most < 8; most++) {
			setup(true, 0);
			execute(write_first(0, length));
			execute(middle);
			EQUAL(alike(middle, most), alike_one_by_one(middle, most));
		}
	EQUAL(alike(middle, 8), 4);
	/* Other lengths, and packets that are not behind the last one */
	middle.payload = MTU - 4;
	EQUAL(alike(middle, 8), 0);
	middle.payload = MTU;
	middle.psn = 0;
	EQUAL(alike(middle, 8), 0);
	middle.psn = 2;
	EQUAL(alike(middle, 8), 0);
}

TEST(responder, middle_packets_of_send_alike)
{
	struct sroce_pkt middle = packet(SROCE_SEND_MIDDLE, 0xffffff, MTU);
	struct sroce_responder before;

	setup(true, 0xfffffe);
	execute(packet(SROCE_SEND_FIRST, 0xfffffe, MTU));
	r.rwqe_taken = true;
	execute(middle);
	EQUAL(alike(middle, 63), 63);
	EQUAL(alike_one_by_one(middle, 63), 63);
	r.done = SROCE_MAX_MSG - 5 * MTU + 1;
	EQUAL(alike(middle, 63), 4);
	EQUAL(alike_one_by_one(middle, 63), 4);
	before = r;
	sroce_responder_advance(&r, MTU, 4);
	EQUAL(r.epsn, 4);
	EQUAL(r.last, 3);
	EQUAL(r.done - before.done, 4 * MTU);
	r = before;
	r.kind = SROCE_KIND_NONE;
	EQUAL(alike(middle, 63), 0);
	r = before;
	r.transport = SROCE_XRC;
	EQUAL(alike(middle, 63), 0);
}

static bool predicts_write(struct sroce_pkt pkt)
{
	u8 headers[SROCE_MAX_HEADER];

	sroce_build(headers, &pkt);
	return sroce_responder_predicts_write(&r, headers, pkt.payload);
}

TEST(responder, write_of_one_packet_is_predicted)
{
	struct sroce_pkt pkt = packet(SROCE_WRITE_ONLY, 0, 2);

	setup(true, 0);
	pkt.dma_len = 2;
	CHECK(predicts_write(pkt));
	execute(pkt);
	CHECK(!predicts_write(pkt));
	pkt.psn = 1;
	CHECK(predicts_write(pkt));
	sroce_responder_wrote(&r);
	EQUAL(r.msn, 2);
	EQUAL(r.last, 1);
	pkt.psn = 2;
	execute(pkt);
	EQUAL(r.msn, 3);
}

TEST(responder, unexpected_write_is_not_predicted)
{
	struct sroce_pkt pkt = packet(SROCE_WRITE_ONLY, 0, 2), other;

	setup(true, 0);
	pkt.dma_len = 2;
	other = pkt;
	other.dma_len = 3;
	CHECK(!predicts_write(other));
	other = packet(SROCE_WRITE_ONLY, 0, MTU + 1);
	other.dma_len = MTU + 1;
	CHECK(!predicts_write(other));
	CHECK(!predicts_write(packet(SROCE_WRITE_ONLY, 0, 0)));
	other = pkt;
	other.opcode = SROCE_WRITE_ONLY_IMM;
	CHECK(!predicts_write(other));
	other.opcode = SROCE_UC | SROCE_WRITE_ONLY;
	CHECK(!predicts_write(other));
	r.permissions &= ~SROCE_MAY_WRITE;
	CHECK(!predicts_write(pkt));
	r.permissions |= SROCE_MAY_WRITE;
	execute(packet(SROCE_SEND_FIRST, 0, MTU));
	pkt.psn = 1;
	CHECK(!predicts_write(pkt));
}

TEST(responder, xrc_response_has_xrc_opcode)
{
	struct sroce_pkt pkt = xrc(SROCE_READ_REQUEST, 0, 0, 5), again, out = {};

	setup_xrc();
	pkt.dma_len = 3 * MTU;
	execute(pkt);
	EQUAL(reads[0].srqn, 5);
	sroce_resp_res_next(&r.res, sroce_resp_res_pending(&r.res), &out);
	EQUAL(out.opcode, SROCE_XRC | SROCE_READ_RESPONSE_FIRST);

	again = pkt;
	EQUAL(check(again), SROCE_RESEND_RESPONSE);
	again.srqn = 6;
	EQUAL(check(again), SROCE_IGNORE);

	execute(xrc(SROCE_FETCH_ADD, 3, 0, 7));
	EQUAL(reads[1].srqn, 7);
	sroce_resp_res_sent(&r.res, &reads[0], 3);
	sroce_resp_res_next(&r.res, sroce_resp_res_pending(&r.res), &out);
	EQUAL(out.opcode, SROCE_XRC | SROCE_ATOMIC_ACKNOWLEDGE);
}

TEST(responder, xrc_duplicate_with_any_srq_is_acked)
{
	setup_xrc();
	execute(xrc(SROCE_SEND_ONLY, 0, 1, 5));
	EQUAL(check(xrc(SROCE_SEND_ONLY, 0, 1, 6)), SROCE_RESEND_ACK);
}

static bool is_acked(u32 psn, bool ack_req)
{
	struct sroce_pkt pkt = { .psn = psn & 0xffffff, .ack_req = ack_req };

	return sroce_responder_answers(&r, &pkt);
}

TEST(responder, first_of_consecutive_duplicates_is_acked)
{
	static const u32 firsts[] = { 0, 100, 0xfffffe };

	for (u32 i = 0; i < ARRAY_SIZE(firsts); i++) {
		u32 psn = firsts[i];

		setup(true, psn);
		sroce_responder_expect(&r, psn);
		CHECK(is_acked(psn, false));
		CHECK(!is_acked(psn + 1, false));
		CHECK(is_acked(psn + 2, true));
		CHECK(!is_acked(psn + 3, false));
		CHECK(is_acked(psn, false));
		CHECK(is_acked(psn, false));
	}
}
