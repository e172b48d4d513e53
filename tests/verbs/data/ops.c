// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * One operation at a time: opcodes, sizes, lists, inline data.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transfer.h"

static const struct {
	enum ibv_wr_opcode opcode;
	const char *name;
} opcodes[] = {
	{ IBV_WR_SEND, "SEND" },
	{ IBV_WR_SEND_WITH_IMM, "SEND with immediate" },
	{ IBV_WR_RDMA_WRITE, "WRITE" },
	{ IBV_WR_RDMA_WRITE_WITH_IMM, "WRITE with immediate" },
	{ IBV_WR_RDMA_READ, "READ" },
};

#define OPS_UC	4	/* the first of them */

/* Sizes around every boundary, by path MTU */

struct sizes {
	enum ibv_qp_type type;
	enum ibv_mtu mtu;
	enum ibv_wr_opcode opcode;
};

static size_t bytes_of(enum ibv_mtu mtu)
{
	return 128u << mtu;
}

static void sizes(const void *arg)
{
	const struct sizes *s = arg;
	const size_t mtu = bytes_of(s->mtu);
	const size_t lengths[] = {
		0, 1, 2, 3, 4, 5, mtu - 1, mtu, mtu + 1, 2 * mtu - 1, 2 * mtu,
		2 * mtu + 1, 16 * mtu, 100001, (1 << 20) + 3,
	};
	const struct options options = {
		.type = s->type, .mtu = s->mtu, .size = (1 << 20) + 4096,
	};
	struct pair pair;
	size_t i;

	if (s->mtu > hosts[0].mtu || s->mtu > hosts[1].mtu) {
		skip("the port's MTU is smaller");
		return;
	}
	REQUIRE(pair_up(&pair, &options));
	for (i = 0; i < ARRAY_SIZE(lengths); i++)
		transfer(&pair, &(const struct transfer) {
			.opcode = s->opcode, .length = lengths[i],
			.offset = 64 + i, .remote = 64 + 3 * i,
		});
	pair_down(&pair);
}

static void sizes_of_type(enum ibv_qp_type type, size_t ops)
{
	enum ibv_mtu mtu;
	size_t i;

	for (mtu = IBV_MTU_256; mtu <= IBV_MTU_4096; mtu++)
		for (i = 0; i < ops; i++)
			run_test(sizes, &(const struct sizes) {
					type, mtu, opcodes[i].opcode },
				 "%s %s, path MTU %zu, all sizes",
				 type == IBV_QPT_RC ? "RC" : "UC",
				 opcodes[i].name, bytes_of(mtu));
}

GROUP(sizes)
{
	sizes_of_type(IBV_QPT_RC, ARRAY_SIZE(opcodes));
	sizes_of_type(IBV_QPT_UC, OPS_UC);
}

/* 64 unless the environment says otherwise */
static uint32_t huge_mib(void)
{
	const char *text = getenv("MIB");

	return text ? strtoul(text, NULL, 0) : 64;
}

static void huge(const void *arg)
{
	const uint32_t length = huge_mib() << 20;
	const struct options options = { .size = length + 4096ul };
	struct pair pair;

	REQUIRE(pair_up(&pair, &options));
	transfer(&pair, &(const struct transfer) {
		.opcode = *(const enum ibv_wr_opcode *)arg,
		.length = length, .offset = 777, .remote = 999,
	});
	pair_down(&pair);
}

GROUP(huge)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(opcodes); i += 2)
		run_test(huge, &opcodes[i].opcode, "%s of %u MiB",
			 opcodes[i].name, huge_mib());
}

/* Lists */

