// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Compiles with rdma-core's header if our declarations match it.  LAYOUT is the
 * output of ours.c.
 */
#include <assert.h>
#include <stddef.h>

#include <infiniband/driver.h>

#ifdef PRIVATE_LAYOUT
#include "../sroce_abi.h"
#endif

#define SIZE_IS(type, size) \
	static_assert(sizeof(type) == (size), "size of " #type)
#define MEMBER_IS(type, member, at) \
	static_assert(offsetof(type, member) == (at), #member " of " #type)
#define VALUE_IS(constant, value) \
	static_assert((int)(constant) == (value), #constant)

#include LAYOUT
