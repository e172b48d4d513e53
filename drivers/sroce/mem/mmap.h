/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_MMAP_H
#define SROCE_MMAP_H

#include <rdma/ib_verbs.h>

/**
 * struct sroce_mmap_entry - driver memory that a process can map
 * @entry: the RDMA core's part
 * @map: insert all of the memory into @vma
 * @release: free it: neither the owner nor an mmap() in progress uses it any
 *	more
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

/* ib_device_ops */
int sroce_mmap(struct ib_ucontext *ucontext, struct vm_area_struct *vma);
void sroce_mmap_free(struct rdma_user_mmap_entry *entry);

#endif /* SROCE_MMAP_H */
