/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_NULL_H
#define SROCE_NULL_H

#include "mr.h"

/* Does a process ask for a null region instead of registering memory? */
bool sroce_null_mr_asked(struct ib_udata *udata);

/**
 * sroce_alloc_null_mr() - a region of zeros, where whatever is written vanishes
 * @pd: protection domain
 * @length: 0: the region has none, any address is in it
 * @access: IB_ACCESS_LOCAL_WRITE; the region is nobody else's
 *
 * Return: the region or an ERR_PTR().
 */
struct ib_mr *sroce_alloc_null_mr(struct ib_pd *pd, u64 length, int access);

/* As sroce_mr_map(); the page depends on what is wanted. */
static inline void *sroce_null_map(const struct sroce_mr *mr, u64 addr,
				   u32 *length, int access)
{
	bool write = access & IB_ACCESS_LOCAL_WRITE;

	*length = min_t(u32, *length, PAGE_SIZE - offset_in_page(addr));
	return mr->blocks[write] + offset_in_page(addr);
}

#endif /* SROCE_NULL_H */
