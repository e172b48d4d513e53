// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * An open device and its objects, used by another process.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "transfer.h"
#include "resources.h"

#define SIZE	65536
#define LENGTH	20000

/* Message from one process to the other. */
struct told {
	int fd;
	uint32_t pd;
	uint32_t mr;
	uint32_t dm;
	uint32_t key;
	uint8_t *buf;
};

/* The importer's part. */
struct imported {
	struct host host;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
};

static bool import(struct imported *im, const struct told *told)
{
	im->host = hosts[0];
	im->host.context = ibv_import_device(told->fd);
	if (!CHECK(im->host.context))
		return false;
	im->pd = ibv_import_pd(im->host.context, told->pd);
	if (!CHECK(im->pd))
		return false;
	im->mr = ibv_import_mr(im->pd, told->mr);
	return CHECK(im->mr && im->mr->lkey == told->key &&
		     im->mr->rkey == told->key && im->mr->length == SIZE);
}

static void unimport(struct imported *im)
{
	ibv_unimport_mr(im->mr);
	ibv_unimport_pd(im->pd);
	CHECK_CALL(ibv_close_device(im->host.context), 0);
}

/* A QP of the imported domain for a side, in place of its own. */
static bool adopt(struct side *side, struct imported *im,
		  const struct options *options)
{
	struct ibv_pd *own = side->pd;
	bool made;

	CHECK_CALL(ibv_destroy_qp(side->qp), 0);
	side->pd = im->pd;
	made = side_qp(side, options);
	side->pd = own;
	return made;
}

/* From the middle of the other process's memory to its beginning. */
static void write_within(struct pair *pair, const struct told *told)
{
	struct ibv_sge sge = { (uintptr_t)told->buf + SIZE / 2, LENGTH,
			       told->key };
	struct ibv_send_wr wr = {
		.wr_id = 4,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)told->buf, told->key },
	};

	CHECK_CALL(post_one(&pair->a, &wr), 0);
	EXPECT(pair->a.scq, pair->a.qp, .wr_id = 4,
	       .opcode = IBV_WC_RDMA_WRITE);
}

/* Both ends of the pair are of the imported context. */
static void use(struct imported *im, const struct told *told)
{
	struct host kept[2] = { hosts[0], hosts[1] };
	struct pair pair;

	hosts[0] = im->host;
	hosts[1] = im->host;
	REQUIRE(pair_create(&pair, NULL));
	REQUIRE(adopt(&pair.a, im, &pair.options) &&
		adopt(&pair.b, im, &pair.options));
	REQUIRE(CHECK(pair_connect(&pair)));
	write_within(&pair, told);
	pair_down(&pair);
	hosts[0] = kept[0];
	hosts[1] = kept[1];
}

static void copy_dm(struct imported *im, const struct told *told)
{
	struct ibv_dm *dm = ibv_import_dm(im->host.context, told->dm);
	uint32_t word = 0;

	REQUIRE(CHECK(dm));
	CHECK_CALL(ibv_memcpy_from_dm(&word, dm, 4, 4), 0);
	CHECK(word == 0x12345678);
	word = 0x87654321;
	CHECK_CALL(ibv_memcpy_to_dm(dm, 8, &word, 4), 0);
	CHECK_CALL(ibv_memcpy_to_dm(dm, 4096, &word, 4), EINVAL);
	ibv_unimport_dm(dm);
}

static bool good = true;

static void in_child(const struct told *told)
{
	struct imported im;

	good = import(&im, told);
	if (!good)
		return;
	use(&im, told);
	copy_dm(&im, told);
	unimport(&im);
}

/* Does a child process succeed with the objects in @told? */
static bool other_process(const struct told *told)
{
	pid_t child;
	int status;

	fflush(stdout);
	child = fork();
	if (!child) {
		in_child(told);
		fflush(stdout);
		_exit(!good);
	}
	return waitpid(child, &status, 0) == child && !status;
}

