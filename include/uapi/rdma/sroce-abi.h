/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * The contract between the sroce kernel module and its libibverbs provider.
 *
 * Memory
 *	All queues live in memory that the kernel allocates and the process
 *	maps (MAP_SHARED, at the offsets that the create responses name):
 *	one mapping for the send and receive ring of a QP, one for a shared
 *	receive queue, one for a completion ring, and doorbell pages of 32
 *	slots, one slot per QP, SRQ or CQ of the context.
 *
 * Trust
 *	The kernel believes nothing in that memory.  It keeps its own indices,
 *	reads each user-written word once, copies a request into private
 *	memory and validates only the copy.  A bad tail or a bad entry moves
 *	that QP to the error state; nobody else is affected.  What the kernel
 *	writes there, it never reads back, but for the bytes that resizing a
 *	CQ copies and does not look at.
 *
 * Indices
 *	Free-running 32 bit counts of entries; an entry's place is the count
 *	masked with the ring size, which is a power of two.
 *
 * Byte order
 *	Host order throughout, but for fields of type __be32.
 *
 * Zero
 *	Reserved fields and unknown flags must be zero, and are refused
 *	otherwise, so that they can get a meaning later.
 *
 * Order
 *	include/sroce_ring.h has the operations on these words and the proof
 *	of their barriers.
 */
#ifndef SROCE_ABI_H
#define SROCE_ABI_H

#include <linux/types.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>

/* Reported in sysfs (abi_version) and checked by the provider. */
#define SROCE_ABI_VERSION	23

/* "sroc": far away from the numbers of drivers in the kernel's tree. */
#define SROCE_DRIVER_ID		0x73726f63

#define SROCE_MAX_SGE		32
#define SROCE_MAX_INLINE	976
/* Rate limit of a QP, if it has one: least and most, kilobits per second. */
#define SROCE_MIN_RATE		1000
#define SROCE_MAX_RATE		0xffffffffU
#define SROCE_SLOT_SIZE		128
#define SROCE_SLOTS_PER_PAGE	32
#define SROCE_CQE_SIZE		64
#define SROCE_SQE_HEADER	48
#define SROCE_RQE_HEADER	16

/* Operation of a send queue entry: the numbers of enum ibv_wr_opcode. */
enum sroce_wr_opcode {
	SROCE_WR_RDMA_WRITE		= 0,
	SROCE_WR_RDMA_WRITE_WITH_IMM	= 1,
	SROCE_WR_SEND			= 2,
	SROCE_WR_SEND_WITH_IMM		= 3,
	SROCE_WR_RDMA_READ		= 4,
	SROCE_WR_ATOMIC_CMP_AND_SWP	= 5,
	SROCE_WR_ATOMIC_FETCH_AND_ADD	= 6,
	SROCE_WR_LOCAL_INV		= 7,
	SROCE_WR_BIND_MW		= 8,
	SROCE_WR_SEND_WITH_INV		= 9,
	SROCE_WR_FLUSH			= 14,
	SROCE_WR_ATOMIC_WRITE		= 15,
};

/* What a FLUSH asks for: the numbers of enum ibv_placement_type, a mask, */
enum sroce_wr_flush_type {
	SROCE_WR_FLUSH_GLOBAL		= 1 << 0,
	SROCE_WR_FLUSH_PERSISTENT	= 1 << 1,
};

/* and of enum ibv_selectivity_level. */
enum sroce_wr_flush_level {
	SROCE_WR_FLUSH_RANGE		= 0,
	SROCE_WR_FLUSH_REGION		= 1,
};

/* Flags of a send queue entry: the numbers of enum ibv_send_flags. */
enum sroce_wr_flags {
	SROCE_WR_FENCE		= 1 << 0,
	SROCE_WR_SIGNALED	= 1 << 1,
	SROCE_WR_SOLICITED	= 1 << 2,
	SROCE_WR_INLINE		= 1 << 3,
};

#define SROCE_WR_ALL_FLAGS (SROCE_WR_FENCE | SROCE_WR_SIGNALED | \
			    SROCE_WR_SOLICITED | SROCE_WR_INLINE)

/* struct sroce_sge - one piece of local memory, as struct ibv_sge */
struct sroce_sge {
	__aligned_u64	addr;
	__u32		length;
	__u32		lkey;
};

