// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Unprivileged processes that write random values to all memory that the driver has
 * mapped for them, unmap parts of it and map it again, while they post and poll with
 * QPs of every type.  They are killed meanwhile.
 *
 *	SEED, ROUNDS (processes)
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "chance.h"
#include "rings.h"

#define NOBODY		65534
#define MAX_MAPS	64
/* Requests per byte to the parent */
#define BATCH		64

static struct mapping maps[MAX_MAPS];
static int owners[MAX_MAPS];
static int num_maps;

/* The child */

static void find_maps(const struct host *host)
{
	const struct ibv_device *device = host->context->device;
	FILE *file = fopen("/proc/self/maps", "r");
	unsigned long from, to, offset;
	char line[512], name[80];

	snprintf(name, sizeof(name), "/%s\n", device->dev_name);
	while (file && fgets(line, sizeof(line), file))
		if (strstr(line, name) && num_maps < MAX_MAPS &&
		    sscanf(line, "%lx-%lx rw-s %lx", &from, &to, &offset) == 3) {
			owners[num_maps] = host->context->cmd_fd;
			maps[num_maps++] = (struct mapping) {
				(uint8_t *)from, to - from, offset };
		}
	if (file)
		fclose(file);
}

/* The old value or any other one, so that the other threads can continue. */
static bool map_again(int i)
{
	const int prot = PROT_READ | PROT_WRITE;

	return mmap(maps[i].addr, maps[i].size, prot, MAP_SHARED | MAP_FIXED,
		    owners[i], maps[i].offset) != MAP_FAILED ||
	       mmap(maps[i].addr, maps[i].size, prot, MAP_PRIVATE | MAP_FIXED |
		    MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
}

/* A thread has accessed memory that the unmapping thread has removed. */
static void mend(int sig, siginfo_t *info, void *context)
{
	uint8_t *at = info->si_addr;
	int i;

	(void)context;
	for (i = 0; i < num_maps; i++)
		if (at >= maps[i].addr && at < maps[i].addr + maps[i].size &&
		    map_again(i))
			return;
	/* Our own random values have misled us. */
	signal(sig, SIG_DFL);
}

static void mend_faults(void)
{
	const struct sigaction action = {
		.sa_sigaction = mend, .sa_flags = SA_SIGINFO,
	};

	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
}

/* The old value with something changed, rather than any value. */
static uint32_t spoilt(struct chance *c, const struct mapping *map,
		       const uint32_t *word)
{
	const uint32_t *other = (const uint32_t *)map->addr +
				draw_below(c, map->size / 4);

	switch (draw_below(c, 7)) {
	case 0:
		return *word + 1;
	case 1:
		return *word - 1;
	case 2:
		return *word ^ 1u << draw_below(c, 32);
	case 3:
		return *other;
	case 4:
		return draw_below(c, 40);
	case 5:
		return one_in(c, 2) ? 0x80000000 : ~0u;
	default:
		return draw(c);
	}
}

/* The first entries of a ring are used more than the last ones. */
static void scribble_one(struct chance *c)
{
	const struct mapping *map = &maps[draw_below(c, num_maps)];
	uint32_t words = map->size / 4, *word;

	if (one_in(c, 2) && words > 400)
		words = 400;
	word = (uint32_t *)map->addr + draw_below(c, words);
	*word = spoilt(c, map, word);
}

static void *scribbling(void *arg)
{
	struct chance c = { (uintptr_t)arg };
	uint32_t n;

	/* With pauses, so that requests are executed between errors. */
	for (;;) {
		for (n = draw_below(&c, 20); n; n--)
			scribble_one(&c);
		usleep(draw_below(&c, 300));
	}
	return NULL;
}

static void *unmapping(void *arg)
{
	struct chance c = { (uintptr_t)arg + 1 };
	const struct mapping *map;
	void *to;
	int i;

	for (;;) {
		usleep(draw_below(&c, 10000));
		i = draw_below(&c, num_maps);
		map = &maps[i];
		to = map->addr + draw_below(&c, map->size / 4096) * 4096;
		switch (draw_below(&c, 5)) {
		case 0:
			mprotect(to, 4096, one_in(&c, 2) ? PROT_READ :
						PROT_READ | PROT_WRITE);
			break;
		case 1:
			mremap(map->addr, map->size, map->size + 4096,
			       MREMAP_MAYMOVE);
			break;
		case 2:
			madvise(to, 4096, one_in(&c, 2) ? MADV_DONTNEED :
							  MADV_REMOVE);
			break;
		case 3:
			map_again(i);
			break;
		case 4:
			munmap(to, 4096);
			break;
		}
	}
	return NULL;
}

static const struct options kinds[] = {
	{ .type = IBV_QPT_RC }, { .type = IBV_QPT_RC, .srq = 20 },
	{ .type = IBV_QPT_UC }, { .type = IBV_QPT_UD },
	{ .type = IBV_QPT_UD, .srq = 20 }, { .type = IBV_QPT_XRC_SEND },
};

static void send_one(struct pair *pair, struct chance *c)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
	};
	struct ibv_sge sge = piece(&pair->a, 0, draw_below(c, 9000));
	struct ibv_send_wr wr = rdma_wr(&pair->b, PICK(c, opcodes), 2, &sge, 1,
					0);

	wr.send_flags = draw_below(c, 8) & ~IBV_SEND_INLINE;
	if (pair->options.type == IBV_QPT_UD) {
		wr.opcode = IBV_WR_SEND;
		sge.length %= 900;
		wr.wr.ud.ah = pair->a.ah;
		wr.wr.ud.remote_qpn = pair->b.qp->qp_num;
		wr.wr.ud.remote_qkey = QKEY;
	}
	post_one(&pair->a, &wr);
}

