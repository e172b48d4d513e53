/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Parts of libibverbs' private provider interface that libsroce uses, of
 * version 34, 57, 59, 64 or 65 (SROCE_PABI).  Distributions install libibverbs
 * without the header of this interface.  Inside rdma-core's tree the real
 * header is used instead of this one.
 *
 * "make check-abi" compares every size, offset and prototype with rdma-core's.
 * Members that libsroce does not use are opaque: unused_* only reserve their
 * space.
 */
#ifndef SROCE_STANDALONE_DRIVER_H
#define SROCE_STANDALONE_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <infiniband/verbs.h>
#include <infiniband/cmd_ioctl.h>
#include <infiniband/kern-abi.h>

#ifndef SROCE_PABI
#define SROCE_PABI 34
#endif

/*
 * The release of rdma-core whose structures these are.  rdma-core 62 has added
 * members in the middle of the structures of version 59 and kept the number.
 * The Makefile defines SROCE_HAVE_PORT_SPEED for 62 and newer.
 */
#if SROCE_PABI == 59 && defined(SROCE_HAVE_PORT_SPEED)
#define SROCE_LAYOUT	62
#else
#define SROCE_LAYOUT	SROCE_PABI
#endif

/* @n pointers that came with @release */
#define SROCE_SINCE(release, n)	(SROCE_LAYOUT >= (release) ? (n) : 0)

#define SROCE_REGISTER	SROCE_REGISTER_NAME(SROCE_PABI)
#define SROCE_REGISTER_NAME(version)	SROCE_PASTE(verbs_register_driver_, version)
#define SROCE_PASTE(name, version)	name##version

#ifndef container_of
#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))
#endif

#ifndef likely
#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
#endif

/* Devices and the drivers that claim them */

enum {
	VERBS_MATCH_DRIVER_ID = 3,
};

struct verbs_match_ent {
	void *unused_data;
	union {
		const char *unused_modalias;
		uint64_t driver_id;
	} u;
	uint16_t unused_vendor;
	uint16_t unused_device;
	uint8_t kind;
};

#define VERBS_DRIVER_ID(id) \
	{ .u = { .driver_id = (id) }, .kind = VERBS_MATCH_DRIVER_ID }

struct verbs_sysfs_dev;
struct verbs_device_ops;

struct verbs_device {
	struct ibv_device device;
	const struct verbs_device_ops *unused_ops;
	int unused_refcount;
	void *unused_entry[2];
	struct verbs_sysfs_dev *unused_sysfs;
	uint64_t unused_core_support;
};

struct verbs_device_ops {
	const char *name;
	uint32_t match_min_abi_version;
	uint32_t match_max_abi_version;
	const struct verbs_match_ent *match_table;
	void *unused_static_providers;
	void *unused_match_device;
	struct verbs_context *(*alloc_context)(struct ibv_device *device,
					       int cmd_fd, void *private_data);
	struct verbs_context *(*import_context)(struct ibv_device *device,
						int cmd_fd);
	struct verbs_device *(*alloc_device)(struct verbs_sysfs_dev *sysfs_dev);
	void (*uninit_device)(struct verbs_device *device);
};

static inline bool sroce_library_fits(void);

#define PROVIDER_DRIVER(provider, ops)					\
	static __attribute__((constructor)) void provider##_register(void) \
	{								\
		if (sroce_library_fits())				\
			SROCE_REGISTER(&(ops));				\
	}

/* Objects that libibverbs wraps */

struct verbs_xrcd {
	struct ibv_xrcd xrcd;
	uint32_t unused_comp_mask;
	uint32_t unused_handle;
};

struct verbs_srq {
	struct ibv_srq srq;
	enum ibv_srq_type unused_type;
	struct verbs_xrcd *unused_xrcd;
	struct ibv_cq *unused_cq;
	uint32_t unused_num;
};

enum {
	VERBS_QP_EX = 1 << 1,
};

struct verbs_qp {
	union {
		struct ibv_qp qp;
		struct ibv_qp_ex qp_ex;
	};
	uint32_t comp_mask;
	struct verbs_xrcd *unused_xrcd;
};

struct verbs_cq {
	union {
		struct ibv_cq cq;
		struct ibv_cq_ex cq_ex;
	};
};

enum ibv_mr_type {
	IBV_MR_TYPE_NULL_MR = 1,
};

struct verbs_mr {
	struct ibv_mr ibv_mr;
	enum ibv_mr_type mr_type;
	int access;
};

struct verbs_dm {
	struct ibv_dm dm;
	uint32_t handle;
};

#if SROCE_PABI >= 59
struct verbs_dmah {
	struct ibv_dmah dmah;
	uint32_t handle;
};
#endif

/* The operations that a provider implements */

