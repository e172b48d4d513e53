/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_BOND_GID_H
#define SROCE_BOND_GID_H

#include "../base/sroce.h"

/**
 * sroce_bond_gid_deleted() - the RDMA core deletes a GID
 * @dev: the device
 * @index: index of the GID
 *
 * If it is the first one of a device on a bond, it is added again, some time later.
 *
 * Context: process; the caller may hold locks of the RDMA core.
 */
void sroce_bond_gid_deleted(struct sroce_device *dev, u32 index);

#endif /* SROCE_BOND_GID_H */
