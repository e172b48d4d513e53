// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A process whose packets stay in a queue of its host.
 *
 *	plugged uc|ud QPS MESSAGES
 *
 * Each queue pair posts that many messages, of 64 KiB or of a datagram, and
 * ibv_post_send() transmits as many as it can.  Then the process prints "posted",
 * waits for the end of its standard input, and takes all completions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "transfer.h"

#define LENGTH	65536

static bool post_all(struct pair *pairs, unsigned long n, unsigned long each,
		     bool datagrams)
{
	unsigned long i, j;

	for (j = 0; j < each; j++)
		for (i = 0; i < n; i++)
			if (datagrams ?
			    post_datagram(&pairs[i].a, &pairs[i].b, j, 1024) :
			    post_send(&pairs[i].a, j, 0, LENGTH,
				      IBV_SEND_SIGNALED))
				return false;
	return true;
}

static bool take_all(struct pair *pairs, unsigned long n, unsigned long each)
{
	unsigned long i, j;
	struct ibv_wc wc;

	for (i = 0; i < n; i++)
		for (j = 0; j < each; j++)
			if (!next_wc(pairs[i].a.scq, &wc) || wc.status)
				return false;
	return true;
}

COMMAND(plugged)
{
	bool datagrams = argc == 4 && !strcmp(argv[1], "ud");
	unsigned long n, each, i;
	struct options options = {
		.type = datagrams ? IBV_QPT_UD : IBV_QPT_UC, .size = 2 * LENGTH,
	};
	struct pair *pairs;
	char byte;

	if (argc != 4)
		return 2;
	n = strtoul(argv[2], NULL, 0);
	each = strtoul(argv[3], NULL, 0);
	options.wr = each;
	pairs = calloc(n, sizeof(*pairs));
	fabric_open();
	for (i = 0; i < n; i++)
		if (!pair_up(&pairs[i], &options))
			return 1;
	if (!post_all(pairs, n, each, datagrams))
		return 1;
	printf("posted\n");
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	if (!take_all(pairs, n, each))
		return 1;
	printf("completed\n");
	for (i = 0; i < n; i++)
		pair_down(&pairs[i]);
	return 0;
}
