// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Very many objects: a thousand contexts, ten thousand QPs.  Samples of them work, and
 * all are freed, also if the process is killed.
 *
 *	robust contexts
 *
 *	CONTEXTS, QPS (how many)
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "transfer.h"

static unsigned int number(const char *name, unsigned int usual)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 0) : usual;
}

/* Number of objects of each type, on all devices together */
static long used(const char *kind)
{
	FILE *file = popen("rdma resource show", "r");
	long sum = 0, n;
	char word[80];

	while (file && fscanf(file, "%79s", word) == 1)
		if (!strcmp(word, kind) && fscanf(file, "%ld", &n) == 1)
			sum += n;
	if (!file || pclose(file))
		diag("rdma does not tell");
	return sum;
}

static const char *const kinds[] = { "ctx", "pd", "cq", "qp", "mr" };

struct usage {
	long of[ARRAY_SIZE(kinds)];
};

static struct usage usage(void)
{
	struct usage u;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		u.of[i] = used(kinds[i]);
	return u;
}

/* Checks the increase since @before, in the order of kinds[]. */
static void used_since(const struct usage *before, const struct usage *more)
{
	struct usage now = usage();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!CHECK_CALL(now.of[i] - before->of[i], more->of[i]))
			diag("that was %s", kinds[i]);
}

/* A context has three files, and a side a completion channel. */
static bool allow_files(unsigned int contexts)
{
	rlim_t files = 4 * contexts + 256;
	struct rlimit limit;

	if (!CHECK(!getrlimit(RLIMIT_NOFILE, &limit)))
		return false;
	if (limit.rlim_cur < files)
		limit.rlim_cur = files;
	if (limit.rlim_max < files)
		limit.rlim_max = files;
	return CHECK(!setrlimit(RLIMIT_NOFILE, &limit));
}

/* Contexts: one of each device makes a pair. */

/**
 * struct couple - two contexts and their objects
 * @hosts: the contexts
 * @pair: a QP of each
 */
struct couple {
	struct host hosts[2];
	struct pair pair;
};

/* The distance between couples that are used; the last one is, too. */
#define COUPLES_APART	50

static const struct options small = { .wr = 8, .sge = 1, .size = 8192 };

static bool open_again(struct host *host, const struct host *model)
{
	*host = *model;
	host->context = ibv_open_device(model->context->device);
	return CHECK(host->context);
}

static bool couple_up(struct couple *c)
{
	c->pair.options = small;
	return open_again(&c->hosts[0], &hosts[0]) &&
	       open_again(&c->hosts[1], &hosts[1]) &&
	       side_create(&c->pair.a, &c->hosts[0], &small, false) &&
	       side_create(&c->pair.b, &c->hosts[1], &small, false);
}

static void couple_down(struct couple *c)
{
	pair_down(&c->pair);
	CHECK_CALL(ibv_close_device(c->hosts[0].context), 0);
	CHECK_CALL(ibv_close_device(c->hosts[1].context), 0);
}

static void some_work(struct couple *couples, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i += COUPLES_APART)
		REQUIRE(works(&couples[i].pair));
	REQUIRE(works(&couples[n - 1].pair));
}

static bool some_connect(struct couple *couples, unsigned int n)
{
	unsigned int i;

	for (i = 0; i + 1 < n; i += COUPLES_APART)
		if (!pair_connect(&couples[i].pair))
			return false;
	return pair_connect(&couples[n - 1].pair);
}

/* The QPs in use are destroyed last, and work while the others are gone. */
static void leave(struct couple *couples, unsigned int n)
{
	unsigned int i;

	for (i = 0; i + 1 < n; i++)
		if (i % COUPLES_APART)
			couple_down(&couples[i]);
	some_work(couples, n);
	for (i = 0; i + 1 < n; i += COUPLES_APART)
		couple_down(&couples[i]);
	couple_down(&couples[n - 1]);
}

