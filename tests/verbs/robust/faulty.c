// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "faulty.h"

#define KNOBS	"/sys/kernel/debug/"

static int nth_file = -1;

static bool set(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY);
	bool good = fd >= 0 && write(fd, value, strlen(value)) > 0;

	close(fd);
	return good;
}

static bool knob(const char *name, const char *value)
{
	char slab[100], page[100];

	snprintf(slab, sizeof(slab), KNOBS "failslab/%s", name);
	snprintf(page, sizeof(page), KNOBS "fail_page_alloc/%s", name);
	return set(slab, value) & set(page, value);
}

bool faults_ready(void)
{
	nth_file = open("/proc/thread-self/fail-nth", O_RDWR);
	return nth_file >= 0 && knob("probability", "0") &&
	       knob("verbose", "0") && knob("times", "-1") &&
	       knob("interval", "1") && knob("ignore-gfp-wait", "N") &&
	       set(KNOBS "fail_page_alloc/min-order", "0");
}

static void write_nth(int nth)
{
	char text[16];

	if (pwrite(nth_file, text, snprintf(text, sizeof(text), "%d", nth),
		   0) <= 0)
		abort();
}

int fail_left(void)
{
	char text[16] = "";

	if (pread(nth_file, text, sizeof(text) - 1, 0) <= 0)
		abort();
	return atoi(text);
}

void fail_nth(int nth)
{
	write_nth(nth);
}

bool fail_stop(void)
{
	int left = fail_left();

	write_nth(0);
	return !left;
}

void fail_some(int percent)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", percent);
	knob("ignore-gfp-wait", "Y");
	knob("probability", text);
}

void fail_none(void)
{
	knob("probability", "0");
	knob("ignore-gfp-wait", "N");
}

/* Links */

struct request {
	struct nlmsghdr head;
	char attrs[200];
};

static void add(struct request *r, uint16_t type, const void *data, size_t n)
{
	struct nlattr *attr = (void *)((char *)r + NLMSG_ALIGN(r->head.nlmsg_len));

	attr->nla_type = type;
	attr->nla_len = NLA_HDRLEN + n;
	memcpy((char *)attr + NLA_HDRLEN, data, n);
	r->head.nlmsg_len = NLMSG_ALIGN(r->head.nlmsg_len) +
			    NLA_ALIGN(attr->nla_len);
}

static int ask(struct request *r)
{
	struct {
		struct nlmsghdr head;
		struct nlmsgerr err;
		char rest[512];
	} reply = {};
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_RDMA), err = 0;
	/* The answer may get lost, too. */
	const struct timeval patience = { .tv_sec = 3 };

	if (fd < 0)
		return errno;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (send(fd, r, r->head.nlmsg_len, 0) < 0 ||
	    recv(fd, &reply, sizeof(reply), 0) < 0)
		err = errno;
	else if (reply.head.nlmsg_type == NLMSG_ERROR)
		err = -reply.err.error;
	close(fd);
	return err;
}

static struct request begin(int command)
{
	struct request r = {
		.head.nlmsg_len = NLMSG_HDRLEN,
		.head.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command),
		.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK,
	};

	return r;
}

static bool there(const char *name)
{
	char path[100];

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s", name);
	return !access(path, F_OK);
}

int rdma_link_add(const char *name, const char *netdev)
{
	struct request r = begin(RDMA_NLDEV_CMD_NEWLINK);
	int err;

	add(&r, RDMA_NLDEV_ATTR_DEV_NAME, name, strlen(name) + 1);
	add(&r, RDMA_NLDEV_ATTR_LINK_TYPE, "sroce", 6);
	add(&r, RDMA_NLDEV_ATTR_NDEV_NAME, netdev, strlen(netdev) + 1);
	err = ask(&r);
	return err && there(name) ? 0 : err;
}

/* Lookups do not fail meanwhile. */
static int link_index(const char *name, uint32_t *index)
{
	char command[100];
	int nth = fail_left(), n = 0;
	FILE *file;

	write_nth(0);
	snprintf(command, sizeof(command), "rdma dev show %s", name);
	file = popen(command, "r");
	if (file) {
		n = fscanf(file, "%u:", index);
		pclose(file);
	}
	write_nth(nth);
	return n == 1 ? 0 : ENODEV;
}

int rdma_link_delete(const char *name)
{
	struct request r = begin(RDMA_NLDEV_CMD_DELLINK);
	uint32_t index;
	int err = link_index(name, &index);

	if (err)
		return err;
	add(&r, RDMA_NLDEV_ATTR_DEV_INDEX, &index, sizeof(index));
	err = ask(&r);
	return err && !there(name) ? 0 : err;
}
