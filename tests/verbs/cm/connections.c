// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Connections of librdmacm: ended under traffic, very many at once, and very many
 * one after another.  Both ends are in this process, which takes
 * their rdma_cm_ids in two network namespaces.
 *
 * usage: connections			ended under traffic, and many at once
 *	  connections one-by-one	one after another
 *
 *	NS1, NS2	paths of the namespaces of the client and of the server
 *	IP1, IP2	their addresses
 *	AT_ONCE		connections open at once (500)
 *	ONE_BY_ONE	connections that follow one another (2000)
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "qp_pair.h"

#define PORT		20700
#define RESOLVE_MS	5000
#define BACKLOG		1024
/* For slow machines.  Without being told, an end would find out after a minute. */
#define ENDED_MS	6000
#define IS_RECV		(1ull << 32)
#define INDEX_SHIFT	40

/**
 * struct plan - properties of the connections of a test
 * @depth: requests outstanding in each direction
 * @length: bytes of a message
 * @no_receives: the server posts no receive requests
 * @flows: a completed request is posted again
 */
struct plan {
	unsigned int depth;
	unsigned int length;
	bool no_receives;
	bool flows;
};

/* Requests of one queue; they complete in order. */
struct queue {
	uint32_t posted;
	uint32_t done;
	uint32_t flushed;
};

struct end;

struct conn {
	struct end *end;
	struct rdma_cm_id *id;
	uint8_t *memory;
	struct queue send, recv;
	bool established;
	bool disconnected;
};

/**
 * struct end - the client or the server
 * @anchor: the id that listens, or that names the client's device
 * @count: number of connections
 * @established: number that are established
 * @disconnected: number that are disconnected
 * @received: messages received and compared, on all connections
 */
struct end {
	const char *ns;
	const char *ip;
	struct rdma_event_channel *events;
	struct rdma_cm_id *anchor;
	struct ibv_pd *pd;
	struct ibv_comp_channel *completions;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	uint8_t *memory;
	struct conn *conns;
	unsigned int count;
	unsigned int established;
	unsigned int disconnected;
	unsigned int received;
};

static struct end client, server;
static struct plan plan;
/* Where the batch of connections wants to get. */
static unsigned int wanted;
/* A failure was reported. */
static bool broken;

static bool good(bool so, const char *what)
{
	if (!so) {
		broken = true;
		diag("%s", what);
	}
	return CHECK(so);
}

/* Data */

static uint8_t *message(const struct conn *conn, uint32_t n, bool recv)
{
	return conn->memory +
	       (n % plan.depth + (recv ? plan.depth : 0)) * plan.length;
}

/* The first word is the message's number, which determines all others. */
static void fill(uint8_t *at, uint32_t n)
{
	uint32_t i, word;

	for (i = 0; i < plan.length; i += sizeof(word)) {
		word = n * 2654435761u + i;
		memcpy(at + i, &word, sizeof(word));
	}
}

static bool is_message(const uint8_t *at, uint32_t n)
{
	uint32_t i, word;

	for (i = 0; i < plan.length; i += sizeof(word)) {
		memcpy(&word, at + i, sizeof(word));
		if (word != n * 2654435761u + i)
			return false;
	}
	return true;
}

static uint64_t wr_id(const struct conn *conn, uint32_t n, bool recv)
{
	return (uint64_t)(conn - conn->end->conns) << INDEX_SHIFT | n |
	       (recv ? IS_RECV : 0);
}

static void post(struct conn *conn, bool recv)
{
	struct queue *queue = recv ? &conn->recv : &conn->send;
	uint8_t *at = message(conn, queue->posted, recv);
	struct ibv_sge sge = {
		.addr = (uintptr_t)at,
		.length = plan.length,
		.lkey = conn->end->mr->lkey,
	};
	struct ibv_send_wr send = {
		.wr_id = wr_id(conn, queue->posted, false), .sg_list = &sge,
		.num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	}, *bad_send;
	struct ibv_recv_wr receive = {
		.wr_id = wr_id(conn, queue->posted, true), .sg_list = &sge,
		.num_sge = 1,
	}, *bad_receive;
	int err;

	if (!recv)
		fill(at, queue->posted);
	err = recv ? ibv_post_recv(conn->id->qp, &receive, &bad_receive) :
		     ibv_post_send(conn->id->qp, &send, &bad_send);
	good(!err, "a request is posted");
	queue->posted++;
}

static void post_all(struct conn *conn, bool recv)
{
	unsigned int i;

	for (i = 0; i < plan.depth; i++)
		post(conn, recv);
}

/* Events */

