// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The QP state machine.
 */
#include <stdio.h>

#include "states.h"

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	fabric_open();
	test_transitions();
	test_queues();
	return tests_done();
}