static void contexts(const void *arg)
{
	unsigned int n = *(const unsigned int *)arg / 2, i;
	struct couple *couples = calloc(n, sizeof(*couples));
	const struct usage nothing = {}, all = {
		{ 2 * n, 2 * n, 4 * n, 2 * n, 2 * n }
	};
	struct usage before = usage();

	REQUIRE(CHECK(couples && n) && allow_files(2 * n));
	for (i = 0; i < n; i++)
		REQUIRE(couple_up(&couples[i]));
	used_since(&before, &all);
	REQUIRE(some_connect(couples, n));
	some_work(couples, n);
	leave(couples, n);
	used_since(&before, &nothing);
	free(couples);
}

/* QPs, of one context */

#define STOPS	64
#define BLOCK	3001

/**
 * struct crowd - many QPs that share all other objects
 * @host: their context
 * @one: the shared objects, and a QP of its own
 * @sides: of each QP
 * @n: how many
 */
struct crowd {
	struct host host;
	struct side one;
	struct side *sides;
	unsigned int n;
};

static const struct options tiny = {
	.wr = 1, .sge = 1, .cqe = 16, .size = (STOPS + 1) * BLOCK,
};

static bool join(struct side *side, const struct side *model,
		 const struct options *o)
{
	*side = *model;
	return side_qp(side, o);
}

static bool crowd_up(struct crowd *c, unsigned int n, const struct options *o)
{
	c->sides = calloc(n, sizeof(*c->sides));
	if (!CHECK(c->sides) || !open_again(&c->host, &hosts[0]) ||
	    !side_create(&c->one, &c->host, o, false))
		return false;
	for (c->n = 0; c->n < n; c->n++)
		if (!join(&c->sides[c->n], &c->one, o))
			return false;
	return true;
}

/* Not in the order in which they were made */
static void crowd_down(struct crowd *c)
{
	unsigned int i, first;

	for (first = 0; first < 7; first++)
		for (i = first; i < c->n; i += 7)
			if (!CHECK_CALL(ibv_destroy_qp(c->sides[i].qp), 0))
				return;
	side_destroy(&c->one);
	CHECK_CALL(ibv_close_device(c->host.context), 0);
	free(c->sides);
}

/* Two neighbours, from the first of all to the last */
static struct pair stop(const struct crowd *c, unsigned int i)
{
	unsigned int at = (unsigned long)(c->n - 2) * i / (STOPS - 1);

	return (struct pair) {
		.a = c->sides[at], .b = c->sides[at + 1], .options = tiny,
	};
}

/* A block of data is moved by WRITEs, each of another QP. */
static void write_round(struct crowd *c, uint32_t seed)
{
	struct pair pair;
	unsigned int i;

	memset(c->one.buf, 0, c->one.size);
	fill(c->one.buf, BLOCK, seed);
	for (i = 0; i < STOPS; i++) {
		pair = stop(c, i);
		REQUIRE(CHECK_CALL(post_rdma(&pair.a, &pair.b,
					     IBV_WR_RDMA_WRITE, i, i * BLOCK,
					     (i + 1) * BLOCK, BLOCK,
					     IBV_SEND_SIGNALED), 0));
		REQUIRE(EXPECT(pair.a.scq, pair.a.qp, .wr_id = i,
			       .opcode = IBV_WC_RDMA_WRITE));
	}
	for (i = 0; i <= STOPS; i++)
		REQUIRE(CHECK(filled(c->one.buf + i * BLOCK, BLOCK, seed)));
}

static bool connect_stops(const struct crowd *c)
{
	struct pair pair;
	unsigned int i;

	for (i = 0; i < STOPS; i++) {
		pair = stop(c, i);
		if (!pair_connect(&pair))
			return false;
	}
	return true;
}

static void queue_pairs(const void *arg)
{
	unsigned int n = *(const unsigned int *)arg;
	const struct usage nothing = {}, all = { { 1, 1, 2, n + 1, 1 } };
	struct usage before = usage();
	struct crowd crowd = {};

	/* So that no QP is at two stops. */
	REQUIRE(CHECK(n > 2 * STOPS) && crowd_up(&crowd, n, &tiny));
	used_since(&before, &all);
	REQUIRE(connect_stops(&crowd));
	write_round(&crowd, 1);
	write_round(&crowd, 2);
	crowd_down(&crowd);
	used_since(&before, &nothing);
}

