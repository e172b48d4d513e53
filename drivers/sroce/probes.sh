#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# probes.sh COMPILER...: finds out by compiling what this kernel's headers have,
# and prints it as definitions for compat.h.  Not by version: distributions take
# over what newer kernels have.
set -eu

compiles() {
	"$@" -DKBUILD_MODNAME='"sroce"' -Wno-error \
		-Werror=implicit-function-declaration \
		-Werror=incompatible-pointer-types -fsyntax-only -x c -
}

# "probe NAME" defines SROCE_HAVE_NAME if what comes on standard input compiles.
probe() {
	name=$1
	if compiles $COMPILER 2>/dev/null; then
		echo "#define SROCE_HAVE_$name"
	fi
}

COMPILER=$*

# If not even this works, the answers would all be wrong.
echo '#include <rdma/ib_verbs.h>' | compiles $COMPILER

probe LINUX_UNALIGNED <<END
#include <linux/unaligned.h>
END

probe VM_FLAGS_CLEAR <<END
#include <linux/mm.h>
void f(struct vm_area_struct *vma) { vm_flags_clear(vma, VM_MAYEXEC); }
END

probe SKB_FRAG_FILL_PAGE_DESC <<END
#include <linux/skbuff.h>
void f(skb_frag_t *frag) { skb_frag_fill_page_desc(frag, NULL, 0, 0); }
END

probe ASSIGN_STR_OF_ONE <<END
#include <linux/stringify.h>
#include <trace/stages/stage6_event_callback.h>
const char *text = __stringify(__assign_str(field));
END

probe CREATE_CQ_ATTRS <<END
#include <rdma/ib_verbs.h>
int f(struct ib_cq *cq, const struct ib_cq_init_attr *attr,
      struct uverbs_attr_bundle *attrs);
struct ib_device_ops ops = { .create_cq = f };
END

probe DMA_BUF_VMAP_UNLOCKED <<END
#include <linux/dma-buf.h>
int f(struct dma_buf *buf) { return dma_buf_vmap_unlocked(buf, NULL); }
END

probe REG_DMABUF_ATTRS <<END
#include <rdma/ib_verbs.h>
struct ib_mr *f(struct ib_pd *pd, u64 offset, u64 length, u64 address, int fd,
		int access, struct uverbs_attr_bundle *attrs);
struct ib_device_ops ops = { .reg_user_mr_dmabuf = f };
END
