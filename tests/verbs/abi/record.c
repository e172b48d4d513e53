// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <rdma/sroce-abi.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record.h"

#define ROOM	400

static struct command commands[ROOM];
static unsigned int used;
static bool recording;
static unsigned int num_kicks;

static void keep(int fd, const struct ib_uverbs_ioctl_hdr *head)
{
	struct command *c = &commands[used];
	unsigned int i;

	if (used == ROOM || head->num_attrs > MAX_ATTRS)
		return;
	memset(c, 0, sizeof(*c));
	c->fd = fd;
	c->head = *head;
	for (i = 0; i < head->num_attrs; i++) {
		c->attrs[i] = head->attrs[i];
		if (head->attrs[i].len > 8 && head->attrs[i].len <= MAX_DATA)
			memcpy(c->data[i], (void *)(uintptr_t)
			       head->attrs[i].data, head->attrs[i].len);
	}
	used++;
}

/* Replaces the C library's function for libibverbs. */
int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (recording && request == RDMA_VERBS_IOCTL)
		keep(fd, arg);
	num_kicks += request == SROCE_IOC_KICK;
	return syscall(SYS_ioctl, fd, request, arg);
}

unsigned int kicks(void)
{
	return num_kicks;
}

void record(bool on)
{
	recording = on;
}

unsigned int recorded(void)
{
	return used;
}

const struct command *record_at(unsigned int i)
{
	return &commands[i];
}
