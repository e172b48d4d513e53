// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory of a file system that holds reads, for good or until it is told to answer.
 *
 *	fuse_server serve DIRECTORY		a file system of one file, which can be
 *					opened and mapped; reads get no answer
 *	fuse_server answer DIRECTORY		the same; writes a byte to standard output
 *					for each read. Bytes on standard input: "a"
 *					answers all reads of before; "e" lets all reads
 *					fail from now on; "h" ends that
 *	fuse_server send FILE NUMBER		NUMBER QPs of $D1 send from that
 *					file and wait for it
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "qp_pair.h"

#define PAGE		4096
#define FILE_BYTES	(64 << 20)
#define FILE_NODE	2

/* Serving */

static void reply(int fd, const struct fuse_in_header *in, int error,
		  void *data, size_t length)
{
	struct fuse_out_header out = {
		.len = sizeof(out) + length,
		.error = -error,
		.unique = in->unique,
	};
	struct iovec iov[] = { { &out, sizeof(out) }, { data, length } };

	/* An interrupted request gets no reply. */
	if (writev(fd, iov, 2) < 0)
		return;
}

static struct fuse_attr attributes(uint64_t node)
{
	return (struct fuse_attr) {
		.ino = node,
		.size = node == FILE_NODE ? FILE_BYTES : 0,
		.mode = node == FILE_NODE ? S_IFREG | 0444 : S_IFDIR | 0555,
		.nlink = 1,
		.blksize = PAGE,
	};
}

/* Reads without an answer; more than there is room for never get one. */
static struct fuse_in_header held[64];
static size_t held_count;
static bool answers, failing;

static void hold(int fd, const struct fuse_in_header *in)
{
	if (failing) {
		reply(fd, in, EIO, NULL, 0);
		return;
	}
	if (!answers || held_count == sizeof(held) / sizeof(*held))
		return;
	held[held_count++] = *in;
	if (write(1, "r", 1) != 1)
		exit(1);
}

/* max_readahead is 0, so each read is of a page. */
static void answer_held(int fd)
{
	static char page[PAGE];

	memset(page, 0x5a, sizeof(page));
	while (held_count)
		reply(fd, &held[--held_count], 0, page, sizeof(page));
}

static void answer(int fd, const struct fuse_in_header *in)
{
	struct fuse_init_out init = {
		.major = FUSE_KERNEL_VERSION,
		.minor = FUSE_KERNEL_MINOR_VERSION,
		.max_write = PAGE,
	};
	struct fuse_attr_out attr = {
		.attr_valid = 1000,
		.attr = attributes(in->nodeid),
	};
	struct fuse_entry_out entry = {
		.nodeid = FILE_NODE,
		.entry_valid = 1000,
		.attr_valid = 1000,
		.attr = attributes(FILE_NODE),
	};
	/* Otherwise each process that opens it would wait for the pages. */
	struct fuse_open_out open = { .open_flags = FOPEN_KEEP_CACHE };

	switch (in->opcode) {
	case FUSE_INIT:
		reply(fd, in, 0, &init, sizeof(init));
		break;
	case FUSE_GETATTR:
		reply(fd, in, 0, &attr, sizeof(attr));
		break;
	case FUSE_LOOKUP:
		reply(fd, in, 0, &entry, sizeof(entry));
		break;
	case FUSE_OPEN:
		reply(fd, in, 0, &open, sizeof(open));
		break;
	case FUSE_READ:
		hold(fd, in);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		reply(fd, in, ENOSYS, NULL, 0);
	}
}

static int serve(const char *directory)
{
	static char buf[1 << 17] __attribute__((aligned(8)));
	char options[80];
	int fd = open("/dev/fuse", O_RDWR);

	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40555,user_id=0,group_id=0,allow_other", fd);
	if (fd < 0 || mount("stuck", directory, "fuse", 0, options)) {
		perror("fuse");
		return 1;
	}
	for (;;) {
		struct pollfd fds[] = {
			{ .fd = fd, .events = POLLIN },
			{ .fd = answers ? 0 : -1, .events = POLLIN },
		};

		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return 1;
		if (fds[1].revents) {
			if (read(0, buf, 1) != 1)
				return 0;
			failing = buf[0] == 'e';
			if (buf[0] == 'a')
				answer_held(fd);
		}
		if (!fds[0].revents)
			continue;
		if (read(fd, buf, sizeof(buf)) > 0)
			answer(fd, (struct fuse_in_header *)buf);
		else if (errno != EINTR && errno != EAGAIN && errno != ENOENT)
			return 0;
	}
}

/* Sending */

static int post(struct ibv_qp *qp, struct ibv_ah *ah, struct ibv_mr *mr,
		unsigned long page)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)mr->addr + page * PAGE,
		.length = 64,
		.lkey = mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.ud = { ah, qp->qp_num, QKEY },
	};

	return ibv_post_send(qp, &wr, &bad);
}

/* A side whose completion queue has room for one message of each QP. */
static bool open_side(struct side *side, const struct options *options)
{
	return host_open(&hosts[0], getenv("D1") ?: "",
			 atoi(getenv("G1") ?: "0")) &&
	       side_open(side, &hosts[0], options, false);
}

static int send_all(const char *file, unsigned long number)
{
	const struct options options = {
		.type = IBV_QPT_UD, .wr = 1, .sge = 1, .cqe = number,
	};
	int fd = open(file, O_RDONLY);
	void *at = mmap(NULL, FILE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
	struct ibv_qp **qps = calloc(number, sizeof(*qps));
	struct ibv_mr *mr = NULL;
	struct side side;
	struct ibv_wc wc;
	unsigned long i;
	int n;

	if (at != MAP_FAILED && qps && open_side(&side, &options))
		mr = ibv_reg_mr(side.pd, at, FILE_BYTES, IBV_ACCESS_ON_DEMAND);
	for (i = 0; mr && i < number; i++) {
		if (!side_qp(&side, &options) ||
		    !side_connect(&side, &side, &options))
			break;
		qps[i] = side.qp;
	}
	if (!mr || i < number) {
		perror("a QP");
		return 1;
	}
	for (i = 0; i < number; i++)
		if (post(qps[i], side.ah, mr, i))
			return 1;
	dprintf(1, "%lu wait\n", number);
	/* None of them may succeed. */
	do {
		usleep(100000);
		n = ibv_poll_cq(side.scq, 1, &wc);
	} while (!n);
	dprintf(1, "status %d\n", n < 0 ? n : (int)wc.status);
	return n < 0 || wc.status == IBV_WC_SUCCESS;
}

COMMAND(fuse_server)
{
	if (argc == 3 && !strcmp(argv[1], "serve"))
		return serve(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "answer")) {
		answers = true;
		return serve(argv[2]);
	}
	if (argc == 4 && !strcmp(argv[1], "send"))
		return send_all(argv[2], strtoul(argv[3], NULL, 0));
	return 2;
}
