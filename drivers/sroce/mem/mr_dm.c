// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Device memory (ibv_alloc_dm).  The device has none: the driver allocates
 * kernel pages, which the process maps and registers.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <rdma/sroce-abi.h>
#include <rdma/uverbs_types.h>
#include "../base/ucontext.h"
#include "../core/params.h"
#include "mmap.h"
#include "mr.h"
#include "mr_dm.h"
#include "wmem.h"

#define UVERBS_MODULE_NAME sroce
#include <rdma/uverbs_named_ioctl.h>

#ifdef SROCE_OUT_OF_TREE
#include <linux/moduleparam.h>

static unsigned int dm_mib = SROCE_DM_MIB;
module_param(dm_mib, uint, 0644);
MODULE_PARM_DESC(dm_mib, "Device memory that each device has, MiB");
#define DM_MIB	READ_ONCE(dm_mib)
#else
#define DM_MIB	SROCE_DM_MIB
#endif

/**
 * struct dm_memory - pages of device memory
 * @mapping: the process's mapping of them
 * @dev: device whose limit counts them
 * @reserved: pages that are counted
 * @wmem: account of the user whose share they count against; referenced
 * @count: pages that are allocated
 * @blocks: their kernel addresses
 *
 * The process may keep its mapping after the object is freed.  The pages are
 * then like its other pages: its cgroup is charged, and its RSS includes them.
 */
struct dm_memory {
	struct sroce_mmap_entry mapping;
	struct sroce_device *dev;
	struct sroce_wmem *wmem;
	long reserved;
	long count;
	void *blocks[];
};

struct sroce_dm {
	struct ib_dm ib;
	struct dm_memory *memory;
};

static struct sroce_dm *to_dm(struct ib_dm *ibdm)
{
	return container_of(ibdm, struct sroce_dm, ib);
}

u64 sroce_dm_limit(void)
{
	return (u64)DM_MIB << 20;
}

static void dm_release(struct sroce_mmap_entry *mapping)
{
	struct dm_memory *memory =
		container_of(mapping, struct dm_memory, mapping);
	long i;

	for (i = 0; i < memory->count; i++) {
		free_page((unsigned long)memory->blocks[i]);
		cond_resched();
	}
	atomic_long_sub(memory->reserved, &memory->dev->dm_pages);
	sroce_wmem_give_back(memory->wmem, SROCE_SHARED_DM_PAGES,
			     memory->reserved);
	sroce_wmem_put(memory->wmem);
	kvfree(memory);
}

static int dm_map(struct sroce_mmap_entry *mapping, struct vm_area_struct *vma)
{
	struct dm_memory *memory =
		container_of(mapping, struct dm_memory, mapping);
	unsigned long at = vma->vm_start;
	long i;
	int err;

	for (i = 0; i < memory->count; i++, at += PAGE_SIZE) {
		err = vm_insert_page(vma, at, virt_to_page(memory->blocks[i]));
		if (err)
			return err;
	}
	return 0;
}

static int dm_zero(struct dm_memory *memory)
{
	for (; memory->count < memory->reserved; memory->count++) {
		void *page = (void *)get_zeroed_page(SROCE_GFP_SIZED);

		if (!page)
			return -ENOMEM;
		memory->blocks[memory->count] = page;
		cond_resched();
	}
	return 0;
}

static struct dm_memory *dm_alloc(struct sroce_ucontext *ctx, long pages)
{
	struct sroce_device *dev = sroce_device(ctx->ib.device);
	long limit = sroce_dm_limit() >> PAGE_SHIFT;
	struct dm_memory *memory;

	if (!sroce_wmem_take(ctx->wmem, SROCE_SHARED_DM_PAGES, pages, limit))
		return NULL;
	memory = kvzalloc(struct_size(memory, blocks, pages), SROCE_GFP_SIZED);
	if (!memory) {
		sroce_wmem_give_back(ctx->wmem, SROCE_SHARED_DM_PAGES, pages);
		return NULL;
	}
	memory->wmem = sroce_wmem_get(ctx->wmem);
	memory->mapping.map = dm_map;
	memory->mapping.release = dm_release;
	memory->dev = dev;
	memory->reserved = pages;
	if (atomic_long_add_return(pages, &dev->dm_pages) <= limit &&
	    !dm_zero(memory))
		return memory;
	dm_release(&memory->mapping);
	return NULL;
}

