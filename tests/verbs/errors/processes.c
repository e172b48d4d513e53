// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Objects of another process, and limits of an unprivileged process.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <rdma/ib_user_verbs.h>
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

/* A context of its own, and handles of the parent */

static struct ibv_pd *numbers[64];

static bool many_numbers(struct things *t)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		numbers[i] = ibv_alloc_pd(t->context);
		if (!CHECK(numbers[i]))
			return false;
	}
	return true;
}

static void no_numbers(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		CHECK_CALL(ibv_dealloc_pd(numbers[i]), 0);
}

/* A PD of the child's that has the number of one of the parent's. */
static struct ibv_pd *stolen(struct things *t)
{
	struct ibv_context *own = ibv_open_device(t->context->device);
	struct ibv_pd *pd = own ? ibv_alloc_pd(own) : NULL;

	if (!pd)
		_exit(255);
	pd->handle = numbers[ARRAY_SIZE(numbers) - 1]->handle;
	return pd;
}

static int dealloc_stolen(struct things *t)
{
	return ibv_dealloc_pd(stolen(t));
}

static int reg_stolen(struct things *t)
{
	return NONE(ibv_reg_mr(stolen(t), t->buf, 4096, 0));
}

static int create_ah_stolen(struct things *t)
{
	return NONE(address_of(stolen(t), &hosts[0], &hosts[1]));
}

static int import_stolen(struct things *t)
{
	struct ibv_pd *pd = stolen(t);

	return NONE(ibv_import_pd(pd->context, pd->handle));
}

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

static void other_contexts(struct things *t)
{
	if (!many_numbers(t))
		return;
	REFUSED("ibv_dealloc_pd", "of another process", ENOENT,
		in_child(t, dealloc_stolen));
	REFUSED("ibv_reg_mr", "a PD of another process", ENOENT,
		in_child(t, reg_stolen));
	REFUSED("ibv_create_ah", "a PD of another process", ENOENT,
		in_child(t, create_ah_stolen));
	REFUSED("ibv_import_pd", "of another process, without its file descriptor", ENOENT,
		in_child(t, import_stolen));
	REFUSED("ibv_post_send", "the lkey of another process",
		IBV_WC_LOC_PROT_ERR, in_child(t, key_stolen));
	REFUSED("mmap()", "the rings of another process", EINVAL,
		in_child(t, map_of_parent));
	no_numbers();
}

/* The same context, which a child inherits */

static int child_registers(struct things *t)
{
	struct ibv_mr *mr = ibv_reg_mr(t->pd, t->buf, 4096, ALL_ACCESS);

	return mr ? ibv_dereg_mr(mr) : errno;
}

static int child_destroys(struct things *t)
{
	return ibv_dealloc_pd(t->pd);
}

static int alloc_pd_by_write(struct things *t)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		uint64_t response;
	} __attribute__((packed)) raw = {
		{ IB_USER_VERBS_CMD_ALLOC_PD, 4, 1 }, (uintptr_t)t->buf,
	};

	errno = 0;
	return write(t->context->cmd_fd, &raw, sizeof(raw)) < 0 ? errno : 0;
}

static void be_nobody(void)
{
	if (setgid(NOBODY) || setuid(NOBODY))
		_exit(255);
}

static int nobody_writes(struct things *t)
{
	be_nobody();
	return alloc_pd_by_write(t);
}

static void inherited(struct things *t)
{
	REFUSED("ibv_reg_mr", "by a child process, its own memory", 0,
		in_child(t, child_registers));
	REFUSED("ibv_dealloc_pd", "by a child process, a QP is in it", EBUSY,
		in_child(t, child_destroys));
	REFUSED("write()", "by a child with other credentials", EACCES,
		in_child(t, nobody_writes));
}

/* Without privileges */

static struct ibv_context *open_as_nobody(struct things *t)
{
	const struct rlimit limit = { 65536, 65536 };
	struct ibv_context *own;

	if (setrlimit(RLIMIT_MEMLOCK, &limit))
		_exit(255);
	be_nobody();
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

static int nobody_qkey(struct things *t)
{
	const struct options ud = { .type = IBV_QPT_UD };
	struct ibv_qp_attr attr;
	struct side side = {};
	int mask;

	side.host = &hosts[0];
	hosts[0].context = open_as_nobody(t);
	side.pd = ibv_alloc_pd(hosts[0].context);
	side.scq = ibv_create_cq(hosts[0].context, 4, NULL, NULL, 0);
	side.rcq = side.scq;
	if (!side_qp(&side, &ud))
		_exit(255);
	init_attr(&attr, &mask, IBV_QPT_UD, &ud);
	attr.qkey = 0x80010000;
	return ibv_modify_qp(side.qp, &attr, mask);
}

static int nobody_raw(struct things *t)
{
	struct ibv_context *own = open_as_nobody(t);
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RAW_PACKET, .cap = { 1, 1, 1, 1, 0 },
	};

	attr.send_cq = ibv_create_cq(own, 4, NULL, NULL, 0);
	attr.recv_cq = attr.send_cq;
	return NONE(ibv_create_qp(ibv_alloc_pd(own), &attr));
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
	REFUSED("ibv_modify_qp, unprivileged", "a controlled Q_Key", EPERM,
		in_child(t, nobody_qkey));
	REFUSED("ibv_create_qp, unprivileged", "type raw packet", EOPNOTSUPP,
		in_child(t, nobody_raw));
}

GROUP(processes)
{
	struct things t;

	if (!things_up(&t))
		return;
	other_contexts(&t);
	inherited(&t);
	unprivileged(&t);
	things_down(&t);
}
