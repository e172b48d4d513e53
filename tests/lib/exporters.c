// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/dma-heap.h>
#include <linux/udmabuf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "exporters.h"

static int from_udmabuf(int flags)
{
	struct udmabuf_create create = { .flags = UDMABUF_FLAGS_CLOEXEC,
					 .size = DMABUF_SIZE };
	int device, fd = -1;

	(void)flags;
	device = open("/dev/udmabuf", O_RDWR);
	create.memfd = memfd_create("sroce", MFD_ALLOW_SEALING);
	if (device >= 0 && !ftruncate(create.memfd, DMABUF_SIZE) &&
	    !fcntl(create.memfd, F_ADD_SEALS, F_SEAL_SHRINK))
		fd = ioctl(device, UDMABUF_CREATE, &create);
	close(create.memfd);
	close(device);
	return fd;
}

static int from_heap(int flags)
{
	struct dma_heap_allocation_data data = { .len = DMABUF_SIZE,
						 .fd_flags = flags };
	int device = open("/dev/dma_heap/system", O_RDWR);

	if (device < 0 || ioctl(device, DMA_HEAP_IOCTL_ALLOC, &data))
		data.fd = -1;
	close(device);
	return device < 0 ? -1 : (int)data.fd;
}

/* From <drm/drm.h> and <drm/drm_mode.h>, which not every system has. */
struct drm_dumb {
	uint32_t height, width, bpp, flags, handle, pitch;
	uint64_t size;
};

struct drm_prime {
	uint32_t handle, flags;
	int32_t fd;
};

#define DRM_MAKE_DUMB	_IOWR('d', 0xb2, struct drm_dumb)
#define DRM_TO_FD	_IOWR('d', 0x2d, struct drm_prime)

/* The driver vgem, a graphics card without the card, is the first of all here. */
static int from_vgem(int flags)
{
	struct drm_dumb dumb = { .height = 256, .width = 1024, .bpp = 32 };
	struct drm_prime prime = { .flags = flags, .fd = -1 };
	int device = open("/dev/dri/card0", O_RDWR);

	if (device < 0)
		return -1;
	if (!ioctl(device, DRM_MAKE_DUMB, &dumb)) {
		prime.handle = dumb.handle;
		if (ioctl(device, DRM_TO_FD, &prime))
			prime.fd = -1;
	}
	close(device);
	return prime.fd;
}

const struct exporter exporters[EXPORTERS] = {
	{ "udmabuf", from_udmabuf },
	{ "system heap", from_heap },
	{ "vgem", from_vgem },
};

int any_dmabuf(int flags)
{
	int fd = from_heap(flags);

	return fd < 0 ? from_vgem(flags) : fd;
}