/* Regions, of one protection domain, over the pages of one buffer */

#define PAGE	4096u
#define PAGES	16u

/**
 * struct library - many regions
 * @pair: whose second side they belong to
 * @mrs: each is a page: the first of all the first page, and so on
 * @n: how many
 */
struct library {
	struct pair pair;
	struct ibv_mr **mrs;
	unsigned int n;
};

static bool library_up(struct library *l, unsigned int n)
{
	const struct options options = { .size = PAGES * PAGE };
	const struct side *side = &l->pair.b;

	l->mrs = calloc(n, sizeof(*l->mrs));
	if (!CHECK(l->mrs) || !pair_up(&l->pair, &options))
		return false;
	for (l->n = 0; l->n < n; l->n++) {
		l->mrs[l->n] = ibv_reg_mr(side->pd,
					  side->buf + l->n % PAGES * PAGE, PAGE,
					  IBV_ACCESS_LOCAL_WRITE |
					  IBV_ACCESS_REMOTE_WRITE);
		if (!CHECK(l->mrs[l->n]))
			return false;
	}
	return true;
}

static int by_key(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void keys_differ(const struct library *l)
{
	uint32_t *keys = calloc(l->n, sizeof(*keys));
	unsigned int i;

	REQUIRE(keys);
	for (i = 0; i < l->n; i++)
		keys[i] = l->mrs[i]->rkey;
	qsort(keys, l->n, sizeof(*keys), by_key);
	for (i = 1; i < l->n; i++)
		if (!CHECK(keys[i - 1] != keys[i]))
			break;
	free(keys);
}

/* A block from the first side to the page of a region, by its key */
static bool write_by(const struct library *l, struct ibv_mr *mr, size_t page,
		     uint32_t seed)
{
	struct side a = l->pair.a, b = l->pair.b;

	b.mr = mr;
	fill(a.buf, BLOCK, seed);
	memset(b.buf, 0, b.size);
	return CHECK_CALL(post_rdma(&a, &b, IBV_WR_RDMA_WRITE, seed, 0,
				    page * PAGE + 7, BLOCK,
				    IBV_SEND_SIGNALED), 0) &&
	       EXPECT(a.scq, a.qp, .wr_id = seed,
		      .opcode = IBV_WC_RDMA_WRITE) &&
	       CHECK(filled(b.buf + page * PAGE + 7, BLOCK, seed));
}

static bool some_are_written(const struct library *l, unsigned int apart)
{
	unsigned int i;

	for (i = 0; i < l->n; i += apart)
		if (!write_by(l, l->mrs[i], i % PAGES, i + 1))
			return false;
	return true;
}

/* Deregisters all except each @apart-th one, then these, while they are in use. */
static void library_down(struct library *l, unsigned int apart)
{
	unsigned int i;

	for (i = 0; i < l->n; i++)
		if (i % apart)
			REQUIRE(CHECK_CALL(ibv_dereg_mr(l->mrs[i]), 0));
	REQUIRE(some_are_written(l, apart));
	for (i = 0; i < l->n; i += apart)
		REQUIRE(CHECK_CALL(ibv_dereg_mr(l->mrs[i]), 0));
	pair_down(&l->pair);
	free(l->mrs);
}

static void regions(const void *arg)
{
	unsigned int n = *(const unsigned int *)arg, apart = n / STOPS + 1;
	const struct usage nothing = {}, all = { { 0, 2, 4, 2, n + 2 } };
	struct usage before = usage();
	struct library library = {};

	REQUIRE(library_up(&library, n));
	used_since(&before, &all);
	keys_differ(&library);
	REQUIRE(some_are_written(&library, apart));
	library_down(&library, apart);
	used_since(&before, &nothing);
}

/* A process that is killed: the kernel destroys its objects one by one. */

/* Addresses for each QP: enough to see it if each had to look at every QP. */
#define ADDRESSES	10

static const struct options datagrams = {
	.type = IBV_QPT_UD, .wr = 1, .sge = 1, .cqe = 16, .size = 4096,
};

/* No neighbour has to be asked for the MAC address of a group. */
static struct host some_group(void)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	bool ipv4 = !memcmp(hosts[0].gid.raw, mapped, sizeof(mapped));
	struct host group = hosts[1];

	group.gid.raw[ipv4 ? 12 : 0] = ipv4 ? 239 : 0xff;
	return group;
}

