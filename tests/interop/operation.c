// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "operation.h"

#define GRH		40
/* Room for a GRH in front of each message, and to detect writes past its end. */
#define GAP		64
#define UNTOUCHED	0xee
#define IMMEDIATE	0xc0ffee00u
#define ADDEND		0x100000001ull
#define PATIENCE	60

#define RC (1u << IBV_QPT_RC)
#define UC (1u << IBV_QPT_UC)
#define UD (1u << IBV_QPT_UD)

const struct operation operations[] = {
	{ "SEND", IBV_WR_SEND, RC | UC | UD, true, false },
	{ "SEND with immediate", IBV_WR_SEND_WITH_IMM, RC | UC | UD, true, true },
	{ "WRITE", IBV_WR_RDMA_WRITE, RC | UC, false, false },
	{ "WRITE with immediate", IBV_WR_RDMA_WRITE_WITH_IMM, RC | UC, true, true },
	{ "READ", IBV_WR_RDMA_READ, RC, false, false },
	{ "compare and swap", IBV_WR_ATOMIC_CMP_AND_SWP, RC, false, false },
	{ "fetch and add", IBV_WR_ATOMIC_FETCH_AND_ADD, RC, false, false },
	{ "atomic WRITE", IBV_WR_ATOMIC_WRITE, RC, false, false },
};

const size_t operation_count = sizeof(operations) / sizeof(*operations);

static uint8_t expected[HALF];
static char complaint[200];

#define COMPLAIN(...) (snprintf(complaint, sizeof(complaint), __VA_ARGS__), complaint)

void messages_add(struct messages *m, uint32_t length)
{
	size_t last = m->count - 1;
	size_t end = m->count ? m->at[last] + m->length[last] : 0;

	/* Odd and even addresses; multiples of eight for atomics. */
	m->at[m->count] = length == 8 ? (end + GAP + 7) & ~7ull : end + GAP;
	m->length[m->count++] = length;
}

/* How much memory a run is about. */
static size_t extent(const struct messages *m)
{
	size_t last = m->count - 1;

	return m->at[last] + m->length[last] + GAP;
}

