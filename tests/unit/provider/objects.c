// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Creating and destroying every object, refusals, shared doorbell pages.
 */
#include <stdlib.h>

#include <rdma/ib_user_ioctl_verbs.h>

#include "fixture.h"

static void driver_is_found(void)
{
	const struct verbs_device_ops *ops = fake_driver();

	ok(ops && !strcmp(ops->name, "sroce"), "the constructor registers sroce");
	ok(ops->match_table[0].kind == VERBS_MATCH_DRIVER_ID &&
	   ops->match_table[0].u.driver_id == SROCE_DRIVER_ID &&
	   !ops->match_table[1].kind, "it matches by driver id only");
	ok(ops->match_min_abi_version == SROCE_ABI_VERSION &&
	   ops->match_max_abi_version == SROCE_ABI_VERSION,
	   "it matches one ABI version only");
}

static void other_version_is_refused(void)
{
	memset(&fake, 0, sizeof(fake));
	fake.abi_version = SROCE_ABI_VERSION + 1;
	errno = 0;
	ok(!fake_open() && errno == EPROTO,
	   "a module of another ABI version is refused");
}

static void requests_are_well_formed(const struct fixture *fx)
{
	struct ibv_srq_init_attr srq_attr = { .attr = { 4, 2, 0 } };
	struct ibv_srq *srq = ibv_create_srq(fx->pd, &srq_attr);
	struct ibv_qp *qp = fixture_qp(fx, IBV_QPT_RC, false);

	ok(srq && qp && !fake.bad_request,
	   "requests and responses have the ABI's sizes and zeros");
	ok(!ibv_destroy_qp(qp), "destroy QP");
	ok(!ibv_destroy_srq(srq), "destroy SRQ");
}

static void extended_qp_is_recognised(const struct fixture *fx)
{
	struct ibv_qp *plain = fixture_qp(fx, IBV_QPT_RC, false);
	struct ibv_qp *extended = fixture_qp(fx, IBV_QPT_RC, true);

	ok(!ibv_qp_to_qp_ex(plain), "a plain QP has no extended interface");
	ok(ibv_qp_to_qp_ex(extended),
	   "this libibverbs finds the extended interface of a QP");
	ibv_destroy_qp(plain);
	ibv_destroy_qp(extended);
}

static void doorbell_pages_are_shared(const struct fixture *fx)
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
	   fake_queue(qps[33]->handle)->slot, "a slot is where it should be");
	for (i = 0; i < NUM(qps); i++)
		ibv_destroy_qp(qps[i]);
	ok(fake.mapped == before, "the last user unmaps a page");
}

static void failures_leave_nothing(const struct fixture *fx)
{
	struct ibv_qp_init_attr_ex attr = fixture_qp_attr(fx, IBV_QPT_RC);
	int before = fake.mapped;

	fake.fail = EMFILE;
	errno = 0;
	ok(!ibv_create_qp_ex(fx->context, &attr) && errno == EMFILE,
	   "the kernel's refusal is passed on");
	fake.fail_map = EPERM;
	errno = 0;
	ok(!ibv_create_qp_ex(fx->context, &attr) && errno == EPERM,
	   "so is that of a mapping");
	ok(fake.mapped == before, "and nothing is left mapped");
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

	ok(qp_errno(fx, attr) == EOPNOTSUPP, "raw packet QP");
	attr.qp_type = IBV_QPT_XRC_SEND;
	ok(!qp_errno(fx, attr), "XRC initiator");
	attr.qp_type = IBV_QPT_XRC_RECV;
	ok(qp_errno(fx, attr) == EINVAL, "XRC target without a domain");
	attr.qp_type = IBV_QPT_UC;
	attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.send_ops_flags = IBV_QP_EX_WITH_RDMA_READ;
	ok(qp_errno(fx, attr) == EOPNOTSUPP, "UC with READ");
	attr.qp_type = IBV_QPT_UD;
	attr.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE;
	ok(qp_errno(fx, attr) == EOPNOTSUPP, "UD with WRITE");
	attr.qp_type = IBV_QPT_RC;
	attr.send_ops_flags = IBV_QP_EX_WITH_TSO;
	ok(qp_errno(fx, attr) == EOPNOTSUPP, "RC with TSO");
	attr.send_ops_flags = IBV_QP_EX_WITH_TSO - 1;
	ok(!qp_errno(fx, attr), "RC with all that there is");
	attr.comp_mask |= IBV_QP_INIT_ATTR_RX_HASH;
	ok(qp_errno(fx, attr) == EOPNOTSUPP, "unknown attributes");
	attr.comp_mask = 0;
	ok(qp_errno(fx, attr) == EINVAL, "no protection domain");
}

