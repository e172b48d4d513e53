# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Requests that the responder counts, under the names that dashboards know. Cases that cause other counters check them."""

import constants as e
import roce
from testbed import case, expect

MTU = 1024


@case("each WRITE, READ and atomic is counted once, as a message")
def requests(b):
    rc = b.rc()
    rc.post_recv()
    # The third WRITE is the probe: its response shows that all earlier WRITEs have arrived.
    with b.counts("rx_write_requests", 3), b.counts("rx_read_requests"), b.counts("rx_atomic_requests", 3):
        b.send_next(rc, "RC_WRITE_ONLY", b"data", ack_req=False)
        b.send_next(rc, "RC_WRITE_FIRST", bytes(MTU), dma_len=3 * MTU, ack_req=False)
        b.send_next(rc, "RC_WRITE_MIDDLE", bytes(MTU), ack_req=False)
        b.send_next(rc, "RC_WRITE_LAST", bytes(MTU), ack_req=False)
        b.send_next(rc, "RC_SEND_ONLY", b"data", ack_req=False)
        b.send(rc, "RC_READ_REQUEST", dma_len=3 * MTU)
        b.advance(rc, 3)
        b.send_next(rc, "RC_FETCH_ADD", swap_add=1)
        b.send_next(rc, "RC_COMPARE_SWAP")
        b.send_next(rc, "RC_ATOMIC_WRITE", bytes(8))
        expect("answers", len(b.answers()), 6)
    b.works(rc)


@case("duplicates and refused requests are not counted")
def others(b):
    rc = b.rc()
    b.send_next(rc, "RC_FETCH_ADD", swap_add=1)
    b.send_next(rc, "RC_READ_REQUEST", dma_len=8)
    b.answers()
    with b.counts("rx_read_requests", 0), b.counts("rx_atomic_requests", 0), b.counts("duplicate_request", 2):
        b.send(rc, "RC_FETCH_ADD", swap_add=1, psn=rc.psn - 2)
        b.send(rc, "RC_READ_REQUEST", dma_len=8, psn=rc.psn - 1)
        expect("answers", len(b.answers()), 2)
    with b.counts("rx_write_requests"), b.counts("resp_remote_access_errors"):
        b.send(rc, "RC_WRITE_ONLY", b"data", rkey=rc.memory.rkey ^ 1)
        b.nak(rc, roce.NAK_ACCESS)


@case("a message longer than its receive buffer is counted as a length error")
def too_long(b):
    rc = b.rc()
    for _ in range(2):
        rc.post_recv(4)
    with b.counts("resp_local_length_error"), b.counts("tx_nak_invalid"), b.counts("resp_cqe_error", 2), \
            b.counts("resp_cqe_flush_error"):
        b.send(rc, "RC_SEND_ONLY", b"12345")
        b.nak(rc, roce.NAK_INVALID)
        expect("completions", [rc.completion().status for _ in range(2)], [e.IBV_WC_LOC_LEN_ERR, e.IBV_WC_WR_FLUSH_ERR])
