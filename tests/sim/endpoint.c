// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdlib.h>
#include "endpoint.h"
#include "icrc_state.h"
#include "invariants.h"
#include "trace.h"

/* The same for all packets: lengths are an argument of the ICRC. */
static const u8 ip_udp[28] = {
	0x45, 0, 0, 0, 0, 1, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
	0xc0, 0, 0x12, 0xb7, 0, 0, 0, 0,
};

static __le32 icrc(const u8 *bth, u32 len)
{
	u32 state = icrc_state(ip_udp, 0, bth, 8 + len + SROCE_ICRC_BYTES);

	return sroce_icrc_final(sroce_crc32(state, bth + SROCE_BTH_BYTES,
					    len - SROCE_BTH_BYTES));
}

void endpoint_transmit(struct endpoint *ep, u64 now, struct sroce_pkt *pkt,
		       const u8 *payload)
{
	u8 bytes[SROCE_MAX_HEADER + 4096 + 4 + SROCE_ICRC_BYTES];
	u32 len;
	__le32 crc;

	TRACE("%9llu %s sends %02x psn %06x payload %u%s\n",
	      (unsigned long long)now, ep->name, pkt->opcode, pkt->psn,
	      pkt->payload, pkt->ack_req ? " ack?" : "");
	len = sroce_build(bytes, pkt);
	if (pkt->payload)
		memcpy(bytes + len, payload, pkt->payload);
	len += pkt->payload;
	memset(bytes + len, 0, pkt->pad);
	len += pkt->pad;
	crc = icrc(bytes, len);
	memcpy(bytes + len, &crc, SROCE_ICRC_BYTES);
	link_send(ep->out, now, bytes, len + SROCE_ICRC_BYTES);
}

static bool intact(const struct frame *frame)
{
	u32 len = frame->len - SROCE_ICRC_BYTES;
	__le32 crc = icrc(frame->bytes, len);

	return !memcmp(&crc, frame->bytes + len, SROCE_ICRC_BYTES);
}

/* A marked packet is answered by a CNP (annex A17.9.3).  READs have the requester's window. */
static void note_mark(struct endpoint *ep, u64 now, const struct sroce_pkt *pkt)
{
	struct sroce_pkt cnp = {
		.opcode = SROCE_ANY | SROCE_CNP,
		.pkey = SROCE_PKEY_DEFAULT,
		.qpn = 17,
	};

	if (!sroce_ecn_capable(pkt->opcode))
		return;
	if (pkt->op->kind >= SROCE_KIND_RESPONSES)
		sroce_requester_congested(&ep->req);
	if (now < ep->next_cnp)
		return;
	ep->next_cnp = now + SROCE_CNP_INTERVAL_NS;
	endpoint_transmit(ep, now, &cnp, NULL);
}

static void take(struct endpoint *ep, u64 now, const struct frame *frame)
{
	struct sroce_pkt pkt;
	const u8 *payload;

	if (sroce_parse(&pkt, frame->bytes, frame->len, frame->len) ||
	    !intact(frame)) {
		TRACE("%9llu %s drops a bad packet\n", (unsigned long long)now,
		      ep->name);
		return;
	}
	TRACE("%9llu %s gets %02x psn %06x syndrome %02x%s\n",
	      (unsigned long long)now, ep->name, pkt.opcode, pkt.psn,
	      pkt.op->headers & SROCE_AETH ? pkt.syndrome : 0,
	      ep->failed ? ", too late" : "");
	payload = frame->bytes + pkt.op->length;
	if (ep->failed)
		return;
	if (frame->marked)
		note_mark(ep, now, &pkt);
	if (pkt.op->kind == SROCE_KIND_CNP)
		sroce_requester_congested(&ep->req);
	else if (pkt.op->kind >= SROCE_KIND_RESPONSES)
		send_take_answer(ep, now, &pkt, payload);
	else
		receive_take_request(ep, now, &pkt, payload);
}

