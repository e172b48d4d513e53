// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The kick file: the only system call of posting. */
#include <sys/ioctl.h>

#include <rdma/rdma_user_ioctl_cmds.h>

#include "sroce.h"

/* Returns the new file descriptor, or -1 with errno. */
int sroce_open_kick(struct ibv_context *context)
{
	DECLARE_COMMAND_BUFFER(cmd, SROCE_OBJECT_KICK, SROCE_METHOD_KICK_ALLOC,
			       1);
	struct ib_uverbs_attr *fd;

	fd = fill_attr_out_fd(cmd, SROCE_ATTR_KICK_FD, -1);
	if (execute_ioctl(context, cmd))
		return -1;
	return read_attr_fd(SROCE_ATTR_KICK_FD, fd);
}

/*
 * Ask the kernel to process a QP's rings.  This fails only when the device is
 * gone, which a program learns from an asynchronous event.
 */
void sroce_kick(struct sroce_door door)
{
	ioctl(door.kick_fd, SROCE_IOC_KICK, (unsigned long)door.slot_number);
}
