/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* dma-bufs of the exporters that this kernel has. */
#ifndef EXPORTERS_H
#define EXPORTERS_H

#include <stdint.h>

#define DMABUF_SIZE	(1 << 20)
#define EXPORTERS	3

/**
 * struct exporter - a driver whose memory others may use
 * @name: of the driver
 * @export: a dma-buf of DMABUF_SIZE bytes, or -1 if there is no such driver; its
 *	argument is as for open()
 */
struct exporter {
	const char *name;
	int (*export)(int flags);
};

extern const struct exporter exporters[EXPORTERS];

/* A dma-buf of any exporter, or -1. */
int any_dmabuf(int flags);

#endif /* EXPORTERS_H */
