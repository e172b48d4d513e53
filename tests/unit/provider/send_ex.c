// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Extended posting: each operation writes the same bytes as ibv_post_send(), also into a
 * ring of other values.  Errors, abort, lists.
 */
#include "fixture.h"

#define WR_ID	0x1122334455667788
#define ADDR	0xaabbccdd00112233
#define RKEY	0x87654321
#define WORD	0x01020304
#define COMPARE	0x1111222233334444
#define SWAP	0x5555666677778888
#define SRQN	0x654321

static struct ibv_ah *ah;

/* One operation, posted with ibv_post_send() and by the extended interface. */
struct operation {
	const char *name;
	enum ibv_qp_type type;
	struct ibv_send_wr wr;
	void (*begin)(struct ibv_qp_ex *qp);
	bool needs_rkey;
};

static void send(struct ibv_qp_ex *qp)
{
	ibv_wr_send(qp);
}

static void send_imm(struct ibv_qp_ex *qp)
{
	ibv_wr_send_imm(qp, WORD);
}

static void rdma_write(struct ibv_qp_ex *qp)
{
	ibv_wr_rdma_write(qp, RKEY, ADDR);
}

static void rdma_write_imm(struct ibv_qp_ex *qp)
{
	ibv_wr_rdma_write_imm(qp, RKEY, ADDR, WORD);
}

static void rdma_read(struct ibv_qp_ex *qp)
{
	ibv_wr_rdma_read(qp, RKEY, ADDR);
}

static void cmp_swp(struct ibv_qp_ex *qp)
{
	ibv_wr_atomic_cmp_swp(qp, RKEY, ADDR, COMPARE, SWAP);
}

static void fetch_add(struct ibv_qp_ex *qp)
{
	ibv_wr_atomic_fetch_add(qp, RKEY, ADDR, COMPARE);
}

static void xrc_send(struct ibv_qp_ex *qp)
{
	ibv_wr_send(qp);
	ibv_wr_set_xrc_srqn(qp, SRQN);
}

static void xrc_write_imm(struct ibv_qp_ex *qp)
{
	ibv_wr_rdma_write_imm(qp, RKEY, ADDR, WORD);
	ibv_wr_set_xrc_srqn(qp, SRQN);
}

static void xrc_cmp_swp(struct ibv_qp_ex *qp)
{
	ibv_wr_atomic_cmp_swp(qp, RKEY, ADDR, COMPARE, SWAP);
	ibv_wr_set_xrc_srqn(qp, SRQN);
}

static void ud_send(struct ibv_qp_ex *qp)
{
	ibv_wr_send(qp);
	ibv_wr_set_ud_addr(qp, ah, 0x123456, WORD);
}

static void ud_send_imm(struct ibv_qp_ex *qp)
{
	ibv_wr_send_imm(qp, WORD);
	ibv_wr_set_ud_addr(qp, ah, 0x123456, WORD);
}

#define TO_MEMORY .wr.rdma = { .remote_addr = ADDR, .rkey = RKEY }
#define TO_UD .wr.ud = { .remote_qpn = 0x123456, .remote_qkey = WORD }

