// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory on demand that has to be paged in: every operation.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "paging.h"

/* Newer than some of the headers; FLUSH is for newer kernels only. */
#define ODP_SUPPORT_FLUSH		(1u << 6)
#define ODP_SUPPORT_ATOMIC_WRITE	(1u << 7)

static void capabilities(const void *arg)
{
	const uint32_t all = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV |
			     IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ |
			     IBV_ODP_SUPPORT_ATOMIC | IBV_ODP_SUPPORT_SRQ_RECV |
			     ODP_SUPPORT_ATOMIC_WRITE;
	struct ibv_device_attr_ex attr;

	(void)arg;
	CHECK_CALL(ibv_query_device_ex(hosts[0].context, NULL, &attr), 0);
	CHECK(attr.odp_caps.general_caps ==
	      (IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT));
	CHECK((attr.odp_caps.per_transport_caps.rc_odp_caps &
	       ~ODP_SUPPORT_FLUSH) == all);
	CHECK(attr.odp_caps.per_transport_caps.uc_odp_caps ==
	      IBV_ODP_SUPPORT_SEND);
	CHECK(attr.odp_caps.per_transport_caps.ud_odp_caps ==
	      IBV_ODP_SUPPORT_SEND);
}

static const enum ibv_wr_opcode opcodes[] = {
	IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE,
	IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ,
};

/* Half of the pages are discarded before each. */
static void move_discarded(struct pair *pair, const struct transfer *m)
{
	size_t i;

	for (i = 0; i < pair->a.size / PAGE; i += 2) {
		discard(pair->a.buf + i * PAGE, PAGE);
		discard(pair->b.buf + (i + 1) * PAGE, PAGE);
	}
	CHECK(transfer(pair, m));
}

static void operations(const void *arg)
{
	static const uint32_t lengths[] = { 1, 1024, 3001, 40000 };
	struct pair pair;
	size_t i, j;

	(void)arg;
	REQUIRE(paging_up(&pair, 16));
	for (i = 0; i < ARRAY_SIZE(opcodes); i++)
		for (j = 0; j < ARRAY_SIZE(lengths); j++) {
			struct transfer m = {
				.opcode = opcodes[i],
				.length = lengths[j],
				.offset = 4001,
				.remote = 77,
			};

			move_discarded(&pair, &m);
			m.pieces = 4;
			m.recv_pieces = 3;
			move_discarded(&pair, &m);
		}
	CHECK(works(&pair));
	pair_down(&pair);
}

/* Untouched memory: it reads as zeros, and can be written to. */
static void untouched(const void *arg)
{
	const size_t size = 64 * PAGE;
	struct pair pair;
	uint8_t *zeros;

	(void)arg;
	zeros = calloc(1, size);
	REQUIRE(CHECK(zeros));
	REQUIRE(paging_up(&pair, 64));
	memset(pair.b.buf, 1, size);
	CHECK(transferred(&pair, IBV_WR_RDMA_WRITE, size));
	CHECK(!memcmp(pair.b.buf, zeros, size));
	discard(pair.b.buf, size);
	fill(pair.a.buf, size, 1);
	CHECK(transferred(&pair, IBV_WR_RDMA_WRITE, size));
	CHECK(filled(pair.b.buf, size, 1));
	discard(pair.a.buf, size);
	CHECK(transferred(&pair, IBV_WR_RDMA_READ, size));
	CHECK(filled(pair.a.buf, size, 1));
	discard(pair.b.buf, size);
	CHECK(transferred(&pair, IBV_WR_RDMA_READ, size));
	CHECK(!memcmp(pair.a.buf, zeros, size));
	pair_down(&pair);
	free(zeros);
}

