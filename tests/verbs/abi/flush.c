// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * FLUSH, which rdma-core 44 cannot post yet: written into the ring.  Any kernel
 * can send it; regions can be flushed on kernels from 6.2 on.
 */
#include <errno.h>
#include <string.h>

#include "flush.h"

#define FLUSH_ID	0xf1
#define FLUSH_WC	8		/* IBV_WC_FLUSH */
#define CAP_GLOBAL	(1ull << 38)	/* IBV_DEVICE_FLUSH_GLOBAL */
#define CAP_PERSISTENT	(1ull << 39)

bool can_flush(const struct host *host, int access)
{
	uint64_t wanted = (access & GLOBAL ? CAP_GLOBAL : 0) |
			  (access & PERSISTENT ? CAP_PERSISTENT : 0);
	struct ibv_device_attr_ex attr;

	return CHECK_CALL(ibv_query_device_ex(host->context, NULL, &attr), 0) &&
	       (attr.device_cap_flags_ex & wanted) == wanted;
}

void flush(struct abuser *abuser, uint32_t rkey, const void *remote, uint32_t length,
	   uint8_t type, uint8_t level)
{
	struct sroce_sqe *sqe = sqe_at(abuser, abuser->slot->sq_tail);

	memset(sqe, 0, STRIDE);
	sqe->wr_id = FLUSH_ID;
	sqe->opcode = SROCE_WR_FLUSH;
	sqe->flags = SROCE_WR_SIGNALED;
	sqe->flush.remote_addr = (uintptr_t)remote;
	sqe->flush.rkey = rkey;
	sqe->flush.srqn = abuser->pair.a.srqn;
	sqe->flush.length = length;
	sqe->flush.type = type;
	sqe->flush.level = level;
	__atomic_store_n(&abuser->slot->sq_tail, abuser->slot->sq_tail + 1,
			 __ATOMIC_SEQ_CST);
	CHECK_CALL(kick(abuser), 0);
}

bool flushed(struct abuser *abuser, enum ibv_wc_status status)
{
	return EXPECT(abuser->pair.a.scq, abuser->pair.a.qp, .wr_id = FLUSH_ID,
		      .status = status, .opcode = FLUSH_WC);
}

bool connect_for_flush(struct abuser *abuser, int access)
{
	abuser->pair.options.qp_access = ALL_ACCESS | access;
	return CHECK(pair_again(&abuser->pair));
}

static struct ibv_mr *region(const struct abuser *abuser, int access)
{
	const struct side *b = &abuser->pair.b;
	struct ibv_mr *mr = ibv_reg_mr(b->pd, b->buf, b->size, access);

	CHECK(mr);
	return mr;
}

static void allowed(const void *arg)
{
	static const uint32_t lengths[] = { 0, 1, 4096, 65536 };
	struct abuser abuser;
	struct ibv_mr *mr;
	uint8_t *buf;
	size_t i;

	(void)arg;
	if (!can_flush(&hosts[1], GLOBAL)) {
		skip("this kernel registers no such regions");
		return;
	}
	REQUIRE(abuser_up(&abuser));
	buf = abuser.pair.b.buf;
	mr = region(&abuser, IBV_ACCESS_LOCAL_WRITE | GLOBAL);
	REQUIRE(mr && connect_for_flush(&abuser, GLOBAL));
	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		flush(&abuser, mr->rkey, buf, lengths[i], 1, 0);
		REQUIRE(flushed(&abuser, IBV_WC_SUCCESS));
		flush(&abuser, mr->rkey, buf + 65536 - lengths[i], lengths[i], 1, 0);
		REQUIRE(flushed(&abuser, IBV_WC_SUCCESS));
	}
	/* The whole region, whatever part is named. */
	flush(&abuser, mr->rkey, buf + (1 << 20), 12345678, 1, 1);
	REQUIRE(flushed(&abuser, IBV_WC_SUCCESS));
	flush(&abuser, mr->rkey, buf, UINT32_MAX, 1, 1);
	REQUIRE(flushed(&abuser, IBV_WC_SUCCESS));
	REQUIRE(connect_for_flush(&abuser, GLOBAL));
	CHECK(works(&abuser.pair));
	CHECK_CALL(ibv_dereg_mr(mr), 0);
	abuser_down(&abuser);
}

/**
 * struct refusal - a FLUSH that is refused
 * @mr_access: of the region, beside the usual rights
 * @qp_access: of the peer's QP, too
 * @key: bits of the key to change
 */
