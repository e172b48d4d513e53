// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Creation and destruction of all objects, errors, shared doorbell pages.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rdma/ib_user_ioctl_verbs.h>

#include "fixture.h"

static void driver_registration(void)
{
	const struct verbs_device_ops *ops = fake_driver();

	ok(ops && !strcmp(ops->name, "sroce"), "the constructor registers sroce");
	ok(ops->match_table[0].kind == VERBS_MATCH_DRIVER_ID &&
	   ops->match_table[0].u.driver_id == SROCE_DRIVER_ID &&
	   !ops->match_table[1].kind, "the driver matches by driver ID only");
	ok(ops->match_min_abi_version == SROCE_ABI_VERSION &&
	   ops->match_max_abi_version == SROCE_ABI_VERSION,
	   "the driver matches one ABI version only");
}

static void other_abi_version(void)
{
	memset(&fake, 0, sizeof(fake));
	fake.abi_version = SROCE_ABI_VERSION + 1;
	errno = 0;
	ok(!fake_open() && errno == EPROTO,
	   "a module of another ABI version is refused");
}

static void request_format(const struct fixture *fx)
{
	struct ibv_srq_init_attr srq_attr = { .attr = { 4, 2, 0 } };
	struct ibv_srq *srq = ibv_create_srq(fx->pd, &srq_attr);
	struct ibv_qp *qp = fixture_qp(fx, IBV_QPT_RC, false);

	ok(srq && qp && !fake.bad_request,
	   "commands have the sizes of the ABI and zeros in reserved fields");
	ok(!ibv_destroy_qp(qp), "destroy QP");
	ok(!ibv_destroy_srq(srq), "destroy SRQ");
}

static void extended_qp(const struct fixture *fx)
{
	struct ibv_qp *plain = fixture_qp(fx, IBV_QPT_RC, false);
	struct ibv_qp *extended = fixture_qp(fx, IBV_QPT_RC, true);

	ok(!ibv_qp_to_qp_ex(plain), "a plain QP has no extended interface");
	ok(ibv_qp_to_qp_ex(extended),
	   "libibverbs finds the extended interface of a QP");
	ibv_destroy_qp(plain);
	ibv_destroy_qp(extended);
}

static void shared_doorbell_pages(const struct fixture *fx)
{
	struct ibv_qp *qps[40];
	int before = fake.mapped;
	unsigned int i;

	fake_use_slots_from(64);
	for (i = 0; i < NUM(qps); i++)
		qps[i] = fixture_qp(fx, IBV_QPT_RC, false);
	ok(fake.mapped == before + 40 + 2,
	   "40 QPs map 40 rings and two doorbell pages");
	ok(to_sroce_qp(qps[33])->sq.slot ==
	   fake_queue(qps[33]->handle)->slot, "a QP has the slot that the kernel assigned");
	for (i = 0; i < NUM(qps); i++)
		ibv_destroy_qp(qps[i]);
	ok(fake.mapped == before, "the last user unmaps a doorbell page");
}

static void device_memory(const struct fixture *fx)
{
	struct ibv_alloc_dm_attr attr = { .length = 64 };
	struct ibv_dm *dms[3];
	int before = fake.mapped;
	uint32_t word = 0x12345678, copy = 0;
	unsigned int i;

	for (i = 0; i < NUM(dms); i++)
		dms[i] = ibv_alloc_dm(fx->context, &attr);
	ok(dms[0] && dms[1] && dms[2] && fake.mapped == before + 3,
	   "device memory is mapped");
	ok(!ibv_memcpy_to_dm(dms[0], 60, &word, 4) &&
	   !ibv_memcpy_from_dm(&copy, dms[0], 60, 4) && copy == word,
	   "device memory is written and read");
	ok(ibv_memcpy_to_dm(dms[0], 64, &word, 4) == EINVAL &&
	   ibv_memcpy_to_dm(dms[0], 2, &word, 4) == EINVAL,
	   "copies beyond device memory or of parts of words are refused");
	ok(!ibv_free_dm(dms[1]) && !ibv_free_dm(dms[0]) && !ibv_free_dm(dms[2]) &&
	   fake.mapped == before, "freed device memory is not mapped");
}

