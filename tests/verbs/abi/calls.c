// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * An unprivileged process that gives random commands to its device: commands of a
 * real program with changes, by ioctl() and by write(), from two threads, until it is
 * killed.  A connection of other processes continues.
 *
 *	SEED, ROUNDS
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "chance.h"
#include "transfer.h"
#include "record.h"

#define ARENA		(256u << 10)
#define NOBODY		65534

/* The child: creates one object of each type */

/* Results of a child, for its parent. */
struct tally {
	unsigned long calls;
	unsigned long successes;
};

static struct tally *tally;
static uint8_t *arena;

static void a_window(struct ibv_pd *pd, struct ibv_qp *qp)
{
	struct ibv_mw *mw = ibv_alloc_mw(pd, IBV_MW_TYPE_1);

	(void)qp;
	ibv_dealloc_mw(mw);
	ibv_alloc_mw(pd, IBV_MW_TYPE_2);
}

static void some_queries(struct pair *pair)
{
	struct ibv_context *context = pair->a.host->context;
	struct ibv_device_attr_ex ex;
	struct ibv_gid_entry entry;
	struct ibv_srq_attr srq;
	uint16_t pkey;

	ibv_query_device_ex(context, NULL, &ex);
	ibv_query_gid_ex(context, 1, pair->a.host->gid_index, &entry, 0);
	ibv_query_pkey(context, 1, 0, &pkey);
	state_of(&pair->a);
	if (pair->a.srq) {
		ibv_query_srq(pair->a.srq, &srq);
		srq.srq_limit = 2;
		ibv_modify_srq(pair->a.srq, &srq, IBV_SRQ_LIMIT);
	}
}

static void some_memory(struct pair *pair)
{
	struct ibv_context *context = pair->a.host->context;
	struct ibv_alloc_dm_attr dm = { .length = 4096 };
	struct ibv_pd *pd = pair->a.pd;
	struct ibv_mr *mr;

	mr = ibv_reg_mr(pd, arena, ARENA / 2, ALL_ACCESS);
	ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 1);
	ibv_reg_mr(pd, arena, ARENA / 2, ALL_ACCESS | IBV_ACCESS_ON_DEMAND);
	ibv_alloc_dm(context, &dm);
	ibv_resize_cq(pair->a.scq, 300);
	address_of(pd, &hosts[0], &hosts[1]);
}

/* Creates one object of each type, most of which are kept. */
static void a_real_program(void)
{
	static const struct options types[] = {
		{ .type = IBV_QPT_RC, .size = 8192 },
		{ .type = IBV_QPT_UD, .srq = 20, .size = 8192 },
		{ .type = IBV_QPT_UC, .size = 8192 },
		{ .type = IBV_QPT_XRC_SEND, .size = 8192 },
	};
	static struct pair pairs[ARRAY_SIZE(types) + 1];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		pair_up(&pairs[i], &types[i]);
		some_queries(&pairs[i]);
	}
	a_window(pairs[0].a.pd, pairs[0].a.qp);
	some_memory(&pairs[0]);
	pair_up(&pairs[i], &types[0]);
	pair_down(&pairs[i]);
}

/* The child: its commands with something changed */