struct refusal {
	const char *name;
	int mr_access;
	int qp_access;
	uint32_t key;
	size_t remote;
	uint32_t length;
	uint8_t type;
	uint8_t level;
	enum ibv_wc_status status;
};

static const struct refusal refusals[] = {
	{ "region without the right", 0, GLOBAL, 0, 0, 8, 1, 0,
	  IBV_WC_REM_ACCESS_ERR },
	{ "all of a region without the right", 0, GLOBAL, 0, 0, 8, 1, 1,
	  IBV_WC_REM_ACCESS_ERR },
	{ "QP without the right", GLOBAL, 0, 0, 0, 8, 1, 0,
	  IBV_WC_REM_INV_REQ_ERR },
	{ "persistence, a right that this region does not have", GLOBAL, GLOBAL | PERSISTENT, 0,
	  0, 8, 2, 0, IBV_WC_REM_ACCESS_ERR },
	{ "persistence and visibility", GLOBAL, GLOBAL | PERSISTENT, 0, 0, 8,
	  3, 1, IBV_WC_REM_ACCESS_ERR },
	{ "persistence without the right", GLOBAL, GLOBAL, 0, 0, 8, 2, 0,
	  IBV_WC_REM_INV_REQ_ERR },
	{ "another key", GLOBAL, GLOBAL, 0x100, 0, 8, 1, 0,
	  IBV_WC_REM_ACCESS_ERR },
	{ "an old key, all of the region", GLOBAL, GLOBAL, 1, 0, 8, 1, 1,
	  IBV_WC_REM_ACCESS_ERR },
	{ "beyond the region", GLOBAL, GLOBAL, 0, 65529, 8, 1, 0,
	  IBV_WC_REM_ACCESS_ERR },
	{ "nothing, beyond the region", GLOBAL, GLOBAL, 0, 65537, 0, 1, 0,
	  IBV_WC_REM_ACCESS_ERR },
	{ "before the region", GLOBAL, GLOBAL, 0, -1ul, 8, 1, 0,
	  IBV_WC_REM_ACCESS_ERR },
	{ "2 GiB, beyond the region", GLOBAL, GLOBAL, 0, 0, 1u << 31, 1, 0,
	  IBV_WC_REM_ACCESS_ERR },
	{ "more than 2 GiB", GLOBAL, GLOBAL, 0, 0, (1u << 31) + 1, 1, 0,
	  IBV_WC_LOC_LEN_ERR },
};

static void refused(const void *arg)
{
	const struct refusal *r = arg;
	struct abuser abuser;
	struct ibv_mr *mr;
	/* On older kernels no region can have the right, so it is refused, too. */
	int access = can_flush(&hosts[1], GLOBAL) ? r->mr_access : 0;

	REQUIRE(abuser_up(&abuser));
	mr = region(&abuser, IBV_ACCESS_LOCAL_WRITE | access);
	REQUIRE(mr && connect_for_flush(&abuser, r->qp_access));
	flush(&abuser, mr->rkey ^ r->key, abuser.pair.b.buf + r->remote, r->length,
	      r->type, r->level);
	flushed(&abuser, r->status);
	CHECK_CALL(state_of(&abuser.pair.a), IBV_QPS_ERR);
	/* Unless nothing was sent */
	CHECK_CALL(state_of(&abuser.pair.b), r->status == IBV_WC_LOC_LEN_ERR ? IBV_QPS_RTS : IBV_QPS_ERR);
	REQUIRE(connect_for_flush(&abuser, GLOBAL));
	CHECK(works(&abuser.pair));
	victim_works();
	CHECK_CALL(ibv_dereg_mr(mr), 0);
	abuser_down(&abuser);
}

/* Not all memory is persistent. */
static void registering(const void *arg)
{
	const struct side *b;
	struct abuser abuser;

	(void)arg;
	REQUIRE(abuser_up(&abuser));
	b = &abuser.pair.b;
	errno = 0;
	CHECK(!ibv_reg_mr(b->pd, b->buf, b->size,
			  IBV_ACCESS_LOCAL_WRITE | PERSISTENT));
	CHECK(errno == EOPNOTSUPP || errno == EINVAL);
	abuser_down(&abuser);
}

GROUP(flush)
{
	size_t i;

	other_process_goes_on();
	run_test(allowed, NULL, "FLUSH: of ranges and regions");
	for (i = 0; i < ARRAY_SIZE(refusals); i++)
		run_test(refused, &refusals[i], "FLUSH refused: %s",
			 refusals[i].name);
	run_test(registering, NULL, "FLUSH: ordinary memory is not persistent");
}
