// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Entry point for libibverbs: driver, devices and contexts. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <unistd.h>

#include "sroce.h"

static void sroce_free_context(struct ibv_context *context);

static const struct verbs_context_ops sroce_context_ops = {
	.advise_mr = ibv_cmd_advise_mr,
	.alloc_dm = sroce_alloc_dm,
	.alloc_mw = sroce_alloc_mw,
	.alloc_null_mr = sroce_alloc_null_mr,
	.alloc_parent_domain = sroce_alloc_parent_domain,
	.alloc_pd = sroce_alloc_pd,
	.alloc_td = sroce_alloc_td,
	.attach_mcast = ibv_cmd_attach_mcast,
	.bind_mw = sroce_bind_mw,
	.close_xrcd = sroce_close_xrcd,
	.create_ah = sroce_create_ah,
	.create_cq = sroce_create_cq,
	.create_cq_ex = sroce_create_cq_ex,
	.create_qp = sroce_create_qp,
	.create_qp_ex = sroce_create_qp_ex,
	.create_srq = sroce_create_srq,
	.create_srq_ex = sroce_create_srq_ex,
	.dealloc_mw = sroce_dealloc_mw,
	.dealloc_pd = sroce_dealloc_pd,
	.dealloc_td = sroce_dealloc_td,
	.dereg_mr = sroce_dereg_mr,
	.destroy_ah = sroce_destroy_ah,
	.destroy_cq = sroce_destroy_cq,
	.destroy_qp = sroce_destroy_qp,
	.destroy_srq = sroce_destroy_srq,
	.detach_mcast = ibv_cmd_detach_mcast,
	.free_context = sroce_free_context,
	.free_dm = sroce_free_dm,
	.get_srq_num = sroce_get_srq_num,
	.import_dm = sroce_import_dm,
	.import_mr = sroce_import_mr,
	.import_pd = sroce_import_pd,
	.modify_cq = sroce_modify_cq,
	.modify_qp = sroce_modify_qp,
	.modify_qp_rate_limit = sroce_modify_qp_rate_limit,
	.modify_srq = sroce_modify_srq,
	.open_qp = sroce_open_qp,
	.open_xrcd = sroce_open_xrcd,
	.poll_cq = sroce_poll_cq,
	.post_recv = sroce_post_recv,
	.post_send = sroce_post_send,
	.post_srq_recv = sroce_post_srq_recv,
	.query_device_ex = sroce_query_device_ex,
	.query_port = sroce_query_port,
	.query_qp = sroce_query_qp,
	.query_rt_values = sroce_query_rt_values,
	.query_srq = sroce_query_srq,
	.reg_dm_mr = sroce_reg_dm_mr,
	.reg_dmabuf_mr = sroce_reg_dmabuf_mr,
	.reg_mr = sroce_reg_mr,
	.req_notify_cq = sroce_req_notify_cq,
	.rereg_mr = sroce_rereg_mr,
	.resize_cq = sroce_resize_cq,
	.unimport_dm = sroce_unimport_dm,
	.unimport_mr = sroce_unimport_mr,
	.unimport_pd = sroce_unimport_pd,
#if SROCE_PABI >= 59
	.alloc_dmah = sroce_alloc_dmah,
	.dealloc_dmah = sroce_dealloc_dmah,
	.reg_mr_ex = sroce_reg_mr_ex,
#endif
#ifdef SROCE_HAVE_PORT_SPEED
	.query_port_speed = sroce_query_port_speed,
#endif
#if SROCE_PABI >= 65
	.create_comp_cntr = sroce_create_comp_cntr,
	.destroy_comp_cntr = sroce_destroy_comp_cntr,
	.inc_comp_cntr = ibv_cmd_inc_comp_cntr,
	.inc_err_comp_cntr = ibv_cmd_inc_err_comp_cntr,
	.qp_attach_comp_cntr = sroce_qp_attach_comp_cntr,
	.query_comp_cntr_caps = sroce_query_comp_cntr_caps,
	.read_comp_cntr = ibv_cmd_read_comp_cntr,
	.read_err_comp_cntr = ibv_cmd_read_err_comp_cntr,
	.set_comp_cntr = ibv_cmd_set_comp_cntr,
	.set_err_comp_cntr = ibv_cmd_set_err_comp_cntr,
#endif
};

/*
 * Store the features of the context's module.  It may be of another release, but
 * the ABI version and the sizes must be ours.
 */
static int accept_module(struct sroce_context *ctx,
			 const struct sroce_alloc_ucontext_resp *resp)
{
	if (resp->abi_version != SROCE_ABI_VERSION ||
	    resp->sqe_header != SROCE_SQE_HEADER ||
	    resp->rqe_header != SROCE_RQE_HEADER ||
	    resp->cqe_size != SROCE_CQE_SIZE ||
	    resp->slot_size != SROCE_SLOT_SIZE)
		return EPROTO;
	ctx->features = resp->features & SROCE_ALL_FEATURES;
	ctx->opcodes = resp->opcodes;
	return 0;
}

