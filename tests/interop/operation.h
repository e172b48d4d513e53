/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The operations of work requests, run between two ends and compared. */
#ifndef INTEROP_OPERATION_H
#define INTEROP_OPERATION_H

#include "end.h"

/**
 * struct operation - what one request does
 * @name: for the report
 * @opcode: of the work request
 * @types: bit of every enum ibv_qp_type that has it
 * @receives: takes a receive request at the other end
 * @immediate: carries a value for its completion
 */
struct operation {
	const char *name;
	enum ibv_wr_opcode opcode;
	uint32_t types;
	bool receives;
	bool immediate;
};

extern const struct operation operations[];
extern const size_t operation_count;

/* Rooms in source and target; each message has one, at the same offset. */
struct messages {
	size_t count;
	uint32_t length[MAX_MESSAGES];
	size_t at[MAX_MESSAGES];
};

void messages_add(struct messages *m, uint32_t length);

/**
 * operation_run() - post all messages at once, wait, compare all memory
 *
 * Return: NULL, or a description of the failure.
 */
const char *operation_run(const struct operation *op, struct end *from,
			  struct end *to, const struct messages *m);

#endif /* INTEROP_OPERATION_H */
