// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Device memory: copied by the host, and by the network.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "transfer.h"
#include "resources.h"

#define LENGTH	20000
#define PART	3000
#define ACCESS	(ALL_ACCESS | IBV_ACCESS_ZERO_BASED)

static struct ibv_dm *alloc_dm(const struct host *host, size_t length)
{
	struct ibv_alloc_dm_attr attr = { .length = length };

	return ibv_alloc_dm(host->context, &attr);
}

static size_t most(const struct host *host)
{
	struct ibv_device_attr_ex attr;

	return ibv_query_device_ex(host->context, NULL, &attr) ?
	       0 : attr.max_dm_size;
}

/* Returns a copy of the memory from @offset on, for free(). */
static uint8_t *copy_of(struct ibv_dm *dm, size_t offset, size_t length)
{
	uint8_t *copy = malloc(length);

	memset(copy, 0xee, length);
	CHECK_CALL(ibv_memcpy_from_dm(copy, dm, offset, length), 0);
	return copy;
}

static bool dm_filled(struct ibv_dm *dm, size_t offset, size_t length,
		      uint32_t seed)
{
	uint8_t *copy = copy_of(dm, offset, length);
	bool same = filled(copy, length, seed);

	free(copy);
	return same;
}

/* An operation on side b's memory by @key. */
static void operate(struct pair *pair, enum ibv_wr_opcode opcode, uint64_t at,
		    uint32_t key, enum ibv_wc_status status)
{
	struct ibv_sge sge = piece(&pair->a, 0, PART);
	struct ibv_send_wr wr = {
		.wr_id = 6,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = at, .rkey = key },
	};

	CHECK_CALL(post_one(&pair->a, &wr), 0);
	EXPECT(pair->a.scq, pair->a.qp, .wr_id = 6, .status = status,
	       .opcode = opcode == IBV_WR_RDMA_READ ? IBV_WC_RDMA_READ :
						      IBV_WC_RDMA_WRITE,
	       .length = PART);
}

static void refused(struct pair *pair, enum ibv_wr_opcode opcode, uint64_t at,
		    uint32_t key)
{
	operate(pair, opcode, at, key, IBV_WC_REM_ACCESS_ERR);
	CHECK(pair_again(pair));
	forget_events(hosts[0].context);
	forget_events(hosts[1].context);
}

static void written_to(struct pair *pair, uint64_t at, uint32_t key)
{
	fill(pair->a.buf, PART, at);
	operate(pair, IBV_WR_RDMA_WRITE, at, key, IBV_WC_SUCCESS);
}

static void read_from(struct pair *pair, uint64_t at, uint32_t key,
		      uint32_t seed)
{
	memset(pair->a.buf, 0, PART);
	operate(pair, IBV_WR_RDMA_READ, at, key, IBV_WC_SUCCESS);
	CHECK(filled(pair->a.buf, PART, seed));
}

static void copies(const void *arg)
{
	struct ibv_dm *dm;
	uint8_t *data;
	size_t i;

	(void)arg;
	REQUIRE(CHECK(most(&hosts[0])));
	dm = alloc_dm(&hosts[0], LENGTH);
	REQUIRE(CHECK(dm));
	data = copy_of(dm, 0, LENGTH);
	for (i = 0; i < LENGTH && !data[i]; i++)
		;
	CHECK(i == LENGTH);	/* zeros at first */
	fill(data, LENGTH, 7);
	CHECK_CALL(ibv_memcpy_to_dm(dm, 0, data, LENGTH), 0);
	CHECK(dm_filled(dm, 0, LENGTH, 7));
	CHECK_CALL(ibv_memcpy_to_dm(dm, LENGTH - 4, data, 4), 0);
	CHECK_CALL(ibv_memcpy_to_dm(dm, LENGTH, data, 0), 0);
	CHECK_CALL(ibv_memcpy_to_dm(dm, LENGTH, data, 4), EINVAL);
	CHECK_CALL(ibv_memcpy_to_dm(dm, 4, data, LENGTH), EINVAL);
	CHECK_CALL(ibv_memcpy_to_dm(dm, -4ull, data, 8), EINVAL);
	CHECK_CALL(ibv_memcpy_to_dm(dm, 2, data, 4), EINVAL);
	CHECK_CALL(ibv_memcpy_to_dm(dm, 0, data, 6), EINVAL);
	CHECK_CALL(ibv_memcpy_from_dm(data, dm, LENGTH, 4), EINVAL);
	CHECK_CALL(ibv_memcpy_from_dm(data, dm, 1, 4), EINVAL);
	free(data);
	CHECK_CALL(ibv_free_dm(dm), 0);
}

