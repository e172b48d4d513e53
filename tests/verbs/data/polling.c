// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Programs that poll the end of a message in memory instead of a completion, as MPI
 * libraries and key-value stores do: when they see it, every byte before it is there.
 * One thread spins on memory while the other one posts.  With one processor it cannot
 * look while a packet is being stored.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "transfer.h"

#define SIZE	(1 << 18)
#define PLACE	4096	/* of the memory that is polled, in the buffer */

/**
 * struct watch - the message that the polling thread waits for
 * @at: first byte of the message
 * @length: bytes up to the end of the polled word
 * @width: bytes of the polled word, which is aligned
 * @before: its value before the message
 * @seed: of the message, see fill()
 * @round: 0 at first; odd while there is a message to wait for
 * @end: there are no more messages
 * @early: messages whose end was seen before the rest
 * @torn: words that were neither the old nor the new one
 * @absent: messages that never came
 */
struct watch {
	const uint8_t *at;
	uint32_t length;
	uint32_t width;
	uint64_t before;
	uint32_t seed;
	atomic_uint round;
	atomic_bool end;
	unsigned int early;
	unsigned int torn;
	unsigned int absent;
};

static uint64_t load(const void *p, uint32_t width)
{
	switch (width) {
	case 8:
		return __atomic_load_n((const uint64_t *)p, __ATOMIC_ACQUIRE);
	case 4:
		return __atomic_load_n((const uint32_t *)p, __ATOMIC_ACQUIRE);
	case 2:
		return __atomic_load_n((const uint16_t *)p, __ATOMIC_ACQUIRE);
	default:
		return __atomic_load_n((const uint8_t *)p, __ATOMIC_ACQUIRE);
	}
}

static uint32_t packet_bytes(void)
{
	return strcmp(hosts[0].name, hosts[1].name) ? 1024 : 16384;
}

/*
 * The largest word, aligned as it is in memory, that ends with byte @length: of
 * one packet, as two are never stored at once.
 */
static uint32_t widest(const uint8_t *at, uint32_t length)
{
	uint32_t last = (length - 1) % packet_bytes() + 1;
	uint32_t width = 8;

	while (width > last || (uintptr_t)(at + length) % width)
		width /= 2;
	return width;
}

static void look(struct watch *w)
{
	const uint8_t *last = w->at + w->length - w->width;
	uint64_t end = now_ms() + PATIENCE_MS, value, full = 0;
	uint32_t spins = 0;

	do {
		value = load(last, w->width);
		if (!(++spins % 65536)) {
			if (now_ms() > end)
				break;
			sched_yield();
		}
	} while (value == w->before);
	/* At once: this is the test. */
	if (!filled(w->at, w->length, w->seed))
		w->early++;
	memcpy(&full, last, w->width);
	w->torn += value != w->before && value != full;
	w->absent += value == w->before;
}

static void *poll_memory(void *arg)
{
	struct watch *w = arg;

	while (!atomic_load(&w->end)) {
		if (atomic_load(&w->round) % 2) {
			look(w);
			atomic_fetch_add(&w->round, 1);
		} else {
			sched_yield();
		}
	}
	return NULL;
}

/**
 * struct kind - how the message is sent
 * @name: for the output
 * @type: of the QPs
 * @opcode: SEND, WRITE or READ
 * @pieces: of the receive buffer
 * @access: of regions, too
 */
struct kind {
	const char *name;
	enum ibv_qp_type type;
	enum ibv_wr_opcode opcode;
	int pieces;
	int access;
};

/* A receive buffer in several pieces; the last one is short. */
static int post_pieces(struct side *side, size_t at, uint32_t length, int n)
{
	struct ibv_sge sge[4];
	int i;

	for (i = 0; i < n; i++) {
		uint32_t part = i < n - 1 ? (length + i) / 2 : length;

		sge[i] = piece(side, at, part);
		at += part;
		length -= part;
	}
	return post_recv_sge(side, 1, sge, n);
}

static bool post(struct pair *pair, const struct kind *kind, size_t at,
		 uint32_t length)
{
	struct side *a = &pair->a, *b = &pair->b;

	switch (kind->opcode) {
	case IBV_WR_SEND:
		return !post_pieces(b, at, length, kind->pieces) &&
		       !post_send(a, 1, 0, length, IBV_SEND_SIGNALED);
	case IBV_WR_RDMA_READ:
		return !post_rdma(a, b, kind->opcode, 1, at, 0, length,
				  IBV_SEND_SIGNALED);
	default:
		return !post_rdma(a, b, kind->opcode, 1, 0, at, length,
				  IBV_SEND_SIGNALED);
	}
}

