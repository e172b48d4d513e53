/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef RESOURCES_H
#define RESOURCES_H

#include <stdint.h>

struct sroce_qp_slot;

/* srq.c: the words that the process shares with the kernel for a queue with @tail. */
struct sroce_qp_slot *find_slot(uint32_t tail);

#endif /* RESOURCES_H */
