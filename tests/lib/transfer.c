// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "transfer.h"

#define GUARD	0xa5

static uint8_t byte_at(size_t i, uint32_t seed)
{
	return (i ^ i >> 8 ^ i >> 16) * 7 + seed * 31 + 1;
}

void fill(void *to, size_t length, uint32_t seed)
{
	uint8_t *bytes = to;
	size_t i;

	for (i = 0; i < length; i++)
		bytes[i] = byte_at(i, seed);
}

bool filled(const void *from, size_t length, uint32_t seed)
{
	const uint8_t *bytes = from;
	size_t i;

	for (i = 0; i < length; i++)
		if (bytes[i] != byte_at(i, seed)) {
			diag("byte %zu of %zu is %#x, not %#x", i, length,
			     bytes[i], byte_at(i, seed));
			return false;
		}
	return true;
}

/* Completions */

uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ull + now.tv_nsec / 1000000;
}

static bool wc_within(struct ibv_cq *cq, struct ibv_wc *wc, unsigned int ms)
{
	uint64_t end = now_ms() + ms;
	bool last;
	int n;

	do {
		last = now_ms() >= end;
		n = ibv_poll_cq(cq, 1, wc);
		if (n)
			return CHECK(n == 1);
	} while (!last);
	return false;
}

bool next_wc(struct ibv_cq *cq, struct ibv_wc *wc)
{
	return CHECK(wc_within(cq, wc, PATIENCE_MS));
}

bool quiet(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	if (!wc_within(cq, &wc, QUIET_MS))
		return true;
	diag("a completion came: id %#llx, %s", (unsigned long long)wc.wr_id,
	     ibv_wc_status_str(wc.status));
	return false;
}

bool ends_with(struct pair *pair, int n, enum ibv_wc_status bad)
{
	bool good = true, failed = false;
	struct ibv_wc wc;

	while (n--) {
		if (!next_wc(pair->a.scq, &wc))
			return false;
		if (wc.status && !failed) {
			good &= CHECK_CALL(wc.status, bad);
			failed = true;
		} else if (wc.status) {
			good &= CHECK(wc.status == IBV_WC_WR_FLUSH_ERR);
		}
	}
	return good;
}

static bool has_length(enum ibv_wc_opcode opcode)
{
	return opcode == IBV_WC_RDMA_READ || opcode & IBV_WC_RECV;
}

static bool wc_matches(const struct ibv_wc *wc, const struct want *want,
		       const struct ibv_qp *qp)
{
	if ((wc->wr_id != want->wr_id && !want->any_id) ||
	    wc->status != want->status || wc->qp_num != qp->qp_num)
		return false;
	if (want->status)
		return true;
	if (wc->opcode != want->opcode ||
	    (has_length(want->opcode) && wc->byte_len != want->length) ||
	    (want->src_qp && wc->src_qp != want->src_qp))
		return false;
	return !!(wc->wc_flags & IBV_WC_WITH_IMM) == want->with_imm &&
	       (!want->with_imm || ntohl(wc->imm_data) == want->imm);
}

bool expect(struct ibv_cq *cq, const struct ibv_qp *qp,
	    const struct want *want, const char *file, int line)
{
	struct ibv_wc wc;

	if (!wc_within(cq, &wc, PATIENCE_MS + want->seconds * 1000))
		return check_that(false, "a completion comes", file, line);
	if (wc_matches(&wc, want, qp))
		return true;
	diag("completion: id %#llx '%s' opcode %d length %u flags %#x imm %#x qp %#x src %#x reason %u",
	     (unsigned long long)wc.wr_id, ibv_wc_status_str(wc.status),
	     wc.opcode, wc.byte_len, wc.wc_flags, ntohl(wc.imm_data),
	     wc.qp_num, wc.src_qp, wc.vendor_err);
	diag("wanted:     id %#llx '%s' opcode %d length %u imm %d %#x qp %#x src %#x",
	     (unsigned long long)want->wr_id, ibv_wc_status_str(want->status),
	     want->opcode, want->length, want->with_imm, want->imm,
	     qp->qp_num, want->src_qp);
	return check_that(false, "the completion is as wanted", file, line);
}

/* Posting */

struct ibv_sge piece(const struct side *side, size_t offset, uint32_t length)
{
	return (struct ibv_sge) {
		.addr = (uintptr_t)side->buf + offset,
		.length = length,
		.lkey = side->mr ? side->mr->lkey : 0,
	};
}

