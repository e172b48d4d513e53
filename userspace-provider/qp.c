// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Queue pairs: create, modify, query, destroy.
 */
#include <stdlib.h>

#include "sroce.h"

#define OPS_UD (IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM)
#define OPS_UC (OPS_UD | IBV_QP_EX_WITH_RDMA_WRITE |	\
		IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |	\
		IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_LOCAL_INV)
#define OPS_RC (OPS_UC | IBV_QP_EX_WITH_RDMA_READ |	\
		IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |	\
		IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD |	\
		IBV_QP_EX_WITH_SEND_WITH_INV |		\
		SROCE_QP_EX_WITH_ATOMIC_WRITE | SROCE_QP_EX_WITH_FLUSH)

/* IBV_QP_EX_WITH_* flags whose bit number is the opcode. */
#define OPS_NUMBERED ((1 << (SROCE_WR_SEND_WITH_INV + 1)) - 1)

SROCE_SAME(IBV_QP_EX_WITH_RDMA_WRITE, 1 << SROCE_WR_RDMA_WRITE);
SROCE_SAME(IBV_QP_EX_WITH_SEND, 1 << SROCE_WR_SEND);
SROCE_SAME(IBV_QP_EX_WITH_LOCAL_INV, 1 << SROCE_WR_LOCAL_INV);
SROCE_SAME(IBV_QP_EX_WITH_BIND_MW, 1 << SROCE_WR_BIND_MW);
SROCE_SAME(IBV_QP_EX_WITH_SEND_WITH_INV, 1 << SROCE_WR_SEND_WITH_INV);
SROCE_SAME(IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD,
	   1 << SROCE_WR_ATOMIC_FETCH_AND_ADD);

/* Operations of a QP type, as IBV_QP_EX_WITH_* flags. */
static uint64_t ops_of_type(enum ibv_qp_type type)
{
	switch (type) {
	case IBV_QPT_RC:
	case IBV_QPT_XRC_SEND:
		return OPS_RC;
	case IBV_QPT_UC:
		return OPS_UC;
	case IBV_QPT_UD:
		return OPS_UD;
	default:
		return 0;
	}
}

/* Operations of a QP type that the module accepts. */
static uint64_t ops_of(struct ibv_context *context, enum ibv_qp_type type)
{
	uint64_t opcodes = to_sroce_context(context)->opcodes;
	uint64_t missing = OPS_NUMBERED & ~opcodes;

	if (!(opcodes & 1 << SROCE_WR_FLUSH))
		missing |= SROCE_QP_EX_WITH_FLUSH;
	if (!(opcodes & 1 << SROCE_WR_ATOMIC_WRITE))
		missing |= SROCE_QP_EX_WITH_ATOMIC_WRITE;
	return ops_of_type(type) & ~missing;
}

/* The same operations as a bit mask of opcodes. */
static uint16_t opcodes_of(struct ibv_context *context, enum ibv_qp_type type)
{
	uint64_t ops = ops_of(context, type);

	return (ops & OPS_NUMBERED) |
	       (ops & SROCE_QP_EX_WITH_ATOMIC_WRITE ?
		1 << SROCE_WR_ATOMIC_WRITE : 0);
}

#ifdef SROCE_STANDALONE
/*
 * libibverbs looks in verbs_qp.comp_mask whether a QP has the extended
 * interface.  That member follows struct ibv_qp_ex, which has grown between
 * versions of libibverbs with the same private ABI.  Creating a QP clears the
 * member, which shows its offset in the libibverbs that has loaded the
 * provider.
 */
#define LAST_COMMON	offsetof(struct ibv_qp_ex, wr_abort)
#define FIRST_WORD	((LAST_COMMON + sizeof(void *)) / 4)
#define NUM_WORDS	(sizeof(((struct sroce_qp *)0)->room) / 4)

static void hide_comp_mask(struct sroce_qp *qp)
{
	memset(&qp->room[FIRST_WORD], 0xff, (NUM_WORDS - FIRST_WORD) * 4);
}

/* Undo hide_comp_mask(), and store the offset. */
static void find_comp_mask(struct sroce_qp *qp)
{
	size_t i = FIRST_WORD;

	while (i < NUM_WORDS && qp->room[i])
		i++;
	qp->comp_mask_at = i * 4;
	memset(&qp->room[FIRST_WORD], 0, (NUM_WORDS - FIRST_WORD) * 4);
}

/* True if struct ibv_qp_ex of this libibverbs has @member. */
#define LIBRARY_HAS(qp, member)						\
	((qp)->comp_mask_at >=						\
	 offsetof(struct ibv_qp_ex, member) + sizeof(void *))

