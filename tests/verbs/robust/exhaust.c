// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Every allocation of every verb fails once: the first one of a call, then the second
 * one, until a call succeeds.  The call must return the error, existing objects must
 * still work, and nothing may leak.  In calls with too many allocations, PLACES random
 * ones fail.
 *
 * For kernels with fault injection.
 *
 *	SEED, PLACES
 *
 * usage: exhaust [NAME...]	the verbs to test, see the list below
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "chance.h"
#include "exporters.h"
#include "faulty.h"
#include "transfer.h"

/* More than any call needs. */
#define MOST	3000
/* "rdma link add": the driver's allocations; those of its thousands of files follow. */
#define OURS	120

static uint64_t seed;
static unsigned long places;

static struct pair pair;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_context *context;
static uint8_t *memory;
#define MEMORY	(4u << 20)

/**
 * struct act - a call that may fail
 * @name: of the call
 * @run: calls it; 0 and a result in *@object, or an errno
 * @undo: undoes the call; 0 or an errno; may fail by injection, too
 * @before: creates objects that the call needs
 * @after: destroys them
 * @other_errno: errno that libibverbs, or an earlier step of the call, returns instead
 * @sample: it has too many allocations, and takes too long, to try all
 */
struct act {
	const char *name;
	int (*run)(void **object);
	int (*undo)(void *object);
	bool (*before)(void);
	void (*after)(void);
	int other_errno;
	bool sample;
};

static int result(void **object, void *made)
{
	*object = made;
	return made ? 0 : errno;
}

/* The calls */

static int open_device(void **object)
{
	return result(object, ibv_open_device(context->device));
}

static int close_device(void *object)
{
	return ibv_close_device(object);
}

static int alloc_pd(void **object)
{
	return result(object, ibv_alloc_pd(context));
}

static int dealloc_pd(void *object)
{
	return ibv_dealloc_pd(object);
}

static int create_channel(void **object)
{
	return result(object, ibv_create_comp_channel(context));
}

static int destroy_channel(void *object)
{
	return ibv_destroy_comp_channel(object);
}

static int create_cq(void **object)
{
	return result(object, ibv_create_cq(context, 1000, NULL, NULL, 0));
}

static int destroy_cq(void *object)
{
	return ibv_destroy_cq(object);
}

static int resize_cq(void **object)
{
	static int cqe;

	*object = NULL;
	cqe = cqe == 900 ? 2000 : 900;
	return ibv_resize_cq(cq, cqe);
}

static int create_srq(void **object)
{
	struct ibv_srq_init_attr attr = {
		.attr = { .max_wr = 500, .max_sge = 4 },
	};

	return result(object, ibv_create_srq(pd, &attr));
}

static int destroy_srq(void *object)
{
	return ibv_destroy_srq(object);
}

static struct ibv_srq *srq;

static bool make_srq(void)
{
	void *object;

	if (create_srq(&object))
		return false;
	srq = object;
	return true;
}

static void drop_srq(void)
{
	CHECK_CALL(ibv_destroy_srq(srq), 0);
}

static int modify_srq(void **object)
{
	struct ibv_srq_attr attr = { .srq_limit = 3 };

	*object = NULL;
	return ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT);
}

static int create_qp_of(enum ibv_qp_type type, void **object)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq, .recv_cq = cq, .qp_type = type,
		.cap = { 200, type == IBV_QPT_XRC_SEND ? 0 : 200, 4,
			 type == IBV_QPT_XRC_SEND ? 0 : 4, 100 },
	};

	return result(object, ibv_create_qp(pd, &attr));
}

static int create_rc(void **object)
{
	return create_qp_of(IBV_QPT_RC, object);
}

static int create_uc(void **object)
{
	return create_qp_of(IBV_QPT_UC, object);
}

static int create_ud(void **object)
{
	return create_qp_of(IBV_QPT_UD, object);
}

static int create_xrc(void **object)
{
	return create_qp_of(IBV_QPT_XRC_SEND, object);
}

static int destroy_qp(void *object)
{
	return ibv_destroy_qp(object);
}

static int create_xrcd(void **object)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1,
		.oflags = O_CREAT,
	};

	return result(object, ibv_open_xrcd(context, &attr));
}

static int close_xrcd(void *object)
{
	return ibv_close_xrcd(object);
}

