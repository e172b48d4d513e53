// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The provider above the real libibverbs and a pretended kernel.
 */
#include "fixture.h"

int main(void)
{
	test_objects();
	test_send();
	test_send_ex();
	test_recv();
	test_poll();
	test_poll_ex();
	test_threads();
	return tap_done();
}
