/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef VERBS_H
#define VERBS_H

/* The groups of tests of the program "verbs". */
void test_ops(void);
void test_sizes(void);
void test_huge(void);
void test_order(void);
void test_notify(void);
void test_datagram(void);
void test_extended(void);
void test_place(void);
void test_many(void);
void test_pacing(void);
void test_polling(void);

#endif /* VERBS_H */
