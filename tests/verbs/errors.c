// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Bad input: errno, completion status at both ends, asynchronous event, state.
 */
#include <stdio.h>

#include "errors.h"

struct pair bystander;

static void create_bystander(const void *arg)
{
	(void)arg;
	pair_up(&bystander, NULL);
}

static void destroy_bystander(const void *arg)
{
	(void)arg;
	works(&bystander);
	pair_down(&bystander);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	fabric_open();
	run_test(create_bystander, NULL, "a bystander");
	test_faults();
	test_requests();
	test_objects();
	run_test(destroy_bystander, NULL, "the bystander is well");
	return tests_done();
}
