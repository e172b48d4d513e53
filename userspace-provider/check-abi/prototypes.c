// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Declares once more what rdma-core's header has declared: a compiler accepts
 * that only of the same types.
 */
#include <infiniband/driver.h>

#define SROCE_REGISTER	SROCE_REGISTER_NAME(SROCE_PABI)
#define SROCE_REGISTER_NAME(version)	SROCE_PASTE(verbs_register_driver_, version)
#define SROCE_PASTE(name, version)	name##version
#include "../standalone/infiniband/prototypes.h"