static const struct operation operations[] = {
	{ "RC SEND", IBV_QPT_RC, { .opcode = IBV_WR_SEND }, send },
	{ "RC SEND with immediate", IBV_QPT_RC,
	  { .opcode = IBV_WR_SEND_WITH_IMM, .imm_data = WORD }, send_imm },
	{ "RC WRITE", IBV_QPT_RC,
	  { .opcode = IBV_WR_RDMA_WRITE, TO_MEMORY }, rdma_write, true },
	{ "RC WRITE with immediate", IBV_QPT_RC,
	  { .opcode = IBV_WR_RDMA_WRITE_WITH_IMM, .imm_data = WORD, TO_MEMORY },
	  rdma_write_imm, true },
	{ "RC READ", IBV_QPT_RC,
	  { .opcode = IBV_WR_RDMA_READ, TO_MEMORY }, rdma_read, true },
	{ "RC compare and swap", IBV_QPT_RC,
	  { .opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
	    .wr.atomic = { ADDR, COMPARE, SWAP, RKEY } }, cmp_swp, true },
	{ "RC fetch and add", IBV_QPT_RC,
	  { .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
	    .wr.atomic = { ADDR, COMPARE, SWAP, RKEY } }, fetch_add, true },
	{ "XRC SEND", IBV_QPT_XRC_SEND,
	  { .opcode = IBV_WR_SEND, .qp_type.xrc.remote_srqn = SRQN },
	  xrc_send },
	{ "XRC WRITE with immediate", IBV_QPT_XRC_SEND,
	  { .opcode = IBV_WR_RDMA_WRITE_WITH_IMM, .imm_data = WORD, TO_MEMORY,
	    .qp_type.xrc.remote_srqn = SRQN }, xrc_write_imm, true },
	{ "XRC compare and swap", IBV_QPT_XRC_SEND,
	  { .opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
	    .wr.atomic = { ADDR, COMPARE, SWAP, RKEY },
	    .qp_type.xrc.remote_srqn = SRQN }, xrc_cmp_swp, true },
	{ "UC SEND", IBV_QPT_UC, { .opcode = IBV_WR_SEND }, send },
	{ "UC SEND with immediate", IBV_QPT_UC,
	  { .opcode = IBV_WR_SEND_WITH_IMM, .imm_data = WORD }, send_imm },
	{ "UC WRITE", IBV_QPT_UC,
	  { .opcode = IBV_WR_RDMA_WRITE, TO_MEMORY }, rdma_write, true },
	{ "UC WRITE with immediate", IBV_QPT_UC,
	  { .opcode = IBV_WR_RDMA_WRITE_WITH_IMM, .imm_data = WORD, TO_MEMORY },
	  rdma_write_imm, true },
	{ "UD SEND", IBV_QPT_UD, { .opcode = IBV_WR_SEND, TO_UD }, ud_send },
	{ "UD SEND with immediate", IBV_QPT_UD,
	  { .opcode = IBV_WR_SEND_WITH_IMM, .imm_data = WORD, TO_UD },
	  ud_send_imm },
};