static bool make_qp(struct conn *conn)
{
	struct end *end = conn->end;
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC, .send_cq = end->cq, .recv_cq = end->cq,
		.cap = {
			.max_send_wr = plan.depth, .max_recv_wr = plan.depth,
			.max_send_sge = 1, .max_recv_sge = 1,
		},
	};

	if (!good(!rdma_create_qp(conn->id, end->pd, &attr), "a QP is made"))
		return false;
	if (end != &server || !plan.no_receives)
		post_all(conn, true);
	return true;
}

static const struct rdma_conn_param *parameters(void)
{
	static const struct rdma_conn_param param = {
		.retry_count = 7, .rnr_retry_count = 7,
	};

	return &param;
}

static void connect_to(struct conn *conn)
{
	struct rdma_conn_param param = *parameters();

	if (make_qp(conn))
		good(!rdma_connect(conn->id, &param), "rdma_connect()");
}

static void accept_from(struct rdma_cm_id *id)
{
	struct conn *conn = &server.conns[server.count];
	struct rdma_conn_param param = *parameters();

	if (!good(server.count < wanted, "no more requests than clients"))
		return;
	server.count++;
	conn->id = id;
	id->context = conn;
	if (make_qp(conn))
		good(!rdma_accept(id, &param), "rdma_accept()");
}

static void is_established(struct conn *conn)
{
	conn->established = true;
	conn->end->established++;
	post_all(conn, false);
}

static void is_disconnected(struct conn *conn)
{
	good(!conn->disconnected, "the end of a connection is told once");
	conn->disconnected = true;
	conn->end->disconnected++;
	/* Processes have to change the states of their QPs themselves. */
	good(!rdma_disconnect(conn->id), "rdma_disconnect()");
}

static void handle_event(const struct rdma_cm_event *event)
{
	struct conn *conn = event->id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		good(!rdma_resolve_route(event->id, RESOLVE_MS),
		     "rdma_resolve_route()");
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		connect_to(conn);
		break;
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		accept_from(event->id);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		is_established(conn);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		is_disconnected(conn);
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	default:
		diag("%s, status %d", rdma_event_str(event->event),
		     event->status);
		good(false, "no such event is expected");
	}
}

static bool take_event(struct end *end)
{
	struct rdma_cm_event *event, copy;

	if (rdma_get_cm_event(end->events, &event))
		return false;
	copy = *event;
	rdma_ack_cm_event(event);
	handle_event(&copy);
	return true;
}

/* Completions */

static void received(struct conn *conn, const struct ibv_wc *wc, uint32_t n)
{
	good(wc->byte_len == plan.length &&
	     is_message(message(conn, n, true), n), "the data is the same");
	conn->end->received++;
}

static void completed(struct end *end, const struct ibv_wc *wc)
{
	struct conn *conn = &end->conns[wc->wr_id >> INDEX_SHIFT];
	bool recv = wc->wr_id & IS_RECV;
	struct queue *queue = recv ? &conn->recv : &conn->send;
	uint32_t n = queue->done++;

	good(wc->wr_id == wr_id(conn, n, recv), "each completes once, in order");
	if (wc->status == IBV_WC_WR_FLUSH_ERR) {
		queue->flushed++;
		return;
	}
	if (wc->status != IBV_WC_SUCCESS)
		diag("%s", ibv_wc_status_str(wc->status));
	good(wc->status == IBV_WC_SUCCESS && !queue->flushed,
	     "all complete, and then all are flushed");
	if (recv)
		received(conn, wc, n);
	if (plan.flows)
		post(conn, recv);
}

static void take_completions(struct end *end)
{
	struct ibv_wc wc[16];
	struct ibv_cq *cq;
	void *context;
	int i, n;

	while (!ibv_get_cq_event(end->completions, &cq, &context))
		ibv_ack_cq_events(cq, 1);
	good(!ibv_req_notify_cq(end->cq, 0), "ibv_req_notify_cq()");
	while ((n = ibv_poll_cq(end->cq, ARRAY_SIZE(wc), wc)) > 0)
		for (i = 0; i < n; i++)
			completed(end, &wc[i]);
	good(!n, "ibv_poll_cq()");
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ull + now.tv_nsec / 1000000;
}

static void tell_counts(void)
{
	const struct end *ends[] = { &client, &server };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ends); i++)
		diag("%s: %u connections, %u established, %u disconnected, %u messages received",
		     ends[i]->ip, ends[i]->count, ends[i]->established,
		     ends[i]->disconnected, ends[i]->received);
}

/* A flow has no last message, so its messages are no progress. */
static unsigned int progress_of(const struct end *end)
{
	return end->established + end->disconnected +
	       (plan.flows ? 0 : end->received);
}

