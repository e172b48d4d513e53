/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_RX_HEADERS_H
#define SROCE_RX_HEADERS_H

#include "../core/packet.h"
#include "../mem/skb_reader.h"

/**
 * sroce_headers_read() - the headers, of which the opcode says how many there are
 * @reader: at the BTH; moved behind the headers
 * @pkt: what they say
 * @len: of the packet, from the BTH to the end of the ICRC
 *
 * A process of this host may still be writing to the pages of a packet that it
 * sends: to the ring of a packet socket, to a file that it has spliced into a
 * socket.  So each byte is read once, and only the copy is judged.  A second
 * look at the opcode could find one with fewer headers, and then the payload
 * would be taken from the wrong place.
 *
 * Return: false if they are malformed.
 */
static inline bool sroce_headers_read(struct sroce_reader *reader,
				      struct sroce_pkt *pkt, u32 len)
{
	u8 buffer[SROCE_MAX_HEADER];
	u32 n = SROCE_BTH_BYTES;

	if (len < n || !sroce_reader_copy(reader, buffer, n))
		return false;
	/* The compiler may not go back to where the copy is from. */
	barrier_data(buffer);
	n = max_t(u32, sroce_opcodes[buffer[0]].length, n);
	if (len < n || !sroce_reader_copy(reader, buffer + SROCE_BTH_BYTES,
					  n - SROCE_BTH_BYTES))
		return false;
	barrier_data(buffer);
	return sroce_parse(pkt, buffer, n, len) == SROCE_WELL_FORMED;
}

/**
 * sroce_headers_copy() - copy the headers of a middle packet, to be judged alone
 * @reader: at the BTH; moved behind the headers
 * @to: room for a BTH and an XRCETH
 * @n: SROCE_BTH_BYTES, or SROCE_XRCETH_BYTES more
 *
 * Return: false if there is less in the packet.
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