static void use_both(struct pair *pair, struct chance *c)
{
	struct ibv_wc wc[16];

	post_recv(&pair->b, 1, 0, 9000);
	send_one(pair, c);
	ibv_poll_cq(pair->a.scq, 16, wc);
	ibv_poll_cq(pair->b.rcq, 16, wc);
	ibv_req_notify_cq(pair->b.rcq, one_in(c, 2));
	if (one_in(c, 8))
		pair_again(pair);
}

static int scribble(unsigned long seed)
{
	static struct pair pairs[ARRAY_SIZE(kinds)];
	struct chance c = { seed };
	pthread_t threads[2];
	size_t i;

	if (!freopen("/dev/null", "w", stdout) ||
	    setresgid(NOBODY, NOBODY, NOBODY) ||
	    setresuid(NOBODY, NOBODY, NOBODY))
		return 3;
	alarm(400);
	fabric_open();
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!pair_up(&pairs[i], &kinds[i]))
			return 4;
	find_maps(&hosts[0]);
	find_maps(&hosts[1]);
	if (num_maps < 12)
		return 5;
	mend_faults();
	pthread_create(&threads[0], NULL, scribbling, (void *)seed);
	pthread_create(&threads[1], NULL, unmapping, (void *)seed);
	for (i = 0;; i++) {
		if (i % BATCH == 0 && write(STDIN_FILENO, "", 1) != 1)
			return 6;
		use_both(&pairs[draw_below(&c, ARRAY_SIZE(kinds))], &c);
		forget_events(hosts[0].context);
		forget_events(hosts[1].context);
	}
}

COMMAND(scribbler)
{
	return argc > 1 ? scribble(strtoul(argv[1], NULL, 0)) : 2;
}

/* The parent */

/* Results of the children. */
static unsigned long batches, astray;

static bool scribbles(int shown, uint64_t end)
{
	char bytes[4096];
	ssize_t n;

	do {
		if (!victim_works())
			return false;
		n = read(shown, bytes, sizeof(bytes));
		batches += n > 0 ? n : 0;
		usleep(30000);
	} while (n && now_ms() < end);
	return true;
}

static bool one_process(unsigned long number, struct chance *c)
{
	int shown[2], status;
	char text[32], byte;
	bool good;
	pid_t pid;

	if (pipe2(shown, O_CLOEXEC))
		return false;
	pid = fork();
	if (!pid) {
		snprintf(text, sizeof(text), "%lu", number);
		dup2(shown[1], STDIN_FILENO);
		execl("/proc/self/exe", "scribbler", text, NULL);
		_exit(7);
	}
	close(shown[1]);
	good = CHECK(read(shown[0], &byte, 1) == 1);
	fcntl(shown[0], F_SETFL, O_NONBLOCK);
	good &= scribbles(shown[0], now_ms() + 200 + draw_below(c, 1800));
	close(shown[0]);
	kill(pid, SIGKILL);
	good &= CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
	astray += WTERMSIG(status) != SIGKILL;
	return good;
}

static void scribblers(const void *arg)
{
	const char *text = getenv("SEED");
	unsigned long seed = text ? strtoul(text, NULL, 0) : now_ms();
	unsigned long n = *(const unsigned long *)arg, i;
	struct chance c = { seed };

	for (i = 0; i < n; i++)
		if (!CHECK(one_process(draw(&c) >> 1, &c)))
			break;
	diag("seed %lu: %lu processes, %lu of them killed by themselves, more than %lu requests",
	     seed, i, astray, batches * BATCH);
	victim_works();
}

GROUP(ring_fuzz)
{
	const char *number = getenv("ROUNDS");
	unsigned long n = number ? strtoul(number, NULL, 0) : 4;

	other_process_goes_on();
	run_test(scribblers, &n,
		 "%lu processes scribble over all they have until they are killed",
		 n);
}
