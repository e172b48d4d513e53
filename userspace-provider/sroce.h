/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * libsroce: the libibverbs provider of the sroce kernel module.
 */
#ifndef LIBSROCE_H
#define LIBSROCE_H

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include <infiniband/driver.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "sroce_abi.h"
#include "sroce_ring.h"

/* True if the C library knows that this process has only one thread. */
#if defined(__GLIBC__) && __GLIBC__ * 100 + __GLIBC_MINOR__ >= 232
#include <sys/single_threaded.h>
#define SROCE_ONE_THREAD	__libc_single_threaded
#else
#define SROCE_ONE_THREAD	false
#endif

#define SROCE_CACHE_LINE	64

/* Asserts that the ABI uses the value of verbs. */
#define SROCE_SAME(a, b) \
	static_assert((int)(a) == (int)(b), #a " is " #b)

/* Spin lock; not @needed for an object that only one thread uses. */
struct sroce_lock {
	pthread_spinlock_t spin;
	bool needed;
};

/* Memory of a queue: its ring, and its slot in a doorbell page. */
struct sroce_memory {
	void *ring;
	size_t ring_size;
	void *slot;
	uint32_t slot_number;
};

/* Part of the address space; @addr is NULL if there is none. */
struct sroce_range {
	void *addr;
	size_t size;
};

/* A mapping in the list that closing the device unmaps; @link: the pointer to this one. */
struct sroce_mapping {
	void *addr;
	size_t size;
	struct sroce_mapping *next;
	struct sroce_mapping **link;
};

/* Target of a kick. */
struct sroce_door {
	int kick_fd;
	uint32_t slot_number;
};

/*
 * A doorbell page, mapped while one of its slots is in use.  @rings are those of the
 * queues that use its slots.
 */
struct sroce_page {
	void *addr;
	unsigned int users;
	struct sroce_range rings[SROCE_SLOTS_PER_PAGE];
};

struct sroce_device {
	struct verbs_device vdev;
};

/*
 * @features: enum sroce_features of provider and module.  @opcodes: those that the
 * module accepts, 1 << enum sroce_wr_opcode.  @mutex protects @pages, @num_pages and
 * @mappings.
 */
struct sroce_context {
	struct verbs_context vctx;
	int kick_fd;
	bool single_threaded;
	uint64_t features;
	uint32_t opcodes;

	pthread_mutex_t mutex;
	struct sroce_page *pages;
	unsigned int num_pages;
	struct sroce_mapping *mappings;
};

/* @users: parent domains that use it, which prevent deallocation. */
struct sroce_td {
	struct ibv_td ibv;
	unsigned int users;
};

/*
 * A protection domain or, with @protects, a parent domain of one.  @users
 * prevents deallocation: parent domains, and objects in memory from @alloc.
 */
struct sroce_pd {
	struct ibv_pd ibv;
	struct sroce_pd *protects;
	struct sroce_td *td;
	unsigned int users;

	void *(*alloc)(struct ibv_pd *pd, void *pd_context, size_t size,
		       size_t alignment, uint64_t resource_type);
	void (*free)(struct ibv_pd *pd, void *pd_context, void *ptr,
		     uint64_t resource_type);
	void *alloc_context;
};

/* Resource types for a program's allocator; see libsroce(7). */
enum sroce_resource {
	SROCE_RESOURCE_QP = 1,
	SROCE_RESOURCE_SRQ,
	SROCE_RESOURCE_CQ,
};

/*
 * Origin of an object's memory: the program's allocator if @allocated,
 * otherwise sroce_alloc().  @pd is the parent domain, which must not be
 * deallocated before, or NULL.
 */
struct sroce_origin {
	struct sroce_pd *pd;
	enum sroce_resource resource;
	bool allocated;
};

/* Device memory of @length bytes. */
struct sroce_dm {
	struct verbs_dm vdm;
	struct sroce_mapping mapping;
	size_t length;
};

/*
 * Atomic WRITE came to rdma-core with 44.0 and FLUSH later, as enumerators, which the
 * preprocessor cannot see.  The Makefile or CMakeLists.txt defines SROCE_HAVE_*.
 */
#ifdef SROCE_HAVE_ATOMIC_WRITE
#define SROCE_QP_EX_WITH_ATOMIC_WRITE	IBV_QP_EX_WITH_ATOMIC_WRITE
#else
#define SROCE_QP_EX_WITH_ATOMIC_WRITE	0
#endif

#ifdef SROCE_HAVE_FLUSH
#define SROCE_QP_EX_WITH_FLUSH	IBV_QP_EX_WITH_FLUSH
#else
#define SROCE_QP_EX_WITH_FLUSH	0
#endif

struct sroce_ah {
	struct ibv_ah ibv;
	uint32_t number;
};

/**
 * struct sroce_cq - completion queue
 * @lock: protects polling
 * @ring_lock: protects @ring and @entries where they change and where they are read
 *	without @lock, and what arming notes; taken inside @lock
 * @head: completions polled, on 64-bit machines more than the ABI's 32 bits; read
 *	without @lock when the CQ is armed
 * @empty_polls: polls that found nothing
 * @current: completion that ibv_wc_read_*() reads between start and end
 * @notified: the word of the slot when the CQ was last armed
 * @covered: number of completions that events cover, by @notified
 * @armed_at: @head when the CQ was last armed
 */
struct sroce_cq {
	struct verbs_cq vcq;
	struct sroce_origin origin;

	alignas(SROCE_CACHE_LINE) struct sroce_lock lock;
	unsigned long head;
	uint32_t entries;
	const struct sroce_cqe *ring;
	struct sroce_cq_slot *slot;
	uint32_t empty_polls;

	struct sroce_cqe current;
	struct sroce_lock ring_lock;
	uint32_t notified;
	unsigned long covered;
	unsigned long armed_at;
	struct sroce_memory memory;
};

/**
 * struct sroce_sq - send queue
 * @tail: entries posted
 * @head: entries finished, as last read from the slot
 * @all_flags: flags of every entry (sq_sig_all)
 * @opcodes: bit mask of the opcodes that this type of QP can send
 * @xrc: each entry contains the number of the peer's SRQ
 * @state: enum ibv_qp_state that the program last requested
 * @door: of the QP, for its receive queue, too
 * @next: between ibv_wr_start() and complete: index of the next entry
 * @sqe: between ibv_wr_start() and complete: current entry, NULL after an error
 * @error: between ibv_wr_start() and complete: first error
 */
struct sroce_sq {
	struct sroce_lock lock;
	uint32_t tail;
	uint32_t head;
	uint32_t entries;
	uint32_t max_inline;
	uint16_t max_sge;
	uint16_t opcodes;
	uint8_t shift;
	uint8_t all_flags;
	bool xrc;
	uint8_t state;
	void *ring;
	struct sroce_qp_slot *slot;
	struct sroce_door door;

	uint32_t next;
	int error;
	struct sroce_sqe *sqe;
};

/* struct sroce_rq - receive queue of a QP or SRQ, which has no @state; see struct sroce_sq */
struct sroce_rq {
	struct sroce_lock lock;
	uint32_t tail;
	uint32_t head;
	uint32_t entries;
	uint16_t max_sge;
	uint8_t shift;
	uint8_t state;
	void *ring;
	struct sroce_qp_slot *slot;
};

/*
 * @modify orders changes of the state.  Each queue has a copy, so that threads that
 * post to one do not wait for the cache line of the other.  The state in libibverbs's
 * own member also changes in queries, whose result may be out of date.  Posting reads
 * the state while another thread may change it, as in a change to the error state.
 */
struct sroce_qp {
#ifdef SROCE_STANDALONE
	/*
	 * The offset of the last member of @vqp depends on the version of
	 * libibverbs that loads the provider.  @room keeps it inside the union,
	 * and @comp_mask_at is the offset of @vqp.comp_mask (see qp.c).
	 */
	union {
		struct verbs_qp vqp;
		uint32_t room[sizeof(struct verbs_qp) / 4 + 16];
	};
	size_t comp_mask_at;
#else
	struct verbs_qp vqp;
#endif
	alignas(SROCE_CACHE_LINE) struct sroce_sq sq;
	alignas(SROCE_CACHE_LINE) struct sroce_rq rq;
	pthread_mutex_t modify;
	struct sroce_memory memory;
	struct sroce_origin origin;
};

struct sroce_srq {
	struct verbs_srq vsrq;
	struct sroce_origin origin;
	uint32_t number;

	alignas(SROCE_CACHE_LINE) struct sroce_rq rq;
	struct sroce_memory memory;
};

static inline struct sroce_context *to_sroce_context(struct ibv_context *context)
{
	return container_of(context, struct sroce_context, vctx.context);
}

/* A module of another release can lack a feature. */
static inline bool sroce_has(struct ibv_context *context,
			     enum sroce_features feature)
{
	return to_sroce_context(context)->features & feature;
}

/*
 * A kernel without a method answers EPROTONOSUPPORT.  Programs expect the error that
 * the man pages of libibverbs have for what is not supported.
 */
static inline int sroce_unsupported(int err)
{
	return err == EPROTONOSUPPORT ? EOPNOTSUPP : err;
}

static inline struct sroce_pd *to_sroce_pd(struct ibv_pd *pd)
{
	return container_of(pd, struct sroce_pd, ibv);
}

static inline struct sroce_dm *to_sroce_dm(struct ibv_dm *dm)
{
	return container_of(dm, struct sroce_dm, vdm.dm);
}

static inline struct sroce_ah *to_sroce_ah(struct ibv_ah *ah)
{
	return container_of(ah, struct sroce_ah, ibv);
}

static inline struct sroce_cq *to_sroce_cq(struct ibv_cq *cq)
{
	return container_of(cq, struct sroce_cq, vcq.cq);
}

static inline struct sroce_cq *cq_ex_to_sroce_cq(struct ibv_cq_ex *cq)
{
	return container_of(cq, struct sroce_cq, vcq.cq_ex);
}

static inline struct sroce_qp *to_sroce_qp(struct ibv_qp *qp)
{
	return container_of(qp, struct sroce_qp, vqp.qp);
}

static inline struct sroce_srq *to_sroce_srq(struct ibv_srq *srq)
{
	return container_of(srq, struct sroce_srq, vsrq.srq);
}

static inline void sroce_lock_init(struct sroce_lock *lock, bool needed)
{
	pthread_spin_init(&lock->spin, PTHREAD_PROCESS_PRIVATE);
	lock->needed = needed;
}

/*
 * Use this if the lock is held when the function returns to the program,
 * because another thread may start meanwhile.
 */
static inline bool sroce_lock_long(struct sroce_lock *lock)
{
	if (lock->needed)
		pthread_spin_lock(&lock->spin);
	return lock->needed;
}

/*
 * Returns true if the lock was taken, for sroce_unlock().  A process with one
 * thread skips it, because no thread can start before the unlock.
 */
static inline bool sroce_lock(struct sroce_lock *lock)
{
	if (SROCE_ONE_THREAD)
		return false;
	return sroce_lock_long(lock);
}

static inline void sroce_unlock(struct sroce_lock *lock, bool taken)
{
	if (taken)
		pthread_spin_unlock(&lock->spin);
}

static inline void sroce_unlock_long(struct sroce_lock *lock)
{
	sroce_unlock(lock, lock->needed);
}

/* kick.c */
int sroce_open_kick(struct ibv_context *context);
void sroce_kick(struct sroce_door door);

/* memory.c */
void *sroce_alloc(size_t size);
int sroce_map(struct sroce_context *ctx, const struct sroce_map *where,
	      struct sroce_memory *memory);
int sroce_reserve(struct sroce_range *room, uint32_t entries, size_t entry_size);
void sroce_unreserve(struct sroce_range *room);
int sroce_map_again(struct sroce_context *ctx, const struct sroce_map *where,
		    struct sroce_memory *memory, struct sroce_range *room);
void sroce_unmap(struct sroce_context *ctx, struct sroce_memory *memory);
int sroce_map_listed(struct sroce_context *ctx, uint64_t offset, size_t size,
		     struct sroce_mapping *mapping);
void sroce_unmap_listed(struct sroce_context *ctx, struct sroce_mapping *mapping);
void sroce_unmap_all(struct sroce_context *ctx);

/* device.c */
int sroce_query_device_ex(struct ibv_context *context,
			  const struct ibv_query_device_ex_input *input,
			  struct ibv_device_attr_ex *attr, size_t attr_size);
int sroce_query_port(struct ibv_context *context, uint8_t port_num,
		     struct ibv_port_attr *attr);
#ifdef SROCE_HAVE_PORT_SPEED
int sroce_query_port_speed(struct ibv_context *context, uint32_t port_num,
			   uint64_t *speed);
#endif
int sroce_query_rt_values(struct ibv_context *context,
			  struct ibv_values_ex *values);

/* pd.c */
bool sroce_pd_single_threaded(struct ibv_pd *pd);
void *sroce_alloc_from(struct sroce_origin *origin, struct ibv_pd *pd,
		       size_t size, enum sroce_resource resource);
void sroce_free_to(struct sroce_origin origin, void *object);
struct ibv_pd *sroce_alloc_pd(struct ibv_context *context);
struct ibv_pd *sroce_import_pd(struct ibv_context *context, uint32_t handle);
void sroce_unimport_pd(struct ibv_pd *pd);
struct ibv_pd *sroce_alloc_parent_domain(struct ibv_context *context,
					 struct ibv_parent_domain_init_attr *attr);
int sroce_dealloc_pd(struct ibv_pd *pd);
struct ibv_td *sroce_alloc_td(struct ibv_context *context,
			      struct ibv_td_init_attr *attr);
int sroce_dealloc_td(struct ibv_td *td);

/* mr.c */
struct ibv_mr *sroce_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
			    uint64_t hca_va, int access);
