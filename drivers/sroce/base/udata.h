/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_UDATA_H
#define SROCE_UDATA_H

#include <linux/uaccess.h>
#include <rdma/ib_verbs.h>
#include <rdma/sroce-abi.h>

/**
 * sroce_udata_zero() - refuse input that is not defined
 * @udata: input of a verb
 * @from: end of the defined input, bytes
 *
 * Unlike ib_is_udata_cleared() it allocates no memory, so valid input does not
 * fail when memory is short.
 *
 * Context: process, may sleep.
 * Return: 0, EFAULT, or EOPNOTSUPP if a byte is not 0.
 */
static inline int sroce_udata_zero(struct ib_udata *udata, size_t from)
{
	int zero = 1;

	if (udata->inlen > from)
		zero = check_zeroed_user(udata->inbuf + from,
					 udata->inlen - from);
	if (zero < 0)
		return zero;
	return zero ? 0 : -EOPNOTSUPP;
}

/**
 * sroce_udata_empty() - refuse input of a verb that has no driver request
 * @udata: input of the verb; NULL for kernel users
 *
 * Context: process, may sleep.
 * Return: as sroce_udata_zero().
 */
static inline int sroce_udata_empty(struct ib_udata *udata)
{
	return udata ? sroce_udata_zero(udata, 0) : 0;
}

/*
 * Copy the response of a create command; EINVAL if the caller's buffer is too
 * small.
 */
static inline int sroce_udata_respond(struct ib_udata *udata, void *resp,
				      size_t size)
{
	if (udata->outlen < size)
		return -EINVAL;
	return ib_copy_to_udata(udata, resp, size);
}

/**
 * sroce_udata_create_req() - check the request of a create command
 * @udata: input of the verb, not NULL
 *
 * Context: process, may sleep.
 * Return: 0, EINVAL if struct sroce_create_req is truncated, EFAULT, or
 * EOPNOTSUPP if it is not all 0.
 */
static inline int sroce_udata_create_req(struct ib_udata *udata)
{
	if (udata->inlen < sizeof(struct sroce_create_req))
		return -EINVAL;
	return sroce_udata_empty(udata);
}

#endif /* SROCE_UDATA_H */
