/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * The interface between the sroce kernel module and its libibverbs provider.
 *
 * Memory
 *	All queues are in memory that the kernel allocates and the process
 *	maps (MAP_SHARED, at the offsets in the create responses).  There is
 *	one mapping for the send and receive ring of a QP, one for an SRQ,
 *	one for the ring of a CQ, and doorbell pages with 32 slots: one slot
 *	for each QP, SRQ and CQ of the context.
 *
 * Trust
 *	The kernel does not trust this memory.  It keeps its own indices, reads
 *	each word that a process can write once, copies each entry, and
 *	validates and uses only the copy.  A bad tail or a bad entry moves that
 *	QP to the error state; other objects are not affected.  The kernel does
 *	not read back what it has written, except when resizing a CQ copies
 *	completions, which it does not interpret.
 *
 * Indices
 *	Free-running 32 bit counts of entries.  The position of an entry is its
 *	count masked with the ring size, which is a power of two.
 *
 * Byte order
 *	Host order, except for fields of type __be32.
 *
 * Zero
 *	Reserved fields and unknown flags must be zero.  Other values are
 *	refused, so that they can get a meaning later.
 *
 * Versions
 *	A module works with the provider of another release if both have the
 *	same SROCE_ABI_VERSION.  Structures of commands grow at their ends
 *	only.  Bytes that one side does not send count as zero, and bytes that
 *	the other side does not know must be zero.  Memory that both map keeps
 *	its layout.  A side uses only those parts of it that the other one has
 *	declared to know; see struct sroce_alloc_ucontext_resp.
 *
 * Order
 *	include/sroce_ring.h has the operations on these
 *	words and the proof of their barriers.
 */
#ifndef SROCE_ABI_H
#define SROCE_ABI_H

#include <linux/types.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>

/*
 * Reported in sysfs (abi_version) and checked by the provider.  Neither 1 nor
 * 2: librxe would take devices of these versions whose name is rxe*.
 */
#define SROCE_ABI_VERSION	24

/* "sroc": far from the numbers of in-tree drivers. */
#define SROCE_DRIVER_ID		0x73726f63

#define SROCE_MAX_SGE		32
#define SROCE_MAX_INLINE	976
/* Minimum and maximum rate limit of a QP, kilobits per second. */
#define SROCE_MIN_RATE		1000
#define SROCE_MAX_RATE		0xffffffffU
#define SROCE_SLOT_SIZE		128
#define SROCE_SLOTS_PER_PAGE	32
#define SROCE_CQE_SIZE		64
#define SROCE_SQE_HEADER	48
#define SROCE_RQE_HEADER	16

/* Opcode of a send queue entry; same values as enum ibv_wr_opcode. */
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

/* FLUSH: bit mask with the values of enum ibv_placement_type, */
enum sroce_wr_flush_type {
	SROCE_WR_FLUSH_GLOBAL		= 1 << 0,
	SROCE_WR_FLUSH_PERSISTENT	= 1 << 1,
};

/* and a value of enum ibv_selectivity_level. */
enum sroce_wr_flush_level {
	SROCE_WR_FLUSH_RANGE		= 0,
	SROCE_WR_FLUSH_REGION		= 1,
};

/* Flags of a send queue entry; same values as enum ibv_send_flags. */
enum sroce_wr_flags {
	SROCE_WR_FENCE		= 1 << 0,
	SROCE_WR_SIGNALED	= 1 << 1,
	SROCE_WR_SOLICITED	= 1 << 2,
	SROCE_WR_INLINE		= 1 << 3,
};

#define SROCE_WR_ALL_FLAGS (SROCE_WR_FENCE | SROCE_WR_SIGNALED | \
			    SROCE_WR_SOLICITED | SROCE_WR_INLINE)

