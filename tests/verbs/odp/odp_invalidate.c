// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory on demand that changes: the process changes its address space between
 * transfers and during them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "paging.h"

#define RW	(PROT_READ | PROT_WRITE)

/* WRITEs bytes that depend on @seed from side a to side b, and compares them. */
static void check_write(struct pair *pair, size_t size, int seed)
{
	fill(pair->a.buf, size, seed);
	CHECK(transferred(pair, IBV_WR_RDMA_WRITE, size));
	CHECK(filled(pair->b.buf, size, seed));
}

static void discarded(const void *arg)
{
	const size_t size = 32 * PAGE;
	struct pair pair;
	int i;

	(void)arg;
	REQUIRE(paging_up(&pair, 32));
	for (i = 0; i < 20; i++) {
		check_write(&pair, size, i);
		discard(pair.a.buf, size);
		CHECK(transferred(&pair, IBV_WR_RDMA_READ, size));
		CHECK(filled(pair.a.buf, size, i));
		discard(pair.b.buf, size);
	}
	CHECK(pair.b.buf[0] == 0 && pair.b.buf[size - 1] == 0);
	pair_down(&pair);
}

/* The current mapping of an address counts, not an earlier one. */
static void remapped(const void *arg)
{
	const size_t size = 8 * PAGE;
	struct pair pair;
	uint8_t *moved;

	(void)arg;
	REQUIRE(paging_up(&pair, 8));
	check_write(&pair, size, 1);
	/* The old pages move elsewhere and keep their contents. */
	moved = mmap(NULL, size, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	REQUIRE(CHECK(moved != MAP_FAILED));
	REQUIRE(CHECK(mremap(pair.b.buf, size, size,
			     MREMAP_MAYMOVE | MREMAP_FIXED, moved) == moved));
	REQUIRE(map_again(pair.b.buf, size, RW));
	check_write(&pair, size, 2);
	CHECK(filled(moved, size, 1));
	unmap(pair.b.buf, size);
	REQUIRE(map_again(pair.b.buf, size, RW));
	CHECK(transferred(&pair, IBV_WR_RDMA_READ, size));
	CHECK(!pair.a.buf[0] && !pair.a.buf[size - 1]);
	munmap(moved, size);
	pair_down(&pair);
}

static void protected(const void *arg)
{
	struct pair pair;

	(void)arg;
	REQUIRE(paging_up(&pair, 2));
	check_write(&pair, 2 * PAGE, 1);
	CHECK(!mprotect(pair.b.buf, 2 * PAGE, PROT_READ));
	discard(pair.a.buf, PAGE);
	CHECK(transferred(&pair, IBV_WR_RDMA_READ, 2 * PAGE));
	CHECK(filled(pair.a.buf, 2 * PAGE, 1));
	CHECK(try_rdma(&pair, IBV_WR_RDMA_WRITE, PAGE) ==
	      IBV_WC_REM_ACCESS_ERR);
	CHECK(filled(pair.b.buf, 2 * PAGE, 1));
	CHECK(pair_again(&pair));
	CHECK(!mprotect(pair.b.buf, 2 * PAGE, RW));
	CHECK(transferred(&pair, IBV_WR_RDMA_WRITE, PAGE));
	pair_down(&pair);
}

/* Parent and child share pages until one of them writes, or its peer does. */
static void forked(const void *arg)
{
	const size_t size = 4 * PAGE;
	int go[2], status = 0;
	struct pair pair;
	uint8_t byte = 0;
	pid_t child;

	(void)arg;
	REQUIRE(CHECK(!pipe(go)));
	REQUIRE(paging_up(&pair, 4));
	check_write(&pair, size, 1);
	child = fork();
	if (!child) {
		bool good = read(go[0], &byte, 1) == 1 &&
			    filled(pair.b.buf, size, 1);

		memset(pair.a.buf, 0xcc, size);
		memset(pair.b.buf, 0xcc, size);
		_exit(good ? 0 : 1);
	}
	REQUIRE(CHECK(child > 0));
	check_write(&pair, size, 2);
	CHECK(write(go[1], &byte, 1) == 1);
	CHECK(waitpid(child, &status, 0) == child && !status);
	CHECK(filled(pair.b.buf, size, 2));
	CHECK(transferred(&pair, IBV_WR_RDMA_READ, size));
	CHECK(filled(pair.a.buf, size, 2));
	close(go[0]);
	close(go[1]);
	pair_down(&pair);
}

static bool shared_file(struct side *side)
{
	int fd = memfd_create("paging", 0);
	void *at;

	if (!CHECK(fd >= 0) || !CHECK(!ftruncate(fd, side->size)))
		return false;
	at = mmap(side->buf, side->size, RW, MAP_SHARED | MAP_FIXED, fd, 0);
	close(fd);
	return CHECK(at == side->buf);
}

/* Memory may be discarded any number of times. */
static void discarded_often(const void *arg)
{
	struct pair pair;
	int i;

	(void)arg;
	REQUIRE(paging_up(&pair, 1));
	for (i = 0; i < 1200; i++) {
		discard(pair.b.buf, PAGE);
		if (!transferred(&pair, IBV_WR_RDMA_READ, 8))
			break;
	}
	for (i = 0; i < 1200; i++) {
		discard(pair.a.buf, PAGE);
		if (!transferred(&pair, IBV_WR_RDMA_READ, 8))
			break;
	}
	pair_down(&pair);
}

/*
 * A thread that discards pages; those of a file keep their contents.  It may be faster
 * than any transfer, so it waits after @left pages for the next transfer.
 */
struct thief {
	pthread_t thread;
	struct side *sides[2];
	int left;
	bool stop;
};

static void thief_go(struct thief *thief, const struct pair *pair)
{
	__atomic_store_n(&thief->left, 25 * pair->a.size / PAGE,
			 __ATOMIC_RELAXED);
}

static void *steal(void *arg)
{
	struct thief *thief = arg;
	unsigned int seed = 1;

	while (!__atomic_load_n(&thief->stop, __ATOMIC_RELAXED)) {
		struct side *side = thief->sides[rand_r(&seed) % 2];
		size_t page = rand_r(&seed) % (side->size / PAGE);

		if (__atomic_fetch_sub(&thief->left, 1, __ATOMIC_RELAXED) <= 0) {
			usleep(100);
			continue;
		}
		madvise(side->buf + page * PAGE, PAGE, MADV_DONTNEED);
		if (!(rand_r(&seed) % 64))
			madvise(side->buf, side->size, MADV_DONTNEED);
		/* Sometimes a transfer has to get through. */
		if (!(rand_r(&seed) % 16))
			usleep(100);
	}
	return NULL;
}

static bool thief_start(struct thief *thief, struct pair *pair)
{
	thief->sides[0] = &pair->a;
	thief->sides[1] = &pair->b;
	thief_go(thief, pair);
	thief->stop = false;
	return CHECK(!pthread_create(&thief->thread, NULL, steal, thief));
}

static void thief_stop(struct thief *thief)
{
	__atomic_store_n(&thief->stop, true, __ATOMIC_RELAXED);
	pthread_join(thief->thread, NULL);
}

static void stolen(const void *arg)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM,
		IBV_WR_RDMA_READ,
	};
	struct thief thief;
	struct pair pair;
	int i;

	(void)arg;
	REQUIRE(paging_up(&pair, 16));
	REQUIRE(shared_file(&pair.a) && shared_file(&pair.b));
	REQUIRE(thief_start(&thief, &pair));
	for (i = 0; i < 200; i++) {
		thief_go(&thief, &pair);
		if (!CHECK(transfer(&pair, &(const struct transfer) {
				.opcode = opcodes[i % ARRAY_SIZE(opcodes)],
				.length = 1 + i * 211,
				.offset = i,
				.pieces = 1 + i % 4,
			})))
			break;
	}
	thief_stop(&thief);
	pair_down(&pair);
}

