/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRCS_H
#define CRCS_H

#include <string.h>
#include "env.h"
#include "tap.h"

/* CRC-32, from zero, of n bytes at head and len at p */
typedef u32 crc_function(const void *head, const void *p, size_t len, size_t n);

/* The same; also copies the len bytes at p */
typedef u32 copy_function(const void *head, const void *p, size_t len, size_t n, void *to);

static copy_function *copying;
static u8 copied[4096 + 2];

/* A function that copies, as one that does not; checks the copy and the bytes around it. */
static u32 crc_of_copy(const void *head, const void *p, size_t len, size_t n)
{
	u32 crc;

	memset(copied, 0xa5, sizeof(copied));
	crc = copying(head, p, len, n, copied + 1);
	EQUAL(memcmp(copied + 1, p, len), 0);
	EQUAL(copied[0], 0xa5);
	EQUAL(copied[len + 1], 0xa5);
	return crc;
}

/* Compares with the table, for all multiples of 16 from least on. */
static inline void compare(crc_function *crc, u32 least)
{
	static u8 data[4096 + 16], head[112 + 16];
	u32 i, len, n;

	for (i = 0; i < sizeof(data); i++)
		data[i] = i * 131 + (i >> 8) * 17 + 5;
	for (i = 0; i < sizeof(head); i++)
		head[i] = i * 59 + 7;
	for (n = 48; n <= 112; n += 16)
		for (len = least; len <= 4096; len += 16)
			for (i = 0; i < 16; i += 5)
				EQUAL(crc(head + i, data + i, len, n),
				      sroce_crc32(sroce_crc32(0, head + i, n),
						  data + i, len));
}

#endif /* CRCS_H */
