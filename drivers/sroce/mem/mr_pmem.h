/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_MR_PMEM_H
#define SROCE_MR_PMEM_H

#include "mr.h"

/**
 * sroce_mr_check_pmem() - check that all of a region is persistent memory
 * @mr: region of pinned user memory
 *
 * Context: process, may sleep.  Return: 0 or EINVAL.
 */
int sroce_mr_check_pmem(const struct sroce_mr *mr);

#endif /* SROCE_MR_PMEM_H */
