// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Fast registration: access of one QP to the memory of the other, or its refusal. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/sizes.h>
#include <linux/uaccess.h>
#include "fabric.h"

#define ALL_ACCESS (IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ |	\
		    IB_ACCESS_REMOTE_WRITE)
/* IB_WR_ATOMIC_WRITE; the RDMA core has the name from 6.2 on. */
#define WR_ATOMIC_WRITE	((enum ib_wr_opcode)15)
#define PAGES	16
#define SEED	5

static struct memory *ours, *theirs;
static struct ib_mr *mr;

/* Access to @bytes at @addr by @key, which may be refused */
static int write_far(u64 addr, u32 bytes, u32 key)
{
	struct ib_sge sge = sge_of(&near, ours, bytes);

	return do_rdma(&near, IB_WR_RDMA_WRITE, &sge, addr, key);
}

static int read_far(u64 addr, u32 bytes, u32 key)
{
	struct ib_sge sge = sge_of(&near, ours, bytes);

	return do_rdma(&near, IB_WR_RDMA_READ, &sge, addr, key);
}

/* The access is refused, nothing is written, and the QPs are connected again. */
static void refused(u64 addr, u32 key)
{
	memory_fill(theirs, SEED + 1);
	EQUAL(write_far(addr, 100, key), IB_WC_REM_ACCESS_ERR);
	CHECK(memory_is(theirs, 0, theirs->bytes, SEED + 1, 0));
	EQUAL(connect_sides(), 0);
	EQUAL(read_far(addr, 100, key), IB_WC_REM_ACCESS_ERR);
	EQUAL(connect_sides(), 0);
}

/* All of their memory, with a new key. */
static void register_with(int access)
{
	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	EQUAL(do_map(mr, theirs, 0, PAGE_SIZE), theirs->count);
	EQUAL(do_register(&far, mr, mr->rkey, access), 0);
}

static void register_all(void)
{
	register_with(ALL_ACCESS);
}

static void unregister(void)
{
	EQUAL(do_invalidate(&far, mr->rkey), 0);
}

static void invalid_regions_are_refused(void)
{
	u32 most = far.device->attrs.max_fast_reg_page_list_len;

	CHECK(far.device->attrs.device_cap_flags &
	      IB_DEVICE_MEM_MGT_EXTENSIONS);
	CHECK(most >= 256);
	CHECK(IS_ERR(ib_alloc_mr(far.pd, IB_MR_TYPE_SG_GAPS, 16)));
	CHECK(IS_ERR(ib_alloc_mr(far.pd, IB_MR_TYPE_MEM_REG, 0)));
	CHECK(IS_ERR(ib_alloc_mr(far.pd, IB_MR_TYPE_MEM_REG, most + 1)));
	EQUAL(do_map(mr, theirs, 0, SZ_1K), -EINVAL);
	EQUAL(do_map(mr, theirs, 0, 3 * SZ_4K), -EINVAL);
}

static void region_refuses_access_before_reg_mr(void)
{
	EQUAL(do_map(mr, theirs, 0, PAGE_SIZE), theirs->count);
	refused(mr->iova, mr->rkey);
}

static void region_gives_access_to_every_byte(void)
{
	register_all();
	EQUAL(mr->length, theirs->bytes);
	memory_fill(theirs, SEED + 1);
	memory_fill(ours, SEED);
	EQUAL(write_far(mr->iova, mr->length, mr->rkey), 0);
	CHECK(memory_is(theirs, 0, theirs->bytes, SEED, 0));
	memory_fill(theirs, SEED + 2);
	EQUAL(read_far(mr->iova + 3, mr->length - 3, mr->rkey), 0);
	CHECK(memory_is(ours, 0, ours->bytes - 3, SEED + 2, 3));
	unregister();
}

static void region_takes_atomic_writes(void)
{
	struct ib_sge sge = sge_of(&near, ours, 8);

	register_all();
	memory_fill(theirs, SEED + 1);
	memory_fill(ours, SEED);
	EQUAL(do_rdma(&near, WR_ATOMIC_WRITE, &sge, mr->iova + 16, mr->rkey),
	      0);
	CHECK(memory_is(theirs, 0, 16, SEED + 1, 0));
	CHECK(memory_is(theirs, 16, 8, SEED, 0));
	CHECK(memory_is(theirs, 24, theirs->bytes - 24, SEED + 1, 24));
	EQUAL(do_rdma(&near, WR_ATOMIC_WRITE, &sge, mr->iova + 20, mr->rkey),
	      IB_WC_REM_INV_REQ_ERR);
	EQUAL(connect_sides(), 0);
	sge.length = 16;
	EQUAL(do_rdma(&near, WR_ATOMIC_WRITE, &sge, mr->iova, mr->rkey),
	      IB_WC_LOC_LEN_ERR);
	EQUAL(connect_sides(), 0);
	CHECK(memory_is(theirs, 24, theirs->bytes - 24, SEED + 1, 24));
	unregister();
}

