// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Whose memory it is: what a process makes the kernel allocate is charged to
 * its memory cgroup, and the group's limit is an errno.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "move.h"
#include "resources.h"

#define ROOT	"/sys/fs/cgroup"
#define GROUP	ROOT "/charge"
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
	FILE *file = fopen(GROUP "/memory.events", "r");
	char name[32];
	long number, found = -1;

	while (file && fscanf(file, "%31s %ld", name, &number) == 2)
		if (!strcmp(name, "oom_kill"))
			found = number;
	if (file)
		fclose(file);
	return found;
}

static bool enter_group(void)
{
	write_text(ROOT "/cgroup.subtree_control", "+memory");
	return (!mkdir(GROUP, 0755) || errno == EEXIST) &&
	       write_text(GROUP "/cgroup.procs", "0") &&
	       read_number(GROUP "/memory.current") >= 0;
}

static void leave_group(void)
{
	write_text(ROOT "/cgroup.procs", "0");
	rmdir(GROUP);
}

/* The group's figure is up to date but for what each processor has at hand. */
static void charged(const void *arg)
{
	long before = read_number(GROUP "/memory.current"), with;
	struct ibv_cq *cq;

	(void)arg;
	cq = ibv_create_cq(hosts[0].context, SMALL, NULL, NULL, 0);
	REQUIRE(cq);
	with = read_number(GROUP "/memory.current") - before;
	if (!CHECK(with >= 7 * MIB))
		diag("%ld bytes", with);
	CHECK_CALL(ibv_destroy_cq(cq), 0);
	CHECK(read_number(GROUP "/memory.current") - before < 3 * MIB);
}

static void limited(const void *arg)
{
	struct ibv_cq *cq;
	char limit[24];

	(void)arg;
	snprintf(limit, sizeof(limit), "%ld",
		 read_number(GROUP "/memory.current") + LIMIT);
	REQUIRE(write_text(GROUP "/memory.max", limit));
	errno = 0;
	cq = ibv_create_cq(hosts[0].context, LARGE, NULL, NULL, 0);
	CHECK(!cq);
	CHECK_CALL(errno, ENOMEM);
	cq = ibv_create_cq(hosts[0].context, SMALL, NULL, NULL, 0);
	if (CHECK(cq))
		CHECK_CALL(ibv_destroy_cq(cq), 0);
	CHECK_CALL(killed(), 0);
	write_text(GROUP "/memory.max", "max");
}

static void no_group(const void *arg)
{
	(void)arg;
	skip("no memory cgroups");
}

void test_charge(void)
{
	static const struct test tests[] = {
		{ "a queue is charged to the memory cgroup", charged },
		{ "what the group does not allow is ENOMEM", limited },
	};

	if (enter_group())
		run_tests(tests, ARRAY_SIZE(tests));
	else
		run_test(no_group, NULL, "queues are charged");
	leave_group();
}
