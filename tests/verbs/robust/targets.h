/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * QPs of every type and state whose peer is the sender of hostile packets, and their
 * memory, with canaries around every region.
 */
#ifndef TARGETS_H
#define TARGETS_H

#include "chance.h"
#include "transfer.h"

#define NUM_TARGETS	16

/*
 * Parts of a target's buffer.  They adjoin, so that an access of a byte too many shows;
 * it would not if each had pages of its own.
 */
#define OPEN_AT		4196	/* all access */
#define OPEN_BYTES	20001
#define READ_AT		28000	/* nobody may write */
#define READ_BYTES	7999
#define SLOTS_AT	38000	/* receive buffers; no remote access */
#define SLOT_STRIDE	1900
#define SLOT_BYTES	1501
#define SLOTS		12

/**
 * struct target - a QP and its memory
 * @name: type and state
 * @options: of the QP
 * @side: the QP; its @mr is the open region
 * @readable: region that may be read
 * @slots: region of the receive buffers
 * @state: state that it should be in
 * @psn: it expects, as far as we know
 * @sq_psn: of its own next request
 * @busy: a message has begun: operation of its first packet
 * @left: bytes of it that are to come
 * @broken: how often it was created again
 */
struct target {
	const char *name;
	struct options options;
	struct side side;
	struct ibv_mr *readable;
	struct ibv_mr *slots;
	enum ibv_qp_state state;
	uint32_t psn;
	uint32_t sq_psn;
	int busy;
	uint32_t left;
	unsigned long broken;
};

extern struct target targets[NUM_TARGETS];

/**
 * targets_up() - make them all
 * @host: whose QPs
 * @attacker: address of their peer
 * @qpn: number of that peer
 */
bool targets_up(struct host *host, const struct host *attacker, uint32_t qpn);
void targets_down(void);

/* Creates a broken target again, takes its completions, and posts receives. */
bool target_refresh(struct target *target, struct chance *c);
/* Are all bytes unchanged that nobody may write to? */
bool target_intact(const struct target *target);

#endif /* TARGETS_H */
