// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory on demand: what the tests of this folder share.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "paging.h"

bool paging_up(struct pair *pair, size_t pages)
{
	const struct options options = {
		.mr_access = ON_DEMAND,
		.size = pages * PAGE,
		/* On a busy machine a page may take a second. */
		.timeout = 18,
	};

	return pair_up(pair, &options);
}

void discard(void *at, size_t length)
{
	CHECK(!madvise(at, length, MADV_DONTNEED));
}

void unmap(void *at, size_t length)
{
	CHECK(!munmap(at, length));
}

bool map_again(void *at, size_t length, int protection)
{
	return CHECK(mmap(at, length, protection,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == at);
}

enum ibv_wc_status try_rdma(struct pair *pair, enum ibv_wr_opcode opcode,
			    uint32_t length)
{
	static uint64_t id = 1000;
	struct ibv_wc wc;

	if (!CHECK_CALL(post_rdma(&pair->a, &pair->b, opcode, ++id, 0, 0,
				  length, IBV_SEND_SIGNALED), 0) ||
	    !next_wc(pair->a.scq, &wc) || !CHECK(wc.wr_id == id))
		return IBV_WC_GENERAL_ERR;
	return wc.status;
}

bool transferred(struct pair *pair, enum ibv_wr_opcode opcode, uint32_t length)
{
	return CHECK_CALL(try_rdma(pair, opcode, length), IBV_WC_SUCCESS);
}

long statistic(const char *name)
{
	FILE *file = popen("rdma statistic show mr", "r");
	char line[1000];
	long sum = 0;

	while (file && fgets(line, sizeof(line), file)) {
		const char *at = strstr(line, name);

		if (at)
			sum += atol(at + strlen(name));
	}
	if (file)
		pclose(file);
	return sum;
}
