/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_PMEM_H
#define SROCE_PMEM_H

#include <linux/types.h>

/**
 * sroce_pmem_check() - check that all of a region is persistent memory
 * @blocks: kernel address of each block, in the direct map
 * @block_shift: log2 of the block size
 * @skip: bytes of the first block before the region
 * @length: of the region, bytes
 *
 * Context: process, may sleep.  Return: 0 or EINVAL.
 */
int sroce_pmem_check(void *const *blocks, u8 block_shift, u64 skip, u64 length);

#endif /* SROCE_PMEM_H */
