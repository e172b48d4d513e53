// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "pd.h"
#include "udata.h"

int sroce_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	return sroce_udata_empty(udata);
}

int sroce_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	return 0;
}