/* Memory with nothing behind it, for whatever the kernel writes. */
static void *lonely(void)
{
	uint8_t *start = mmap(NULL, ARENA + 4096, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (start == MAP_FAILED || mprotect(start + ARENA, 4096, PROT_NONE))
		_exit(6);
	return start;
}

static uint64_t harmless(struct chance *c)
{
	return (uintptr_t)arena + ARENA / 2 + draw_below(c, 60000);
}

/* An address where the kernel can write harmlessly, or cannot write. */
static uint64_t pointer(struct chance *c)
{
	const uint64_t bad[] = {
		0, 1, 0xffff888000000000, 0xffffffff81000000, -4096ull,
		0x7ffffffff000, (uintptr_t)arena + ARENA - 3,
	};

	return one_in(c, 4) ? PICK(c, bad) : harmless(c);
}

/*
 * Is it an address of this process that libibverbs has passed, of its stack or its
 * objects?  They lie below 2^47 on x86-64, and below 2^48 on arm64.
 */
static bool is_address(uint64_t value)
{
	return value >= 0x10000 && value < 1ull << 48;
}

static uint32_t number(struct chance *c, uint32_t was)
{
	const uint32_t numbers[] = {
		0, 1, was + 1, was - 1, was ^ 1u << draw_below(c, 32),
		draw_below(c, 40), 0x7fffffff, 0x80000000, ~0u, draw(c),
	};

	return PICK(c, numbers);
}

static void change_data(struct chance *c, uint8_t *data, uint32_t length)
{
	uint32_t at = draw_below(c, length) & ~3u, value;

	if (length < 4) {
		data[0] = draw(c);
		return;
	}
	if (at + 4 > length)
		at = length - 4;
	memcpy(&value, data + at, 4);
	value = number(c, value);
	memcpy(data + at, &value, 4);
}

static bool indirect(const struct ib_uverbs_attr *attr)
{
	return attr->len > 8 && attr->len <= MAX_DATA;
}

static void change_attr(struct chance *c, struct command *cmd, uint32_t i)
{
	struct ib_uverbs_attr *attr = &cmd->attrs[i];

	switch (draw_below(c, 9)) {
	case 0:
		attr->attr_id = draw_below(c, 20) | (one_in(c, 3) << 12);
		break;
	case 1:
		attr->len = number(c, attr->len);
		break;
	case 2:
		attr->flags ^= 1 << draw_below(c, 16);
		break;
	case 3:
		attr->attr_data.reserved = draw(c);
		break;
	case 4:
		attr->data = pointer(c);
		attr->len = attr->len > 8 ? attr->len : 16;
		break;
	default:
		if (indirect(attr))
			change_data(c, cmd->data[i], attr->len);
		else
			attr->data = number(c, attr->data);
		break;
	}
}

static void change_head(struct chance *c, struct command *cmd)
{
	struct ib_uverbs_ioctl_hdr *head = &cmd->head;

	switch (draw_below(c, 6)) {
	case 0:
		head->object_id = draw_below(c, 20) | (one_in(c, 6) << 12);
		break;
	case 1:
		head->method_id = draw_below(c, 12) | (one_in(c, 6) << 12);
		break;
	case 2:
		head->num_attrs = draw_below(c, MAX_ATTRS);
		head->length = sizeof(*head) +
			       head->num_attrs * sizeof(struct ib_uverbs_attr);
		break;
	case 3:
		head->driver_id = number(c, head->driver_id);
		break;
	case 4:
		head->reserved1 = draw(c);
		break;
	case 5:
		head->length = number(c, head->length);
		break;
	}
}

/*
 * The command as it will be sent, with pointers to its own data.  An attribute of up to
 * 8 bytes is a value, or room for a response.
 */
static void finish(struct chance *c, struct command *cmd)
{
	struct ib_uverbs_attr *attr;
	uint32_t i;

	for (i = 0; i < cmd->head.num_attrs; i++) {
		attr = &cmd->attrs[i];
		if (indirect(attr))
			attr->data = (uintptr_t)cmd->data[i];
		else if (is_address(attr->data))
			attr->data = harmless(c);
	}
	cmd->head.length = sizeof(cmd->head) +
			   cmd->head.num_attrs * sizeof(cmd->attrs[0]);
}

static void choose(struct chance *c, struct command *cmd)
{
	uint32_t n;

	*cmd = *record_at(draw_below(c, recorded()));
	finish(c, cmd);
	for (n = draw_below(c, 4); n; n--) {
		if (cmd->head.num_attrs && !one_in(c, 5))
			change_attr(c, cmd, draw_below(c, cmd->head.num_attrs));
		else
			change_head(c, cmd);
		if (cmd->head.num_attrs > MAX_ATTRS)
			cmd->head.num_attrs = MAX_ATTRS;
	}
}

/*
 * The RDMA core leaks a reference to the task when a file that has a context requests
 * another one (UVERBS_METHOD_GET_CONTEXT, without restrack_put).
 */
static bool leaks(const struct command *cmd)
{
	return cmd->head.object_id == UVERBS_OBJECT_DEVICE &&
	       cmd->head.method_id == UVERBS_METHOD_GET_CONTEXT;
}

static int by_ioctl(struct command *cmd)
{
	/* The attributes lie behind the header, as the kernel wants it. */
	return ioctl(cmd->fd, RDMA_VERBS_IOCTL, &cmd->head);
}

static const struct ib_uverbs_attr *attr_of(const struct command *cmd, int id,
					    uint32_t *i)
{
	for (*i = 0; *i < cmd->head.num_attrs; *i += 1)
		if (cmd->attrs[*i].attr_id == id)
			return &cmd->attrs[*i];
	return NULL;
}

/* A write() command that libibverbs has sent by ioctl(), sent by write() here. */
static int by_write(struct chance *c, const struct command *cmd)
{
	struct {
		struct ib_uverbs_cmd_hdr head;
		uint8_t data[MAX_DATA + 64];
	} old = {};
	const struct ib_uverbs_attr *what, *in;
	uint64_t response;
	uint32_t i;

	what = attr_of(cmd, UVERBS_ATTR_WRITE_CMD, &i);
	in = attr_of(cmd, UVERBS_ATTR_CORE_IN, &i);
	if (!what || !in || in->len > MAX_DATA)
		return -1;
	old.head.command = one_in(c, 20) ? draw_below(c, 64) : what->data;
	memcpy(old.data, indirect(in) ? cmd->data[i] :
		       (const void *)&in->data, in->len);
	memcpy(&response, old.data, sizeof(response));
	if (is_address(response) || !one_in(c, 6)) {
		response = pointer(c);
		memcpy(old.data, &response, sizeof(response));
	}
	old.head.in_words = (sizeof(old.head) + in->len) / 4;
	old.head.out_words = draw_below(c, 64);
	if (one_in(c, 10))
		old.head.in_words = draw(c);
	return write(cmd->fd, &old, sizeof(old.head) +
		     (one_in(c, 8) ? draw_below(c, MAX_DATA) : in->len));
}

static void *calls(void *arg)
{
	struct chance c = { (uintptr_t)arg };
	struct command *cmd = lonely();
	bool done;

	for (;;) {
		do
			choose(&c, cmd);
		while (leaks(cmd));
		done = one_in(&c, 4) ? by_write(&c, cmd) > 0 :
				       !by_ioctl(cmd);
		__atomic_add_fetch(&tally->calls, 1, __ATOMIC_RELAXED);
		if (done)
			__atomic_add_fetch(&tally->successes, 1,
					   __ATOMIC_RELAXED);
	}
	return NULL;
}

/* An unprivileged user, with a limit on descriptors. */
static bool become_nobody(void)
{
	const struct rlimit files = { 400, 400 };
	const struct rlimit locked = { 8 << 20, 8 << 20 };

	return !setrlimit(RLIMIT_NOFILE, &files) &&
	       !setrlimit(RLIMIT_MEMLOCK, &locked) &&
	       !setresgid(NOBODY, NOBODY, NOBODY) &&
	       !setresuid(NOBODY, NOBODY, NOBODY);
}

static int child(unsigned long number)
{
	pthread_t other;

	tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED,
		     STDIN_FILENO, 0);
	arena = lonely();
	if (tally == MAP_FAILED || !become_nobody())
		return 3;
	alarm(400);
	record(true);
	fabric_open();
	a_real_program();
	record(false);
	if (recorded() < 60)
		return 4;
	pthread_create(&other, NULL, calls, (void *)(number * 2 + 1));
	calls((void *)(number * 2));
	return 0;
}

