/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_PKEY_H
#define SROCE_PKEY_H

#include "../base/sroce.h"
#include "../core/wire.h"

/* The default partition is in the first place, and no other. */
void sroce_pkey_init(struct sroce_device *dev);

/**
 * sroce_pkey_matches() - may two ends of these P_Keys talk? (IBTA 10.9.3)
 * @a: P_Key of one end
 * @b: of the other
 *
 * They are of the same partition, and one of them is a full member; there is
 * no partition 0.
 */
static inline bool sroce_pkey_matches(u16 a, u16 b)
{
	return !((a ^ b) & ~SROCE_PKEY_FULL) && (a | b) & SROCE_PKEY_FULL &&
	       a & ~SROCE_PKEY_FULL;
}

/**
 * sroce_pkey_find() - where the table has a P_Key that matches
 * @dev: the device
 * @pkey: of a packet
 *
 * Context: any.  Return: index, or SROCE_PKEY_TABLE if there is none.
 */
u16 sroce_pkey_find(const struct sroce_device *dev, u16 pkey);

/* The file of each port by which an administrator changes the table. */
extern const struct attribute_group *sroce_port_groups[];

/* ib_device_ops */
int sroce_query_pkey(struct ib_device *ibdev, u32 port, u16 index, u16 *pkey);

#endif /* SROCE_PKEY_H */
