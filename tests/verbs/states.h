/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef STATES_H
#define STATES_H

#include "fabric.h"

/* transitions.c: what modify_qp and query_qp say */
void test_transitions(void);
/* the same file: modify_qp by two at once */
void test_paths(void);
/* attributes.c: which attributes each step wants, takes, refuses */
void test_attributes(void);
/* queues.c: what the queues do in each state */
void test_queues(void);

#endif /* STATES_H */
