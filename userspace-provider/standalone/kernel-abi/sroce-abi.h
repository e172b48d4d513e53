/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * rdma-core generates the header of this name from <rdma/sroce-abi.h>, for its
 * DECLARE_DRV_CMD.  The one in standalone/infiniband/kern-abi.h needs nothing.
 */
