/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_RX_HEADERS_H
#define SROCE_RX_HEADERS_H

#include "../core/packet.h"
#include "../mem/skb_reader.h"

/**
 * sroce_headers_read() - read and parse the headers of a packet
 * @reader: at the BTH; moved past the headers
 * @pkt: parsed headers
 * @len: length from the BTH to the end of the ICRC
 *
 * A local process may still be writing to the pages of a packet that it sends:
 * to a file that it has spliced into a socket.  Each byte is therefore read
 * once, and only the copy is checked.  A second read of the opcode could find one
 * with fewer headers, and the payload would be taken from the wrong place.
 *
 * Return: false if the headers are malformed.
 */
static inline bool sroce_headers_read(struct sroce_reader *reader,
				      struct sroce_pkt *pkt, u32 len)
{
	u8 buffer[SROCE_MAX_HEADER] __uninitialized;
	u32 n = SROCE_BTH_BYTES;

	if (len < n || !sroce_reader_copy(reader, buffer, n))
		return false;
	/* Keep the compiler from reading the packet again. */
	barrier_data(buffer);
	n = max_t(u32, sroce_opcodes[buffer[0]].length, n);
	if (len < n || !sroce_reader_copy(reader, buffer + SROCE_BTH_BYTES,
					  n - SROCE_BTH_BYTES))
		return false;
	barrier_data(buffer);
	return sroce_parse(pkt, buffer, n, len) == SROCE_WELL_FORMED;
}

/**
 * sroce_headers_copy() - copy the headers of a middle packet without parsing
 * @reader: at the BTH; moved past the headers
 * @to: room for a BTH and an XRCETH
 * @n: bytes: SROCE_BTH_BYTES, or SROCE_XRCETH_BYTES more
 *
 * Return: false if the packet is shorter.
 */
static inline bool sroce_headers_copy(struct sroce_reader *reader, u8 *to, u32 n)
{
	if (!sroce_reader_copy(reader, to, SROCE_BTH_BYTES))
		return false;
	if (n > SROCE_BTH_BYTES &&
	    !sroce_reader_copy(reader, to + SROCE_BTH_BYTES,
			       SROCE_XRCETH_BYTES))
		return false;
	barrier_data(to);
	return true;
}

#endif /* SROCE_RX_HEADERS_H */