/* libibverbs stores it in the QP, but does not add it to the command. */
static void cq_of_an_initiator_goes(const struct fixture *fx)
{
	struct ibv_qp_init_attr_ex attr = fixture_qp_attr(fx, IBV_QPT_XRC_SEND);
	struct ibv_cq *cq = ibv_create_cq(fx->context, 8, NULL, NULL, 0);
	struct ibv_qp *qp;

	attr.recv_cq = cq;
	qp = ibv_create_qp_ex(fx->context, &attr);
	ok(qp && qp->recv_cq == cq, "an XRC initiator with a CQ to receive");
	ok(!ibv_destroy_cq(cq), "that CQ goes");
	set_state(qp, IBV_QPS_RESET);
	ok(!ibv_destroy_qp(qp), "then the QP does");
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
	   "CQ with all that there is");
	ok(cq_errno(fx, IBV_WC_EX_WITH_CVLAN, 0, 0) == EOPNOTSUPP,
	   "CQ with VLAN tags");
	ok(cq_errno(fx, IBV_WC_EX_WITH_TM_INFO, 0, 0) == EOPNOTSUPP,
	   "CQ with tag matching");
	ok(cq_errno(fx, 0, IBV_CQ_INIT_ATTR_MASK_FLAGS, 1 << 8) == EOPNOTSUPP,
	   "CQ with an unknown flag");
	ok(cq_errno(fx, 0, 1 << 8, 0) == EOPNOTSUPP, "unknown attributes");
}

static void time_is_asked_for(const struct fixture *fx)
{
	cq_errno(fx, IBV_WC_STANDARD_FLAGS, 0, 0);
	ok(!fake.cq_flags, "a CQ without timestamps");
	cq_errno(fx, IBV_WC_EX_WITH_COMPLETION_TIMESTAMP, 0, 0);
	ok(fake.cq_flags == IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION,
	   "the kernel hears that a CQ wants timestamps");
	cq_errno(fx, IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK, 0, 0);
	ok(fake.cq_flags == IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION,
	   "by whichever clock");
	ok(!cq_errno(fx, 0, IBV_CQ_INIT_ATTR_MASK_FLAGS,
		     IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN) &&
	   fake.cq_flags == IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN,
	   "and that it ignores overruns");
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
	   "a parent domain stands for its protection domain");
	inside.pd = parent;
	qp = fixture_qp(&inside, IBV_QPT_RC, false);
	ok(!to_sroce_qp(qp)->sq.lock.needed && !to_sroce_qp(qp)->rq.lock.needed,
	   "a QP in a thread domain takes no locks");
	ibv_destroy_qp(qp);
	qp = fixture_qp(fx, IBV_QPT_RC, false);
	ok(to_sroce_qp(qp)->sq.lock.needed, "any other QP does");
	ibv_destroy_qp(qp);

	ok(ibv_dealloc_td(td) == EBUSY, "a thread domain in use stays");
	ok(ibv_dealloc_pd(fx->pd) == EBUSY, "a protection domain too");
	ok(!ibv_dealloc_pd(parent) && !ibv_dealloc_td(td), "until then");
}