/* Mappings in a child process would keep the parent's context open. */
static void closed_by_a_child(const struct fixture *fx)
{
	struct ibv_qp *qp = fixture_qp(fx, IBV_QPT_RC, false);
	struct ibv_alloc_dm_attr attr = { .length = 64 };
	struct ibv_dm *dm = ibv_alloc_dm(fx->context, &attr);
	int status = -1;
	pid_t child;

	child = fork();
	if (!child) {
		ibv_close_device(fx->context);
		_exit(fake.mapped);
	}
	ok(waitpid(child, &status, 0) == child && !status,
	   "a child that closes the device leaves nothing mapped");
	ok(fake.mapped, "the parent's mappings stay");
	ibv_free_dm(dm);
	ibv_destroy_qp(qp);
}

/*
 * Closes a device whose objects exist, in a child, because they leak.  Returns the status of
 * the child, the number of mappings left.  Without memory for copies of the queues, or to
 * move them (errnos), no copy may be left either.
 */
static int close_with_objects(int fail_private, int fail_move)
{
	struct ibv_alloc_dm_attr attr = { .length = 64 };
	int status = -1;
	pid_t child;

	child = fork();
	if (!child) {
		struct fixture fx;

		fixture_open(&fx);
		fixture_qp(&fx, IBV_QPT_RC, false);
		ibv_alloc_dm(fx.context, &attr);
		fake.fail_private = fail_private;
		fake.fail_move = fail_move;
		ibv_close_device(fx.context);
		_exit(fail_private || fail_move ? fake.mapped | fake.private : fake.mapped);
	}
	return waitpid(child, &status, 0) == child ? status : -1;
}

static void closed_with_objects(void)
{
	ok(!close_with_objects(0, 0),
	   "closing the device unmaps the memory of objects that exist");
	ok(!close_with_objects(ENOMEM, 0),
	   "closing the device unmaps all without memory for copies");
	ok(!close_with_objects(0, ENOMEM),
	   "closing the device unmaps all without memory to move copies");
}

static void failed_creation(const struct fixture *fx)
{
	struct ibv_qp_init_attr_ex attr = fixture_qp_attr(fx, IBV_QPT_RC);
	int before = fake.mapped;

	fake.fail = EMFILE;
	errno = 0;
	ok(!ibv_create_qp_ex(fx->context, &attr) && errno == EMFILE,
	   "the errno of a create command is returned");
	fake.fail_map = EPERM;
	errno = 0;
	ok(!ibv_create_qp_ex(fx->context, &attr) && errno == EPERM,
	   "the errno of mmap() is returned");
	ok(fake.mapped == before, "a failed creation leaves nothing mapped");
}

static int qp_errno(const struct fixture *fx, struct ibv_qp_init_attr_ex attr)
{
	struct ibv_qp *qp;

	errno = 0;
	qp = sroce_create_qp_ex(fx->context, &attr);
	if (!qp)
		return errno;
	ibv_destroy_qp(qp);
	return 0;
}

static void unsupported_qps(const struct fixture *fx)
{
	struct ibv_qp_init_attr_ex attr = fixture_qp_attr(fx, IBV_QPT_RAW_PACKET);

	ok(qp_errno(fx, attr) == EOPNOTSUPP, "a raw packet QP is not supported");
	attr.qp_type = IBV_QPT_XRC_SEND;
	ok(!qp_errno(fx, attr), "an XRC initiator is created");
	attr.qp_type = IBV_QPT_XRC_RECV;
	ok(qp_errno(fx, attr) == EINVAL, "an XRC target without an XRC domain is refused");
	attr.qp_type = IBV_QPT_UC;
	attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.send_ops_flags = IBV_QP_EX_WITH_RDMA_READ;
	ok(qp_errno(fx, attr) == EOPNOTSUPP, "UC with READ is not supported");
	attr.qp_type = IBV_QPT_UD;
	attr.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE;
	ok(qp_errno(fx, attr) == EOPNOTSUPP, "UD with WRITE is not supported");
	attr.qp_type = IBV_QPT_RC;
	attr.send_ops_flags = IBV_QP_EX_WITH_TSO;
	ok(qp_errno(fx, attr) == EOPNOTSUPP, "RC with TSO is not supported");
	attr.send_ops_flags = IBV_QP_EX_WITH_TSO - 1;
	ok(!qp_errno(fx, attr), "RC with all supported operations is created");
	attr.comp_mask |= IBV_QP_INIT_ATTR_RX_HASH;
	ok(qp_errno(fx, attr) == EOPNOTSUPP, "a QP with RX hash is not supported");
	attr.comp_mask = 0;
	ok(qp_errno(fx, attr) == EINVAL, "a QP without a protection domain is refused");
}

