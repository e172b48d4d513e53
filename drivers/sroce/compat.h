/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Every difference between the supported kernels.  Force-included, after what
 * probes.sh found out; the upstream tree has no such files.
 */
#ifndef SROCE_COMPAT_H
#define SROCE_COMPAT_H

#ifdef SROCE_HAVE_LINUX_UNALIGNED
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

#ifndef SROCE_HAVE_VM_FLAGS_CLEAR
#define vm_flags_clear(vma, flags) ((vma)->vm_flags &= ~(flags))
#endif

#ifdef SROCE_HAVE_ASSIGN_STR_OF_ONE
#define sroce_trace_string(field, value) __assign_str(field)
#else
#define sroce_trace_string(field, value) __assign_str(field, value)
#endif

#ifndef SROCE_HAVE_SKB_FRAG_FILL_PAGE_DESC
#define skb_frag_fill_page_desc(frag, page, offset, size) do {	\
	skb_frag_t *fill_frag = (frag);				\
								\
	__skb_frag_set_page(fill_frag, page);			\
	skb_frag_off_set(fill_frag, offset);			\
	skb_frag_size_set(fill_frag, size);			\
} while (0)
#endif

/* What create_cq() gets beside the attributes: a struct sroce_cq_input. */
#ifdef SROCE_HAVE_CREATE_CQ_ATTRS
#define sroce_cq_input uverbs_attr_bundle
#define sroce_cq_udata(input) ((input) ? &(input)->driver_udata : NULL)
#else
#define sroce_cq_input ib_udata
#define sroce_cq_udata(input) (input)
#endif

#ifndef SROCE_HAVE_DMA_BUF_VMAP_UNLOCKED
#define dma_buf_vmap_unlocked(dmabuf, map) dma_buf_vmap(dmabuf, map)
#define dma_buf_vunmap_unlocked(dmabuf, map) dma_buf_vunmap(dmabuf, map)
#endif

/* What reg_user_mr_dmabuf() gets last: a struct sroce_dmabuf_input. */
#ifdef SROCE_HAVE_REG_DMABUF_ATTRS
#define sroce_dmabuf_input uverbs_attr_bundle
#define sroce_dmabuf_udata(input) (&(input)->driver_udata)
#else
#define sroce_dmabuf_input ib_udata
#define sroce_dmabuf_udata(input) (input)
#endif

#endif /* SROCE_COMPAT_H */
