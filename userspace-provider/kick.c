// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The kick file: the one system call of the data path.
 */
#include <sys/ioctl.h>

#include <rdma/rdma_user_ioctl_cmds.h>

#include "sroce.h"

/*
 * Returns the new file descriptor, or -1 with errno.  The call is uverbs'
 * public ioctl, with one attribute that comes back as the descriptor.
 */
int sroce_open_kick(struct ibv_context *context)
{
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr fd;
	} cmd = {
		.hdr = {
			.length = sizeof(cmd),
			.object_id = SROCE_OBJECT_KICK,
			.method_id = SROCE_METHOD_KICK_ALLOC,
			.num_attrs = 1,
			.driver_id = SROCE_DRIVER_ID,
		},
		.fd = {
			.attr_id = SROCE_ATTR_KICK_FD,
			.flags = UVERBS_ATTR_F_MANDATORY,
		},
	};

	if (ioctl(context->cmd_fd, RDMA_VERBS_IOCTL, &cmd))
		return -1;
	return cmd.fd.data_s64;
}

/*
 * Asks the kernel to look at a QP's rings.  It can only fail when the device
 * is gone; whoever waits for the completions hears of that by an event.
 */
void sroce_kick(struct sroce_door door)
{
	ioctl(door.kick_fd, SROCE_IOC_KICK, (unsigned long)door.slot_number);
}