/* The expected 32 bytes in the middle of an entry. */
static void expect_target(const struct operation *op, struct sroce_sqe *sqe)
{
	if (op->type == IBV_QPT_UD) {
		sqe->ud.ah = to_sroce_ah(ah)->number;
		sqe->ud.remote_qpn = 0x123456;
		sqe->ud.remote_qkey = WORD;
	} else if (op->needs_rkey) {
		sqe->rdma.remote_addr = ADDR;
		sqe->rdma.rkey = RKEY;
	}
	if (op->type == IBV_QPT_XRC_SEND)
		sqe->rdma.srqn = SRQN;
	if (op->wr.opcode == IBV_WR_ATOMIC_CMP_AND_SWP)
		sqe->atomic.swap = SWAP;
	if (op->wr.opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	    op->wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		sqe->atomic.compare_add = COMPARE;
}

static struct sroce_sqe expected(const struct operation *op, uint8_t flags,
				 uint16_t num)
{
	struct sroce_sqe sqe;

	memset(&sqe, 0, sizeof(sqe));
	sqe.wr_id = WR_ID;
	sqe.opcode = op->wr.opcode;
	sqe.flags = flags;
	sqe.num_sge = num;
	if (op->wr.imm_data)
		sqe.imm_data = WORD;
	expect_target(op, &sqe);
	return sqe;
}

static const struct ibv_sge list[3] = {
	{ 0x1000, 10, 0x11 }, { 0x2000, 20, 0x22 }, { 0x3000, 30, 0x33 },
};

static void *fill_ring(struct ibv_qp *qp)
{
	struct fake_queue *queue = fake_queue(qp->handle);

	return memset(queue->ring, 0xa5, queue->entries * queue->stride);
}

static void post_with_list(const struct fixture *fx, const struct operation *op)
{
	struct ibv_qp *classic = fixture_qp(fx, op->type, false);
	struct ibv_qp *extended = fixture_qp(fx, op->type, true);
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(extended);
	struct sroce_sqe sqe = expected(op, SROCE_WR_FENCE | SROCE_WR_SIGNALED, 3);
	unsigned char *a = fill_ring(classic);
	unsigned char *b = fill_ring(extended);
	struct ibv_send_wr wr = op->wr, *bad;

	wr.wr_id = WR_ID;
	wr.send_flags = IBV_SEND_FENCE | IBV_SEND_SIGNALED;
	wr.sg_list = (struct ibv_sge *)list;
	wr.num_sge = 3;
	if (op->type == IBV_QPT_UD)
		wr.wr.ud.ah = ah;
	ok(!ibv_post_send(classic, &wr, &bad) && !memcmp(a, &sqe, sizeof(sqe)) &&
	   !memcmp(a + sizeof(sqe), list, sizeof(list)),
	   "%s, ibv_post_send(): the entry has all fields", op->name);

	qp->wr_id = WR_ID;
	qp->wr_flags = IBV_SEND_FENCE | IBV_SEND_SIGNALED;
	ibv_wr_start(qp);
	op->begin(qp);
	ibv_wr_set_sge_list(qp, 3, list);
	ok(!ibv_wr_complete(qp) && !memcmp(a, b, sizeof(sqe) + sizeof(list)),
	   "%s, extended: the entry has the same bytes", op->name);
	ibv_destroy_qp(classic);
	ibv_destroy_qp(extended);
}

static void post_inline(const struct fixture *fx, const struct operation *op)
{
	struct ibv_qp *extended = fixture_qp(fx, op->type, true);
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(extended);
	struct sroce_sqe sqe = expected(op, SROCE_WR_INLINE, 5);
	unsigned char *ring = fill_ring(extended);

	qp->wr_id = WR_ID;
	qp->wr_flags = 0;
	ibv_wr_start(qp);
	op->begin(qp);
	ibv_wr_set_inline_data(qp, (char *)"hello", 5);
	ok(!ibv_wr_complete(qp) && !memcmp(ring, &sqe, sizeof(sqe)) &&
	   !memcmp(ring + sizeof(sqe), "hello", 5),
	   "%s, inline: the entry has all fields and the data", op->name);
	ibv_destroy_qp(extended);
}

#ifdef SROCE_HAVE_ATOMIC_WRITE
/* The payload of an atomic WRITE is an argument of the call. */
static void atomic_write(const struct fixture *fx, enum ibv_qp_type type)
{
	struct ibv_qp *extended = fixture_qp(fx, type, true);
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(extended);
	bool xrc = type == IBV_QPT_XRC_SEND;
	const struct sroce_sqe sqe = {
		.wr_id = WR_ID,
		.opcode = IBV_WR_ATOMIC_WRITE,
		.flags = SROCE_WR_INLINE | SROCE_WR_SIGNALED,
		.num_sge = 8,
		.rdma = {
			.remote_addr = ADDR,
			.rkey = RKEY,
			.srqn = xrc ? SRQN : 0,
		},
	};
	unsigned char *ring = fill_ring(extended);
	uint64_t word = SWAP;

	qp->wr_id = WR_ID;
	qp->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_start(qp);
	ibv_wr_atomic_write(qp, RKEY, ADDR, &word);
	if (xrc)
		ibv_wr_set_xrc_srqn(qp, SRQN);
	word = 0;
	ok(!ibv_wr_complete(qp) && !memcmp(ring, &sqe, sizeof(sqe)) &&
	   *(uint64_t *)(ring + sizeof(sqe)) == SWAP,
	   "%s atomic WRITE: the entry has all fields and the data",
	   xrc ? "XRC" : "RC");
	ibv_destroy_qp(extended);
}

static void atomic_write_of_uc(const struct fixture *fx)
{
	struct ibv_qp *ibqp = fixture_qp(fx, IBV_QPT_UC, true);

	ok(!ibv_qp_to_qp_ex(ibqp)->wr_atomic_write,
	   "UC has no call for atomic WRITEs");
	ibv_destroy_qp(ibqp);
}
#endif

#ifdef SROCE_HAVE_FLUSH
/**
 * struct flush - a call of ibv_wr_flush()
 * @err: result of ibv_wr_complete()
 * @length: in the entry
 */
struct flush {
	const char *name;
	size_t len;
	uint8_t level;
	int err;
	uint32_t length;
};

static struct ibv_qp *flushing_qp(const struct fixture *fx)
{
	struct ibv_qp_init_attr_ex attr = fixture_qp_attr(fx, IBV_QPT_RC);
	struct ibv_qp *qp;

	attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.send_ops_flags = IBV_QP_EX_WITH_FLUSH;
	qp = ibv_create_qp_ex(fx->context, &attr);
	if (qp)
		set_state(qp, IBV_QPS_RTS);
	return qp;
}

static void flush(struct ibv_qp *extended, const struct flush *f)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(extended);
	const struct sroce_sqe sqe = {
		.wr_id = WR_ID,
		.opcode = IBV_WR_FLUSH,
		.flags = SROCE_WR_SIGNALED,
		.flush = {
			.remote_addr = ADDR,
			.rkey = RKEY,
			.length = f->length,
			.type = IBV_FLUSH_PERSISTENT,
			.level = f->level,
		},
	};
	unsigned char *ring = fill_ring(extended);

	qp->wr_id = WR_ID;
	qp->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_start(qp);
	ibv_wr_flush(qp, RKEY, ADDR, f->len, IBV_FLUSH_PERSISTENT, f->level);
	ok(ibv_wr_complete(qp) == f->err && (f->err || !memcmp(ring, &sqe, sizeof(sqe))),
	   "FLUSH of %s", f->name);
}