/* So much memory that it is hardly ever present all at once. */
static void stolen_much(const void *arg)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
	};
	const size_t size = 1024 * PAGE;
	struct thief thief;
	struct pair pair;
	int i;

	(void)arg;
	REQUIRE(paging_up(&pair, 1024));
	REQUIRE(shared_file(&pair.a) && shared_file(&pair.b));
	for (i = 0; i < 6; i++) {
		bool read = opcodes[i % 2] == IBV_WR_RDMA_READ;
		const uint8_t *to = read ? pair.a.buf : pair.b.buf;

		fill(read ? pair.b.buf : pair.a.buf, size, i);
		REQUIRE(thief_start(&thief, &pair));
		CHECK(transferred(&pair, opcodes[i % 2], size));
		thief_stop(&thief);
		CHECK(filled(to, size, i));
	}
	pair_down(&pair);
}

/* Posts many requests at once, during which memory may be taken away. */
static int post_many(struct pair *pair)
{
	int i;

	for (i = 0; i < 48; i++)
		CHECK_CALL(post_rdma(&pair->a, &pair->b,
				     i % 2 ? IBV_WR_RDMA_READ :
					     IBV_WR_RDMA_WRITE,
				     i, 0, 0, pair->a.size, IBV_SEND_SIGNALED),
			   0);
	return i;
}

/* The requests fail because that side's memory is missing. */
static void missed(struct pair *pair, int n, const struct side *side)
{
	CHECK(ends_with(pair, n, side == &pair->a ? IBV_WC_LOC_PROT_ERR :
						    IBV_WC_REM_ACCESS_ERR));
}

/* Once there is memory again, everything works. */
static void begin_anew(struct pair *pair)
{
	CHECK(pair_again(pair));
	forget_events(hosts[0].context);
	forget_events(hosts[1].context);
	CHECK(works(pair));
}