static struct ibv_xrcd *xrcd;

static bool make_xrcd(void)
{
	xrcd = xrcd_open(context);
	return xrcd;
}

static void drop_xrcd(void)
{
	CHECK_CALL(ibv_close_xrcd(xrcd), 0);
}

static int create_xrc_srq(void **object)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = 100, .max_sge = 2 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC,
		.pd = pd,
		.xrcd = xrcd,
		.cq = cq,
	};

	return result(object, ibv_create_srq_ex(context, &attr));
}

/* Through all states, and back. */
static int modify_qp(void **object)
{
	struct options options = {};
	int err;

	*object = NULL;
	err = to_reset(&pair.a);
	if (!err)
		err = to_init(&pair.a, &options);
	if (!err)
		err = to_rtr(&pair.a, &pair.b, &options);
	if (!err)
		err = to_rts(&pair.a, &options);
	return err;
}

static int query_qp(void **object)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	*object = NULL;
	return ibv_query_qp(pair.a.qp, &attr, IBV_QP_STATE, &init);
}

static int reg_mr(void **object)
{
	return result(object, ibv_reg_mr(pd, memory, MEMORY, ALL_ACCESS));
}

static int dereg_mr(void *object)
{
	return ibv_dereg_mr(object);
}

static int reg_odp(void **object)
{
	return result(object, ibv_reg_mr(pd, memory, MEMORY, ALL_ACCESS |
					 IBV_ACCESS_ON_DEMAND));
}

static int alloc_null(void **object)
{
	return result(object, ibv_alloc_null_mr(pd));
}

static int dmabuf;

static bool make_dmabuf(void)
{
	dmabuf = any_dmabuf(O_RDWR | O_CLOEXEC);
	return dmabuf >= 0;
}

static void drop_dmabuf(void)
{
	close(dmabuf);
}

static int reg_dmabuf(void **object)
{
	return result(object, ibv_reg_dmabuf_mr(pd, 0, DMABUF_SIZE, 0, dmabuf,
						ALL_ACCESS));
}

static struct ibv_mr *mr;

static bool make_mr(void)
{
	mr = ibv_reg_mr(pd, memory, MEMORY, ALL_ACCESS);
	return mr;
}

static bool make_odp(void)
{
	mr = ibv_reg_mr(pd, memory, MEMORY, ALL_ACCESS | IBV_ACCESS_ON_DEMAND);
	return mr;
}

static void drop_mr(void)
{
	CHECK_CALL(ibv_dereg_mr(mr), 0);
}

/* A region whose change failed half-way can only be changed again or destroyed. */
static int rereg_mr(void **object)
{
	static size_t length;

	*object = NULL;
	length = length == 123456 ? 3 << 20 : 123456;
	return ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, memory,
			    length, 0) ? errno : 0;
}

static int advise_mr(void **object)
{
	struct ibv_sge sge = { (uintptr_t)memory, MEMORY, mr->lkey };

	*object = NULL;
	madvise(memory, MEMORY, MADV_DONTNEED);
	return ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
			     IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1);
}

static int alloc_window(void **object)
{
	return result(object, ibv_alloc_mw(pd, IBV_MW_TYPE_2));
}

static int dealloc_window(void *object)
{
	return ibv_dealloc_mw(object);
}

static int create_ah(void **object)
{
	return result(object, address_of(pd, &hosts[0], &hosts[1]));
}

static int destroy_ah(void *object)
{
	return ibv_destroy_ah(object);
}

static int alloc_dm(void **object)
{
	struct ibv_alloc_dm_attr attr = { .length = 8192 };

	return result(object, ibv_alloc_dm(context, &attr));
}

static int free_dm(void *object)
{
	return ibv_free_dm(object);
}

static struct ibv_dm *dm;

static bool make_dm(void)
{
	void *object;
	int err = alloc_dm(&object);

	dm = object;
	return !err;
}

static void drop_dm(void)
{
	CHECK_CALL(ibv_free_dm(dm), 0);
}

static int reg_dm(void **object)
{
	return result(object, ibv_reg_dm_mr(pd, dm, 0, 8192,
					    IBV_ACCESS_ZERO_BASED |
					    IBV_ACCESS_LOCAL_WRITE));
}

static struct ibv_qp *ud;

