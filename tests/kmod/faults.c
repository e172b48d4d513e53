// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Every allocation of a verb fails once: the first one of a call, then the second one,
 * until a call succeeds.  The call must return an error, and nothing may leak.  For
 * kernels with fault injection; kernel.sh lets it fail allocations that may sleep, too.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include <linux/sched.h>
#include "fabric.h"

#ifdef CONFIG_FAULT_INJECTION
/* More than any call needs. */
#define MOST	300

static void fail_nth(u32 nth)
{
	WRITE_ONCE(current->fail_nth, nth);
}

/* Ends it; false if the allocation was not reached. */
static bool has_failed(void)
{
	bool failed = !READ_ONCE(current->fail_nth);

	WRITE_ONCE(current->fail_nth, 0);
	return failed;
}

/* @act: returns 0 or an errno; @undo: undoes it */
static void all_fail_once(int (*act)(void), void (*undo)(void))
{
	u32 nth, errors = 0;
	bool failed = true;
	int err;

	for (nth = 1; failed && nth < MOST; nth++) {
		fail_nth(nth);
		err = act();
		failed = has_failed();
		errors += !!err;
		if (!err)
			undo();
		else if (!CHECK(failed))
			break;
	}
	CHECK(nth < MOST);
	CHECK(errors);
}

static struct side other;

static int open_cq(void)
{
	other = near;
	other.cq = ib_alloc_cq(near.device, NULL, 1000, 0, IB_POLL_WORKQUEUE);
	return PTR_ERR_OR_ZERO(other.cq);
}

static void close_cq(void)
{
	ib_free_cq(other.cq);
}

static void create_cq_without_memory(void)
{
	all_fail_once(open_cq, close_cq);
}

static int open_qp(void)
{
	other = near;
	return side_qp(&other);
}

static int open_datagram_qp(void)
{
	int err;

	other = near;
	err = side_datagram_qp(&other);
	if (err && !IS_ERR(other.qp))
		ib_destroy_qp(other.qp);
	return err;
}

static void close_qp(void)
{
	ib_destroy_qp(other.qp);
}

static void create_qp_without_memory(void)
{
	all_fail_once(open_qp, close_qp);
	all_fail_once(open_datagram_qp, close_qp);
}

static int open_srq(void)
{
	struct ib_srq_init_attr init = { .attr = { .max_wr = 100, .max_sge = 4 } };

	other.srq = ib_create_srq(near.pd, &init);
	return PTR_ERR_OR_ZERO(other.srq);
}

static void close_srq(void)
{
	ib_destroy_srq(other.srq);
}

static void create_srq_without_memory(void)
{
	all_fail_once(open_srq, close_srq);
}

static struct ib_mr *mr;

static int open_mr(void)
{
	mr = ib_alloc_mr(near.pd, IB_MR_TYPE_MEM_REG, 1000);
	return PTR_ERR_OR_ZERO(mr);
}

static void close_mr(void)
{
	ib_dereg_mr(mr);
}

static void alloc_mr_without_memory(void)
{
	all_fail_once(open_mr, close_mr);
}

static struct ib_ah *ah;

static int open_ah(void)
{
	ah = side_address(&near, &far);
	return PTR_ERR_OR_ZERO(ah);
}

static void close_ah(void)
{
	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
}

static void create_ah_without_memory(void)
{
	all_fail_once(open_ah, close_ah);
}

static void nothing(void)
{
}

static void modify_qp_without_memory(void)
{
	all_fail_once(connect_sides, nothing);
	EQUAL(connect_sides(), 0);
}

void test_faults(void)
{
	RUN(create_cq_without_memory);
	RUN(create_qp_without_memory);
	RUN(create_srq_without_memory);
	RUN(alloc_mr_without_memory);
	RUN(create_ah_without_memory);
	RUN(modify_qp_without_memory);
}
#else
void test_faults(void)
{
	test_skip("allocations that fail", "no fault injection");
}
#endif
