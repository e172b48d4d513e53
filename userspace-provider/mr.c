// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory regions.
 */
#include <stdlib.h>

#include "sroce.h"

struct ibv_mr *sroce_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
			    uint64_t hca_va, int access)
{
	struct ib_uverbs_reg_mr_resp resp;
	struct ibv_reg_mr cmd = {};
	struct verbs_mr *mr;
	int err;

	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return NULL;
	err = ibv_cmd_reg_mr(pd, addr, length, hca_va, access, mr,
			     &cmd, sizeof(cmd), &resp, sizeof(resp));
	if (err) {
		free(mr);
		errno = err;
		return NULL;
	}
	return &mr->ibv_mr;
}

struct ibv_mr *sroce_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm,
			       uint64_t offset, size_t length,
			       unsigned int access)
{
	struct verbs_mr *mr;
	int err;

	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return NULL;
	err = ibv_cmd_reg_dm_mr(pd, &to_sroce_dm(dm)->vdm, offset, length,
				access, mr, NULL);
	if (err) {
		free(mr);
		errno = err;
		return NULL;
	}
	return &mr->ibv_mr;
}

struct ibv_mr *sroce_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset,
				   size_t length, uint64_t iova, int fd,
				   int access)
{
	struct verbs_mr *mr;
	int err;

	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return NULL;
	err = ibv_cmd_reg_dmabuf_mr(pd, offset, length, iova, fd, access, mr,
				    NULL);
	if (err) {
		free(mr);
		errno = err;
		return NULL;
	}
	return &mr->ibv_mr;
}

#if SROCE_PABI >= 59
/* The kernel takes a DMA handle as a hint, and needs none. */
struct ibv_dmah *sroce_alloc_dmah(struct ibv_context *context,
				  struct ibv_dmah_init_attr *attr)
{
	struct verbs_dmah *dmah;
	int err;

	if (attr->comp_mask & ~(IBV_DMAH_INIT_ATTR_MASK_CPU_ID |
				IBV_DMAH_INIT_ATTR_MASK_PH |
				IBV_DMAH_INIT_ATTR_MASK_TPH_MEM_TYPE)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	dmah = calloc(1, sizeof(*dmah));
	if (!dmah)
		return NULL;
	err = ibv_cmd_alloc_dmah(context, dmah, attr);
	if (err) {
		free(dmah);
		errno = sroce_unsupported(err);
		return NULL;
	}
	return &dmah->dmah;
}

int sroce_dealloc_dmah(struct ibv_dmah *ibdmah)
{
	struct verbs_dmah *dmah = container_of(ibdmah, struct verbs_dmah, dmah);
	int err = ibv_cmd_free_dmah(dmah);

	if (!err)
		free(dmah);
	return err;
}

/* libibverbs resolves a buffer of its own into an address or a dma-buf. */
#define REG_MR_ATTRS (IBV_REG_MR_MASK_IOVA | IBV_REG_MR_MASK_ADDR |	\
		      IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET |	\
		      IBV_REG_MR_MASK_DMAH)

static struct ibv_mr *reg_mr_ex(struct ibv_pd *pd,
				struct ibv_mr_init_attr *attr)
{
	struct verbs_mr *mr;
	int err;

	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return NULL;
	err = ibv_cmd_reg_mr_ex(pd, mr, attr);
	if (err) {
		free(mr);
		errno = sroce_unsupported(err);
		return NULL;
	}
	return &mr->ibv_mr;
}

/*
 * Only a DMA handle needs the method of ibv_cmd_reg_mr_ex(), which kernels have from 6.17 on.
 * Some versions of that function lose the access flags, which ibv_dereg_mr() needs.
 */
struct ibv_mr *sroce_reg_mr_ex(struct ibv_pd *pd, struct ibv_mr_init_attr *attr)
{
	const uint64_t dmabuf = IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET |
				IBV_REG_MR_MASK_IOVA;
	uint64_t mask = attr->comp_mask;

	/* ibv_cmd_reg_mr_ex() ignores what it does not know. */
	if (mask & ~(uint64_t)REG_MR_ATTRS) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	if (mask == IBV_REG_MR_MASK_ADDR)
		return sroce_reg_mr(pd, attr->addr, attr->length,
				    (uintptr_t)attr->addr, attr->access);
	if (mask == (IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_IOVA))
		return sroce_reg_mr(pd, attr->addr, attr->length, attr->iova,
				    attr->access);
	if (mask == dmabuf)
		return sroce_reg_dmabuf_mr(pd, attr->fd_offset, attr->length,
					   attr->iova, attr->fd, attr->access);
	return reg_mr_ex(pd, attr);
}
#endif

/* Only local access is allowed, as ibv_alloc_null_mr(3) says. */
struct ibv_mr *sroce_alloc_null_mr(struct ibv_pd *pd)
{
	struct sroce_cmd_reg_mr cmd = {
		.drv_payload.flags = SROCE_REG_MR_NULL,
	};
	struct sroce_cmd_reg_mr_resp resp;
	struct verbs_mr *mr;
	int err;

	if (!sroce_has(pd->context, SROCE_FEATURE_NULL_MR)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return NULL;
	err = ibv_cmd_reg_mr(pd, NULL, 0, 0, IBV_ACCESS_LOCAL_WRITE, mr,
			     &cmd.ibv_cmd, sizeof(cmd), &resp.ibv_resp,
			     sizeof(resp));
	if (err) {
		free(mr);
		errno = err;
		return NULL;
	}
	mr->mr_type = IBV_MR_TYPE_NULL_MR;
	mr->ibv_mr.pd = pd;
	mr->ibv_mr.length = SIZE_MAX;
	mr->ibv_mr.rkey = 0;
	return &mr->ibv_mr;
}

struct ibv_mr *sroce_import_mr(struct ibv_pd *pd, uint32_t handle)
{
	struct verbs_mr *mr;
	int err;

	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return NULL;
	err = ibv_cmd_query_mr(pd, mr, handle);
	if (err) {
		free(mr);
		errno = err;
		return NULL;
	}
	return &mr->ibv_mr;
}

void sroce_unimport_mr(struct ibv_mr *mr)
{
	free(container_of(mr, struct verbs_mr, ibv_mr));
}

/* The key stays the same; it is invalid while the command runs. */
int sroce_rereg_mr(struct verbs_mr *mr, int flags, struct ibv_pd *pd,
		   void *addr, size_t length, int access)
{
	struct ib_uverbs_rereg_mr_resp resp;
	struct ibv_rereg_mr cmd = {};

	return ibv_cmd_rereg_mr(mr, flags, addr, length, (uintptr_t)addr,
				access, pd, &cmd, sizeof(cmd),
				&resp, sizeof(resp));
}

int sroce_dereg_mr(struct verbs_mr *mr)
{
	int err = ibv_cmd_dereg_mr(mr);

	if (!err)
		free(mr);
	return err;
}
