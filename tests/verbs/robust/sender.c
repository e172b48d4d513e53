// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/udp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sender.h"
#include "tap.h"

#define OLD	256

struct sender sender;
static struct frame frames[BATCH];
static struct frame old[OLD];
static int packet_socket = -1, udp_socket = -1;

/* Sockets */

static int netns(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int err = fd < 0 ? -1 : setns(fd, CLONE_NEWNET);

	close(fd);
	return err;
}

static bool open_packets(void)
{
	struct sockaddr_ll to = {
		.sll_family = AF_PACKET,
		.sll_ifindex = if_nametoindex("eth0"),
	};
	int size = 8 << 20;

	packet_socket = socket(AF_PACKET, SOCK_RAW, 0);
	setsockopt(packet_socket, SOL_SOCKET, SO_SNDBUFFORCE, &size,
		   sizeof(size));
	return packet_socket >= 0 && to.sll_ifindex &&
	       !bind(packet_socket, (struct sockaddr *)&to, sizeof(to));
}

static socklen_t address(struct sockaddr_storage *to, const uint8_t *bytes,
			 uint16_t port)
{
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)to;
	struct sockaddr_in *v4 = (struct sockaddr_in *)to;

	memset(to, 0, sizeof(*to));
	if (sender.path.ipv6) {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons(port);
		memcpy(&v6->sin6_addr, bytes, 16);
		return sizeof(*v6);
	}
	v4->sin_family = AF_INET;
	v4->sin_port = htons(port);
	memcpy(&v4->sin_addr, bytes, 4);
	return sizeof(*v4);
}

