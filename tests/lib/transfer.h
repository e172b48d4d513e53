/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Posting, completions, and moving data with every byte compared.
 */
#ifndef TRANSFER_H
#define TRANSFER_H

#include "qp_pair.h"

#define MAX_PIECES	32

uint64_t now_ms(void);

/* Bytes that depend on their offset and @seed. */
void fill(void *to, size_t length, uint32_t seed);
bool filled(const void *from, size_t length, uint32_t seed);

/**
 * struct want - an expected completion
 * @wr_id: as posted
 * @status: [success]
 * @opcode: compared if successful
 * @length: compared of successful receives and READs
 * @imm: host order, if @with_imm
 * @with_imm: there is immediate data
 * @src_qp: compared if not 0
 * @any_id: do not compare @wr_id
 * @seconds: to wait for it, in addition to the time for a short message
 */
struct want {
	uint64_t wr_id;
	enum ibv_wc_status status;
	enum ibv_wc_opcode opcode;
	uint32_t length;
	uint32_t imm;
	bool with_imm;
	uint32_t src_qp;
	bool any_id;
	unsigned int seconds;
};

/* The next completion, waiting for it; false if none comes. */
bool next_wc(struct ibv_cq *cq, struct ibv_wc *wc);
/* Is there no completion? */
bool quiet(struct ibv_cq *cq);
/*
 * Takes the completions of @n requests of side a: good ones, then one that has
 * failed with @bad, then flushed ones; or good ones only.
 */
bool ends_with(struct pair *pair, int n, enum ibv_wc_status bad);

#define EXPECT(cq, qp, ...)						\
	expect(cq, qp, &(const struct want) { __VA_ARGS__ }, __FILE__, __LINE__)
bool expect(struct ibv_cq *cq, const struct ibv_qp *qp,
	    const struct want *want, const char *file, int line);

/* Work requests with one piece of a side's buffer. */
struct ibv_sge piece(const struct side *side, size_t offset, uint32_t length);
int post_recv(struct side *side, uint64_t wr_id, size_t offset,
	      uint32_t length);
int post_recv_sge(struct side *side, uint64_t wr_id, struct ibv_sge *sge, int n);
int post_send(struct side *side, uint64_t wr_id, size_t offset,
	      uint32_t length, unsigned int flags);
/* To a UD QP. */
struct ibv_send_wr ud_wr(struct ibv_ah *ah, uint32_t qpn, uint64_t wr_id,
			 struct ibv_sge *sge);
/* The same, posted; from the first bytes of the buffer. */
int post_datagram(struct side *side, const struct side *peer, uint64_t wr_id,
		  uint32_t length);
/* WRITE or READ at the same or another offset of the peer's buffer. */
int post_rdma(struct side *side, const struct side *peer,
	      enum ibv_wr_opcode opcode, uint64_t wr_id, size_t offset,
	      size_t remote, uint32_t length, unsigned int flags);
int post_atomic(struct side *side, const struct side *peer, bool swap,
		uint64_t wr_id, size_t offset, size_t remote, uint64_t compare_add,
		uint64_t swap_value);
int post_one(struct side *side, struct ibv_send_wr *wr);
struct ibv_send_wr rdma_wr(const struct side *peer, enum ibv_wr_opcode opcode,
			   uint64_t wr_id, struct ibv_sge *sge, int num_sge,
			   size_t remote);
uint32_t rkey_of(const struct side *side);

/**
 * struct transfer - one operation from side to side
 * @opcode: SEND, WRITE, READ, with immediate or without
 * @length: bytes
 * @pieces: of local memory [1]
 * @recv_pieces: of the receive buffer [1]
 * @offset: where the first local piece begins
 * @remote: where the remote memory begins
 * @flags: IBV_SEND_INLINE, IBV_SEND_SOLICITED ...; it is always signalled
 */
struct transfer {
	enum ibv_wr_opcode opcode;
	uint32_t length;
	int pieces;
	int recv_pieces;
	size_t offset;
	size_t remote;
	unsigned int flags;
};

/* Executes it from a to b; checks completions, data, and the bytes around the data. */
bool transfer(struct pair *pair, const struct transfer *m);

/* Does this pair work?  Tries a few operations of each type, both ways. */
bool works(struct pair *pair);

#endif /* TRANSFER_H */
