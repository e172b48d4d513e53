// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* mmap() of memory that the driver shares with a process. */
#include <linux/mm.h>
#include "mmap.h"

int sroce_mmap(struct ib_ucontext *ucontext, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry;
	int err;

	if (vma->vm_flags & VM_EXEC)
		return -EPERM;
	/*
	 * The RDMA core checks that the mapping is shared and has the exact
	 * length.
	 */
	entry = rdma_user_mmap_entry_get(ucontext, vma);
	if (!entry)
		return -EINVAL;
	vm_flags_clear(vma, VM_MAYEXEC);
	err = sroce_mmap_entry(entry)->map(sroce_mmap_entry(entry), vma);
	rdma_user_mmap_entry_put(entry);
	return err;
}

void sroce_mmap_free(struct rdma_user_mmap_entry *entry)
{
	sroce_mmap_entry(entry)->release(sroce_mmap_entry(entry));
}
