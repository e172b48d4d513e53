// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A user takes as much of a device's shared resources as possible, which is half.
 * Other users find the rest, and an administrator may take everything.
 *
 * usage: shares memory|group|memberships|ahs ...
 *
 * Half a million address handles take minutes.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "qp_pair.h"

#define MIB		(1ul << 20)
#define ONE_USER	65534
#define ANOTHER_USER	65533

/* A resource, and functions that take it.  They run in other processes. */
struct resource {
	const char *option;
	const char *name;
	/* Takes until @most, or until there is no more; returns how much. */
	unsigned long (*take)(struct host *host, unsigned long most);
	/* How much the device has. */
	unsigned long (*total)(const struct ibv_device_attr_ex *attr);
};

static unsigned long take_memory(struct host *host, unsigned long most)
{
	struct ibv_alloc_dm_attr attr = { .length = MIB };
	unsigned long n = 0;

	while (n < most && ibv_alloc_dm(host->context, &attr))
		n++;
	return n;
}

static unsigned long total_memory(const struct ibv_device_attr_ex *attr)
{
	return attr->max_dm_size / MIB;
}

static struct ibv_qp *ud_qp(struct ibv_context *context)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_UD, .cap = {
			.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};
	struct ibv_pd *pd = ibv_alloc_pd(context);

	attr.send_cq = ibv_create_cq(context, 1, NULL, NULL, 0);
	attr.recv_cq = attr.send_cq;
	return pd && attr.send_cq ? ibv_create_qp(pd, &attr) : NULL;
}

/* 239.7.x.y */
static union ibv_gid group(unsigned long number)
{
	return (union ibv_gid) { .raw = {
		[10] = 0xff, 0xff, 239, 7, number >> 8, number,
	} };
}

/* An open device may be in fewer groups than a user. */
static unsigned long take_memberships(struct host *host, unsigned long most)
{
	unsigned long n = 0, before;
	union ibv_gid gid;
	struct ibv_qp *qp;

	do {
		before = n;
		qp = host_open(host, host->name, host->gid_index) ?
		     ud_qp(host->context) : NULL;
		for (; qp && n < most; n++) {
			gid = group(n);
			if (ibv_attach_mcast(qp, &gid, 0))
				break;
		}
	} while (n > before && n < most);
	return n;
}

static unsigned long total_memberships(const struct ibv_device_attr_ex *attr)
{
	return attr->orig_attr.max_total_mcast_qp_attach;
}

static unsigned long take_one_group(struct host *host, unsigned long most)
{
	union ibv_gid gid = group(0);
	unsigned long n = 0;
	struct ibv_qp *qp;

	for (; n < most; n++) {
		qp = ud_qp(host->context);
		if (!qp || ibv_attach_mcast(qp, &gid, 0))
			break;
	}
	return n;
}

static unsigned long total_of_a_group(const struct ibv_device_attr_ex *attr)
{
	return attr->orig_attr.max_mcast_qp_attach;
}

static unsigned long take_ahs(struct host *host, unsigned long most)
{
	struct ibv_ah_attr attr = {
		.is_global = 1, .port_num = 1, .grh.dgid = group(0),
		.grh.sgid_index = host->gid_index,
	};
	struct ibv_pd *pd = ibv_alloc_pd(host->context);
	unsigned long n = 0;

	while (pd && n < most && ibv_create_ah(pd, &attr))
		n++;
	return n;
}

static unsigned long total_ahs(const struct ibv_device_attr_ex *attr)
{
	return attr->orig_attr.max_ah;
}

/* Another process, which takes as much as it can until it is killed. */
struct taker {
	pid_t pid;
	unsigned long n;
};

static void take_and_wait(const struct resource *r, uid_t uid,
			  unsigned long most, int fd)
{
	struct host host;
	unsigned long n;

	if (uid && setuid(uid))
		_exit(1);
	if (!host_open(&host, hosts[0].name, hosts[0].gid_index))
		_exit(1);
	n = r->take(&host, most);
	if (write(fd, &n, sizeof(n)) != sizeof(n))
		_exit(1);
	for (;;)
		pause();
}

static struct taker start(const struct resource *r, uid_t uid,
			  unsigned long most)
{
	struct taker taker = { .n = -1 };
	int ends[2];

	if (!CHECK_CALL(pipe(ends), 0))
		return taker;
	taker.pid = fork();
	if (!taker.pid)
		take_and_wait(r, uid, most, ends[1]);
	close(ends[1]);
	CHECK(read(ends[0], &taker.n, sizeof(taker.n)) == sizeof(taker.n));
	close(ends[0]);
	return taker;
}

static void finish(struct taker taker)
{
	if (taker.pid > 0) {
		kill(taker.pid, SIGKILL);
		CHECK(waitpid(taker.pid, NULL, 0) == taker.pid);
	}
}

static void share(const void *arg)
{
	struct taker greedy, same_user, other, administrator;
	const struct resource *r = arg;
	struct ibv_device_attr_ex attr;
	unsigned long total;

	REQUIRE(!ibv_query_device_ex(hosts[0].context, NULL, &attr));
	total = r->total(&attr);
	greedy = start(r, ONE_USER, -1);
	CHECK_CALL(greedy.n, total / 2);
	same_user = start(r, ONE_USER, 1);
	CHECK_CALL(same_user.n, 0);
	other = start(r, ANOTHER_USER, 1);
	CHECK_CALL(other.n, 1);
	finish(other);
	finish(same_user);
	/* The shares of a killed process are available again. */
	finish(greedy);
	greedy = start(r, ONE_USER, -1);
	CHECK_CALL(greedy.n, total / 2);
	finish(greedy);
	administrator = start(r, 0, total / 2 + 1);
	CHECK_CALL(administrator.n, total / 2 + 1);
	finish(administrator);
}

COMMAND(shares)
{
	static const struct resource resources[] = {
		{ "memory", "device memory", take_memory, total_memory },
		{ "group", "QPs in one group", take_one_group,
		  total_of_a_group },
		{ "memberships", "memberships of groups", take_memberships,
		  total_memberships },
		{ "ahs", "address handles", take_ahs, total_ahs },
	};
	size_t i;

	fabric_open();
	for (; argc > 1; argc--, argv++)
		for (i = 0; i < ARRAY_SIZE(resources); i++)
			if (!strcmp(argv[1], resources[i].option))
				run_test(share, &resources[i],
					 "a user's share of %s",
					 resources[i].name);
	return tests_done();
}