/* Open a context in the kernel. */
static int open_context(struct sroce_context *ctx)
{
	struct sroce_cmd_get_context cmd = {
		.drv_payload = {
			.abi_version = SROCE_ABI_VERSION,
			.features = SROCE_ALL_FEATURES,
		},
	};
	struct sroce_cmd_get_context_resp resp = {};
	int err;

#if SROCE_PABI >= 57
	err = ibv_cmd_get_context(&ctx->vctx, &cmd.ibv_cmd, sizeof(cmd), NULL,
				  &resp.ibv_resp, sizeof(resp));
#else
	err = ibv_cmd_get_context(&ctx->vctx, &cmd.ibv_cmd, sizeof(cmd),
				  &resp.ibv_resp, sizeof(resp));
#endif
	return err ?: accept_module(ctx, &resp.drv_payload);
}

/*
 * The caller of a set-user-ID program must not take the locks from it, so its
 * environment does not count.
 */
static bool wants_single_threaded(void)
{
	const char *value = secure_getenv("SROCE_SINGLE_THREADED");

	return value && !strcmp(value, "1");
}

/* The kernel has the context already. */
static int import_context(struct sroce_context *ctx)
{
	DECLARE_COMMAND_BUFFER(cmd, UVERBS_OBJECT_DEVICE,
			       UVERBS_METHOD_QUERY_CONTEXT, 1);
	struct sroce_alloc_ucontext_resp resp = {};
	int err;

	fill_attr_out(cmd, SROCE_ATTR_QUERY_CONTEXT_RESP, &resp, sizeof(resp));
	err = ibv_cmd_query_context(&ctx->vctx.context, cmd);
	return err ?: accept_module(ctx, &resp);
}

/* Allocate a context; @enter opens or imports it in the kernel. */
static struct verbs_context *make_context(struct ibv_device *device, int cmd_fd,
					  int (*enter)(struct sroce_context *))
{
	struct sroce_context *ctx;
	int err;

	ctx = _verbs_init_and_alloc_context(device, cmd_fd, sizeof(*ctx),
					    (void *)offsetof(struct sroce_context, vctx),
					    SROCE_DRIVER_ID);
	if (!ctx)
		return NULL;

	pthread_mutex_init(&ctx->mutex, NULL);
	ctx->single_threaded = wants_single_threaded();
	err = enter(ctx);
	if (err)
		goto uninit;
	ctx->kick_fd = sroce_open_kick(&ctx->vctx.context);
	if (ctx->kick_fd < 0) {
		err = errno;
		goto uninit;
	}
	verbs_set_ops(&ctx->vctx, &sroce_context_ops);
	return &ctx->vctx;

uninit:
	verbs_uninit_context(&ctx->vctx);
	pthread_mutex_destroy(&ctx->mutex);
	free(ctx);
	errno = err;
	return NULL;
}

static struct verbs_context *sroce_alloc_context(struct ibv_device *device,
						 int cmd_fd, void *private_data)
{
	(void)private_data;
	return make_context(device, cmd_fd, open_context);
}

static struct verbs_context *sroce_import_context(struct ibv_device *device,
						  int cmd_fd)
{
	return make_context(device, cmd_fd, import_context);
}

static void sroce_free_context(struct ibv_context *context)
{
	struct sroce_context *ctx = to_sroce_context(context);

	close(ctx->kick_fd);
	sroce_unmap_all(ctx);
	verbs_uninit_context(&ctx->vctx);
	pthread_mutex_destroy(&ctx->mutex);
	free(ctx);
}

static struct verbs_device *sroce_alloc_device(struct verbs_sysfs_dev *sysfs_dev)
{
	struct sroce_device *dev = calloc(1, sizeof(*dev));

	(void)sysfs_dev;
	return dev ? &dev->vdev : NULL;
}

static void sroce_uninit_device(struct verbs_device *vdev)
{
	free(container_of(vdev, struct sroce_device, vdev));
}

static const struct verbs_match_ent sroce_match_table[] = {
	VERBS_DRIVER_ID(SROCE_DRIVER_ID),
	{},
};

static const struct verbs_device_ops sroce_device_ops = {
	.name = "sroce",
	.match_min_abi_version = SROCE_ABI_VERSION,
	.match_max_abi_version = SROCE_ABI_VERSION,
	.match_table = sroce_match_table,
	.alloc_device = sroce_alloc_device,
	.uninit_device = sroce_uninit_device,
	.alloc_context = sroce_alloc_context,
	.import_context = sroce_import_context,
};

PROVIDER_DRIVER(sroce, sroce_device_ops);
