// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Address handles.  Send entries refer to them by the kernel's number. */
#include <stdlib.h>

#include "sroce.h"

struct ibv_ah *sroce_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct sroce_cmd_create_ah_resp resp = {};
	struct sroce_ah *ah;
	int err;

	ah = calloc(1, sizeof(*ah));
	if (!ah)
		return NULL;
	err = ibv_cmd_create_ah(pd, &ah->ibv, attr, &resp.ibv_resp,
				sizeof(resp));
	if (err) {
		free(ah);
		errno = err;
		return NULL;
	}
	ah->number = resp.drv_payload.ah;
	return &ah->ibv;
}

int sroce_destroy_ah(struct ibv_ah *ibah)
{
	int err = ibv_cmd_destroy_ah(ibah);

	if (!err)
		free(to_sroce_ah(ibah));
	return err;
}