/**
 * struct sroce_sqe - head of a send queue entry
 * @wr_id: returned in the completion
 * @opcode: enum sroce_wr_opcode
 * @flags: enum sroce_wr_flags
 * @num_sge: entries of the list that follows, or, with SROCE_WR_INLINE, bytes
 *	of payload that follow
 * @imm_data: immediate data, network order
 * @invalidate_rkey: in its place, of SROCE_WR_SEND_WITH_INV and
 *	SROCE_WR_LOCAL_INV: the key to invalidate
 * @rdma: WRITE, atomic WRITE and READ; of XRC also SEND.  @srqn names the peer's
 *	SRQ: zero but for XRC
 * @atomic: compare-and-swap, fetch-and-add (the addend is in @compare_add)
 * @flush: FLUSH: @length bytes there, or, with SROCE_WR_FLUSH_REGION, all that
 *	the key is for; @type is of enum sroce_wr_flush_type
 * @bind: of a memory window: the memory as its region's @lkey names it; the key
 *	that the window is to have, in @rkey, differs from its present one in the
 *	lowest byte; @access is of the numbers of enum ibv_access_flags.  Length 0
 *	unbinds a window of type 1
 * @ud: datagrams; @ah is the number that create_ah returned
 *
 * A ring's stride is a power of two from 64 to 1024 bytes; what follows the
 * head is the SGE list or the inline data: of an atomic WRITE 8 bytes, of FLUSH
 * nothing.
 */
struct sroce_sqe {
	__aligned_u64	wr_id;
	__u8		opcode;
	__u8		flags;
	__u16		num_sge;
	union {
		__be32	imm_data;
		__u32	invalidate_rkey;
	};
	union {
		struct {
			__aligned_u64	remote_addr;
			__u32		rkey;
			__u32		srqn;
			__u32		reserved[4];
		} rdma;
		struct {
			__aligned_u64	remote_addr;
			__u32		rkey;
			__u32		srqn;
			__aligned_u64	compare_add;
			__aligned_u64	swap;
		} atomic;
		struct {
			__aligned_u64	remote_addr;
			__u32		rkey;
			__u32		srqn;
			__u32		length;
			__u8		type;
			__u8		level;
			__u16		reserved;
			__aligned_u64	reserved2;
		} flush;
		struct {
			__aligned_u64	addr;
			__aligned_u64	length;
			__u32		lkey;
			__u32		rkey;
			__u32		access;
			__u32		reserved;
		} bind;
		struct {
			__u32		ah;
			__u32		remote_qpn;
			__u32		remote_qkey;
			__u32		reserved[5];
		} ud;
	};
};

/**
 * struct sroce_rqe - head of a receive queue entry, of a QP or an SRQ
 * @wr_id: returned in the completion
 * @num_sge: entries of the list that follows
 * @reserved: zero
 *
 * A ring's stride is a power of two from 32 to 1024 bytes.
 */
struct sroce_rqe {
	__aligned_u64	wr_id;
	__u32		num_sge;
	__u32		reserved;
};

/* Flags of a completion. */
enum sroce_cqe_flags {
	SROCE_CQE_GRH		= 1 << 0,
	SROCE_CQE_WITH_IMM	= 1 << 1,
	SROCE_CQE_WITH_INV	= 1 << 3,
	SROCE_CQE_IPV4		= 1 << 4,
	SROCE_CQE_IPV6		= 1 << 5,
	SROCE_CQE_SOLICITED	= 1 << 6,
	SROCE_CQE_WITH_VLAN	= 1 << 7,
};

/**
 * struct sroce_cqe - a completion
 * @wr_id: of the request
 * @timestamp: when it was written, nanoseconds of CLOCK_MONOTONIC_RAW
 * @byte_len: bytes received or read
 * @imm_data: network order
 * @invalidated_rkey: in its place, with SROCE_CQE_WITH_INV: the key
 * @qp_num: the QP it belongs to
 * @src_qp: sender of a datagram
 * @status: the numbers of enum ibv_wc_status
 * @opcode: the numbers of enum ibv_wc_opcode, one byte
 * @flags: enum sroce_cqe_flags
 * @vendor_err: enum sroce_resp_error of a receive that failed (connected QPs; 0
 *	otherwise), see drivers/sroce/core/errors.h
 * @pkey_index: of a datagram on the GSI QP
 * @sl: of a datagram: 1 with an IPv6 GRH, 2 with IPv4, as hardware tells it
 * @reserved: zero
 * @vlan_id: with SROCE_CQE_WITH_VLAN, which only the GSI QP has
 * @reserved3: zero
 * @cookie: zero in a ring that a process maps; the kernel's own rings hold
 *	the QP here
 * @reserved2: zero
 * @phase: written last, with release order.  Bit 0 is the phase: it is 1
 *	during the first pass over the ring, 0 during the second, and so on.
 */
