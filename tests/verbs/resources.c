// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What verbs offer besides queue pairs and moving data: shared queues, resizing
 * and so on, a group for each.
 *
 *	resources [GROUP...]
 */
#include "fabric.h"
#include "resources.h"

static const struct group groups[] = {
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
	{ "charge", test_charge },
};

int main(int argc, char **argv)
{
	return run_groups(groups, ARRAY_SIZE(groups), argc, argv);
}
