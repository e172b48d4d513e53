// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory on demand whose pages another thread provides: userfaultfd(2), as migration and
 * checkpointing use it.
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "paging.h"

/* Of a buffer; a message has the first half. */
#define PAGES	32
#define LENGTH	(PAGES / 2 * PAGE)
/* The missing page. */
#define MISSING	(8 * PAGE)
#define SEED	77

/**
 * struct pager - a thread that provides the missing page, late
 * @fd: userfaultfd
 * @at: address of the page
 * @asked: number of requests for it
 * @mapped: the process could map and unmap other memory while the page was missing
 * @thread: the thread
 * @changed: memory near the page, whose protection another thread keeps changing
 * @stop: end that thread
 * @changer: that thread
 */
struct pager {
	int fd;
	uint8_t *at;
	int asked;
	bool mapped;
	pthread_t thread;
	uint8_t *changed;
	bool stop;
	pthread_t changer;
};

static bool can_map(void)
{
	void *at = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return at != MAP_FAILED && !munmap(at, PAGE);
}

static void *provide(void *arg)
{
	static const struct timespec late = { .tv_nsec = 100000000 };
	static uint8_t page[PAGE] __attribute__((aligned(PAGE)));
	struct pager *pager = arg;
	struct uffdio_copy copy = {
		.dst = (uintptr_t)pager->at,
		.src = (uintptr_t)page,
		.len = PAGE,
	};
	struct pollfd asked = { .fd = pager->fd, .events = POLLIN };
	struct uffd_msg msg;

	fill(page, PAGE, SEED);
	if (poll(&asked, 1, 20000) != 1 || read(pager->fd, &msg, sizeof(msg)) != sizeof(msg) ||
	    msg.event != UFFD_EVENT_PAGEFAULT ||
	    (msg.arg.pagefault.address & ~(PAGE - 1ull)) != copy.dst)
		return NULL;
	pager->asked++;
	pager->mapped = can_map();
	nanosleep(&late, NULL);
	ioctl(pager->fd, UFFDIO_COPY, &copy);
	return NULL;
}

/* The kernel tells the driver of each change. */
static void *change(void *arg)
{
	struct pager *pager = arg;

	while (!__atomic_load_n(&pager->stop, __ATOMIC_RELAXED)) {
		*(volatile uint8_t *)pager->changed = 1;
		mprotect(pager->changed, PAGE, PROT_READ);
		mprotect(pager->changed, PAGE, PROT_READ | PROT_WRITE);
	}
	return NULL;
}

/* These pages are missing from now on; returns the userfaultfd, or -1. */
static int missing(uint8_t *at, size_t length)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = {
		.range = { (uintptr_t)at, length },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);

	if (!CHECK(fd >= 0) || !CHECK(!ioctl(fd, UFFDIO_API, &api)) ||
	    !CHECK(!ioctl(fd, UFFDIO_REGISTER, &reg)))
		return -1;
	discard(at, length);
	return fd;
}

/* The page in the middle of a message in @buf is missing from now on. */
static bool pager_up(struct pager *pager, uint8_t *buf)
{
	*pager = (struct pager) {
		.at = buf + MISSING, .changed = buf + LENGTH,
		.fd = missing(buf + MISSING, PAGE),
	};
	return pager->fd >= 0 &&
	       CHECK(!pthread_create(&pager->changer, NULL, change, pager)) &&
	       CHECK(!pthread_create(&pager->thread, NULL, provide, pager));
}

static void pager_down(struct pager *pager)
{
	pthread_join(pager->thread, NULL);
	__atomic_store_n(&pager->stop, true, __ATOMIC_RELAXED);
	pthread_join(pager->changer, NULL);
	close(pager->fd);
	CHECK(pager->mapped);
	EQUAL(pager->asked, 1);
}

static const struct late {
	const char *name;
	enum ibv_wr_opcode opcode;
	bool local;
} lates[] = {
	{ "a WRITE from it", IBV_WR_RDMA_WRITE, true },
	{ "a WRITE to it", IBV_WR_RDMA_WRITE, false },
	{ "a READ to it", IBV_WR_RDMA_READ, true },
	{ "a READ from it", IBV_WR_RDMA_READ, false },
};

static void late_page(const void *arg)
{
	const struct late *late = arg;
	bool to_b = late->opcode == IBV_WR_RDMA_WRITE;
	bool from_it = late->local == to_b;
	struct pager pager;
	struct pair pair;
	uint8_t *to;

	REQUIRE(paging_up(&pair, PAGES));
	fill(pair.a.buf, PAGES * PAGE, 1);
	fill(pair.b.buf, PAGES * PAGE, 2);
	REQUIRE(pager_up(&pager, late->local ? pair.a.buf : pair.b.buf));
	CHECK(transferred(&pair, late->opcode, LENGTH));
	pager_down(&pager);
	to = to_b ? pair.b.buf : pair.a.buf;
	CHECK(filled(to, MISSING, to_b ? 1 : 2));
	if (from_it)
		CHECK(filled(to + MISSING, PAGE, SEED));
	else
		CHECK(!memcmp(pair.a.buf, pair.b.buf, LENGTH));
	pair_down(&pair);
}

static void advised_page(const void *arg)
{
	struct pager pager;
	struct ibv_sge sge;
	struct pair pair;

	(void)arg;
	REQUIRE(paging_up(&pair, PAGES));
	sge = piece(&pair.a, 0, LENGTH);
	REQUIRE(pager_up(&pager, pair.a.buf));
	CHECK_CALL(ibv_advise_mr(pair.a.pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
				 IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1), 0);
	pager_down(&pager);
	CHECK(filled(pair.a.buf + MISSING, PAGE, SEED));
	pair_down(&pair);
}

/* A message needs its own pages only, although the buffer has room for more. */
static void behind_message(const void *arg)
{
	struct pollfd asked = { .events = POLLIN };
	struct pair pair;

	(void)arg;
	REQUIRE(paging_up(&pair, PAGES));
	fill(pair.a.buf, PAGE, 1);
	discard(pair.b.buf, PAGE);
	asked.fd = missing(pair.b.buf + PAGE, LENGTH);
	REQUIRE(asked.fd >= 0);
	CHECK_CALL(post_recv(&pair.b, 1, 0, LENGTH), 0);
	CHECK_CALL(post_send(&pair.a, 2, 0, PAGE, IBV_SEND_SIGNALED), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 2, .opcode = IBV_WC_SEND);
	EXPECT(pair.b.rcq, pair.b.qp, .wr_id = 1, .opcode = IBV_WC_RECV, .length = PAGE);
	CHECK(filled(pair.b.buf, PAGE, 1));
	EQUAL(poll(&asked, 1, 0), 0);
	close(asked.fd);
	pair_down(&pair);
}

static void unavailable(const void *arg)
{
	(void)arg;
	skip("this kernel has no userfaultfd");
}

GROUP(odp_userfault)
{
	size_t i;
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0) {
		run_test(unavailable, NULL, "pages of a userfaultfd");
		return;
	}
	close(fd);
	for (i = 0; i < ARRAY_SIZE(lates); i++)
		run_test(late_page, &lates[i], "a page that userfaultfd provides late: %s",
			 lates[i].name);
	run_test(advised_page, NULL, "a page that userfaultfd provides late: prefetched");
	run_test(behind_message, NULL,
		 "pages of a userfaultfd behind a message are not waited for");
}
