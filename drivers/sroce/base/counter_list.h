/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * hw_counters of the port, in this order: constant and name.  Counters that mlx5
 * also has use its names, because dashboards know them.  The includer defines
 * SROCE_COUNTER().
 */
SROCE_COUNTER(TX_PACKETS, tx_packets)
SROCE_COUNTER(TX_BYTES, tx_bytes)
SROCE_COUNTER(TX_BURSTS, tx_bursts)
SROCE_COUNTER(RX_PACKETS, rx_packets)
SROCE_COUNTER(RX_BYTES, rx_bytes)
SROCE_COUNTER(RX_BURSTS, rx_bursts)
SROCE_COUNTER(TX_ACKS, tx_acks)
SROCE_COUNTER(RX_ACKS, rx_acks)
SROCE_COUNTER(RX_WRITE_REQUESTS, rx_write_requests) /* messages */
SROCE_COUNTER(RX_READ_REQUESTS, rx_read_requests)
SROCE_COUNTER(RX_ATOMIC_REQUESTS, rx_atomic_requests)
SROCE_COUNTER(TX_NAK_SEQUENCE, tx_nak_sequence) /* gaps seen by the responder */
SROCE_COUNTER(TX_NAK_RNR, tx_nak_rnr)
SROCE_COUNTER(TX_NAK_INVALID, tx_nak_invalid)
SROCE_COUNTER(TX_NAK_OPERATION, tx_nak_operation)
SROCE_COUNTER(RESP_REMOTE_ACCESS_ERRORS, resp_remote_access_errors)
SROCE_COUNTER(RESP_LOCAL_LENGTH_ERROR, resp_local_length_error)
SROCE_COUNTER(DUPLICATE_REQUEST, duplicate_request)
SROCE_COUNTER(OUT_OF_SEQUENCE, out_of_sequence) /* all packets behind a gap */
/* of these, packets that were kept; and gaps that were filled */
SROCE_COUNTER(RX_HELD, rx_held)
SROCE_COUNTER(RX_GAPS_FILLED, rx_gaps_filled)
SROCE_COUNTER(OUT_OF_BUFFER, out_of_buffer) /* no receive WQE */
/* NAKs that caused a retransmission */
SROCE_COUNTER(PACKET_SEQ_ERR, packet_seq_err)
/* gaps in responses that caused a retransmission */
SROCE_COUNTER(IMPLIED_NAK_SEQ_ERR, implied_nak_seq_err)
SROCE_COUNTER(RNR_NAK_RETRY_ERR, rnr_nak_retry_err)
SROCE_COUNTER(LOCAL_ACK_TIMEOUT_ERR, local_ack_timeout_err)
SROCE_COUNTER(REQ_TRANSPORT_RETRIES_EXCEEDED, req_transport_retries_exceeded)
SROCE_COUNTER(REQ_RNR_RETRIES_EXCEEDED, req_rnr_retries_exceeded)
SROCE_COUNTER(REQ_REMOTE_INVALID_REQUEST, req_remote_invalid_request)
SROCE_COUNTER(REQ_REMOTE_ACCESS_ERRORS, req_remote_access_errors)
SROCE_COUNTER(REQ_REMOTE_OPERATION_ERRORS, req_remote_operation_errors)
SROCE_COUNTER(REQ_CQE_ERROR, req_cqe_error) /* completions with an error */
/* of these, flushed requests */
SROCE_COUNTER(REQ_CQE_FLUSH_ERROR, req_cqe_flush_error)
SROCE_COUNTER(RESP_CQE_ERROR, resp_cqe_error)
SROCE_COUNTER(RESP_CQE_FLUSH_ERROR, resp_cqe_flush_error)
/* retransmissions of a requester */
SROCE_COUNTER(TX_RETRANSMITS, tx_retransmits)
/* of these, retransmissions of missing packets only */
SROCE_COUNTER(TX_REPAIRS, tx_repairs)
SROCE_COUNTER(TX_PROBES, tx_probes) /* probes for a lost tail */
/* dropped by this host's transmit queue */
SROCE_COUNTER(TX_LOCAL_DROPS, tx_local_drops)
SROCE_COUNTER(RX_ICRC_ENCAPSULATED, rx_icrc_encapsulated)
SROCE_COUNTER(RX_MALFORMED, rx_malformed)
SROCE_COUNTER(RX_BAD_QPN, rx_bad_qpn)
SROCE_COUNTER(RX_BAD_ADDRESS, rx_bad_address)
SROCE_COUNTER(RX_BAD_PKEY, rx_bad_pkey)
SROCE_COUNTER(RX_BAD_QKEY, rx_bad_qkey)
SROCE_COUNTER(RX_BAD_TRANSPORT, rx_bad_transport)
SROCE_COUNTER(RX_BAD_STATE, rx_bad_state)
/* deferred or dropped to page in memory */
SROCE_COUNTER(RX_PAGED_OUT, rx_paged_out)
/* requests and READ responses of connections, with CE in the IP header */
SROCE_COUNTER(NP_ECN_MARKED_ROCE_PACKETS, np_ecn_marked_roce_packets)
SROCE_COUNTER(NP_CNP_SENT, np_cnp_sent)
/* CNPs that name a connected or UD QP */
SROCE_COUNTER(RP_CNP_HANDLED, rp_cnp_handled)
/* responses and requests without effect */
SROCE_COUNTER(RX_IGNORED, rx_ignored)
SROCE_COUNTER(CQ_OVERFLOWS, cq_overflows)
SROCE_COUNTER(BAD_WQES, bad_wqes)
SROCE_COUNTER(KICKS, kicks)