/* libibverbs stores the CQ in the QP, but does not add it to the command. */
static void recv_cq_of_initiator(const struct fixture *fx)
{
	struct ibv_qp_init_attr_ex attr = fixture_qp_attr(fx, IBV_QPT_XRC_SEND);
	struct ibv_cq *cq = ibv_create_cq(fx->context, 8, NULL, NULL, 0);
	struct ibv_qp *qp;

	attr.recv_cq = cq;
	qp = ibv_create_qp_ex(fx->context, &attr);
	ok(qp && qp->recv_cq == cq, "an XRC initiator with a receive CQ is created");
	ok(!ibv_destroy_cq(cq), "the receive CQ of an XRC initiator can be destroyed first");
	set_state(qp, IBV_QPS_RESET);
	ok(!ibv_destroy_qp(qp), "the XRC initiator is destroyed after its receive CQ");
}

static int cq_errno(const struct fixture *fx, uint64_t wc_flags,
		    uint32_t comp_mask, uint32_t flags)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 4,
		.wc_flags = wc_flags,
		.comp_mask = comp_mask,
		.flags = flags,
	};
	struct ibv_cq_ex *cq;

	errno = 0;
	cq = sroce_create_cq_ex(fx->context, &attr);
	if (!cq)
		return errno;
	verbs_init_cq(ibv_cq_ex_to_cq(cq), fx->context, NULL, NULL);
	ibv_destroy_cq(ibv_cq_ex_to_cq(cq));
	return 0;
}

static void unsupported_cqs(const struct fixture *fx)
{
	ok(!cq_errno(fx, SROCE_WC_FLAGS, IBV_CQ_INIT_ATTR_MASK_FLAGS,
		     IBV_CREATE_CQ_ATTR_SINGLE_THREADED),
	   "a CQ with all supported flags is created");
	ok(cq_errno(fx, IBV_WC_EX_WITH_CVLAN, 0, 0) == EOPNOTSUPP,
	   "a CQ with VLAN tags is not supported");
	ok(cq_errno(fx, IBV_WC_EX_WITH_TM_INFO, 0, 0) == EOPNOTSUPP,
	   "a CQ with tag matching is not supported");
	ok(cq_errno(fx, 0, IBV_CQ_INIT_ATTR_MASK_FLAGS, 1 << 8) == EOPNOTSUPP,
	   "a CQ with an unknown flag is not supported");
	ok(cq_errno(fx, 0, 1 << 8, 0) == EOPNOTSUPP,
	   "a CQ with an unknown attribute is not supported");
}

static void cq_creation_flags(const struct fixture *fx)
{
	cq_errno(fx, IBV_WC_STANDARD_FLAGS, 0, 0);
	ok(!fake.cq_flags, "a CQ without timestamps has no creation flag");
	cq_errno(fx, IBV_WC_EX_WITH_COMPLETION_TIMESTAMP, 0, 0);
	ok(fake.cq_flags == IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION,
	   "timestamps set a creation flag of the CQ");
	cq_errno(fx, IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK, 0, 0);
	ok(fake.cq_flags == IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION,
	   "wall clock timestamps set the same flag");
	ok(!cq_errno(fx, 0, IBV_CQ_INIT_ATTR_MASK_FLAGS,
		     IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN) &&
	   fake.cq_flags == IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN,
	   "ignoring overruns sets a creation flag of the CQ");
}