static void flushes(const struct fixture *fx)
{
	static const struct flush calls[] = {
		{ "a range", 4096, IBV_FLUSH_RANGE, 0, 4096 },
		{ "a range of 4 GiB is refused", 1ull << 32, IBV_FLUSH_RANGE, EINVAL, 0 },
		{ "a region, whatever its length", 1ull << 33, IBV_FLUSH_MR, 0, 0 },
	};
	struct ibv_qp *qp;
	unsigned int i;

	for (i = 0; i < NUM(calls); i++) {
		qp = flushing_qp(fx);
		if (!qp) {
			ok(errno == EOPNOTSUPP, "this libibverbs has no FLUSH");
			return;
		}
		flush(qp, &calls[i]);
		ibv_destroy_qp(qp);
	}
}
#endif

static void entry_without_setter(const struct fixture *fx)
{
	struct ibv_qp *ibqp = fixture_qp(fx, IBV_QPT_RC, true);
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(ibqp);
	struct sroce_sqe *sqe = fill_ring(ibqp);

	qp->wr_flags = 0;
	ibv_wr_start(qp);
	ibv_wr_send(qp);
	ok(!ibv_wr_complete(qp) && !sqe->num_sge && !sqe->flags,
	   "without a setter an entry has no payload");
	ibv_wr_start(qp);
	ok(!ibv_wr_complete(qp), "an empty batch is no error");
	ibv_destroy_qp(ibqp);
}

