/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ERRORS_H
#define ERRORS_H

#include "transfer.h"

/* Moves data all the time, which must not be affected by faults elsewhere. */
extern struct pair bystander;

/* A group that uses it begins and ends with these. */
void bystander_up(void);
void bystander_is_well(void);

#endif /* ERRORS_H */