static void thread_domains(const struct fixture *fx)
{
	struct ibv_td_init_attr td_attr = {};
	struct ibv_td *td = ibv_alloc_td(fx->context, &td_attr);
	struct ibv_parent_domain_init_attr attr = { .pd = fx->pd, .td = td };
	struct ibv_pd *parent = ibv_alloc_parent_domain(fx->context, &attr);
	struct fixture inside = *fx;
	struct ibv_qp *qp;

	ok(td && parent && parent->handle == fx->pd->handle,
	   "a parent domain has the handle of its protection domain");
	inside.pd = parent;
	qp = fixture_qp(&inside, IBV_QPT_RC, false);
	ok(!to_sroce_qp(qp)->sq.lock.needed && !to_sroce_qp(qp)->rq.lock.needed,
	   "a QP in a thread domain takes no locks");
	ibv_destroy_qp(qp);
	qp = fixture_qp(fx, IBV_QPT_RC, false);
	ok(to_sroce_qp(qp)->sq.lock.needed, "a QP outside a thread domain takes locks");
	ibv_destroy_qp(qp);

	ok(ibv_dealloc_td(td) == EBUSY, "a thread domain in use is busy");
	ok(ibv_dealloc_pd(fx->pd) == EBUSY, "a protection domain with a parent domain is busy");
	ok(!ibv_dealloc_pd(parent) && !ibv_dealloc_td(td),
	   "unused parent and thread domains are freed");
}

/* A program's allocator.  Returns memory that is not zeroed, or @result if @fixed. */
struct allocator {
	bool fixed;
	void *result;
	int live;
	size_t alignment;
	uint64_t types[8];
	int calls;
};

static void *allocate(struct ibv_pd *pd, void *context, size_t size,
		      size_t alignment, uint64_t resource_type)
{
	struct allocator *a = context;
	void *memory;

	(void)pd;
	a->types[a->calls++ % NUM(a->types)] = resource_type;
	a->alignment = alignment;
	if (a->fixed)
		return a->result;
	memory = aligned_alloc(alignment, size);
	memset(memory, 0x5a, size);
	a->live++;
	return memory;
}

static void release(struct ibv_pd *pd, void *context, void *memory,
		    uint64_t resource_type)
{
	struct allocator *a = context;

	(void)pd;
	a->types[a->calls++ % NUM(a->types)] = resource_type;
	a->live--;
	free(memory);
}

static struct ibv_pd *parent_domain(const struct fixture *fx, struct allocator *a)
{
	struct ibv_parent_domain_init_attr attr = {
		.pd = fx->pd,
		.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
			     IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT,
		.alloc = allocate,
		.free = release,
		.pd_context = a,
	};

	return ibv_alloc_parent_domain(fx->context, &attr);
}

static struct ibv_cq_ex *create_cq_in(const struct fixture *fx, struct ibv_pd *parent)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 4,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD,
		.parent_domain = parent,
	};
	struct ibv_cq_ex *cq = sroce_create_cq_ex(fx->context, &attr);

	if (cq)
		verbs_init_cq(ibv_cq_ex_to_cq(cq), fx->context, NULL, NULL);
	return cq;
}

static uint64_t resource_type(uint32_t resource)
{
	return (uint64_t)SROCE_DRIVER_ID << 32 | resource;
}

