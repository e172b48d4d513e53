// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * FLUSH to persistent memory: the device PMEM, such as /dev/dax0.0, of at least 34 MiB.
 * The suite counts the cache lines that are written back.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "flush.h"

#define UNIT	(2ul << 20)	/* alignment of mappings of the device */
#define SIZE	(17 * UNIT)
#define RIGHTS	(GLOBAL | PERSISTENT)
#define ACCESS	(ALL_ACCESS | RIGHTS)
#define SLOWLY		31	/* min_rnr_timer: 491 ms, far longer than a FLUSH */
/* enum ib_placement_type and enum ib_selectivity_level */
#define TO_PERSISTENCE	2
#define TO_BOTH		3
#define RANGE		0
#define REGION		1

/*
 * Maps @size bytes of the device, with a unit of ordinary memory before and behind them.
 * NULL after printing the reason.
 */
static uint8_t *map_pmem(size_t size)
{
	uint8_t *area = mmap(NULL, size + 3 * UNIT, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *at = (uint8_t *)(((uintptr_t)area + 2 * UNIT - 1) & -UNIT);
	int file = open(getenv("PMEM"), O_RDWR);

	if (!CHECK(area != MAP_FAILED) || !CHECK(file >= 0))
		return NULL;
	if (!CHECK(mmap(at, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
			0) == at))
		return NULL;
	close(file);
	return at;
}

static struct ibv_mr *region(const struct abuser *abuser, void *at, size_t size, int access)
{
	errno = 0;
	return ibv_reg_mr(abuser->pair.b.pd, at, size, access);
}

/* The abuser, whose peer has mapped @size bytes; NULL after printing the reason. */
static uint8_t *up(struct abuser *abuser, size_t size)
{
	return CHECK(abuser_up(abuser)) ? map_pmem(size) : NULL;
}

static uint8_t *xrc_up(struct abuser *abuser, size_t size)
{
	return CHECK(abuser_xrc_up(abuser)) ? map_pmem(size) : NULL;
}

static void down(struct abuser *abuser, struct ibv_mr *mr, uint8_t *at, size_t size)
{
	CHECK_CALL(ibv_dereg_mr(mr), 0);
	CHECK_CALL(munmap(at, size), 0);
	abuser_down(abuser);
}

/* Into the ring, without a kick: the provider does not know of FLUSHes before it. */
static void write_4096(struct abuser *abuser, uint32_t rkey, const uint8_t *to)
{
	struct sroce_sqe *sqe = sqe_at(abuser, abuser->slot->sq_tail);
	struct sroce_sge *list = (struct sroce_sge *)(sqe + 1);
	struct ibv_sge sge = piece(&abuser->pair.a, 0, 4096);

	memset(sqe, 0, STRIDE);
	sqe->opcode = SROCE_WR_RDMA_WRITE;
	sqe->num_sge = 1;
	sqe->rdma.remote_addr = (uintptr_t)to;
	sqe->rdma.rkey = rkey;
	sqe->rdma.srqn = abuser->pair.a.srqn;
	list->addr = sge.addr;
	list->length = sge.length;
	list->lkey = sge.lkey;
	__atomic_store_n(&abuser->slot->sq_tail, abuser->slot->sq_tail + 1, __ATOMIC_SEQ_CST);
}

/* The bytes of a WRITE before the FLUSH are there when it completes. */
static bool write_and_flush(struct abuser *abuser, uint32_t rkey, uint8_t *to, uint32_t length,
			    uint8_t type, uint8_t level)
{
	fill(abuser->pair.a.buf, 4096, length + type);
	memset(to, 0, 4096);
	write_4096(abuser, rkey, to);
	flush(abuser, rkey, to, length, type, level);
	return flushed(abuser, IBV_WC_SUCCESS) && CHECK(filled(to, 4096, length + type));
}

static void ranges(const void *arg)
{
	static const uint32_t lengths[] = { 0, 1, 64, 4096, 65536, 65537, UNIT };
	struct abuser abuser;
	struct ibv_mr *mr;
	uint8_t *at;
	size_t i;

	(void)arg;
	at = up(&abuser, SIZE);
	REQUIRE(at);
	mr = region(&abuser, at + 4096, SIZE - 4096, ACCESS);
	REQUIRE(CHECK(mr) && connect_for_flush(&abuser, RIGHTS));
	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		REQUIRE(write_and_flush(&abuser, mr->rkey, at + UNIT - 100, lengths[i],
					TO_PERSISTENCE, RANGE));
		REQUIRE(write_and_flush(&abuser, mr->rkey, at + 4096, lengths[i], TO_BOTH, RANGE));
	}
	down(&abuser, mr, at, SIZE);
}

