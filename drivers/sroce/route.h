/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_ROUTE_H
#define SROCE_ROUTE_H

#include "qp.h"

/**
 * sroce_path_dst() - the route to a peer
 * @path: where it is kept; the lock of its side is held
 * @av: the peer
 *
 * Return: a route that belongs to @path, or an ERR_PTR().
 */
struct dst_entry *sroce_path_dst(struct sroce_path *path,
				 const struct sroce_av *av);
/* Forget the route.  Context: the lock of its side, or its last user. */
void sroce_path_release(struct sroce_path *path);

#endif /* SROCE_ROUTE_H */
