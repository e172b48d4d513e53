/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_CHORBA_H
#define SROCE_CHORBA_H

#include "../../core/env.h"

/* Minimum length, bytes. */
#define SROCE_CHORBA_BYTES	40

/**
 * sroce_chorba() - CRC-32 of IEEE 802.3 by shifts and additions
 * @head: first part of the message
 * @p: rest of the message
 * @len: bytes at @p, a multiple of 8, at least SROCE_CHORBA_BYTES
 * @n: bytes at @head, a multiple of 8
 *
 * Only the last 40 bytes pass through sroce_crc32().
 *
 * Return: the CRC, reflected, with initial value 0.
 */
u32 sroce_chorba(const void *head, const void *p, size_t len, size_t n);

/* Like sroce_chorba(); also copies the @len bytes at @p to @to. */
u32 sroce_chorba_copy(const void *head, const void *p, size_t len, size_t n, void *to);

#endif /* SROCE_CHORBA_H */