static int do_masked(enum ib_wr_opcode op, u64 compare_add, u64 swap, u64 mask)
{
	struct ib_sge sge = sge_of(&near, ours, 8);
	struct ib_atomic_wr wr = {
		.wr.opcode = op,
		.wr.send_flags = IB_SEND_SIGNALED,
		.wr.sg_list = &sge,
		.wr.num_sge = 1,
		.remote_addr = mr->iova,
		.rkey = mr->rkey,
		.compare_add = compare_add,
		.swap = swap,
		.compare_add_mask = mask,
		.swap_mask = mask,
	};

	return do_send(&near, &wr.wr);
}

/* As RDS posts them.  Other masks are refused before anything is sent. */
static void region_takes_atomics_with_trivial_masks(void)
{
	u64 *word = (u64 *)memory_at(theirs, 0), *old = (u64 *)memory_at(ours, 0);

	register_with(ALL_ACCESS | IB_ACCESS_REMOTE_ATOMIC);
	*word = 40;
	EQUAL(do_masked(IB_WR_MASKED_ATOMIC_FETCH_AND_ADD, 2, 0, 0), 0);
	EQUAL(*old, 40);
	EQUAL(*word, 42);
	EQUAL(do_masked(IB_WR_MASKED_ATOMIC_CMP_AND_SWP, 42, 7, ~0ull), 0);
	EQUAL(*old, 42);
	EQUAL(*word, 7);
	EQUAL(do_masked(IB_WR_MASKED_ATOMIC_FETCH_AND_ADD, 2, 0, 1), -EOPNOTSUPP);
	EQUAL(do_masked(IB_WR_MASKED_ATOMIC_CMP_AND_SWP, 7, 8, 255), -EOPNOTSUPP);
	EQUAL(*word, 7);
	unregister();
}

static void region_has_bounds(void)
{
	register_all();
	EQUAL(write_far(mr->iova + mr->length - 100, 100, mr->rkey), 0);
	refused(mr->iova + mr->length - 99, mr->rkey);
	refused(mr->iova - 1, mr->rkey);
	unregister();
}

/* Pieces of 8 KiB to 64 KiB, from an odd offset on */
static void one_page_size(u32 order, u32 offset)
{
	u32 key = ib_inc_rkey(mr->rkey), size = PAGE_SIZE << order;
	struct memory *m = memory_get(far.device, 3, order);

	if (!CHECK(m))
		return;
	ib_update_fast_reg_key(mr, key);
	EQUAL(do_map(mr, m, offset, size), m->count);
	EQUAL(mr->length, m->bytes - offset);
	EQUAL(do_register(&far, mr, key, ALL_ACCESS), 0);
	memory_fill(ours, SEED);
	memory_fill(m, SEED + 1);
	EQUAL(write_far(mr->iova + size - 50 - offset, 20000, key), 0);
	CHECK(memory_is(m, size - 50, 20000, SEED, 0));
	CHECK(memory_is(m, 0, size - 50, SEED + 1, 0));
	CHECK(memory_is(m, size + 19950, m->bytes - size - 19950, SEED + 1,
			size + 19950));
	unregister();
	memory_put(m);
}

static void region_of_every_page_size(void)
{
	u32 order;

	for (order = 2; order <= 4; order++) {
		one_page_size(order, 0);
		one_page_size(order, 5000);
	}
}

/* Pages of 4 KiB out of larger pieces, as many as there may be */
static void region_maps_as_many_pages_as_fit(void)
{
	struct memory *m = memory_get(far.device, 8, 2);

	if (!CHECK(m))
		return;
	EQUAL(do_map(mr, m, 0, PAGE_SIZE), PAGES / 4);
	EQUAL(mr->length, PAGES * PAGE_SIZE);
	memory_put(m);
}

static void reg_mr_makes_old_key_invalid(void)
{
	u32 old;

	register_all();
	old = mr->rkey;
	unregister();
	register_all();
	CHECK(old != mr->rkey);
	EQUAL(write_far(mr->iova, 100, mr->rkey), 0);
	refused(mr->iova, old);
	unregister();
	EQUAL(do_register(&far, mr, mr->rkey + 0x100, ALL_ACCESS), -EINVAL);
}