static bool make_ud(void)
{
	struct ibv_qp_attr attr;
	void *object;
	int mask;

	if (create_ud(&object))
		return false;
	ud = object;
	init_attr(&attr, &mask, IBV_QPT_UD, &(struct options) {});
	return !ibv_modify_qp(ud, &attr, mask);
}

static void drop_ud(void)
{
	CHECK_CALL(ibv_destroy_qp(ud), 0);
}

static const union ibv_gid group = {
	.raw = { [10] = 0xff, [11] = 0xff, [12] = 239, 1, 2, 4 },
};

static int attach(void **object)
{
	int err = ibv_attach_mcast(ud, &group, 0);

	*object = err ? NULL : ud;
	return err;
}

static int detach(void *object)
{
	return ibv_detach_mcast(object, &group, 0);
}

static int link_add(void **object)
{
	int err = rdma_link_add("sroce9", "spare0");

	*object = err ? NULL : memory;
	return err;
}

static int link_delete(void *object)
{
	(void)object;
	return rdma_link_delete("sroce9");
}

static bool spare_netdev(void)
{
	return !system("ip link add spare0 type dummy") &&
	       !system("ip link set spare0 up");
}

static void no_spare_netdev(void)
{
	CHECK(!system("ip link delete spare0"));
}

/* Beside a device that is in no VRF, so that sockets share the port. */
static bool spare_in_vrf(void)
{
	return !system("ip link add red0 type vrf table 78") &&
	       !system("ip link add shared0 up type dummy") &&
	       !rdma_link_add("sroce8", "shared0") && spare_netdev() &&
	       !system("ip link set spare0 master red0 && ip link set red0 up");
}

static void no_spare_in_vrf(void)
{
	no_spare_netdev();
	CHECK_CALL(rdma_link_delete("sroce8"), 0);
	CHECK(!system("ip link delete shared0 && ip link delete red0"));
}

/*
 * The RDMA core leaks the domain if its part of creating a receiving XRC QP fails
 * (create_xrc_qp_user()), so there is no such QP.
 */
static const struct act acts[] = {
	{ "open and close", open_device, close_device, .other_errno = ENOENT },
	{ "protection domain", alloc_pd, dealloc_pd },
	{ "completion channel", create_channel, destroy_channel },
	{ "completion queue", create_cq, destroy_cq },
	{ "resize a completion queue", resize_cq },
	{ "SRQ", create_srq, destroy_srq },
	{ "modify an SRQ", modify_srq, .before = make_srq, .after = drop_srq },
	{ "RC QP", create_rc, destroy_qp },
	{ "UC QP", create_uc, destroy_qp },
	{ "UD QP", create_ud, destroy_qp },
	{ "XRC QP that sends", create_xrc, destroy_qp },
	{ "XRC domain", create_xrcd, close_xrcd },
	{ "XRC SRQ", create_xrc_srq, destroy_srq, make_xrcd, drop_xrcd },
	{ "modify a QP", modify_qp },
	{ "query a QP", query_qp },
	{ "region", reg_mr, dereg_mr },
	{ "region on demand", reg_odp, dereg_mr },
	{ "region of a dma-buf", reg_dmabuf, dereg_mr, make_dmabuf,
	  drop_dmabuf },
	{ "region of nothing", alloc_null, dereg_mr },
	{ "change a region", rereg_mr, NULL, make_mr, drop_mr },
	{ "prefetch", advise_mr, NULL, make_odp, drop_mr },
	{ "memory window", alloc_window, dealloc_window },
	{ "address handle", create_ah, destroy_ah },
	{ "device memory", alloc_dm, free_dm },
	{ "region of device memory", reg_dm, dereg_mr, make_dm, drop_dm },
	{ "multicast group", attach, detach, make_ud, drop_ud },
	{ "link", link_add, link_delete, spare_netdev, no_spare_netdev,
	  ENFILE, .sample = true },
	{ "link in a VRF", link_add, link_delete, spare_in_vrf, no_spare_in_vrf,
	  ENFILE, .sample = true },
};

static bool good_errno(const struct act *act, int err)
{
	return err == ENOMEM || err == ENOBUFS || err == EAGAIN ||
	       err == act->other_errno;
}

