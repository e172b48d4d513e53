// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A QP goes to the error state with all its requests outstanding.  Each completes
 * once and in order, and requests that are posted later complete last.
 *
 * usage: ending			tests
 *	  ending peer QPN		a process whose QP never posts a receive
 *					request for QP QPN
 *	  ending parent QPN		the same; its child closes the devices and
 *					lives on
 *
 *	LINK		command that sets one end of the link "down" or "up"
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "transfer.h"

#define REQUESTS	256
#define BEACON		0xbeac07
#define LENGTH		100

/* The peer is asked once in 10 ms. */
static const struct options options = {
	.wr = REQUESTS + 1, .min_rnr_timer = 20,
};

/* No request can complete behind the SEND that waits for a receive request. */
static const enum ibv_wc_opcode kinds[] = {
	IBV_WC_SEND, IBV_WC_RDMA_WRITE, IBV_WC_RDMA_READ, IBV_WC_FETCH_ADD,
};

static int post_kind(struct side *side, const struct side *peer, int i)
{
	/* A request that is flushed completes also without the flag. */
	unsigned int flags = i % 8 < 4 ? IBV_SEND_SIGNALED : 0;

	switch (kinds[i % ARRAY_SIZE(kinds)]) {
	case IBV_WC_SEND:
		return post_send(side, i, 0, LENGTH, flags);
	case IBV_WC_RDMA_WRITE:
		return post_rdma(side, peer, IBV_WR_RDMA_WRITE, i, 0, 0, LENGTH,
				 flags);
	case IBV_WC_RDMA_READ:
		return post_rdma(side, peer, IBV_WR_RDMA_READ, i, 0, 0, LENGTH,
				 flags);
	default:
		return post_atomic(side, peer, false, i, 0, 0, 1, 0);
	}
}

static bool post_sends(struct side *side, const struct side *peer)
{
	int i;

	for (i = 0; i < REQUESTS; i++)
		if (!CHECK_CALL(post_kind(side, peer, i), 0))
			return false;
	return true;
}

static bool post_receives(struct side *side)
{
	int i;

	for (i = 0; i < REQUESTS; i++)
		if (!CHECK_CALL(post_recv(side, i, 0, LENGTH), 0))
			return false;
	return true;
}

static bool in_state(const struct side *side, enum ibv_qp_state state)
{
	return CHECK_CALL(state_of(side), state);
}

static bool completes(const struct side *side, struct ibv_cq *cq, uint64_t id,
		      enum ibv_wc_status status, enum ibv_wc_opcode opcode)
{
	struct ibv_wc wc;

	return next_wc(cq, &wc) && CHECK_CALL(wc.wr_id, id) &&
	       CHECK_CALL(wc.status, status) &&
	       CHECK_CALL(wc.opcode, opcode) &&
	       CHECK_CALL(wc.qp_num, side->qp->qp_num);
}

static bool flushed(const struct side *side, struct ibv_cq *cq, uint64_t id,
		    enum ibv_wc_opcode opcode)
{
	return completes(side, cq, id, IBV_WC_WR_FLUSH_ERR, opcode);
}

static bool beacons(struct side *side)
{
	return CHECK_CALL(post_send(side, BEACON, 0, LENGTH,
				    IBV_SEND_SIGNALED), 0) &&
	       CHECK_CALL(post_recv(side, BEACON, 0, LENGTH), 0);
}

/* Those from @send and @receive on, the beacons, and nothing more. */
static void rest_is_flushed(struct side *side, int send, int receive)
{
	for (; send < REQUESTS; send++)
		REQUIRE(flushed(side, side->scq, send,
				kinds[send % ARRAY_SIZE(kinds)]));
	for (; receive < REQUESTS; receive++)
		REQUIRE(flushed(side, side->rcq, receive, IBV_WC_RECV));
	REQUIRE(flushed(side, side->scq, BEACON, IBV_WC_SEND));
	REQUIRE(flushed(side, side->rcq, BEACON, IBV_WC_RECV));
	CHECK(quiet(side->scq) && quiet(side->rcq));
	in_state(side, IBV_QPS_ERR);
}

static void reset_twice(struct side *side)
{
	CHECK_CALL(to_reset(side), 0);
	in_state(side, IBV_QPS_RESET);
	CHECK_CALL(to_reset(side), 0);
	in_state(side, IBV_QPS_RESET);
}

static void end_side(struct side *side, int send, int receive)
{
	CHECK_CALL(to_state(side, IBV_QPS_ERR), 0);
	in_state(side, IBV_QPS_ERR);
	if (beacons(side))
		rest_is_flushed(side, send, receive);
}

static void reset_and_use(struct pair *pair)
{
	reset_twice(&pair->a);
	reset_twice(&pair->b);
	if (CHECK(pair_connect(pair)))
		CHECK(works(pair));
	pair_down(pair);
}

/* In SQD no request starts, so both ends can post all of theirs first. */
static void both_full(const void *arg)
{
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	CHECK_CALL(to_state(&pair.a, IBV_QPS_SQD), 0);
	CHECK_CALL(to_state(&pair.b, IBV_QPS_SQD), 0);
	REQUIRE(post_receives(&pair.a) && post_receives(&pair.b) &&
		post_sends(&pair.a, &pair.b) && post_sends(&pair.b, &pair.a));
	in_state(&pair.a, IBV_QPS_SQD);
	end_side(&pair.a, 0, 0);
	in_state(&pair.b, IBV_QPS_SQD);
	end_side(&pair.b, 0, 0);
	reset_and_use(&pair);
}

