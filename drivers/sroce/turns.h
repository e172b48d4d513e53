/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_TURNS_H
#define SROCE_TURNS_H

#include <linux/workqueue.h>

/* What work items wait for. */
enum sroce_turn_kind {
	SROCE_TURN_FAULT,	/* memory that a QP wants */
	SROCE_TURN_ADVICE,	/* memory that may be wanted */
	SROCE_TURN_KINDS
};

/**
 * struct sroce_turn - a work item that waits for its turn
 * @work: the work item
 * @queue: where it runs
 * @kind: what it waits for there
 * @turns: whose turn it is, from sroce_turn_take() to sroce_turn_over()
 * @list: among those that wait, or empty
 */
struct sroce_turn {
	struct work_struct work;
	struct workqueue_struct *queue;
	enum sroce_turn_kind kind;
	struct sroce_turns *turns;
	struct list_head list;
};

/**
 * sroce_turns_get() - the calling user's turns
 *
 * A page may be as long in coming as its owner likes, who may serve the file
 * that it is of.  A user who has such pages waits for them alone.
 *
 * Context: process.  Return: a reference, or NULL if memory is short.
 */
struct sroce_turns *sroce_turns_get(void);
/* @turns: or NULL.  Context: process. */
void sroce_turns_put(struct sroce_turns *turns);

/* Context: any. */
void sroce_turn_init(struct sroce_turn *turn, struct workqueue_struct *queue,
		     enum sroce_turn_kind kind, work_func_t func);

/**
 * sroce_turn_take() - run a work item as soon as it is its user's turn
 * @turn: neither waiting nor running
 * @turns: the user's
 *
 * Context: process or softirq.
 */
void sroce_turn_take(struct sroce_turn *turn, struct sroce_turns *turns);

/*
 * Return: true if it was still waiting; it does not run then.  Context: process
 * or softirq.
 */
bool sroce_turn_cancel(struct sroce_turn *turn);

/* The next one's; from then on @turn may be taken again.  Context: @turn->work. */
void sroce_turn_over(struct sroce_turn *turn);

#endif /* SROCE_TURNS_H */
