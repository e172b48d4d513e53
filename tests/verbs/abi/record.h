/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Records each command that libibverbs gives to the kernel in this process, with
 * all data that it points to.
 */
#ifndef RECORD_H
#define RECORD_H

#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdbool.h>
#include <stdint.h>

#define MAX_ATTRS	24
#define MAX_DATA	600

/**
 * struct command - as it was given
 * @fd: to whom
 * @head: object, method, number of attributes
 * @attrs: them
 * @data: what those of more than 8 bytes point to
 */
struct command {
	int fd;
	struct ib_uverbs_ioctl_hdr head;
	struct ib_uverbs_attr attrs[MAX_ATTRS];
	uint8_t data[MAX_ATTRS][MAX_DATA];
};

/* From now on, or no more. */
void record(bool on);
unsigned int recorded(void);
const struct command *record_at(unsigned int i);

#endif /* RECORD_H */