static bool completed(struct pair *pair, const struct kind *kind)
{
	struct ibv_wc wc;

	return next_wc(pair->a.scq, &wc) && CHECK(!wc.status) &&
	       (kind->opcode != IBV_WR_SEND ||
		(next_wc(pair->b.rcq, &wc) && CHECK(!wc.status)));
}

/* One message of @length bytes; polls its end. */
static bool one(struct pair *pair, const struct kind *kind, struct watch *w,
		size_t at, uint32_t length, bool byte)
{
	bool read = kind->opcode == IBV_WR_RDMA_READ;
	uint8_t *to = (read ? pair->a.buf : pair->b.buf) + at;
	uint8_t *from = read ? pair->b.buf : pair->a.buf;
	uint64_t end = now_ms() + PATIENCE_MS;

	fill(to, length, w->seed);
	w->seed++;
	fill(from, length, w->seed);
	w->at = to;
	w->length = length;
	w->width = byte ? 1 : widest(to, length);
	w->before = load(to + length - w->width, w->width);
	atomic_fetch_add(&w->round, 1);
	if (!CHECK(post(pair, kind, at, length)) || !completed(pair, kind))
		return false;
	while (atomic_load(&w->round) % 2 && now_ms() < end)
		sched_yield();
	return CHECK(!(atomic_load(&w->round) % 2));
}

static bool all(struct pair *pair, const struct kind *kind, struct watch *w)
{
	static const uint32_t lengths[] = {
		1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 63, 64, 65, 127, 200,
		255, 256, 257, 500, 511, 512, 513, 1000, 1023, 1024, 1025, 2047,
		2048, 3001, 4095, 4096, 4097, 9999, 16384, 33333, 65535, 65536,
	};
	static const uint32_t offsets[] = { 0, 1, 2, 3, 4, 6, 7, 4090 };
	uint32_t i, j;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		uint32_t length = lengths[i];

		for (j = 0; j < ARRAY_SIZE(offsets); j++) {
			size_t at = PLACE + offsets[j];
			/* Nor are two pieces of a buffer. */
			bool byte = (i + j) % 2 || kind->pieces > 1;

			if (!one(pair, kind, w, at, length, byte))
				return false;
		}
	}
	return true;
}

static void polled(const void *arg)
{
	const struct kind *kind = arg;
	const struct options options = {
		.type = kind->type, .size = SIZE,
		.mr_access = ALL_ACCESS | kind->access,
	};
	struct watch w = { .seed = 1 };
	pthread_t thread;
	struct pair pair;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
		skip("this takes two processors");
		return;
	}
	REQUIRE(pair_up(&pair, &options));
	REQUIRE(!pthread_create(&thread, NULL, poll_memory, &w));
	all(&pair, kind, &w);
	atomic_store(&w.end, true);
	pthread_join(thread, NULL);
	CHECK_CALL(w.early, 0);
	CHECK_CALL(w.torn, 0);
	CHECK_CALL(w.absent, 0);
	pair_down(&pair);
}

GROUP(polling)
{
	static const struct kind kinds[] = {
		{ "RC WRITE", IBV_QPT_RC, IBV_WR_RDMA_WRITE },
		{ "UC WRITE", IBV_QPT_UC, IBV_WR_RDMA_WRITE },
		{ "XRC WRITE", IBV_QPT_XRC_SEND, IBV_WR_RDMA_WRITE },
		{ "RC WRITE to memory on demand", IBV_QPT_RC, IBV_WR_RDMA_WRITE,
		  0, IBV_ACCESS_ON_DEMAND },
		{ "READ", IBV_QPT_RC, IBV_WR_RDMA_READ },
		{ "RC SEND", IBV_QPT_RC, IBV_WR_SEND, 1 },
		{ "RC SEND to a buffer in three pieces", IBV_QPT_RC,
		  IBV_WR_SEND, 3 },
		{ "UC SEND", IBV_QPT_UC, IBV_WR_SEND, 1 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		run_test(polled, &kinds[i], "%s: its end is seen last",
			 kinds[i].name);
}