static void by_another_process(const void *arg)
{
	uint32_t word = 0x12345678;
	struct told told;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_dm *dm;

	(void)arg;
	told.buf = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pd = ibv_alloc_pd(hosts[0].context);
	mr = ibv_reg_mr(pd, told.buf, SIZE, ALL_ACCESS);
	dm = ibv_alloc_dm(hosts[0].context,
			  &(struct ibv_alloc_dm_attr) { .length = 4096 });
	REQUIRE(CHECK(mr && dm));
	fill(told.buf + SIZE / 2, LENGTH, 5);
	CHECK_CALL(ibv_memcpy_to_dm(dm, 4, &word, 4), 0);
	told.fd = dup(hosts[0].context->cmd_fd);
	told.pd = pd->handle;
	told.mr = mr->handle;
	told.dm = dm->handle;
	told.key = mr->lkey;
	CHECK(other_process(&told));
	CHECK(filled(told.buf, LENGTH, 5));
	CHECK_CALL(ibv_memcpy_from_dm(&word, dm, 8, 4), 0);
	CHECK(word == 0x87654321);
	close(told.fd);
	CHECK_CALL(ibv_dereg_mr(mr), 0);
	CHECK_CALL(ibv_dealloc_pd(pd), 0);
	CHECK_CALL(ibv_free_dm(dm), 0);
	munmap(told.buf, SIZE);
}

/* Releasing an import leaves the original unchanged. */
static void by_the_same(const void *arg)
{
	struct imported im;
	struct told told;
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	told = (struct told) {
		.fd = dup(hosts[0].context->cmd_fd),
		.pd = pair.a.pd->handle,
		.mr = pair.a.mr->handle,
		.key = pair.a.mr->lkey,
		.buf = pair.a.buf,
	};
	REQUIRE(import(&im, &told));
	fill(told.buf + SIZE / 2, LENGTH, 9);
	use(&im, &told);
	CHECK(filled(told.buf, LENGTH, 9));
	unimport(&im);
	CHECK(works(&pair));
	pair_down(&pair);
}

/* The importer may destroy an object. */
static void destroyed_by_importer(const void *arg)
{
	struct ibv_context *context;
	struct ibv_pd *pd, *again;

	(void)arg;
	pd = ibv_alloc_pd(hosts[0].context);
	context = ibv_import_device(dup(hosts[0].context->cmd_fd));
	REQUIRE(CHECK(pd && context));
	again = ibv_import_pd(context, pd->handle);
	REQUIRE(CHECK(again));
	CHECK_CALL(ibv_dealloc_pd(again), 0);
	CHECK(!ibv_import_pd(context, pd->handle) && errno == ENOENT);
	ibv_unimport_pd(pd);
	CHECK_CALL(ibv_close_device(context), 0);
}

static void bad_imports(const void *arg)
{
	struct ibv_context *context;
	struct pair pair;
	int null;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	null = open("/dev/null", O_RDWR);
	CHECK(!ibv_import_device(null) && errno == ENODEV);
	close(null);
	CHECK(!ibv_import_device(-1) && errno);
	context = ibv_import_device(dup(hosts[0].context->cmd_fd));
	REQUIRE(CHECK(context));
	CHECK(!ibv_import_pd(context, 0x123456) && errno == ENOENT);
	CHECK(!ibv_import_pd(context, pair.a.mr->handle) && errno == EINVAL);
	CHECK(!ibv_import_mr(pair.a.pd, 0x123456) && errno == ENOENT);
	CHECK(!ibv_import_mr(pair.a.pd, pair.a.pd->handle) && errno == EINVAL);
	CHECK(!ibv_import_dm(context, 0x123456) && errno == ENOENT);
	CHECK(!ibv_import_dm(context, pair.a.pd->handle) && errno == EINVAL);
	CHECK_CALL(ibv_close_device(context), 0);
	CHECK(works(&pair));
	pair_down(&pair);
}

GROUP(sharing)
{
	static const struct test tests[] = {
		{ "import: device, PD and MR by another process",
		  by_another_process },
		{ "import: PD and MR by the same process", by_the_same },
		{ "import: objects destroyed by the importer",
		  destroyed_by_importer },
		{ "import: invalid imports are refused", bad_imports },
	};

	run_tests(tests, ARRAY_SIZE(tests));
}
