/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_MR_DMABUF_H
#define SROCE_MR_DMABUF_H

#include <rdma/ib_verbs.h>

int sroce_dmabuf_init(void);
/* All regions have been freed. */
void sroce_dmabuf_exit(void);

/* ib_device_ops */
struct ib_mr *sroce_reg_dmabuf_mr(struct ib_pd *pd, u64 offset, u64 length,
				  u64 iova, int fd, int access, SROCE_DMAH
				  struct sroce_dmabuf_input *input);

#endif /* SROCE_MR_DMABUF_H */
