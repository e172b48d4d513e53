// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Pages of regions: large pages, and the effects of fork().
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "transfer.h"
#include "resources.h"

#define HUGE	(2ul << 20)
#define SIZE	(4 * HUGE)
/* A length that no other region has. */
#define LENGTH	(3 * HUGE + 12345)

/*
 * The block size of side b's region of LENGTH bytes, as "rdma resource" shows it; 0 if
 * it is not found.
 */
static unsigned long block_size(void)
{
	char command[200], key[40], *text = NULL, *at;
	unsigned long size = 0;
	size_t room = 0;
	FILE *out;

	snprintf(command, sizeof(command),
		 "rdma -j -dd resource show mr dev %s pid %d", hosts[1].name,
		 getpid());
	snprintf(key, sizeof(key), "\"mrlen\":%lu,", LENGTH);
	out = popen(command, "r");
	if (!out)
		return 0;
	while (getdelim(&text, &room, '{', out) > 0) {
		at = strstr(text, key);
		at = at ? strstr(at, "\"drv_block_size\":") : NULL;
		if (at)
			size = strtoul(strchr(at, ':') + 1, NULL, 0);
	}
	free(text);
	pclose(out);
	return size;
}

/* WRITE side a's buffer to @to, and READ it back. */
static void there_and_back(struct pair *pair, struct ibv_mr *mr, uint8_t *to,
			   uint32_t length, uint32_t seed)
{
	struct ibv_sge sge = piece(&pair->a, 0, length);
	struct ibv_send_wr wr = {
		.wr_id = seed,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)to, mr->rkey },
	};

	fill(pair->a.buf, length, seed);
	CHECK_CALL(post_one(&pair->a, &wr), 0);
	EXPECT(pair->a.scq, pair->a.qp, .wr_id = seed,
	       .opcode = IBV_WC_RDMA_WRITE);
	CHECK(filled(to, length, seed));
	memset(pair->a.buf, 0, length);
	wr.opcode = IBV_WR_RDMA_READ;
	CHECK_CALL(post_one(&pair->a, &wr), 0);
	EXPECT(pair->a.scq, pair->a.qp, .wr_id = seed,
	       .opcode = IBV_WC_RDMA_READ, .length = length);
	CHECK(filled(pair->a.buf, length, seed));
}

/* A region that begins and ends somewhere in the pages at @buf. */
static void in_large_pages(uint8_t *buf)
{
	const struct options options = { .size = SIZE };
	struct pair pair;
	struct ibv_mr *mr;

	REQUIRE(pair_up(&pair, &options));
	mr = ibv_reg_mr(pair.b.pd, buf + 4000, LENGTH,
			ALL_ACCESS | IBV_ACCESS_HUGETLB |
			IBV_ACCESS_RELAXED_ORDERING);
	REQUIRE(CHECK(mr));
	CHECK(block_size() >= HUGE);
	there_and_back(&pair, mr, buf + 4000, LENGTH, 1);
	there_and_back(&pair, mr, buf + HUGE - 777, 5000, 2);
	CHECK_CALL(ibv_dereg_mr(mr), 0);
	pair_down(&pair);
}

static void hugetlb(const void *arg)
{
	uint8_t *buf = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
			    MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);

	(void)arg;
	if (buf == MAP_FAILED) {
		skip("no huge pages are reserved");
		return;
	}
	in_large_pages(buf);
	munmap(buf, SIZE);
}

static bool is_transparent_huge(const void *buf)
{
	unsigned long from, huge = 0;
	bool here = false;
	char line[300];
	FILE *maps;

	maps = fopen("/proc/self/smaps", "r");
	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-", &from) == 1 && strchr(line, '-'))
			here = from == (uintptr_t)buf;
		if (here && sscanf(line, "AnonHugePages: %lu", &huge) == 1)
			break;
	}
	if (maps)
		fclose(maps);
	return huge * 1024 >= SIZE;
}