static void remote(const void *arg)
{
	struct ibv_mr *mr, *part, *read_only;
	struct ibv_dm *dm;
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	dm = alloc_dm(&hosts[1], LENGTH);
	REQUIRE(CHECK(dm));
	mr = ibv_reg_dm_mr(pair.b.pd, dm, 0, LENGTH, ACCESS);
	part = ibv_reg_dm_mr(pair.b.pd, dm, 5000, 8000, ACCESS);
	read_only = ibv_reg_dm_mr(pair.b.pd, dm, 0, LENGTH,
				  IBV_ACCESS_REMOTE_READ |
				  IBV_ACCESS_ZERO_BASED);
	REQUIRE(CHECK(mr && part && read_only));
	written_to(&pair, 0, mr->rkey);
	written_to(&pair, LENGTH - PART, mr->rkey);
	CHECK(dm_filled(dm, 0, PART, 0));
	CHECK(dm_filled(dm, LENGTH - PART, PART, LENGTH - PART));
	written_to(&pair, 200, part->rkey);
	CHECK(dm_filled(dm, 5200, PART, 200));
	read_from(&pair, 5200, read_only->rkey, 200);
	read_from(&pair, 0, mr->rkey, 0);
	refused(&pair, IBV_WR_RDMA_WRITE, 0, read_only->rkey);
	refused(&pair, IBV_WR_RDMA_WRITE, LENGTH - PART + 1, mr->rkey);
	refused(&pair, IBV_WR_RDMA_READ, 8000 - PART + 1, part->rkey);
	CHECK(dm_filled(dm, 0, PART, 0));
	/* All regions go first. */
	CHECK_CALL(ibv_free_dm(dm), EBUSY);
	CHECK_CALL(ibv_dereg_mr(mr), 0);
	refused(&pair, IBV_WR_RDMA_READ, 0, mr->rkey);
	CHECK_CALL(ibv_dereg_mr(part), 0);
	CHECK_CALL(ibv_dereg_mr(read_only), 0);
	CHECK_CALL(ibv_free_dm(dm), 0);
	CHECK(works(&pair));
	pair_down(&pair);
}

