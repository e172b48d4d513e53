// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Accounting: memory that the kernel allocates for a process is charged to its memory
 * cgroup, and objects are charged to its rdma cgroup.  At the limit of the group a
 * call fails with an errno.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "transfer.h"
#include "resources.h"

#define ROOT	"/sys/fs/cgroup"
#define CGROUP	ROOT "/charge"
#define MIB	(1l << 20)
#define LIMIT	(24 * MIB)
/* CQEs of 64 bytes */
#define SMALL	((int)(8 * MIB / 64))
#define LARGE	((int)(64 * MIB / 64))

static bool write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	bool good = fd >= 0 && write(fd, text, strlen(text)) >= 0;

	if (fd >= 0)
		close(fd);
	return good;
}

static long read_number(const char *path)
{
	FILE *file = fopen(path, "r");
	long number = -1;

	if (file) {
		if (fscanf(file, "%ld", &number) != 1)
			number = -1;
		fclose(file);
	}
	return number;
}

static long killed(void)
{
	FILE *file = fopen(CGROUP "/memory.events", "r");
	char name[32];
	long number, found = -1;

	while (file && fscanf(file, "%31s %ld", name, &number) == 2)
		if (!strcmp(name, "oom_kill"))
			found = number;
	if (file)
		fclose(file);
	return found;
}

static bool enter_group(const char *controller, const char *file)
{
	write_text(ROOT "/cgroup.subtree_control", controller);
	return (!mkdir(CGROUP, 0755) || errno == EEXIST) &&
	       write_text(CGROUP "/cgroup.procs", "0") && !access(file, R_OK);
}

static void leave_group(void)
{
	write_text(ROOT "/cgroup.procs", "0");
	rmdir(CGROUP);
}

/* The group's figure does not include the stock of each processor. */
static void charged(const void *arg)
{
	long before = read_number(CGROUP "/memory.current"), with;
	struct ibv_cq *cq;

	(void)arg;
	cq = ibv_create_cq(hosts[0].context, SMALL, NULL, NULL, 0);
	REQUIRE(cq);
	with = read_number(CGROUP "/memory.current") - before;
	if (!CHECK(with >= 7 * MIB))
		diag("%ld bytes", with);
	CHECK_CALL(ibv_destroy_cq(cq), 0);
	CHECK(read_number(CGROUP "/memory.current") - before < 3 * MIB);
}

static void limited(const void *arg)
{
	struct ibv_cq *cq;
	char limit[24];

	(void)arg;
	snprintf(limit, sizeof(limit), "%ld",
		 read_number(CGROUP "/memory.current") + LIMIT);
	REQUIRE(write_text(CGROUP "/memory.max", limit));
	errno = 0;
	cq = ibv_create_cq(hosts[0].context, LARGE, NULL, NULL, 0);
	CHECK(!cq);
	CHECK_CALL(errno, ENOMEM);
	cq = ibv_create_cq(hosts[0].context, SMALL, NULL, NULL, 0);
	if (CHECK(cq))
		CHECK_CALL(ibv_destroy_cq(cq), 0);
	CHECK_CALL(killed(), 0);
	write_text(CGROUP "/memory.max", "max");
}

/* The first post allocates copies of all WQEs. */
static void first_post(const void *arg)
{
	const struct options options = { .wr = 16384, .sge = 32 };
	struct pair pair;
	char limit[24];

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	snprintf(limit, sizeof(limit), "%ld",
		 read_number(CGROUP "/memory.current") + MIB);
	REQUIRE(write_text(CGROUP "/memory.max", limit));
	CHECK_CALL(post_rdma(&pair.a, &pair.b, IBV_WR_RDMA_WRITE, 1, 0, 0, 8, 0), 0);
	CHECK(wait_event(&pair.a, IBV_EVENT_QP_FATAL));
	CHECK_CALL(killed(), 0);
	write_text(CGROUP "/memory.max", "max");
	pair_down(&pair);
}

/* Objects of the first device: usage or limit of the group. */

static bool may_have(const char *what, int n)
{
	char text[100];

	snprintf(text, sizeof(text), "%s %s=%d",
		 ibv_get_device_name(hosts[0].context->device), what, n);
	return write_text(CGROUP "/rdma.max", text);
}

