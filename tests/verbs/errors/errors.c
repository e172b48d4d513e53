// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Bad input: errno, completion status at both ends, asynchronous event, state.
 */
#include "errors.h"

struct pair bystander;

static void create(const void *arg)
{
	(void)arg;
	pair_up(&bystander, NULL);
}

void bystander_up(void)
{
	if (!bystander.a.qp)
		run_test(create, NULL,
			 "a connection that must not be affected");
}

static void check(const void *arg)
{
	(void)arg;
	works(&bystander);
}

void bystander_is_well(void)
{
	run_test(check, NULL, "the connection that must not be affected works");
}
