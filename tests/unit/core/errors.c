// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "aeth.h"
#include "errors.h"
#include "tap.h"

TEST(errors, every_error_has_nak_and_status)
{
	u32 i;

	for (i = SROCE_NO_ERROR + 1; i < SROCE_RESP_ERRORS; i++) {
		EQUAL(sroce_aeth_class(sroce_failures[i].syndrome),
		      SROCE_AETH_NAK);
		CHECK(sroce_failures[i].syndrome != SROCE_NAK_SEQUENCE);
		CHECK(sroce_failures[i].status != SROCE_SUCCESS);
	}
}

TEST(errors, naks_match_table_61)
{
	static const u8 invalid[] = {
		SROCE_OUT_OF_PLACE, SROCE_NOT_ENABLED, SROCE_BAD_LENGTH,
		SROCE_MISALIGNED, SROCE_TOO_MANY_READS, SROCE_RECV_TOO_SMALL,
	};
	u32 i;

	for (i = 0; i < sizeof(invalid); i++)
		EQUAL(sroce_failures[invalid[i]].syndrome,
		      SROCE_NAK_INVALID_REQ);
	EQUAL(sroce_failures[SROCE_RKEY_REFUSED].syndrome,
	      SROCE_NAK_REM_ACCESS);
	EQUAL(sroce_failures[SROCE_RECV_LKEY_REFUSED].syndrome,
	      SROCE_NAK_REM_OP);
	EQUAL(sroce_failures[SROCE_BAD_RQE].syndrome, SROCE_NAK_REM_OP);
}

TEST(errors, errors_have_status_and_event)
{
	EQUAL(sroce_failures[SROCE_RECV_TOO_SMALL].status, SROCE_LOC_LEN_ERR);
	EQUAL(sroce_failures[SROCE_RECV_LKEY_REFUSED].status,
	      SROCE_LOC_PROT_ERR);
	EQUAL(sroce_failures[SROCE_BAD_RQE].status, SROCE_LOC_QP_OP_ERR);
	EQUAL(sroce_failures[SROCE_RKEY_REFUSED].event,
	      SROCE_EVENT_ACCESS_ERR);
	EQUAL(sroce_failures[SROCE_OUT_OF_PLACE].event, SROCE_EVENT_REQ_ERR);
}

/* On UC, an error of the peer drops only the message. */
TEST(errors, only_errors_of_receiver_are_local)
{
	CHECK(!sroce_failures[SROCE_OUT_OF_PLACE].local);
	CHECK(!sroce_failures[SROCE_BAD_LENGTH].local);
	CHECK(!sroce_failures[SROCE_RKEY_REFUSED].local);
	CHECK(sroce_failures[SROCE_RECV_TOO_SMALL].local);
	CHECK(sroce_failures[SROCE_RECV_LKEY_REFUSED].local);
	CHECK(sroce_failures[SROCE_BAD_RQE].local);
}
