// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Regions of dma-bufs, of each exporter that this kernel has.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "exporters.h"
#include "transfer.h"
#include "resources.h"

#define LENGTH	20000
/* Start of a region: offset in the buffer, and address for peers. */
#define OFFSET	(3 * 4096ull + 100)
#define IOVA	(0x123456000ull + 100)

/* CPU access as the dma-buf interface requires it. */
static void announce(int fd, uint64_t flags)
{
	struct dma_buf_sync sync = { flags | DMA_BUF_SYNC_RW };

	CHECK(!ioctl(fd, DMA_BUF_IOCTL_SYNC, &sync));
}

/* An operation on side b's region. */
static void operate(struct pair *pair, enum ibv_wr_opcode opcode,
		    const struct ibv_mr *mr, uint64_t at, uint32_t seed,
		    enum ibv_wc_status status)
{
	struct ibv_sge sge = piece(&pair->a, 0, LENGTH);
	struct ibv_send_wr wr = {
		.wr_id = 3,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = at, .rkey = mr->rkey },
	};

	fill(pair->a.buf, LENGTH, seed);
	CHECK_CALL(post_one(&pair->a, &wr), 0);
	EXPECT(pair->a.scq, pair->a.qp, .wr_id = 3, .status = status,
	       .opcode = opcode == IBV_WR_RDMA_READ ? IBV_WC_RDMA_READ :
						      IBV_WC_RDMA_WRITE,
	       .length = LENGTH);
}

/* SEND from there to side a. */
static void send_from(struct pair *pair, const struct ibv_mr *mr, uint64_t at)
{
	struct ibv_sge sge = { .addr = at, .length = LENGTH, .lkey = mr->lkey };

	CHECK_CALL(post_recv(&pair->a, 1, 0, LENGTH), 0);
	CHECK_CALL(post_one(&pair->b, &(struct ibv_send_wr) {
			.wr_id = 2, .sg_list = &sge, .num_sge = 1,
			.opcode = IBV_WR_SEND,
			.send_flags = IBV_SEND_SIGNALED }), 0);
	EXPECT(pair->a.rcq, pair->a.qp, .wr_id = 1, .opcode = IBV_WC_RECV,
	       .length = LENGTH);
	EXPECT(pair->b.scq, pair->b.qp, .wr_id = 2, .opcode = IBV_WC_SEND);
}

static void moved(struct pair *pair, struct ibv_mr *mr, int fd, uint8_t *buf)
{
	uint8_t *here = buf + OFFSET;

	operate(pair, IBV_WR_RDMA_WRITE, mr, IOVA, 1, IBV_WC_SUCCESS);
	announce(fd, DMA_BUF_SYNC_START);
	CHECK(filled(here, LENGTH, 1));
	fill(here + 30000, LENGTH, 2);
	announce(fd, DMA_BUF_SYNC_END);
	operate(pair, IBV_WR_RDMA_READ, mr, IOVA + 30000, 0, IBV_WC_SUCCESS);
	CHECK(filled(pair->a.buf, LENGTH, 2));
	memset(pair->a.buf, 0, LENGTH);
	send_from(pair, mr, IOVA + 30000);
	CHECK(filled(pair->a.buf, LENGTH, 2));
}

static void bounds(struct pair *pair, struct ibv_mr *mr, uint64_t length)
{
	operate(pair, IBV_WR_RDMA_WRITE, mr, IOVA + length - LENGTH, 6,
		IBV_WC_SUCCESS);
	operate(pair, IBV_WR_RDMA_WRITE, mr, IOVA + length - LENGTH + 1, 6,
		IBV_WC_REM_ACCESS_ERR);
	CHECK(pair_again(pair));
	operate(pair, IBV_WR_RDMA_WRITE, mr, IOVA - 1, 6,
		IBV_WC_REM_ACCESS_ERR);
	CHECK(pair_again(pair));
	forget_events(hosts[0].context);
	forget_events(hosts[1].context);
}

