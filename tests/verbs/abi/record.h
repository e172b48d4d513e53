/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Records each command that libibverbs gives to the kernel in this process, with
 * all data that it points to, and counts the provider's kicks.
 */
#ifndef RECORD_H
#define RECORD_H

#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdbool.h>
#include <stdint.h>

#define MAX_ATTRS	24
#define MAX_DATA	600

/**
 * struct command - a recorded command
 * @fd: file that it was given to
 * @head: object, method, number of attributes
 * @attrs: the attributes
 * @data: data of attributes with more than 8 bytes
 */
struct command {
	int fd;
	struct ib_uverbs_ioctl_hdr head;
	struct ib_uverbs_attr attrs[MAX_ATTRS];
	uint8_t data[MAX_ATTRS][MAX_DATA];
};

/* Starts or stops recording. */
void record(bool on);
unsigned int recorded(void);
const struct command *record_at(unsigned int i);

/* System calls for posting since the program began. */
unsigned int kicks(void);

#endif /* RECORD_H */