struct sroce_cqe {
	__aligned_u64	wr_id;
	__aligned_u64	timestamp;
	__u32		byte_len;
	union {
		__be32	imm_data;
		__u32	invalidated_rkey;
	};
	__u32		qp_num;
	__u32		src_qp;
	__u8		status;
	__u8		opcode;
	__u16		flags;
	__u32		vendor_err;
	__u16		pkey_index;
	__u8		sl;
	__u8		reserved;
	__u16		vlan_id;
	__u8		reserved3[2];
	__aligned_u64	cookie;
	__u32		reserved2;
	__u32		phase;
};

/* Which new entries need SROCE_IOC_KICK. */
enum sroce_kick {
	SROCE_KICK_SEND		= 1 << 0,
	SROCE_KICK_RECV		= 1 << 1,
	/* Send entries, too, but only once sq_tail has come to kick_at. */
	SROCE_KICK_LATER	= 1 << 2,
};

/**
 * struct sroce_qp_slot - doorbell slot of a QP, or of an SRQ (receive half)
 * @sq_tail: user: send entries written so far
 * @rq_tail: user: receive entries written so far
 * @reserved: zero
 * @sq_head: kernel: send entries finished; their places are free again
 * @rq_head: kernel: receive entries taken out of the ring
 * @kick: kernel: enum sroce_kick
 * @kick_at: kernel: see SROCE_KICK_LATER
 * @reserved2: zero
 */
struct sroce_qp_slot {
	__u32	sq_tail;
	__u32	rq_tail;
	__u32	reserved[14];
	__u32	sq_head;
	__u32	rq_head;
	__u32	kick;
	__u32	kick_at;
	__u32	reserved2[12];
};

/**
 * struct sroce_cq_slot - doorbell slot of a CQ
 * @head: user: completions taken so far
 * @arm: user: bit 0 asks for solicited completions only, the bits above are a
 *	count; a new value asks for one event.  Of completions that were there
 *	before, and come after @told, the user reminds the kernel by
 *	IB_USER_VERBS_CMD_REQ_NOTIFY_CQ
 * @reserved: zero
 * @told: kernel: completions written when it raised the last event
 * @served: kernel: @arm as that event has served it
 * @reserved2: zero
 */
struct sroce_cq_slot {
	__u32	head;
	__u32	arm;
	__u32	reserved[14];
	__u32	told;
	__u32	served;
	__u32	reserved2[14];
};

#define SROCE_ARM_SOLICITED	1u
#define SROCE_ARM_STEP		2u

/* Create commands: request and response that follow the ones of uverbs. */

/**
 * struct sroce_alloc_ucontext_req - opens a context
 * @abi_version: SROCE_ABI_VERSION of the provider; another one is refused
 * @flags: zero
 */
struct sroce_alloc_ucontext_req {
	__u32	abi_version;
	__u32	flags;
};

/**
 * struct sroce_alloc_ucontext_resp - what the context offers
 * @abi_version: SROCE_ABI_VERSION of the module
 * @flags: zero
 * @max_inline: largest inline payload of a send entry, bytes
 * @max_sge: longest SGE list of an entry
 */
struct sroce_alloc_ucontext_resp {
	__u32	abi_version;
	__u32	flags;
	__u32	max_inline;
	__u32	max_sge;
};

/* struct sroce_create_req - of a QP, CQ or SRQ; @flags and @reserved zero */
struct sroce_create_req {
	__u32	flags;
	__u32	reserved;
};

/**
 * struct sroce_map - where a queue's memory is
 * @ring_offset: mmap offset of the ring
 * @ring_size: its length in bytes, whole pages
 * @slot: number of the doorbell slot in the context; its page is
 *	@slot / SROCE_SLOTS_PER_PAGE
 * @page_offset: mmap offset of that doorbell page; the same for all queues
 *	of the page
 */
struct sroce_map {
	__aligned_u64	ring_offset;
	__u32		ring_size;
	__u32		slot;
	__aligned_u64	page_offset;
};

/**
 * struct sroce_create_qp_resp - the QP's rings, both in one mapping
 * @map: where; a QP without a slot of its own does not exist
 * @sq_stride: bytes of a send entry; the send ring is at offset 0
 * @sq_entries: a power of two, or 0
 * @rq_offset: of the receive ring in the mapping, bytes
 * @rq_stride: bytes of a receive entry
 * @rq_entries: a power of two, or 0 (with an SRQ)
 * @reserved: zero
 */
struct sroce_create_qp_resp {
	struct sroce_map map;
	__u32	sq_stride;
	__u32	sq_entries;
	__u32	rq_offset;
	__u32	rq_stride;
	__u32	rq_entries;
	__u32	reserved;
};

