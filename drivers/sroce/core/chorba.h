/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_CHORBA_H
#define SROCE_CHORBA_H

#include "env.h"

/* What sroce_chorba() needs at least. */
#define SROCE_CHORBA_BYTES	40

/**
 * sroce_chorba() - CRC-32 of IEEE 802.3 by shifts and additions
 * @head: what the message begins with
 * @p: how it goes on
 * @len: bytes at @p, a multiple of 8, SROCE_CHORBA_BYTES at least
 * @n: bytes at @head, a multiple of 8
 *
 * Only 40 bytes are left to sroce_crc32().
 *
 * Return: the CRC, reflected, that began as zero.
 */
u32 sroce_chorba(const void *head, const void *p, size_t len, size_t n);

#endif /* SROCE_CHORBA_H */
