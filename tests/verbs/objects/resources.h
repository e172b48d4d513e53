/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef RESOURCES_H
#define RESOURCES_H

#include <stdbool.h>
#include <stdint.h>

struct sroce_qp_slot;

/* srq.c: the words that the process shares with the kernel for a queue with @tail. */
struct sroce_qp_slot *find_slot(uint32_t tail);

/* completion.c: limits the address space to what is in use and a MiB, or ends that. */
void limit_space(bool limited);

#endif /* RESOURCES_H */