static void unmapped_busy(const void *arg)
{
	struct pair pair;
	int i;

	(void)arg;
	REQUIRE(paging_up(&pair, 64));
	for (i = 0; i < 6; i++) {
		struct side *side = i % 2 ? &pair.a : &pair.b;
		int n = post_many(&pair);

		unmap(side->buf, side->size);
		missed(&pair, n, side);
		REQUIRE(map_again(side->buf, side->size, RW));
		begin_anew(&pair);
	}
	pair_down(&pair);
}

static void deregistered_busy(const void *arg)
{
	struct pair pair;
	int i;

	(void)arg;
	REQUIRE(paging_up(&pair, 64));
	for (i = 0; i < 6; i++) {
		struct side *side = i % 2 ? &pair.a : &pair.b;
		int n;

		discard(side->buf, side->size);
		n = post_many(&pair);
		CHECK_CALL(ibv_dereg_mr(side->mr), 0);
		missed(&pair, n, side);
		side->mr = ibv_reg_mr(side->pd, side->buf, side->size,
				      ON_DEMAND);
		REQUIRE(CHECK(side->mr));
		begin_anew(&pair);
	}
	pair_down(&pair);
}

static void destroyed_busy(const void *arg)
{
	struct pair pair;
	int i;

	(void)arg;
	for (i = 0; i < 10; i++) {
		REQUIRE(paging_up(&pair, 64));
		post_many(&pair);
		pair_down(&pair);
	}
}

/* Changes access and address, and makes the region pinned and on demand again. */
static void registered_again(const void *arg)
{
	const int moved = IBV_REREG_MR_CHANGE_TRANSLATION;
	const size_t size = 4 * PAGE;
	struct pair pair;
	uint8_t *other;

	(void)arg;
	REQUIRE(paging_up(&pair, 4));
	check_write(&pair, size, 1);
	CHECK_CALL(ibv_rereg_mr(pair.b.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL,
				NULL, 0, IBV_ACCESS_REMOTE_READ |
				IBV_ACCESS_ON_DEMAND), 0);
	CHECK(transferred(&pair, IBV_WR_RDMA_READ, size));
	CHECK(try_rdma(&pair, IBV_WR_RDMA_WRITE, 1) == IBV_WC_REM_ACCESS_ERR);
	CHECK(pair_again(&pair));
	CHECK_CALL(ibv_rereg_mr(pair.b.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL,
				NULL, 0, ALL_ACCESS), 0);
	check_write(&pair, size, 2);
	CHECK_CALL(ibv_rereg_mr(pair.b.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL,
				NULL, 0, ON_DEMAND), 0);
	discard(pair.b.buf, size);
	check_write(&pair, size, 3);
	other = pair.b.buf;
	pair.b.buf = mmap(NULL, size, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	REQUIRE(CHECK(pair.b.buf != MAP_FAILED));
	CHECK_CALL(ibv_rereg_mr(pair.b.mr, moved, NULL, pair.b.buf, size, 0), 0);
	check_write(&pair, size, 4);
	CHECK(filled(other, size, 3));
	munmap(other, size);
	pair_down(&pair);
}

/* A process with devices of its own, in the middle of a transfer. */
static void killed(const void *arg)
{
	int i, status, begun[2];
	struct pair pair;
	pid_t child;
	char byte;

	(void)arg;
	for (i = 0; i < 5; i++) {
		REQUIRE(CHECK(!pipe(begun)));
		child = fork();
		if (!child) {
			fabric_open();
			if (!paging_up(&pair, 256))
				_exit(1);
			for (;;) {
				discard(pair.b.buf, pair.b.size);
				if (try_rdma(&pair, IBV_WR_RDMA_WRITE, pair.a.size) ||
				    write(begun[1], "", 1) != 1)
					_exit(1);
			}
		}
		REQUIRE(CHECK(child > 0));
		close(begun[1]);
		CHECK(read(begun[0], &byte, 1) == 1);
		usleep(10000 + 20000 * i);
		CHECK(!kill(child, SIGKILL));
		CHECK(waitpid(child, &status, 0) == child);
		CHECK(WIFSIGNALED(status));
		close(begun[0]);
	}
	REQUIRE(paging_up(&pair, 16));
	CHECK(works(&pair));
	pair_down(&pair);
}

GROUP(odp_invalidate)
{
	static const struct test tests[] = {
		{ "pages discarded between transfers", discarded },
		{ "pages discarded more than a thousand times",
		  discarded_often },
		{ "other memory mapped between transfers", remapped },
		{ "pages made read-only between transfers", protected },
		{ "pages shared with a child process", forked },
		{ "pages discarded during transfers", stolen },
		{ "many pages discarded during transfers", stolen_much },
		{ "memory unmapped during transfers", unmapped_busy },
		{ "region deregistered during transfers", deregistered_busy },
		{ "QPs destroyed during transfers", destroyed_busy },
		{ "region registered again at the same place",
		  registered_again },
		{ "process killed during transfers", killed },
	};

	run_tests(tests, ARRAY_SIZE(tests));
}