/* Used by SENDs, receives and atomics, and by a window. */
static void local(const void *arg)
{
	struct ibv_dm *from, *to;
	struct ibv_mr *a, *b;
	struct pair pair;
	struct ibv_sge sge;
	uint8_t *data;
	uint64_t old;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	from = alloc_dm(&hosts[0], LENGTH);
	to = alloc_dm(&hosts[1], LENGTH);
	REQUIRE(CHECK(from && to));
	a = ibv_reg_dm_mr(pair.a.pd, from, 0, LENGTH, ACCESS);
	b = ibv_reg_dm_mr(pair.b.pd, to, 0, LENGTH, ACCESS);
	REQUIRE(CHECK(a && b));
	data = malloc(LENGTH);
	fill(data, LENGTH, 3);
	CHECK_CALL(ibv_memcpy_to_dm(from, 0, data, LENGTH), 0);
	sge = (struct ibv_sge) { .length = LENGTH, .lkey = b->lkey };
	CHECK_CALL(post_recv_sge(&pair.b, 1, &sge, 1), 0);
	sge.lkey = a->lkey;
	CHECK_CALL(post_one(&pair.a, &(struct ibv_send_wr) {
			.wr_id = 2, .sg_list = &sge, .num_sge = 1,
			.opcode = IBV_WR_SEND,
			.send_flags = IBV_SEND_SIGNALED }), 0);
	EXPECT(pair.b.rcq, pair.b.qp, .wr_id = 1, .opcode = IBV_WC_RECV,
	       .length = LENGTH);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 2, .opcode = IBV_WC_SEND);
	CHECK(dm_filled(to, 0, LENGTH, 3));
	sge = (struct ibv_sge) { .addr = 8, .length = 8, .lkey = a->lkey };
	CHECK_CALL(post_one(&pair.a, &(struct ibv_send_wr) {
			.wr_id = 3, .sg_list = &sge, .num_sge = 1,
			.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
			.send_flags = IBV_SEND_SIGNALED,
			.wr.atomic = { .remote_addr = 4096, .rkey = b->rkey,
				       .compare_add = 5 } }), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 3,
	       .opcode = IBV_WC_FETCH_ADD, .length = 8);
	CHECK_CALL(ibv_memcpy_from_dm(&old, from, 8, 8), 0);
	CHECK(!memcmp(&old, data + 4096, 8));
	old += 5;
	CHECK_CALL(ibv_memcpy_from_dm(data, to, 4096, 8), 0);
	CHECK(!memcmp(&old, data, 8));
	CHECK_CALL(post_one(&pair.a, &(struct ibv_send_wr) {
			.wr_id = 4, .sg_list = &sge, .num_sge = 1,
			.opcode = IBV_WR_ATOMIC_WRITE,
			.send_flags = IBV_SEND_SIGNALED,
			.wr.rdma = { .remote_addr = 800,
				     .rkey = b->rkey } }), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 4,
	       .opcode = IBV_WC_ATOMIC_WRITE);
	old -= 5;
	CHECK_CALL(ibv_memcpy_from_dm(data, to, 800, 8), 0);
	CHECK(!memcmp(&old, data, 8));
	free(data);
	CHECK_CALL(ibv_dereg_mr(a), 0);
	CHECK_CALL(ibv_dereg_mr(b), 0);
	CHECK_CALL(ibv_free_dm(from), 0);
	CHECK_CALL(ibv_free_dm(to), 0);
	pair_down(&pair);
}