struct ibv_mr *sroce_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm,
			       uint64_t offset, size_t length,
			       unsigned int access);
struct ibv_mr *sroce_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset,
				   size_t length, uint64_t iova, int fd,
				   int access);
#if SROCE_PABI >= 59
struct ibv_dmah *sroce_alloc_dmah(struct ibv_context *context,
				  struct ibv_dmah_init_attr *attr);
int sroce_dealloc_dmah(struct ibv_dmah *dmah);
struct ibv_mr *sroce_reg_mr_ex(struct ibv_pd *pd,
			       struct ibv_mr_init_attr *attr);
#endif
struct ibv_mr *sroce_alloc_null_mr(struct ibv_pd *pd);
struct ibv_mr *sroce_import_mr(struct ibv_pd *pd, uint32_t handle);
void sroce_unimport_mr(struct ibv_mr *mr);
int sroce_rereg_mr(struct verbs_mr *mr, int flags, struct ibv_pd *pd,
		   void *addr, size_t length, int access);
int sroce_dereg_mr(struct verbs_mr *mr);

/* dm.c */
struct ibv_dm *sroce_alloc_dm(struct ibv_context *context,
			      struct ibv_alloc_dm_attr *attr);
int sroce_free_dm(struct ibv_dm *dm);
struct ibv_dm *sroce_import_dm(struct ibv_context *context, uint32_t handle);
void sroce_unimport_dm(struct ibv_dm *dm);

