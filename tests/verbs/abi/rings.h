/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A process that writes arbitrary values to its rings, in the layout of sroce-abi.h,
 * and others that must not notice.
 */
#ifndef RINGS_H
#define RINGS_H

#include <rdma/sroce-abi.h>

#include "transfer.h"

#define ENTRIES		128	/* of each ring of the abuser's QP */
#define XRC_ENTRIES	64	/* with XRC: only a send ring */
#define STRIDE		128	/* of an entry with up to 4 SGEs */
#define CQ_ENTRIES	256

/* A shared mapping in /proc/self/maps. */
struct mapping {
	uint8_t *addr;
	size_t size;
	uint64_t offset;
};

/**
 * struct abuser - a context of its own, and its mappings
 * @pair: side a belongs to the abuser, side b to hosts[1]
 * @kick_fd: its kick file
 * @page: doorbells
 * @ring: of the QP
 * @cqs: rings of the two CQs
 * @slot: of the QP
 * @slot_number: its number
 * @cq_slots: of the two CQs, in any order
 */
struct abuser {
	struct pair pair;
	int kick_fd;
	struct mapping page;
	struct mapping ring;
	struct mapping cqs[2];
	int num_cqs;
	struct sroce_qp_slot *slot;
	unsigned long slot_number;
	struct sroce_cq_slot *cq_slots[2];
};

/* Reopens hosts[0] and connects; false after printing the reason. */
bool abuser_up(struct abuser *abuser);
/* The same with an initiator of XRC, for up to XRC_ENTRIES requests. */
bool abuser_xrc_up(struct abuser *abuser);
/* The same with other options; finds only the doorbells. */
bool abuser_doorbells(struct abuser *abuser, const struct options *options);
void abuser_down(struct abuser *abuser);

struct sroce_sqe *sqe_at(const struct abuser *abuser, uint32_t index);
struct sroce_rqe *rqe_at(const struct abuser *abuser, uint32_t index);
int kick(const struct abuser *abuser);

/* Does the other pair of this process still work? */
bool victim_works(void);
/* Between groups of tests. */
void other_process_goes_on(void);
/* After the last one. */
void tap_end(void);

#endif /* RINGS_H */
