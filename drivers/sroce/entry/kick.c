// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Doorbell: a process rings it with an ioctl on its kick file, a kernel user
 * with a call.
 */
#include <linux/fs.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/uverbs_types.h>
#include "../queue/doorbell.h"
#include "../queue/qp_run.h"
#include "../queue/wqe.h"
#include "../send/doorbell_batch.h"
#include "../send/sq.h"
#include "kick.h"
#include "qp_work.h"

#define UVERBS_MODULE_NAME sroce
#include <rdma/uverbs_named_ioctl.h>

void sroce_qp_kick(struct sroce_qp *qp)
{
	int err = sroce_wqe_alloc(qp);
	bool flush = false;
	u8 state;

	sroce_sq_begin(qp);
	state = sroce_qp_state(qp);
	if (state == IB_QPS_ERR || state == IB_QPS_SQE)
		flush = true;
	else if (err)		/* fail the QP rather than leave WQEs unprocessed */
		sroce_qp_error(qp, IB_QPS_ERR, SROCE_TODO_FATAL);
	else
		sroce_doorbell_rung(qp);
	if (flush && !qp->user)
		sroce_qp_wake(qp, BIT(SROCE_TODO_FLUSH));
	sroce_sq_end(qp);
	/* Flush in the context of the process. */
	if (flush && qp->user)
		sroce_qp_flush(qp);
}

/* The kick file; @by_slot is NULL once the context or device is going away. */
struct kick_file {
	struct ib_uobject uobj;
	struct sroce_qp_by_slot __rcu *by_slot;
};

static struct kick_file *kick_file(struct ib_uobject *uobj)
{
	return container_of(uobj, struct kick_file, uobj);
}

static struct sroce_qp *kick_target(struct kick_file *kick, unsigned long slot)
{
	struct sroce_qp *qp = ERR_PTR(-EIO);
	struct sroce_qp_by_slot *by_slot;

	rcu_read_lock();
	by_slot = rcu_dereference(kick->by_slot);
	if (by_slot) {
		qp = xa_load(&by_slot->qps, slot);
		if (qp && sroce_qp_get(qp))
			sroce_count(qp, SROCE_KICKS);
		else
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

/* Called on close, at the end of the process, and when the device goes. */
static void kick_destroy(struct ib_uobject *uobj, enum rdma_remove_reason why)
{
	RCU_INIT_POINTER(kick_file(uobj)->by_slot, NULL);
}

/* The macros below need names that are not macros. */
enum {
	KICK = SROCE_OBJECT_KICK,
	KICK_ALLOC = SROCE_METHOD_KICK_ALLOC,
	KICK_FD = SROCE_ATTR_KICK_FD,
};

static int UVERBS_HANDLER(KICK_ALLOC)(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobj = uverbs_attr_get_uobject(attrs, KICK_FD);

	rcu_assign_pointer(kick_file(uobj)->by_slot,
			   sroce_ucontext(uobj->context)->by_slot);
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

const struct uapi_definition sroce_kick_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(KICK),
	{},
};
