// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Effects of errors that the responder detects (IBTA vol. 1, table 61). */
#include "aeth.h"
#include "errors.h"

#define FAILURE(reason, nak, wc, ev, loc)				\
	[SROCE_##reason] = {						\
		.syndrome = SROCE_NAK_##nak,				\
		.status = SROCE_##wc,					\
		.event = SROCE_EVENT_##ev,				\
		.local = loc,						\
	}

const struct sroce_failure sroce_failures[SROCE_RESP_ERRORS] = {
	FAILURE(OUT_OF_PLACE, INVALID_REQ, REM_INV_REQ_ERR, REQ_ERR, false),
	FAILURE(NOT_ENABLED, INVALID_REQ, REM_INV_REQ_ERR, REQ_ERR, false),
	FAILURE(BAD_LENGTH, INVALID_REQ, REM_INV_REQ_ERR, REQ_ERR, false),
	FAILURE(MISALIGNED, INVALID_REQ, REM_INV_REQ_ERR, REQ_ERR, false),
	FAILURE(TOO_MANY_READS, INVALID_REQ, REM_INV_REQ_ERR, REQ_ERR, false),
	FAILURE(RKEY_REFUSED, REM_ACCESS, REM_ACCESS_ERR, ACCESS_ERR, false),
	FAILURE(INVALIDATE_REFUSED, REM_ACCESS, REM_ACCESS_ERR, ACCESS_ERR,
		false),
	FAILURE(RECV_TOO_SMALL, INVALID_REQ, LOC_LEN_ERR, REQ_ERR, true),
	FAILURE(RECV_LKEY_REFUSED, REM_OP, LOC_PROT_ERR, FATAL, true),
	FAILURE(BAD_RQE, REM_OP, LOC_QP_OP_ERR, FATAL, true),
	FAILURE(NO_SRQ, REM_ACCESS, REM_ACCESS_ERR, ACCESS_ERR, false),
};
