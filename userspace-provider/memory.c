// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory shared with the kernel: rings, and doorbell pages, which contain the
 * slots of several queues.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sroce.h"

#define PAGE_BYTES	((size_t)SROCE_SLOT_SIZE * SROCE_SLOTS_PER_PAGE)

/* More than any queue can have. */
#define MAX_ENTRIES	0x1000000

/* Allocate zeroed memory with cache line alignment, for free(). */
void *sroce_alloc(size_t size)
{
	void *object;

	errno = posix_memalign(&object, SROCE_CACHE_LINE, size);
	return errno ? NULL : memset(object, 0, size);
}

/* At @room, which is replaced, or anywhere if that is NULL. */
static void *map_memory(struct sroce_context *ctx, void *room, uint64_t offset,
			size_t size)
{
	void *addr = mmap(room, size, PROT_READ | PROT_WRITE,
			  MAP_SHARED | (room ? MAP_FIXED : 0),
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
		page->addr = map_memory(ctx, NULL, where->page_offset, PAGE_BYTES);
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

	pthread_mutex_lock(&ctx->mutex);
	page = get_page(ctx, where);
	if (page)
		memory->slot = (char *)page->addr + offset;
	else
		err = errno;
	pthread_mutex_unlock(&ctx->mutex);

	memory->slot_number = where->slot;
	return err;
}

static struct sroce_page *page_of(struct sroce_context *ctx,
				  const struct sroce_memory *memory)
{
	return &ctx->pages[memory->slot_number / SROCE_SLOTS_PER_PAGE];
}

/* Of the slot; the mutex is held. */
static struct sroce_range *ring_of(struct sroce_context *ctx,
				   const struct sroce_memory *memory)
{
	return &page_of(ctx, memory)->rings[memory->slot_number %
					    SROCE_SLOTS_PER_PAGE];
}

static void note_ring(struct sroce_context *ctx, const struct sroce_memory *memory)
{
	pthread_mutex_lock(&ctx->mutex);
	*ring_of(ctx, memory) = (struct sroce_range){ memory->ring,
						      memory->ring_size };
	pthread_mutex_unlock(&ctx->mutex);
}

/* Another thread may have got the slot for its queue already. */
static void forget_ring(struct sroce_context *ctx, const struct sroce_memory *memory)
{
	struct sroce_range *ring;

	pthread_mutex_lock(&ctx->mutex);
	ring = ring_of(ctx, memory);
	if (ring->addr == memory->ring)
		ring->addr = NULL;
	pthread_mutex_unlock(&ctx->mutex);
}

static void put_slot(struct sroce_context *ctx, struct sroce_memory *memory)
{
	struct sroce_page *page;

	pthread_mutex_lock(&ctx->mutex);
	page = page_of(ctx, memory);
	if (!--page->users)
		munmap(page->addr, PAGE_BYTES);
	pthread_mutex_unlock(&ctx->mutex);
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
	memory->ring = map_memory(ctx, NULL, where->ring_offset,
				  memory->ring_size);
	if (memory->ring) {
		note_ring(ctx, memory);
		return 0;
	}

	err = errno;
	put_slot(ctx, memory);
	return err;
}

/*
 * Reserve address space for a new ring, before the kernel switches to it.  After
 * that it is too late to fail.  Nothing is reserved for a number of @entries that
 * the kernel refuses anyway.  Returns 0 or an errno.
 */
int sroce_reserve(struct sroce_range *room, uint32_t entries, size_t entry_size)
{
	size_t page = sysconf(_SC_PAGESIZE);
	size_t size = entry_size;

	*room = (struct sroce_range){};
	if (!entries || entries > MAX_ENTRIES)
		return 0;
	while (size < entries * entry_size)
		size *= 2;
	size = (size + page - 1) & -page;
	room->addr = mmap(NULL, size, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (room->addr == MAP_FAILED) {
		room->addr = NULL;
		return errno;
	}
	room->size = size;
	return 0;
}

void sroce_unreserve(struct sroce_range *room)
{
	if (room->addr)
		munmap(room->addr, room->size);
	room->addr = NULL;
}

/*
 * Replace the mapped ring by a new one, in @room unless a module allocates another
 * size than expected.  Returns 0 or an errno.
 */
int sroce_map_again(struct sroce_context *ctx, const struct sroce_map *where,
		    struct sroce_memory *memory, struct sroce_range *room)
{
	void *ring;

	if (room->size != where->ring_size)
		sroce_unreserve(room);
	ring = map_memory(ctx, room->addr, where->ring_offset, where->ring_size);
	/* The room may be gone, and another thread may have mapped something there. */
	if (!ring)
		return errno;
	munmap(memory->ring, memory->ring_size);
	memory->ring = ring;
	memory->ring_size = where->ring_size;
	note_ring(ctx, memory);
	return 0;
}

void sroce_unmap(struct sroce_context *ctx, struct sroce_memory *memory)
{
	/* While the ring is mapped, no other one has its address. */
	forget_ring(ctx, memory);
	if (memory->ring)
		munmap(memory->ring, memory->ring_size);
	put_slot(ctx, memory);
}

/* Memory that is not written to costs nothing, so leave out zeros. */
static void copy_used(char *to, const char *from, size_t size)
{
	static const char zeros[PAGE_BYTES];
	size_t at;

	for (at = 0; at < size; at += PAGE_BYTES)
		if (memcmp(from + at, zeros, PAGE_BYTES))
			memcpy(to + at, from + at, PAGE_BYTES);
}

/*
 * Replace a mapping by a private copy, which stays.  Programs do use queues after they
 * have closed the device, for instance in a thread that polls until the process ends.
 * With other providers they find no more completions.
 */
static void detach(void *addr, size_t size)
{
	void *copy = mmap(NULL, size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (copy != MAP_FAILED) {
		copy_used(copy, addr, size);
		if (mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, addr) == addr)
			return;
		munmap(copy, size);
	}
	munmap(addr, size);
}

static void detach_page(const struct sroce_page *page)
{
	int i;

	for (i = 0; i < SROCE_SLOTS_PER_PAGE; i++)
		if (page->rings[i].addr)
			detach(page->rings[i].addr, page->rings[i].size);
	if (page->users)
		detach(page->addr, PAGE_BYTES);
}

/* Map @size bytes at @offset, and add them to the list.  Returns 0 or an errno. */
int sroce_map_listed(struct sroce_context *ctx, uint64_t offset, size_t size,
		     struct sroce_mapping *mapping)
{
	mapping->addr = map_memory(ctx, NULL, offset, size);
	if (!mapping->addr)
		return errno;
	mapping->size = size;
	pthread_mutex_lock(&ctx->mutex);
	mapping->next = ctx->mappings;
	if (mapping->next)
		mapping->next->link = &mapping->next;
	mapping->link = &ctx->mappings;
	ctx->mappings = mapping;
	pthread_mutex_unlock(&ctx->mutex);
	return 0;
}

void sroce_unmap_listed(struct sroce_context *ctx, struct sroce_mapping *mapping)
{
	pthread_mutex_lock(&ctx->mutex);
	*mapping->link = mapping->next;
	if (mapping->next)
		mapping->next->link = mapping->link;
	pthread_mutex_unlock(&ctx->mutex);
	munmap(mapping->addr, mapping->size);
}

/*
 * A program can close the device without destroying its objects, and a child process,
 * which has inherited the mappings, does not destroy those of its parent.  Each
 * mapping would keep the context open, with all objects, until the process ends.
 */
void sroce_unmap_all(struct sroce_context *ctx)
{
	struct sroce_mapping *mapping;
	unsigned int i;

	for (mapping = ctx->mappings; mapping; mapping = mapping->next)
		detach(mapping->addr, mapping->size);
	for (i = 0; i < ctx->num_pages; i++)
		detach_page(&ctx->pages[i]);
	free(ctx->pages);
}