uint32_t rkey_of(const struct side *side)
{
	return side->mr ? side->mr->rkey : 0;
}

int post_recv_sge(struct side *side, uint64_t wr_id, struct ibv_sge *sge, int n)
{
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = sge, .num_sge = n };
	struct ibv_recv_wr *bad;

	return side->srq ? ibv_post_srq_recv(side->srq, &wr, &bad) :
			   ibv_post_recv(side->qp, &wr, &bad);
}

int post_recv(struct side *side, uint64_t wr_id, size_t offset, uint32_t length)
{
	struct ibv_sge sge = piece(side, offset, length);

	return post_recv_sge(side, wr_id, &sge, length ? 1 : 0);
}

int post_one(struct side *side, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	if (side->qp->qp_type == IBV_QPT_XRC_SEND)
		wr->qp_type.xrc.remote_srqn = side->srqn;
	return ibv_post_send(side->qp, wr, &bad);
}

int post_send(struct side *side, uint64_t wr_id, size_t offset,
	      uint32_t length, unsigned int flags)
{
	struct ibv_sge sge = piece(side, offset, length);
	struct ibv_send_wr wr = {
		.wr_id = wr_id,
		.sg_list = &sge,
		.num_sge = length ? 1 : 0,
		.opcode = IBV_WR_SEND,
		.send_flags = flags,
	};

	return post_one(side, &wr);
}

struct ibv_send_wr ud_wr(struct ibv_ah *ah, uint32_t qpn, uint64_t wr_id,
			 struct ibv_sge *sge)
{
	return (struct ibv_send_wr) {
		.wr_id = wr_id,
		.sg_list = sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.ud.ah = ah,
		.wr.ud.remote_qpn = qpn,
		.wr.ud.remote_qkey = QKEY,
	};
}

int post_datagram(struct side *side, const struct side *peer, uint64_t wr_id,
		  uint32_t length)
{
	struct ibv_sge sge = piece(side, 0, length);
	struct ibv_send_wr wr = ud_wr(side->ah, peer->qp->qp_num, wr_id, &sge);

	return post_one(side, &wr);
}

struct ibv_send_wr rdma_wr(const struct side *peer, enum ibv_wr_opcode opcode,
			   uint64_t wr_id, struct ibv_sge *sge, int num_sge,
			   size_t remote)
{
	return (struct ibv_send_wr) {
		.wr_id = wr_id,
		.sg_list = sge,
		.num_sge = num_sge,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma.remote_addr = (uintptr_t)peer->buf + remote,
		.wr.rdma.rkey = rkey_of(peer),
	};
}

int post_rdma(struct side *side, const struct side *peer,
	      enum ibv_wr_opcode opcode, uint64_t wr_id, size_t offset,
	      size_t remote, uint32_t length, unsigned int flags)
{
	struct ibv_sge sge = piece(side, offset, length);
	struct ibv_send_wr wr = rdma_wr(peer, opcode, wr_id, &sge, 1, remote);

	wr.send_flags = flags;
	return post_one(side, &wr);
}

int post_atomic(struct side *side, const struct side *peer, bool swap,
		uint64_t wr_id, size_t offset, size_t remote,
		uint64_t compare_add, uint64_t swap_value)
{
	struct ibv_sge sge = piece(side, offset, 8);
	struct ibv_send_wr wr = {
		.wr_id = wr_id,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = swap ? IBV_WR_ATOMIC_CMP_AND_SWP :
				 IBV_WR_ATOMIC_FETCH_AND_ADD,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.atomic.remote_addr = (uintptr_t)peer->buf + remote,
		.wr.atomic.rkey = rkey_of(peer),
		.wr.atomic.compare_add = compare_add,
		.wr.atomic.swap = swap_value,
	};

	return post_one(side, &wr);
}

/* Pieces of uneven length with holes between them. */
#define HOLE	5

struct list {
	struct ibv_sge sge[MAX_PIECES];
	int n;
};

static size_t cut(uint32_t length, int i, int n)
{
	size_t at = (size_t)length * i / n;

	if (!i || i == n)
		return at;
	/* Odd borders, and every fourth piece empty. */
	return i % 4 == 3 && i > 1 ? cut(length, i - 1, n) : at | (at < length);
}

