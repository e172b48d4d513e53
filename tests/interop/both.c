// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Two devices of this host as the two ends of connections, every operation in
 * both directions, all data compared.  One line "ok ..." or "not ok ..." for
 * each.
 *
 *	both DEVICE1 GID-INDEX1 DEVICE2 GID-INDEX2 MTU [RC|UC|UD|all [LARGEST [TIMEOUT]]]
 *
 * TIMEOUT is given if the network loses packets.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "operation.h"

/* So close to the end of the PSNs that they wrap in every run. */
#define FIRST_PSN	0xfffffd

/* Half a second: packets that are not lost must not be sent again. */
#define TIMEOUT		17

static int failures;
/* The network loses packets. */
static bool lossy;

static const char *type_name(enum ibv_qp_type type)
{
	return type == IBV_QPT_RC ? "RC" : type == IBV_QPT_UC ? "UC" : "UD";
}

static struct messages atomics(void)
{
	struct messages m = {};

	for (int i = 0; i < 12; i++)
		messages_add(&m, 8);
	return m;
}

/* Around every border: empty, pad, one packet, a few, bursts, many bursts. */
static struct messages sizes(uint32_t mtu, uint32_t limit, uint32_t empty)
{
	uint32_t all[] = { 1, empty, 2, 3, 4, 7, mtu - 1, mtu, 5, mtu + 1,
			   2 * mtu, 2 * mtu + 3, 17 * mtu - 1, 9, 65536,
			   100 * mtu + 2, limit };
	struct messages m = {};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i] <= limit)
			messages_add(&m, all[i]);
	return m;
}

static struct messages small(uint32_t empty)
{
	struct messages m = {};

	for (int i = 0; i < MAX_MESSAGES; i++) {
		uint32_t length = i * 37 % 101;

		messages_add(&m, length ? length : empty);
	}
	return m;
}

/*
 * Lost packets that rxe of 6.12 does not repair: it repeats an atomic WRITE
 * with address 0, and does not answer an empty READ.
 */
static bool rxe_repeats(const struct operation *op, const struct end *from)
{
	return op->opcode != IBV_WR_ATOMIC_WRITE || strncmp(from->host.name, "rxe", 3);
}

static uint32_t shortest(const struct operation *op)
{
	return lossy && op->opcode == IBV_WR_RDMA_READ;
}

/* Once up to the wrap of the PSNs, once more beyond it. */
static const char *run(const struct operation *op, struct end *from,
		       struct end *to, uint32_t mtu, uint32_t limit)
{
	bool words = op->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
		      op->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ||
		      op->opcode == IBV_WR_ATOMIC_WRITE;
	uint32_t empty = shortest(op);
	struct messages one = words ? atomics() : sizes(mtu, limit, empty);
	struct messages two = words ? atomics() : small(empty);
	const char *why = operation_run(op, from, to, &one);

	return why ? why : operation_run(op, from, to, &two);
}

static void test(const struct operation *op, struct end *from, struct end *to,
		 enum ibv_qp_type type, enum ibv_mtu mtu, uint32_t limit)
{
	uint32_t bytes = 128u << mtu;
	const char *why = "no connection";

	if (lossy && !rxe_repeats(op, from))
		return;
	if (type == IBV_QPT_UD)
		limit = bytes;
	/*
	 * Unreliable QPs may lose a packet on a busy host, but not always.
	 * rxe of 6.1, if it is busy, has been seen to count all packets of
	 * UC WRITEs as received (rcvd_pkts) and to leave some unwritten.
	 */
	for (int left = type == IBV_QPT_RC ? 1 : 8; why && left; left--) {
		why = ends_connect(from, to, type, mtu) ?
		      run(op, from, to, bytes, limit) : "no connection";
		ends_disconnect(from, to);
		if (why && left > 1)
			printf("# %s %s, %s to %s, once more: %s\n", type_name(type),
			       op->name, from->host.name, to->host.name, why);
	}
	printf("%s %s %s, %s to %s, MTU %u%s%s\n", why ? "not ok" : "ok",
	       type_name(type), op->name, from->host.name, to->host.name, bytes,
	       why ? ": " : "", why ? why : "");
	fflush(stdout);
	failures += !!why;
}

static void test_type(struct end *a, struct end *b, enum ibv_qp_type type,
		      enum ibv_mtu mtu, uint32_t limit)
{
	for (size_t i = 0; i < operation_count; i++) {
		if (!(operations[i].types & 1u << type))
			continue;
		if (operations[i].opcode == IBV_WR_ATOMIC_WRITE &&
		    !(a->atomic_write && b->atomic_write))
			continue;
		test(&operations[i], a, b, type, mtu, limit);
		test(&operations[i], b, a, type, mtu, limit);
	}
}

static enum ibv_mtu mtu_code(const char *text)
{
	for (enum ibv_mtu mtu = IBV_MTU_256; mtu <= IBV_MTU_4096; mtu++)
		if (128 << mtu == atoi(text))
			return mtu;
	errx(2, "MTU %s", text);
}

int main(int argc, char **argv)
{
	static const enum ibv_qp_type types[] = { IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD };
	struct end a = { .options.psn = FIRST_PSN };
	struct end b = { .options.psn = FIRST_PSN + 1 };
	const char *which = argc > 6 ? argv[6] : "all";
	uint32_t limit = argc > 7 ? atoi(argv[7]) : 1 << 20;

	if (argc < 6)
		errx(2, "both DEVICE1 GID1 DEVICE2 GID2 MTU [RC|UC|UD|all [LARGEST [TIMEOUT]]]");
	lossy = argc > 8;
	a.options.timeout = b.options.timeout = lossy ? atoi(argv[8]) : TIMEOUT;
	end_open(&a, argv[1], atoi(argv[2]));
	end_open(&b, argv[3], atoi(argv[4]));
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (!strcmp(which, "all") || !strcmp(which, type_name(types[i])))
			test_type(&a, &b, types[i], mtu_code(argv[5]), limit);
	return !!failures;
}