/* True when @done says so.  It may take long, but not without progress. */
static bool run_until(bool (*done)(void), const char *what)
{
	struct pollfd fds[] = {
		{ client.events->fd, POLLIN }, { server.events->fd, POLLIN },
		{ client.completions->fd, POLLIN },
		{ server.completions->fd, POLLIN },
	};
	uint64_t end = now_ms() + PATIENCE_MS;
	unsigned int progress = 0, last;

	while (!broken && !done()) {
		poll(fds, ARRAY_SIZE(fds), 20);
		last = progress;
		progress = progress_of(&client) + progress_of(&server);
		if (progress != last)
			end = now_ms() + PATIENCE_MS;
		while (!broken && (take_event(&client) || take_event(&server)))
			;
		take_completions(&client);
		take_completions(&server);
		if (!good(now_ms() < end, what))
			tell_counts();
	}
	return !broken;
}

/* A batch of connections */

static bool enter(const struct end *end)
{
	int fd = open(end->ns, O_RDONLY | O_CLOEXEC);
	bool done = CHECK(fd >= 0) && CHECK_CALL(setns(fd, CLONE_NEWNET), 0);

	if (fd >= 0)
		close(fd);
	return done;
}

static struct sockaddr_in address(const struct end *end, int port)
{
	struct sockaddr_in at = {
		.sin_family = AF_INET, .sin_port = htons(port),
	};

	inet_pton(AF_INET, end->ip, &at.sin_addr);
	return at;
}