/* struct sroce_sge - SGE with the layout of struct ibv_sge */
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
 * @num_sge: number of SGEs that follow, or, with SROCE_WR_INLINE, bytes of
 *	payload that follow
 * @imm_data: immediate data, network order
 * @invalidate_rkey: instead of @imm_data for SROCE_WR_SEND_WITH_INV and
 *	SROCE_WR_LOCAL_INV: key to invalidate
 * @rdma: WRITE, atomic WRITE and READ, and SEND on XRC.  @srqn is the number of
 *	the peer's SRQ for XRC, otherwise zero
 * @atomic: compare-and-swap, and fetch-and-add (the addend is in @compare_add)
 * @flush: FLUSH of @length bytes or, with SROCE_WR_FLUSH_REGION, of the whole
 *	range of the key; @type is of enum sroce_wr_flush_type
 * @bind: binds a memory window to memory of the region with @lkey.  @rkey is
 *	the window's new key, which differs from the present one in the lowest
 *	byte.  @access has the values of enum ibv_access_flags.  Length 0
 *	unbinds a type 1 window
 * @ud: UD; @ah is the number from struct sroce_create_ah_resp
 *
 * The stride of a ring is a power of two from 64 to 1024 bytes.  The SGE list
 * or inline data follows the head.  An atomic WRITE has 8 bytes of either, a
 * FLUSH has nothing.
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
 * @num_sge: number of SGEs that follow
 * @reserved: zero
 *
 * The stride of a ring is a power of two from 32 to 1024 bytes.
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
 * struct sroce_cqe - completion queue entry
 * @wr_id: wr_id of the work request
 * @timestamp: time when the entry was written, nanoseconds of
 *	CLOCK_MONOTONIC_RAW
 * @byte_len: bytes received or read
 * @imm_data: network order
 * @invalidated_rkey: instead of @imm_data with SROCE_CQE_WITH_INV: invalidated
 *	key
 * @qp_num: number of the local QP
 * @src_qp: QP number of the sender
 * @status: value of enum ibv_wc_status
 * @opcode: value of enum ibv_wc_opcode, one byte
 * @flags: enum sroce_cqe_flags
 * @vendor_err: enum sroce_resp_error of a failed receive on a connected QP,
 *	otherwise 0; see drivers/sroce/core/errors.h
 * @pkey_index: GSI QP: P_Key index of the packet
 * @sl: UD: 1 with an IPv6 GRH, 2 with IPv4, as NICs report it
 * @reserved: zero
 * @vlan_id: GSI QP: valid with SROCE_CQE_WITH_VLAN
 * @reserved3: zero
 * @cookie: the QP, in rings of kernel users; zero in a ring that a process maps
 * @reserved2: zero
 * @phase: written last, with release order.  Bit 0 is the phase: 1 during the
 *	first pass over the ring, 0 during the second, and so on
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
	/* New send entries, once sq_tail reaches kick_at. */
	SROCE_KICK_LATER	= 1 << 2,
};

/**
 * struct sroce_qp_slot - doorbell slot of a QP, or of an SRQ (receive part)
 * @sq_tail: user: send entries posted so far
 * @rq_tail: user: receive entries posted so far
 * @reserved: zero
 * @sq_head: kernel: send entries that are finished and can be reused
 * @rq_head: kernel: receive entries that are taken and can be reused
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
 * @head: user: completions polled so far
 * @arm: user: bit 0 requests an event for solicited completions only, the upper
 *	bits are a count; a new value requests one event.  For completions after
 *	@notified that exist already, the user calls IB_USER_VERBS_CMD_REQ_NOTIFY_CQ
 * @reserved: zero
 * @notified: kernel: number of completions covered by events so far
 * @served_arm: kernel: value of @arm that the last event has served
 * @reserved2: zero
 */
struct sroce_cq_slot {
	__u32	head;
	__u32	arm;
	__u32	reserved[14];
	__u32	notified;
	__u32	served_arm;
	__u32	reserved2[14];
};

#define SROCE_ARM_SOLICITED	1u
#define SROCE_ARM_STEP		2u

/* Create commands: driver part of the requests and responses of uverbs. */

/*
 * Parts that a module or a provider can lack.  SROCE_FEATURE_NULL_MR: the flag
 * SROCE_REG_MR_NULL.  SROCE_FEATURE_DM: device memory and its method.
 */
enum sroce_features {
	SROCE_FEATURE_NULL_MR	= 1 << 0,
	SROCE_FEATURE_DM	= 1 << 1,
};

#define SROCE_ALL_FEATURES	(SROCE_FEATURE_NULL_MR | SROCE_FEATURE_DM)

/**
 * struct sroce_alloc_ucontext_req - request to open a context
 * @abi_version: SROCE_ABI_VERSION of the provider; other versions are refused
 * @flags: zero; reserved for features that the provider requires
 * @features: enum sroce_features that the provider knows.  Those that the
 *	module does not know are ignored
 */
struct sroce_alloc_ucontext_req {
	__u32	abi_version;
	__u32	flags;
	__aligned_u64	features;
};

/**
 * struct sroce_alloc_ucontext_resp - properties of a context
 * @abi_version: SROCE_ABI_VERSION of the module
 * @flags: zero
 * @max_inline: largest inline payload of a send entry, bytes
 * @max_sge: maximum number of SGEs of an entry
 * @features: enum sroce_features that the module and the provider know
 * @opcodes: bit mask of the opcodes (1 << enum sroce_wr_opcode) that the
 *	module accepts in send entries
 * @sqe_header: SROCE_SQE_HEADER
 * @rqe_header: SROCE_RQE_HEADER
 * @cqe_size: SROCE_CQE_SIZE
 * @slot_size: SROCE_SLOT_SIZE
 * @reserved: zero
 *
 * A provider refuses a context whose sizes are not its own.
 */
struct sroce_alloc_ucontext_resp {
	__u32	abi_version;
	__u32	flags;
	__u32	max_inline;
	__u32	max_sge;
	__aligned_u64	features;
	__u32	opcodes;
	__u16	sqe_header;
	__u16	rqe_header;
	__u16	cqe_size;
	__u16	slot_size;
	__u32	reserved;
};

