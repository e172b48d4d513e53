/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef RESOURCES_H
#define RESOURCES_H

#include <stdint.h>

struct sroce_qp_slot;

/* srq.c: the words that the process shares with the kernel for a queue with @tail. */
struct sroce_qp_slot *find_slot(uint32_t tail);

/* The groups of tests of the program "resources". */
void test_srq(void);
void test_completion(void);
void test_memory(void);
void test_multicast(void);
void test_windows(void);
void test_device_memory(void);
void test_sharing(void);
void test_dmabuf(void);
void test_xrc(void);
void test_pages(void);
void test_charge(void);

#endif /* RESOURCES_H */
