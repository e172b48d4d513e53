// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory on demand that takes long to arrive: HELD is a file that can be mapped but
 * not read (fuse_server.c).  While a page-in of it waits, the process can map and unmap
 * memory, and free its objects.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "paging.h"

static struct ibv_mr *held_region(struct ibv_pd *pd)
{
	int fd = open(getenv("HELD") ?: "", O_RDONLY);
	struct ibv_mr *mr = NULL;
	void *at;

	if (!CHECK(fd >= 0))
		return NULL;
	at = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (CHECK(at != MAP_FAILED))
		mr = ibv_reg_mr(pd, at, PAGE,
				IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ON_DEMAND);
	CHECK(mr);
	return mr;
}

/* In one list, so that they leave in one burst: a WRITE, a READ, another WRITE. */
static int post_around(struct pair *pair, const struct ibv_mr *mr, bool more)
{
	struct ibv_sge sge = piece(&pair->a, 0, PAGE);
	struct ibv_send_wr wrs[] = {
		rdma_wr(&pair->b, IBV_WR_RDMA_WRITE, 1, &sge, 1, 0),
		rdma_wr(&pair->b, IBV_WR_RDMA_READ, 2, &sge, 1, 0),
		rdma_wr(&pair->b, IBV_WR_RDMA_WRITE, 3, &sge, 1, PAGE),
	};

	wrs[0].next = &wrs[1];
	wrs[1].next = more ? &wrs[2] : NULL;
	wrs[1].wr.rdma.remote_addr = (uintptr_t)mr->addr;
	wrs[1].wr.rdma.rkey = mr->rkey;
	return post_one(&pair->a, wrs);
}

/*
 * The READ fails.  Requests before it are executed and acknowledged, whether or not
 * requests follow the READ.
 */
static void before_a_read(const void *arg)
{
	static const struct options options = { .size = 2 * PAGE };
	bool more = arg;
	struct ibv_mr *mr;
	struct pair pair;
	void *at;

	REQUIRE(pair_up(&pair, &options));
	mr = held_region(pair.b.pd);
	REQUIRE(mr);
	CHECK_CALL(post_around(&pair, mr, more), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 1,
	       .opcode = IBV_WC_RDMA_WRITE);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 2,
	       .status = IBV_WC_RETRY_EXC_ERR);
	if (more)
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = 3,
		       .status = IBV_WC_WR_FLUSH_ERR);
	CHECK(!memcmp(pair.a.buf, pair.b.buf, PAGE));
	at = mr->addr;
	CHECK_CALL(ibv_dereg_mr(mr), 0);
	CHECK(!munmap(at, PAGE));
	pair_down(&pair);
}

GROUP(odp_stall)
{
	if (getenv("HELD"))
		run_test(before_a_read, NULL,
			 "a WRITE before a READ that waits for memory is acknowledged");
}

GROUP(odp_stall_more)
{
	if (getenv("HELD"))
		run_test(before_a_read, "more",
			 "also if something comes behind the READ");
}