/* Until the peer has refused the first SEND. */
static bool all_outstanding(struct side *side, const struct side *peer)
{
	long long naks = counter(&hosts[1], "tx_nak_rnr");

	return post_receives(side) && post_sends(side, peer) &&
	       CHECK(counter_leaves(&hosts[1], "tx_nak_rnr", naks)) &&
	       in_state(side, IBV_QPS_RTS);
}

static void own_end(const void *arg)
{
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	REQUIRE(all_outstanding(&pair.a, &pair.b));
	end_side(&pair.a, 0, 0);
	in_state(&pair.b, IBV_QPS_RTS);
	end_side(&pair.b, REQUESTS, REQUESTS);
	reset_and_use(&pair);
}

/* Nothing reports it: the retries are used up. */
static void gives_up(struct side *side)
{
	REQUIRE(completes(side, side->scq, 0, IBV_WC_RETRY_EXC_ERR, kinds[0]));
	in_state(side, IBV_QPS_ERR);
	if (beacons(side))
		rest_is_flushed(side, 1, 0);
}

static void peer_ends(const void *arg)
{
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	REQUIRE(all_outstanding(&pair.a, &pair.b));
	end_side(&pair.b, REQUESTS, REQUESTS);
	gives_up(&pair.a);
	reset_and_use(&pair);
}

static bool set_link(const char *how)
{
	char command[200];

	snprintf(command, sizeof(command), "%s %s", getenv("LINK"), how);
	return CHECK_CALL(system(command), 0);
}

static void link_goes_down(const void *arg)
{
	struct pair pair;

	(void)arg;
	if (!getenv("LINK")) {
		skip("no LINK is given");
		return;
	}
	REQUIRE(pair_up(&pair, &options));
	REQUIRE(all_outstanding(&pair.a, &pair.b) && set_link("down"));
	gives_up(&pair.a);
	in_state(&pair.b, IBV_QPS_RTS);
	end_side(&pair.b, REQUESTS, REQUESTS);
	REQUIRE(set_link("up"));
	reset_and_use(&pair);
}

/* Another process */

/* A side with only a QP number. */
static void stranger(struct side *side, struct host *host, struct ibv_qp *qp,
		     uint32_t qpn)
{
	*qp = (struct ibv_qp) { .qp_num = qpn };
	*side = (struct side) { .host = host, .qp = qp };
}

/* Ends when nobody holds the other end of the socket. */
static void be_child(const int ready[2])
{
	char byte;

	ibv_close_device(hosts[0].context);
	ibv_close_device(hosts[1].context);
	close(ready[0]);
	close(ready[1]);
	_exit(read(STDIN_FILENO, &byte, 1));
}

/* Returns when the child has closed the devices. */
static bool have_child(void)
{
	int ready[2];
	char byte;

	if (pipe(ready))
		return false;
	if (!fork())
		be_child(ready);
	close(ready[1]);
	return read(ready[0], &byte, 1) == 0;
}

static int be_peer(uint32_t qpn, bool parent)
{
	struct side side, other;
	struct ibv_qp qp;

	stranger(&other, &hosts[0], &qp, qpn);
	if (!side_create(&side, &hosts[1], &options, false) ||
	    !side_connect(&side, &other, &options) ||
	    (parent && !have_child()) ||
	    write(STDIN_FILENO, &side.qp->qp_num, sizeof(qpn)) != sizeof(qpn))
		return 1;
	for (;;)
		pause();
}

/* Its QP number comes through @fd. */
static pid_t start_peer(const char *role, uint32_t qpn, int *fd)
{
	char number[16];
	int ends[2];
	pid_t pid;

	snprintf(number, sizeof(number), "%u", qpn);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -1;
	pid = fork();
	if (!pid) {
		dup2(ends[1], STDIN_FILENO);
		execl("/proc/self/exe", "ending", role, number, NULL);
		_exit(1);
	}
	close(ends[1]);
	*fd = ends[0];
	return pid;
}

static bool connect_to_process(const char *role, struct side *side,
			       struct side *other, struct ibv_qp *qp, pid_t *pid,
			       int *fd)
{
	uint32_t qpn;

	*pid = start_peer(role, side->qp->qp_num, fd);
	if (!CHECK(*pid > 0) ||
	    !CHECK(read(*fd, &qpn, sizeof(qpn)) == sizeof(qpn)))
		return false;
	stranger(other, &hosts[1], qp, qpn);
	return side_connect(side, other, &options);
}

static void peer_is_killed(const void *role)
{
	struct side side, other;
	struct ibv_qp qp;
	int status, fd = -1;
	pid_t pid;

	REQUIRE(side_create(&side, &hosts[0], &options, false));
	REQUIRE(connect_to_process(role, &side, &other, &qp, &pid, &fd));
	/* WRITEs and READs need an address, but none of them is executed. */
	other.buf = side.buf;
	REQUIRE(all_outstanding(&side, &other));
	CHECK_CALL(kill(pid, SIGKILL), 0);
	CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
	gives_up(&side);
	close(fd);
	reset_twice(&side);
	side_destroy(&side);
}

COMMAND(ending)
{
	static const struct test tests[] = {
		{ "to ERR with both queues full at both ends", both_full },
		{ "to ERR while the peer has no receive posted", own_end },
		{ "the peer goes to ERR", peer_ends },
		{ "the peer's process is killed", peer_is_killed, "peer" },
		{ "the peer's process is killed, its child has closed the device",
		  peer_is_killed, "parent" },
		{ "the link goes down", link_goes_down },
	};

	fabric_open();
	if (argc == 3)
		return be_peer(strtoul(argv[2], NULL, 0),
			       !strcmp(argv[1], "parent"));
	run_tests(tests, ARRAY_SIZE(tests));
	return tests_done();
}
