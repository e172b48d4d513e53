// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The extended interfaces: ibv_wr_*() and ibv_create_cq_ex().
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <time.h>

#include "transfer.h"

static const struct options extended = {
	.extended = true, .inline_data = 200, .sge = 8,
};

static void all_operations(const void *arg)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ,
	};
	struct options options = extended;
	struct pair pair;
	size_t i;
	int n;

	options.type = *(const enum ibv_qp_type *)arg;
	REQUIRE(pair_up(&pair, &options));
	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		struct transfer m = { .opcode = opcodes[i], .remote = 99 };

		if (options.type == IBV_QPT_UC && m.opcode == IBV_WR_RDMA_READ)
			break;
		for (n = 1; n <= 8; n += 7) {
			m.pieces = n;
			m.flags = 0;
			m.length = 5001;
			transfer(&pair, &m);
			m.flags = m.opcode == IBV_WR_RDMA_READ ? 0 :
				  IBV_SEND_INLINE;
			m.length = 197;
			transfer(&pair, &m);
			m.length = 0;
			transfer(&pair, &m);
		}
	}
	pair_down(&pair);
}

static void atomics(const void *arg)
{
	struct ibv_qp_ex *qp;
	struct pair pair;
	uint64_t *at, addr;

	(void)arg;
	REQUIRE(pair_up(&pair, &extended));
	qp = ibv_qp_to_qp_ex(pair.a.qp);
	at = (uint64_t *)pair.b.buf;
	addr = (uintptr_t)at;
	*at = 40;
	ibv_wr_start(qp);
	qp->wr_id = 1;
	qp->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_atomic_fetch_add(qp, pair.b.mr->rkey, addr, 2);
	ibv_wr_set_sge(qp, pair.a.mr->lkey, (uintptr_t)pair.a.buf, 8);
	qp->wr_id = 2;
	ibv_wr_atomic_cmp_swp(qp, pair.b.mr->rkey, addr, 42, 99);
	ibv_wr_set_sge(qp, pair.a.mr->lkey, (uintptr_t)pair.a.buf + 8, 8);
	CHECK_CALL(ibv_wr_complete(qp), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 1, .opcode = IBV_WC_FETCH_ADD);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 2, .opcode = IBV_WC_COMP_SWAP);
	CHECK(((uint64_t *)pair.a.buf)[0] == 40);
	CHECK(((uint64_t *)pair.a.buf)[1] == 42);
	CHECK(*at == 99);
	pair_down(&pair);
}

static void datagram(const void *arg)
{
	struct options options = extended;
	struct ibv_qp_ex *qp;
	struct pair pair;

	(void)arg;
	options.type = IBV_QPT_UD;
	REQUIRE(pair_up(&pair, &options));
	qp = ibv_qp_to_qp_ex(pair.a.qp);
	fill(pair.a.buf, 300, 8);
	CHECK_CALL(post_recv(&pair.b, 5, 0, 1000), 0);
	ibv_wr_start(qp);
	qp->wr_id = 4;
	qp->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send_imm(qp, htonl(77));
	ibv_wr_set_ud_addr(qp, pair.a.ah, pair.b.qp->qp_num, QKEY);
	ibv_wr_set_sge(qp, pair.a.mr->lkey, (uintptr_t)pair.a.buf, 300);
	CHECK_CALL(ibv_wr_complete(qp), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 4, .opcode = IBV_WC_SEND);
	EXPECT(pair.b.rcq, pair.b.qp, .wr_id = 5, .opcode = IBV_WC_RECV,
	       .length = 340, .with_imm = true, .imm = 77,
	       .src_qp = pair.a.qp->qp_num);
	CHECK(filled(pair.b.buf + 40, 300, 8));
	pair_down(&pair);
}