static void lay(struct list *list, const struct side *side, size_t offset,
		uint32_t length, int n)
{
	int i;

	list->n = n;
	for (i = 0; i < n; i++) {
		size_t from = cut(length, i, n), to = cut(length, i + 1, n);

		list->sge[i] = piece(side, offset + from + HOLE * i, to - from);
	}
}

static void scatter(const struct list *list, const uint8_t *from)
{
	int i;

	for (i = 0; i < list->n; i++) {
		memcpy((void *)(uintptr_t)list->sge[i].addr, from,
		       list->sge[i].length);
		from += list->sge[i].length;
	}
}

/* Compares, and puts the guard back where data was expected. */
static bool gathered(const struct list *list, const uint8_t *want)
{
	bool same = true;
	int i;

	for (i = 0; i < list->n; i++) {
		void *at = (void *)(uintptr_t)list->sge[i].addr;

		same &= !memcmp(at, want, list->sge[i].length);
		memset(at, GUARD, list->sge[i].length);
		want += list->sge[i].length;
	}
	return same;
}

static bool untouched(const struct side *side, size_t offset, size_t length)
{
	size_t from = offset > 64 ? offset - 64 : 0;
	size_t to = offset + length + HOLE * MAX_PIECES + 64;
	size_t i;

	if (to > side->size)
		to = side->size;
	for (i = from; i < to; i++)
		if (side->buf[i] != GUARD) {
			diag("byte %zu beside the data is written", i);
			return false;
		}
	return true;
}

static void guard(const struct side *side, size_t offset, size_t length)
{
	size_t from = offset > 64 ? offset - 64 : 0;
	size_t to = offset + length + HOLE * MAX_PIECES + 64;

	if (to > side->size)
		to = side->size;
	memset(side->buf + from, GUARD, to - from);
}

static bool has_imm(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_SEND_WITH_IMM ||
	       opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

static bool is_send(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM;
}

/* Where the bytes must be after a success. */
static void plan(struct pair *pair, const struct transfer *m,
		 struct list *local, struct list *remote)
{
	int n = m->pieces ? m->pieces : 1;
	int recv = m->recv_pieces ? m->recv_pieces : 1;

	lay(local, &pair->a, m->offset, m->length, n);
	lay(remote, &pair->b, m->remote, m->length,
	    is_send(m->opcode) ? recv : 1);
}

static int start_ex(struct side *side, const struct ibv_send_wr *wr)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(side->qp);
	struct ibv_data_buf bufs[MAX_PIECES];
	int i;

	ibv_wr_start(qp);
	qp->wr_id = wr->wr_id;
	qp->wr_flags = wr->send_flags;
	switch (wr->opcode) {
	case IBV_WR_SEND:
		ibv_wr_send(qp);
		break;
	case IBV_WR_SEND_WITH_IMM:
		ibv_wr_send_imm(qp, wr->imm_data);
		break;
	case IBV_WR_RDMA_WRITE:
		ibv_wr_rdma_write(qp, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr);
		break;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		ibv_wr_rdma_write_imm(qp, wr->wr.rdma.rkey,
				      wr->wr.rdma.remote_addr, wr->imm_data);
		break;
	default:
		ibv_wr_rdma_read(qp, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr);
	}
	if (side->qp->qp_type == IBV_QPT_XRC_SEND)
		ibv_wr_set_xrc_srqn(qp, side->srqn);
	for (i = 0; i < wr->num_sge; i++) {
		bufs[i].addr = (void *)(uintptr_t)wr->sg_list[i].addr;
		bufs[i].length = wr->sg_list[i].length;
	}
	if (wr->send_flags & IBV_SEND_INLINE && wr->num_sge == 1)
		ibv_wr_set_inline_data(qp, bufs[0].addr, bufs[0].length);
	else if (wr->send_flags & IBV_SEND_INLINE)
		ibv_wr_set_inline_data_list(qp, wr->num_sge, bufs);
	else if (wr->num_sge == 1)
		ibv_wr_set_sge(qp, wr->sg_list[0].lkey, wr->sg_list[0].addr,
			       wr->sg_list[0].length);
	else
		ibv_wr_set_sge_list(qp, wr->num_sge, wr->sg_list);
	return ibv_wr_complete(qp);
}

static bool start(struct pair *pair, const struct transfer *m,
		  struct list *local, struct list *remote, uint64_t id)
{
	struct ibv_send_wr wr = rdma_wr(&pair->b, m->opcode, id, local->sge,
					local->n, m->remote);

