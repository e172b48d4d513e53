/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_CORE_SPARSE_H
#define SROCE_CORE_SPARSE_H

#include "env.h"

/**
 * sroce_sparse() - CRC-32 of IEEE 802.3, with neither tables nor multiplication
 * @head: what the message begins with
 * @p: how it goes on
 * @len: bytes at @p, a multiple of 16
 * @n: bytes at @head, a multiple of 16, 48 at least
 *
 * Return: the CRC, reflected, that began as zero.
 */
u32 sroce_sparse(const void *head, const void *p, size_t len, size_t n);

#endif /* SROCE_CORE_SPARSE_H */
