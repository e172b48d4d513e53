// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ibv_advise_mr(), whose effect the counters of "rdma statistic" show.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

#include "paging.h"

#define PAGES	64
#define FLUSH	IBV_ADVISE_MR_FLAG_FLUSH

static struct ibv_sge whole(const struct side *side)
{
	return piece(side, 0, side->size);
}

static int advise(const struct side *side, enum ibv_advise_mr_advice advice,
		  uint32_t flags, struct ibv_sge sge)
{
	return ibv_advise_mr(side->pd, advice, flags, &sge, 1);
}

static void faults_counted(const void *arg)
{
	struct pair pair;
	long taken;

	(void)arg;
	REQUIRE(paging_up(&pair, PAGES));
	CHECK(transferred(&pair, IBV_WR_RDMA_WRITE, PAGES * PAGE));
	CHECK_CALL(statistic(" page_faults "), 2 * PAGES);
	CHECK_CALL(statistic(" page_prefetch "), 0);
	CHECK(transferred(&pair, IBV_WR_RDMA_WRITE, PAGES * PAGE));
	CHECK_CALL(statistic(" page_faults "), 2 * PAGES);
	taken = statistic(" page_invalidations ");
	discard(pair.b.buf, 3 * PAGE);
	CHECK_CALL(statistic(" page_invalidations "), taken + 3);
	pair_down(&pair);
}

/* @arg: not for a region of all addresses */
static void prefetched(const void *arg)
{
	bool all = arg;
	struct pair pair;

	REQUIRE(paging_up(&pair, PAGES));
	if (all) {
		CHECK_CALL(ibv_dereg_mr(pair.b.mr), 0);
		pair.b.mr = ibv_reg_mr(pair.b.pd, NULL, SIZE_MAX, ON_DEMAND);
		REQUIRE(CHECK(pair.b.mr));
	}
	CHECK_CALL(advise(&pair.a, IBV_ADVISE_MR_ADVICE_PREFETCH, FLUSH,
			  whole(&pair.a)), 0);
	CHECK_CALL(advise(&pair.b, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, FLUSH,
			  whole(&pair.b)), 0);
	CHECK_CALL(statistic(" page_prefetch "), 2 * PAGES);
	memset(pair.b.buf, 1, PAGES * PAGE);
	CHECK(transferred(&pair, IBV_WR_RDMA_WRITE, PAGES * PAGE));
	CHECK_CALL(statistic(" page_faults "), 0);
	CHECK(!pair.b.buf[0] && !pair.b.buf[PAGES * PAGE - 1]);
	pair_down(&pair);
}

static void prefetched_later(const void *arg)
{
	struct pair pair;
	int i;

	(void)arg;
	REQUIRE(paging_up(&pair, PAGES));
	CHECK_CALL(advise(&pair.b, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, 0,
			  whole(&pair.b)), 0);
	for (i = 0; i < 500 && statistic(" page_prefetch ") != PAGES; i++)
		usleep(20000);
	CHECK_CALL(statistic(" page_prefetch "), PAGES);
	pair_down(&pair);
}

/* Exactly the pages that the process has touched. */
static void present_only(const void *arg)
{
	const enum ibv_advise_mr_advice advice =
		IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT;
	struct pair pair;

	(void)arg;
	REQUIRE(paging_up(&pair, PAGES));
	CHECK_CALL(advise(&pair.b, advice, FLUSH, whole(&pair.b)), 0);
	CHECK_CALL(statistic(" page_prefetch "), 0);
	memset(pair.b.buf, 1, 5 * PAGE);
	unmap(pair.b.buf + 7 * PAGE, PAGE);
	CHECK_CALL(advise(&pair.b, advice, FLUSH, whole(&pair.b)), 0);
	CHECK_CALL(statistic(" page_prefetch "), 5);
	CHECK_CALL(advise(&pair.a, IBV_ADVISE_MR_ADVICE_PREFETCH, FLUSH,
			  whole(&pair.a)), 0);
	CHECK(transferred(&pair, IBV_WR_RDMA_WRITE, 5 * PAGE));
	CHECK_CALL(statistic(" page_faults "), 0);
	pair_down(&pair);
}