/* A program's allocator: returns memory that is not zeroed, or @answer. */
struct allocator {
	bool answers;
	void *answer;
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
	if (a->answers)
		return a->answer;
	memory = aligned_alloc(alignment, size);
	memset(memory, 0x5a, size);
	a->live++;
	return memory;
}

static void give_back(struct ibv_pd *pd, void *context, void *memory,
		      uint64_t resource_type)
{
	struct allocator *a = context;

	(void)pd;
	a->types[a->calls++ % NUM(a->types)] = resource_type;
	a->live--;
	free(memory);
}

static struct ibv_pd *domain_of(const struct fixture *fx, struct allocator *a)
{
	struct ibv_parent_domain_init_attr attr = {
		.pd = fx->pd,
		.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
			     IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT,
		.alloc = allocate,
		.free = give_back,
		.pd_context = a,
	};

	return ibv_alloc_parent_domain(fx->context, &attr);
}

static struct ibv_cq_ex *cq_in(const struct fixture *fx, struct ibv_pd *parent)
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

static uint64_t type_of(uint32_t resource)
{
	return (uint64_t)SROCE_DRIVER_ID << 32 | resource;
}

static void allocated_by_the_program(const struct fixture *fx)
{
	struct ibv_srq_init_attr srq_attr = { .attr = { 4, 2, 0 } };
	struct allocator a = {};
	struct fixture inside = *fx;
	struct ibv_cq_ex *cq;
	struct ibv_srq *srq;
	struct ibv_qp *qp;

	inside.pd = domain_of(fx, &a);
	qp = fixture_qp(&inside, IBV_QPT_RC, true);
	srq = ibv_create_srq(inside.pd, &srq_attr);
	cq = cq_in(fx, inside.pd);
	ok(qp && srq && cq && a.live == 3 && a.calls == 3 &&
	   a.types[0] == type_of(1) && a.types[1] == type_of(2) &&
	   a.types[2] == type_of(3), "QP, SRQ, CQ: the program's allocator");
	ok(a.alignment == SROCE_CACHE_LINE &&
	   !((uintptr_t)qp % SROCE_CACHE_LINE), "it is told the alignment");
	ok(!to_sroce_qp(qp)->sq.tail && !to_sroce_qp(qp)->sq.sqe &&
	   !to_sroce_srq(srq)->rq.tail && !cq_ex_to_sroce_cq(cq)->head,
	   "memory that it did not zero");
	ok(ibv_dealloc_pd(inside.pd) == EBUSY,
	   "the parent domain stays while there are objects");
	ok(!ibv_destroy_qp(qp) && !ibv_destroy_srq(srq) &&
	   !ibv_destroy_cq(ibv_cq_ex_to_cq(cq)) && !a.live && a.calls == 6 &&
	   a.types[3] == type_of(1) && a.types[4] == type_of(2) &&
	   a.types[5] == type_of(3), "and all comes back to it");
	ok(!ibv_dealloc_pd(inside.pd), "then the parent domain goes");
}

static void allocator_that_does_not(const struct fixture *fx)
{
	struct allocator a = {
		.answers = true, .answer = IBV_ALLOCATOR_USE_DEFAULT,
	};
	struct fixture inside = *fx;
	struct ibv_qp_init_attr_ex attr;
	struct ibv_qp *qp;

	inside.pd = domain_of(fx, &a);
	qp = fixture_qp(&inside, IBV_QPT_RC, false);
	ok(qp && a.calls == 1, "IBV_ALLOCATOR_USE_DEFAULT");
	ok(!ibv_destroy_qp(qp) && a.calls == 1,
	   "the program does not get back what was not its own");
	attr = fixture_qp_attr(&inside, IBV_QPT_RC);
	a.answer = NULL;
	errno = 0;
	ok(!ibv_create_qp_ex(fx->context, &attr) && errno == ENOMEM &&
	   a.calls == 2, "an allocator that has none: ENOMEM");
	a.answers = false;
	fake.fail = EMFILE;
	errno = 0;
	ok(!ibv_create_qp_ex(fx->context, &attr) && errno == EMFILE &&
	   !a.live && a.calls == 4, "the kernel refuses: it comes back");
	ok(!ibv_dealloc_pd(inside.pd), "and nothing is left of it");
}

