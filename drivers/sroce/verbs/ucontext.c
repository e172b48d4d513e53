// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
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

static int check_request(struct ib_device *ibdev, struct ib_udata *udata)
{
	struct sroce_alloc_ucontext_req req;

	if (udata->inlen < sizeof(req))
		return -EINVAL;
	if (ib_copy_from_udata(&req, udata, sizeof(req)))
		return -EFAULT;
	if (req.abi_version != SROCE_ABI_VERSION) {
		ibdev_dbg(ibdev, "provider has ABI %u, module has %u\n",
			  req.abi_version, SROCE_ABI_VERSION);
		return -EPROTO;
	}
	return req.flags ? -EOPNOTSUPP : sroce_udata_zero(udata, sizeof(req));
}

/* Unlike @pages it is marked by softirqs: lockdep is not to take both for one. */
static void init_kicked(struct sroce_qp_by_slot *kicked)
{
	static struct lock_class_key key;

	xa_init_flags(&kicked->qps, XA_FLAGS_LOCK_BH);
	lockdep_set_class(&kicked->qps.xa_lock, &key);
}

int sroce_alloc_ucontext(struct ib_ucontext *ibctx, struct ib_udata *udata)
{
	struct sroce_ucontext *ctx = sroce_ucontext(ibctx);
	struct sroce_alloc_ucontext_resp resp = {
		.abi_version = SROCE_ABI_VERSION,
		.max_inline = SROCE_MAX_INLINE,
		.max_sge = SROCE_MAX_SGE,
	};
	int err;

	err = check_request(ibctx->device, udata);
	if (err)
		return err;
	ctx->wmem = sroce_wmem_context();
	if (!ctx->wmem)
		return -ENOMEM;
	ctx->kicked = kzalloc_obj(*ctx->kicked, GFP_KERNEL_ACCOUNT);
	if (!ctx->kicked) {
		err = -ENOMEM;
		goto err_wmem;
	}
	init_kicked(ctx->kicked);
	sroce_doorbells_init(ctx);
	err = sroce_udata_respond(udata, &resp, sizeof(resp));
	if (err)
		goto err_kicked;
	return 0;

err_kicked:
	kfree(ctx->kicked);
err_wmem:
	sroce_wmem_put(ctx->wmem);
	return err;
}

/*
 * For another process that has got the context: all that it has to know of us,
 * the version, the device's attributes have told it.
 */
int sroce_query_ucontext(struct ib_ucontext *ibctx,
			 struct uverbs_attr_bundle *attrs)
{
	return 0;
}

void sroce_dealloc_ucontext(struct ib_ucontext *ibctx)
{
	struct sroce_ucontext *ctx = sroce_ucontext(ibctx);

	xa_destroy(&ctx->kicked->qps);
	kfree_rcu(ctx->kicked, rcu);
	sroce_wmem_put(ctx->wmem);
	sroce_doorbells_exit(ctx);
}

/*
 * Its objects are destroyed by the time the RDMA core calls this, and what a
 * process has mapped is ordinary memory, which it may keep.
 */
void sroce_disassociate_ucontext(struct ib_ucontext *ibctx)
{
}

/* One that gathers, from slot @number on, referenced; none is left: NULL. */
static struct sroce_qp *next_gathering(struct sroce_ucontext *ctx,
				       unsigned long *number)
{
	struct sroce_qp *qp;

	rcu_read_lock();
	do
		qp = xa_find(&ctx->kicked->qps, number, ULONG_MAX,
			     SROCE_SLOT_BATCHING);
	while (qp && !sroce_qp_get(qp) && ++*number);
	rcu_read_unlock();
	return qp;
}

/*
 * Datagrams that were posted in a stream may wait for a timer, without a kick:
 * their addresses are looked up only then.  There may be very many QPs, and very
 * many addresses that go with their process: those with nothing to send are not
 * visited, nor made to gather.
 */
static void send_gathered(struct sroce_ucontext *ctx)
{
	unsigned long number = 0;
	struct sroce_qp *qp;

	for (; (qp = next_gathering(ctx, &number)); number++) {
		sroce_batch_send(qp);
		sroce_qp_put(qp);
		cond_resched();
	}
}

int sroce_destroy_user_ah(struct ib_ah *ibah, u32 flags)
{
	if (ibah->uobject)
		send_gathered(sroce_ucontext(ibah->uobject->context));
	return sroce_destroy_ah(ibah, flags);
}

const struct uapi_definition sroce_uapi_defs[] = {
	UAPI_DEF_CHAIN(sroce_kick_defs),
	UAPI_DEF_CHAIN(sroce_dm_defs),
	UAPI_DEF_CHAIN(sroce_pd_defs),
	{},
};
