/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_AETH_H
#define SROCE_AETH_H

#include "env.h"

/* AETH syndrome (9.7.5.1.1): class in bits 5 and 6, value in bits 0 to 4. */
enum sroce_syndrome {
	SROCE_ACK_CREDITS_INVALID = 0x1f,
	SROCE_RNR_NAK		= 0x20,
	SROCE_NAK_SEQUENCE	= 0x60,
	SROCE_NAK_INVALID_REQ	= 0x61,
	SROCE_NAK_REM_ACCESS	= 0x62,
	SROCE_NAK_REM_OP	= 0x63,
};

enum sroce_aeth_class {
	SROCE_AETH_ACK	= 0,
	SROCE_AETH_RNR	= 1,
	SROCE_AETH_NAK	= 3,
};

static inline u8 sroce_aeth_class(u8 syndrome)
{
	return syndrome >> 5;
}

static inline u8 sroce_aeth_value(u8 syndrome)
{
	return syndrome & 0x1f;
}

/**
 * sroce_rnr_delay() - delay that an RNR NAK requests
 * @timer: 5 bit code of the RNR NAK timer field
 *
 * Return: microseconds (IBTA vol. 1, table 46).
 */
u32 sroce_rnr_delay(u8 timer);

/**
 * sroce_rnr_wait() - time to wait after an RNR NAK
 * @timer: 5 bit code of the RNR NAK timer field
 * @naks: number of RNR NAKs since the last progress, this one included
 *
 * The NAK contains the minimum (9.7.5.2.8).  The wait doubles with each further
 * NAK, up to SROCE_RNR_BACKOFF_US: retransmissions every 10 us, without end,
 * would use up a slow CPU.
 *
 * Return: microseconds.
 */
u32 sroce_rnr_wait(u8 timer, u8 naks);

/**
 * sroce_ack_timeout() - time to wait for an acknowledgment
 * @timeout: 5 bit code of the QP attribute
 *
 * Return: nanoseconds, 4.096 us * 2^timeout; 0 means no limit.
 */
u64 sroce_ack_timeout(u8 timeout);

#endif /* SROCE_AETH_H */
