// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/mm.h>
#include <linux/slab.h>
#include <rdma/sroce-abi.h>
#include "null.h"

/**
 * struct null_mr - a null region
 * @mr: its blocks are @pages; first
 * @pages: the kernel's page of zeros, to be read; one that is never read again,
 *	to be written to
 */
struct null_mr {
	struct sroce_mr mr;
	void *pages[2];
};

bool sroce_null_mr_asked(struct ib_udata *udata)
{
	struct sroce_reg_mr_req req;

	/* A kernel user has no way to ask for one. */
	return udata && udata->inlen == sizeof(req) &&
	       !ib_copy_from_udata(&req, udata, sizeof(req)) &&
	       req.flags == SROCE_REG_MR_NULL && !req.reserved;
}

static void null_release(struct sroce_mr *mr)
{
	free_page((unsigned long)mr->blocks[1]);
}

struct ib_mr *sroce_alloc_null_mr(struct ib_pd *pd, u64 length, int access)
{
	struct null_mr *null;
	struct sroce_mr *mr;

	if (length || access != IB_ACCESS_LOCAL_WRITE)
		return ERR_PTR(-EINVAL);
	mr = sroce_mr_alloc(sizeof(*null), pd, SROCE_MR_NULL, access);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	null = container_of(mr, struct null_mr, mr);
	null->pages[0] = page_address(ZERO_PAGE(0));
	null->pages[1] = (void *)__get_free_page(GFP_KERNEL_ACCOUNT);
	mr->blocks = null->pages;
	mr->block_shift = PAGE_SHIFT;
	mr->release = null_release;
	return sroce_mr_finish(mr, null->pages[1] ? 0 : -ENOMEM);
}
