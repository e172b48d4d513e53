/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Sends arbitrary frames from the other end of the link, many at a time; and bursts
 * as an unprivileged process can send them.
 *
 *	NETNS		network namespace of that end
 *	ATTACKER	its address
 *	TARGET		address of the device
 *	MAC1, MAC2	of both ends
 */
#ifndef SENDER_H
#define SENDER_H

#include "chance.h"
#include "frame.h"

#define BATCH		160
#define BURST_PORT	33333

struct sender {
	struct path path;
	unsigned long sent;
	unsigned long refused;	/* by the kernel, as no frames at all */
	unsigned int used;
};

extern struct sender sender;

bool sender_open(void);
/* Room for another one; NULL when it is time to flush. */
struct frame *sender_frame(void);
/* One that was sent before. */
const struct frame *sender_old(struct chance *c);
/* Puts the last frame in the place of another one. */
void sender_shuffle(struct chance *c);
/* Moves one, or the first one, behind all others. */
void sender_delay(struct chance *c);
void sender_delay_first(void);
/* The first one is not sent. */
void sender_forget_first(void);
/* Cuts the last frame into fragments; some may be missing. */
void sender_fragment(struct chance *c);
void sender_flush(void);

/**
 * sender_burst() - send packets that stay one skb up to the receiver
 * @bodies: from BTH to pad, one behind the other with room for an ICRC each
 * @size: of each with its ICRC; of the last one less, perhaps
 * @length: of all
 *
 * Fills in the ICRCs.
 */
bool sender_burst(uint8_t *bodies, uint32_t size, uint32_t length);

#endif /* SENDER_H */
