// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Atomic WRITEs: eight bytes become visible at once, after all bytes of earlier
 * WRITEs.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "transfer.h"

#define ROUNDS	300

static const struct options extended = { .extended = true };

static uint64_t word(int i)
{
	return 0x0102030405060708 * (i % 31 + 1) ^ (uint64_t)i << 32;
}

static void begin(struct pair *pair, uint64_t wr_id, size_t remote,
		  const uint64_t *value)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(pair->a.qp);

	qp->wr_id = wr_id;
	qp->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_atomic_write(qp, rkey_of(&pair->b),
			    (uintptr_t)pair->b.buf + remote, value);
	if (pair->options.type == IBV_QPT_XRC_SEND)
		ibv_wr_set_xrc_srqn(qp, pair->a.srqn);
}

static int atomic_write(struct pair *pair, uint64_t wr_id, size_t remote,
			uint64_t value)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(pair->a.qp);

	ibv_wr_start(qp);
	begin(pair, wr_id, remote, &value);
	return ibv_wr_complete(qp);
}

static bool done(struct pair *pair, uint64_t wr_id)
{
	return EXPECT(pair->a.scq, pair->a.qp, .wr_id = wr_id,
		      .opcode = IBV_WC_ATOMIC_WRITE);
}

static void offered(const void *arg)
{
	struct ibv_device_attr_ex attr;

	(void)arg;
	REQUIRE(!ibv_query_device_ex(hosts[0].context, NULL, &attr));
	CHECK(attr.device_cap_flags_ex & 1ull << 40);
}

/* These bytes change, and no others. */
static void one(const void *arg)
{
	struct options options = extended;
	struct pair pair;
	uint64_t value;
	int i;

	options.type = *(const enum ibv_qp_type *)arg;
	REQUIRE(pair_up(&pair, &options));
	fill(pair.b.buf, 4096, 7);
	for (i = 0; i < 10; i++) {
		CHECK_CALL(atomic_write(&pair, i, 8 * i + 800, word(i)), 0);
		done(&pair, i);
		memcpy(&value, pair.b.buf + 8 * i + 800, 8);
		CHECK(value == word(i));
	}
	CHECK(filled(pair.b.buf, 800, 7));
	fill(pair.a.buf, 4096, 7);
	CHECK(!memcmp(pair.a.buf + 880, pair.b.buf + 880, 4096 - 880));
	CHECK(quiet(pair.a.scq));
	CHECK(quiet(pair.b.rcq));
	pair_down(&pair);
}

/* More at once than the peer has responder resources. */
static void list(const void *arg)
{
	struct options options = extended;
	uint64_t values[48];
	struct ibv_qp_ex *qp;
	struct pair pair;
	int i;

	(void)arg;
	options.rd_atomic = 2;
	REQUIRE(pair_up(&pair, &options));
	qp = ibv_qp_to_qp_ex(pair.a.qp);
	ibv_wr_start(qp);
	for (i = 0; i < 48; i++) {
		values[i] = word(i);
		begin(&pair, i, 8 * i, &values[i]);
	}
	CHECK_CALL(ibv_wr_complete(qp), 0);
	for (i = 0; i < 48; i++)
		REQUIRE(done(&pair, i));
	CHECK(!memcmp(pair.b.buf, values, sizeof(values)));
	pair_down(&pair);
}

/* Gathered from memory, as any other request. */
static void gathered(const void *arg)
{
	struct ibv_sge sge[2];
	struct ibv_send_wr wr;
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	fill(pair.a.buf, 64, 3);
	sge[0] = piece(&pair.a, 1, 3);
	sge[1] = piece(&pair.a, 4, 5);
	wr = rdma_wr(&pair.b, IBV_WR_ATOMIC_WRITE, 5, sge, 2, 8);
	CHECK_CALL(post_one(&pair.a, &wr), 0);
	done(&pair, 5);
	CHECK(!memcmp(pair.b.buf + 8, pair.a.buf + 1, 8));
	sge[0] = piece(&pair.a, 16, 8);
	wr = rdma_wr(&pair.b, IBV_WR_ATOMIC_WRITE, 6, sge, 1, 16);
	wr.send_flags |= IBV_SEND_INLINE;
	CHECK_CALL(post_one(&pair.a, &wr), 0);
	done(&pair, 6);
	CHECK(!memcmp(pair.b.buf + 16, pair.a.buf + 16, 8));
	pair_down(&pair);
}