static void window(const void *arg)
{
	struct ibv_mw_bind bind = { .wr_id = 9, .send_flags = IBV_SEND_SIGNALED };
	struct ibv_dm *dm;
	struct pair pair;
	struct ibv_mr *mr;
	struct ibv_mw *mw;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	dm = alloc_dm(&hosts[1], LENGTH);
	REQUIRE(CHECK(dm));
	mr = ibv_reg_dm_mr(pair.b.pd, dm, 4, LENGTH - 4,
			   ACCESS | IBV_ACCESS_MW_BIND);
	mw = ibv_alloc_mw(pair.b.pd, IBV_MW_TYPE_1);
	REQUIRE(CHECK(mr && mw));
	bind.bind_info = (struct ibv_mw_bind_info) {
		.mr = mr, .addr = 1000, .length = 5000,
		.mw_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	CHECK_CALL(ibv_bind_mw(pair.b.qp, mw, &bind), 0);
	EXPECT(pair.b.scq, pair.b.qp, .wr_id = 9, .opcode = IBV_WC_BIND_MW);
	written_to(&pair, 1500, mw->rkey);
	CHECK(dm_filled(dm, 1504, PART, 1500));
	refused(&pair, IBV_WR_RDMA_WRITE, 999, mw->rkey);
	CHECK_CALL(ibv_dealloc_mw(mw), 0);
	CHECK_CALL(ibv_dereg_mr(mr), 0);
	CHECK_CALL(ibv_free_dm(dm), 0);
	pair_down(&pair);
}

/* The device memory of a process is freed when it ends. */
static void limit_is_kept(const void *arg)
{
	const size_t limit = most(&hosts[0]);
	struct ibv_context *other;
	struct ibv_dm *dm;
	pid_t child;
	int status;

	(void)arg;
	child = fork();
	if (!child) {
		other = ibv_open_device(hosts[0].context->device);
		_exit(other && ibv_alloc_dm(other, &(struct ibv_alloc_dm_attr) {
			.length = limit }) ? 0 : 1);
	}
	CHECK(waitpid(child, &status, 0) == child && !status);
	CHECK(!alloc_dm(&hosts[0], limit + 1) && errno == EINVAL);
	dm = alloc_dm(&hosts[0], limit);
	REQUIRE(CHECK(dm));
	CHECK(!alloc_dm(&hosts[0], 1) && errno == ENOMEM);
	CHECK_CALL(ibv_free_dm(dm), 0);
	dm = alloc_dm(&hosts[0], limit);
	REQUIRE(CHECK(dm));
	CHECK_CALL(ibv_free_dm(dm), 0);
}

#define DM_MIB	"/sys/module/sroce/parameters/dm_mib"

static bool set_limit(unsigned int mib)
{
	FILE *file = fopen(DM_MIB, "w");
	bool written = file && fprintf(file, "%u", mib) > 0;

	return CHECK(file && !fclose(file) && written) &&
	       CHECK(most(&hosts[0]) == (size_t)mib << 20);
}

/* Allocates what is to be had of @mib; NULL with ENOMEM if that is too much. */
static struct ibv_dm *alloc_mib(unsigned int mib)
{
	struct ibv_dm *dm = alloc_dm(&hosts[0], (size_t)mib << 20);

	CHECK(dm || errno == ENOMEM);
	return dm;
}

/* A lower limit takes nothing away that is in use. */
static void limit_is_changed(const void *arg)
{
	const unsigned int old = most(&hosts[0]) >> 20;
	struct ibv_dm *first, *second;
	uint8_t data[64];

	(void)arg;
	if (access(DM_MIB, W_OK)) {
		skip("the module has no parameter for it");
		return;
	}
	REQUIRE(set_limit(3));
	first = alloc_mib(2);
	REQUIRE(CHECK(first));
	CHECK(!alloc_mib(2));
	second = alloc_mib(1);
	CHECK(second);
	CHECK(!alloc_dm(&hosts[0], 1) && errno == ENOMEM);
	fill(data, sizeof(data), 5);
	CHECK_CALL(ibv_memcpy_to_dm(first, 0, data, sizeof(data)), 0);
	CHECK(set_limit(1));
	CHECK(dm_filled(first, 0, sizeof(data), 5));
	CHECK_CALL(ibv_free_dm(first), 0);
	CHECK(!alloc_mib(1));
	CHECK_CALL(ibv_free_dm(second), 0);
	second = alloc_mib(1);
	CHECK(second);
	CHECK_CALL(ibv_free_dm(second), 0);
	CHECK(set_limit(0));
	CHECK(!alloc_dm(&hosts[0], 1));
	CHECK(set_limit(old));
	first = alloc_mib(2);
	REQUIRE(CHECK(first));
	CHECK_CALL(ibv_free_dm(first), 0);
}

GROUP(device_memory)
{
	static const struct test tests[] = {
		{ "DM: copies by the host", copies },
		{ "DM: remote WRITE, READ and atomics", remote },
		{ "DM: SEND, receive and atomics", local },
		{ "DM: a memory window on it", window },
		{ "DM: the device's limit, and memory is freed",
		  limit_is_kept },
		{ "DM: the administrator changes the limit", limit_is_changed },
	};

	run_tests(tests, ARRAY_SIZE(tests));
}