static void refused(const void *arg)
{
	const enum ibv_advise_mr_advice prefetch =
		IBV_ADVISE_MR_ADVICE_PREFETCH;
	const enum ibv_advise_mr_advice write =
		IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE;
	struct ibv_mr *pinned, *reading;
	struct ibv_sge sge, two[2];
	struct ibv_pd *pd;
	struct pair pair;

	(void)arg;
	REQUIRE(paging_up(&pair, PAGES));
	sge = whole(&pair.b);
	pd = ibv_alloc_pd(hosts[1].context);
	pinned = ibv_reg_mr(pair.b.pd, pair.b.buf, PAGE, ALL_ACCESS);
	reading = ibv_reg_mr(pair.b.pd, pair.b.buf, PAGE,
			     IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ON_DEMAND);
	REQUIRE(CHECK(pd && pinned && reading));
	CHECK_CALL(advise(&pair.b, 77, FLUSH, sge), EOPNOTSUPP);
	CHECK_CALL(advise(&pair.b, prefetch, 2, sge), EINVAL);
	CHECK_CALL(ibv_advise_mr(pd, prefetch, FLUSH, &sge, 1), ENOENT);
	sge.lkey ^= 1;
	CHECK_CALL(advise(&pair.b, prefetch, FLUSH, sge), ENOENT);
	sge.lkey = pinned->lkey;
	CHECK_CALL(advise(&pair.b, prefetch, FLUSH, sge), EINVAL);
	sge.lkey = reading->lkey;
	sge.length = PAGE;
	CHECK_CALL(advise(&pair.b, prefetch, FLUSH, sge), 0);
	CHECK_CALL(advise(&pair.b, write, FLUSH, sge), EPERM);
	sge.length++;
	CHECK_CALL(advise(&pair.b, prefetch, FLUSH, sge), EFAULT);
	CHECK_CALL(advise(&pair.b, prefetch, 0, sge), EFAULT);
	sge = whole(&pair.b);
	sge.addr -= 1;
	CHECK_CALL(advise(&pair.b, prefetch, FLUSH, sge), EFAULT);
	/* All or nothing. */
	two[0] = whole(&pair.b);
	two[1] = sge;
	CHECK_CALL(ibv_advise_mr(pair.b.pd, prefetch, FLUSH, two, 2), EFAULT);
	CHECK_CALL(statistic(" page_prefetch "), 1);
	/* There is no memory; this does not matter later. */
	unmap(pair.b.buf + 3 * PAGE, PAGE);
	CHECK_CALL(advise(&pair.b, prefetch, FLUSH, whole(&pair.b)), EFAULT);
	CHECK_CALL(advise(&pair.b, prefetch, 0, whole(&pair.b)), 0);
	CHECK_CALL(ibv_dereg_mr(reading), 0);
	CHECK_CALL(ibv_dereg_mr(pinned), 0);
	CHECK_CALL(ibv_dealloc_pd(pd), 0);
	REQUIRE(map_again(pair.b.buf + 3 * PAGE, PAGE, PROT_READ | PROT_WRITE));
	CHECK(works(&pair));
	pair_down(&pair);
}

/* Windows are no regions */

#define STREAM	6

static struct ibv_send_wr bind_wr(const struct side *side, struct ibv_mw *mw)
{
	return (struct ibv_send_wr) {
		.wr_id = 1,
		.opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_mw = {
			.mw = mw,
			.rkey = mw->rkey,
			.bind_info = {
				.mr = side->mr,
				.addr = (uintptr_t)side->buf,
				.length = PAGE,
				.mw_access_flags = IBV_ACCESS_REMOTE_READ,
			},
		},
	};
}

/* A stream, so that the request after it waits for a timer, and the binding. */
static bool bound(struct pair *pair, struct ibv_mw *mw)
{
	struct ibv_send_wr wr = bind_wr(&pair->a, mw);
	int i;

	for (i = 0; i < STREAM; i++)
		if (!CHECK_CALL(post_rdma(&pair->a, &pair->b, IBV_WR_RDMA_WRITE,
					  9, 0, 0, 8, 0), 0))
			return false;
	return CHECK_CALL(post_one(&pair->a, &wr), 0) &&
	       EXPECT(pair->a.scq, pair->a.qp, .wr_id = 1,
		      .opcode = IBV_WC_BIND_MW);
}