/* A reader that sees the word sees all earlier WRITEs. */
static void flag(const void *arg)
{
	const volatile _Atomic uint64_t *word_at;
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct pair pair;
	int i;

	(void)arg;
	REQUIRE(pair_up(&pair, &extended));
	word_at = (void *)(pair.b.buf + 32768);
	for (i = 1; i <= 20; i++) {
		uint64_t before = now_ms();

		fill(pair.a.buf, 30000, i);
		sge = piece(&pair.a, 0, 30000);
		wr = rdma_wr(&pair.b, IBV_WR_RDMA_WRITE, 1, &sge, 1, 0);
		wr.send_flags = 0;
		CHECK_CALL(post_one(&pair.a, &wr), 0);
		CHECK_CALL(atomic_write(&pair, i, 32768, word(i)), 0);
		while (atomic_load(word_at) != word(i) &&
		       now_ms() - before < PATIENCE_MS)
			;
		CHECK(atomic_load(word_at) == word(i));
		CHECK(filled(pair.b.buf, 30000, i));
		REQUIRE(done(&pair, i));
	}
	pair_down(&pair);
}

struct watch {
	const volatile _Atomic uint64_t *at;
	atomic_bool stop;
	unsigned int torn;
};

/* Both halves of the written word are equal. */
static void *look(void *arg)
{
	struct watch *watch = arg;

	while (!atomic_load(&watch->stop)) {
		uint64_t value = atomic_load(watch->at);

		watch->torn += value >> 32 != (value & 0xffffffff);
	}
	return NULL;
}

static void whole(const void *arg)
{
	struct watch watch = {};
	pthread_t thread;
	struct pair pair;
	int i;

	(void)arg;
	REQUIRE(pair_up(&pair, &extended));
	memset(pair.b.buf, 0, 64);
	watch.at = (void *)(pair.b.buf + 8);
	CHECK_CALL(pthread_create(&thread, NULL, look, &watch), 0);
	for (i = 0; i < ROUNDS; i++) {
		uint32_t half = i * 2654435761u;

		CHECK_CALL(atomic_write(&pair, i, 8,
					(uint64_t)half << 32 | half), 0);
		if (!done(&pair, i))
			break;
	}
	atomic_store(&watch.stop, true);
	pthread_join(thread, NULL);
	CHECK(watch.torn == 0);
	pair_down(&pair);
}

/* A READ with a fence waits for it and returns the new value. */
static void fence(const void *arg)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct pair pair;
	uint64_t value;

	(void)arg;
	REQUIRE(pair_up(&pair, &extended));
	memset(pair.b.buf, 0, 64);
	CHECK_CALL(atomic_write(&pair, 1, 16, word(9)), 0);
	sge = piece(&pair.a, 0, 8);
	wr = rdma_wr(&pair.b, IBV_WR_RDMA_READ, 2, &sge, 1, 16);
	wr.send_flags |= IBV_SEND_FENCE;
	CHECK_CALL(post_one(&pair.a, &wr), 0);
	done(&pair, 1);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 2, .opcode = IBV_WC_RDMA_READ,
	       .length = 8);
	memcpy(&value, pair.a.buf, 8);
	CHECK(value == word(9));
	pair_down(&pair);
}