/* NFS over RDMA puts numbers of its own into the address. */
static void region_with_another_iova(void)
{
	u32 key = ib_inc_rkey(mr->rkey);

	ib_update_fast_reg_key(mr, key);
	EQUAL(do_map(mr, theirs, 100, PAGE_SIZE), theirs->count);
	mr->iova = (u32)mr->iova | 0xabcdef0000000000ull;
	EQUAL(do_register(&far, mr, key, ALL_ACCESS), 0);
	memory_fill(ours, SEED);
	EQUAL(write_far(mr->iova, 5000, key), 0);
	CHECK(memory_is(theirs, 100, 5000, SEED, 0));
	unregister();
}

static void region_has_access_rights(void)
{
	register_with(IB_ACCESS_REMOTE_READ);
	EQUAL(read_far(mr->iova, 100, mr->rkey), 0);
	memory_fill(theirs, SEED + 1);
	EQUAL(write_far(mr->iova, 100, mr->rkey), IB_WC_REM_ACCESS_ERR);
	CHECK(memory_is(theirs, 0, theirs->bytes, SEED + 1, 0));
	EQUAL(connect_sides(), 0);
	unregister();
	/* Remote write access requires local write access. */
	EQUAL(do_register(&far, mr, mr->rkey, IB_ACCESS_REMOTE_WRITE),
	      IB_WC_MW_BIND_ERR);
	EQUAL(connect_sides(), 0);
}

static void reg_mr_of_valid_region_is_refused(void)
{
	register_all();
	EQUAL(do_register(&far, mr, mr->rkey, ALL_ACCESS), IB_WC_MW_BIND_ERR);
	EQUAL(connect_sides(), 0);
	EQUAL(write_far(mr->iova, 100, mr->rkey), 0);
	unregister();
}

/* Mapping for the next registration does not change this one. */
static void mapping_again_does_not_change_valid_region(void)
{
	struct ib_reg_wr reg = { .wr.opcode = IB_WR_REG_MR };
	struct ib_send_wr inv = { .opcode = IB_WR_LOCAL_INV };
	struct memory *m = memory_get(far.device, 4, 0);
	u64 addr;

	if (!CHECK(m))
		return;
	register_all();
	addr = mr->iova;
	EQUAL(do_map(mr, m, 0, PAGE_SIZE), m->count);
	memory_fill(ours, SEED);
	EQUAL(write_far(addr, theirs->bytes, mr->rkey), 0);
	CHECK(memory_is(theirs, 0, theirs->bytes, SEED, 0));

	inv.ex.invalidate_rkey = mr->rkey;
	inv.next = &reg.wr;
	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	reg.mr = mr;
	reg.key = mr->rkey;
	reg.access = ALL_ACCESS;
	reg.wr.send_flags = IB_SEND_SIGNALED;
	EQUAL(do_send(&far, &inv), 0);
	EQUAL(write_far(mr->iova, m->bytes, mr->rkey), 0);
	CHECK(memory_is(m, 0, m->bytes, SEED, 0));
	refused(addr, inv.ex.invalidate_rkey);
	unregister();
	memory_put(m);
}

static void local_inv_revokes_key(void)
{
	register_all();
	unregister();
	refused(mr->iova, mr->rkey);
	/* Invalidating it again is harmless; invalidating an unknown key fails. */
	unregister();
	EQUAL(do_invalidate(&far, mr->rkey ^ 0x40), IB_WC_MW_BIND_ERR);
	EQUAL(connect_sides(), 0);
	EQUAL(do_invalidate(&far, far.pd->local_dma_lkey), IB_WC_MW_BIND_ERR);
	EQUAL(connect_sides(), 0);
}

/* The request before it cannot be acknowledged: the peer has posted no receive request. */
static void local_inv_waits_for_no_other_request(void)
{
	struct ib_sge sge = sge_of(&far, theirs, 8);
	struct ib_send_wr inv = { .opcode = IB_WR_LOCAL_INV };
	struct ib_send_wr send = {
		.next = &inv,
		.opcode = IB_WR_SEND,
		.sg_list = &sge,
		.num_sge = 1,
	};

	register_all();
	inv.ex.invalidate_rkey = mr->rkey;
	EQUAL(ib_post_send(far.qp, &send, NULL), 0);
	refused(mr->iova, mr->rkey);
}

