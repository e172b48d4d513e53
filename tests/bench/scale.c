// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Cost against scale, which perftest cannot show. Both ends in one process.
 *
 *	scale qps COUNT		time of a 2-byte WRITE, to COUNT QPs in turn
 *	scale mrs COUNT		the same, to COUNT remote regions in turn
 *	scale size BYTES	time of a WRITE of that size
 *	scale memory COUNT	kernel memory of an idle RC QP of depth 64
 *
 * Environment: D1, G1, D2, G2 (devices and GID indices), MESSAGES (number).
 * Prints "WHAT VALUE"; exits with 77 if the device does not support as much.
 */
#include <fcntl.h>
#include <unistd.h>
#include "ends.h"

#define IN_FLIGHT_BYTES	(16 << 20)
#define DEPTH		64
#define SMALL		2
#define PAGE		4096
#define PAGES		1024

struct target {
	uint64_t addr;
	uint32_t rkey;
};

/* Messages */

static long messages(void)
{
	const char *value = getenv("MESSAGES");

	need(value != NULL, "MESSAGES");
	return atol(value);
}

static void post_write(struct ibv_qp *qp, struct target to, uint32_t length)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)a.buf, .length = length,
		.lkey = a.mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = { .remote_addr = to.addr, .rkey = to.rkey },
	};

	errno = ibv_post_send(qp, &wr, &bad);
	need(!errno, "post");
}

static void complete_one(void)
{
	struct ibv_wc wc;
	int n;

	do
		n = ibv_poll_cq(a.scq, 1, &wc);
	while (!n);
	if (n < 0 || wc.status) {
		fprintf(stderr, "scale: completion %d, status %d\n", n,
			n < 0 ? 0 : wc.status);
		exit(1);
	}
}

/*
 * One message at a time, so that a message costs the same whichever QP it
 * takes: bursts and shared ACKs would favour few QPs. In strides, as neighbours
 * in a table would share cache lines.
 */
static void go_round(struct ibv_qp **qps, long n_qps,
		     const struct target *targets, long n_targets, long count)
{
	long i;

	for (i = 0; i < count; i++) {
		post_write(qps[i * 7919 % n_qps], targets[i * 7919 % n_targets],
			   SMALL);
		complete_one();
	}
}

static void measure_round(struct ibv_qp **qps, long n_qps,
			  const struct target *targets, long n_targets)
{
	long count = messages();
	double start;

	/* Once to each before the clock starts. */
	go_round(qps, n_qps, targets, n_targets,
		 n_qps > n_targets ? n_qps : n_targets);
	start = now_ns();
	go_round(qps, n_qps, targets, n_targets, count);
	printf("ns %.1f\n", (now_ns() - start) / count);
}

static void measure_qps(long count)
{
	struct ibv_qp **qps = calloc(count, sizeof(*qps));
	struct target to;
	long i;

	ends_open(PAGE, 2 * DEPTH);
	for (i = 0; i < count; i++)
		qps[i] = connection(4);
	to = (struct target) { (uintptr_t)a.buf, target->rkey };
	measure_round(qps, count, &to, 1);
}

static void measure_mrs(long count)
{
	struct target *targets = calloc(count, sizeof(*targets));
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	char *place;
	long i;

	ends_open(PAGES * PAGE, 2 * DEPTH);
	qp = connection(4);
	for (i = 0; i < count; i++) {
		place = (char *)a.buf + i % PAGES * PAGE;
		mr = ibv_reg_mr(b.pd, place, PAGE, ALL_ACCESS);
		need(mr != NULL, "MR");
		targets[i] = (struct target) { (uintptr_t)place, mr->rkey };
	}
	measure_round(&qp, 1, targets, count);
}

static void stream(struct ibv_qp *qp, struct target to, long length,
		   long count, int window)
{
	long posted = 0, completed = 0;

	while (completed < count) {
		while (posted < count && posted - completed < window) {
			post_write(qp, to, length);
			posted++;
		}
		complete_one();
		completed++;
	}
}

static int window_for(long length)
{
	long window = IN_FLIGHT_BYTES / length;

	return window < 1 ? 1 : window > DEPTH ? DEPTH : window;
}

static void measure_size(long length)
{
	long count = messages();
	struct ibv_port_attr port;
	struct target to;
	struct ibv_qp *qp;
	double start;

	ends_open(length, 2 * DEPTH);
	need(!ibv_query_port(hosts[0].context, 1, &port), "port");
	if (length > port.max_msg_sz)
		exit(UNSUPPORTED);
	qp = connection(DEPTH);
	to = (struct target) { (uintptr_t)a.buf, target->rkey };
	start = now_ns();
	stream(qp, to, length, count, window_for(length));
	printf("ns %.1f\n", (now_ns() - start) / count);
}

/* Memory */

static long meminfo(const char *text, const char *name)
{
	char key[32];
	const char *at;

	snprintf(key, sizeof(key), "\n%s:", name);
	at = strstr(text, key);
	return at ? atol(at + strlen(key)) : 0;
}

static void drop_caches(void)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY);

	sync();
	need(fd >= 0 && write(fd, "3", 1) == 1, "drop_caches");
	close(fd);
}

/* KiB that are neither free nor of files or programs; sets *user to those of programs. */
static long kernel_memory(long *user)
{
	static char text[8192] = "\n";
	int fd, n;

	drop_caches();
	fd = open("/proc/meminfo", O_RDONLY);
	n = read(fd, text + 1, sizeof(text) - 2);
	need(n > 0, "meminfo");
	text[n + 1] = '\0';
	close(fd);
	*user = meminfo(text, "AnonPages");
	return meminfo(text, "MemTotal") - meminfo(text, "MemFree") -
	       meminfo(text, "Buffers") - meminfo(text, "Cached") - *user;
}

/* Freed memory is given back late, by RCU and by work queues. */
static long settled_kernel_memory(long *user)
{
	long last, memory = kernel_memory(user);
	int tries;

	for (tries = 0; tries < 25; tries++) {
		usleep(200000);
		last = memory;
		memory = kernel_memory(user);
		if (labs(memory - last) < 64)
			break;
	}
	return memory;
}

static void measure_memory(long count)
{
	long kernel, user, kernel_after, user_after, i;

	ends_open(PAGE, 2 * DEPTH);
	for (i = 0; i < 8; i++)
		connection(DEPTH);
	kernel = settled_kernel_memory(&user);
	for (i = 0; i < count / 2; i++)
		connection(DEPTH);
	kernel_after = settled_kernel_memory(&user_after);
	printf("kernel_bytes %.0f\n", (kernel_after - kernel) * 1024.0 / count);
	printf("user_bytes %.0f\n", (user_after - user) * 1024.0 / count);
}

static const struct {
	const char *name;
	void (*measure)(long number);
} modes[] = {
	{ "qps", measure_qps },
	{ "mrs", measure_mrs },
	{ "size", measure_size },
	{ "memory", measure_memory },
};

int main(int argc, char **argv)
{
	size_t i;

	for (i = 0; argc == 3 && i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(argv[1], modes[i].name))
			continue;
		modes[i].measure(atol(argv[2]));
		return 0;
	}
	fprintf(stderr, "usage: scale qps|mrs|size|memory NUMBER\n");
	return 2;
}
