// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/fs.h>
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/uverbs_types.h>
#include "context.h"
#include "device.h"
#include "dm.h"
#include "gather.h"
#include "pd.h"
#include "qp.h"
#include "ring.h"
#include "udata.h"
#include "wmem.h"

#define UVERBS_MODULE_NAME sroce
#include <rdma/uverbs_named_ioctl.h>

#define MAX_PAGES	((1 << 20) / SROCE_SLOTS_PER_PAGE)
#define HAS_FREE_SLOT	XA_MARK_1

/* A doorbell page; bit n of @used is its slot n. */
struct doorbell_page {
	struct sroce_ring *ring;
	u32 used;
};

static_assert(SROCE_SLOTS_PER_PAGE == 32);
static_assert(SROCE_SLOTS_PER_PAGE * SROCE_SLOT_SIZE <= PAGE_SIZE);

static struct doorbell_page *page_add(struct sroce_ucontext *ctx)
{
	struct doorbell_page *page;
	int err;

	if (ctx->num_pages == MAX_PAGES)
		return ERR_PTR(-ENOMEM);
	page = kzalloc_obj(*page, GFP_KERNEL_ACCOUNT);
	if (!page)
		return ERR_PTR(-ENOMEM);
	page->ring = sroce_ring_alloc(&ctx->ib, PAGE_SIZE);
	if (IS_ERR(page->ring)) {
		err = PTR_ERR(page->ring);
		goto err_page;
	}
	err = xa_insert(&ctx->pages, ctx->num_pages, page, GFP_KERNEL_ACCOUNT);
	if (err)
		goto err_ring;
	return page;

err_ring:
	sroce_ring_free(page->ring);
err_page:
	kfree(page);
	return ERR_PTR(err);
}

static struct doorbell_page *page_find(struct sroce_ucontext *ctx,
				       unsigned long *number)
{
	struct doorbell_page *page;

	lockdep_assert_held(&ctx->lock);
	*number = 0;
	page = xa_find(&ctx->pages, number, ULONG_MAX, HAS_FREE_SLOT);
	if (page)
		return page;
	page = page_add(ctx);
	if (!IS_ERR(page)) {
		*number = ctx->num_pages++;
		xa_set_mark(&ctx->pages, *number, HAS_FREE_SLOT);
	}
	return page;
}

int sroce_slot_alloc(struct sroce_ucontext *ctx, struct sroce_slot *slot)
{
	struct doorbell_page *page;
	unsigned long number;
	u32 bit;

	mutex_lock(&ctx->lock);
	page = page_find(ctx, &number);
	if (IS_ERR(page)) {
		mutex_unlock(&ctx->lock);
		return PTR_ERR(page);
	}
	bit = ffz(page->used);
	page->used |= 1u << bit;
	if (page->used == U32_MAX)
		xa_clear_mark(&ctx->pages, number, HAS_FREE_SLOT);
	mutex_unlock(&ctx->lock);

	slot->mem = page->ring->mem + bit * SROCE_SLOT_SIZE;
	slot->number = number * SROCE_SLOTS_PER_PAGE + bit;
	slot->page_offset = sroce_ring_offset(page->ring);
	memset(slot->mem, 0, SROCE_SLOT_SIZE);
	return 0;
}

void sroce_slot_free(struct sroce_ucontext *ctx, struct sroce_slot *slot)
{
	unsigned long number = slot->number / SROCE_SLOTS_PER_PAGE;
	struct doorbell_page *page;

	mutex_lock(&ctx->lock);
	page = xa_load(&ctx->pages, number);
	page->used &= ~(1u << slot->number % SROCE_SLOTS_PER_PAGE);
	xa_set_mark(&ctx->pages, number, HAS_FREE_SLOT);
	mutex_unlock(&ctx->lock);
}

int sroce_slot_owner(struct sroce_ucontext *ctx, struct sroce_slot *slot,
		     struct sroce_qp *qp)
{
	return xa_err(xa_store_bh(&ctx->kicked->qps, slot->number, qp,
				  GFP_KERNEL_ACCOUNT));
}

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
static void init_kicked(struct sroce_kicked *kicked)
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
	mutex_init(&ctx->lock);
	xa_init(&ctx->pages);
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
	struct doorbell_page *page;
	unsigned long number;

	xa_for_each(&ctx->pages, number, page) {
		sroce_ring_free(page->ring);
		kfree(page);
	}
	xa_destroy(&ctx->pages);
	xa_destroy(&ctx->kicked->qps);
	kfree_rcu(ctx->kicked, rcu);
	sroce_wmem_put(ctx->wmem);
	mutex_destroy(&ctx->lock);
}