static void check(const struct endpoint *ep)
{
	if (ep->failed)
		return;
	check_requester(&ep->req);
	check_responder(&ep->resp);
}

/* Take a whole burst, then answer it once, then use the window it opened. */
void endpoint_receive(struct endpoint *ep, u64 now)
{
	struct frame *frame;
	bool any = false;

	while ((frame = link_receive(ep->in, now))) {
		take(ep, now, frame);
		check(ep);
		free(frame);
		any = true;
	}
	if (!any || ep->failed)
		return;
	receive_answer(ep, now);
	send_requests(ep, now);
}

static u64 gap_deadline(const struct endpoint *ep)
{
	return ep->refused ? NEVER :
			     sroce_responder_deadline(&ep->resp) ?: NEVER;
}

void endpoint_timers(struct endpoint *ep, u64 now)
{
	if (ep->failed)
		return;
	if (ep->rnr_timer <= now) {
		TRACE("%9llu %s RNR timer\n", (unsigned long long)now,
		      ep->name);
		ep->rnr_timer = NEVER;
		ep->req.rnr_wait = false;
		send_requests(ep, now);
	}
	if (ep->rtx.armed && ep->rtx.deadline <= now) {
		TRACE("%9llu %s deadline\n", (unsigned long long)now, ep->name);
		send_expired(ep, now);
	}
	if (ep->failed)
		return;
	if (gap_deadline(ep) <= now)
		receive_gap_lasts(ep, now);
	if (ep->work_timer <= now) {
		ep->work_timer = NEVER;
		receive_answer(ep, now);
		send_requests(ep, now);
	}
	check(ep);
}

u64 endpoint_next_timer(const struct endpoint *ep)
{
	u64 deadline = ep->rtx.armed ? ep->rtx.deadline : NEVER;

	if (ep->failed)
		return NEVER;
	deadline = min(deadline, gap_deadline(ep));
	return min(deadline, min(ep->rnr_timer, ep->work_timer));
}

/* The oldest request fails with @status, all others are flushed in order. */
void endpoint_fail(struct endpoint *ep, u8 status)
{
	struct sroce_inflight *in = &ep->req.in;

	TRACE("          %s fails with status %u\n", ep->name, status);
	ep->failed = true;
	for (; in->head != in->tail; in->head++) {
		complete(&ep->sends, (struct completion) {
			.id = sroce_inflight_wr(in, in->head)->wr_id,
			.opcode = sroce_inflight_wr(in, in->head)->opcode,
			.status = status,
		});
		status = SROCE_WR_FLUSH_ERR;
	}
}

/* False if there is no room for it; true if it is there already. */
bool endpoint_hold(struct held_queue *queue, const struct sroce_pkt *pkt,
		   const u8 *payload)
{
	struct held **place = &queue->places[pkt->psn % HELD];

	if (*place)
		return (*place)->pkt.psn == pkt->psn;
	*place = malloc(sizeof(**place) + pkt->payload);
	(*place)->pkt = *pkt;
	memcpy((*place)->payload, payload, pkt->payload);
	queue->count++;
	return true;
}

/* The packet with this PSN, for the caller to free; or NULL. */
struct held *endpoint_held(struct held_queue *queue, u32 psn)
{
	struct held *held = queue->places[psn % HELD];

	if (!held || held->pkt.psn != psn)
		return NULL;
	queue->places[psn % HELD] = NULL;
	queue->count--;
	return held;
}

void endpoint_drop_held(struct held_queue *queue)
{
	u32 i;

	for (i = 0; queue->count && i < HELD; i++) {
		queue->count -= !!queue->places[i];
		free(queue->places[i]);
		queue->places[i] = NULL;
	}
}

void complete(struct completions *c, struct completion completion)
{
	if (c->count == c->room) {
		c->room = 2 * c->room + 8;
		c->list = realloc(c->list, c->room * sizeof(*c->list));
	}
	c->list[c->count++] = completion;
}