/* Pages meet any alignment up to a page; 0 requests none. */
static int check_dm_range(const struct ib_dm_alloc_attr *attr)
{
	if (attr->alignment > PAGE_SHIFT)
		return -EOPNOTSUPP;
	return attr->length && attr->length <= sroce_dm_limit() ? 0 : -EINVAL;
}

static int make_memory(struct sroce_dm *dm, struct ib_ucontext *ucontext,
		       u64 length)
{
	size_t size = PAGE_ALIGN(length);
	int err;

	dm->memory = dm_alloc(sroce_ucontext(ucontext), size >> PAGE_SHIFT);
	if (!dm->memory)
		return -ENOMEM;
	err = rdma_user_mmap_entry_insert(ucontext, &dm->memory->mapping.entry,
					  size);
	if (err)
		dm_release(&dm->memory->mapping);
	return err;
}

struct ib_dm *sroce_alloc_dm(struct ib_device *ibdev,
			     struct ib_ucontext *ucontext,
			     struct ib_dm_alloc_attr *attr,
			     struct uverbs_attr_bundle *attrs)
{
	struct sroce_dm *dm;
	int err;

	err = check_dm_range(attr);
	if (err)
		return ERR_PTR(err);
	dm = kzalloc_obj(*dm, GFP_KERNEL_ACCOUNT);
	if (!dm)
		return ERR_PTR(-ENOMEM);
	err = make_memory(dm, ucontext, attr->length);
	if (!err)
		return &dm->ib;
	kfree(dm);
	return ERR_PTR(err);
}

/* The RDMA core guarantees that no region uses it any more. */
int sroce_dealloc_dm(struct ib_dm *ibdm, struct uverbs_attr_bundle *attrs)
{
	struct sroce_dm *dm = to_dm(ibdm);

	rdma_user_mmap_entry_remove(&dm->memory->mapping.entry);
	kfree(dm);
	return 0;
}

/*
 * The RDMA core has checked offset and length; the length may be 0.  Addresses
 * begin at 0.
 */
struct ib_mr *sroce_reg_dm_mr(struct ib_pd *pd, struct ib_dm *ibdm,
			      struct ib_dm_mr_attr *attr,
			      struct uverbs_attr_bundle *attrs)
{
	struct sroce_mr *mr;

	if (attr->access_flags & (~SROCE_MR_ACCESS | IB_ACCESS_ON_DEMAND))
		return ERR_PTR(-EOPNOTSUPP);
	mr = sroce_mr_alloc(sizeof(*mr), pd, SROCE_MR_DM, attr->access_flags);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->blocks = to_dm(ibdm)->memory->blocks + (attr->offset >> PAGE_SHIFT);
	mr->block_shift = PAGE_SHIFT;
	mr->skip = offset_in_page(attr->offset);
	mr->length = attr->length;
	mr->ib.length = attr->length;
	return sroce_mr_finish(mr, 0);
}

/* The macros below need names that are not macros. */
enum {
	DM_QUERY = SROCE_METHOD_DM_QUERY,
	DM_QUERY_HANDLE = SROCE_ATTR_DM_QUERY_HANDLE,
	DM_QUERY_RESP = SROCE_ATTR_DM_QUERY_RESP,
};

static int UVERBS_HANDLER(DM_QUERY)(struct uverbs_attr_bundle *attrs)
{
	struct ib_dm *ibdm = uverbs_attr_get_obj(attrs, DM_QUERY_HANDLE);
	struct dm_memory *memory = to_dm(ibdm)->memory;
	struct sroce_dm_query_resp resp = {
		.offset = rdma_user_mmap_get_offset(&memory->mapping.entry),
		.size = (u64)memory->count << PAGE_SHIFT,
		.length = ibdm->length,
	};

	return uverbs_copy_to_struct_or_zero(attrs, DM_QUERY_RESP, &resp,
					     sizeof(resp));
}

DECLARE_UVERBS_NAMED_METHOD(DM_QUERY,
			    UVERBS_ATTR_IDR(DM_QUERY_HANDLE, UVERBS_OBJECT_DM,
					    UVERBS_ACCESS_READ, UA_MANDATORY),
			    UVERBS_ATTR_PTR_OUT(DM_QUERY_RESP,
						UVERBS_ATTR_STRUCT(struct sroce_dm_query_resp,
								   length),
						UA_MANDATORY));

ADD_UVERBS_METHODS(dm_methods, UVERBS_OBJECT_DM, &UVERBS_METHOD(DM_QUERY));

const struct uapi_definition sroce_dm_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DM, &dm_methods),
	{},
};
