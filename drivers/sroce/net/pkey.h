/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_PKEY_H
#define SROCE_PKEY_H

#include "../base/sroce.h"
#include "../core/wire.h"

/* Put the default partition into entry 0. */
void sroce_pkey_init(struct sroce_device *dev);

/**
 * sroce_pkey_matches() - may QPs with these P_Keys communicate?  (IBTA 10.9.3)
 * @a: one P_Key
 * @b: the other
 *
 * Same partition, and at least one full member.  Partition 0 does not exist.
 *
 * Return: true if they may
 */
static inline bool sroce_pkey_matches(u16 a, u16 b)
{
	return !((a ^ b) & ~SROCE_PKEY_FULL) && (a | b) & SROCE_PKEY_FULL &&
	       a & ~SROCE_PKEY_FULL;
}

/**
 * sroce_pkey_find() - find a matching P_Key in the table
 * @dev: the device
 * @pkey: P_Key of a packet
 *
 * Context: any.  Return: index, or SROCE_PKEY_TABLE if there is none.
 */
u16 sroce_pkey_find(const struct sroce_device *dev, u16 pkey);

#ifdef SROCE_OUT_OF_TREE
/* sysfs file of each port by which an administrator changes the table. */
extern const struct attribute_group *sroce_port_groups[];
#endif

/* ib_device_ops */
int sroce_query_pkey(struct ib_device *ibdev, u32 port, u16 index, u16 *pkey);

#endif /* SROCE_PKEY_H */