/* The suite compares the counts before and after. */
static void whole(const void *arg)
{
	struct abuser abuser;
	struct ibv_mr *mr;
	uint8_t *at;

	(void)arg;
	at = up(&abuser, SIZE);
	REQUIRE(at);
	mr = region(&abuser, at, SIZE, ACCESS);
	REQUIRE(CHECK(mr) && connect_for_flush(&abuser, RIGHTS));
	REQUIRE(write_and_flush(&abuser, mr->rkey, at + SIZE - 4096, 7, TO_PERSISTENCE, REGION));
	/* The next one begins again. */
	REQUIRE(write_and_flush(&abuser, mr->rkey, at, 7, TO_PERSISTENCE, REGION));
	down(&abuser, mr, at, SIZE);
}

/* The target has no PD of its own: the SRQ that a FLUSH names has one. */
static void xrc_target(const void *arg)
{
	struct abuser abuser;
	struct ibv_mr *mr;
	uint8_t *at;

	(void)arg;
	at = xrc_up(&abuser, SIZE);
	REQUIRE(at);
	mr = region(&abuser, at, SIZE, ACCESS);
	REQUIRE(CHECK(mr) && connect_for_flush(&abuser, RIGHTS));
	REQUIRE(write_and_flush(&abuser, mr->rkey, at + SIZE - 4096, 7, TO_PERSISTENCE, REGION));
	REQUIRE(write_and_flush(&abuser, mr->rkey, at + 4096, UNIT, TO_BOTH, RANGE));
	down(&abuser, mr, at, SIZE);
}

/**
 * struct slow - a FLUSH of a whole region that is being executed
 * @abuser: the requester, and its peer
 * @at: persistent memory of @SIZE bytes
 * @mr: the region
 * @before: counter of delayed attempts before the FLUSH
 */
struct slow {
	struct abuser abuser;
	uint8_t *at;
	struct ibv_mr *mr;
	long long before;
};

/* Registers the first @size bytes, and posts the FLUSH; false after printing the reason. */
static bool flush_slowly(struct slow *s, size_t size)
{
	s->mr = region(&s->abuser, s->at, size, ACCESS);
	s->before = counter(&hosts[1], "rx_paged_out");
	s->abuser.pair.options.min_rnr_timer = SLOWLY;
	if (!CHECK(s->mr) || !connect_for_flush(&s->abuser, RIGHTS))
		return false;
	flush(&s->abuser, s->mr->rkey, s->at, 0, TO_PERSISTENCE, REGION);
	return true;
}

/* The first attempt has been delayed. */
static bool is_delayed(const struct slow *s)
{
	return CHECK(counter_leaves(&hosts[1], "rx_paged_out", s->before));
}

/* The peer's next attempt is refused. */
static void region_destroyed(const void *arg)
{
	struct slow s;

	(void)arg;
	s.at = up(&s.abuser, SIZE);
	REQUIRE(s.at);
	REQUIRE(flush_slowly(&s, SIZE));
	CHECK_CALL(ibv_dereg_mr(s.mr), 0);
	CHECK_CALL(munmap(s.at, SIZE), 0);
	is_delayed(&s);
	CHECK(flushed(&s.abuser, IBV_WC_REM_ACCESS_ERR));
	REQUIRE(connect_for_flush(&s.abuser, RIGHTS));
	CHECK(works(&s.abuser.pair));
	abuser_down(&s.abuser);
}

