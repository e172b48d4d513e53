/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Every difference between the supported kernels.  Force-included, so that no
 * other file has a version in it; the upstream tree has no such file.
 */
#ifndef SROCE_COMPAT_H
#define SROCE_COMPAT_H

#include <linux/version.h>

#if KERNEL_VERSION(6, 12, 0) <= LINUX_VERSION_CODE
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

#if KERNEL_VERSION(6, 3, 0) <= LINUX_VERSION_CODE
#define sroce_vm_flags_clear(vma, flags) vm_flags_clear(vma, flags)
#else
#define sroce_vm_flags_clear(vma, flags) ((vma)->vm_flags &= ~(flags))
#endif

#if KERNEL_VERSION(6, 10, 0) <= LINUX_VERSION_CODE
#define sroce_trace_string(field, value) __assign_str(field)
#else
#define sroce_trace_string(field, value) __assign_str(field, value)
#endif

#if KERNEL_VERSION(6, 5, 0) > LINUX_VERSION_CODE
#define skb_frag_fill_page_desc(frag, page, offset, size) do {	\
	skb_frag_t *fill_frag = (frag);				\
								\
	__skb_frag_set_page(fill_frag, page);			\
	skb_frag_off_set(fill_frag, offset);			\
	skb_frag_size_set(fill_frag, size);			\
} while (0)
#endif

#endif /* SROCE_COMPAT_H */
