// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Protection domains. */
#include <rdma/sroce-abi.h>
#include <rdma/uverbs_types.h>
#include "../base/udata.h"
#include "pd.h"

#define UVERBS_MODULE_NAME sroce
#include <rdma/uverbs_named_ioctl.h>

int sroce_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	return ib_no_udata_io(udata);
}

int sroce_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	return 0;
}

/* The macros below need names that are not macros. */
enum {
	PD_QUERY = SROCE_METHOD_PD_QUERY,
	PD_QUERY_HANDLE = SROCE_ATTR_PD_QUERY_HANDLE,
};

/* The RDMA core has checked the handle. */
static int UVERBS_HANDLER(PD_QUERY)(struct uverbs_attr_bundle *attrs)
{
	return 0;
}

DECLARE_UVERBS_NAMED_METHOD(PD_QUERY,
			    UVERBS_ATTR_IDR(PD_QUERY_HANDLE, UVERBS_OBJECT_PD,
					    UVERBS_ACCESS_READ, UA_MANDATORY));

ADD_UVERBS_METHODS(pd_methods, UVERBS_OBJECT_PD, &UVERBS_METHOD(PD_QUERY));

const struct uapi_definition sroce_pd_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_PD, &pd_methods),
	{},
};
