/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_MMAP_H
#define SROCE_MMAP_H

#include <rdma/ib_verbs.h>

/**
 * struct sroce_mmap_entry - memory of ours that a process can map
 * @entry: what the RDMA core keeps of it
 * @map: put all of the memory into @vma
 * @release: neither the owner nor a mmap() under way needs it any more
 */
struct sroce_mmap_entry {
	struct rdma_user_mmap_entry entry;
	int (*map)(struct sroce_mmap_entry *mapping, struct vm_area_struct *vma);
	void (*release)(struct sroce_mmap_entry *mapping);
};

static inline struct sroce_mmap_entry *
sroce_mmap_entry(struct rdma_user_mmap_entry *entry)
{
	return container_of(entry, struct sroce_mmap_entry, entry);
}

/**
 * sroce_mmap_offset() - what a process gives to mmap()
 * @mapping: added by rdma_user_mmap_entry_insert()
 */
static inline u64 sroce_mmap_offset(struct sroce_mmap_entry *mapping)
{
	return rdma_user_mmap_get_offset(&mapping->entry);
}

/* ib_device_ops */
int sroce_mmap(struct ib_ucontext *ucontext, struct vm_area_struct *vma);
void sroce_mmap_free(struct rdma_user_mmap_entry *entry);

#endif /* SROCE_MMAP_H */