struct verbs_context_ops {
	int (*advise_mr)(struct ibv_pd *pd, enum ibv_advise_mr_advice advice,
			 uint32_t flags, struct ibv_sge *sg_list,
			 uint32_t num_sge);
	void *unused_21[SROCE_SINCE(64, 1)];
	struct ibv_dm *(*alloc_dm)(struct ibv_context *context,
				   struct ibv_alloc_dm_attr *attr);
#if SROCE_PABI >= 59
	struct ibv_dmah *(*alloc_dmah)(struct ibv_context *context,
				       struct ibv_dmah_init_attr *attr);
#endif
	struct ibv_mw *(*alloc_mw)(struct ibv_pd *pd, enum ibv_mw_type type);
	struct ibv_mr *(*alloc_null_mr)(struct ibv_pd *pd);
	struct ibv_pd *(*alloc_parent_domain)(struct ibv_context *context,
					      struct ibv_parent_domain_init_attr *attr);
	struct ibv_pd *(*alloc_pd)(struct ibv_context *context);
	struct ibv_td *(*alloc_td)(struct ibv_context *context,
				   struct ibv_td_init_attr *attr);
	void *unused_2[2];
	int (*attach_mcast)(struct ibv_qp *qp, const union ibv_gid *gid,
			    uint16_t lid);
	int (*bind_mw)(struct ibv_qp *qp, struct ibv_mw *mw,
		       struct ibv_mw_bind *mw_bind);
	int (*close_xrcd)(struct ibv_xrcd *xrcd);
	void *unused_3;
	struct ibv_ah *(*create_ah)(struct ibv_pd *pd, struct ibv_ah_attr *attr);
#if SROCE_PABI >= 65
	struct ibv_comp_cntr *(*create_comp_cntr)(struct ibv_context *context,
						  struct ibv_comp_cntr_init_attr *attr);
#endif
	void *unused_4;
	struct ibv_cq *(*create_cq)(struct ibv_context *context, int cqe,
				    struct ibv_comp_channel *channel,
				    int comp_vector);
	struct ibv_cq_ex *(*create_cq_ex)(struct ibv_context *context,
					  struct ibv_cq_init_attr_ex *attr);
	void *unused_5[2];
	struct ibv_qp *(*create_qp)(struct ibv_pd *pd,
				    struct ibv_qp_init_attr *attr);
	struct ibv_qp *(*create_qp_ex)(struct ibv_context *context,
				       struct ibv_qp_init_attr_ex *attr);
	void *unused_6;
	struct ibv_srq *(*create_srq)(struct ibv_pd *pd,
				      struct ibv_srq_init_attr *attr);
	struct ibv_srq *(*create_srq_ex)(struct ibv_context *context,
					 struct ibv_srq_init_attr_ex *attr);
	void *unused_7;
#if SROCE_PABI >= 59
	int (*dealloc_dmah)(struct ibv_dmah *dmah);
#endif
	int (*dealloc_mw)(struct ibv_mw *mw);
	int (*dealloc_pd)(struct ibv_pd *pd);
	int (*dealloc_td)(struct ibv_td *td);
	int (*dereg_mr)(struct verbs_mr *mr);
	int (*destroy_ah)(struct ibv_ah *ah);
#if SROCE_PABI >= 65
	int (*destroy_comp_cntr)(struct ibv_comp_cntr *cntr);
#endif
	void *unused_8;
	int (*destroy_cq)(struct ibv_cq *cq);
	void *unused_9[2];
	int (*destroy_qp)(struct ibv_qp *qp);
	void *unused_10;
	int (*destroy_srq)(struct ibv_srq *srq);
	void *unused_11;
	int (*detach_mcast)(struct ibv_qp *qp, const union ibv_gid *gid,
			    uint16_t lid);
	void *unused_12[SROCE_SINCE(62, 1) + SROCE_SINCE(64, 1)];
	void (*free_context)(struct ibv_context *context);
	int (*free_dm)(struct ibv_dm *dm);
	int (*get_srq_num)(struct ibv_srq *srq, uint32_t *srq_num);
	struct ibv_dm *(*import_dm)(struct ibv_context *context,
				    uint32_t dm_handle);
	struct ibv_mr *(*import_mr)(struct ibv_pd *pd, uint32_t mr_handle);
	struct ibv_pd *(*import_pd)(struct ibv_context *context,
				    uint32_t pd_handle);
#if SROCE_PABI >= 65
	int (*inc_comp_cntr)(struct ibv_comp_cntr *cntr, uint64_t amount);
	int (*inc_err_comp_cntr)(struct ibv_comp_cntr *cntr, uint64_t amount);
#endif
	int (*modify_cq)(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr);
	void *unused_20;
	int (*modify_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr,
			 int attr_mask);
	int (*modify_qp_rate_limit)(struct ibv_qp *qp,
				    struct ibv_qp_rate_limit_attr *attr);
	int (*modify_srq)(struct ibv_srq *srq, struct ibv_srq_attr *attr,
			  int attr_mask);
	void *unused_14;
	struct ibv_qp *(*open_qp)(struct ibv_context *context,
				  struct ibv_qp_open_attr *attr);
	struct ibv_xrcd *(*open_xrcd)(struct ibv_context *context,
				      struct ibv_xrcd_init_attr *attr);
	int (*poll_cq)(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);
	int (*post_recv)(struct ibv_qp *qp, struct ibv_recv_wr *wr,
			 struct ibv_recv_wr **bad_wr);
	int (*post_send)(struct ibv_qp *qp, struct ibv_send_wr *wr,
			 struct ibv_send_wr **bad_wr);
	void *unused_15;
	int (*post_srq_recv)(struct ibv_srq *srq, struct ibv_recv_wr *wr,
			     struct ibv_recv_wr **bad_wr);
#if SROCE_PABI >= 65
	int (*qp_attach_comp_cntr)(struct ibv_qp *qp,
				   struct ibv_comp_cntr *cntr,
				   struct ibv_qp_attach_comp_cntr_attr *attr);
	int (*query_comp_cntr_caps)(struct ibv_context *context,
				    struct ibv_comp_cntr_caps *caps,
				    size_t caps_size);
#endif
	int (*query_device_ex)(struct ibv_context *context,
			       const struct ibv_query_device_ex_input *input,
			       struct ibv_device_attr_ex *attr,
			       size_t attr_size);
	void *unused_16;
	int (*query_port)(struct ibv_context *context, uint8_t port_num,
			  struct ibv_port_attr *attr);
#ifdef SROCE_HAVE_PORT_SPEED
	int (*query_port_speed)(struct ibv_context *context, uint32_t port_num,
				uint64_t *speed);
#endif
	int (*query_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr,
			int attr_mask, struct ibv_qp_init_attr *init_attr);
	void *unused_17;
	int (*query_rt_values)(struct ibv_context *context,
			       struct ibv_values_ex *values);
	int (*query_srq)(struct ibv_srq *srq, struct ibv_srq_attr *attr);
#if SROCE_PABI >= 65
	int (*read_comp_cntr)(struct ibv_comp_cntr *cntr, uint64_t *value);
	void *unused_18;
	int (*read_err_comp_cntr)(struct ibv_comp_cntr *cntr, uint64_t *value);
#else
	void *unused_18;
#endif
	struct ibv_mr *(*reg_dm_mr)(struct ibv_pd *pd, struct ibv_dm *dm,
				    uint64_t dm_offset, size_t length,
				    unsigned int access);
	struct ibv_mr *(*reg_dmabuf_mr)(struct ibv_pd *pd, uint64_t offset,
					size_t length, uint64_t iova, int fd,
					int access);
	struct ibv_mr *(*reg_mr)(struct ibv_pd *pd, void *addr, size_t length,
				 uint64_t hca_va, int access);
#if SROCE_PABI >= 59
	struct ibv_mr *(*reg_mr_ex)(struct ibv_pd *pd,
				    struct ibv_mr_init_attr *attr);
#endif
	int (*req_notify_cq)(struct ibv_cq *cq, int solicited_only);
	int (*rereg_mr)(struct verbs_mr *mr, int flags, struct ibv_pd *pd,
			void *addr, size_t length, int access);
	int (*resize_cq)(struct ibv_cq *cq, int cqe);
#if SROCE_PABI >= 65
	int (*set_comp_cntr)(struct ibv_comp_cntr *cntr, uint64_t value);
	void *unused_19;
	int (*set_err_comp_cntr)(struct ibv_comp_cntr *cntr, uint64_t value);
#else
	void *unused_19;
#endif
	void (*unimport_dm)(struct ibv_dm *dm);
	void (*unimport_mr)(struct ibv_mr *mr);
	void (*unimport_pd)(struct ibv_pd *pd);
};

#include "prototypes.h"

/*
 * In version 59, libibverbs up to rdma-core 61 has another layout than newer ones.
 * A provider that was built for the other layout must not register.
 */
static inline bool sroce_library_fits(void)
{
#if SROCE_PABI == 59
	const bool ours_since_62 = SROCE_LAYOUT >= 62;
	const bool since_62 = ibv_cmd_query_port_speed;

	if (since_62 != ours_since_62) {
		fprintf(stderr, "libsroce: built for rdma-core %s, not for this libibverbs: build it again\n",
			ours_since_62 ? "62 and 63" : "59 to 61");
		return false;
	}
#endif
	return true;
}

#endif /* SROCE_STANDALONE_DRIVER_H */
