// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mark begin | end: runs in the guest; makes the plugin insns.so begin or end
 * counting. Has no effect without the plugin.
 */
#include <string.h>

#include "marker.h"

#define TEXT(number)	TEXT_OF(number)
#define TEXT_OF(number)	#number
#define NOP(number)	asm volatile("nopl " TEXT(number) "(%rax)")

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	if (!strcmp(argv[1], "begin"))
		NOP(MARKER_BEGIN);
	else if (!strcmp(argv[1], "end"))
		NOP(MARKER_END);
	else
		return 2;
	return 0;
}