static void begin_write(struct pair *pair, struct ibv_qp_ex *qp, int i)
{
	qp->wr_id = i;
	qp->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write(qp, pair->b.mr->rkey, (uintptr_t)pair->b.buf + i);
	ibv_wr_set_sge(qp, pair->a.mr->lkey, (uintptr_t)pair->a.buf + i, 1);
}

/* A list that is aborted or has an error is not posted. */
static void aborted(const void *arg)
{
	struct ibv_qp_ex *qp;
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, &extended));
	qp = ibv_qp_to_qp_ex(pair.a.qp);
	memset(pair.a.buf, 1, 10);
	ibv_wr_start(qp);
	begin_write(&pair, qp, 1);
	begin_write(&pair, qp, 2);
	ibv_wr_abort(qp);
	ibv_wr_start(qp);
	begin_write(&pair, qp, 3);
	ibv_wr_set_inline_data(qp, pair.a.buf, 5000);
	begin_write(&pair, qp, 4);
	CHECK_CALL(ibv_wr_complete(qp), EINVAL);
	ibv_wr_start(qp);
	begin_write(&pair, qp, 5);
	CHECK_CALL(ibv_wr_complete(qp), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 5, .opcode = IBV_WC_RDMA_WRITE);
	CHECK(quiet(pair.a.scq));
	CHECK(!memcmp(pair.b.buf, "\0\0\0\0\0\1\0\0", 8));
	works(&pair);
	pair_down(&pair);
}

/* Completions by the extended way */

#define WC_FLAGS (IBV_WC_STANDARD_FLAGS |				\
		  IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |			\
		  IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)

static struct ibv_cq_ex *create_cq(const struct host *host)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 64, .wc_flags = WC_FLAGS };

	return ibv_create_cq_ex(host->context, &attr);
}