/* Several times as long as what is paged in at once. */
static void long_read(const void *arg)
{
	const size_t pages = 8192;
	long long repaired;
	struct pair pair;

	(void)arg;
	REQUIRE(paging_up(&pair, pages));
	fill(pair.b.buf, pages * PAGE, 1);
	repaired = counter(&hosts[0], "tx_repairs");
	discard(pair.a.buf, pages * PAGE);
	CHECK(transferred(&pair, IBV_WR_RDMA_READ, pages * PAGE));
	CHECK(filled(pair.a.buf, pages * PAGE, 1));
	diag("%lld repairs", counter(&hosts[0], "tx_repairs") - repaired);
	pair_down(&pair);
}

static void atomics(const void *arg)
{
	struct pair pair;
	uint64_t *at, *result;

	(void)arg;
	REQUIRE(paging_up(&pair, 4));
	at = (uint64_t *)pair.b.buf;
	result = (uint64_t *)(pair.a.buf + PAGE);
	CHECK_CALL(post_atomic(&pair.a, &pair.b, false, 1, PAGE, 0, 5, 0), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 1, .opcode = IBV_WC_FETCH_ADD);
	CHECK(*at == 5 && *result == 0);
	discard(result, PAGE);
	CHECK_CALL(post_atomic(&pair.a, &pair.b, true, 2, PAGE, 0, 5, 9), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 2, .opcode = IBV_WC_COMP_SWAP);
	CHECK(*at == 9 && *result == 5);
	pair_down(&pair);
}

static int post_word(struct pair *pair, uint64_t wr_id)
{
	struct ibv_sge sge = piece(&pair->a, PAGE, 8);
	struct ibv_send_wr wr = rdma_wr(&pair->b, IBV_WR_ATOMIC_WRITE, wr_id,
					&sge, 1, 8);

	return post_one(&pair->a, &wr);
}

static void atomic_write(const void *arg)
{
	const uint64_t value = 0x1122334455667788;
	uint64_t *from, *to;
	struct pair pair;

	(void)arg;
	REQUIRE(paging_up(&pair, 4));
	from = (uint64_t *)(pair.a.buf + PAGE);
	to = (uint64_t *)pair.b.buf;
	*from = value;
	discard(pair.b.buf, PAGE);
	CHECK_CALL(post_word(&pair, 1), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 1,
	       .opcode = IBV_WC_ATOMIC_WRITE);
	CHECK(!to[0] && to[1] == value && !to[2]);
	discard(pair.a.buf + PAGE, PAGE);
	CHECK_CALL(post_word(&pair, 2), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 2,
	       .opcode = IBV_WC_ATOMIC_WRITE);
	CHECK(!to[1]);
	pair_down(&pair);
}

static void shared_receives(const void *arg)
{
	const struct options options = { .mr_access = ON_DEMAND, .srq = 16 };
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	move_discarded(&pair, &(const struct transfer) {
			.opcode = IBV_WR_SEND,
			.length = 9000,
			.recv_pieces = 3,
		});
	CHECK(works(&pair));
	pair_down(&pair);
}

/* Nothing is lost on the sending side; the receiving memory is present. */
static void connected_unreliably(const void *arg)
{
	const struct options options = {
		.type = IBV_QPT_UC,
		.mr_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			     IBV_ACCESS_ON_DEMAND,
	};
	struct pair pair;
	int i;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	CHECK_CALL(ibv_rereg_mr(pair.b.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL,
				NULL, 0, ALL_ACCESS), 0);
	for (i = 0; i < 4; i++) {
		discard(pair.a.buf, pair.a.size);
		CHECK(transfer(&pair, &(const struct transfer) {
				.opcode = opcodes[i],
				.length = 20000,
			}));
	}
	pair_down(&pair);
}

