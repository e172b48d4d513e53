// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Two processors raise the event of one CQ at the same time.  The slower one is stopped, as
 * by a hypervisor, where it is about to take the CQ's lock.  Meanwhile the other one raises
 * the event, and the handler arms and polls the CQ.  No second event may follow.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/iopoll.h>
#include <linux/kprobes.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/workqueue.h>
#include "fabric.h"

#define PATIENCE_US	1000000
#define STEP_US		10

/**
 * struct race - the state of the test
 * @slow: the thread that is stopped
 * @inside: it has entered sroce_cq_notify()
 * @stopped: it is about to take the lock
 * @goes_on: it need not stop any more
 * @events: number of events
 * @polled: number of completions
 */
static struct race {
	struct task_struct *slow;
	bool inside;
	bool stopped;
	bool goes_on;
	atomic_t events;
	atomic_t polled;
} race;

static struct ib_mr *region;

static void arm_and_poll(struct ib_cq *cq, void *context)
{
	struct ib_wc wc;

	atomic_inc(&race.events);
	ib_req_notify_cq(cq, IB_CQ_NEXT_COMP);
	while (ib_poll_cq(cq, 1, &wc) > 0)
		atomic_inc(&race.polled);
}

static int note_entry(struct kprobe *probe, struct pt_regs *regs)
{
	if (current == READ_ONCE(race.slow))
		race.inside = true;
	return 0;
}

static int stop_at_lock(struct kprobe *probe, struct pt_regs *regs)
{
	u32 us;

	if (current != READ_ONCE(race.slow) || !race.inside || race.stopped)
		return 0;
	WRITE_ONCE(race.stopped, true);
	for (us = 0; us < PATIENCE_US && !READ_ONCE(race.goes_on); us += STEP_US)
		udelay(STEP_US);
	return 0;
}

static struct kprobe probes[] = {
	{ .symbol_name = "sroce_cq_notify", .pre_handler = note_entry },
	{ .symbol_name = "_raw_spin_lock_irqsave", .pre_handler = stop_at_lock },
};

/* Completes at once, in the context that posts it. */
static int post_local(void)
{
	struct ib_send_wr wr = {
		.opcode = IB_WR_LOCAL_INV,
		.send_flags = IB_SEND_SIGNALED,
		.ex.invalidate_rkey = region->rkey,
	};

	return ib_post_send(near.qp, &wr, NULL);
}

static void post_slowly(struct work_struct *work)
{
	WRITE_ONCE(race.slow, current);
	EQUAL(post_local(), 0);
	WRITE_ONCE(race.slow, NULL);
}

static DECLARE_WORK(slow_work, post_slowly);

static void event_without_completion(void)
{
	u32 cpu = cpumask_any_but(cpu_online_mask, raw_smp_processor_id());
	bool stopped;
	int polled;

	EQUAL(ib_req_notify_cq(near.cq, IB_CQ_NEXT_COMP), 0);
	schedule_work_on(cpu, &slow_work);
	EQUAL(read_poll_timeout(READ_ONCE, stopped, stopped, 100, PATIENCE_US, false,
				race.stopped), 0);
	EQUAL(post_local(), 0);
	EQUAL(read_poll_timeout(atomic_read, polled, polled == 2, 100, PATIENCE_US / 2, false,
				&race.polled), 0);
	WRITE_ONCE(race.goes_on, true);
	flush_work(&slow_work);
	/* Events of kernel users are raised by a work item, soon. */
	msleep(20);
	EQUAL(atomic_read(&race.events), 1);
	EQUAL(atomic_read(&race.polled), 2);
}

static bool open_cq(void)
{
	struct ib_cq_init_attr attr = { .cqe = DEPTH };

	near.qp = NULL;
	near.cq = ib_create_cq(near.device, arm_and_poll, NULL, NULL, &attr);
	return CHECK(!IS_ERR(near.cq)) && EQUAL(side_qp(&near), 0) &&
	       EQUAL(connect_sides(), 0);
}

static void close_cq(const struct side *before)
{
	if (!IS_ERR_OR_NULL(near.qp))
		ib_destroy_qp(near.qp);
	if (!IS_ERR_OR_NULL(near.cq))
		ib_destroy_cq(near.cq);
	near = *before;
	EQUAL(connect_sides(), 0);
}

/* EOPNOTSUPP: there is one processor, or the kernel has no kprobes. */
static int set_probes(void)
{
	int err = num_online_cpus() < 2 ? -EOPNOTSUPP : register_kprobe(&probes[0]);

	if (err)
		return err;
	err = register_kprobe(&probes[1]);
	if (err)
		unregister_kprobe(&probes[0]);
	return err;
}

static void remove_probes(void)
{
	unregister_kprobe(&probes[1]);
	unregister_kprobe(&probes[0]);
}

void test_event_race(void)
{
	const struct side before = near;
	int err = set_probes();

	if (err == -EOPNOTSUPP) {
		test_skip("event_without_completion", "one processor, or no kprobes");
		return;
	}
	if (err) {
		test_begin();
		EQUAL(err, 0);
		test_end("event_without_completion");
		return;
	}
	region = ib_alloc_mr(near.pd, IB_MR_TYPE_MEM_REG, 1);
	test_begin();
	if (CHECK(!IS_ERR(region)) && open_cq())
		event_without_completion();
	remove_probes();
	close_cq(&before);
	test_end("event_without_completion");
	if (!IS_ERR(region))
		ib_dereg_mr(region);
}