/* The response to the READ arrives after the LOCAL_INV was posted. */
static void local_inv_waits_for_read_into_region(void)
{
	struct ib_mr *source = ib_alloc_mr(near.pd, IB_MR_TYPE_MEM_REG, PAGES);
	struct ib_send_wr inv = {
		.opcode = IB_WR_LOCAL_INV,
		.send_flags = IB_SEND_SIGNALED,
	};
	struct ib_rdma_wr read = {
		.wr.next = &inv,
		.wr.opcode = IB_WR_RDMA_READ,
		.wr.num_sge = 1,
	};
	struct ib_sge sge;

	if (!CHECK(!IS_ERR(source)))
		return;
	EQUAL(do_map(source, ours, 0, ours->bytes), 1);
	EQUAL(do_register(&near, source, source->rkey, IB_ACCESS_REMOTE_READ), 0);
	register_all();
	memory_fill(ours, SEED);
	memory_fill(theirs, SEED + 1);
	sge = (struct ib_sge) { mr->iova, mr->length, mr->lkey };
	read.wr.sg_list = &sge;
	read.remote_addr = source->iova;
	read.rkey = source->rkey;
	inv.ex.invalidate_rkey = mr->rkey;
	EQUAL(do_send(&far, &read.wr), 0);
	CHECK(memory_is(theirs, 0, theirs->bytes, SEED, 0));
	refused(mr->iova, mr->rkey);
	ib_dereg_mr(source);
}

static int send_invalidating(u32 key)
{
	struct ib_sge sge = sge_of(&near, ours, 50);
	struct ib_send_wr wr = {
		.opcode = IB_WR_SEND_WITH_INV,
		.send_flags = IB_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
		.ex.invalidate_rkey = key,
	};

	EQUAL(post_receive(&far, 7, theirs), 0);
	return do_send(&near, &wr);
}

static void invalidated_by_peer(void)
{
	struct ib_wc wc;

	EQUAL(send_invalidating(mr->rkey), 0);
	if (!CHECK(next_wc(&far, &wc)))
		return;
	EQUAL(wc.status, 0);
	EQUAL(wc.wr_id, 7);
	CHECK(wc.wc_flags & IB_WC_WITH_INVALIDATE);
	EQUAL(wc.ex.invalidate_rkey, mr->rkey);
}

static void send_with_inv_revokes_key(void)
{
	register_all();
	invalidated_by_peer();
	refused(mr->iova, mr->rkey);
	EQUAL(send_invalidating(mr->rkey ^ 1), IB_WC_REM_ACCESS_ERR);
	EQUAL(connect_sides(), 0);
}

/* As in NFS, if the client has given up a request, and the server answers it later. */
static void send_with_inv_of_invalid_region_is_received(void)
{
	register_all();
	EQUAL(do_invalidate(&far, mr->rkey), 0);
	invalidated_by_peer();
	invalidated_by_peer();
	refused(mr->iova, mr->rkey);
}

/* The peer cannot use a key without remote rights. */
static void peer_cannot_use_key_without_remote_rights(void)
{
	struct ib_sge sge = sge_of(&far, theirs, 100);

	register_with(IB_ACCESS_LOCAL_WRITE);
	EQUAL(send_invalidating(mr->rkey), IB_WC_REM_ACCESS_ERR);
	EQUAL(connect_sides(), 0);
	sge.lkey = mr->rkey;
	sge.addr = mr->iova;
	EQUAL(do_rdma(&far, IB_WR_RDMA_READ, &sge, memory_dma(ours),
		      near.pd->local_dma_lkey), IB_WC_REM_ACCESS_ERR);
	EQUAL(connect_sides(), 0);
	unregister();
}

/* far reads from near, into a region that is gone afterwards. */
static void read_with_inv_revokes_key(void)
{
	struct ib_mr *source = ib_alloc_mr(near.pd, IB_MR_TYPE_MEM_REG, PAGES);
	struct ib_sge sge;

	if (!CHECK(!IS_ERR(source)))
		return;
	EQUAL(do_map(source, ours, 0, ours->bytes), 1);
	EQUAL(do_register(&near, source, source->rkey, IB_ACCESS_REMOTE_READ),
	      0);
	register_all();
	memory_fill(ours, SEED);
	memory_fill(theirs, SEED + 1);
	sge = (struct ib_sge) { mr->iova, mr->length, mr->lkey };
	EQUAL(do_rdma(&far, IB_WR_RDMA_READ_WITH_INV, &sge, source->iova,
		      source->rkey), 0);
	CHECK(memory_is(theirs, 0, theirs->bytes, SEED, 0));
	refused(mr->iova, mr->rkey);
	EQUAL(do_rdma(&far, IB_WR_RDMA_READ, &sge, source->iova,
		      source->rkey), IB_WC_LOC_PROT_ERR);
	EQUAL(connect_sides(), 0);
	ib_dereg_mr(source);
}