static void last_setter_counts(const struct fixture *fx)
{
	struct ibv_qp *ibqp = fixture_qp(fx, IBV_QPT_RC, true);
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(ibqp);
	struct sroce_sqe *sqe = fake_sqe(fake_queue(ibqp->handle), 0);

	qp->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_start(qp);
	ibv_wr_send(qp);
	ibv_wr_set_inline_data(qp, (char *)"hello", 5);
	ibv_wr_set_sge(qp, list[0].lkey, list[0].addr, list[0].length);
	ibv_wr_send(qp);
	ibv_wr_set_inline_data(qp, (char *)"hello", 5);
	ibv_wr_set_sge_list(qp, 3, list);
	ok(!ibv_wr_complete(qp) && sqe->flags == SROCE_WR_SIGNALED &&
	   sqe->num_sge == 1 && !memcmp(sqe + 1, list, sizeof(list[0])),
	   "an SGE replaces inline data");
	sqe = fake_sqe(fake_queue(ibqp->handle), 1);
	ok(sqe->flags == SROCE_WR_SIGNALED && sqe->num_sge == 3 &&
	   !memcmp(sqe + 1, list, sizeof(list)), "a list of SGEs replaces inline data");
	ibv_wr_start(qp);
	ibv_wr_send(qp);
	ibv_wr_set_sge_list(qp, 3, list);
	ibv_wr_set_inline_data(qp, (char *)"hello", 5);
	sqe = fake_sqe(fake_queue(ibqp->handle), 2);
	ok(!ibv_wr_complete(qp) && sqe->num_sge == 5 &&
	   sqe->flags == (SROCE_WR_SIGNALED | SROCE_WR_INLINE) &&
	   !memcmp(sqe + 1, "hello", 5), "inline data replaces a list of SGEs");
	ibv_destroy_qp(ibqp);
}

/* The provider of rxe had a bug here: both sums were wrong. */
static void list_lengths(const struct fixture *fx)
{
	char text[] = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz";
	struct ibv_data_buf bufs[] = {
		{ text, 26 }, { text, 0 }, { text + 26, 26 }, { text, 28 },
		{ text, 1 },
	};
	struct ibv_qp *ibqp = fixture_qp(fx, IBV_QPT_RC, true);
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(ibqp);
	struct sroce_sqe *sqe = fake_sqe(fake_queue(ibqp->handle), 0);

	qp->wr_flags = 0;
	ibv_wr_start(qp);
	ibv_wr_send(qp);
	ibv_wr_set_inline_data_list(qp, 4, bufs);
	ok(!ibv_wr_complete(qp) && sqe->num_sge == 80 &&
	   !memcmp(sqe + 1, text, 52) &&
	   !memcmp((char *)(sqe + 1) + 52, text, 28),
	   "inline data of several buffers has the sum of their lengths");
	ibv_wr_start(qp);
	ibv_wr_send(qp);
	ibv_wr_set_inline_data_list(qp, 5, bufs);
	ok(ibv_wr_complete(qp) == EINVAL, "inline data beyond the limit is refused");

	sqe = fake_sqe(fake_queue(ibqp->handle), 1);
	ibv_wr_start(qp);
	ibv_wr_send(qp);
	ibv_wr_set_sge_list(qp, 3, list);
	ok(!ibv_wr_complete(qp) && sqe->num_sge == 3 &&
	   !memcmp(sqe + 1, list, sizeof(list)), "a list of SGEs keeps each length");
	ibv_wr_start(qp);
	ibv_wr_send(qp);
	ibv_wr_set_sge(qp, 7, 8, 9);
	ok(!ibv_wr_complete(qp), "a single SGE is accepted");
	ibv_destroy_qp(ibqp);
}