static void srq_destroyed(const void *arg)
{
	struct slow s;

	(void)arg;
	s.at = xrc_up(&s.abuser, SIZE);
	REQUIRE(s.at);
	REQUIRE(flush_slowly(&s, SIZE));
	CHECK_CALL(ibv_destroy_srq(s.abuser.pair.b.srq), 0);
	s.abuser.pair.b.own_srq = false;
	is_delayed(&s);
	CHECK(flushed(&s.abuser, IBV_WC_REM_ACCESS_ERR));
	down(&s.abuser, s.mr, s.at, SIZE);
}

/* The key names other memory now.  The next attempt writes that back from its first byte on. */
static void region_changed(const void *arg)
{
	struct slow s;

	(void)arg;
	s.at = up(&s.abuser, SIZE);
	REQUIRE(s.at);
	REQUIRE(flush_slowly(&s, SIZE - UNIT) && is_delayed(&s));
	CHECK_CALL(ibv_rereg_mr(s.mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, s.at + SIZE - UNIT,
				UNIT, 0), 0);
	CHECK(flushed(&s.abuser, IBV_WC_SUCCESS));
	CHECK_CALL(counter(&hosts[1], "rx_paged_out") - s.before, 2);
	down(&s.abuser, s.mr, s.at, SIZE);
}

/* It gives up, writes other data, and flushes that. */
static void peer_reset(const void *arg)
{
	struct slow s;
	struct pair *pair = &s.abuser.pair;

	(void)arg;
	s.at = up(&s.abuser, SIZE);
	REQUIRE(s.at);
	REQUIRE(flush_slowly(&s, SIZE) && is_delayed(&s));
	CHECK_CALL(to_reset(&pair->a), 0);
	REQUIRE(CHECK(side_connect(&pair->a, &pair->b, &pair->options)));
	REQUIRE(write_and_flush(&s.abuser, s.mr->rkey, s.at, 7, TO_PERSISTENCE, REGION));
	CHECK_CALL(counter(&hosts[1], "rx_paged_out") - s.before, 2);
	down(&s.abuser, s.mr, s.at, SIZE);
}

/* Only regions of persistent memory get the right. */
static void registering(const void *arg)
{
	struct abuser abuser;
	struct ibv_mr *mr;
	uint8_t *at;

	(void)arg;
	CHECK(can_flush(&hosts[1], RIGHTS));
	at = up(&abuser, 2 * UNIT);
	REQUIRE(at);
	CHECK(!region(&abuser, at - 4096, 8192, ACCESS));
	CHECK_CALL(errno, EINVAL);
	CHECK(!region(&abuser, at + 2 * UNIT - 1, 2, ACCESS));
	CHECK_CALL(errno, EINVAL);
	CHECK(!region(&abuser, at - 4096, 4096, ACCESS));
	CHECK_CALL(errno, EINVAL);
	CHECK(!region(&abuser, at, 4096, ACCESS | IBV_ACCESS_ON_DEMAND));
	CHECK_CALL(errno, EOPNOTSUPP);
	mr = region(&abuser, at + 2 * UNIT - 1, 1, ACCESS);
	if (CHECK(mr))
		down(&abuser, mr, at, 2 * UNIT);
}

static void reregistering(const void *arg)
{
	struct abuser abuser;
	struct ibv_mr *mr;
	uint8_t *at;

	(void)arg;
	at = up(&abuser, 2 * UNIT);
	REQUIRE(at);
	mr = region(&abuser, at, UNIT, ALL_ACCESS);
	REQUIRE(CHECK(mr) && connect_for_flush(&abuser, RIGHTS));
	flush(&abuser, mr->rkey, at, 64, TO_PERSISTENCE, RANGE);
	CHECK(flushed(&abuser, IBV_WC_REM_ACCESS_ERR));
	CHECK_CALL(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, ACCESS), 0);
	REQUIRE(connect_for_flush(&abuser, RIGHTS));
	CHECK(write_and_flush(&abuser, mr->rkey, at, 64, TO_PERSISTENCE, RANGE));
	/* It cannot move to ordinary memory with this right. */
	CHECK(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, at - 8192, 4096, 0));
	down(&abuser, mr, at, 2 * UNIT);
}

