// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A process that never polls, reads no events and posts no receive requests, while
 * other processes work.  Some of them have connections to it.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "neighbours.h"

#define MESSAGES	20
#define BYTES		3000
#define PLACES		4

/* Ways to neglect a QP.  Each has a peer in the test process. */
enum way {
	LATE,		/* no receive request, and the peer asks for ever */
	EMPTY,		/* none in the SRQ; the peer gives up */
	FULL,		/* requests enough, but the completion queue is full */
	DATAGRAM,	/* UD without receive requests */
	WAYS
};

/* The completion queues of the test process are large enough. */
static const struct options theirs[WAYS] = {
	[EMPTY] = { .srq = MESSAGES },
	[FULL] = { .cqe = PLACES },
	[DATAGRAM] = { .type = IBV_QPT_UD },
};

static const struct options ours[WAYS] = {
	[EMPTY] = { .rnr_retry = 3 },
	[FULL] = { .timeout = 10, .retry_cnt = 3 },
	[DATAGRAM] = { .type = IBV_QPT_UD },
};

/* Both exchange the numbers of their QPs. */
struct hello {
	uint32_t qpn[WAYS];
};

static bool sides_up(struct side *sides, struct host *host,
		     const struct options *options)
{
	int i;

	for (i = 0; i < WAYS; i++)
		if (!side_create(&sides[i], host, &options[i], false))
			return false;
	return true;
}

/* Exchanges numbers with the process at the other end, and connects. */
static bool sides_meet(struct side *sides, struct host *peers_host, int fd,
		       const struct options *options, struct ibv_qp *qps)
{
	struct hello mine, other;
	int i;

	for (i = 0; i < WAYS; i++)
		mine.qpn[i] = sides[i].qp->qp_num;
	if (!CHECK(write(fd, &mine, sizeof(mine)) == sizeof(mine)) ||
	    !CHECK(read(fd, &other, sizeof(other)) == sizeof(other)))
		return false;
	for (i = 0; i < WAYS; i++) {
		const struct side peer = { .host = peers_host, .qp = &qps[i] };

		qps[i].qp_num = other.qpn[i];
		if (!side_connect(&sides[i], &peer, &options[i]))
			return false;
	}
	return true;
}

static bool tell(int fd)
{
	return write(fd, "", 1) == 1;
}

static bool told(int fd)
{
	char byte;

	return read(fd, &byte, 1) == 1;
}

/* The neglectful process */

/* It also sends to itself, and never polls the completions. */
static bool own_up(struct pair *pair)
{
	const struct options options = { .cqe = PLACES };
	int i;

	if (!pair_up(pair, &options))
		return false;
	for (i = 0; i < 2 * PLACES; i++)
		CHECK_CALL(post_rdma(&pair->a, &pair->b, IBV_WR_RDMA_WRITE, i,
				     0, 0, 8, IBV_SEND_SIGNALED), 0);
	return true;
}

/* The QP at fault has failed; QPs that only wait have not. */
static bool it_alone(struct side *sides, struct pair *own)
{
	bool good = CHECK_CALL(state_of(&sides[LATE]), IBV_QPS_RTS);

	good &= CHECK_CALL(state_of(&sides[EMPTY]), IBV_QPS_RTS);
	good &= CHECK_CALL(state_of(&sides[DATAGRAM]), IBV_QPS_RTS);
	good &= CHECK_CALL(state_of(&sides[FULL]), IBV_QPS_ERR);
	good &= CHECK_CALL(state_of(&own->a), IBV_QPS_ERR);
	return good;
}

/* The message that has waited all the time is right. */
static bool better_late(struct side *side)
{
	return CHECK_CALL(post_recv(side, 1, 0, BYTES), 0) &&
	       EXPECT(side->rcq, side->qp, .wr_id = 1, .opcode = IBV_WC_RECV,
		      .length = BYTES) &&
	       CHECK(filled(side->buf, BYTES, LATE));
}

int neglectful_neighbour(void)
{
	struct ibv_qp peers[WAYS] = {};
	struct side sides[WAYS];
	struct pair own;
	int i;

	if (!sides_up(sides, &hosts[1], theirs) ||
	    !sides_meet(sides, &hosts[0], STDIN_FILENO, theirs, peers))
		return 1;
	for (i = 0; i < MESSAGES; i++)
		CHECK_CALL(post_recv(&sides[FULL], i, 0, BYTES), 0);
	if (!own_up(&own) || !tell(STDIN_FILENO) || !told(STDIN_FILENO))
		return 1;
	if (!it_alone(sides, &own) || !better_late(&sides[LATE]) ||
	    !tell(STDIN_FILENO))
		return 1;
	/* It leaves everything as it is. */
	told(STDIN_FILENO);
	return 0;
}