/* The first message is lost, but pages its memory in; a later one is not lost. */
static void received_unreliably(const void *arg)
{
	const struct options options = {
		.type = IBV_QPT_UC,
		.mr_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND,
	};
	long long lost = counter(&hosts[1], "rx_paged_out");
	uint64_t end = now_ms() + PATIENCE_MS;
	struct ibv_wc wc;
	struct pair pair;
	int n;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	fill(pair.a.buf, 3000, 3);
	CHECK_CALL(post_recv(&pair.b, 1, 0, 3000), 0);
	do {
		CHECK_CALL(post_send(&pair.a, 2, 0, 3000, IBV_SEND_SIGNALED), 0);
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = 2,
		       .opcode = IBV_WC_SEND);
		n = ibv_poll_cq(pair.b.rcq, 1, &wc);
	} while (!n && now_ms() < end);
	CHECK(n == 1 && !wc.status && wc.byte_len == 3000);
	CHECK(filled(pair.b.buf, 3000, 3));
	CHECK(counter(&hosts[1], "rx_paged_out") > lost);
	pair_down(&pair);
}

static void datagrams(const void *arg)
{
	const struct options options = {
		.type = IBV_QPT_UD,
		.mr_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND,
	};
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	CHECK_CALL(ibv_rereg_mr(pair.b.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL,
				NULL, 0, IBV_ACCESS_LOCAL_WRITE), 0);
	fill(pair.a.buf, 900, 4);
	CHECK(!madvise(pair.a.buf, PAGE, MADV_DONTNEED));
	CHECK_CALL(post_recv(&pair.b, 1, 0, 1000), 0);
	CHECK_CALL(post_datagram(&pair.a, &pair.b, 2, 900), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 2, .opcode = IBV_WC_SEND);
	EXPECT(pair.b.rcq, pair.b.qp, .wr_id = 1, .opcode = IBV_WC_RECV,
	       .length = 940);
	CHECK(!pair.b.buf[40] && !pair.b.buf[939]);
	pair_down(&pair);
}

/*
 * The device promises no paging for datagrams that it receives: one may be lost, but
 * the request stays, its memory comes, and a later one is in it.
 */
static void datagrams_received(const void *arg)
{
	const struct options options = {
		.type = IBV_QPT_UD,
		.mr_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND,
	};
	const uint32_t at = 2 * PAGE - 500, length = 900;
	uint64_t end = now_ms() + PATIENCE_MS;
	long long absent = counter(&hosts[1], "rx_paged_out");
	struct ibv_wc wc;
	struct pair pair;
	int n;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	fill(pair.a.buf, length, 6);
	memset(pair.b.buf, 0xee, pair.b.size);
	discard(pair.b.buf, pair.b.size);
	CHECK_CALL(post_recv(&pair.b, 1, at, 40 + length), 0);
	do {
		CHECK_CALL(post_datagram(&pair.a, &pair.b, 2, length), 0);
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = 2, .opcode = IBV_WC_SEND);
		n = ibv_poll_cq(pair.b.rcq, 1, &wc);
	} while (!n && now_ms() < end);
	CHECK(n == 1 && !wc.status && wc.wr_id == 1 && wc.byte_len == 40 + length);
	CHECK(filled(pair.b.buf + at + 40, length, 6));
	CHECK(!pair.b.buf[at - 1] && !pair.b.buf[at + 40 + length]);
	CHECK(counter(&hosts[1], "rx_paged_out") > absent);
	pair_down(&pair);
}

