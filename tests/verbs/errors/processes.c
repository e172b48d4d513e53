// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Objects of another process, and limits of an unprivileged process.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "misuse.h"

#define NOBODY	65534

/* The result of @call in a child process. */
static int in_child(struct things *t, int (*call)(struct things *t))
{
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child)
		_exit(call(t));
	if (!CHECK(child > 0 && waitpid(child, &status, 0) == child &&
		   WIFEXITED(status)))
		return -1;
	return WEXITSTATUS(status);
}

/* A context of its own, and what the parent has */

/* The lkey of a parent's region fails in a child's QP like an unknown key. */
static int key_stolen(struct things *t)
{
	uint32_t key = t->mr->lkey;
	struct ibv_sge sge = { (uintptr_t)t->buf, 8, key };
	struct pair pair;
	struct ibv_send_wr wr;
	struct ibv_wc wc;

	fabric_open();
	if (!pair_up(&pair, NULL))
		_exit(255);
	wr = rdma_wr(&pair.b, IBV_WR_RDMA_WRITE, 1, &sge, 1, 0);
	if (post_one(&pair.a, &wr) || !next_wc(pair.a.scq, &wc))
		_exit(255);
	return wc.status;
}

static int map_of_parent(struct things *t)
{
	struct ibv_context *own = ibv_open_device(t->context->device);
	FILE *file = fopen("/proc/self/maps", "r");
	unsigned long from, to, offset;
	char line[512];

	while (own && file && fgets(line, sizeof(line), file))
		if (strstr(line, "uverbs") &&
		    sscanf(line, "%lx-%lx %*s %lx", &from, &to, &offset) == 3)
			return mmap(NULL, to - from, PROT_READ, MAP_SHARED,
				    own->cmd_fd, offset) == MAP_FAILED ?
			       errno : 0;
	return 255;
}

static int child_registers(struct things *t)
{
	struct ibv_mr *mr = ibv_reg_mr(t->pd, t->buf, 4096, ALL_ACCESS);

	return mr ? ibv_dereg_mr(mr) : errno;
}

/* Without privileges */

static struct ibv_context *open_as_nobody(struct things *t)
{
	const struct rlimit limit = { 65536, 65536 };
	struct ibv_context *own;

	if (setrlimit(RLIMIT_MEMLOCK, &limit) || setgid(NOBODY) || setuid(NOBODY))
		_exit(255);
	own = ibv_open_device(t->context->device);
	if (!own)
		_exit(254);
	return own;
}

static int nobody_registers(struct things *t, size_t size, int access)
{
	struct ibv_pd *pd = ibv_alloc_pd(open_as_nobody(t));
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return NONE(ibv_reg_mr(pd, at, size, access));
}

static int nobody_registers_much(struct things *t)
{
	return nobody_registers(t, 1 << 20, 0);
}

static int nobody_registers_little(struct things *t)
{
	return nobody_registers(t, 4096, 0);
}

static int nobody_registers_on_demand(struct things *t)
{
	return nobody_registers(t, 1 << 20, IBV_ACCESS_ON_DEMAND);
}

/* From the largest region that is possible, and the memory that is locked already. */
static int nobody_rereg(struct things *t)
{
	struct ibv_pd *pd = ibv_alloc_pd(open_as_nobody(t));
	void *at = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_mr *mr = ibv_reg_mr(pd, at, 4096, 0);

	if (!mr)
		_exit(255);
	errno = 0;
	return ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, at,
			    1 << 20, 0) ? errno : 0;
}

static void unprivileged(struct things *t)
{
	const char *verb = "ibv_reg_mr, unprivileged";

	REFUSED(verb, "within RLIMIT_MEMLOCK", 0,
		in_child(t, nobody_registers_little));
	REFUSED(verb, "above RLIMIT_MEMLOCK", ENOMEM,
		in_child(t, nobody_registers_much));
	REFUSED(verb, "above RLIMIT_MEMLOCK, on demand", 0,
		in_child(t, nobody_registers_on_demand));
	REFUSED("ibv_rereg_mr, unprivileged", "above RLIMIT_MEMLOCK", ENOMEM,
		in_child(t, nobody_rereg));
}

GROUP(processes)
{
	struct things t;

	if (!things_up(&t))
		return;
	REFUSED("ibv_post_send", "the lkey of another process",
		IBV_WC_LOC_PROT_ERR, in_child(&t, key_stolen));
	REFUSED("mmap()", "the rings of another process", EINVAL,
		in_child(&t, map_of_parent));
	REFUSED("ibv_reg_mr", "by a child process, its own memory", 0,
		in_child(&t, child_registers));
	unprivileged(&t);
	things_down(&t);
}
