// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory shared with the kernel: rings, and doorbell pages, which contain the
 * slots of several queues.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "sroce.h"

#define PAGE_BYTES	((size_t)SROCE_SLOT_SIZE * SROCE_SLOTS_PER_PAGE)

/* Allocate zeroed memory with cache line alignment, for free(). */
void *sroce_alloc(size_t size)
{
	void *object;

	errno = posix_memalign(&object, SROCE_CACHE_LINE, size);
	return errno ? NULL : memset(object, 0, size);
}

static void *map_memory(struct sroce_context *ctx, uint64_t offset, size_t size)
{
	void *addr = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
			  ctx->vctx.context.cmd_fd, offset);

	return addr == MAP_FAILED ? NULL : addr;
}

static int grow_pages(struct sroce_context *ctx, unsigned int num)
{
	struct sroce_page *pages;

	if (num <= ctx->num_pages)
		return 0;
	pages = realloc(ctx->pages, num * sizeof(*pages));
	if (!pages)
		return ENOMEM;
	memset(pages + ctx->num_pages, 0,
	       (num - ctx->num_pages) * sizeof(*pages));
	ctx->pages = pages;
	ctx->num_pages = num;
	return 0;
}

/* Returns the page with one more user, or NULL with errno. */
static struct sroce_page *get_page(struct sroce_context *ctx,
				   const struct sroce_map *where)
{
	unsigned int number = where->slot / SROCE_SLOTS_PER_PAGE;
	struct sroce_page *page;

	errno = grow_pages(ctx, number + 1);
	if (errno)
		return NULL;

	page = &ctx->pages[number];
	if (!page->users)
		page->addr = map_memory(ctx, where->page_offset, PAGE_BYTES);
	if (!page->addr)
		return NULL;
	page->users++;
	return page;
}

static int get_slot(struct sroce_context *ctx, const struct sroce_map *where,
		    struct sroce_memory *memory)
{
	size_t offset = where->slot % SROCE_SLOTS_PER_PAGE * SROCE_SLOT_SIZE;
	struct sroce_page *page;
	int err = 0;

	pthread_mutex_lock(&ctx->pages_mutex);
	page = get_page(ctx, where);
	if (page)
		memory->slot = (char *)page->addr + offset;
	else
		err = errno;
	pthread_mutex_unlock(&ctx->pages_mutex);

	memory->slot_number = where->slot;
	return err;
}

static void put_slot(struct sroce_context *ctx, struct sroce_memory *memory)
{
	struct sroce_page *page;

	pthread_mutex_lock(&ctx->pages_mutex);
	page = &ctx->pages[memory->slot_number / SROCE_SLOTS_PER_PAGE];
	if (!--page->users)
		munmap(page->addr, PAGE_BYTES);
	pthread_mutex_unlock(&ctx->pages_mutex);
}

/* Map the memory that a create response describes.  Returns 0 or an errno. */
int sroce_map(struct sroce_context *ctx, const struct sroce_map *where,
	      struct sroce_memory *memory)
{
	int err;

	err = get_slot(ctx, where, memory);
	if (err)
		return err;

	memory->ring_size = where->ring_size;
	if (!memory->ring_size)
		return 0;
	memory->ring = map_memory(ctx, where->ring_offset, memory->ring_size);
	if (memory->ring)
		return 0;

	err = errno;
	put_slot(ctx, memory);
	return err;
}

/* Replace the mapped ring by a new one.  Returns 0 or an errno. */
int sroce_map_again(struct sroce_context *ctx, const struct sroce_map *where,
		    struct sroce_memory *memory)
{
	void *ring = map_memory(ctx, where->ring_offset, where->ring_size);

	if (!ring)
		return errno;
	munmap(memory->ring, memory->ring_size);
	memory->ring = ring;
	memory->ring_size = where->ring_size;
	return 0;
}

void sroce_unmap(struct sroce_context *ctx, struct sroce_memory *memory)
{
	if (memory->ring)
		munmap(memory->ring, memory->ring_size);
	put_slot(ctx, memory);
}

void sroce_free_pages(struct sroce_context *ctx)
{
	free(ctx->pages);
}