static bool take_all(unsigned int n)
{
	const struct host group = some_group();
	struct side one, another;
	struct host host;
	unsigned int i;

	if (!open_again(&host, &hosts[0]) ||
	    !side_create(&one, &host, &datagrams, false))
		return false;
	for (i = 1; i < n; i++) {
		another = one;
		if (!side_qp(&another, &datagrams))
			return false;
	}
	for (i = 0; i < n * ADDRESSES; i++)
		if (!CHECK(address_of(one.pd, &hosts[0], &group)))
			return false;
	return true;
}

/* It sends a byte when it has all objects, and stays. */
static pid_t start_hoarder(unsigned int n, int *from)
{
	int fds[2];
	pid_t pid;

	if (!CHECK(!pipe(fds)))
		return -1;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (!take_all(n) || write(fds[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(fds[1]);
	*from = fds[0];
	return pid;
}

static void killed(const void *arg)
{
	unsigned int n = *(const unsigned int *)arg;
	const struct usage nothing = {}, all = { { 1, 1, 2, n, 1 } };
	struct usage before = usage();
	int from = -1, status;
	pid_t pid;
	char byte;

	pid = start_hoarder(n, &from);
	REQUIRE(CHECK(pid > 0));
	if (CHECK(read(from, &byte, 1) == 1))
		used_since(&before, &all);
	close(from);
	CHECK(!kill(pid, SIGKILL));
	CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
	used_since(&before, &nothing);
}

/*
 * Requests that were posted before an AH is destroyed are sent first.  The time for
 * that does not depend on QPs that have nothing to send.
 */
#define POSTS	8

static bool to_work(struct side *side, const struct options *o)
{
	return CHECK(!to_init(side, o) && !to_rtr(side, side, o) &&
		     !to_rts(side, o));
}

static void post_and_forget(struct side *side, const struct host *to,
			    unsigned int rounds)
{
	struct ibv_wc wc;
	unsigned int i;

	while (rounds--) {
		side->ah = address_of(side->pd, &hosts[0], to);
		REQUIRE(CHECK(side->ah));
		for (i = 1; i <= POSTS; i++)
			CHECK_CALL(post_datagram(side, side, i, 8), 0);
		CHECK_CALL(ibv_destroy_ah(side->ah), 0);
		side->ah = NULL;
		for (i = 1; i <= POSTS; i++)
			REQUIRE(next_wc(side->scq, &wc) &&
				CHECK(wc.wr_id == i && !wc.status));
		/* A packet that finds the queue full would come too late. */
		usleep(1000);
	}
}

static void addresses(const void *arg)
{
	const struct options o = {
		.type = IBV_QPT_UD, .wr = POSTS, .sge = 1, .cqe = 4 * POSTS,
		.size = 4096,
	};
	unsigned int n = *(const unsigned int *)arg, i;
	const struct host group = some_group();
	struct side first, others[n];
	long long kicks;

	REQUIRE(side_create(&first, &hosts[0], &o, false) &&
		to_work(&first, &o));
	for (i = 0; i < n; i++) {
		others[i] = first;
		REQUIRE(side_qp(&others[i], &o) && to_work(&others[i], &o));
	}
	kicks = counter(&hosts[0], "kicks");
	post_and_forget(&first, &group, n);
	/* One for each that was posted at most */
	kicks = counter(&hosts[0], "kicks") - kicks;
	if (!CHECK(kicks <= POSTS * (long long)n))
		diag("%lld kicks", kicks);
	for (i = 0; i < n; i++)
		CHECK_CALL(ibv_destroy_qp(others[i].qp), 0);
	side_destroy(&first);
}

/*
 * None of them gets a response, and more of their timers expire in a moment than a
 * processor serves at once.  Each QP fails, and none keeps others from working.
 */
#define MOST_SILENT	2000

/* A number that no QP has any more. */
static bool nobody(struct ibv_qp *qp)
{
	struct side side;
	bool made = side_create(&side, &hosts[1], &tiny, false);

	if (made) {
		qp->qp_num = side.qp->qp_num;
		side_destroy(&side);
	}
	return made;
}

static bool all_ask(struct crowd *c, const struct options *o)
{
	struct ibv_qp gone = {};
	const struct side peer = { .host = &hosts[1], .qp = &gone };
	unsigned int i;

	if (!nobody(&gone))
		return false;
	for (i = 0; i < c->n; i++)
		if (!side_connect(&c->sides[i], &peer, o))
			return false;
	for (i = 0; i < 2 * c->n; i++)
		if (!CHECK_CALL(post_send(&c->sides[i % c->n], i, 0, 8,
					  IBV_SEND_SIGNALED), 0))
			return false;
	return true;
}

/* The first request of each QP fails, then the second is flushed. */
static bool gave_up(const struct crowd *c, const struct ibv_wc *wc,
		    uint8_t *ends)
{
	unsigned int at = wc->wr_id % c->n;
	bool second = wc->wr_id >= c->n;

	return CHECK(wc->wr_id < 2 * c->n) &&
	       CHECK(wc->qp_num == c->sides[at].qp->qp_num) &&
	       CHECK(ends[at]++ == second) &&
	       CHECK_CALL(wc->status, second ? IBV_WC_WR_FLUSH_ERR :
					       IBV_WC_RETRY_EXC_ERR);
}

static bool all_give_up(const struct crowd *c, struct pair *beside)
{
	uint8_t *ends = calloc(c->n, 1);
	unsigned int left = 2 * c->n;
	bool good = CHECK(ends);
	struct ibv_wc wc;

	while (good && left) {
		good = works(beside) && next_wc(c->one.scq, &wc);
		while (good) {
			good = gave_up(c, &wc, ends);
			if (!--left || ibv_poll_cq(c->one.scq, 1, &wc) != 1)
				break;
		}
	}
	free(ends);
	return good;
}

static void silence(const void *arg)
{
	unsigned int n = *(const unsigned int *)arg;
	const struct options o = {
		.wr = 2, .sge = 1, .cqe = 2 * n, .size = 4096, .timeout = 12,
		.retry_cnt = 7,
	};
	struct crowd crowd = {};
	struct pair beside;

	REQUIRE(pair_up(&beside, &(const struct options) { .timeout = 18 }) &&
		crowd_up(&crowd, n, &o));
	REQUIRE(all_ask(&crowd, &o));
	CHECK(all_give_up(&crowd, &beside));
	CHECK(quiet(crowd.one.scq));
	CHECK(works(&beside));
	crowd_down(&crowd);
	pair_down(&beside);
}

GROUP(contexts)
{
	unsigned int n = number("CONTEXTS", 1000);

	run_test(contexts, &n, "%u contexts at once", n);
}

GROUP(queue_pairs)
{
	unsigned int n = number("QPS", 10000);

	run_test(queue_pairs, &n, "%u QPs in a context", n);
}

GROUP(regions)
{
	unsigned int n = number("REGIONS", 100000);

	run_test(regions, &n, "%u regions in a protection domain", n);
}

GROUP(killed)
{
	unsigned int n = number("QPS", 10000) / 5;

	run_test(killed, &n, "a process with %u QPs and %u AHs is killed",
		 n, n * ADDRESSES);
}

GROUP(addresses)
{
	static const unsigned int n = 200;

	run_test(addresses, &n,
		 "AHs are destroyed behind posted datagrams, beside %u QPs",
		 n);
}

GROUP(silence)
{
	unsigned int n = number("QPS", MOST_SILENT);

	if (n > MOST_SILENT)
		n = MOST_SILENT;
	run_test(silence, &n, "%u QPs without a peer give up", n);
}