static int parent_errno(const struct fixture *fx, bool alloc, bool release)
{
	struct ibv_parent_domain_init_attr attr = {
		.pd = fx->pd,
		.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS,
		.alloc = alloc ? allocate : NULL,
		.free = release ? give_back : NULL,
	};

	errno = 0;
	return ibv_alloc_parent_domain(fx->context, &attr) ? 0 : errno;
}

static void half_an_allocator(const struct fixture *fx)
{
	ok(parent_errno(fx, false, true) == EINVAL, "no function to allocate");
	ok(parent_errno(fx, true, false) == EINVAL, "none to free");
}

static void address_handles(const struct fixture *fx)
{
	struct ibv_ah_attr attr = { .is_global = 1, .port_num = 1 };
	struct ibv_ah *ah = ibv_create_ah(fx->pd, &attr);

	ok(ah && to_sroce_ah(ah)->number == ah->handle + 1000,
	   "an address handle has the kernel's number");
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
	   attr.hca_core_clock == 1000000, "timestamps are nanoseconds");
	ok(!strcmp(attr.orig_attr.fw_ver, "1.2.3"), "firmware version");
	ok(!ibv_query_device(fx->context, &attr.orig_attr),
	   "the small query works too");
	ok(!ibv_query_rt_values_ex(fx->context, &values) &&
	   values.comp_mask == IBV_VALUES_MASK_RAW_CLOCK &&
	   values.raw_clock.tv_nsec, "raw clock");
}

static void environment(void)
{
	struct fixture fx;

	setenv("SROCE_SINGLE_THREADED", "1", 1);
	fixture_open(&fx);
	ok(!to_sroce_cq(fx.cq)->lock.needed,
	   "SROCE_SINGLE_THREADED=1 does without locks");
	fixture_close(&fx);
	unsetenv("SROCE_SINGLE_THREADED");
}

static void memory_regions(const struct fixture *fx)
{
	static char buffer[64];
	struct ibv_mr *mr = ibv_reg_mr(fx->pd, buffer, sizeof(buffer), 0);

	ok(mr && !ibv_dereg_mr(mr), "a memory region comes and goes");
}

/* No order is promised, neither of all bytes of a message nor within blocks of 128. */
static void order_of_bytes(const struct fixture *fx)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
	};
	struct ibv_qp *qp = fixture_qp(fx, IBV_QPT_RC, false);
	int promised = 0;
	size_t i;

	/* Flag 1 asks for a mask of the promises. */
	for (i = 0; i < NUM(opcodes); i++)
		promised |= ibv_query_qp_data_in_order(qp, opcodes[i], 0) |
			    ibv_query_qp_data_in_order(qp, opcodes[i], 1);
	ok(!promised, "no order of bytes within a packet is promised");
	ibv_destroy_qp(qp);
}

GROUP(objects)
{
	struct fixture fx;

	driver_is_found();
	other_version_is_refused();
	fixture_open(&fx);
	requests_are_well_formed(&fx);
	extended_qp_is_recognised(&fx);
	doorbell_pages_are_shared(&fx);
	failures_leave_nothing(&fx);
	unsupported_qps(&fx);
	cq_of_an_initiator_goes(&fx);
	unsupported_cqs(&fx);
	time_is_asked_for(&fx);
	thread_domains(&fx);
	allocated_by_the_program(&fx);
	allocator_that_does_not(&fx);
	half_an_allocator(&fx);
	address_handles(&fx);
	memory_regions(&fx);
	order_of_bytes(&fx);
	device_attributes(&fx);
	fixture_close(&fx);
	environment();
}