/* Operations for which this libibverbs has no place in struct ibv_qp_ex. */
static uint64_t missing_ops(const struct sroce_qp *qp)
{
	uint64_t missing = 0;

	(void)qp;	/* without both operations */
#ifdef SROCE_HAVE_ATOMIC_WRITE
	if (!LIBRARY_HAS(qp, wr_atomic_write))
		missing |= IBV_QP_EX_WITH_ATOMIC_WRITE;
#endif
#ifdef SROCE_HAVE_FLUSH
	if (!LIBRARY_HAS(qp, wr_flush))
		missing |= IBV_QP_EX_WITH_FLUSH;
#endif
	return missing;
}

/* The offset is known only now that the QP exists.  Returns 0 or an errno. */
static int check_library(struct sroce_qp *qp, uint64_t ops)
{
	find_comp_mask(qp);
	if (!(ops & missing_ops(qp)))
		return 0;
	ibv_cmd_destroy_qp(&qp->vqp.qp);
	return EOPNOTSUPP;
}

/* Clear the operations that this libibverbs does not have: others use the place. */
static void set_extended(struct sroce_qp *qp)
{
	size_t at = qp->comp_mask_at / 4;

	memset(&qp->room[at], 0, (NUM_WORDS - at) * 4);
	if (at < NUM_WORDS)
		qp->room[at] = VERBS_QP_EX;
}
#else
static void set_extended(struct sroce_qp *qp)
{
	qp->vqp.comp_mask |= VERBS_QP_EX;
}
#endif

static bool is_extended(const struct ibv_qp_init_attr_ex *attr)
{
	return attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
}

static int qp_command(struct ibv_context *context,
		      struct ibv_qp_init_attr_ex *attr, struct sroce_qp *qp,
		      struct sroce_create_qp_resp *drv)
{
	struct sroce_cmd_create_qp_resp resp = {};
	struct sroce_cmd_create_qp cmd = {};
	int err;

#ifdef SROCE_STANDALONE
	bool extended = is_extended(attr);

	if (extended)
		hide_comp_mask(qp);
#endif
#if SROCE_PABI >= 64
	err = ibv_cmd_create_qp_ex2(context, &qp->vqp, attr,
				    &cmd.ibv_cmd, sizeof(cmd),
				    &resp.ibv_resp, sizeof(resp), NULL);
#else
	err = ibv_cmd_create_qp_ex2(context, &qp->vqp, attr,
				    &cmd.ibv_cmd, sizeof(cmd),
				    &resp.ibv_resp, sizeof(resp));
#endif
	if (err)
		return err;
#ifdef SROCE_STANDALONE
	if (extended)
		err = check_library(qp, attr->send_ops_flags);
	if (err)
		return err;
#endif
	*drv = resp.drv_payload;
	return 0;
}

static uint8_t log2_of(uint32_t stride)
{
	return stride ? __builtin_ctz(stride) : 0;
}

static struct sroce_door qp_door(const struct sroce_qp *qp)
{
	struct ibv_context *context = qp->vqp.qp.context;

	return (struct sroce_door){
		.kick_fd = to_sroce_context(context)->kick_fd,
		.slot_number = qp->memory.slot_number,
	};
}

static void sq_init(struct sroce_qp *qp, const struct sroce_create_qp_resp *resp,
		    const struct ibv_qp_init_attr_ex *attr)
{
	struct sroce_sq *sq = &qp->sq;

	sroce_lock_init(&sq->lock, !sroce_pd_single_threaded(attr->pd));
	sq->ring = qp->memory.ring;
	sq->slot = qp->memory.slot;
	sq->door = qp_door(qp);
	sq->entries = resp->sq_entries;
	sq->shift = log2_of(resp->sq_stride);
	sq->max_sge = attr->cap.max_send_sge;
	sq->max_inline = attr->cap.max_inline_data;
	sq->opcodes = opcodes_of(qp->vqp.qp.context, attr->qp_type);
	sq->xrc = attr->qp_type == IBV_QPT_XRC_SEND;
	sq->all_flags = attr->sq_sig_all ? SROCE_WR_SIGNALED : 0;
}

static void rq_init(struct sroce_qp *qp, const struct sroce_create_qp_resp *resp,
		    const struct ibv_qp_init_attr_ex *attr)
{
	struct sroce_rq *rq = &qp->rq;

	sroce_lock_init(&rq->lock, !sroce_pd_single_threaded(attr->pd));
	rq->ring = (char *)qp->memory.ring + resp->rq_offset;
	rq->slot = qp->memory.slot;
	rq->entries = resp->rq_entries;
	rq->shift = log2_of(resp->rq_stride);
	rq->max_sge = attr->cap.max_recv_sge;
}

/*
 * An XRC target has no queues, and belongs to all processes of its XRC domain.
 */
