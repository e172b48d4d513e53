// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Protection domains, thread domains and parent domains.  With the latter two a
 * program declares that it uses a queue from one thread at a time.
 */
#include <stdlib.h>

#include <rdma/ib_user_ioctl_cmds.h>

#include "sroce.h"

static void add_user(unsigned int *users)
{
	__atomic_fetch_add(users, 1, __ATOMIC_RELAXED);
}

static void remove_user(unsigned int *users)
{
	__atomic_fetch_sub(users, 1, __ATOMIC_RELEASE);
}

static bool in_use(unsigned int *users)
{
	return __atomic_load_n(users, __ATOMIC_ACQUIRE);
}

bool sroce_pd_single_threaded(struct ibv_pd *pd)
{
	return to_sroce_context(pd->context)->single_threaded ||
	       to_sroce_pd(pd)->td;
}

/*
 * A program may permit buffers in memory that a confidential guest shares with its
 * host.  No buffer has to be there, because CPUs of the guest copy the data.
 */
#if SROCE_PABI >= 64
#define SHARED_MEMORY	IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC
#else
#define SHARED_MEMORY	0
#endif

#define PARENT_DOMAIN_ATTRS (IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT |	\
			     IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |	\
			     SHARED_MEMORY)

static uint64_t resource_type(enum sroce_resource resource)
{
	return (uint64_t)SROCE_DRIVER_ID << 32 | resource;
}

/*
 * Allocate zeroed memory for an object of @pd, which may be NULL.  Uses the
 * program's allocator if @pd is a parent domain with one.  A parent domain must
 * exist as long as the object; for other domains the kernel ensures that.
 * Returns NULL with errno, or memory for sroce_free_to(), with its @origin.
 */
void *sroce_alloc_from(struct sroce_origin *origin, struct ibv_pd *ibpd,
		       size_t size, enum sroce_resource resource)
{
	struct sroce_pd *pd = ibpd ? to_sroce_pd(ibpd) : NULL;
	void *object = IBV_ALLOCATOR_USE_DEFAULT;

	*origin = (struct sroce_origin){ .resource = resource };
	if (pd && pd->alloc)
		object = pd->alloc(ibpd, pd->alloc_context, size,
				   SROCE_CACHE_LINE, resource_type(resource));
	origin->allocated = object != IBV_ALLOCATOR_USE_DEFAULT;
	if (!origin->allocated)
		object = sroce_alloc(size);
	else if (object)
		memset(object, 0, size);
	else
		errno = ENOMEM;
	if (object && pd && pd->protects) {
		origin->pd = pd;
		add_user(&pd->users);
	}
	return object;
}

/* The parent domain must exist until the program's function has returned. */
void sroce_free_to(struct sroce_origin origin, void *object)
{
	struct sroce_pd *pd = origin.pd;

	if (origin.allocated)
		pd->free(&pd->ibv, pd->alloc_context, object,
			 resource_type(origin.resource));
	else
		free(object);
	if (pd)
		remove_user(&pd->users);
}

struct ibv_pd *sroce_alloc_pd(struct ibv_context *context)
{
	struct ib_uverbs_alloc_pd_resp resp;
	struct ibv_alloc_pd cmd = {};
	struct sroce_pd *pd;
	int err;

	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;
	err = ibv_cmd_alloc_pd(context, &pd->ibv, &cmd, sizeof(cmd),
			       &resp, sizeof(resp));
	if (err) {
		free(pd);
		errno = err;
		return NULL;
	}
	return &pd->ibv;
}

struct ibv_pd *sroce_import_pd(struct ibv_context *context, uint32_t handle)
{
	DECLARE_COMMAND_BUFFER(cmd, UVERBS_OBJECT_PD, SROCE_METHOD_PD_QUERY, 1);
	struct sroce_pd *pd;

	fill_attr_in_obj(cmd, SROCE_ATTR_PD_QUERY_HANDLE, handle);
	if (execute_ioctl(context, cmd))
		return NULL;
	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;
	pd->ibv.context = context;
	pd->ibv.handle = handle;
	return &pd->ibv;
}

void sroce_unimport_pd(struct ibv_pd *pd)
{
	free(to_sroce_pd(pd));
}

static bool parent_is_valid(const struct ibv_context *context,
			    const struct ibv_parent_domain_init_attr *attr)
{
	if (!attr->pd || attr->pd->context != context ||
	    (attr->td && attr->td->context != context))
		return false;
	return !(attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS) ||
	       (attr->alloc && attr->free);
}

static void set_allocators(struct sroce_pd *pd,
			   const struct ibv_parent_domain_init_attr *attr)
{
	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS) {
		pd->alloc = attr->alloc;
		pd->free = attr->free;
	}
	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT)
		pd->alloc_context = attr->pd_context;
}

/*
 * For the kernel a parent domain is its protection domain.  The program's
 * allocators are used for the provider's part of queues; rings are kernel
 * memory.
 */
struct ibv_pd *sroce_alloc_parent_domain(struct ibv_context *context,
					 struct ibv_parent_domain_init_attr *attr)
{
	struct sroce_pd *pd;

	if (attr->comp_mask & ~PARENT_DOMAIN_ATTRS) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	if (!parent_is_valid(context, attr)) {
		errno = EINVAL;
		return NULL;
	}

	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;
	pd->ibv.context = context;
	pd->ibv.handle = attr->pd->handle;
	pd->protects = to_sroce_pd(attr->pd);
	add_user(&pd->protects->users);
	if (attr->td) {
		pd->td = container_of(attr->td, struct sroce_td, ibv);
		add_user(&pd->td->users);
	}
	set_allocators(pd, attr);
	return &pd->ibv;
}

int sroce_dealloc_pd(struct ibv_pd *ibpd)
{
	struct sroce_pd *pd = to_sroce_pd(ibpd);
	int err;

	if (in_use(&pd->users))
		return EBUSY;

	if (pd->protects) {
		remove_user(&pd->protects->users);
		if (pd->td)
			remove_user(&pd->td->users);
	} else {
		err = ibv_cmd_dealloc_pd(ibpd);
		if (err)
			return err;
	}
	free(pd);
	return 0;
}

struct ibv_td *sroce_alloc_td(struct ibv_context *context,
			      struct ibv_td_init_attr *attr)
{
	struct sroce_td *td;

	if (attr->comp_mask) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	td = calloc(1, sizeof(*td));
	if (!td)
		return NULL;
	td->ibv.context = context;
	return &td->ibv;
}

int sroce_dealloc_td(struct ibv_td *ibtd)
{
	struct sroce_td *td = container_of(ibtd, struct sroce_td, ibv);

	if (in_use(&td->users))
		return EBUSY;
	free(td);
	return 0;
}
