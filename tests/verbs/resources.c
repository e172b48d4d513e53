// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What verbs offer besides queue pairs and moving data: shared queues, resizing
 * and so on, a group for each.
 *
 *	resources [GROUP...]
 */
#include <stdio.h>
#include <string.h>

#include "fabric.h"
#include "resources.h"

static const struct {
	const char *name;
	void (*run)(void);
} groups[] = {
	{ "srq", test_srq },
	{ "completion", test_completion },
	{ "memory", test_memory },
	{ "multicast", test_multicast },
	{ "windows", test_windows },
	{ "device-memory", test_device_memory },
	{ "sharing", test_sharing },
	{ "dmabuf", test_dmabuf },
	{ "xrc", test_xrc },
	{ "pages", test_pages },
};

static bool wanted(const char *name, int argc, char **argv)
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
		if (wanted(groups[i].name, argc, argv))
			groups[i].run();
	return tests_done();
}