	wr.send_flags |= m->flags;
	if (has_imm(m->opcode))
		wr.imm_data = htonl((uint32_t)id);
	if (is_send(m->opcode) &&
	    !CHECK_CALL(post_recv_sge(&pair->b, ~id, remote->sge, remote->n), 0))
		return false;
	if (m->opcode == IBV_WR_RDMA_WRITE_WITH_IMM &&
	    !CHECK_CALL(post_recv(&pair->b, ~id, 0, 0), 0))
		return false;
	/* A list without pieces is a message without bytes, too. */
	if (!m->length && !m->pieces)
		wr.num_sge = 0;
	return CHECK_CALL(pair->options.extended ? start_ex(&pair->a, &wr) :
			  post_one(&pair->a, &wr), 0);
}

static enum ibv_wc_opcode sender_opcode(enum ibv_wr_opcode opcode)
{
	if (is_send(opcode))
		return IBV_WC_SEND;
	return opcode == IBV_WR_RDMA_READ ? IBV_WC_RDMA_READ :
					    IBV_WC_RDMA_WRITE;
}

static bool completed(struct pair *pair, const struct transfer *m, uint64_t id)
{
	bool good;

	good = EXPECT(pair->a.scq, pair->a.qp, .wr_id = id,
		      .opcode = sender_opcode(m->opcode), .length = m->length,
		      .seconds = m->length >> 20);
	if (is_send(m->opcode) || has_imm(m->opcode))
		good &= EXPECT(pair->b.rcq, pair->b.qp, .wr_id = ~id,
			       .opcode = is_send(m->opcode) ? IBV_WC_RECV :
					 IBV_WC_RECV_RDMA_WITH_IMM,
			       .length = m->length, .with_imm = has_imm(m->opcode),
			       .imm = id);
	return good;
}

/*
 * UC completes a request when it is sent.  A WRITE has landed when a message
 * behind it has.
 */
static bool landed(struct pair *pair, const struct transfer *m, uint64_t id)
{
	if (pair->a.qp->qp_type != IBV_QPT_UC || m->opcode != IBV_WR_RDMA_WRITE)
		return true;
	return CHECK_CALL(post_recv(&pair->b, ~id, 0, 0), 0) &&
	       CHECK_CALL(post_send(&pair->a, id, 0, 0, IBV_SEND_SIGNALED), 0) &&
	       EXPECT(pair->a.scq, pair->a.qp, .wr_id = id,
		      .opcode = IBV_WC_SEND) &&
	       EXPECT(pair->b.rcq, pair->b.qp, .wr_id = ~id,
		      .opcode = IBV_WC_RECV);
}

bool transfer(struct pair *pair, const struct transfer *m)
{
	static uint64_t last_id = 0xabcd00000000;
	bool read = m->opcode == IBV_WR_RDMA_READ;
	struct list local, remote;
	uint64_t id = ++last_id;
	uint8_t *data = malloc(m->length + 1);
	bool good;

	fill(data, m->length, id);
	guard(&pair->a, m->offset, m->length);
	guard(&pair->b, m->remote, m->length);
	plan(pair, m, &local, &remote);
	scatter(read ? &remote : &local, data);
	good = start(pair, m, &local, &remote, id) && completed(pair, m, id) &&
	       landed(pair, m, id) &&
	       CHECK(gathered(&local, data)) && CHECK(gathered(&remote, data)) &&
	       CHECK(untouched(&pair->a, m->offset, m->length)) &&
	       CHECK(untouched(&pair->b, m->remote, m->length));
	if (!good)
		diag("opcode %d, %u bytes, %d and %d pieces, flags %#x",
		     m->opcode, m->length, m->pieces, m->recv_pieces, m->flags);
	free(data);
	return good;
}

static void swap_sides(struct pair *pair)
{
	struct side side = pair->a;

	pair->a = pair->b;
	pair->b = side;
}

static bool works_one_way(struct pair *pair)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ,
	};
	size_t n = ARRAY_SIZE(opcodes) - (pair->a.qp->qp_type != IBV_QPT_RC);
	bool good = true;
	size_t i;

	for (i = 0; i < n; i++)
		good &= transfer(pair, &(const struct transfer) {
				.opcode = opcodes[i],
				.length = 3001,
				.offset = 65,
				.remote = 7,
			});
	return good;
}

bool works(struct pair *pair)
{
	bool good = works_one_way(pair);

	swap_sides(pair);
	good &= works_one_way(pair);
	swap_sides(pair);
	return good;
}
