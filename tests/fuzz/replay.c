// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* usage: TARGET FILE...: runs the inputs where there is no libFuzzer. */
#include <stdio.h>
#include <stdlib.h>
#include "input.h"

static bool replay(const char *name)
{
	FILE *file = fopen(name, "rb");
	u8 *data = malloc(1 << 16);
	size_t size;

	if (!file || !data) {
		perror(name);
		return false;
	}
	size = fread(data, 1, 1 << 16, file);
	fclose(file);
	/* Exactly its length, for the address sanitizer. */
	data = realloc(data, size + !size);
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	return true;
}

int main(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		if (!replay(argv[i]))
			return 1;
	return 0;
}
