// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Declares once more what rdma-core's header has declared: a compiler accepts
 * that only of the same types.
 */
#include <infiniband/driver.h>

#include "../standalone/infiniband/prototypes.h"
