// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory on demand whose pages move: the kernel exchanges, shares, merges, or writes them to
 * disk, as the process asks.  Device and process have to see the same bytes.
 *
 *	SEED
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "chance.h"
#include "paging.h"

#define RW	(PROT_READ | PROT_WRITE)
#define PAGES	64
#define SIZE	((size_t)PAGES * PAGE)
#define STEPS	1000
/* Fewer on a slow kernel. */
#define MOST_MS	6000

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE	25
#endif
#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT	21
#endif
#ifndef MADV_COLD
#define MADV_COLD	20
#endif

/**
 * struct mirror - memory of a side, and what it must contain
 * @side: the side, with its buffer
 * @fd: the file that is mapped, or -1
 * @is: the expected bytes
 */
struct mirror {
	struct side *side;
	int fd;
	uint8_t is[SIZE];
};

struct range {
	size_t at;
	size_t length;
};

static struct range some_pages(struct chance *c)
{
	size_t first = draw_below(c, PAGES), n = 1 + draw_below(c, PAGES - first);

	return (struct range) { first * PAGE, n * PAGE };
}

static struct range some_bytes(struct chance *c)
{
	size_t at = draw_below(c, SIZE);
	size_t most = SIZE - at < 3 * PAGE ? SIZE - at : 3 * PAGE;

	return (struct range) { at, 1 + draw_below(c, most) };
}

static void advise(struct mirror *m, struct range r, int advice)
{
	madvise(m->side->buf + r.at, r.length, advice);
}

static void page_out(struct mirror *m, struct chance *c)
{
	advise(m, some_pages(c), MADV_PAGEOUT);
}

static void cool_down(struct mirror *m, struct chance *c)
{
	advise(m, some_pages(c), MADV_COLD);
}

static void merge(struct mirror *m, struct chance *c)
{
	advise(m, some_pages(c), MADV_MERGEABLE);
}

static void collapse(struct mirror *m, struct chance *c)
{
	(void)c;
	madvise(m->side->buf, SIZE, MADV_COLLAPSE);
}

static void drop(struct mirror *m, struct chance *c)
{
	struct range r = some_pages(c);

	advise(m, r, MADV_DONTNEED);
	/* The file keeps its contents. */
	if (m->fd < 0)
		memset(m->is + r.at, 0, r.length);
}

static void punch(struct mirror *m, struct chance *c)
{
	struct range r = some_pages(c);

	if (m->fd >= 0 && !fallocate(m->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				     r.at, r.length))
		memset(m->is + r.at, 0, r.length);
}

static void truncate_file(struct mirror *m, struct chance *c)
{
	size_t at = draw_below(c, SIZE);

	if (m->fd < 0)
		return;
	CHECK(!ftruncate(m->fd, at) && !ftruncate(m->fd, SIZE));
	memset(m->is + at, 0, SIZE - at);
}

static void write_file(struct mirror *m, struct chance *c)
{
	struct range r = some_bytes(c);
	uint8_t bytes[3 * PAGE];

	if (m->fd < 0)
		return;
	fill(bytes, r.length, draw(c));
	if (pwrite(m->fd, bytes, r.length, r.at) == (ssize_t)r.length)
		memcpy(m->is + r.at, bytes, r.length);
}

static void protect(struct mirror *m, struct chance *c)
{
	struct range r = some_pages(c);
	int how[] = { PROT_READ, PROT_NONE };

	CHECK(!mprotect(m->side->buf + r.at, r.length, PICK(c, how)));
	CHECK(!mprotect(m->side->buf + r.at, r.length, RW));
}

static bool move_page(uint8_t *from, uint8_t *to)
{
	return CHECK(mremap(from, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to) == to);
}