/* Another device's objects are counted by themselves. */
static void other_device(void)
{
	struct ibv_cq *cq;

	if (hosts[0].context->device == hosts[1].context->device)
		return;
	cq = ibv_create_cq(hosts[1].context, 1, NULL, NULL, 0);
	if (CHECK(cq))
		CHECK_CALL(ibv_destroy_cq(cq), 0);
}

static bool may_have_all(void)
{
	char text[100];

	snprintf(text, sizeof(text), "%s hca_handle=max hca_object=max",
		 ibv_get_device_name(hosts[0].context->device));
	return write_text(CGROUP "/rdma.max", text);
}

static int has(const char *what)
{
	const char *device = ibv_get_device_name(hosts[0].context->device);
	FILE *file = fopen(CGROUP "/rdma.current", "r");
	char line[200], *at;
	int found = 0;

	while (file && fgets(line, sizeof(line), file)) {
		at = strstr(line, what);
		if (!strncmp(line, device, strlen(device)) && at)
			found = atoi(at + strlen(what) + 1);
	}
	if (file)
		fclose(file);
	return found;
}

#define OBJECTS	4

/* The last one of @pds is one too many. */
static void allocate(struct ibv_pd **pds)
{
	int i;

	for (i = 0; i <= OBJECTS; i++) {
		errno = 0;
		pds[i] = ibv_alloc_pd(hosts[0].context);
		if (i < OBJECTS)
			CHECK(pds[i]);
	}
	CHECK(!pds[OBJECTS]);
	CHECK_CALL(errno, EAGAIN);
}

static void few_objects(const void *arg)
{
	struct ibv_pd *pds[OBJECTS + 1];
	struct ibv_cq *cq;
	int i;

	(void)arg;
	REQUIRE(may_have("hca_object", OBJECTS));
	allocate(pds);
	CHECK_CALL(has("hca_object"), OBJECTS);
	errno = 0;
	CHECK(!ibv_create_cq(hosts[0].context, 1, NULL, NULL, 0));
	CHECK_CALL(errno, EAGAIN);
	other_device();
	CHECK_CALL(ibv_dealloc_pd(pds[0]), 0);
	cq = ibv_create_cq(hosts[0].context, 1, NULL, NULL, 0);
	if (CHECK(cq))
		CHECK_CALL(ibv_destroy_cq(cq), 0);
	for (i = 1; i < OBJECTS; i++)
		CHECK_CALL(ibv_dealloc_pd(pds[i]), 0);
	CHECK_CALL(has("hca_object"), 0);
	CHECK(may_have_all());
}

static void few_handles(const void *arg)
{
	struct ibv_context *context, *another;

	(void)arg;
	REQUIRE(may_have("hca_handle", 1));
	context = ibv_open_device(hosts[0].context->device);
	REQUIRE(CHECK(context));
	CHECK_CALL(has("hca_handle"), 1);
	errno = 0;
	another = ibv_open_device(hosts[0].context->device);
	CHECK(!another);
	CHECK_CALL(errno, EAGAIN);
	CHECK_CALL(ibv_close_device(context), 0);
	CHECK_CALL(has("hca_handle"), 0);
	CHECK(may_have_all());
}

static void no_group(const void *arg)
{
	skip(arg);
}

GROUP(memcg)
{
	static const struct test memory[] = {
		{ "queues are charged to the memory cgroup", charged },
		{ "queues above the limit of the memory cgroup fail with ENOMEM",
		  limited },
		{ "the first post above the limit fails the QP", first_post },
	};
	static const struct test objects[] = {
		{ "objects are counted by the rdma cgroup", few_objects },
		{ "open devices are counted by the rdma cgroup", few_handles },
	};

	if (enter_group("+memory", CGROUP "/memory.current"))
		run_tests(memory, ARRAY_SIZE(memory));
	else
		run_test(no_group, "no memory cgroups", "queues are charged");
	leave_group();
	if (enter_group("+rdma", CGROUP "/rdma.max"))
		run_tests(objects, ARRAY_SIZE(objects));
	else
		run_test(no_group, "no rdma cgroups", "objects are charged");
	leave_group();
}
