// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Doorbell pages.  Each queue of a process has a slot in such a page, with the
 * words that the process and the module share.
 */
#include <linux/slab.h>
#include "doorbell.h"
#include "queue_mem.h"

#define MAX_PAGES	((1 << 20) / SROCE_SLOTS_PER_PAGE)
#define HAS_FREE_SLOT	XA_MARK_1

/* A doorbell page; bit n of @used is set if slot n is in use. */
struct doorbell_page {
	struct sroce_queue_mem *memory;
	u32 used;
};

static_assert(SROCE_SLOTS_PER_PAGE == 32);
static_assert(SROCE_SLOTS_PER_PAGE * SROCE_SLOT_SIZE <= PAGE_SIZE);

static struct doorbell_page *page_add(struct sroce_ucontext *ctx, unsigned long *number)
{
	struct doorbell_page *page;
	u32 index;
	int err;

	lockdep_assert_held(&ctx->lock);
	page = kzalloc_obj(*page, GFP_KERNEL_ACCOUNT);
	if (!page)
		return ERR_PTR(-ENOMEM);
	page->memory = sroce_queue_mem_alloc(&ctx->ib, PAGE_SIZE);
	if (IS_ERR(page->memory)) {
		err = PTR_ERR(page->memory);
		goto err_page;
	}
	err = xa_alloc(&ctx->pages, &index, page, XA_LIMIT(0, MAX_PAGES - 1),
		       GFP_KERNEL_ACCOUNT);
	if (err)
		goto err_memory;
	xa_set_mark(&ctx->pages, index, HAS_FREE_SLOT);
	*number = index;
	return page;

err_memory:
	sroce_queue_mem_free(page->memory);
err_page:
	kfree(page);
	return ERR_PTR(err == -EBUSY ? -ENOMEM : err);
}

static struct doorbell_page *page_find(struct sroce_ucontext *ctx,
				       unsigned long *number)
{
	struct doorbell_page *page;

	lockdep_assert_held(&ctx->lock);
	*number = 0;
	page = xa_find(&ctx->pages, number, ULONG_MAX, HAS_FREE_SLOT);
	return page ?: page_add(ctx, number);
}

int sroce_doorbell_alloc(struct sroce_ucontext *ctx, struct sroce_doorbell *slot)
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

	slot->mem = page->memory->mem + bit * SROCE_SLOT_SIZE;
	slot->number = number * SROCE_SLOTS_PER_PAGE + bit;
	slot->page_offset = sroce_queue_mem_offset(page->memory);
	memset(slot->mem, 0, SROCE_SLOT_SIZE);
	return 0;
}

void sroce_doorbell_free(struct sroce_ucontext *ctx, struct sroce_doorbell *slot)
{
	unsigned long number = slot->number / SROCE_SLOTS_PER_PAGE;
	struct doorbell_page *page;

	mutex_lock(&ctx->lock);
	page = xa_load(&ctx->pages, number);
	page->used &= ~(1u << slot->number % SROCE_SLOTS_PER_PAGE);
	xa_set_mark(&ctx->pages, number, HAS_FREE_SLOT);
	mutex_unlock(&ctx->lock);
}

int sroce_doorbell_set_qp(struct sroce_ucontext *ctx, struct sroce_doorbell *slot,
			  struct sroce_qp *qp)
{
	return xa_err(xa_store_bh(&ctx->by_slot->qps, slot->number, qp,
				  GFP_KERNEL_ACCOUNT));
}

void sroce_doorbells_init(struct sroce_ucontext *ctx)
{
	mutex_init(&ctx->lock);
	xa_init_flags(&ctx->pages, XA_FLAGS_ALLOC);
}

void sroce_doorbells_exit(struct sroce_ucontext *ctx)
{
	struct doorbell_page *page;
	unsigned long number;

	xa_for_each(&ctx->pages, number, page) {
		sroce_queue_mem_free(page->memory);
		kfree(page);
	}
	xa_destroy(&ctx->pages);
	mutex_destroy(&ctx->lock);
}
