// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Every operation of the verbs API between two QPs, byte by byte.
 *
 *	verbs [GROUP...]
 */
#include <stdio.h>
#include <string.h>

#include "fabric.h"
#include "verbs.h"

static const struct {
	const char *name;
	void (*run)(void);
} groups[] = {
	{ "ops", test_ops },
	{ "sizes", test_sizes },
	{ "order", test_order },
	{ "notify", test_notify },
	{ "datagram", test_datagram },
	{ "extended", test_extended },
	{ "many", test_many },
	{ "pacing", test_pacing },
	{ "huge", test_huge },
};

static bool chosen(const char *name, int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		if (!strcmp(argv[i], name))
			return true;
	return argc == 1;
}

int main(int argc, char **argv)
{
	size_t i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	fabric_open();
	for (i = 0; i < ARRAY_SIZE(groups); i++)
		if (chosen(groups[i].name, argc, argv))
			groups[i].run();
	return tests_done();
}