/*
 * Attribute of UVERBS_METHOD_QUERY_CONTEXT: a struct sroce_alloc_ucontext_resp
 * for an importer of the context, with all features of the module.
 */
enum sroce_query_context_attrs {
	SROCE_ATTR_QUERY_CONTEXT_RESP = (1U << UVERBS_ID_NS_SHIFT),
};

/* struct sroce_create_req - for a QP, CQ or SRQ; @flags and @reserved zero */
struct sroce_create_req {
	__u32	flags;
	__u32	reserved;
};

/**
 * struct sroce_map - location of a queue's memory
 * @ring_offset: mmap offset of the ring
 * @ring_size: length of the ring in bytes, whole pages
 * @slot: number of the doorbell slot in the context; it is in page @slot /
 *	SROCE_SLOTS_PER_PAGE
 * @page_offset: mmap offset of the doorbell page; the same for all queues of
 *	the page
 */
struct sroce_map {
	__aligned_u64	ring_offset;
	__u32		ring_size;
	__u32		slot;
	__aligned_u64	page_offset;
};

/**
 * struct sroce_create_qp_resp - rings of a QP, both in one mapping
 * @map: location; every QP has its own slot
 * @sq_stride: bytes per send entry; the send ring is at offset 0
 * @sq_entries: a power of two, or 0
 * @rq_offset: offset of the receive ring in the mapping, bytes
 * @rq_stride: bytes per receive entry
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
 * struct sroce_create_cq_resp - ring of a new or resized CQ; after resizing it
 *   begins at index 0 with the completions that have not been polled
 * @map: location
 * @entries: a power of two, of SROCE_CQE_SIZE bytes each
 * @reserved: zero
 */
struct sroce_create_cq_resp {
	struct sroce_map map;
	__u32	entries;
	__u32	reserved;
};

/**
 * struct sroce_create_srq_resp - ring of an SRQ
 * @map: location
 * @entries: a power of two
 * @stride: bytes per entry
 * @srq_num: SRQ number for XRC, otherwise 0
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
 * struct sroce_modify_srq_req - required to resize an SRQ
 * @resp: address of a struct sroce_modify_srq_resp to fill in, because the
 *	command has no response of its own
 * @resp_size: bytes there
 * @reserved: zero
 *
 * Pending entries move to the new ring, and indices continue.  The process must
 * not post while the command runs.
 */
struct sroce_modify_srq_req {
	__aligned_u64	resp;
	__u32	resp_size;
	__u32	reserved;
};

/**
 * struct sroce_modify_srq_resp - new ring of an SRQ
 * @map: location; the doorbell slot stays the same
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
 * struct sroce_reg_mr_req - request for a memory region with flags
 * @flags: enum sroce_reg_mr_flags.  SROCE_REG_MR_NULL registers no memory:
 *	reads return 0, writes are discarded, all addresses are valid.  Address
 *	and length are 0, the access is IB_ACCESS_LOCAL_WRITE
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
 * The kick file: a uverbs object of type file descriptor, one for each process
 * that has opened or imported the context.
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
 * ioctl() of the kick file.  The argument is the slot number of a QP.  Returns
 * 0; ENOENT if no QP has that slot, EIO when the device is gone, ENOTTY for any
 * other command.  Kicking a QP that has nothing to do is harmless.
 *
 * The number has a direction, but size 0: valgrind warns of ioctls without a
 * direction.
 */
#define SROCE_IOC_KICK			_IOC(_IOC_WRITE, RDMA_IOCTL_MAGIC, 0xf0, 0)

/*
 * Method of the core's DM object that returns the location of device memory,
 * for the owner and for importers.
 */
enum sroce_dm_methods {
	SROCE_METHOD_DM_QUERY = (1U << UVERBS_ID_NS_SHIFT),
};

enum sroce_dm_query_attrs {
	SROCE_ATTR_DM_QUERY_HANDLE = (1U << UVERBS_ID_NS_SHIFT),
	SROCE_ATTR_DM_QUERY_RESP,
};

/**
 * struct sroce_dm_query_resp - location of device memory
 * @offset: offset for mmap()
 * @size: bytes to map, whole pages
 * @length: bytes that were requested
 */
struct sroce_dm_query_resp {
	__aligned_u64	offset;
	__aligned_u64	size;
	__aligned_u64	length;
};

/* Checks that a handle to be imported is a protection domain. */
enum sroce_pd_methods {
	SROCE_METHOD_PD_QUERY = (1U << UVERBS_ID_NS_SHIFT),
};

enum sroce_pd_query_attrs {
	SROCE_ATTR_PD_QUERY_HANDLE = (1U << UVERBS_ID_NS_SHIFT),
};

#endif /* SROCE_ABI_H */
