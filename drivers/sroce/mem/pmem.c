// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Persistent memory: which regions can be flushed to persistence.
 */
#include <linux/ioport.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include "pmem.h"

static bool is_pmem(const void *p, size_t len)
{
	const unsigned long descriptors[] = {
		IORES_DESC_PERSISTENT_MEMORY,
		IORES_DESC_PERSISTENT_MEMORY_LEGACY,
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(descriptors); i++)
		if (region_intersects(__pa(p), len, IORESOURCE_MEM, descriptors[i]) ==
		    REGION_INTERSECTS)
			return true;
	return false;
}

int sroce_pmem_check(void *const *blocks, u8 block_shift, u64 skip, u64 length)
{
	u64 mask = (1ull << block_shift) - 1;
	u64 at = skip, end = skip + length;
	u64 len;

	for (; at < end; at += len) {
		len = min(end - at, mask + 1 - (at & mask));
		if (!is_pmem(blocks[at >> block_shift] + (at & mask), len))
			return -EINVAL;
		cond_resched();
	}
	return 0;
}