/*
 * Its objects are destroyed by the time the RDMA core calls this, and what a
 * process has mapped is ordinary memory, which it may keep.
 */
void sroce_disassociate_ucontext(struct ib_ucontext *ibctx)
{
}

int sroce_check_create_req(struct ib_udata *udata)
{
	if (udata->inlen < sizeof(struct sroce_create_req))
		return -EINVAL;
	return sroce_udata_empty(udata);
}

/* The kick file: @kicked is NULL once the context or the device is going. */
struct kick_file {
	struct ib_uobject uobj;
	struct sroce_kicked __rcu *kicked;
};

static struct kick_file *kick_file(struct ib_uobject *uobj)
{
	return container_of(uobj, struct kick_file, uobj);
}

/* One that gathers, from slot @number on, referenced; none is left: NULL. */
static struct sroce_qp *next_gathering(struct sroce_ucontext *ctx,
				       unsigned long *number)
{
	struct sroce_qp *qp;

	rcu_read_lock();
	do
		qp = xa_find(&ctx->kicked->qps, number, ULONG_MAX,
			     SROCE_GATHERS);
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
		sroce_gather_send(qp);
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

static struct sroce_qp *kick_target(struct kick_file *kick, unsigned long slot)
{
	struct sroce_kicked *kicked;
	struct sroce_qp *qp;

	rcu_read_lock();
	kicked = rcu_dereference(kick->kicked);
	if (!kicked) {
		qp = ERR_PTR(-EIO);
	} else {
		qp = xa_load(&kicked->qps, slot);
		if (!qp || !sroce_qp_get(qp))
			qp = ERR_PTR(-ENOENT);
	}
	rcu_read_unlock();
	return qp;
}

static long kick_ioctl(struct file *file, unsigned int cmd, unsigned long slot)
{
	struct sroce_qp *qp;

	if (cmd != SROCE_IOC_KICK)
		return -ENOTTY;
	qp = kick_target(kick_file(file->private_data), slot);
	if (IS_ERR(qp))
		return PTR_ERR(qp);
	local_bh_disable();
	sroce_count(qp, SROCE_KICKS);
	local_bh_enable();
	sroce_qp_kick(qp);
	sroce_qp_put(qp);
	return 0;
}

static const struct file_operations kick_fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = kick_ioctl,
	.compat_ioctl = kick_ioctl,
	.release = uverbs_uobject_fd_release,
};

/* On close, on the end of the process, and when the device goes. */
static void kick_destroy(struct ib_uobject *uobj, enum rdma_remove_reason why)
{
	RCU_INIT_POINTER(kick_file(uobj)->kicked, NULL);
}

/* The macros below want names that are not macros themselves. */
enum {
	KICK = SROCE_OBJECT_KICK,
	KICK_ALLOC = SROCE_METHOD_KICK_ALLOC,
	KICK_FD = SROCE_ATTR_KICK_FD,
};

static int UVERBS_HANDLER(KICK_ALLOC)(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobj = uverbs_attr_get_uobject(attrs, KICK_FD);

	rcu_assign_pointer(kick_file(uobj)->kicked,
			   sroce_ucontext(uobj->context)->kicked);
	return 0;
}

DECLARE_UVERBS_NAMED_METHOD(KICK_ALLOC,
			    UVERBS_ATTR_FD(KICK_FD, KICK, UVERBS_ACCESS_NEW,
					   UA_MANDATORY));

DECLARE_UVERBS_NAMED_OBJECT(KICK,
			    UVERBS_TYPE_ALLOC_FD(sizeof(struct kick_file),
						 kick_destroy, &kick_fops,
						 "[sroce]", O_RDONLY),
			    &UVERBS_METHOD(KICK_ALLOC));

const struct uapi_definition sroce_uapi_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(KICK),
	UAPI_DEF_CHAIN(sroce_dm_defs),
	UAPI_DEF_CHAIN(sroce_pd_defs),
	{},
};