/* Undoes it with the same failures, then without. */
static void undo(const struct act *act, void *object, int nth)
{
	int err;

	fail_nth(nth);
	err = act->undo(object);
	fail_stop();
	if (!err)
		return;
	if (!CHECK(good_errno(act, err)))
		diag("allocation %d of undoing: errno %d", nth, err);
	CHECK_CALL(act->undo(object), 0);
}

/* Calls that failed, of all acts */
static int failures;

/* Returns true if no allocation was left to fail. */
static bool attempt(const struct act *act, int nth, int *failed)
{
	void *object = NULL;
	bool reached;
	int err;

	fail_nth(nth);
	err = act->run(&object);
	reached = fail_stop();
	if (err) {
		*failed += 1;
		failures++;
		if (!CHECK(reached && good_errno(act, err)))
			diag("allocation %d: errno %d", nth, err);
	} else if (act->undo) {
		undo(act, object, nth);
	}
	return !reached;
}

static void try_all(const struct act *act)
{
	int nth, failed = 0;

	for (nth = 1; nth < MOST; nth++)
		if (attempt(act, nth, &failed))
			break;
	CHECK(nth < MOST);
	diag("%s: %d allocations, without %d of them it failed", act->name,
	     nth - 1, failed);
}

/* How many allocations the call has when none fails. */
static int count(const struct act *act)
{
	void *object;
	int left;

	fail_nth(INT_MAX);
	CHECK_CALL(act->run(&object), 0);
	left = fail_left();
	fail_stop();
	CHECK_CALL(act->undo(object), 0);
	return INT_MAX - left;
}

static void try_some(const struct act *act)
{
	struct chance c = { seed };
	int failed = 0, total = count(act);
	unsigned long i;

	for (i = 0; places ? i < places : i < OURS; i++)
		attempt(act, places ? 1 + draw_below(&c, i % 2 ? total : OURS) :
				      1 + i, &failed);
	diag("%s: %lu of %d allocations, without %d of them it failed",
	     act->name, i, total, failed);
}

static void exhaust(const void *arg)
{
	const struct act *act = arg;
	void *object;

	REQUIRE(!act->before || act->before());
	if (act->sample)
		try_some(act);
	else
		try_all(act);
	CHECK_CALL(act->run(&object), 0);
	if (act->undo)
		CHECK_CALL(act->undo(object), 0);
	if (act->after)
		act->after();
	CHECK(pair_again(&pair) && works(&pair));
}

/* One in five allocations of the data path fails. */
static void traffic(const void *arg)
{
	const struct options options = { .type = IBV_QPT_RC, .timeout = 10 };
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
	};
	struct pair busy;
	int i;

	(void)arg;
	REQUIRE(pair_up(&busy, &options));
	for (i = 0; i < 300; i++) {
		fail_some(i % 3 ? 20 : 5);
		if (!CHECK(transfer(&busy, &(const struct transfer) {
				.opcode = ops[i % 3], .length = i * 97 % 20000,
			   })))
			break;
	}
	fail_none();
	CHECK(works(&busy));
	pair_down(&busy);
}

/*
 * A QP has no memory for its send requests before the first post.  If there is none in
 * the error state either, a request that is posted to detect the end is flushed all the
 * same.  The queue is short, so that its allocation has no fallback.
 */
static const struct options unused = { .wr = 16 };

#define STARVATIONS	10

static bool flushed(const struct side *side, struct ibv_cq *of, uint64_t id)
{
	return EXPECT(of, side->qp, .wr_id = id,
		      .status = IBV_WC_WR_FLUSH_ERR);
}

static bool receive_starved(struct side *side, int nth, bool *failed)
{
	int err;

	fail_nth(nth);
	err = post_recv(side, 2, 0, 8);
	*failed = fail_stop();
	return CHECK_CALL(err, 0) && flushed(side, side->rcq, 2);
}

static bool send_starved(struct side *side, int nth, bool *failed)
{
	int err;

	fail_nth(nth);
	err = post_send(side, 2, 0, 8, IBV_SEND_SIGNALED);
	*failed = fail_stop();
	return CHECK_CALL(err, 0) && flushed(side, side->scq, 2) &&
	       CHECK_CALL(post_send(side, 3, 0, 8, IBV_SEND_SIGNALED), 0) &&
	       flushed(side, side->scq, 3);
}

