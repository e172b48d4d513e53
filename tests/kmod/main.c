// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The operations of kernel users, for tests/suites/kernel.sh: loading
 * the module runs the tests, and their TAP lines are in the kernel's log.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include <linux/module.h>
#include <linux/string.h>
#include "fabric.h"

static char *devices[2];
module_param_array(devices, charp, NULL, 0444);
MODULE_PARM_DESC(devices, "two devices, or one twice");
static int gids[2];
module_param_array(gids, int, NULL, 0444);
MODULE_PARM_DESC(gids, "the index of each one's GID");

struct side near, far;

static int tests;
static bool failed;

void test_begin(void)
{
	failed = false;
}

void test_end(const char *name)
{
	pr_info("%sok %d - %s\n", failed ? "not " : "", ++tests, name);
}

void test_skip(const char *name, const char *why)
{
	pr_info("ok %d - %s # SKIP %s\n", ++tests, name, why);
}

/* Later checks may fail only because the first one did. */
bool test_check(bool fine, const char *what, const char *file, int line)
{
	if (!fine && !failed)
		pr_info("# %s:%d: %s\n", kbasename(file), line, what);
	failed |= !fine;
	return fine;
}

static int __init test_init(void)
{
	int err = -EINVAL;

	if (devices[0] && devices[1])
		err = side_open(&near, devices[0], gids[0]) ?:
		      side_open(&far, devices[1], gids[1]) ?:
		      side_qp(&near) ?: side_qp(&far) ?: connect_sides();
	if (!err) {
		test_regions();
		test_contexts();
		test_queues();
		test_datagrams();
		test_events();
		test_event_race();
		test_faults();
		test_gids();
		pr_info("1..%d\n", tests);
	}
	side_close(&near);
	side_close(&far);
	return err;
}

static void __exit test_exit(void)
{
}

module_init(test_init);
module_exit(test_exit);

MODULE_AUTHOR("The sroce developers");
MODULE_DESCRIPTION("Tests of an RDMA device through the kernel's verbs");
MODULE_LICENSE("Dual BSD/GPL");