static bool open_udp(void)
{
	int discover = IP_PMTUDISC_DO, size = 8 << 20;
	struct sockaddr_storage from;
	socklen_t n = address(&from, sender.path.source, BURST_PORT);

	udp_socket = socket(from.ss_family, SOCK_DGRAM, 0);
	setsockopt(udp_socket, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
	/* Then the identification is 0, and the ICRC can be known. */
	if (!sender.path.ipv6)
		setsockopt(udp_socket, IPPROTO_IP, IP_MTU_DISCOVER, &discover,
			   sizeof(discover));
	return udp_socket >= 0 &&
	       !bind(udp_socket, (struct sockaddr *)&from, n);
}

static bool parse_mac(const char *text, uint8_t *mac)
{
	return text && sscanf(text, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", mac,
			      mac + 1, mac + 2, mac + 3, mac + 4, mac + 5) == 6;
}

static bool parse_address(const char *text, uint8_t *to)
{
	if (!text)
		return false;
	sender.path.ipv6 = strchr(text, ':');
	return inet_pton(sender.path.ipv6 ? AF_INET6 : AF_INET, text, to) == 1;
}

bool sender_open(void)
{
	const char *name = getenv("NETNS");
	char path[100];
	bool good;

	if (!parse_mac(getenv("MAC1"), sender.path.source_mac) ||
	    !parse_mac(getenv("MAC2"), sender.path.target_mac) ||
	    !parse_address(getenv("ATTACKER"), sender.path.source) ||
	    !parse_address(getenv("TARGET"), sender.path.target))
		return false;
	snprintf(path, sizeof(path), "/run/netns/%s", name ? name : "h1");
	if (netns(path))
		return false;
	good = open_packets() && open_udp();
	return !netns("/proc/1/ns/net") && good;
}

/* Frames */

struct frame *sender_frame(void)
{
	return sender.used < BATCH ? &frames[sender.used++] : NULL;
}

const struct frame *sender_old(struct chance *c)
{
	return &old[draw_below(c, OLD)];
}

void sender_shuffle(struct chance *c)
{
	struct frame *last = &frames[sender.used - 1];
	struct frame *other = &frames[draw_below(c, sender.used)];
	struct frame keep = *last;

	*last = *other;
	*other = keep;
}

static void move_to_end(unsigned int place)
{
	struct frame keep = frames[place];

	memmove(&frames[place], &frames[place + 1], (sender.used - place - 1) * sizeof(keep));
	frames[sender.used - 1] = keep;
}

void sender_delay(struct chance *c)
{
	move_to_end(draw_below(c, sender.used));
}

void sender_delay_first(void)
{
	move_to_end(0);
}

void sender_forget_first(void)
{
	move_to_end(0);
	sender.used--;
}

static void remember(void)
{
	unsigned int i;

	for (i = 0; i < sender.used; i += 7)
		old[(sender.sent + i) % OLD] = frames[i];
}

void sender_flush(void)
{
	struct iovec iov[BATCH];
	struct mmsghdr msgs[BATCH];
	unsigned int i, done = 0;
	int n;

	memset(msgs, 0, sizeof(msgs));
	for (i = 0; i < sender.used; i++) {
		iov[i] = (struct iovec) { frames[i].bytes, frames[i].length };
		msgs[i].msg_hdr.msg_iov = &iov[i];
		msgs[i].msg_hdr.msg_iovlen = 1;
	}
	while (done < sender.used) {
		n = sendmmsg(packet_socket, msgs + done, sender.used - done, 0);
		if (n <= 0) {
			sender.refused++;
			n = 1;
		} else {
			sender.sent += n;
		}
		done += n;
	}
	remember();
	sender.used = 0;
}

/* Fragments */

/* The data behind the IP header, and the IP header of a fragment of it. */
static void fragment_ipv4(struct frame *to, const struct frame *whole,
			  uint32_t from, uint32_t n, bool more)
{
	uint8_t *ip = to->bytes + ETHERNET_BYTES;

	memcpy(to->bytes, whole->bytes, ETHERNET_BYTES + 20);
	memcpy(ip + 20, whole->bytes + ETHERNET_BYTES + 20 + from, n);
	put16(ip + 2, 20 + n);
	put16(ip + 6, from / 8 | (more ? 0x2000 : 0));
	to->length = ETHERNET_BYTES + 20 + n;
	frame_checksum(to);
}

static void fragment_ipv6(struct frame *to, const struct frame *whole,
			  uint32_t from, uint32_t n, bool more)
{
	uint8_t *ip = to->bytes + ETHERNET_BYTES;

	memcpy(to->bytes, whole->bytes, ETHERNET_BYTES + 40);
	put16(ip + 4, 8 + n);
	ip[6] = 44;
	ip[40] = 17;
	ip[41] = 0;
	put16(ip + 42, from | more);
	put32(ip + 44, sender.sent);
	memcpy(ip + 48, whole->bytes + ETHERNET_BYTES + 40 + from, n);
	to->length = ETHERNET_BYTES + 48 + n;
}

void sender_fragment(struct chance *c)
{
	uint32_t header = ETHERNET_BYTES + ip_bytes(&sender.path);
	struct frame whole = frames[--sender.used];
	uint32_t n = whole.length - header, from, size;
	struct frame *frame;

	/* A fragment cannot be fragmented again. */
	if (whole.length < header + 24 || whole.length > FRAME_ROOM - 8) {
		sender.used++;
		return;
	}
	for (from = 0; from < n; from += size) {
		size = 8 * (1 + draw_below(c, n / 8 + 1));
		if (size > n - from)
			size = n - from;
		frame = one_in(c, 20) ? NULL : sender_frame();
		if (!frame)
			continue;
		(sender.path.ipv6 ? fragment_ipv6 : fragment_ipv4)
			(frame, &whole, from, size, from + size < n);
		if (one_in(c, 8))
			sender_shuffle(c);
		/* Some overlap. */
		if (one_in(c, 10) && size > 8)
			size -= 8;
	}
}

/* Bursts */

static void trailer(const struct path *path, uint8_t *body, uint32_t size)
{
	static struct frame frame;
	uint32_t n = size - ICRC_BYTES;

	frame_seal(&frame, path, body, n);
	memcpy(body + n, frame.bytes + frame.length - ICRC_BYTES, ICRC_BYTES);
}

static bool send_burst(uint8_t *bodies, uint16_t size, uint32_t length)
{
	char control[CMSG_SPACE(sizeof(uint16_t))] = {};
	struct iovec iov = { bodies, length };
	struct sockaddr_storage to;
	struct msghdr msg = {
		.msg_name = &to,
		.msg_namelen = address(&to, sender.path.target, 4791),
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	cmsg->cmsg_level = SOL_UDP;
	cmsg->cmsg_type = UDP_SEGMENT;
	cmsg->cmsg_len = CMSG_LEN(sizeof(size));
	memcpy(CMSG_DATA(cmsg), &size, sizeof(size));
	return sendmsg(udp_socket, &msg, 0) == (ssize_t)length;
}

bool sender_burst(uint8_t *bodies, uint32_t size, uint32_t length)
{
	struct path path = sender.path;
	uint32_t at, n;

	path.source_port = BURST_PORT;
	path.id = 0;
	for (at = 0; at < length; at += n, path.id++) {
		n = length - at < size ? length - at : size;
		if (n > BTH_BYTES + ICRC_BYTES)
			trailer(&path, bodies + at, n);
	}
	if (!send_burst(bodies, size, length)) {
		sender.refused++;
		return false;
	}
	sender.sent += path.id;
	return true;
}
