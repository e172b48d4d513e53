// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Extended polling.
 */
#include <time.h>

#include "fixture.h"

static struct ibv_poll_cq_attr no_attr;
static struct fake_queue *queue;
static struct sroce_cq_slot *slot;

static struct ibv_cq_ex *create(const struct fixture *fx)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 4,
		.wc_flags = SROCE_WC_FLAGS,
	};
	struct ibv_cq_ex *cq = sroce_create_cq_ex(fx->context, &attr);

	verbs_init_cq(ibv_cq_ex_to_cq(cq), fx->context, NULL, NULL);
	queue = fake_queue(cq->handle);
	slot = queue->slot;
	return cq;
}

static bool lock_is_free(struct ibv_cq_ex *cq)
{
	pthread_spinlock_t *spin = &cq_ex_to_sroce_cq(cq)->lock.spin;

	if (pthread_spin_trylock(spin))
		return false;
	pthread_spin_unlock(spin);
	return true;
}

/* The provider of rxe had a bug here: it unlocked twice. */
static void empty_cq(struct ibv_cq_ex *cq)
{
	struct ibv_poll_cq_attr attr = { .comp_mask = 1 };
	unsigned int yields = fake.yields;
	int i;

	ok(ibv_start_poll(cq, &no_attr) == ENOENT,
	   "ibv_start_poll() of an empty ring returns ENOENT");
	ok(lock_is_free(cq), "ibv_start_poll() of an empty ring releases the lock");
	ok(ibv_start_poll(cq, &no_attr) == ENOENT && lock_is_free(cq),
	   "a second ibv_start_poll() also releases the lock");
	ok(ibv_start_poll(cq, &attr) == EINVAL && lock_is_free(cq),
	   "unknown attributes are refused");
	for (i = 0; i < 2000; i++)
		ibv_start_poll(cq, &no_attr);
	ok(fake.yields > yields, "many empty polls yield the processor");
}

static void completion_fields(struct ibv_cq_ex *cq)
{
	struct timespec raw;
	struct timespec real;
	uint64_t wallclock;

	clock_gettime(CLOCK_MONOTONIC_RAW, &raw);
	clock_gettime(CLOCK_REALTIME, &real);
	fake_complete(queue, 0, (struct sroce_cqe){
		.wr_id = 7,
		.timestamp = raw.tv_sec * 1000000000ull + raw.tv_nsec,
		.byte_len = 8,
		.invalidated_rkey = 9,
		.qp_num = 10,
		.src_qp = 11,
		.status = IBV_WC_REM_ACCESS_ERR,
		.opcode = IBV_WC_RECV,
		.flags = SROCE_CQE_WITH_INV | SROCE_CQE_IPV6,
		.vendor_err = 12,
		.sl = 1,
	});
	ok(!ibv_start_poll(cq, &no_attr) && !lock_is_free(cq),
	   "ibv_start_poll() of a completion takes the lock");
	/* A request posted in the meantime may complete into the freed entry. */
	ok(slot->head == 1, "the entry of a completion is released at once");
	((struct sroce_cqe *)fake_sqe(queue, 0))->byte_len = 1000;
	ok(cq->wr_id == 7 && cq->status == IBV_WC_REM_ACCESS_ERR &&
	   ibv_wc_read_opcode(cq) == IBV_WC_RECV &&
	   ibv_wc_read_vendor_err(cq) == 12 && ibv_wc_read_byte_len(cq) == 8 &&
	   ibv_wc_read_invalidated_rkey(cq) == 9 &&
	   ibv_wc_read_imm_data(cq) == 9 && ibv_wc_read_qp_num(cq) == 10 &&
	   ibv_wc_read_src_qp(cq) == 11 &&
	   ibv_wc_read_wc_flags(cq) == IBV_WC_WITH_INV &&
	   ibv_wc_read_slid(cq) == 0 && ibv_wc_read_sl(cq) == 1 &&
	   ibv_wc_read_dlid_path_bits(cq) == 0, "a completion has all fields");
	ok(ibv_wc_read_completion_ts(cq) ==
	   raw.tv_sec * 1000000000ull + raw.tv_nsec, "a completion has its timestamp");
	wallclock = ibv_wc_read_completion_wallclock_ns(cq);
	wallclock -= real.tv_sec * 1000000000ull + real.tv_nsec;
	ok(wallclock + 500000000 < 1000000000,
	   "a completion has its wall clock timestamp");
	ibv_end_poll(cq);
	ok(lock_is_free(cq) && slot->head == 1, "ibv_end_poll() releases the lock");
}

static void poll_loop(struct ibv_cq_ex *cq)
{
	uint32_t i;
	int err;

	for (i = 1; i < 4; i++)
		fake_complete(queue, i, (struct sroce_cqe){ .wr_id = i });
	err = ibv_start_poll(cq, &no_attr);
	for (i = 1; !err && cq->wr_id == i; i++)
		err = ibv_next_poll(cq);
	ok(err == ENOENT && i == 4, "ibv_next_poll() returns all completions, then ENOENT");
	ok(slot->head == 4, "polled entries are released");
	ok(!lock_is_free(cq), "the lock is held until ibv_end_poll()");
	ibv_end_poll(cq);
	ok(lock_is_free(cq) && slot->head == 4, "ibv_end_poll() releases no further entry");
}

/* The loop takes more completions than the ring has entries. */
static void long_poll_loop(struct ibv_cq_ex *cq)
{
	bool good = true;
	uint32_t i = 4;

	fake_complete(queue, i, (struct sroce_cqe){ .wr_id = i });
	good &= !ibv_start_poll(cq, &no_attr);
	for (; i < 40; i++) {
		fake_complete(queue, i + 1, (struct sroce_cqe){ .wr_id = i + 1 });
		good &= cq->wr_id == i && !ibv_next_poll(cq) &&
			slot->head == i + 2;
	}
	ibv_end_poll(cq);
	ok(good && slot->head == 41, "a loop may poll more completions than the ring has entries");
}

GROUP(poll_ex)
{
	struct fixture fx;
	struct ibv_cq_ex *cq;

	fixture_open(&fx);
	cq = create(&fx);
	empty_cq(cq);
	completion_fields(cq);
	poll_loop(cq);
	long_poll_loop(cq);
	ok(!ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), "destroy CQ");
	fixture_close(&fx);
}
