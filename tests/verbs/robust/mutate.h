/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Packets as a peer might send them, and ways to corrupt them.
 */
#ifndef MUTATE_H
#define MUTATE_H

#include "frame.h"
#include "targets.h"

/* A QP of others that our packets name but must not affect; 0 for none. */
extern uint32_t foreign_qpns[2];

/**
 * propose() - the next packet of a conversation
 * @t: the target
 * @c: choices
 * @p: the packet, valid as far as we know
 *
 * Assumes that the target then executes it.
 */
void propose(struct target *t, struct chance *c, struct packet *p);
/* A management datagram. */
void propose_mad(struct chance *c, struct packet *p);

/* Changes some of the values. */
void spoil(struct target *t, struct chance *c, struct packet *p);
/* Changes bytes between BTH and pad, or their number; returns that. */
uint32_t spoil_body(struct chance *c, uint8_t *body, uint32_t length);
/* Changes bytes anywhere. */
void spoil_frame(struct chance *c, struct frame *frame);
/* Payload of a packet of that target, at most. */
uint32_t mtu_of(const struct target *t);

#endif /* MUTATE_H */
