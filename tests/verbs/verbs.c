// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Every operation of the verbs API between two QPs, byte by byte.
 *
 *	verbs [GROUP...]
 */
#include "fabric.h"
#include "verbs.h"

static const struct group groups[] = {
	{ "ops", test_ops },
	{ "sizes", test_sizes },
	{ "order", test_order },
	{ "notify", test_notify },
	{ "datagram", test_datagram },
	{ "extended", test_extended },
	{ "place", test_place },
	{ "many", test_many },
	{ "pacing", test_pacing },
	{ "polling", test_polling },
	{ "huge", test_huge },
};

int main(int argc, char **argv)
{
	return run_groups(groups, ARRAY_SIZE(groups), argc, argv);
}
