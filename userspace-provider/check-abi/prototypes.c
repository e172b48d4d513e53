// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Declares the functions of rdma-core's header again.  The compiler accepts equal
 * types only.
 */
#include <infiniband/driver.h>

#define SROCE_REGISTER	SROCE_REGISTER_NAME(SROCE_PABI)
#define SROCE_REGISTER_NAME(version)	SROCE_PASTE(verbs_register_driver_, version)
#define SROCE_PASTE(name, version)	name##version
#include "../standalone/infiniband/prototypes.h"