static void failed_batch(const struct fixture *fx)
{
	struct ibv_qp *ibqp = fixture_qp(fx, IBV_QPT_RC, true);
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(ibqp);
	struct sroce_qp_slot *slot = fake_queue(ibqp->handle)->slot;
	struct ibv_sge four[4] = {};
	int i;

	qp->wr_flags = 0;
	ibv_wr_start(qp);
	ibv_wr_send(qp);
	ibv_wr_send(qp);
	ibv_wr_set_sge_list(qp, 4, four);
	ibv_wr_set_sge(qp, 1, 2, 3);
	ibv_wr_send(qp);
	ok(ibv_wr_complete(qp) == EINVAL && !slot->sq_tail,
	   "a batch with an invalid entry is not posted");
	ibv_wr_start(qp);
	ibv_wr_send(qp);
	ibv_wr_abort(qp);
	ok(!slot->sq_tail, "an aborted batch is not posted");
	ibv_wr_start(qp);
	for (i = 0; i < 5; i++)
		ibv_wr_send(qp);
	ok(ibv_wr_complete(qp) == ENOMEM && !slot->sq_tail,
	   "a batch that exceeds the ring is not posted");
	qp->wr_flags = IBV_SEND_IP_CSUM;
	ibv_wr_start(qp);
	ibv_wr_send(qp);
	ok(ibv_wr_complete(qp) == EINVAL, "unknown flags are refused");
	set_state(ibqp, IBV_QPS_RTR);
	ibv_wr_start(qp);
	ok(ibv_wr_complete(qp) == EINVAL, "a QP in RTR refuses requests");
	ibv_destroy_qp(ibqp);
}

static void one_kick_for_a_batch(const struct fixture *fx)
{
	struct ibv_qp *ibqp = fixture_qp(fx, IBV_QPT_RC, true);
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(ibqp);
	struct sroce_qp_slot *slot = fake_queue(ibqp->handle)->slot;

	fake.kicks = 0;
	slot->kick = SROCE_KICK_SEND;
	qp->wr_flags = 0;
	ibv_wr_start(qp);
	ibv_wr_send(qp);
	ibv_wr_send(qp);
	ok(!fake.kicks && !slot->sq_tail, "nothing is posted before ibv_wr_complete()");
	ok(!ibv_wr_complete(qp) && fake.kicks == 1 && slot->sq_tail == 2,
	   "ibv_wr_complete() posts a batch with one kick");
	slot->kick = 0;
	ibv_wr_start(qp);
	ibv_wr_send(qp);
	ok(!ibv_wr_complete(qp) && fake.kicks == 1, "no kick if the kernel needs none");
	ibv_destroy_qp(ibqp);
}

/* If one interface left a lock locked, the other one would deadlock. */
static void locks(const struct fixture *fx)
{
	struct ibv_qp *ibqp = fixture_qp(fx, IBV_QPT_RC, true);
	struct sroce_lock *lock = &to_sroce_qp(ibqp)->sq.lock;
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(ibqp);

	ibv_wr_start(qp);
	ok(pthread_spin_trylock(&lock->spin) == EBUSY, "ibv_wr_start() takes the lock");
	ibv_wr_abort(qp);
	ok(!pthread_spin_trylock(&lock->spin), "ibv_wr_abort() releases the lock");
	pthread_spin_unlock(&lock->spin);
	ibv_wr_start(qp);
	ibv_wr_complete(qp);
	ok(!pthread_spin_trylock(&lock->spin), "ibv_wr_complete() releases the lock");
	pthread_spin_unlock(&lock->spin);
	ibv_destroy_qp(ibqp);
}

GROUP(send_ex)
{
	struct ibv_ah_attr attr = { .is_global = 1, .port_num = 1 };
	struct fixture fx;
	unsigned int i;

	fixture_open(&fx);
	ah = ibv_create_ah(fx.pd, &attr);
	for (i = 0; i < NUM(operations); i++) {
		post_with_list(&fx, &operations[i]);
		post_inline(&fx, &operations[i]);
	}
#ifdef SROCE_HAVE_ATOMIC_WRITE
	atomic_write(&fx, IBV_QPT_RC);
	atomic_write(&fx, IBV_QPT_XRC_SEND);
	atomic_write_of_uc(&fx);
#endif
#ifdef SROCE_HAVE_FLUSH
	flushes(&fx);
#endif
	entry_without_setter(&fx);
	last_setter_counts(&fx);
	list_lengths(&fx);
	failed_batch(&fx);
	one_kick_for_a_batch(&fx);
	locks(&fx);
	ibv_destroy_ah(ah);
	fixture_close(&fx);
}