static void custom_allocator(const struct fixture *fx)
{
	struct ibv_srq_init_attr srq_attr = { .attr = { 4, 2, 0 } };
	struct allocator a = {};
	struct fixture inside = *fx;
	struct ibv_cq_ex *cq;
	struct ibv_srq *srq;
	struct ibv_qp *qp;

	inside.pd = parent_domain(fx, &a);
	qp = fixture_qp(&inside, IBV_QPT_RC, true);
	srq = ibv_create_srq(inside.pd, &srq_attr);
	cq = create_cq_in(fx, inside.pd);
	ok(qp && srq && cq && a.live == 3 && a.calls == 3 &&
	   a.types[0] == resource_type(1) && a.types[1] == resource_type(2) &&
	   a.types[2] == resource_type(3), "QP, SRQ and CQ come from the program's allocator");
	ok(a.alignment == SROCE_CACHE_LINE &&
	   !((uintptr_t)qp % SROCE_CACHE_LINE), "the allocator gets the alignment");
	ok(!to_sroce_qp(qp)->sq.tail && !to_sroce_qp(qp)->sq.sqe &&
	   !to_sroce_srq(srq)->rq.tail && !cq_ex_to_sroce_cq(cq)->head,
	   "the provider zeroes memory from the allocator");
	ok(ibv_dealloc_pd(inside.pd) == EBUSY,
	   "a parent domain with objects is busy");
	ok(!ibv_destroy_qp(qp) && !ibv_destroy_srq(srq) &&
	   !ibv_destroy_cq(ibv_cq_ex_to_cq(cq)) && !a.live && a.calls == 6 &&
	   a.types[3] == resource_type(1) && a.types[4] == resource_type(2) &&
	   a.types[5] == resource_type(3), "destroyed objects are returned to the allocator");
	ok(!ibv_dealloc_pd(inside.pd), "a parent domain without objects is freed");
}

static void allocator_without_memory(const struct fixture *fx)
{
	struct allocator a = {
		.fixed = true, .result = IBV_ALLOCATOR_USE_DEFAULT,
	};
	struct fixture inside = *fx;
	struct ibv_qp_init_attr_ex attr;
	struct ibv_qp *qp;

	inside.pd = parent_domain(fx, &a);
	qp = fixture_qp(&inside, IBV_QPT_RC, false);
	ok(qp && a.calls == 1, "IBV_ALLOCATOR_USE_DEFAULT is followed");
	ok(!ibv_destroy_qp(qp) && a.calls == 1,
	   "memory of the default allocator is not returned to the program");
	attr = fixture_qp_attr(&inside, IBV_QPT_RC);
	a.result = NULL;
	errno = 0;
	ok(!ibv_create_qp_ex(fx->context, &attr) && errno == ENOMEM &&
	   a.calls == 2, "an allocator without memory causes ENOMEM");
	a.fixed = false;
	fake.fail = EMFILE;
	errno = 0;
	ok(!ibv_create_qp_ex(fx->context, &attr) && errno == EMFILE &&
	   !a.live && a.calls == 4, "a failed create command returns memory to the allocator");
	ok(!ibv_dealloc_pd(inside.pd), "a parent domain is freed after failed creations");
}

static int parent_errno(const struct fixture *fx, bool has_alloc, bool has_free)
{
	struct ibv_parent_domain_init_attr attr = {
		.pd = fx->pd,
		.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS,
		.alloc = has_alloc ? allocate : NULL,
		.free = has_free ? release : NULL,
	};

	errno = 0;
	return ibv_alloc_parent_domain(fx->context, &attr) ? 0 : errno;
}

static void incomplete_allocator(const struct fixture *fx)
{
	ok(parent_errno(fx, false, true) == EINVAL,
	   "an allocator without a function to allocate is refused");
	ok(parent_errno(fx, true, false) == EINVAL,
	   "an allocator without a function to free is refused");
}

static void address_handles(const struct fixture *fx)
{
	struct ibv_ah_attr attr = { .is_global = 1, .port_num = 1 };
	struct ibv_ah *ah = ibv_create_ah(fx->pd, &attr);

	ok(ah && to_sroce_ah(ah)->number == ah->handle + 1000,
	   "an address handle has the number from the kernel");
	ok(!ibv_destroy_ah(ah), "destroy AH");
}

static void device_attributes(const struct fixture *fx)
{
	struct ibv_device_attr_ex attr;
	struct ibv_values_ex values = {
		.comp_mask = IBV_VALUES_MASK_RAW_CLOCK | 1 << 5,
	};

	ok(!ibv_query_device_ex(fx->context, NULL, &attr) &&
	   attr.completion_timestamp_mask == UINT64_MAX &&
	   attr.hca_core_clock == 1000000, "timestamps have 64 bits and count nanoseconds");
	ok(!strcmp(attr.orig_attr.fw_ver, "1.2.3"), "the firmware version is returned");
	ok(!ibv_query_device(fx->context, &attr.orig_attr),
	   "ibv_query_device() works");
	ok(!ibv_query_rt_values_ex(fx->context, &values) &&
	   values.comp_mask == IBV_VALUES_MASK_RAW_CLOCK &&
	   values.raw_clock.tv_nsec, "the raw clock is returned");
}

