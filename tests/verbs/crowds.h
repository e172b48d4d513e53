/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CROWDS_H
#define CROWDS_H

/* A group of tests of the program "crowds". */
void test_loopback(void);

#endif /* CROWDS_H */
