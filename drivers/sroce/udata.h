/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_UDATA_H
#define SROCE_UDATA_H

#include <rdma/ib_verbs.h>

/**
 * sroce_udata_empty() - refuse input that has no meaning yet
 * @udata: of a verb without a request of ours; NULL for the kernel
 *
 * Context: process, may sleep.
 * Return: 0, or EOPNOTSUPP if there is a byte that is not zero.
 */
static inline int sroce_udata_empty(struct ib_udata *udata)
{
	if (!udata || !udata->inlen)
		return 0;
	return ib_is_udata_cleared(udata, 0, udata->inlen) ? 0 : -EOPNOTSUPP;
}

/* Answer a create command; EINVAL if the caller left no room for all of it. */
static inline int sroce_udata_respond(struct ib_udata *udata, void *resp,
				      size_t size)
{
	if (udata->outlen < size)
		return -EINVAL;
	return ib_copy_to_udata(udata, resp, size);
}

#endif /* SROCE_UDATA_H */