static void target_init(struct sroce_qp *qp)
{
	static struct sroce_qp_slot empty;

	qp->sq.slot = &empty;
	qp->rq.slot = &empty;
}

static int qp_create(struct ibv_context *context,
		     struct ibv_qp_init_attr_ex *attr, struct sroce_qp *qp)
{
	struct sroce_create_qp_resp resp;
	int err;

	err = qp_command(context, attr, qp, &resp);
	if (err)
		return err;
	if (attr->qp_type == IBV_QPT_XRC_RECV) {
		target_init(qp);
		return 0;
	}
	err = sroce_map(to_sroce_context(context), &resp.map, &qp->memory);
	if (err) {
		ibv_cmd_destroy_qp(&qp->vqp.qp);
		return err;
	}
	sq_init(qp, &resp, attr);
	rq_init(qp, &resp, attr);
	if (is_extended(attr)) {
		sroce_set_send_ops(&qp->vqp.qp_ex);
		set_extended(qp);
	}
	return 0;
}

static bool has_queues(const struct ibv_qp_init_attr_ex *attr)
{
	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD) || !attr->send_cq)
		return false;
	return attr->qp_type == IBV_QPT_XRC_SEND ? !attr->srq :
						   !!attr->recv_cq;
}

static int qp_check(struct ibv_context *context,
		    const struct ibv_qp_init_attr_ex *attr)
{
	bool target = attr->qp_type == IBV_QPT_XRC_RECV;
	uint64_t ops = ops_of(context, attr->qp_type);

	if (!ops && !target)
		return EOPNOTSUPP;
	if (attr->comp_mask & ~(IBV_QP_INIT_ATTR_PD |
				(target ? IBV_QP_INIT_ATTR_XRCD : 0) |
				IBV_QP_INIT_ATTR_CREATE_FLAGS |
				IBV_QP_INIT_ATTR_SEND_OPS_FLAGS))
		return EOPNOTSUPP;
	if (target ? !(attr->comp_mask & IBV_QP_INIT_ATTR_XRCD) || attr->srq :
		     !has_queues(attr))
		return EINVAL;
	if (is_extended(attr) && (target || attr->send_ops_flags & ~ops))
		return EOPNOTSUPP;
	return 0;
}

/* An XRC target has no PD, or one without effect. */
static struct ibv_pd *pd_of(const struct ibv_qp_init_attr_ex *attr)
{
	return attr->comp_mask & IBV_QP_INIT_ATTR_PD ? attr->pd : NULL;
}

struct ibv_qp *sroce_create_qp_ex(struct ibv_context *context,
				  struct ibv_qp_init_attr_ex *attr)
{
	struct sroce_origin origin;
	struct sroce_qp *qp;
	int err;

	err = qp_check(context, attr);
	if (err)
		goto fail;
	qp = sroce_alloc_from(&origin, pd_of(attr), sizeof(*qp),
			      SROCE_RESOURCE_QP);
	if (!qp)
		return NULL;
	qp->origin = origin;
	pthread_mutex_init(&qp->modify, NULL);
	err = qp_create(context, attr, qp);
	if (err) {
		pthread_mutex_destroy(&qp->modify);
		sroce_free_to(origin, qp);
		goto fail;
	}
	return &qp->vqp.qp;

fail:
	errno = err;
	return NULL;
}

struct ibv_qp *sroce_create_qp(struct ibv_pd *pd,
			       struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex ex = {
		.qp_context = attr->qp_context,
		.send_cq = attr->send_cq,
		.recv_cq = attr->recv_cq,
		.srq = attr->srq,
		.cap = attr->cap,
		.qp_type = attr->qp_type,
		.sq_sig_all = attr->sq_sig_all,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = pd,
	};
	struct ibv_qp *qp = sroce_create_qp_ex(pd->context, &ex);

	if (qp)
		attr->cap = ex.cap;
	return qp;
}

struct ibv_qp *sroce_open_qp(struct ibv_context *context,
			     struct ibv_qp_open_attr *attr)
{
	struct ib_uverbs_create_qp_resp resp = {};
	struct ibv_open_qp cmd = {};
	struct sroce_qp *qp;
	int err;

	qp = sroce_alloc(sizeof(*qp));
	if (!qp)
		return NULL;
	err = ibv_cmd_open_qp(context, &qp->vqp,
			      offsetof(struct sroce_qp, sq), attr,
			      &cmd, sizeof(cmd), &resp, sizeof(resp));
	if (err) {
		free(qp);
		errno = err;
		return NULL;
	}
	pthread_mutex_init(&qp->modify, NULL);
	target_init(qp);
	return &qp->vqp.qp;
}

static void store_state(struct sroce_qp *qp, enum ibv_qp_state state)
{
	sroce_store(&qp->sq.state, state);
	sroce_store(&qp->rq.state, state);
}