/* mw.c */
struct ibv_mw *sroce_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int sroce_dealloc_mw(struct ibv_mw *mw);

/* ah.c */
struct ibv_ah *sroce_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr);
int sroce_destroy_ah(struct ibv_ah *ah);

/* cq.c */
struct ibv_cq *sroce_create_cq(struct ibv_context *context, int cqe,
			       struct ibv_comp_channel *channel,
			       int comp_vector);
struct ibv_cq_ex *sroce_create_cq_ex(struct ibv_context *context,
				     struct ibv_cq_init_attr_ex *attr);
int sroce_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr);
int sroce_resize_cq(struct ibv_cq *cq, int cqe);
void sroce_cq_clean(struct ibv_cq *cq, const struct ibv_qp *qp);
int sroce_destroy_cq(struct ibv_cq *cq);
int sroce_req_notify_cq(struct ibv_cq *cq, int solicited_only);

/* comp_cntr.c */
#if SROCE_PABI >= 65
struct ibv_comp_cntr *sroce_create_comp_cntr(struct ibv_context *context,
					     struct ibv_comp_cntr_init_attr *attr);
int sroce_query_comp_cntr_caps(struct ibv_context *context,
			       struct ibv_comp_cntr_caps *caps,
			       size_t caps_size);
int sroce_destroy_comp_cntr(struct ibv_comp_cntr *cntr);
int sroce_qp_attach_comp_cntr(struct ibv_qp *qp, struct ibv_comp_cntr *cntr,
			      struct ibv_qp_attach_comp_cntr_attr *attr);
