// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A connection from $D1 to $D2.  Reads commands from standard input, one per line:
 *
 *	look		prints a message that it has received but not sent
 *	send TEXT	sends TEXT, and waits until it arrives
 *
 * It prints "received TEXT" or "nothing"; its first line is the number of the sending
 * QP.
 */
#include <stdio.h>
#include <string.h>

#include "transfer.h"

#define RECEIVES	16
#define TEXT		100

static struct pair pair;
static unsigned int posted;

static bool post_more(void)
{
	unsigned int at = posted++ % RECEIVES;

	return !post_recv(&pair.b, at, at * TEXT, TEXT);
}

static void show(const struct ibv_wc *wc)
{
	printf("received %.*s\n", (int)wc->byte_len,
	       pair.b.buf + wc->wr_id * TEXT);
	post_more();
}

static void look(void)
{
	uint64_t end = now_ms() + QUIET_MS;
	struct ibv_wc wc;

	do {
		if (ibv_poll_cq(pair.b.rcq, 1, &wc) == 1) {
			show(&wc);
			return;
		}
	} while (now_ms() < end);
	puts("nothing");
}

static void send_text(const char *text)
{
	uint32_t length = strnlen(text, TEXT);
	struct ibv_wc wc;

	memcpy(pair.a.buf, text, length);
	if (!CHECK_CALL(post_send(&pair.a, 1, 0, length, IBV_SEND_SIGNALED),
			0) || !next_wc(pair.a.scq, &wc) ||
	    !CHECK_CALL(wc.status, IBV_WC_SUCCESS))
		return;
	look();
}

COMMAND(connected)
{
	char line[TEXT + 10];
	int i;

	fabric_open();
	if (!pair_up(&pair, NULL))
		return 1;
	for (i = 0; i < RECEIVES; i++)
		if (!post_more())
			return 1;
	printf("%u\n", pair.a.qp->qp_num);
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "send ", 5))
			send_text(line + 5);
		else
			look();
	}
	pair_down(&pair);
	return 0;
}
