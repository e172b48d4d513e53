/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A fake kernel below the real libibverbs: it implements ioctl(), mmap(), mremap() and munmap()
 * of the device file, so that everything above runs as on a real device.
 */
#ifndef FAKE_H
#define FAKE_H

#include "sroce.h"

/* The fake kernel's queues, by handle. */
struct fake_queue {
	unsigned char *ring;
	void *slot;
	uint32_t slot_number;
	uint32_t stride;
	uint32_t entries;
	unsigned char *rq;
	uint32_t rq_stride;
	uint32_t rq_entries;
};

/**
 * struct fake_kernel - record of calls, and results to return
 * @kicks: calls of the kick file
 * @kicked_slot: argument of the last one
 * @calls: ioctl() calls of any kind
 * @yields: calls of sched_yield()
 * @mapped: mappings that exist now
 * @private: mappings of other memory that exist now
 * @fail: errno for the next create command, once
 * @fail_map: errno for the next mmap(), once
 * @fail_private: errno for each mmap() of other memory
 * @fail_move: errno for each mremap()
 * @abi_version: ABI version in the response to the creation of the context
 * @cqe_size: size of a completion in that response; 0 for that of the ABI
 * @lacks: features that the module does not have
 * @lacks_opcodes: opcodes that it does not accept
 * @old_kernel: it has no methods that came after 6.16
 * @newer: the module has features and opcodes that the provider cannot know
 * @bad_request: a driver request was missing, or did not follow the ABI
 * @privileged: the program has privileges that its caller does not have
 * @cq_flags: of the CQ created last
 * @state: the last state of a QP that was requested
 * @tail_at_reset: sq_tail of the QP when RESET was requested
 * @qp_ex_size: size of struct ibv_qp_ex, as of an older libibverbs; 0: of this one
 * @at_reset: called when RESET is requested; NULL: nothing
 */
struct fake_kernel {
	unsigned int kicks;
	unsigned long kicked_slot;
	unsigned int calls;
	unsigned int yields;
	int mapped;
	int private;
	int fail;
	int fail_map;
	int fail_private;
	int fail_move;
	uint32_t abi_version;
	uint16_t cqe_size;
	uint64_t lacks;
	uint32_t lacks_opcodes;
	bool old_kernel;
	bool newer;
	bool bad_request;
	bool privileged;
	uint32_t cq_flags;
	uint32_t state;
	uint32_t tail_at_reset;
	size_t qp_ex_size;
	void (*at_reset)(void);
};

extern struct fake_kernel fake;

const struct verbs_device_ops *fake_driver(void);
struct ibv_context *fake_open(void);
struct ibv_context *fake_import(void);
void fake_close(struct ibv_context *context);
struct fake_queue *fake_queue(uint32_t handle);
void fake_use_slots_from(uint32_t number);

/* The kernel's side of the rings. */
void *fake_sqe(const struct fake_queue *queue, uint32_t index);
struct sroce_rqe *fake_rqe(const struct fake_queue *queue, uint32_t index);
void fake_complete(const struct fake_queue *queue, uint32_t index,
		   struct sroce_cqe cqe);

#endif /* FAKE_H */
