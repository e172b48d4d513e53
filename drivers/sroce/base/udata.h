/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_UDATA_H
#define SROCE_UDATA_H

#include <linux/uaccess.h>
#include <rdma/ib_verbs.h>
#include <rdma/sroce-abi.h>
#include <rdma/uverbs_ioctl.h>

#ifndef SROCE_HAVE_UDATA_HELPERS
/* These have the names and the meaning of the kernel's own. */

/*
 * Unlike ib_is_udata_cleared() this allocates no memory, so valid input does not
 * fail when memory is short.
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

/*
 * Copy a request.  Bytes that an older provider does not send are 0.  Bytes that
 * this module does not know must be 0.
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

#define ib_copy_validate_udata_in(udata, req, end)		\
	sroce_udata_request(udata, &(req), sizeof(req),		\
			    offsetofend(typeof(req), end))

static inline int ib_is_udata_in_empty(struct ib_udata *udata)
{
	return udata ? sroce_udata_zero(udata, 0) : 0;
}

/* Clears the rest of the provider's buffer. */
static inline int sroce_udata_write(struct ib_udata *udata, void *resp,
				    size_t size)
{
	int err = ib_copy_to_udata(udata, resp, min(size, udata->outlen));

	if (!err && udata->outlen > size &&
	    clear_user(udata->outbuf + size, udata->outlen - size))
		err = -EFAULT;
	return err;
}

#define ib_respond_udata(udata, resp)				\
	sroce_udata_write(udata, &(resp), sizeof(resp))

/* Without a buffer there may be no memory either: the process may have exited. */
static inline int ib_respond_empty_udata(struct ib_udata *udata)
{
	return udata && udata->outlen &&
	       clear_user(udata->outbuf, udata->outlen) ? -EFAULT : 0;
}

static inline int ib_no_udata_io(struct ib_udata *udata)
{
	return ib_is_udata_in_empty(udata) ?: ib_respond_empty_udata(udata);
}
#endif

/**
 * sroce_udata_room() - check that a response is not truncated
 * @udata: of the verb, not NULL
 * @least: size of the shortest response, that of the oldest provider
 *
 * Context: any.
 * Return: 0, or EINVAL if the provider's buffer is shorter.
 */
static inline int sroce_udata_room(const struct ib_udata *udata, size_t least)
{
	return udata->outlen < least ? -EINVAL : 0;
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
	struct sroce_create_req req;
	int err;

	err = ib_copy_validate_udata_in(udata, req, reserved);
	if (err)
		return err;
	return req.flags || req.reserved ? -EOPNOTSUPP : 0;
}

#endif /* SROCE_UDATA_H */