static void lists(const void *arg)
{
	static const int pieces[][2] = {
		{ 1, 32 }, { 32, 1 }, { 32, 32 }, { 2, 3 }, { 7, 31 }, { 31, 7 },
	};
	static const size_t lengths[] = { 0, 1, 31, 33, 100, 1024, 4099, 100001 };
	const struct options options = { .sge = 32, .size = 1 << 17 };
	enum ibv_wr_opcode opcode = *(const enum ibv_wr_opcode *)arg;
	struct pair pair;
	size_t i, k;

	REQUIRE(pair_up(&pair, &options));
	CHECK(pair.a.cap.max_send_sge >= 32 && pair.a.cap.max_recv_sge >= 32);
	for (i = 0; i < ARRAY_SIZE(pieces); i++)
		for (k = 0; k < ARRAY_SIZE(lengths); k++)
			transfer(&pair, &(const struct transfer) {
				.opcode = opcode, .length = lengths[k],
				.pieces = pieces[i][0],
				.recv_pieces = pieces[i][1],
				.offset = 101 + i, .remote = 203 + k,
			});
	pair_down(&pair);
}

/* Inline data */

static void inline_data(const void *arg)
{
	static const size_t lengths[] = {
		0, 1, 3, 15, 16, 17, 63, 64, 255, 256, 511, 975, 976,
	};
	const struct options options = { .inline_data = 976, .sge = 8 };
	enum ibv_wr_opcode opcode = *(const enum ibv_wr_opcode *)arg;
	struct pair pair;
	size_t i;
	int n;

	REQUIRE(pair_up(&pair, &options));
	CHECK(pair.a.cap.max_inline_data >= 976);
	for (i = 0; i < ARRAY_SIZE(lengths); i++)
		for (n = 1; n <= 8; n += 7)
			transfer(&pair, &(const struct transfer) {
				.opcode = opcode, .length = lengths[i],
				.pieces = n, .offset = 11, .remote = 13,
				.flags = IBV_SEND_INLINE,
			});
	pair_down(&pair);
}

/* Inline data needs no memory region, and may be changed after the post. */
static void inline_is_copied(const void *arg)
{
	const struct options options = { .inline_data = 100 };
	char data[100];
	struct ibv_sge sge = { .addr = (uintptr_t)data, .length = sizeof(data) };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED,
	};
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	fill(data, sizeof(data), 5);
	CHECK_CALL(post_one(&pair.a, &wr), 0);
	memset(data, 0, sizeof(data));
	CHECK_CALL(post_recv(&pair.b, 1, 0, 100), 0);
	EXPECT(pair.b.rcq, pair.b.qp, .wr_id = 1, .opcode = IBV_WC_RECV,
	       .length = 100);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 0, .opcode = IBV_WC_SEND);
	CHECK(filled(pair.b.buf, 100, 5));
	pair_down(&pair);
}

/* Atomics */

static uint64_t *word(const struct side *side, size_t offset)
{
	return (uint64_t *)(side->buf + offset);
}

static void compare_and_swap(const void *arg)
{
	static const struct {
		uint64_t before, compare, swap, after;
	} cases[] = {
		{ 5, 5, 7, 7 },
		{ 5, 6, 7, 5 },
		{ 0, 0, ~0ull, ~0ull },
		{ 0x0123456789abcdef, 0x0123456789abcdef, 0xfedcba9876543210,
		  0xfedcba9876543210 },
		{ 0x0123456789abcdef, 0x0123456700000000, 1, 0x0123456789abcdef },
	};
	struct pair pair;
	size_t i;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		*word(&pair.b, 8 * i) = cases[i].before;
		CHECK_CALL(post_atomic(&pair.a, &pair.b, true, i, 64, 8 * i,
				       cases[i].compare, cases[i].swap), 0);
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = i,
		       .opcode = IBV_WC_COMP_SWAP);
		CHECK(*word(&pair.a, 64) == cases[i].before);
		CHECK(*word(&pair.b, 8 * i) == cases[i].after);
	}
	pair_down(&pair);
}

static void fetch_and_add(const void *arg)
{
	static const uint64_t cases[][2] = {
		{ 0, 1 }, { 10, -1 }, { ~0ull, 1 }, { 1ull << 63, 1ull << 63 },
		{ 0xffffffff, 1 }, { 7, 0 },
	};
	struct pair pair;
	size_t i;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		*word(&pair.b, 8 * i) = cases[i][0];
		CHECK_CALL(post_atomic(&pair.a, &pair.b, false, i, 64, 8 * i,
				       cases[i][1], 0), 0);
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = i,
		       .opcode = IBV_WC_FETCH_ADD);
		CHECK(*word(&pair.a, 64) == cases[i][0]);
		CHECK(*word(&pair.b, 8 * i) == cases[i][0] + cases[i][1]);
	}
	pair_down(&pair);
}

