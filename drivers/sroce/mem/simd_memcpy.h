/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_SIMD_MEMCPY_H
#define SROCE_SIMD_MEMCPY_H

#include <linux/types.h>
#include <linux/string.h>

#ifdef CONFIG_X86_64
#include <linux/jump_label.h>

/* Less than this is not worth the registers. */
#define SROCE_BULK_BYTES	512

DECLARE_STATIC_KEY_FALSE(sroce_bulk_key);

/* Are vector registers worth while here?  Context: loading the module. */
void sroce_bulk_init(void);
/* That part of sroce_bulk_copy() which uses them.  Context: as there. */
void sroce_bulk_vectors(void *to, const void *from, size_t len);

/**
 * sroce_bulk_copy() - memcpy() for payload
 * @to: where to
 * @from: where from, does not overlap
 * @len: bytes
 *
 * With vector registers where the kernel's own memcpy() is a loop of words.
 *
 * Context: any with bottom halves off.
 */
static inline void sroce_bulk_copy(void *to, const void *from, size_t len)
{
	if (static_branch_unlikely(&sroce_bulk_key) && len >= SROCE_BULK_BYTES)
		sroce_bulk_vectors(to, from, len);
	else
		memcpy(to, from, len);
}

#else /* other processors have no such choice */

static inline void sroce_bulk_init(void)
{
}

static inline void sroce_bulk_copy(void *to, const void *from, size_t len)
{
	memcpy(to, from, len);
}

#endif /* CONFIG_X86_64 */
#endif /* SROCE_SIMD_MEMCPY_H */
