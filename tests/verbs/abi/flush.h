/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* FLUSH, written into the ring: rdma-core 44 cannot post it. */
#ifndef FLUSH_H
#define FLUSH_H

#include "rings.h"

#define GLOBAL		(1 << 8)	/* IBV_ACCESS_FLUSH_GLOBAL */
#define PERSISTENT	(1 << 9)	/* IBV_ACCESS_FLUSH_PERSISTENT */

/* Can regions of @host have these rights?  False with older kernels. */
bool can_flush(const struct host *host, int access);
/* Posts an entry without the provider. */
void flush(struct abuser *abuser, uint32_t rkey, const void *remote, uint32_t length,
	   uint8_t type, uint8_t level);
/* Does it complete with @status? */
bool flushed(struct abuser *abuser, enum ibv_wc_status status);
/* Connects again, with these rights of both QPs, too. */
bool connect_for_flush(struct abuser *abuser, int access);

#endif /* FLUSH_H */