/* Through a window: inside its bounds only. */
static void window(const void *arg)
{
	struct ibv_mw_bind bind = {
		.wr_id = 9,
		.send_flags = IBV_SEND_SIGNALED,
	};
	const struct options options = {
		.mr_access = ALL_ACCESS | IBV_ACCESS_MW_BIND,
	};
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct pair pair;
	struct ibv_mw *mw;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	mw = ibv_alloc_mw(pair.b.pd, IBV_MW_TYPE_1);
	REQUIRE(mw);
	bind.bind_info = (struct ibv_mw_bind_info) {
		.mr = pair.b.mr,
		.addr = (uintptr_t)pair.b.buf + 64,
		.length = 16,
		.mw_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	CHECK_CALL(ibv_bind_mw(pair.b.qp, mw, &bind), 0);
	EXPECT(pair.b.scq, pair.b.qp, .wr_id = 9, .opcode = IBV_WC_BIND_MW);
	fill(pair.a.buf, 8, 5);
	memset(pair.b.buf, 0, 128);
	sge = piece(&pair.a, 0, 8);
	wr = rdma_wr(&pair.b, IBV_WR_ATOMIC_WRITE, 1, &sge, 1, 72);
	wr.wr.rdma.rkey = mw->rkey;
	CHECK_CALL(post_one(&pair.a, &wr), 0);
	done(&pair, 1);
	CHECK(filled(pair.b.buf + 72, 8, 5));
	wr.wr.rdma.remote_addr += 8;
	CHECK_CALL(post_one(&pair.a, &wr), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 1,
	       .status = IBV_WC_REM_ACCESS_ERR);
	CHECK(!pair.b.buf[80]);
	CHECK_CALL(ibv_dealloc_mw(mw), 0);
	pair_down(&pair);
}

/* A fault of an atomic WRITE, and the statuses at both ends. */
struct wrong {
	const char *name;
	size_t remote;
	uint32_t length;
	struct options options;
	uint32_t key;
	enum ibv_wc_status status;
	enum ibv_event_type event;
};

static void wrong(const void *arg)
{
	const struct wrong *w = arg;
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct pair pair;

	forget_events(hosts[1].context);
	REQUIRE(pair_up(&pair, &w->options));
	memset(pair.b.buf, 0, pair.b.size);
	memset(pair.a.buf, 0xff, 64);
	sge = piece(&pair.a, 0, w->length);
	wr = rdma_wr(&pair.b, IBV_WR_ATOMIC_WRITE, 3, &sge, 1, w->remote);
	wr.wr.rdma.rkey ^= w->key;
	CHECK_CALL(post_one(&pair.a, &wr), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 3, .status = w->status);
	CHECK_CALL(state_of(&pair.a), IBV_QPS_ERR);
	if (w->event)
		CHECK(wait_event(&pair.b, w->event));
	CHECK_CALL(state_of(&pair.b), w->event ? IBV_QPS_ERR : IBV_QPS_RTS);
	CHECK(!pair.b.buf[0] && !memcmp(pair.b.buf, pair.b.buf + 1,
					pair.b.size - 1));
	pair_down(&pair);
}

#define INVALID	.status = IBV_WC_REM_INV_REQ_ERR, .event = IBV_EVENT_QP_REQ_ERR
#define ACCESS	.status = IBV_WC_REM_ACCESS_ERR,			\
		.event = IBV_EVENT_QP_ACCESS_ERR
#define NO_WRITE (ALL_ACCESS & ~IBV_ACCESS_REMOTE_WRITE)

static const struct wrong wrongs[] = {
	{ "no bytes", 8, 0, .status = IBV_WC_LOC_LEN_ERR },
	{ "four bytes", 8, 4, .status = IBV_WC_LOC_LEN_ERR },
	{ "sixteen bytes", 8, 16, .status = IBV_WC_LOC_LEN_ERR },
	{ "max_rd_atomic is 0", 8, 8, .options.no_reads = true,
	  .status = IBV_WC_LOC_QP_OP_ERR },
	{ "misaligned by four", 12, 8, INVALID },
	{ "misaligned by one", 9, 8, INVALID },
	{ "a QP without the right",
	  8, 8, .options.qp_access = NO_WRITE, INVALID },
	{ "a region without the right", 8, 8, .options.mr_access = NO_WRITE,
	  ACCESS },
	{ "unknown rkey", 8, 8, .key = 1, ACCESS },
	{ "beyond the region", 65536, 8, ACCESS },
	{ "before the region", -8ul, 8, ACCESS },
};

/* QP types without atomic WRITEs. */
static void unreliable(const void *arg)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = *(const enum ibv_qp_type *)arg,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_ATOMIC_WRITE,
	};
	struct options options = { .type = attr.qp_type };
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct pair pair;

	REQUIRE(pair_up(&pair, &options));
	attr.pd = pair.a.pd;
	attr.send_cq = pair.a.scq;
	attr.recv_cq = pair.a.rcq;
	errno = 0;
	CHECK(!ibv_create_qp_ex(hosts[0].context, &attr));
	CHECK_CALL(errno, EOPNOTSUPP);
	sge = piece(&pair.a, 0, 8);
	wr = rdma_wr(&pair.b, IBV_WR_ATOMIC_WRITE, 3, &sge, 1, 8);
	CHECK_CALL(post_one(&pair.a, &wr), EINVAL);
	pair_down(&pair);
}

GROUP(atomic_write)
{
	static const enum ibv_qp_type rc = IBV_QPT_RC, uc = IBV_QPT_UC,
				      xrc = IBV_QPT_XRC_SEND;
	size_t i;

	run_test(offered, NULL, "atomic WRITE: the device offers it");
	run_test(one, &rc, "atomic WRITE: one after another");
	run_test(one, &xrc, "atomic WRITE: over XRC");
	run_test(list, NULL, "atomic WRITE: more than the peer's resources");
	run_test(gathered, NULL, "atomic WRITE: from a list, and inline");
	run_test(flag, NULL, "atomic WRITE: after all that was written before");
	run_test(whole, NULL, "atomic WRITE: seen whole or not at all");
	run_test(fence, NULL, "atomic WRITE: a fence waits for it");
	run_test(window, NULL, "atomic WRITE: through a window");
	for (i = 0; i < ARRAY_SIZE(wrongs); i++)
		run_test(wrong, &wrongs[i], "atomic WRITE refused: %s",
			 wrongs[i].name);
	run_test(unreliable, &uc, "atomic WRITE: not over UC");
}
