/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The kernel's fault injection, and "rdma link" commands without another program. */
#ifndef FAULTY_H
#define FAULTY_H

#include <stdbool.h>

/* Sets up fault injection; false if it is not possible here. */
bool faults_ready(void);
/* The nth allocation of this thread from now on fails. */
void fail_nth(int nth);
/* The number of the next allocation to fail; 0 when it has failed. */
int fail_left(void);
/* Stops injecting; returns true if an allocation has failed. */
bool fail_stop(void);
/* This percentage of all allocations that must not sleep fails. */
void fail_some(int percent);
void fail_none(void);

/* Does "rdma link add NAME type sroce netdev NETDEV"; returns 0 or an errno. */
int rdma_link_add(const char *name, const char *netdev);
int rdma_link_delete(const char *name);

#endif /* FAULTY_H */
