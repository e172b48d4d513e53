// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Prints the layout as our declarations have it, one assertion per line.
 */
#include <stdio.h>

#include <infiniband/driver.h>

#ifdef PRIVATE_LAYOUT
#include "../sroce_abi.h"
#endif

#define SIZE(type) \
	printf("SIZE_IS(" #type ", %zu);\n", sizeof(type))

#define MEMBER(type, member)						\
	printf("MEMBER_IS(" #type ", " #member ", %zu);\n",		\
	       offsetof(type, member))

#define VALUE(constant) \
	printf("VALUE_IS(" #constant ", %d);\n", (int)(constant))

int main(void)
{
#include "layout.h"
	return 0;
}