static int bind(struct side *side, struct ibv_mw *mw, struct ibv_mr *mr, int access)
{
	struct ibv_mw_bind request = {
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info = {
			.mr = mr,
			.addr = (uintptr_t)mr->addr + 4096,
			.length = 8192,
			.mw_access_flags = access,
		},
	};
	struct ibv_wc wc;

	CHECK_CALL(ibv_bind_mw(side->qp, mw, &request), 0);
	return CHECK(next_wc(side->scq, &wc)) ? (int)wc.status : -1;
}

static void windows(const void *arg)
{
	const int access = IBV_ACCESS_REMOTE_WRITE | PERSISTENT;
	struct abuser abuser;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	uint8_t *at;

	(void)arg;
	at = up(&abuser, UNIT);
	REQUIRE(at);
	mr = region(&abuser, at, UNIT, ACCESS | IBV_ACCESS_MW_BIND);
	mw = ibv_alloc_mw(abuser.pair.b.pd, IBV_MW_TYPE_1);
	REQUIRE(CHECK(mr && mw) && connect_for_flush(&abuser, RIGHTS));
	REQUIRE(CHECK_CALL(bind(&abuser.pair.b, mw, mr, access), IBV_WC_SUCCESS));
	CHECK(write_and_flush(&abuser, mw->rkey, at + 4096, 8192, TO_PERSISTENCE, RANGE));
	flush(&abuser, mw->rkey, at + 4096, 8193, TO_PERSISTENCE, RANGE);
	CHECK(flushed(&abuser, IBV_WC_REM_ACCESS_ERR));
	CHECK_CALL(ibv_dealloc_mw(mw), 0);
	down(&abuser, mr, at, UNIT);
}

/* A window has no right that its region has not. */
static void window_of_ordinary_region(const void *arg)
{
	struct abuser abuser;
	struct ibv_mr *mr;
	struct ibv_mw *mw;

	(void)arg;
	REQUIRE(abuser_up(&abuser));
	mr = region(&abuser, abuser.pair.b.buf, 65536, ALL_ACCESS | IBV_ACCESS_MW_BIND);
	mw = ibv_alloc_mw(abuser.pair.b.pd, IBV_MW_TYPE_1);
	REQUIRE(CHECK(mr && mw));
	CHECK_CALL(bind(&abuser.pair.b, mw, mr, IBV_ACCESS_REMOTE_WRITE | PERSISTENT),
		   IBV_WC_MW_BIND_ERR);
	CHECK_CALL(ibv_dealloc_mw(mw), 0);
	CHECK_CALL(ibv_dereg_mr(mr), 0);
	abuser_down(&abuser);
}

GROUP(pmem)
{
	/* Other suites run all groups, without such memory. */
	if (!getenv("PMEM"))
		return;
	run_test(ranges, NULL, "persistent memory: ranges");
	run_test(whole, NULL, "persistent memory: a whole region");
	run_test(xrc_target, NULL, "persistent memory: XRC");
	run_test(region_destroyed, NULL, "persistent memory: region destroyed during a FLUSH");
	run_test(srq_destroyed, NULL, "persistent memory: SRQ destroyed during a FLUSH");
	run_test(region_changed, NULL, "persistent memory: region changed during a FLUSH");
	run_test(peer_reset, NULL, "persistent memory: peer reset during a FLUSH");
	run_test(registering, NULL, "persistent memory: registering");
	run_test(reregistering, NULL, "persistent memory: registering again");
	run_test(windows, NULL, "persistent memory: windows");
	run_test(window_of_ordinary_region, NULL,
		 "persistent memory: a window of ordinary memory");
}
