/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_ERRORS_H
#define SROCE_ERRORS_H

#include "env.h"

/* Completion status; the values are those of enum ib_wc_status. */
enum sroce_status {
	SROCE_SUCCESS		= 0,
	SROCE_LOC_LEN_ERR	= 1,
	SROCE_LOC_QP_OP_ERR	= 2,
	SROCE_LOC_PROT_ERR	= 4,
	SROCE_WR_FLUSH_ERR	= 5,
	SROCE_MW_BIND_ERR	= 6,
	SROCE_BAD_RESP_ERR	= 7,
	SROCE_REM_INV_REQ_ERR	= 9,
	SROCE_REM_ACCESS_ERR	= 10,
	SROCE_REM_OP_ERR	= 11,
	SROCE_RETRY_EXC_ERR	= 12,
	SROCE_RNR_RETRY_EXC_ERR	= 13,
};

/*
 * Errors in a request that the responder detects.  Processes see the values as
 * vendor_err, so the values must not change.
 */
enum sroce_resp_error {
	SROCE_NO_ERROR		= 0,
	SROCE_OUT_OF_PLACE	= 1,	/* opcode does not continue the message */
	SROCE_NOT_ENABLED	= 2,	/* operation not enabled on this QP */
	SROCE_BAD_LENGTH	= 3,	/* conflicts with path MTU or RETH */
	SROCE_MISALIGNED	= 4,	/* atomic address */
	SROCE_TOO_MANY_READS	= 5,	/* more than max_dest_rd_atomic */
	SROCE_RKEY_REFUSED	= 6,	/* key, PD, access rights or bounds */
	SROCE_INVALIDATE_REFUSED = 7,
	SROCE_RECV_TOO_SMALL	= 8,	/* message exceeds the receive buffer */
	SROCE_RECV_LKEY_REFUSED	= 9,
	SROCE_BAD_RQE		= 10,	/* malformed receive WQE or index */
	SROCE_NO_SRQ		= 11,	/* XRC: no such SRQ in the domain */
	SROCE_RESP_ERRORS,
	/* Not errors of the request: */
	SROCE_PAGED_OUT,		/* memory is being paged in */
	SROCE_PACKET_TOO_SHORT,		/* packet ends before its payload */
};

/* Asynchronous event if no receive WQE completes with the error. */
enum sroce_failure_event {
	SROCE_EVENT_REQ_ERR,
	SROCE_EVENT_ACCESS_ERR,
	SROCE_EVENT_FATAL,
};

/**
 * struct sroce_failure - effects of an error (IBTA vol. 1, table 61)
 * @syndrome: AETH syndrome of the NAK (RC)
 * @status: enum sroce_status of the receive WQE, if the message has taken one
 * @event: enum sroce_failure_event, if it has not
 * @local: the error is on this host: a UC QP also goes to the error state,
 *	instead of dropping the message
 */
struct sroce_failure {
	u8 syndrome;
	u8 status;
	u8 event;
	bool local;
};

extern const struct sroce_failure sroce_failures[SROCE_RESP_ERRORS];

#endif /* SROCE_ERRORS_H */