static void environment(void)
{
	struct fixture fx;

	setenv("SROCE_SINGLE_THREADED", "1", 1);
	fixture_open(&fx);
	ok(!to_sroce_cq(fx.cq)->lock.needed,
	   "SROCE_SINGLE_THREADED=1 disables locks");
	fixture_close(&fx);

	memset(&fake, 0, sizeof(fake));
	fake.privileged = true;
	fx.context = fake_open();
	ok(fx.context && !to_sroce_context(fx.context)->single_threaded,
	   "SROCE_SINGLE_THREADED=1 does not count for a privileged program");
	fake_close(fx.context);
	unsetenv("SROCE_SINGLE_THREADED");
}

static void memory_regions(const struct fixture *fx)
{
	static char buffer[64];
	struct ibv_mr *mr = ibv_reg_mr(fx->pd, buffer, sizeof(buffer), 0);

	ok(mr && !ibv_dereg_mr(mr), "a memory region is registered and deregistered");
}

/* libibverbs has these since rdma-core 59 and 65. */
static void unknown_bits(const struct fixture *fx)
{
#if SROCE_PABI >= 59
	static char buffer[64];
	struct ibv_mr_init_attr mr_attr = {
		.length = sizeof(buffer),
		.comp_mask = IBV_REG_MR_MASK_ADDR | 1ull << 40,
		.addr = buffer,
	};

	errno = 0;
	ok(!ibv_reg_mr_ex(fx->pd, &mr_attr) && errno == EOPNOTSUPP,
	   "ibv_reg_mr_ex() refuses an unknown attribute");
#endif
#if SROCE_PABI >= 65
	struct ibv_qp *qp = fixture_qp(fx, IBV_QPT_RC, false);
	struct ibv_comp_cntr_init_attr cntr_attr = {};
	struct ibv_qp_attach_comp_cntr_attr attach = {
		.op_mask = IBV_QP_ATTACH_COMP_CNTR_OP_SEND | 1 << 20,
	};
	struct ibv_comp_cntr *cntr;

	cntr = ibv_create_comp_cntr(fx->context, &cntr_attr);
	ok(cntr && ibv_qp_attach_comp_cntr(qp, cntr, &attach) == EOPNOTSUPP,
	   "ibv_qp_attach_comp_cntr() refuses an unknown operation");
	ibv_destroy_qp(qp);
	ibv_destroy_comp_cntr(cntr);
#endif
	(void)fx;
}

/*
 * A kernel of before 6.17: what needs no new method works, the rest fails with the error of
 * the man pages.
 */