static void region_of_another_pd_is_refused(void)
{
	struct ib_pd *pd = ib_alloc_pd(far.device, 0);
	struct ib_mr *other;

	if (!CHECK(!IS_ERR(pd)))
		return;
	other = ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, PAGES);
	if (CHECK(!IS_ERR(other))) {
		EQUAL(do_map(other, theirs, 0, PAGE_SIZE), theirs->count);
		EQUAL(do_register(&far, other, other->rkey, ALL_ACCESS),
		      IB_WC_MW_BIND_ERR);
		EQUAL(connect_sides(), 0);
		refused(other->iova, other->rkey);
		EQUAL(do_invalidate(&far, other->rkey), IB_WC_MW_BIND_ERR);
		EQUAL(connect_sides(), 0);
		ib_dereg_mr(other);
	}
	ib_dealloc_pd(pd);
}

static void dereg_mr_revokes_key(void)
{
	struct ib_mr *other = ib_alloc_mr(far.pd, IB_MR_TYPE_MEM_REG, PAGES);
	u64 addr;
	u32 key;

	if (!CHECK(!IS_ERR(other)))
		return;
	EQUAL(do_map(other, theirs, 0, PAGE_SIZE), theirs->count);
	EQUAL(do_register(&far, other, other->rkey, ALL_ACCESS), 0);
	addr = other->iova;
	key = other->rkey;
	EQUAL(write_far(addr, 100, key), 0);
	EQUAL(ib_dereg_mr(other), 0);
	refused(addr, key);
	EQUAL(do_invalidate(&far, key), IB_WC_MW_BIND_ERR);
	EQUAL(connect_sides(), 0);
}

/* Memory of the process that loads this module.  Such a call has no udata. */
static void region_of_user_memory(void)
{
	unsigned long at = vm_mmap(NULL, 0, 2 * PAGE_SIZE,
				   PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, 0);
	struct ib_mr *user;
	u8 bytes[100];

	if (!CHECK(!IS_ERR_VALUE(at)))
		return;
	user = ib_reg_user_mr(far.pd, at, 2 * PAGE_SIZE, at, ALL_ACCESS);
	if (CHECK(!IS_ERR(user))) {
		memory_fill(ours, SEED);
		EQUAL(write_far(at + 5, sizeof(bytes), user->rkey), 0);
		CHECK(!copy_from_user(bytes, (void __user *)(at + 5),
				      sizeof(bytes)));
		CHECK(!memcmp(bytes, memory_at(ours, 0), sizeof(bytes)));
		EQUAL(ib_dereg_mr(user), 0);
	}
	vm_munmap(at, 2 * PAGE_SIZE);
}

void test_regions(void)
{
	ours = memory_get(near.device, 1, 4);
	theirs = memory_get(far.device, PAGES, 0);
	mr = ib_alloc_mr(far.pd, IB_MR_TYPE_MEM_REG, PAGES);
	test_begin();
	if (CHECK(ours && theirs && !IS_ERR(mr))) {
		RUN(invalid_regions_are_refused);
		RUN(region_refuses_access_before_reg_mr);
		RUN(region_gives_access_to_every_byte);
		RUN(region_takes_atomic_writes);
		RUN(region_takes_atomics_with_trivial_masks);
		RUN(region_has_bounds);
		RUN(region_of_every_page_size);
		RUN(region_maps_as_many_pages_as_fit);
		RUN(reg_mr_makes_old_key_invalid);
		RUN(region_with_another_iova);
		RUN(region_has_access_rights);
		RUN(reg_mr_of_valid_region_is_refused);
		RUN(mapping_again_does_not_change_valid_region);
		RUN(local_inv_revokes_key);
		RUN(local_inv_waits_for_no_other_request);
		RUN(local_inv_waits_for_read_into_region);
		RUN(send_with_inv_revokes_key);
		RUN(send_with_inv_of_invalid_region_is_received);
		RUN(peer_cannot_use_key_without_remote_rights);
		RUN(read_with_inv_revokes_key);
		RUN(region_of_another_pd_is_refused);
		RUN(dereg_mr_revokes_key);
		RUN(region_of_user_memory);
	} else {
		test_end("memory for the tests of regions");
	}
	if (!IS_ERR(mr))
		ib_dereg_mr(mr);
	memory_put(theirs);
	memory_put(ours);
}