static bool starve_in_error(bool send, int nth, bool *failed)
{
	struct pair p;
	bool good;

	if (!CHECK(pair_up(&p, &unused)) ||
	    !CHECK_CALL(post_recv(&p.a, 1, 0, 8), 0) ||
	    !CHECK_CALL(to_state(&p.a, IBV_QPS_ERR), 0) ||
	    !flushed(&p.a, p.a.rcq, 1))
		return false;
	good = send ? send_starved(&p.a, nth, failed) :
		      receive_starved(&p.a, nth, failed);
	pair_down(&p);
	return good;
}

static void in_error(const void *arg)
{
	bool failed = true;
	int nth;

	for (nth = 1; failed && nth < STARVATIONS; nth++)
		REQUIRE(starve_in_error(arg, nth, &failed));
	/* One has failed, and then none. */
	CHECK(nth > 2 && !failed);
}

/* Binding changes an entry that exists, so it cannot fail for memory. */
static bool bind_starved(struct pair *p, struct ibv_mw *mw, int nth, bool *failed)
{
	struct ibv_mw_bind request = {
		.wr_id = 5,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info = {
			.mr = p->a.mr,
			.addr = (uintptr_t)p->a.buf,
			.length = 1000,
			.mw_access_flags = IBV_ACCESS_REMOTE_READ,
		},
	};
	int err;

	fail_nth(nth);
	err = ibv_bind_mw(p->a.qp, mw, &request);
	*failed = fail_stop();
	return CHECK_CALL(err, 0) &&
	       EXPECT(p->a.scq, p->a.qp, .wr_id = 5, .opcode = IBV_WC_BIND_MW);
}

static void bind_window(const void *arg)
{
	const struct options options = {
		.mr_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
			     IBV_ACCESS_MW_BIND,
	};
	struct ibv_mw *mw;
	bool failed = true;
	struct pair p;
	int nth;

	(void)arg;
	REQUIRE(pair_up(&p, &options));
	mw = ibv_alloc_mw(p.a.pd, IBV_MW_TYPE_1);
	REQUIRE(CHECK(mw));
	/* The first post allocates the QP's memory for requests. */
	REQUIRE(bind_starved(&p, mw, 0, &failed));
	for (nth = 1, failed = true; failed && nth < STARVATIONS; nth++)
		REQUIRE(bind_starved(&p, mw, nth, &failed));
	CHECK(!failed);
	CHECK_CALL(ibv_dealloc_mw(mw), 0);
	pair_down(&p);
}

static bool chosen(const char *name, int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		if (!strcmp(argv[i], name))
			return true;
	return argc == 1;
}

/* Otherwise the kernel has let no allocation fail, and the tests of before show nothing. */
static void faults_work(const void *arg)
{
	(void)arg;
	CHECK(failures);
}

COMMAND(exhaust)
{
	const char *text = getenv("SEED"), *number = getenv("PLACES");
	size_t i;

	seed = text ? strtoull(text, NULL, 0) : (uint64_t)now_ms();
	places = number ? strtoul(number, NULL, 0) : 6;
	diag("seed %llu", (unsigned long long)seed);
	fabric_open();
	if (!faults_ready()) {
		printf("1..0 # SKIP this kernel has no fault injection\n");
		return 0;
	}
	context = hosts[0].context;
	pd = ibv_alloc_pd(context);
	cq = ibv_create_cq(context, 900, NULL, NULL, 0);
	memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (!pd || !cq || memory == MAP_FAILED || !pair_up(&pair, NULL)) {
		printf("Bail out! cannot begin\n");
		return 1;
	}
	for (i = 0; i < ARRAY_SIZE(acts); i++)
		if (chosen(acts[i].name, argc, argv))
			run_test(exhaust, &acts[i], "%s", acts[i].name);
	if (chosen("traffic", argc, argv))
		run_test(traffic, NULL, "traffic");
	if (chosen("flush", argc, argv)) {
		run_test(in_error, NULL, "flush of receive requests");
		run_test(in_error, "send", "flush of send requests");
	}
	if (chosen("bind", argc, argv))
		run_test(bind_window, NULL, "binding a window");
	if (argc == 1)
		run_test(faults_work, NULL, "calls failed for want of memory");
	pair_down(&pair);
	return tests_done();
}
