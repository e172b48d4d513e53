/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef PAGING_H
#define PAGING_H

#include "transfer.h"

#define PAGE		4096
#define ON_DEMAND	(ALL_ACCESS | IBV_ACCESS_ON_DEMAND)

/* A pair whose regions are on demand, @pages long. */
bool paging_up(struct pair *pair, size_t pages);

/* Discards the pages; anonymous memory is zero afterwards. */
void discard(void *at, size_t length);
/* Unmaps the memory. */
void unmap(void *at, size_t length);
/* Maps new memory at the same address. */
bool map_again(void *at, size_t length, int protection);

/* WRITE or READ of a's whole buffer, or of @length bytes, to b's; the status. */
enum ibv_wc_status try_rdma(struct pair *pair, enum ibv_wr_opcode opcode,
			    uint32_t length);
/* The same; must succeed. */
bool transferred(struct pair *pair, enum ibv_wr_opcode opcode, uint32_t length);

/* The sum of a counter of "rdma statistic" over all regions. */
long statistic(const char *name);

#endif /* PAGING_H */
