// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Streams of messages of 64 KiB at the same time, for networks and queues.
 *
 *	stream write|read NUMBER WARM_UP SECONDS TAIL DEPTH TIMEOUT
 *
 * NUMBER of QPs, each with DEPTH messages outstanding and the attribute TIMEOUT.
 * Counts completions for SECONDS after WARM_UP seconds, and continues for TAIL
 * seconds, because other programs may still be measured. Prints MiB/s of each QP.
 * Sleeps while there is nothing to do; perftest cannot do this in timed runs.
 */
#include <poll.h>
#include "ends.h"

#define SIZE	65536
#define POLLED	64

static enum ibv_wr_opcode opcode;
static struct ibv_qp **qps;
static long *completed;

static void post(long number)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)a.buf, .length = SIZE,
		.lkey = a.mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.wr_id = number, .sg_list = &sge, .num_sge = 1, .opcode = opcode,
		.wr.rdma = { .remote_addr = (uintptr_t)a.buf,
			     .rkey = target->rkey },
	};

	errno = ibv_post_send(qps[number], &wr, &bad);
	need(!errno, "post");
}

static int complete(int counts)
{
	struct ibv_wc wcs[POLLED];
	int i, n = ibv_poll_cq(a.scq, POLLED, wcs);

	need(n >= 0, "poll");
	for (i = 0; i < n; i++) {
		if (wcs[i].status) {
			fprintf(stderr, "QP %lu: %s\n", wcs[i].wr_id,
				ibv_wc_status_str(wcs[i].status));
			exit(1);
		}
		completed[wcs[i].wr_id] += counts;
		post(wcs[i].wr_id);
	}
	return n;
}

/* Sleeps until there is a completion, or until then. */
static void await(double until)
{
	double left = (until - now_ns()) / 1e6;
	struct pollfd fd = { .fd = a.channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	if (left <= 0 || poll(&fd, 1, (int)left + 1) <= 0)
		return;
	need(!ibv_get_cq_event(a.channel, &cq, &context), "event");
	ibv_ack_cq_events(cq, 1);
	need(!ibv_req_notify_cq(cq, 0), "notify");
}

static void run_until(double until, int counts)
{
	while (now_ns() < until)
		if (!complete(counts))
			await(until);
}

int main(int argc, char **argv)
{
	double warm_up, seconds, tail, start;
	long i, j, number, depth;

	if (argc != 8) {
		fprintf(stderr, "usage: stream write|read NUMBER WARM_UP SECONDS TAIL DEPTH TIMEOUT\n");
		return 2;
	}
	opcode = strcmp(argv[1], "read") ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ;
	number = atol(argv[2]);
	warm_up = atof(argv[3]) * 1e9;
	seconds = atof(argv[4]) * 1e9;
	tail = atof(argv[5]) * 1e9;
	depth = atol(argv[6]);
	options.timeout = atoi(argv[7]);
	options.rd_atomic = 128;

	ends_open(SIZE, number * depth);
	qps = calloc(number, sizeof(*qps));
	completed = calloc(number, sizeof(*completed));
	for (i = 0; i < number; i++)
		qps[i] = connection(depth);
	need(!ibv_req_notify_cq(a.scq, 0), "notify");
	start = now_ns();
	for (j = 0; j < depth; j++)
		for (i = 0; i < number; i++)
			post(i);
	run_until(start + warm_up, 0);
	run_until(start + warm_up + seconds, 1);
	for (i = 0; i < number; i++)
		printf("%.4f\n", completed[i] * (double)SIZE / (1 << 20) / (seconds / 1e9));
	fflush(stdout);
	run_until(start + warm_up + seconds + tail, 0);
	return 0;
}