/* The parent */

static uint64_t seed;
static struct pair victim;

static pid_t start(int shared, unsigned long number)
{
	char text[32];
	pid_t pid = fork();

	if (pid)
		return pid;
	snprintf(text, sizeof(text), "%lu", number);
	dup2(shared, STDIN_FILENO);
	execl("/proc/self/exe", "calls", text, NULL);
	_exit(5);
}

/* It ends by itself only if it could not start, or has damaged itself. */
static bool killed(int status)
{
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
		return true;
	diag("child ended with status %#x", status);
	return false;
}

static bool one_round(int shared, unsigned long number, struct chance *c)
{
	unsigned long want = tally->calls + 200 + draw_below(c, 3000);
	uint64_t end = now_ms() + PATIENCE_MS;
	pid_t pid = start(shared, number);
	bool good = true, ended = false;
	int status;

	while (!ended && tally->calls < want && now_ms() < end) {
		ended = waitpid(pid, &status, WNOHANG) == pid;
		good &= CHECK(works(&victim));
		usleep(1000);
	}
	if (!ended) {
		kill(pid, SIGKILL);
		good &= CHECK(waitpid(pid, &status, 0) == pid);
	}
	return good && CHECK(killed(status)) && CHECK(works(&victim));
}

static void rounds(const void *arg)
{
	unsigned long n = *(const unsigned long *)arg, i;
	int shared = memfd_create("tally", MFD_CLOEXEC);
	struct chance c = { seed };

	REQUIRE(shared >= 0 && !ftruncate(shared, 4096));
	tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED,
		     shared, 0);
	REQUIRE(tally != MAP_FAILED);
	for (i = 0; i < n; i++)
		if (!one_round(shared, seed * 1000 + i, &c)) {
			diag("round %lu of seed %llu", i,
			     (unsigned long long)seed);
			break;
		}
	diag("%lu commands, %lu of them good, %lu processes killed",
	     tally->calls, tally->successes, i);
	CHECK(tally->successes > tally->calls / 100);
	close(shared);
}

COMMAND(calls)
{
	const char *text = getenv("SEED"), *number = getenv("ROUNDS");
	unsigned long n = number ? strtoul(number, NULL, 0) : 10;

	if (argc > 1)
		return child(strtoul(argv[1], NULL, 0));
	seed = text ? strtoull(text, NULL, 0) : (uint64_t)time(NULL);
	diag("seed %llu", (unsigned long long)seed);
	fabric_open();
	if (!pair_up(&victim, NULL)) {
		printf("Bail out! no connection\n");
		return 1;
	}
	run_test(rounds, &n, "random commands from %lu processes", n);
	pair_down(&victim);
	return tests_done();
}