static void old_kernel(const struct fixture *fx)
{
	fake.old_kernel = true;
#if SROCE_PABI >= 59
	static char buffer[64];
	struct ibv_dmah_init_attr dmah_attr = {};
	struct ibv_mr_init_attr mr_attr = {
		.length = sizeof(buffer),
		.access = IBV_ACCESS_ON_DEMAND,
		.comp_mask = IBV_REG_MR_MASK_ADDR,
		.addr = buffer,
	};
	struct ibv_mr *mr;

	mr = ibv_reg_mr_ex(fx->pd, &mr_attr);
	ok(mr && mr->addr == buffer &&
	   container_of(mr, struct verbs_mr, ibv_mr)->access == IBV_ACCESS_ON_DEMAND,
	   "an old kernel: ibv_reg_mr_ex() registers memory");
	ok(mr && !ibv_dereg_mr(mr), "an old kernel: that region is deregistered");
	mr_attr.comp_mask |= IBV_REG_MR_MASK_IOVA;
	mr_attr.iova = 4096;
	mr = ibv_reg_mr_ex(fx->pd, &mr_attr);
	ok(mr && !ibv_dereg_mr(mr), "an old kernel: and memory with an IOVA");
	mr_attr.comp_mask = IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET |
			    IBV_REG_MR_MASK_IOVA;
	mr_attr.access = IBV_ACCESS_LOCAL_WRITE;
	mr = ibv_reg_mr_ex(fx->pd, &mr_attr);
	ok(mr && !ibv_dereg_mr(mr), "an old kernel: and a dma-buf");
	mr_attr.comp_mask = IBV_REG_MR_MASK_FD;
	errno = 0;
	ok(!ibv_reg_mr_ex(fx->pd, &mr_attr) && errno == EINVAL,
	   "a dma-buf without an offset is refused");
	errno = 0;
	ok(!ibv_alloc_dmah(fx->context, &dmah_attr) && errno == EOPNOTSUPP,
	   "an old kernel: no DMA handles");
#endif
#ifdef SROCE_HAVE_PORT_SPEED
	uint64_t speed;

	ok(ibv_query_port_speed(fx->context, 1, &speed) == EOPNOTSUPP,
	   "an old kernel: no speed of the port");
#endif
#if SROCE_PABI >= 65
	struct ibv_comp_cntr_init_attr cntr_attr = {};
	struct ibv_comp_cntr_caps caps;

	ok(ibv_query_comp_cntr_caps(fx->context, &caps) == EOPNOTSUPP,
	   "an old kernel: no capabilities of completion counters");
	errno = 0;
	ok(!ibv_create_comp_cntr(fx->context, &cntr_attr) && errno == EOPNOTSUPP,
	   "an old kernel: no completion counters");
#endif
	(void)fx;
	fake.old_kernel = false;
}

/* libibverbs stores these for basic SRQs only. */
static void xrc_srq(const struct fixture *fx)
{
	struct ibv_xrcd_init_attr xrcd_attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1,
		.oflags = O_CREAT,
	};
	struct ibv_srq_init_attr_ex attr = {
		.srq_context = &xrcd_attr,
		.attr = { .max_wr = 4, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC,
		.pd = fx->pd,
		.cq = fx->cq,
	};
	struct ibv_srq *srq;

	attr.xrcd = ibv_open_xrcd(fx->context, &xrcd_attr);
	srq = attr.xrcd ? ibv_create_srq_ex(fx->context, &attr) : NULL;
	ok(srq && srq->srq_context == &xrcd_attr && srq->pd == fx->pd,
	   "an XRC SRQ has the context and the PD of its attributes");
	ok(srq && !ibv_destroy_srq(srq) && !ibv_close_xrcd(attr.xrcd),
	   "the XRC SRQ and its domain are destroyed");
}

/* No order is guaranteed: not of the bytes of a message, not within 128-byte blocks. */
static void data_order(const struct fixture *fx)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
	};
	struct ibv_qp *qp = fixture_qp(fx, IBV_QPT_RC, false);
	int guaranteed = 0;
	size_t i;

	/* Flag 1 requests a mask of the guarantees (IBV_QUERY_QP_DATA_IN_ORDER_RETURN_CAPS). */
	for (i = 0; i < NUM(opcodes); i++)
		guaranteed |= ibv_query_qp_data_in_order(qp, opcodes[i], 0) |
			      ibv_query_qp_data_in_order(qp, opcodes[i], 1);
	ok(!guaranteed, "no order of data is guaranteed");
	ibv_destroy_qp(qp);
}

GROUP(objects)
{
	struct fixture fx;

	driver_registration();
	other_abi_version();
	fixture_open(&fx);
	request_format(&fx);
	extended_qp(&fx);
	shared_doorbell_pages(&fx);
	device_memory(&fx);
	closed_by_a_child(&fx);
	failed_creation(&fx);
	unsupported_qps(&fx);
	recv_cq_of_initiator(&fx);
	unsupported_cqs(&fx);
	cq_creation_flags(&fx);
	thread_domains(&fx);
	custom_allocator(&fx);
	allocator_without_memory(&fx);
	incomplete_allocator(&fx);
	address_handles(&fx);
	memory_regions(&fx);
	unknown_bits(&fx);
	old_kernel(&fx);
	xrc_srq(&fx);
	data_order(&fx);
	device_attributes(&fx);
	fixture_close(&fx);
	closed_with_objects();
	environment();
}