/* The kernel waits for users of the key, which must release it. */
static bool advised_until_gone(struct pair *pair, struct ibv_mw *mw)
{
	struct ibv_send_wr wr = {
		.wr_id = 2,
		.opcode = IBV_WR_LOCAL_INV,
		.send_flags = IBV_SEND_SIGNALED,
		.invalidate_rkey = mw->rkey,
	};
	struct ibv_sge sge = { (uintptr_t)pair->a.buf, 8, mw->rkey };
	uint64_t end = now_ms() + PATIENCE_MS;
	struct ibv_wc wc;
	int n = 0;

	if (!bound(pair, mw) || !CHECK_CALL(post_one(&pair->a, &wr), 0))
		return false;
	while (!n && now_ms() < end) {
		if (!CHECK_CALL(advise(&pair->a, IBV_ADVISE_MR_ADVICE_PREFETCH,
				       FLUSH, sge), EINVAL))
			return false;
		n = ibv_poll_cq(pair->a.scq, 1, &wc);
	}
	return CHECK(n == 1) && CHECK(wc.wr_id == 2 && !wc.status);
}

/* On one processor, so that the timer's softirq interrupts the advice. */
static void windows(const void *arg)
{
	const struct options options = {
		.mr_access = ON_DEMAND | IBV_ACCESS_MW_BIND,
		.timeout = 18,
	};
	cpu_set_t before, one;
	struct ibv_mw *mw;
	struct pair pair;
	int i;

	(void)arg;
	sched_getaffinity(0, sizeof(before), &before);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	REQUIRE(!sched_setaffinity(0, sizeof(one), &one));
	REQUIRE(pair_up(&pair, &options));
	mw = ibv_alloc_mw(pair.a.pd, IBV_MW_TYPE_2);
	REQUIRE(CHECK(mw));
	for (i = 0; i < 1000; i++)
		if (!advised_until_gone(&pair, mw))
			break;
	CHECK(works(&pair));
	CHECK_CALL(ibv_dealloc_mw(mw), 0);
	pair_down(&pair);
	sched_setaffinity(0, sizeof(before), &before);
}

/* Processes that exit before their advice is done */

#define ADVISED	(64l << 20)
/* Takes a minute, though the memory is present after the first ones. */
#define ADVICES	4
#define SGES	2048
#define SOON_MS	10000

static void advise_and_exit(int segment)
{
	static struct ibv_sge sges[SGES];
	struct ibv_context *context = ibv_open_device(hosts[0].context->device);
	struct ibv_pd *pd = context ? ibv_alloc_pd(context) : NULL;
	void *buf = mmap(NULL, ADVISED, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_mr *mr = pd ? ibv_reg_mr(pd, buf, ADVISED, ON_DEMAND) : NULL;
	int i;

	/* A large page takes no time. */
	madvise(buf, ADVISED, MADV_NOHUGEPAGE);
	/* The queue's mapping keeps the context open until the memory is freed. */
	if (!mr || !ibv_create_cq(context, 1, NULL, NULL, 0) ||
	    shmat(segment, NULL, 0) == (void *)-1)
		_exit(1);
	for (i = 0; i < SGES; i++)
		sges[i] = (struct ibv_sge) { (uintptr_t)buf, ADVISED, mr->lkey };
	for (i = 0; i < ADVICES; i++)
		if (ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, 0, sges, SGES))
			_exit(1);
	_exit(0);
}

static bool is_attached(int segment)
{
	struct shmid_ds state;

	return shmctl(segment, IPC_STAT, &state) || state.shm_nattch;
}

/* The segment is detached when the memory of the process is freed. */
static void exits(const void *arg)
{
	int segment = shmget(IPC_PRIVATE, PAGE, 0600);
	uint64_t end;
	pid_t child;
	int status;

	(void)arg;
	REQUIRE(segment >= 0);
	child = fork();
	if (!child)
		advise_and_exit(segment);
	CHECK_CALL(waitpid(child, &status, 0), child);
	CHECK_CALL(status, 0);
	for (end = now_ms() + SOON_MS; is_attached(segment) && now_ms() < end;)
		usleep(10000);
	CHECK(!is_attached(segment));
	shmctl(segment, IPC_RMID, NULL);
}

GROUP(advice)
{
	static const struct test tests[] = {
		{ "page faults are counted", faults_counted },
		{ "prefetch makes pages present", prefetched },
		{ "prefetch in a region of all addresses (implicit ODP)",
		  prefetched, "all" },
		{ "prefetch without waiting", prefetched_later },
		{ "prefetch of present pages only (IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT)",
		  present_only },
		{ "invalid advice is refused", refused },
		{ "advice while windows are invalidated", windows },
		{ "advice ends when the process exits", exits },
	};

	run_tests(tests, ARRAY_SIZE(tests));
}
