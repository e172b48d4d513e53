// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The QP state machine.
 *
 *	states [GROUP...]
 */
#include "states.h"

static const struct group groups[] = {
	{ "transitions", test_transitions },
	{ "paths", test_paths },
	{ "attributes", test_attributes },
	{ "queues", test_queues },
};

int main(int argc, char **argv)
{
	return run_groups(groups, ARRAY_SIZE(groups), argc, argv);
}
