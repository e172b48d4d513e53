// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* User contexts: allocation with the ABI version check, and destroying AHs. */
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/uverbs_types.h>
#include "../base/udata.h"
#include "../entry/kick.h"
#include "../mem/mr_dm.h"
#include "../mem/wmem.h"
#include "../net/ah.h"
#include "../queue/qp.h"
#include "../send/doorbell_batch.h"
#include "pd.h"
#include "ucontext.h"

#define UVERBS_MODULE_NAME sroce
#include <rdma/uverbs_named_ioctl.h>

/* Properties of the module; a response has only features that the provider knows. */
static const struct sroce_alloc_ucontext_resp properties = {
	.abi_version = SROCE_ABI_VERSION,
	.max_inline = SROCE_MAX_INLINE,
	.max_sge = SROCE_MAX_SGE,
	.features = SROCE_ALL_FEATURES,
	.opcodes = GENMASK(SROCE_WR_ATOMIC_FETCH_AND_ADD, SROCE_WR_RDMA_WRITE) |
		   BIT(SROCE_WR_LOCAL_INV) |
		   BIT(SROCE_WR_BIND_MW) |
		   BIT(SROCE_WR_SEND_WITH_INV) |
		   BIT(SROCE_WR_FLUSH) |
		   BIT(SROCE_WR_ATOMIC_WRITE),
	.sqe_header = SROCE_SQE_HEADER,
	.rqe_header = SROCE_RQE_HEADER,
	.cqe_size = SROCE_CQE_SIZE,
	.slot_size = SROCE_SLOT_SIZE,
};

/* Features that this module does not know are not an error. */
static int read_request(struct ib_device *ibdev, struct ib_udata *udata,
			struct sroce_alloc_ucontext_req *req)
{
	int err;

	err = ib_copy_validate_udata_in(udata, *req, flags);
	if (err)
		return err;
	if (req->abi_version != SROCE_ABI_VERSION) {
		ibdev_dbg(ibdev, "provider has ABI %u, module has %u\n",
			  req->abi_version, SROCE_ABI_VERSION);
		return -EPROTO;
	}
	return req->flags ? -EOPNOTSUPP : 0;
}

static int write_response(struct ib_udata *udata, u64 features)
{
	struct sroce_alloc_ucontext_resp resp = properties;

	resp.features &= features;
	return sroce_udata_room(udata, offsetofend(typeof(resp), max_sge)) ?:
	       ib_respond_udata(udata, resp);
}

/*
 * Softirqs take this xarray's lock, unlike that of @pages; give it its own
 * lockdep class.
 */
static void init_by_slot(struct sroce_qp_by_slot *by_slot)
{
	static struct lock_class_key key;

	xa_init_flags(&by_slot->qps, XA_FLAGS_LOCK_BH);
	lockdep_set_class(&by_slot->qps.xa_lock, &key);
}

int sroce_alloc_ucontext(struct ib_ucontext *ibctx, struct ib_udata *udata)
{
	struct sroce_ucontext *ctx = sroce_ucontext(ibctx);
	struct sroce_alloc_ucontext_req req;
	int err;

	err = read_request(ibctx->device, udata, &req);
	if (err)
		return err;
	ctx->wmem = sroce_wmem_context();
	if (!ctx->wmem)
		return -ENOMEM;
	ctx->by_slot = kzalloc_obj(*ctx->by_slot, GFP_KERNEL_ACCOUNT);
	if (!ctx->by_slot) {
		err = -ENOMEM;
		goto err_wmem;
	}
	init_by_slot(ctx->by_slot);
	sroce_doorbells_init(ctx);
	err = write_response(udata, req.features);
	if (err)
		goto err_by_slot;
	return 0;

err_by_slot:
	kfree(ctx->by_slot);
err_wmem:
	sroce_wmem_put(ctx->wmem);
	return err;
}

/* The macros below need names that are not macros. */
enum {
	QUERY_CONTEXT_RESP = SROCE_ATTR_QUERY_CONTEXT_RESP,
};

/* For importers, which have not opened the context themselves. */
int sroce_query_ucontext(struct ib_ucontext *ibctx,
			 struct uverbs_attr_bundle *attrs)
{
	if (!uverbs_attr_is_valid(attrs, QUERY_CONTEXT_RESP))
		return 0;
	return uverbs_copy_to_struct_or_zero(attrs, QUERY_CONTEXT_RESP,
					     &properties, sizeof(properties));
}

#define QUERY_CONTEXT_TYPE \
	UVERBS_ATTR_STRUCT(struct sroce_alloc_ucontext_resp, max_sge)

ADD_UVERBS_ATTRIBUTES_SIMPLE(query_context_attrs,
			     UVERBS_OBJECT_DEVICE,
			     UVERBS_METHOD_QUERY_CONTEXT,
			     UVERBS_ATTR_PTR_OUT(QUERY_CONTEXT_RESP,
						 QUERY_CONTEXT_TYPE,
						 UA_OPTIONAL));

void sroce_dealloc_ucontext(struct ib_ucontext *ibctx)
{
	struct sroce_ucontext *ctx = sroce_ucontext(ibctx);

	xa_destroy(&ctx->by_slot->qps);
	kfree_rcu(ctx->by_slot, rcu);
	sroce_wmem_put(ctx->wmem);
	sroce_doorbells_exit(ctx);
}

/*
 * Nothing to do: the RDMA core has destroyed the objects before, and memory
 * that the process has mapped is ordinary memory, which it may keep.
 */
void sroce_disassociate_ucontext(struct ib_ucontext *ibctx)
{
}

/*
 * Find the next QP with a pending doorbell batch, from slot @number on; returns
 * a reference, or NULL at the end.
 */
static struct sroce_qp *next_batching(struct sroce_ucontext *ctx,
				      unsigned long *number)
{
	struct sroce_qp *qp;

	rcu_read_lock();
	do
		qp = xa_find(&ctx->by_slot->qps, number, ULONG_MAX,
			     SROCE_SLOT_BATCHING);
	while (qp && !sroce_qp_get(qp) && ++*number);
	rcu_read_unlock();
	return qp;
}

/*
 * Send UD WQEs that wait for the batch timer, because their AH is looked up
 * only then.  A process may have very many QPs and AHs, so only QPs with a
 * pending batch are visited, and no batch is started.
 */
static void send_batched(struct sroce_ucontext *ctx)
{
	unsigned long number = 0;
	struct sroce_qp *qp;

	for (; (qp = next_batching(ctx, &number)); number++) {
		sroce_batch_send(qp);
		sroce_qp_put(qp);
		cond_resched();
	}
}

int sroce_destroy_ah_after_batch(struct ib_ah *ibah, u32 flags)
{
	if (ibah->uobject)
		send_batched(sroce_ucontext(ibah->uobject->context));
	return sroce_destroy_ah(ibah, flags);
}

const struct uapi_definition sroce_uapi_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DEVICE, &query_context_attrs),
	UAPI_DEF_CHAIN(sroce_kick_defs),
	UAPI_DEF_CHAIN(sroce_dm_defs),
	UAPI_DEF_CHAIN(sroce_pd_defs),
	{},
};