/* Stack, data, heap and later mappings, by one key. */
static void whole_space(const void *arg)
{
	static uint8_t data[3 * PAGE];
	uint8_t stack[3000], *heap = malloc(100000);
	struct pair pair;
	struct ibv_mr *mr;

	(void)arg;
	REQUIRE(CHECK(heap));
	REQUIRE(paging_up(&pair, 16));
	CHECK(!ibv_reg_mr(pair.b.pd, NULL, SIZE_MAX, ALL_ACCESS));
	mr = ibv_reg_mr(pair.b.pd, NULL, SIZE_MAX, ON_DEMAND);
	REQUIRE(CHECK(mr));
	{
		void *const places[] = { data, stack, heap };
		const uint32_t lengths[] = { sizeof(data), sizeof(stack), 60000 };
		struct ibv_mr *own = pair.b.mr;
		uint8_t *buf = pair.b.buf;
		size_t i;

		pair.b.mr = mr;
		for (i = 0; i < ARRAY_SIZE(places); i++) {
			pair.b.buf = places[i];
			fill(pair.a.buf, lengths[i], i);
			CHECK(transferred(&pair, IBV_WR_RDMA_WRITE, lengths[i]));
			CHECK(filled(places[i], lengths[i], i));
			discard(pair.a.buf, pair.a.size);
			CHECK(transferred(&pair, IBV_WR_RDMA_READ, lengths[i]));
			CHECK(filled(pair.a.buf, lengths[i], i));
		}
		pair.b.mr = own;
		pair.b.buf = buf;
	}
	CHECK_CALL(ibv_dereg_mr(mr), 0);
	pair_down(&pair);
	free(heap);
}

static void windows(const void *arg)
{
	const struct options options = {
		.mr_access = ON_DEMAND | IBV_ACCESS_MW_BIND,
	};
	struct ibv_mw_bind bind = {
		.wr_id = 7,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info.mw_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	struct pair pair;
	struct ibv_mw *mw;
	uint32_t key;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	mw = ibv_alloc_mw(pair.b.pd, IBV_MW_TYPE_1);
	REQUIRE(CHECK(mw));
	bind.bind_info.mr = pair.b.mr;
	bind.bind_info.addr = (uintptr_t)pair.b.buf;
	bind.bind_info.length = 3 * PAGE;
	CHECK_CALL(ibv_bind_mw(pair.b.qp, mw, &bind), 0);
	EXPECT(pair.b.scq, pair.b.qp, .wr_id = 7, .opcode = IBV_WC_BIND_MW);
	key = pair.b.mr->rkey;
	pair.b.mr->rkey = mw->rkey;
	fill(pair.a.buf, 3 * PAGE, 5);
	CHECK(transferred(&pair, IBV_WR_RDMA_WRITE, 3 * PAGE));
	CHECK(filled(pair.b.buf, 3 * PAGE, 5));
	discard(pair.b.buf, PAGE);
	CHECK(transferred(&pair, IBV_WR_RDMA_WRITE, 3 * PAGE));
	CHECK(filled(pair.b.buf, 3 * PAGE, 5));
	/* One byte more, and a right that only the region has. */
	CHECK(try_rdma(&pair, IBV_WR_RDMA_WRITE, 3 * PAGE + 1) ==
	      IBV_WC_REM_ACCESS_ERR);
	CHECK(pair_again(&pair));
	CHECK(try_rdma(&pair, IBV_WR_RDMA_READ, PAGE) == IBV_WC_REM_ACCESS_ERR);
	pair.b.mr->rkey = key;
	CHECK_CALL(ibv_dealloc_mw(mw), 0);
	pair_down(&pair);
}

GROUP(odp_ops)
{
	static const struct test tests[] = {
		{ "on-demand paging: capabilities", capabilities },
		{ "on-demand paging: every operation", operations },
		{ "on-demand paging: memory that nobody has touched",
		  untouched },
		{ "on-demand paging: a READ longer than what is paged in at once", long_read },
		{ "on-demand paging: atomics", atomics },
		{ "on-demand paging: atomic WRITE", atomic_write },
		{ "on-demand paging: shared receive queue", shared_receives },
		{ "on-demand paging: sent over UC", connected_unreliably },
		{ "on-demand paging: received over UC", received_unreliably },
		{ "on-demand paging: sent over UD", datagrams },
		{ "on-demand paging: received over UD", datagrams_received },
		{ "on-demand paging: a region of all addresses", whole_space },
		{ "on-demand paging: memory windows", windows },
	};

	run_tests(tests, ARRAY_SIZE(tests));
}
