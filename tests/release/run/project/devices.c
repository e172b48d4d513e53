// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Opens each RDMA device, and fails if there is none. */
#include <infiniband/verbs.h>
#include <stdio.h>

int main(void)
{
	int i, opened = 0, n = 0;
	struct ibv_device **devices = ibv_get_device_list(&n);

	for (i = 0; i < n; i++) {
		struct ibv_context *context = ibv_open_device(devices[i]);

		opened += context && !ibv_close_device(context);
	}
	printf("%d devices\n", opened);
	return !opened || opened < n;
}
