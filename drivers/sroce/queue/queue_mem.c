// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory of rings and doorbell pages, which processes can map. */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "../base/sroce.h"
#include "queue_mem.h"

/* Far larger than any queue that can be created. */
#define MAX_SIZE SZ_1G

static struct sroce_queue_mem *to_memory(struct sroce_mmap_entry *mapping)
{
	return container_of(mapping, struct sroce_queue_mem, mapping);
}

static void release_memory(struct sroce_mmap_entry *mapping)
{
	struct sroce_queue_mem *memory = to_memory(mapping);

	vfree(memory->mem);
	kfree(memory);
}

static int map_memory(struct sroce_mmap_entry *mapping, struct vm_area_struct *vma)
{
	return remap_vmalloc_range(vma, to_memory(mapping)->mem, 0);
}

static void free_pages_of(struct page **pages, u32 count)
{
	while (count--)
		__free_page(pages[count]);
	kvfree(pages);
}

/* The pages are charged to the memory cgroup, unlike those of vmalloc_user(). */
static struct page **alloc_pages_of(u32 count)
{
	struct page **pages;
	u32 i;

	pages = kvmalloc_array(count, sizeof(*pages), SROCE_GFP_SIZED);
	if (!pages)
		return NULL;
	for (i = 0; i < count; i++) {
		pages[i] = alloc_page(SROCE_GFP_SIZED | __GFP_ZERO);
		if (!pages[i])
			goto err_pages;
		cond_resched();
	}
	return pages;

err_pages:
	free_pages_of(pages, i);
	return NULL;
}

/* Zeroed memory, suitable for remap_vmalloc_range(); vfree() frees it. */
static void *alloc_mem(u32 size)
{
	u32 count = size >> PAGE_SHIFT;
	struct page **pages = alloc_pages_of(count);
	void *mem;

	if (!pages)
		return NULL;
	mem = vmap(pages, count, VM_MAP | VM_MAP_PUT_PAGES | VM_USERMAP,
		   PAGE_KERNEL);
	if (!mem)
		free_pages_of(pages, count);
	return mem;
}

struct sroce_queue_mem *sroce_queue_mem_alloc(struct ib_ucontext *ucontext, size_t size)
{
	struct sroce_queue_mem *memory;
	int err = -ENOMEM;

	if (!size || size > MAX_SIZE)
		return ERR_PTR(-EINVAL);
	memory = kzalloc_obj(*memory, GFP_KERNEL_ACCOUNT);
	if (!memory)
		return ERR_PTR(-ENOMEM);
	memory->mapping.map = map_memory;
	memory->mapping.release = release_memory;
	memory->ucontext = ucontext;
	memory->size = PAGE_ALIGN(size);
	memory->mem = ucontext ? alloc_mem(memory->size) : vzalloc(memory->size);
	if (!memory->mem)
		goto err_free;
	if (ucontext) {
		err = rdma_user_mmap_entry_insert(ucontext,
						  &memory->mapping.entry,
						  memory->size);
		if (err)
			goto err_vfree;
	}
	return memory;

err_vfree:
	vfree(memory->mem);
err_free:
	kfree(memory);
	return ERR_PTR(err);
}

void sroce_queue_mem_free(struct sroce_queue_mem *memory)
{
	if (!memory)
		return;
	if (memory->ucontext)
		rdma_user_mmap_entry_remove(&memory->mapping.entry);
	else
		release_memory(&memory->mapping);
}

u64 sroce_queue_mem_offset(struct sroce_queue_mem *memory)
{
	return memory->ucontext ? rdma_user_mmap_get_offset(&memory->mapping.entry) : 0;
}

void sroce_recv_ring_size(struct sroce_recv_ring *ring, u32 max_wr, u32 max_sge)
{
	u32 sges = max_t(u32, max_sge, 1);

	if (!max_wr)
		return;
	ring->stride = roundup_pow_of_two(SROCE_RQE_HEADER +
					  sges * sizeof(struct sroce_sge));
	ring->entries = roundup_pow_of_two(max_wr);
	ring->max_sge = min_t(u32, (ring->stride - SROCE_RQE_HEADER) /
				   sizeof(struct sroce_sge), SROCE_MAX_SGE);
}
