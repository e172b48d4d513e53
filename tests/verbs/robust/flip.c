// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Sends datagrams to a GSI whose opcodes change all the while: to that of an
 * atomic, whose headers are longer by more than an ICRC, and back.
 *
 * The bytes are in a file, which this program has mapped and splices into a UDP
 * socket: the pages of the file are those of the packets, also when the packets
 * have arrived at another netdev of this host.  The ring of a packet socket would
 * not do: a veth copies packets out of it.
 *
 *	flip SECONDS
 *	flip shared	status 0 if this kernel does not copy such pages
 *
 * ATTACKER and TARGET are the addresses.  Needs two processors.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "frame.h"
#include "tap.h"

/* Few, so that each changes often. */
#define FRAMES		4
#define FRAME_SIZE	4096
#define ROCE_PORT	4791
#define GSI_QKEY	0x80010000

static int file;
static volatile uint8_t *frames;
static uint32_t length;
static struct path path;
static atomic_bool over;

static void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void *flip(void *arg)
{
	int i;

	(void)arg;
	run_on(1);
	while (!atomic_load_explicit(&over, memory_order_relaxed))
		for (i = 0; i < FRAMES; i++)
			frames[i * FRAME_SIZE] ^=
				(UD | SEND_ONLY) ^ (RC | COMPARE_SWAP);
	return NULL;
}

/* From the BTH to the ICRC. */
static bool write_frame(int i)
{
	struct packet p = {
		.opcode = UD | SEND_ONLY,
		.flags = 0x40,
		.pkey = 0xffff,
		.qpn = 1,
		.qkey = GSI_QKEY,
		.src_qpn = 1,
		.length = 256,
	};
	uint32_t headers = ETHERNET_BYTES + ip_bytes(&path) + UDP_BYTES;
	uint8_t body[BTH_BYTES + 512];
	static struct frame frame;

	frame_seal(&frame, &path, body, packet_build(&p, body, 0x5a));
	length = frame.length - headers;
	return pwrite(file, frame.bytes + headers, length,
		      i * FRAME_SIZE) == length;
}

static bool open_file(void)
{
	int i;

	file = memfd_create("frames", 0);
	if (file < 0 || ftruncate(file, FRAMES * FRAME_SIZE))
		return false;
	for (i = 0; i < FRAMES; i++)
		if (!write_frame(i))
			return false;
	frames = mmap(NULL, FRAMES * FRAME_SIZE, PROT_READ | PROT_WRITE,
		      MAP_SHARED, file, 0);
	return frames != MAP_FAILED;
}

static bool parse_addresses(struct sockaddr_in *from, struct sockaddr_in *to)
{
	const char *source = getenv("ATTACKER"), *target = getenv("TARGET");

	from->sin_family = AF_INET;
	to->sin_family = AF_INET;
	to->sin_port = htons(ROCE_PORT);
	return source && target &&
	       inet_pton(AF_INET, source, &from->sin_addr) == 1 &&
	       inet_pton(AF_INET, target, &to->sin_addr) == 1;
}

/* Not connected, and without fragments: the identification of IPv4 is 0. */
static int open_socket(struct sockaddr_in *to)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	int one = 1, mtu = IP_PMTUDISC_DO;
	struct sockaddr_in from = {};
	socklen_t size = sizeof(from);

	if (!parse_addresses(&from, to) ||
	    setsockopt(fd, SOL_SOCKET, SO_NO_CHECK, &one, sizeof(one)) ||
	    setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &mtu, sizeof(mtu)) ||
	    bind(fd, (struct sockaddr *)&from, size) ||
	    getsockname(fd, (struct sockaddr *)&from, &size))
		return -1;
	memcpy(path.source, &from.sin_addr, sizeof(from.sin_addr));
	memcpy(path.target, &to->sin_addr, sizeof(to->sin_addr));
	path.source_port = ntohs(from.sin_port);
	return fd;
}

/* The first call says where to, the second adds the pages, and sends. */
static bool send_frame(int fd, const struct sockaddr_in *to, int i)
{
	off_t at = i * FRAME_SIZE;

	return !sendto(fd, NULL, 0, MSG_MORE, (const struct sockaddr *)to,
		       sizeof(*to)) &&
	       sendfile(fd, file, &at, length) == length;
}

/* Does a receiver see a byte that has changed since it was sent? */
static bool shares_pages(void)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int from = socket(AF_INET, SOCK_DGRAM, 0);
	int at = socket(AF_INET, SOCK_DGRAM, 0);
	socklen_t size = sizeof(to);
	uint8_t byte = 0;

	length = 1;
	file = memfd_create("byte", 0);
	if (pwrite(file, "a", 1, 0) != 1 ||
	    bind(at, (struct sockaddr *)&to, size) ||
	    getsockname(at, (struct sockaddr *)&to, &size) ||
	    !send_frame(from, &to, 0) || pwrite(file, "b", 1, 0) != 1)
		return false;
	return recv(at, &byte, 1, 0) == 1 && byte == 'b';
}

static void send_all(const void *arg)
{
	time_t end = time(NULL) + atoi(arg);
	struct sockaddr_in to = {};
	unsigned long sent = 0;
	pthread_t thread;
	int fd, i;

	fd = open_socket(&to);
	REQUIRE(fd >= 0 && open_file());
	run_on(0);
	REQUIRE(!pthread_create(&thread, NULL, flip, NULL));
	while (time(NULL) < end)
		for (i = 0; i < FRAMES; i++)
			sent += send_frame(fd, &to, i);
	atomic_store(&over, true);
	pthread_join(thread, NULL);
	diag("%lu packets", sent);
	CHECK(sent > 1000);
}

COMMAND(flip)
{
	if (argc > 1 && !strcmp(argv[1], "shared"))
		return !shares_pages();
	run_test(send_all, argc > 1 ? argv[1] : "10",
		 "packets that change on their way are sent");
	return tests_done();
}
