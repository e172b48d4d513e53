// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Declares once more what rdma-core's header has declared: a compiler accepts
 * that only of the same types.
 */
#include <infiniband/driver.h>

#if SROCE_PABI >= 65
#define SROCE_REGISTER	verbs_register_driver_65
#else
#define SROCE_REGISTER	verbs_register_driver_34
#endif
#include "../standalone/infiniband/prototypes.h"
