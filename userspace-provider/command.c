// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Driver-specific uverbs methods, through the public ioctl. */
#include <sys/ioctl.h>

#include <rdma/rdma_user_ioctl_cmds.h>

#include "sroce.h"

#define MAX_ATTRS	2

/*
 * Call a method with @num attributes, which also return its output.  Returns 0
 * or an errno.
 */
int sroce_command(struct ibv_context *context, uint16_t object, uint16_t method,
		  struct ib_uverbs_attr *attrs, unsigned int num)
{
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attrs[MAX_ATTRS];
	} cmd = {
		.hdr = {
			.length = sizeof(cmd.hdr) + num * sizeof(*attrs),
			.object_id = object,
			.method_id = method,
			.num_attrs = num,
			.driver_id = SROCE_DRIVER_ID,
		},
	};

	if (num > MAX_ATTRS)
		return EINVAL;
	memcpy(cmd.attrs, attrs, num * sizeof(*attrs));
	if (ioctl(context->cmd_fd, RDMA_VERBS_IOCTL, &cmd))
		return errno;
	memcpy(attrs, cmd.attrs, num * sizeof(*attrs));
	return 0;
}