#endif

/* poll.c */
int sroce_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);

/* poll_ex.c */
#define SROCE_WC_FLAGS (IBV_WC_STANDARD_FLAGS |				\
			IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |		\
			IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)
void sroce_set_poll_ops(struct ibv_cq_ex *cq);

/* qp.c */
struct ibv_qp *sroce_create_qp(struct ibv_pd *pd,
			       struct ibv_qp_init_attr *attr);
struct ibv_qp *sroce_create_qp_ex(struct ibv_context *context,
				  struct ibv_qp_init_attr_ex *attr);
int sroce_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask);
int sroce_modify_qp_rate_limit(struct ibv_qp *qp,
			       struct ibv_qp_rate_limit_attr *limit);
int sroce_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
		   struct ibv_qp_init_attr *init_attr);
struct ibv_qp *sroce_open_qp(struct ibv_context *context,
			     struct ibv_qp_open_attr *attr);
int sroce_destroy_qp(struct ibv_qp *qp);

/* srq.c */
struct ibv_srq *sroce_create_srq(struct ibv_pd *pd,
				 struct ibv_srq_init_attr *attr);
struct ibv_srq *sroce_create_srq_ex(struct ibv_context *context,
				    struct ibv_srq_init_attr_ex *attr);
int sroce_get_srq_num(struct ibv_srq *srq, uint32_t *srq_num);
int sroce_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr,
		     int attr_mask);
int sroce_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr);
int sroce_destroy_srq(struct ibv_srq *srq);

/* xrc.c */
struct ibv_xrcd *sroce_open_xrcd(struct ibv_context *context,
				 struct ibv_xrcd_init_attr *attr);
int sroce_close_xrcd(struct ibv_xrcd *xrcd);

/* send.c */
int sroce_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
		    struct ibv_send_wr **bad_wr);
int sroce_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw,
		  struct ibv_mw_bind *bind);

/* send_ex.c */
void sroce_set_send_ops(struct ibv_qp_ex *qp);

/* recv.c */
int sroce_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
		    struct ibv_recv_wr **bad_wr);
int sroce_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr,
			struct ibv_recv_wr **bad_wr);

#endif /* LIBSROCE_H */