static bool is_atomic(const struct operation *op)
{
	return op->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	       op->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

/* The value that atomic number @i finds; all atomics of a run use one word. */
static uint64_t original(const struct operation *op, size_t i)
{
	if (op->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		return 7 + i * ADDEND;
	/* Every third comparison fails. */
	return 7 + i - (i + 1) / 3;
}

static struct ibv_send_wr *request(const struct operation *op,
				   struct end *from, struct end *to,
				   const struct messages *m, size_t i)
{
	static struct ibv_send_wr wrs[MAX_MESSAGES];
	static struct ibv_sge sges[MAX_MESSAGES];
	bool in = op->opcode == IBV_WR_RDMA_READ || is_atomic(op);
	uint8_t *remote = op->opcode == IBV_WR_RDMA_READ ? to->source : to->target;

	sges[i] = (struct ibv_sge) {
		.addr = (uintptr_t)(in ? from->target : from->source) + m->at[i],
		.length = m->length[i],
		.lkey = from->side.mr->lkey,
	};
	wrs[i] = (struct ibv_send_wr) {
		.wr_id = i,
		.next = i + 1 < m->count ? &wrs[i + 1] : NULL,
		.sg_list = &sges[i],
		.num_sge = m->length[i] ? 1 : 0,
		.opcode = op->opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.imm_data = htonl(IMMEDIATE + i),
	};
	if (is_atomic(op)) {
		wrs[i].wr.atomic.remote_addr = (uintptr_t)remote;
		wrs[i].wr.atomic.rkey = to->side.mr->rkey;
		wrs[i].wr.atomic.compare_add = ADDEND;
		if (op->opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
			wrs[i].wr.atomic.compare_add =
				original(op, i) + (i % 3 == 1 ? 99 : 0);
			wrs[i].wr.atomic.swap = original(op, i) + 1;
		}
	} else if (from->side.qp->qp_type == IBV_QPT_UD) {
		wrs[i].wr.ud.ah = from->side.ah;
		wrs[i].wr.ud.remote_qpn = to->side.qp->qp_num;
		wrs[i].wr.ud.remote_qkey = QKEY;
	} else {
		wrs[i].wr.rdma.remote_addr = (uintptr_t)remote + m->at[i];
		wrs[i].wr.rdma.rkey = to->side.mr->rkey;
	}
	return &wrs[i];
}

/* The only way that all providers have for it. */
static const char *post_words(struct end *from, struct end *to,
			      const struct messages *m)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(from->side.qp);

	ibv_wr_start(qp);
	for (size_t i = 0; i < m->count; i++) {
		qp->wr_id = i;
		qp->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_atomic_write(qp, to->side.mr->rkey,
				    (uintptr_t)to->target + m->at[i],
				    from->source + m->at[i]);
	}
	return ibv_wr_complete(qp) ? COMPLAIN("wr_complete failed") : NULL;
}

static const char *post_sends(const struct operation *op, struct end *from,
			      struct end *to, const struct messages *m)
{
	struct ibv_send_wr *first = NULL, *bad;

	if (op->opcode == IBV_WR_ATOMIC_WRITE)
		return post_words(from, to, m);
	for (size_t i = m->count; i > 0; i--)
		first = request(op, from, to, m, i - 1);
	return ibv_post_send(from->side.qp, first, &bad) ? COMPLAIN("post_send failed") : NULL;
}

static const char *post_receives(const struct operation *op, struct end *to,
				 const struct messages *m)
{
	size_t grh = to->side.qp->qp_type == IBV_QPT_UD ? GRH : 0;
	bool data = op->opcode != IBV_WR_RDMA_WRITE_WITH_IMM;

	for (size_t i = 0; op->receives && i < m->count; i++) {
		struct ibv_sge sge = {
			.addr = (uintptr_t)to->target + m->at[i] - grh,
			.length = m->length[i] + grh,
			.lkey = to->side.mr->lkey,
		};
		struct ibv_recv_wr *bad, wr = {
			.wr_id = i,
			.sg_list = &sge,
			.num_sge = data && sge.length ? 1 : 0,
		};

		if (ibv_post_recv(to->side.qp, &wr, &bad))
			return COMPLAIN("post_recv failed");
	}
	return NULL;
}

static const char *wait_one(struct end *end, struct ibv_cq *cq, size_t i,
			    struct ibv_wc *wc)
{
	const char *side = cq == end->side.scq ? "sent" : "received";
	time_t limit = time(NULL) + PATIENCE;
	int n;

	do
		n = ibv_poll_cq(cq, 1, wc);
	while (!n && time(NULL) < limit);
	if (n != 1)
		return COMPLAIN("%s: message %zu not %s", end->host.name, i, side);
	if (wc->status)
		return COMPLAIN("%s: message %zu not %s: %s", end->host.name, i, side,
				ibv_wc_status_str(wc->status));
	if (wc->wr_id != i || wc->qp_num != end->side.qp->qp_num)
		return COMPLAIN("%s: completion of %u instead of %zu", end->host.name,
				(unsigned int)wc->wr_id, i);
	return NULL;
}

static const char *check_received(const struct operation *op,
				  const struct end *from, const struct end *to,
				  const struct messages *m, size_t i,
				  const struct ibv_wc *wc)
{
	bool ud = to->side.qp->qp_type == IBV_QPT_UD;
	uint32_t length = m->length[i] + (ud ? GRH : 0);
	bool write = op->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;

	if (wc->opcode != (write ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV))
		return COMPLAIN("%s: message %zu: opcode %u", to->host.name, i, wc->opcode);
	if (wc->byte_len != length)
		return COMPLAIN("%s: message %zu: length %u instead of %u",
				to->host.name, i, wc->byte_len, length);
	if (!!(wc->wc_flags & IBV_WC_WITH_IMM) != op->immediate ||
	    (op->immediate && ntohl(wc->imm_data) != IMMEDIATE + i))
		return COMPLAIN("%s: message %zu: immediate value", to->host.name, i);
	if (ud && (wc->src_qp != from->side.qp->qp_num || !(wc->wc_flags & IBV_WC_GRH)))
		return COMPLAIN("%s: message %zu: sender", to->host.name, i);
	return NULL;
}

static const char *wait_all(const struct operation *op, struct end *from,
			    struct end *to, const struct messages *m)
{
	const char *why = NULL;
	struct ibv_wc wc;

	for (size_t i = 0; i < m->count && !why; i++)
		why = wait_one(from, from->side.scq, i, &wc);
	for (size_t i = 0; op->receives && i < m->count && !why; i++) {
		why = wait_one(to, to->side.rcq, i, &wc);
		if (!why)
			why = check_received(op, from, to, m, i, &wc);
	}
	return why;
}

static void prepare(const struct operation *op, struct end *from, struct end *to,
		    size_t bytes)
{
	static uint32_t seed = 1;

	for (size_t i = 0; i < bytes; i += sizeof(seed)) {
		seed = seed * 1664525 + 1013904223;
		memcpy(from->source + i, &seed, sizeof(seed));
		seed ^= 0x55555555;
		memcpy(to->source + i, &seed, sizeof(seed));
	}
	memset(from->target, UNTOUCHED, bytes);
	memset(to->target, UNTOUCHED, bytes);
	if (is_atomic(op))
		memcpy(to->target, &(uint64_t) { original(op, 0) }, 8);
}

static bool unreliable(const struct end *end)
{
	return end->side.qp->qp_type == IBV_QPT_UC;
}

static const char *compare(const struct end *end, size_t bytes)
{
	time_t limit = time(NULL) + (unreliable(end) ? PATIENCE / 4 : 0);
	size_t i = 0;

	/* Nothing reports the arrival of a WRITE without acknowledgement. */
	while (memcmp(expected, end->target, bytes) && time(NULL) < limit)
		;
	while (i < bytes && expected[i] == end->target[i])
		i++;
	if (i == bytes)
		return NULL;
	return COMPLAIN("%s: byte %zu is %02x instead of %02x", end->host.name, i,
			end->target[i], expected[i]);
}

static const char *compare_untouched(const struct end *end, size_t bytes)
{
	memset(expected, UNTOUCHED, bytes);
	return compare(end, bytes);
}

static const char *compare_data(const struct end *source, const struct end *target,
				const struct messages *m)
{
	bool ud = target->side.qp->qp_type == IBV_QPT_UD;

	memset(expected, UNTOUCHED, extent(m));
	for (size_t i = 0; i < m->count; i++) {
		memcpy(expected + m->at[i], source->source + m->at[i], m->length[i]);
		if (ud)
			memcpy(expected + m->at[i] - GRH,
			       target->target + m->at[i] - GRH, GRH);
	}
	return compare(target, extent(m));
}

static const char *compare_atomics(const struct operation *op,
				   const struct end *from, const struct end *to,
				   const struct messages *m)
{
	const char *why;
	uint64_t value;

	memset(expected, UNTOUCHED, extent(m));
	for (size_t i = 0; i < m->count; i++) {
		value = original(op, i);
		memcpy(expected + m->at[i], &value, sizeof(value));
	}
	why = compare(from, extent(m));
	memset(expected, UNTOUCHED, extent(m));
	value = original(op, m->count);
	memcpy(expected, &value, sizeof(value));
	return why ? why : compare(to, extent(m));
}

const char *operation_run(const struct operation *op, struct end *from,
			  struct end *to, const struct messages *m)
{
	const char *why;

	prepare(op, from, to, extent(m));
	why = post_receives(op, to, m);
	if (!why)
		why = post_sends(op, from, to, m);
	if (!why)
		why = wait_all(op, from, to, m);
	if (why)
		return why;
	if (is_atomic(op))
		return compare_atomics(op, from, to, m);
	if (op->opcode == IBV_WR_RDMA_READ) {
		why = compare_untouched(to, extent(m));
		return why ? why : compare_data(to, from, m);
	}
	why = compare_untouched(from, extent(m));
	return why ? why : compare_data(from, to, m);
}
