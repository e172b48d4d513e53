/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ERRORS_H
#define ERRORS_H

#include "move.h"

/* Moves data all the time; what goes wrong elsewhere may not touch it. */
extern struct pair bystander;

/* faults.c: what is wrong with a work request, and both ends' answers */
void test_faults(void);
/* requests.c: retries, receive requests that come late, lengths, order */
void test_requests(void);
/* objects.c: what cannot be created, registered, destroyed */
void test_objects(void);

#endif /* ERRORS_H */
