// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Loads the provider as libibverbs does, with every symbol resolved at once.
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	if (!dlopen("libibverbs.so.1", RTLD_NOW) || !dlopen(argv[1], RTLD_NOW)) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	return 0;
}