/* Reset the rings; the kernel reads no tail of a QP in RESET. */
static void reset_rings(struct sroce_qp *qp)
{
	qp->sq.tail = 0;
	qp->sq.head = 0;
	sroce_store(&qp->sq.slot->sq_tail, 0);
	qp->rq.tail = 0;
	qp->rq.head = 0;
	sroce_store(&qp->rq.slot->rq_tail, 0);
}

/*
 * For an XRC QP libibverbs also stores CQs that the kernel does not know; they
 * may have been destroyed.
 */
static void clean_cqs(const struct ibv_qp *qp)
{
	sroce_cq_clean(qp->send_cq, qp);
	if (qp->qp_type != IBV_QPT_XRC_SEND && qp->recv_cq != qp->send_cq)
		sroce_cq_clean(qp->recv_cq, qp);
}

static bool has_memory(const struct sroce_qp *qp)
{
	return qp->memory.ring;
}

static int modify_to_reset(struct sroce_qp *qp, struct ibv_qp_attr *attr,
			   int attr_mask)
{
	struct ibv_modify_qp cmd = {};
	int err;

	sroce_lock_long(&qp->sq.lock);
	sroce_lock_long(&qp->rq.lock);
	err = ibv_cmd_modify_qp(&qp->vqp.qp, attr, attr_mask,
				&cmd, sizeof(cmd));
	/* A thread that waits for one of the locks must not post. */
	if (!err) {
		store_state(qp, IBV_QPS_RESET);
		reset_rings(qp);
	}
	sroce_unlock_long(&qp->rq.lock);
	sroce_unlock_long(&qp->sq.lock);
	if (!err)
		clean_cqs(&qp->vqp.qp);
	return err;
}

/* The non-extended command has no field for the rate. */
static int modify_rate(struct ibv_qp *qp, struct ibv_qp_attr *attr,
		       int attr_mask)
{
	struct ibv_modify_qp_ex cmd = {};
	struct ib_uverbs_ex_modify_qp_resp resp;

	return ibv_cmd_modify_qp_ex(qp, attr, attr_mask, &cmd, sizeof(cmd),
				    &resp, sizeof(resp));
}

int sroce_modify_qp_rate_limit(struct ibv_qp *qp,
			       struct ibv_qp_rate_limit_attr *limit)
{
	struct ibv_qp_attr attr = {
		.rate_limit = limit->rate_limit,
	};

	/* The module chooses the size of bursts. */
	if (limit->comp_mask || limit->max_burst_sz || limit->typical_pkt_sz)
		return EOPNOTSUPP;
	return modify_rate(qp, &attr, IBV_QP_RATE_LIMIT);
}

static int try_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr,
			 int attr_mask)
{
	struct ibv_modify_qp cmd = {};

	if (attr_mask & IBV_QP_RATE_LIMIT)
		return modify_rate(qp, attr, attr_mask);
	if (attr_mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RESET &&
	    has_memory(to_sroce_qp(qp)))
		return modify_to_reset(to_sroce_qp(qp), attr, attr_mask);
	return ibv_cmd_modify_qp(qp, attr, attr_mask, &cmd, sizeof(cmd));
}

/*
 * If two threads change the state, the last change in the kernel is also the one
 * that is stored.  Posting does not take this mutex, so it does not wait.
 */
int sroce_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int attr_mask)
{
	struct sroce_qp *qp = to_sroce_qp(ibqp);
	int err;

	if (!(attr_mask & IBV_QP_STATE))
		return try_modify_qp(ibqp, attr, attr_mask);
	pthread_mutex_lock(&qp->modify);
	err = try_modify_qp(ibqp, attr, attr_mask);
	if (!err)
		store_state(qp, attr->qp_state);
	pthread_mutex_unlock(&qp->modify);
	return err;
}

int sroce_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
		   struct ibv_qp_init_attr *init_attr)
{
	struct ibv_query_qp cmd = {};

	return ibv_cmd_query_qp(qp, attr, attr_mask, init_attr,
				&cmd, sizeof(cmd));
}

int sroce_destroy_qp(struct ibv_qp *ibqp)
{
	struct sroce_qp *qp = to_sroce_qp(ibqp);
	struct sroce_context *ctx = to_sroce_context(ibqp->context);
	int err;

	err = ibv_cmd_destroy_qp(ibqp);
	if (err)
		return err;
	/* Like NICs, remove completions of a QP that no longer exists. */
	if (has_memory(qp)) {
		clean_cqs(ibqp);
		sroce_unmap(ctx, &qp->memory);
	}
	pthread_mutex_destroy(&qp->modify);
	sroce_free_to(qp->origin, qp);
	return 0;
}
