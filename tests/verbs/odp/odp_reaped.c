// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A process that is killed for lack of memory while a page-in of its waits.
 *
 *	odp_reaped FILE MIB
 *
 * It has as many MiB on demand, all present, and waits for a page of FILE, which never
 * comes.  Then it allocates memory without end.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "paging.h"

#define MIB	(1ul << 20)

static struct ibv_mr *region(struct ibv_pd *pd, void *at, size_t length)
{
	return at == MAP_FAILED ? NULL : ibv_reg_mr(pd, at, length, IBV_ACCESS_ON_DEMAND);
}

static int advise(struct ibv_mr *mr, uint32_t flags)
{
	struct ibv_sge sge = { (uintptr_t)mr->addr, mr->length, mr->lkey };

	return ibv_advise_mr(mr->pd, IBV_ADVISE_MR_ADVICE_PREFETCH, flags, &sge, 1);
}

static void *anonymous(size_t length)
{
	void *at = mmap(NULL, length, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at != MAP_FAILED)
		memset(at, 1, length);
	return at;
}

COMMAND(odp_reaped)
{
	struct ibv_mr *waits, *present;
	struct ibv_pd *pd;
	int fd;

	if (argc != 3 ||
	    !host_open(&hosts[0], getenv("D1") ?: "", atoi(getenv("G1") ?: "0")))
		return 2;
	fd = open(argv[1], O_RDONLY);
	pd = ibv_alloc_pd(hosts[0].context);
	/* Its ring is mapped, which keeps the device open as long as the memory. */
	if (!ibv_create_cq(hosts[0].context, 1, NULL, NULL, 0))
		return 1;
	present = region(pd, anonymous(atoi(argv[2]) * MIB), atoi(argv[2]) * MIB);
	waits = region(pd, mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0), PAGE);
	if (!present || !waits || advise(present, IBV_ADVISE_MR_FLAG_FLUSH) ||
	    advise(waits, 0))
		return 1;
	printf("waits\n");
	for (;;)
		if (anonymous(MIB) == MAP_FAILED)
			return 1;
}
