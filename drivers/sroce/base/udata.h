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

/**
 * sroce_udata_request() - copy a request of a provider of any age
 * @udata: input of a verb, not NULL
 * @req: the request; bytes that an older provider does not send are 0
 * @size: its size
 * @least: size of the shortest request, that of the oldest provider
 *
 * Context: process, may sleep.
 * Return: 0, EINVAL if the request is shorter, EFAULT, or EOPNOTSUPP if a newer
 * provider sends something other than 0 that this module does not know.
 */
static inline int sroce_udata_request(struct ib_udata *udata, void *req,
				      size_t size, size_t least)
{
	memset(req, 0, size);
	if (udata->inlen < least)
		return -EINVAL;
	if (ib_copy_from_udata(req, udata, min(size, udata->inlen)))
		return -EFAULT;
	return sroce_udata_zero(udata, size);
}

/**
 * sroce_udata_respond_part() - copy a response, or as much as the provider knows
 * @udata: output of a verb, not NULL
 * @resp: the response
 * @size: its size
 * @least: size of the shortest response, that of the oldest provider
 *
 * Context: process, may sleep.
 * Return: 0, EINVAL if the provider's buffer is shorter, or EFAULT.
 */
static inline int sroce_udata_respond_part(struct ib_udata *udata, void *resp,
					   size_t size, size_t least)
{
	if (udata->outlen < least)
		return -EINVAL;
	return ib_copy_to_udata(udata, resp, min(size, udata->outlen));
}

/* The same for a response that has not grown. */
static inline int sroce_udata_respond(struct ib_udata *udata, void *resp,
				      size_t size)
{
	return sroce_udata_respond_part(udata, resp, size, size);
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
