/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The kernel's fault injection, and "rdma link" commands without another program. */
#ifndef FAULTY_H
#define FAULTY_H

#include <stdbool.h>

/* Can it be done here?  Sets it up. */
bool faults_ready(void);
/* The nth allocation of this thread from now on fails. */
void fail_nth(int nth);
/* The number of the next allocation to fail; 0 when it has failed. */
int fail_left(void);
/* No more; returns whether it came to that. */
bool fail_stop(void);
/* So many percent of those that must not sleep fail, whoever's they are. */
void fail_some(int percent);
void fail_none(void);

/* As "rdma link add NAME type sroce netdev NETDEV": 0 or an errno. */
int rdma_link_add(const char *name, const char *netdev);
int rdma_link_delete(const char *name);

#endif /* FAULTY_H */