static uint64_t clock_of(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

/* The QPs of @pair complete here: b's are replaced by ones on @cq. */
static bool move_to_cq(struct pair *pair, struct ibv_cq_ex *cq)
{
	struct ibv_cq *own = pair->b.rcq;

	CHECK_CALL(ibv_destroy_qp(pair->b.qp), 0);
	pair->b.qp = ibv_create_qp(pair->b.pd, &(struct ibv_qp_init_attr) {
		.send_cq = pair->b.scq, .recv_cq = ibv_cq_ex_to_cq(cq),
		.cap = pair->b.cap, .qp_type = IBV_QPT_RC });
	pair->b.rcq = own;
	return CHECK(pair->b.qp) && pair_connect(pair);
}

static bool start_poll(struct ibv_cq_ex *cq)
{
	struct ibv_poll_cq_attr attr = {};
	uint64_t end = clock_of(CLOCK_MONOTONIC) + PATIENCE_MS * 1000000ull;
	int err;

	do {
		err = ibv_start_poll(cq, &attr);
	} while (err == ENOENT && clock_of(CLOCK_MONOTONIC) < end);
	return CHECK_CALL(err, 0);
}

static void check_fields(struct ibv_cq_ex *cq, const struct pair *pair, int i)
{
	CHECK(cq->wr_id == 100ull + i && cq->status == IBV_WC_SUCCESS);
	CHECK(ibv_wc_read_opcode(cq) == IBV_WC_RECV);
	CHECK(ibv_wc_read_byte_len(cq) == 10u + i);
	CHECK(ibv_wc_read_wc_flags(cq) & IBV_WC_WITH_IMM);
	CHECK(ntohl(ibv_wc_read_imm_data(cq)) == 7u + i);
	CHECK(ibv_wc_read_qp_num(cq) == pair->b.qp->qp_num);
}

static void send_imm(struct pair *pair, int i)
{
	struct ibv_sge sge = piece(&pair->a, 0, 10 + i);
	struct ibv_send_wr wr = {
		.wr_id = i, .sg_list = &sge, .num_sge = 1,
		.opcode = IBV_WR_SEND_WITH_IMM, .imm_data = htonl(7 + i),
		.send_flags = IBV_SEND_SIGNALED,
	};

	CHECK_CALL(post_recv(&pair->b, 100 + i, 0, 100), 0);
	CHECK_CALL(post_one(&pair->a, &wr), 0);
	EXPECT(pair->a.scq, pair->a.qp, .wr_id = i, .opcode = IBV_WC_SEND);
}

static void check_stamp(struct ibv_cq_ex *cq, uint64_t *last, uint64_t real)
{
	uint64_t stamp = ibv_wc_read_completion_ts(cq);
	uint64_t wall = ibv_wc_read_completion_wallclock_ns(cq);

	CHECK(stamp >= *last && stamp <= clock_of(CLOCK_MONOTONIC_RAW));
	/* The two clocks differ in speed by some parts in a thousand. */
	CHECK(wall + 50000000 >= real &&
	      wall <= clock_of(CLOCK_REALTIME) + 50000000);
	*last = stamp;
}

static void timestamps(const void *arg)
{
	uint64_t last = clock_of(CLOCK_MONOTONIC_RAW);
	uint64_t real = clock_of(CLOCK_REALTIME);
	struct ibv_cq_ex *cq = create_cq(&hosts[1]);
	struct pair pair;
	int i, k;

	(void)arg;
	REQUIRE(CHECK(cq) && pair_create(&pair, NULL) && move_to_cq(&pair, cq));
	for (i = 0; i < 20; i += 4) {
		for (k = 0; k < 4; k++)
			send_imm(&pair, i + k);
		REQUIRE(start_poll(cq));
		for (k = 0; k < 4; k++) {
			check_fields(cq, &pair, i + k);
			check_stamp(cq, &last, real);
			CHECK_CALL(ibv_next_poll(cq), k < 3 ? 0 : ENOENT);
		}
		ibv_end_poll(cq);
	}
	CHECK_CALL(ibv_start_poll(cq, &(struct ibv_poll_cq_attr) {}), ENOENT);
	CHECK_CALL(ibv_start_poll(cq, &(struct ibv_poll_cq_attr) { 1 }), EINVAL);
	CHECK_CALL(ibv_destroy_qp(pair.b.qp), 0);
	pair.b.qp = NULL;
	CHECK_CALL(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
	pair_down(&pair);
}

static void raw_clock(const void *arg)
{
	struct ibv_values_ex values = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK };
	struct ibv_device_attr_ex attr;
	uint64_t before = clock_of(CLOCK_MONOTONIC_RAW);

	(void)arg;
	CHECK_CALL(ibv_query_rt_values_ex(hosts[0].context, &values), 0);
	CHECK(values.comp_mask == IBV_VALUES_MASK_RAW_CLOCK);
	CHECK(!values.raw_clock.tv_sec);
	CHECK((uint64_t)values.raw_clock.tv_nsec >= before &&
	      (uint64_t)values.raw_clock.tv_nsec <=
	      clock_of(CLOCK_MONOTONIC_RAW));
	CHECK_CALL(ibv_query_device_ex(hosts[0].context, NULL, &attr), 0);
	CHECK(attr.completion_timestamp_mask == UINT64_MAX);
	CHECK(attr.hca_core_clock == 1000000);
}

GROUP(extended)
{
	static const enum ibv_qp_type rc = IBV_QPT_RC, uc = IBV_QPT_UC;
	static const struct test tests[] = {
		{ "ibv_wr_*(): RC, all operations", all_operations, &rc },
		{ "ibv_wr_*(): UC, all operations", all_operations, &uc },
		{ "ibv_wr_*(): atomics", atomics },
		{ "ibv_wr_*(): UD", datagram },
		{ "ibv_wr_*(): abort and errors", aborted },
		{ "ibv_create_cq_ex(): fields and timestamps", timestamps },
		{ "the clock of timestamps", raw_clock },
	};

	run_tests(tests, ARRAY_SIZE(tests));
}
