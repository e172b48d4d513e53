// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Tests of drivers/sroce/net/rx_headers.h with a special reader: the memory of the
 * packet changes while it is read.
 */
#include "packet.h"
#include "tap.h"

#define __uninitialized
#define max_t(type, a, b)	max((type)(a), (type)(b))

static inline void barrier_data(void *p)
{
	__asm__ __volatile__("" : : "r"(p) : "memory");
}

/*
 * Each read of a byte reads one of two packets: bit n of @turns selects the packet of
 * the nth read.
 */
#define SROCE_SKB_READER_H
struct sroce_reader {
	const u8 *packets[2];
	u8 *touched;
	u32 turns;
	u32 at;
	u32 len;
};

static bool sroce_reader_copy(struct sroce_reader *r, void *to, u32 len)
{
	const u8 *now = r->packets[r->turns & 1];
	u32 i;

	if (len > r->len - r->at)
		return false;
	if (len)
		r->turns >>= 1;
	for (i = 0; i < len; i++) {
		r->touched[r->at + i]++;
		((u8 *)to)[i] = now[r->at + i];
	}
	r->at += len;
	return true;
}

#include "../../../drivers/sroce/net/rx_headers.h"

#define LENGTH	76

static void try(const u8 *a, const u8 *b, u32 turns, u32 len)
{
	u8 touched[LENGTH] = {};
	struct sroce_reader r = {
		.packets = { a, b },
		.touched = touched,
		.turns = turns,
		.len = len,
	};
	struct sroce_pkt pkt = {};
	u32 i;

	if (sroce_headers_read(&r, &pkt, len)) {
		CHECK(pkt.opcode == a[0] || pkt.opcode == b[0]);
		CHECK(pkt.op == &sroce_opcodes[pkt.opcode]);
		/* The payload begins at the end of the headers, and is complete. */
		EQUAL(r.at, pkt.op->length);
		EQUAL(r.at + pkt.payload + pkt.pad + SROCE_ICRC_BYTES, len);
		CHECK(sroce_reader_copy(&r, (u8 [LENGTH]) {}, pkt.payload));
	}
	for (i = 0; i < sizeof(touched); i++)
		CHECK(touched[i] <= 1);
}

TEST(headers, no_byte_is_read_twice)
{
	u8 a[LENGTH] = {}, b[LENGTH] = {};
	u32 i, j, turns;

	for (i = 0; i < 256; i++) {
		for (j = 0; j < 256; j++) {
			a[0] = i;
			b[0] = j;
			for (turns = 0; turns < 4; turns++) {
				try(a, b, turns, LENGTH);
				try(a, b, turns, LENGTH - 48);
			}
		}
	}
}

/* Fragments of an skb may begin and end anywhere. */
TEST(headers, what_is_cut_off_is_malformed)
{
	u8 packet[LENGTH] = {}, touched[LENGTH] = {};
	u32 i, len;

	for (i = 0; i < 256; i++) {
		packet[0] = i;
		for (len = 0; len < LENGTH; len++) {
			struct sroce_reader r = {
				.packets = { packet, packet },
				.touched = touched,
				.len = len,
			};
			struct sroce_pkt pkt = {};

			if (sroce_headers_read(&r, &pkt, LENGTH))
				CHECK(len >= sroce_opcodes[i].length);
		}
	}
}

TEST(headers, of_a_middle_packet)
{
	u8 packet[LENGTH], touched[LENGTH] = {}, bth[SROCE_BTH_BYTES + SROCE_XRCETH_BYTES];
	u32 n, len;

	for (len = 0; len < LENGTH; len++)
		packet[len] = len;
	for (n = SROCE_BTH_BYTES; n <= sizeof(bth); n += SROCE_XRCETH_BYTES) {
		for (len = 0; len < LENGTH; len++) {
			struct sroce_reader r = {
				.packets = { packet, packet },
				.touched = touched,
				.len = len,
			};

			EQUAL(sroce_headers_copy(&r, bth, n), len >= n);
			if (len < n)
				continue;
			EQUAL(r.at, n);
			CHECK(!memcmp(bth, packet, n));
		}
	}
}