/**
 * struct sroce_create_cq_resp - the completion ring; also when it is resized:
 *	then it begins at index 0 with what was not taken of the old one
 * @map: where
 * @entries: a power of two, of SROCE_CQE_SIZE bytes each
 * @reserved: zero
 */
struct sroce_create_cq_resp {
	struct sroce_map map;
	__u32	entries;
	__u32	reserved;
};

/**
 * struct sroce_create_srq_resp - a shared receive queue's ring
 * @map: where
 * @entries: a power of two
 * @stride: bytes of an entry
 * @srq_num: its number; 0 but for XRC
 * @reserved: zero
 */
struct sroce_create_srq_resp {
	struct sroce_map map;
	__u32	entries;
	__u32	stride;
	__u32	srq_num;
	__u32	reserved;
};

/**
 * struct sroce_modify_srq_req - needed to change a shared receive queue's size
 * @resp: address of a struct sroce_modify_srq_resp to fill in: the command has
 *	no response of its own
 *
 * Entries that wait are moved to the new ring, and indices go on.  From the
 * command's begin to its end the process may not post.
 */
struct sroce_modify_srq_req {
	__aligned_u64	resp;
};

/**
 * struct sroce_modify_srq_resp - the ring from now on
 * @map: where; the doorbell slot stays
 * @entries: a power of two
 * @reserved: zero
 *
 * Valid only if the command succeeds.
 */
struct sroce_modify_srq_resp {
	struct sroce_map map;
	__u32	entries;
	__u32	reserved;
};

/* Flags of a memory region. */
enum sroce_reg_mr_flags {
	SROCE_REG_MR_NULL	= 1 << 0,
};

/**
 * struct sroce_reg_mr_req - of a memory region, if there are flags
 * @flags: enum sroce_reg_mr_flags.  With SROCE_REG_MR_NULL no memory is
 *	registered: whatever is read is 0, what is written vanishes, all
 *	addresses are good.  Address and length are 0, IB_ACCESS_LOCAL_WRITE is
 *	the access
 * @reserved: zero
 */
struct sroce_reg_mr_req {
	__u32	flags;
	__u32	reserved;
};

/* struct sroce_create_ah_resp - @ah is the number for struct sroce_sqe */
struct sroce_create_ah_resp {
	__u32	ah;
	__u32	reserved;
};

/*
 * The kick file: a uverbs object of type file descriptor, one for each that has
 * opened or imported the context.
 */
enum sroce_kick_object {
	SROCE_OBJECT_KICK = (1U << UVERBS_ID_NS_SHIFT),
};

enum sroce_kick_methods {
	SROCE_METHOD_KICK_ALLOC = (1U << UVERBS_ID_NS_SHIFT),
};

enum sroce_kick_alloc_attrs {
	SROCE_ATTR_KICK_FD = (1U << UVERBS_ID_NS_SHIFT),
};

/*
 * ioctl() of the kick file: the argument is the slot number of a QP.  Returns
 * 0; ENOENT if no QP has that slot, EIO when the device is gone, ENOTTY for
 * any other command.  Kicking a QP that has nothing to do is harmless.
 *
 * The number says that something goes to the kernel, but no memory: valgrind
 * warns of ioctls whose number says nothing.
 */
#define SROCE_IOC_KICK			_IOC(_IOC_WRITE, RDMA_IOCTL_MAGIC, 0xf0, 0)

/*
 * Where device memory is: a method of the core's object, for who has made it
 * and for who imports it.
 */
enum sroce_dm_methods {
	SROCE_METHOD_DM_QUERY = (1U << UVERBS_ID_NS_SHIFT),
};

enum sroce_dm_query_attrs {
	SROCE_ATTR_DM_QUERY_HANDLE = (1U << UVERBS_ID_NS_SHIFT),
	SROCE_ATTR_DM_QUERY_RESP,
};

/**
 * struct sroce_dm_query_resp - how to map device memory
 * @offset: for mmap()
 * @size: bytes to map, whole pages
 * @length: bytes that were asked for
 */
struct sroce_dm_query_resp {
	__aligned_u64	offset;
	__aligned_u64	size;
	__aligned_u64	length;
};

/* Is a handle that one wants to import that of a protection domain? */
enum sroce_pd_methods {
	SROCE_METHOD_PD_QUERY = (1U << UVERBS_ID_NS_SHIFT),
};

enum sroce_pd_query_attrs {
	SROCE_ATTR_PD_QUERY_HANDLE = (1U << UVERBS_ID_NS_SHIFT),
};

#endif /* SROCE_ABI_H */