static bool nonblocking(int fd)
{
	return CHECK_CALL(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
}

static void reset_counts(struct end *end)
{
	end->count = 0;
	end->established = 0;
	end->disconnected = 0;
	end->received = 0;
}

static bool end_open(struct end *end, unsigned int conns, int port)
{
	struct sockaddr_in at = address(end, port);
	size_t size = (size_t)conns * 2 * plan.depth * plan.length;
	unsigned int i;

	if (!enter(end))
		return false;
	reset_counts(end);
	end->events = rdma_create_event_channel();
	if (!CHECK(end->events) || !nonblocking(end->events->fd) ||
	    !CHECK_CALL(rdma_create_id(end->events, &end->anchor, NULL,
				       RDMA_PS_TCP), 0) ||
	    !CHECK_CALL(rdma_bind_addr(end->anchor, (void *)&at), 0) ||
	    !CHECK(end->anchor->verbs))
		return false;
	end->pd = ibv_alloc_pd(end->anchor->verbs);
	end->completions = ibv_create_comp_channel(end->anchor->verbs);
	if (!CHECK(end->pd && end->completions) ||
	    !nonblocking(end->completions->fd))
		return false;
	end->cq = ibv_create_cq(end->anchor->verbs, 2 * conns * plan.depth,
				NULL, end->completions, 0);
	end->memory = calloc(1, size);
	end->conns = calloc(conns, sizeof(*end->conns));
	if (!CHECK(end->cq && end->memory && end->conns))
		return false;
	end->mr = ibv_reg_mr(end->pd, end->memory, size, ALL_ACCESS);
	for (i = 0; i < conns; i++) {
		end->conns[i].end = end;
		end->conns[i].memory = end->memory +
				       (size_t)i * 2 * plan.depth * plan.length;
	}
	return CHECK(end->mr);
}

static bool ends_open(const struct plan *p, unsigned int conns)
{
	plan = *p;
	broken = false;
	return end_open(&server, conns, PORT) &&
	       CHECK_CALL(rdma_listen(server.anchor, BACKLOG), 0) &&
	       end_open(&client, conns, 0);
}

static void end_close(struct end *end)
{
	CHECK_CALL(ibv_dereg_mr(end->mr), 0);
	CHECK_CALL(ibv_destroy_cq(end->cq), 0);
	CHECK_CALL(ibv_destroy_comp_channel(end->completions), 0);
	CHECK_CALL(ibv_dealloc_pd(end->pd), 0);
	CHECK_CALL(rdma_destroy_id(end->anchor), 0);
	rdma_destroy_event_channel(end->events);
	free(end->conns);
	free(end->memory);
}

static bool all_established(void)
{
	return client.established == wanted && server.established == wanted;
}

static bool all_exchanged(void)
{
	return all_established() && client.received == wanted * plan.depth &&
	       server.received == wanted * plan.depth;
}

static bool all_disconnected(void)
{
	return client.disconnected == wanted && server.disconnected == wanted;
}

static bool drained(const struct end *end)
{
	unsigned int i;

	for (i = 0; i < wanted; i++)
		if (end->conns[i].send.done != end->conns[i].send.posted ||
		    end->conns[i].recv.done != end->conns[i].recv.posted)
			return false;
	return true;
}

static bool all_drained(void)
{
	return drained(&client) && drained(&server);
}

/* Starts them without a pause, so that all are being established at once. */
static bool connect_batch(unsigned int conns)
{
	struct sockaddr_in from = address(&client, 0), to = address(&server, PORT);
	struct conn *conn;

	wanted = conns;
	for (client.count = 0; client.count < conns; client.count++) {
		conn = &client.conns[client.count];
		if (!CHECK_CALL(rdma_create_id(client.events, &conn->id, conn,
					       RDMA_PS_TCP), 0) ||
		    !CHECK_CALL(rdma_resolve_addr(conn->id, (void *)&from,
						  (void *)&to, RESOLVE_MS), 0))
			return false;
	}
	return run_until(all_established, "all are established in time");
}

static void disconnect_batch(struct end *end)
{
	unsigned int i;

	for (i = 0; i < wanted; i++)
		good(!rdma_disconnect(end->conns[i].id), "rdma_disconnect()");
}

static void destroy_batch(struct end *end)
{
	struct conn *conn;
	unsigned int i;

	for (i = 0; i < end->count; i++) {
		conn = &end->conns[i];
		if (conn->id && conn->id->qp)
			rdma_destroy_qp(conn->id);
		if (conn->id)
			good(!rdma_destroy_id(conn->id), "rdma_destroy_id()");
		*conn = (struct conn) { .end = end, .memory = conn->memory };
	}
	reset_counts(end);
}

/* Tests */

struct ending {
	struct end *first;
	struct plan plan;
};

static bool flows(void)
{
	return client.received > 20 * plan.depth &&
	       server.received > 20 * plan.depth;
}

static long long naks;

static bool refused(void)
{
	return counter(&hosts[1], "tx_nak_rnr") > naks;
}

static bool over(void)
{
	return all_disconnected() && all_drained();
}

/* Both ends send all the time, or the server never posts receive requests. */
static void ends_under_traffic(const void *arg)
{
	const struct ending *ending = arg;
	struct conn *conn;
	uint64_t start;

	naks = counter(&hosts[1], "tx_nak_rnr");
	REQUIRE(ends_open(&ending->plan, 1) && connect_batch(1));
	REQUIRE(run_until(plan.no_receives ? refused : flows, "data flows"));
	start = now_ms();
	disconnect_batch(ending->first);
	run_until(over, "both are told, and all requests complete");
	start = now_ms() - start;
	diag("ended after %llu ms", (unsigned long long)start);
	CHECK(start < ENDED_MS);
	conn = &ending->first->conns[0];
	if (plan.no_receives)
		CHECK_CALL(client.conns[0].send.flushed, plan.depth);
	else
		CHECK(conn->send.flushed && conn->recv.flushed);
	destroy_batch(&client);
	destroy_batch(&server);
	end_close(&client);
	end_close(&server);
}

struct batches {
	unsigned int total, at_once;
};

static void batches(const void *arg)
{
	static const struct plan small = { .depth = 2, .length = 2000 };
	const struct batches *b = arg;
	unsigned int left;

	REQUIRE(ends_open(&small, b->at_once));
	for (left = b->total; left && !broken; left -= b->at_once) {
		if (connect_batch(b->at_once) &&
		    run_until(all_exchanged, "all data arrives in time")) {
			disconnect_batch(left % 2 ? &client : &server);
			run_until(all_disconnected, "all are told of the end");
		}
		destroy_batch(&client);
		destroy_batch(&server);
	}
	end_close(&client);
	end_close(&server);
}

static unsigned int number(const char *name, unsigned int otherwise)
{
	const char *value = getenv(name);

	return value ? strtoul(value, NULL, 0) : otherwise;
}

static const char *needed(const char *name)
{
	const char *value = getenv(name);

	if (!value) {
		fprintf(stderr, "%s is not set\n", name);
		exit(2);
	}
	return value;
}

static int one_by_one(void)
{
	const struct batches b = {
		.total = number("ONE_BY_ONE", 2000), .at_once = 1,
	};

	run_test(batches, &b, "%u connections one after another", b.total);
	return tests_done();
}

COMMAND(connections)
{
	static const struct plan traffic = {
		.depth = 64, .length = 4000, .flows = true,
	}, not_ready = { .depth = 64, .length = 4000, .no_receives = true };
	static const struct ending endings[] = {
		{ &client, traffic }, { &server, traffic },
		{ &client, not_ready }, { &server, not_ready },
	};
	struct batches at_once;
	size_t i;

	client = (struct end) { .ns = needed("NS1"), .ip = needed("IP1") };
	server = (struct end) { .ns = needed("NS2"), .ip = needed("IP2") };
	at_once.at_once = number("AT_ONCE", 500);
	at_once.total = at_once.at_once;
	fabric_open();
	if (argc > 1)
		return one_by_one();
	for (i = 0; i < ARRAY_SIZE(endings); i++)
		run_test(ends_under_traffic, &endings[i],
			 "the %s disconnects %s",
			 endings[i].first == &client ? "client" : "server",
			 endings[i].plan.flows ? "while data flows both ways" :
			 "while RNR retries run");
	run_test(batches, &at_once, "%u connections at once", at_once.total);
	return tests_done();
}