/* The test process */

static void send_all(struct side *sides, const struct ibv_qp *peers)
{
	struct side peer = {};
	int way, i;

	for (way = 0; way < WAYS; way++) {
		struct ibv_qp qp = peers[way];

		peer.qp = &qp;
		fill(sides[way].buf, BYTES, way);
		for (i = 0; i < (way == LATE ? 1 : MESSAGES); i++)
			CHECK_CALL(way == DATAGRAM ?
				   post_datagram(&sides[way], &peer, i, 1000) :
				   post_send(&sides[way], i, 0, BYTES,
					     IBV_SEND_SIGNALED), 0);
	}
}

static bool no_event(const struct host *host)
{
	struct ibv_async_event event;

	if (!next_event(host->context, &event, 0))
		return true;
	diag("%s: %s", host->name, ibv_event_type_str(event.event_type));
	ibv_ack_async_event(&event);
	return false;
}

/* The effects: counters of the neighbour's device. */
struct neglected {
	long long naks;
	long long no_buffer;
	long long overflows;
};

static struct neglected count_neglected(void)
{
	return (struct neglected) {
		.naks = counter(&hosts[1], "tx_nak_rnr"),
		.no_buffer = counter(&hosts[1], "out_of_buffer"),
		.overflows = counter(&hosts[1], "cq_overflows"),
	};
}

static void ends_of_requests(struct side *sides)
{
	struct pair pair = {};
	int i;

	pair.a = sides[EMPTY];
	CHECK(ends_with(&pair, MESSAGES, IBV_WC_RNR_RETRY_EXC_ERR));
	CHECK_CALL(state_of(&sides[EMPTY]), IBV_QPS_ERR);
	pair.a = sides[FULL];
	CHECK(ends_with(&pair, MESSAGES, IBV_WC_RETRY_EXC_ERR));
	CHECK_CALL(state_of(&sides[FULL]), IBV_QPS_ERR);
	for (i = 0; i < MESSAGES; i++)
		EXPECT(sides[DATAGRAM].scq, sides[DATAGRAM].qp, .wr_id = i,
		       .opcode = IBV_WC_SEND);
	CHECK(quiet(sides[LATE].scq));
	CHECK_CALL(state_of(&sides[LATE]), IBV_QPS_RTS);
}

static void beside_it(struct side *sides, struct ibv_qp *peers, int fd)
{
	struct neglected before = count_neglected(), after;
	int i;

	REQUIRE(sides_meet(sides, &hosts[1], fd, ours, peers));
	REQUIRE(CHECK(told(fd)));
	send_all(sides, peers);
	for (i = 0; i < 20; i++)
		REQUIRE(works(&victim));
	ends_of_requests(sides);
	for (i = 0; i < 20; i++)
		REQUIRE(works(&victim));
	after = count_neglected();
	CHECK(after.naks > before.naks + 4);
	CHECK(after.no_buffer >= before.no_buffer + MESSAGES);
	CHECK(after.overflows > before.overflows);
	CHECK(no_event(&hosts[0]));
	CHECK(no_event(&hosts[1]));
	/* The results of the neighbour; then the delayed message arrives. */
	CHECK(tell(fd));
	CHECK(told(fd));
	EXPECT(sides[LATE].scq, sides[LATE].qp, .wr_id = 0,
	       .opcode = IBV_WC_SEND);
}

static void neglect(const void *arg)
{
	char *argv[] = { "neighbours", "neglect", NULL };
	struct ibv_qp peers[WAYS] = {};
	struct side sides[WAYS];
	pid_t pid;
	int fd, i;

	(void)arg;
	forget_events(hosts[0].context);
	forget_events(hosts[1].context);
	REQUIRE(sides_up(sides, &hosts[0], ours));
	pid = start_neighbour(argv, &fd);
	REQUIRE(CHECK(pid > 0));
	beside_it(sides, peers, fd);
	CHECK(kill_neighbour(pid));
	close(fd);
	CHECK(works(&victim));
	for (i = 0; i < WAYS; i++)
		side_destroy(&sides[i]);
}

void test_neglect(void)
{
	run_test(neglect, NULL,
		 "never polls, never posts receive requests: it alone fails");
}