static void transparent(const void *arg)
{
	uint8_t *room, *buf;

	(void)arg;
	room = mmap(NULL, SIZE + 2 * HUGE, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	buf = (uint8_t *)(((uintptr_t)room + HUGE) & -HUGE);
	mmap(buf, SIZE, PROT_READ | PROT_WRITE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	madvise(buf, SIZE, MADV_HUGEPAGE);
	memset(buf, 1, SIZE);
	if (is_transparent_huge(buf))
		in_large_pages(buf);
	else
		skip("the kernel gave no huge pages");
	munmap(room, SIZE + 2 * HUGE);
}

/* A child that shares the parent's memory, writes to its own, and ends on request. */
static pid_t fork_with(uint8_t *buf, size_t size, int *tell)
{
	int ends[2];
	pid_t child;
	char c;

	if (pipe(ends))
		return -1;
	child = fork();
	if (!child) {
		close(ends[1]);
		/* With RDMAV_FORK_SAFE the child does not have that memory. */
		if (!getenv("RDMAV_FORK_SAFE") && !getenv("IBV_FORK_SAFE"))
			memset(buf, 0xcc, size);
		_exit(read(ends[0], &c, 1) != 0);
	}
	close(ends[0]);
	*tell = ends[1];
	return child;
}

/*
 * The first process to write after a fork gets a copy.  If that is the parent, its
 * regions must not keep the pages of the child.
 */
static void forked(const void *arg)
{
	struct pair pair;
	int tell = -1, status;
	pid_t child;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	fill(pair.b.buf, pair.b.size, 1);
	child = fork_with(pair.b.buf, pair.b.size, &tell);
	REQUIRE(CHECK(child > 0));
	fill(pair.b.buf, 20000, 2);
	there_and_back(&pair, pair.b.mr, pair.b.buf + 20000, 30000, 3);
	CHECK(filled(pair.b.buf, 20000, 2));
	memset(pair.a.buf, 0, 20000);
	CHECK_CALL(post_rdma(&pair.a, &pair.b, IBV_WR_RDMA_READ, 4, 0, 0,
			     20000, IBV_SEND_SIGNALED), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 4, .opcode = IBV_WC_RDMA_READ,
	       .length = 20000);
	CHECK(filled(pair.a.buf, 20000, 2));
	close(tell);
	CHECK(waitpid(child, &status, 0) == child && !status);
	CHECK(works(&pair));
	pair_down(&pair);
}

#define TAG	(0x2aul << 56)

static uint8_t *map_at(uint8_t *at, size_t size, int flags)
{
	return mmap(at, size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

/* The processor ignores the tag of a pointer; a region's address may have one. */
static void by_tagged_address(int access)
{
	uint8_t *buf = map_at(NULL, SIZE, 0);
	uint8_t *at = (uint8_t *)((uintptr_t)buf | TAG);
	struct pair pair;
	struct ibv_mr *mr;

	REQUIRE(pair_up(&pair, NULL));
	mr = ibv_reg_mr(pair.b.pd, at, LENGTH, access);
	REQUIRE(CHECK(mr));
	there_and_back(&pair, mr, at + 5, 30000, 1);
	CHECK(filled(buf + 5, 30000, 1));
	if (access & IBV_ACCESS_ON_DEMAND) {
		munmap(buf, SIZE);
		REQUIRE(CHECK(map_at(buf, SIZE, MAP_FIXED) == buf));
		there_and_back(&pair, mr, at + 7, 30000, 2);
		CHECK(!buf[5] && filled(buf + 7, 30000, 2));
	}
	CHECK_CALL(ibv_dereg_mr(mr), 0);
	pair_down(&pair);
	munmap(buf, SIZE);
}

static void tagged(const void *arg)
{
	if (prctl(PR_SET_TAGGED_ADDR_CTRL, PR_TAGGED_ADDR_ENABLE, 0, 0, 0)) {
		skip("addresses have no tags here");
		return;
	}
	by_tagged_address(*(const int *)arg);
	prctl(PR_SET_TAGGED_ADDR_CTRL, 0, 0, 0, 0);
}

GROUP(pages)
{
	static const int pinned = ALL_ACCESS;
	static const int on_demand = ALL_ACCESS | IBV_ACCESS_ON_DEMAND;
	static const struct test tests[] = {
		{ "pages: MR on hugetlb pages", hugetlb },
		{ "pages: MR on transparent huge pages", transparent },
		{ "pages: the parent's MR after a fork", forked },
		{ "pages: MR at tagged addresses", tagged, &pinned },
		{ "pages: MR at tagged addresses, on demand",
		  tagged, &on_demand },
	};

	run_tests(tests, ARRAY_SIZE(tests));
}