static void exporter(const void *arg)
{
	const struct exporter *e = arg;
	const uint64_t length = DMABUF_SIZE - OFFSET;
	struct pair pair;
	struct ibv_mr *mr;
	uint8_t *buf;
	int fd;

	fd = e->export(O_CLOEXEC | O_RDWR);
	if (fd < 0) {
		skip("this kernel does not have it");
		return;
	}
	REQUIRE(pair_up(&pair, NULL));
	mr = ibv_reg_dmabuf_mr(pair.b.pd, OFFSET, length, IOVA, fd, ALL_ACCESS);
	if (!mr && errno == EOPNOTSUPP) {
		skip("it gives the kernel no mapping");
		pair_down(&pair);
		close(fd);
		return;
	}
	REQUIRE(CHECK(mr));
	buf = mmap(NULL, DMABUF_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	REQUIRE(CHECK(buf != MAP_FAILED));
	moved(&pair, mr, fd, buf);
	bounds(&pair, mr, length);
	/* The region keeps the buffer. */
	munmap(buf, DMABUF_SIZE);
	close(fd);
	operate(&pair, IBV_WR_RDMA_READ, mr, IOVA + 30000, 0, IBV_WC_SUCCESS);
	CHECK(filled(pair.a.buf, LENGTH, 2));
	CHECK(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			   ALL_ACCESS) == IBV_REREG_MR_ERR_INPUT);
	CHECK_CALL(ibv_dereg_mr(mr), 0);
	operate(&pair, IBV_WR_RDMA_WRITE, mr, IOVA, 1, IBV_WC_REM_ACCESS_ERR);
	pair_down(&pair);
}

static void reg_fails(struct ibv_pd *pd, uint64_t offset, size_t length,
		      uint64_t iova, int fd, int access, int want)
{
	struct ibv_mr *mr;

	errno = 0;
	mr = ibv_reg_dmabuf_mr(pd, offset, length, iova, fd, access);
	CHECK(!mr);
	CHECK_CALL(errno, want);
}

static void bad_use(const void *arg)
{
	struct pair pair;
	int fd, other;

	(void)arg;
	fd = any_dmabuf(O_CLOEXEC | O_RDWR);
	REQUIRE(pair_up(&pair, NULL));
	/* The way that programs find out if a GPU's memory could be registered */
	reg_fails(pair.a.pd, 0, 4096, 0, -1, ALL_ACCESS, EOPNOTSUPP);
	reg_fails(pair.a.pd, 0, 0, 0, -1, 0, EOPNOTSUPP);
	other = open("/dev/null", O_RDWR);
	reg_fails(pair.a.pd, 0, 4096, 0, other, ALL_ACCESS, EINVAL);
	close(other);
	if (fd >= 0) {
		reg_fails(pair.a.pd, 0, 0, 0, fd, ALL_ACCESS, EINVAL);
		reg_fails(pair.a.pd, 0, DMABUF_SIZE + 1, 0, fd, ALL_ACCESS, EINVAL);
		reg_fails(pair.a.pd, DMABUF_SIZE + 4096, 1, 0, fd, ALL_ACCESS, EINVAL);
		reg_fails(pair.a.pd, -4096ull, 8192, 0, fd, ALL_ACCESS, EINVAL);
		reg_fails(pair.a.pd, 1, 4096, 0, fd, ALL_ACCESS, EINVAL);
		reg_fails(pair.a.pd, 0, 8192, -4096ull, fd, ALL_ACCESS, EINVAL);
		reg_fails(pair.a.pd, 0, 4096, 0, fd, IBV_ACCESS_REMOTE_WRITE,
			  EINVAL);
		close(fd);
	}
	CHECK(works(&pair));
	pair_down(&pair);
}

static void read_only(const void *arg)
{
	int fd = any_dmabuf(O_CLOEXEC | O_RDONLY);
	struct pair pair;
	struct ibv_mr *mr;

	(void)arg;
	if (fd < 0) {
		skip("no exporter");
		return;
	}
	REQUIRE(pair_up(&pair, NULL));
	reg_fails(pair.b.pd, 0, DMABUF_SIZE, 0, fd, ALL_ACCESS, EACCES);
	mr = ibv_reg_dmabuf_mr(pair.b.pd, 0, DMABUF_SIZE, 0, fd,
			       IBV_ACCESS_REMOTE_READ);
	REQUIRE(CHECK(mr));
	operate(&pair, IBV_WR_RDMA_READ, mr, 0, 1, IBV_WC_SUCCESS);
	operate(&pair, IBV_WR_RDMA_WRITE, mr, 0, 1, IBV_WC_REM_ACCESS_ERR);
	CHECK_CALL(ibv_dereg_mr(mr), 0);
	close(fd);
	pair_down(&pair);
}

GROUP(dmabuf)
{
	static const struct test tests[] = {
		{ "dma-buf: invalid registrations are refused", bad_use },
		{ "dma-buf: a read-only file allows only remote READs",
		  read_only },
	};
	size_t i;

	for (i = 0; i < EXPORTERS; i++)
		run_test(exporter, &exporters[i], "dma-buf: of %s",
			 exporters[i].name);
	run_tests(tests, ARRAY_SIZE(tests));
}
