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

static struct sroce_queue_mem *to_ring(struct sroce_mmap_entry *mapping)
{
	return container_of(mapping, struct sroce_queue_mem, mapping);
}

static void ring_release(struct sroce_mmap_entry *mapping)
{
	struct sroce_queue_mem *ring = to_ring(mapping);

	vfree(ring->mem);
	kfree(ring);
}

static int ring_map(struct sroce_mmap_entry *mapping, struct vm_area_struct *vma)
{
	return remap_vmalloc_range(vma, to_ring(mapping)->mem, 0);
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
	struct sroce_queue_mem *ring;
	int err = -ENOMEM;

	if (!size || size > MAX_SIZE)
		return ERR_PTR(-EINVAL);
	ring = kzalloc_obj(*ring, GFP_KERNEL_ACCOUNT);
	if (!ring)
		return ERR_PTR(-ENOMEM);
	ring->mapping.map = ring_map;
	ring->mapping.release = ring_release;
	ring->ucontext = ucontext;
	ring->size = PAGE_ALIGN(size);
	ring->mem = ucontext ? alloc_mem(ring->size) : vzalloc(ring->size);
	if (!ring->mem)
		goto err_ring;
	if (ucontext) {
		err = rdma_user_mmap_entry_insert(ucontext,
						  &ring->mapping.entry,
						  ring->size);
		if (err)
			goto err_mem;
	}
	return ring;

err_mem:
	vfree(ring->mem);
err_ring:
	kfree(ring);
	return ERR_PTR(err);
}

void sroce_queue_mem_free(struct sroce_queue_mem *ring)
{
	if (!ring)
		return;
	if (ring->ucontext)
		rdma_user_mmap_entry_remove(&ring->mapping.entry);
	else
		ring_release(&ring->mapping);
}

u64 sroce_queue_mem_offset(struct sroce_queue_mem *ring)
{
	return ring->ucontext ? rdma_user_mmap_get_offset(&ring->mapping.entry) : 0;
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
