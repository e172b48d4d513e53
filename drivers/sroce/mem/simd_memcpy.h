/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_SIMD_MEMCPY_H
#define SROCE_SIMD_MEMCPY_H

#include <linux/types.h>
#include <linux/string.h>

#ifdef CONFIG_X86_64
#include <linux/jump_label.h>

/* Less than this is not worth the registers. */
#define SROCE_MEMCPY_BYTES	512

DECLARE_STATIC_KEY_FALSE(sroce_memcpy_key);

/* Are vector registers worth while here?  Context: loading the module. */
void sroce_memcpy_init(void);
/* That part of sroce_memcpy() which uses them.  Context: as there. */
void sroce_memcpy_vectors(void *to, const void *from, size_t len);

/**
 * sroce_memcpy() - memcpy() for payload
 * @to: where to
 * @from: where from, does not overlap
 * @len: bytes
 *
 * With vector registers where the kernel's own memcpy() is a loop of words.
 *
 * Context: any with bottom halves off.
 */
static inline void sroce_memcpy(void *to, const void *from, size_t len)
{
	if (static_branch_unlikely(&sroce_memcpy_key) && len >= SROCE_MEMCPY_BYTES)
		sroce_memcpy_vectors(to, from, len);
	else
		memcpy(to, from, len);
}

#else /* other processors have no such choice */

static inline void sroce_memcpy_init(void)
{
}

static inline void sroce_memcpy(void *to, const void *from, size_t len)
{
	memcpy(to, from, len);
}

#endif /* CONFIG_X86_64 */
#endif /* SROCE_SIMD_MEMCPY_H */