/* Two pages change places. */
static void swap_pages(struct mirror *m, struct chance *c)
{
	size_t a = draw_below(c, PAGES) * PAGE, b = draw_below(c, PAGES) * PAGE;
	uint8_t *buf = m->side->buf, *spare, page[PAGE];

	if (a == b || m->fd >= 0)
		return;
	spare = mmap(NULL, PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	REQUIRE(CHECK(spare != MAP_FAILED));
	REQUIRE(move_page(buf + a, spare) && move_page(buf + b, buf + a) &&
		move_page(spare, buf + b));
	memcpy(page, m->is + a, PAGE);
	memcpy(m->is + a, m->is + b, PAGE);
	memcpy(m->is + b, page, PAGE);
}

static pid_t child;

static void child_ends(void)
{
	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	child = 0;
}

/* A child that writes to its copy of the memory. */
static void split(struct mirror *m, struct chance *c)
{
	struct chance own = *c;

	draw(c);
	child_ends();
	child = fork();
	if (child)
		return;
	while (m->fd < 0) {
		m->side->buf[draw_below(&own, SIZE)] = draw(&own);
		usleep(50);
	}
	pause();
	_exit(0);
}

static void store(struct mirror *m, struct chance *c)
{
	struct range r = some_bytes(c);

	fill(m->is + r.at, r.length, draw(c));
	memcpy(m->side->buf + r.at, m->is + r.at, r.length);
}

static void compact(struct mirror *m, struct chance *c)
{
	int fd = open("/proc/sys/vm/compact_memory", O_WRONLY);

	(void)m;
	(void)c;
	if (fd < 0)
		return;
	CHECK(write(fd, "1", 1) == 1);
	close(fd);
}

static void (*const changes[])(struct mirror *m, struct chance *c) = {
	page_out, cool_down, merge, collapse, drop, punch, truncate_file, write_file,
	protect, swap_pages, split, store, store, compact,
};

static bool same(const struct mirror *m)
{
	return !memcmp(m->side->buf, m->is, SIZE);
}

/* From side to side, at different offsets. */
static bool exchange(struct pair *pair, struct mirror *a, struct mirror *b, struct chance *c)
{
	bool read = one_in(c, 2);
	struct mirror *from = read ? b : a, *to = read ? a : b;
	struct range r = some_bytes(c);
	size_t there = draw_below(c, SIZE - r.length + 1);
	size_t source = read ? there : r.at, target = read ? r.at : there;

	CHECK_CALL(post_rdma(&pair->a, &pair->b, read ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE,
			     7, r.at, there, r.length, IBV_SEND_SIGNALED), 0);
	if (!EXPECT(pair->a.scq, pair->a.qp, .wr_id = 7, .length = read ? r.length : 0,
		    .opcode = read ? IBV_WC_RDMA_READ : IBV_WC_RDMA_WRITE))
		return false;
	memcpy(to->is + target, from->is + source, r.length);
	return CHECK(!memcmp(to->side->buf + target, to->is + target, r.length));
}

static int map_file(struct side *side)
{
	int fd = memfd_create("moves", 0);

	CHECK(fd >= 0 && !ftruncate(fd, SIZE));
	CHECK(mmap(side->buf, SIZE, RW, MAP_SHARED | MAP_FIXED, fd, 0) == side->buf);
	return fd;
}

static bool step(struct pair *pair, struct mirror *a, struct mirror *b, struct chance *c)
{
	uint32_t what = draw_below(c, ARRAY_SIZE(changes));
	bool first = one_in(c, 2);

	changes[what](first ? a : b, c);
	if (exchange(pair, a, b, c))
		return true;
	diag("after change %u of side %c", what, first ? 'a' : 'b');
	return false;
}

static void moves(const void *shared)
{
	const char *text = getenv("SEED");
	struct chance c = { text ? strtoull(text, NULL, 0) : (uint64_t)time(NULL) };
	static struct mirror a, b;
	uint64_t start = now_ms();
	struct pair pair;
	int i;

	diag("SEED=%llu", (unsigned long long)c.state);
	REQUIRE(paging_up(&pair, PAGES));
	a = (struct mirror) { .side = &pair.a, .fd = -1 };
	b = (struct mirror) { .side = &pair.b, .fd = shared ? map_file(&pair.b) : -1 };
	memset(pair.a.buf, 0, SIZE);
	memset(pair.b.buf, 0, SIZE);
	for (i = 0; i < STEPS && now_ms() - start < MOST_MS; i++)
		if (!step(&pair, &a, &b, &c))
			break;
	CHECK(same(&a) && same(&b));
	child_ends();
	if (b.fd >= 0)
		close(b.fd);
	pair_down(&pair);
}

GROUP(odp_moves)
{
	static const struct test tests[] = {
		{ "private memory whose pages move", moves, NULL },
		{ "shared memory whose pages move", moves, "" },
	};

	run_tests(tests, ARRAY_SIZE(tests));
}