/* Buffers for the result of an atomic: the operation writes 8 bytes, and no more. */
struct result {
	const char *name;
	uint32_t lengths[3];
};

static const struct result results[] = {
	{ "scattered over three buffers", { 3, 4, 1 } },
	{ "in the first 8 of 64 bytes", { 64, 0, 0 } },
	{ "scattered, with a third buffer that is too large", { 3, 4, 100 } },
	{ "scattered, with a third buffer that is not used", { 7, 1, 100 } },
};

static bool untouched(const unsigned char *bytes, size_t n)
{
	while (n && bytes[n - 1] == 0xee)
		n--;
	return !n;
}

static void check_result(const struct pair *pair, const struct result *result,
			 uint64_t value)
{
	const unsigned char *from = (const unsigned char *)&value;
	uint32_t left = sizeof(value);
	int i;

	for (i = 0; i < 3; i++) {
		const unsigned char *buf =
			(unsigned char *)pair->a.buf + 1 + 200 * i;
		uint32_t n = left < result->lengths[i] ? left : result->lengths[i];

		CHECK(!memcmp(buf, from, n));
		CHECK(untouched(buf + n, 199 - n));
		from += n;
		left -= n;
	}
	CHECK(!left);
}

static void atomic_result(const void *arg)
{
	const struct result *result = arg;
	const uint64_t value = 0x1122334455667788;
	struct ibv_send_wr wr;
	struct ibv_sge sge[3];
	struct pair pair;
	int i;

	REQUIRE(pair_up(&pair, NULL));
	memset(pair.a.buf, 0xee, 700);
	for (i = 0; i < 3; i++)
		sge[i] = piece(&pair.a, 1 + 200 * i, result->lengths[i]);
	wr = (struct ibv_send_wr) {
		.wr_id = 3, .sg_list = sge, .num_sge = 3,
		.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.atomic.remote_addr = (uintptr_t)pair.b.buf,
		.wr.atomic.rkey = rkey_of(&pair.b),
		.wr.atomic.compare_add = 1,
	};
	*word(&pair.b, 0) = value;
	CHECK_CALL(post_one(&pair.a, &wr), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 3, .opcode = IBV_WC_FETCH_ADD);
	check_result(&pair, result, value);
	CHECK(*word(&pair.b, 0) == value + 1);
	pair_down(&pair);
}

/* A message of UC that finds no receive request is lost, the next is not. */
static void uc_without_receive(const void *arg)
{
	const struct options options = { .type = IBV_QPT_UC };
	long long before = counter(&hosts[1], "out_of_buffer");
	struct pair pair;
	int i;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	for (i = 0; i < 3; i++) {
		CHECK_CALL(post_send(&pair.a, i, 0, 5000, IBV_SEND_SIGNALED), 0);
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = i,
		       .opcode = IBV_WC_SEND);
	}
	CHECK(quiet(pair.b.rcq));
	CHECK(counter(&hosts[1], "out_of_buffer") >= before + 3);
	works(&pair);
	pair_down(&pair);
}

GROUP(ops)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(opcodes); i++)
		run_test(lists, &opcodes[i].opcode,
			 "RC %s with SGE lists up to 32 on both sides",
			 opcodes[i].name);
	for (i = 0; i < ARRAY_SIZE(opcodes) - 1; i++)
		run_test(inline_data, &opcodes[i].opcode,
			 "RC %s inline, up to 976 bytes", opcodes[i].name);
	run_test(inline_is_copied, NULL,
		 "inline data is copied by ibv_post_send()");
	run_test(compare_and_swap, NULL, "RC compare-and-swap");
	run_test(fetch_and_add, NULL, "RC fetch-and-add");
	for (i = 0; i < ARRAY_SIZE(results); i++)
		run_test(atomic_result, &results[i], "RC atomic, result %s",
			 results[i].name);
	run_test(uc_without_receive, NULL, "UC: no receive request");
}
