// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Device memory, mapped as long as the object exists. */
#include <stdlib.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "sroce.h"

#define WORD	4	/* bytes; offsets and lengths are multiples */

/* True if a copy consists of whole words inside the memory. */
static bool dm_fits(const struct sroce_dm *dm, uint64_t offset, size_t length)
{
	return !(offset % WORD) && !(length % WORD) && offset <= dm->length &&
	       length <= dm->length - offset;
}

static char *dm_at(const struct sroce_dm *dm, uint64_t offset)
{
	return (char *)dm->mapping.addr + offset;
}

static int copy_to(struct ibv_dm *ibdm, uint64_t offset, const void *from,
		   size_t length)
{
	struct sroce_dm *dm = to_sroce_dm(ibdm);

	if (!dm_fits(dm, offset, length))
		return EINVAL;
	memcpy(dm_at(dm, offset), from, length);
	return 0;
}

static int copy_from(void *to, struct ibv_dm *ibdm, uint64_t offset,
		     size_t length)
{
	struct sroce_dm *dm = to_sroce_dm(ibdm);

	if (!dm_fits(dm, offset, length))
		return EINVAL;
	memcpy(to, dm_at(dm, offset), length);
	return 0;
}

static int query_dm(struct ibv_context *context, uint32_t handle,
		    struct sroce_dm_query_resp *resp)
{
	DECLARE_COMMAND_BUFFER(cmd, UVERBS_OBJECT_DM, SROCE_METHOD_DM_QUERY, 2);

	fill_attr_in_obj(cmd, SROCE_ATTR_DM_QUERY_HANDLE, handle);
	fill_attr_out(cmd, SROCE_ATTR_DM_QUERY_RESP, resp, sizeof(*resp));
	return execute_ioctl(context, cmd);
}

/* Map the memory of a handle.  Returns 0 or an errno. */
static int map_dm(struct sroce_dm *dm, struct ibv_context *context,
		  uint32_t handle)
{
	struct sroce_dm_query_resp resp = {};
	int err;

	err = query_dm(context, handle, &resp);
	if (err)
		return err;
	err = sroce_map_listed(to_sroce_context(context), resp.offset, resp.size,
			       &dm->mapping);
	if (err)
		return err;
	dm->length = resp.length;
	dm->vdm.dm.memcpy_to_dm = copy_to;
	dm->vdm.dm.memcpy_from_dm = copy_from;
	return 0;
}

struct ibv_dm *sroce_alloc_dm(struct ibv_context *context,
			      struct ibv_alloc_dm_attr *attr)
{
	struct sroce_dm *dm;
	int err;

	if (attr->comp_mask || !sroce_has(context, SROCE_FEATURE_DM)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	dm = calloc(1, sizeof(*dm));
	if (!dm)
		return NULL;
	err = ibv_cmd_alloc_dm(context, attr, &dm->vdm, NULL);
	if (!err) {
		err = map_dm(dm, context, dm->vdm.handle);
		if (!err)
			return &dm->vdm.dm;
		ibv_cmd_free_dm(&dm->vdm);
	}
	free(dm);
	errno = err;
	return NULL;
}

/* Import device memory of another process; both may copy. */
struct ibv_dm *sroce_import_dm(struct ibv_context *context, uint32_t handle)
{
	struct sroce_dm *dm;
	int err;

	if (!sroce_has(context, SROCE_FEATURE_DM)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	dm = calloc(1, sizeof(*dm));
	if (!dm)
		return NULL;
	err = map_dm(dm, context, handle);
	if (err) {
		free(dm);
		errno = err;
		return NULL;
	}
	dm->vdm.handle = handle;
	dm->vdm.dm.handle = handle;
	dm->vdm.dm.comp_mask = IBV_DM_MASK_HANDLE;
	dm->vdm.dm.context = context;
	return &dm->vdm.dm;
}

void sroce_unimport_dm(struct ibv_dm *ibdm)
{
	struct sroce_dm *dm = to_sroce_dm(ibdm);

	sroce_unmap_listed(to_sroce_context(ibdm->context), &dm->mapping);
	free(dm);
}

int sroce_free_dm(struct ibv_dm *ibdm)
{
	struct sroce_dm *dm = to_sroce_dm(ibdm);
	int err = ibv_cmd_free_dm(&dm->vdm);

	if (!err)
		sroce_unimport_dm(ibdm);
	return err;
}
