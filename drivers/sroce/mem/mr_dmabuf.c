// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Regions of dma-buf memory.  The CPU copies the payload, so the driver asks
 * the exporter for one contiguous kernel mapping.  Some exporters may still
 * move a mapped buffer, but all keep it in place for an attached device.  The
 * driver therefore attaches a device of its own.
 */
#ifdef SROCE_HAVE_FAUX_DEVICE
#include <linux/device/faux.h>
#else
#include <linux/platform_device.h>
#endif
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/file.h>
#include <linux/iosys-map.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>
#include "../base/udata.h"
#include "mr.h"
#include "mr_dmabuf.h"

/* A contiguous piece has to be less than 4 GiB (mem/sgl.c). */
#define MAX_BLOCK_SHIFT	30

/* The device that attaches to dma-bufs on behalf of the CPU. */
static struct sroce_importer *importer;

int sroce_dmabuf_init(void)
{
	int err;

	importer = sroce_importer_create("sroce");
	if (!importer)
		return -ENODEV;
	err = dma_coerce_mask_and_coherent(&importer->dev, DMA_BIT_MASK(64));
	if (err)
		sroce_importer_destroy(importer);
	return err;
}

void sroce_dmabuf_exit(void)
{
	sroce_importer_destroy(importer);
}

/**
 * struct dmabuf_mr - region of a dma-buf
 * @mr: first member
 * @dmabuf: the buffer, referenced
 * @attachment: of @importer, or NULL
 * @table: addresses for @importer, if the exporter could move the buffer
 * @map: mapping of the whole buffer, or a null map
 * @held: dma_buf_begin_cpu_access() has succeeded
 */
struct dmabuf_mr {
	struct sroce_mr mr;
	struct dma_buf *dmabuf;
	struct dma_buf_attachment *attachment;
	struct sg_table *table;
	struct iosys_map map;
	bool held;
};

static struct dmabuf_mr *to_dmabuf(struct sroce_mr *mr)
{
	return container_of(mr, struct dmabuf_mr, mr);
}

static enum dma_data_direction map_direction(const struct sroce_mr *mr)
{
	return ib_access_writable(mr->access) ? DMA_BIDIRECTIONAL :
						DMA_FROM_DEVICE;
}

static void dmabuf_release(struct sroce_mr *mr)
{
	struct dmabuf_mr *d = to_dmabuf(mr);

	kfree(mr->blocks);
	if (d->held)
		dma_buf_end_cpu_access(d->dmabuf, map_direction(mr));
	if (!iosys_map_is_null(&d->map))
		dma_buf_vunmap_unlocked(d->dmabuf, &d->map);
	if (d->table)
		dma_buf_unmap_attachment_unlocked(d->attachment, d->table,
						  DMA_BIDIRECTIONAL);
	if (d->attachment)
		dma_buf_detach(d->dmabuf, d->attachment);
	if (d->dmabuf)
		dma_buf_put(d->dmabuf);
}

static int get_dmabuf(struct dmabuf_mr *d, int fd)
{
	struct dma_buf *dmabuf = dma_buf_get(fd);

	/*
	 * Programs pass an invalid descriptor to test whether a GPU's memory
	 * could be registered, and take any other errno for a yes.
	 */
	if (IS_ERR(dmabuf))
		return PTR_ERR(dmabuf) == -EBADF ? -EOPNOTSUPP :
						   PTR_ERR(dmabuf);
	d->dmabuf = dmabuf;
	if (ib_access_writable(d->mr.access) &&
	    !(dmabuf->file->f_mode & FMODE_WRITE))
		return -EACCES;
	/*
	 * The CPU cannot reach the memory, or the exporter does not support it.
	 */
	if (!dmabuf->ops->vmap)
		return -EOPNOTSUPP;
	return 0;
}

/* Keep the buffer in place.  A buffer that can move is pinned by mapping it. */
static int hold_dmabuf(struct dmabuf_mr *d)
{
	struct dma_buf_attachment *attachment;
	struct sg_table *table;

	attachment = dma_buf_attach(d->dmabuf, &importer->dev);
	if (IS_ERR(attachment))
		return PTR_ERR(attachment);
	d->attachment = attachment;
	if (!d->dmabuf->ops->pin)
		return 0;
	table = dma_buf_map_attachment_unlocked(attachment, DMA_BIDIRECTIONAL);
	if (IS_ERR(table))
		return PTR_ERR(table);
	d->table = table;
	return 0;
}

/*
 * CPU access begins here and ends when the region is freed: when a packet
 * arrives, nothing can wait for the exporter.
 */
static int map_dmabuf(struct dmabuf_mr *d)
{
	int err;

	err = dma_buf_vmap_unlocked(d->dmabuf, &d->map);
	if (err) {
		iosys_map_clear(&d->map);
		return err;
	}
	if (d->map.is_iomem)
		return -EOPNOTSUPP;
	err = dma_buf_begin_cpu_access(d->dmabuf, map_direction(&d->mr));
	d->held = !err;
	return err;
}

/* Usually one block: the mapping is contiguous. */
static int fill_blocks(struct sroce_mr *mr, void *from)
{
	u64 count, i;

	mr->block_shift = clamp(order_base_2(mr->length), PAGE_SHIFT,
				MAX_BLOCK_SHIFT);
	count = ((mr->length - 1) >> mr->block_shift) + 1;
	mr->blocks = kmalloc_array(count, sizeof(*mr->blocks),
				   GFP_KERNEL_ACCOUNT);
	if (!mr->blocks)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		mr->blocks[i] = from + (i << mr->block_shift);
	return 0;
}

static int make_region(struct dmabuf_mr *d, int fd, u64 offset, u64 length,
		       u64 iova)
{
	struct sroce_mr *mr = &d->mr;
	u64 last;
	int err;

	err = get_dmabuf(d, fd);
	if (err)
		return err;
	if (!length || check_add_overflow(iova, length - 1, &last) ||
	    offset > d->dmabuf->size || length > d->dmabuf->size - offset)
		return -EINVAL;
	err = hold_dmabuf(d) ?: map_dmabuf(d);
	if (err)
		return err;
	mr->iova = iova;
	mr->length = length;
	mr->ib.iova = iova;
	mr->ib.length = length;
	return fill_blocks(mr, d->map.vaddr + offset);
}

struct ib_mr *sroce_reg_dmabuf_mr(struct ib_pd *pd, u64 offset, u64 length,
				  u64 iova, int fd, int access, SROCE_DMAH
				  struct sroce_dmabuf_input *input)
{
	struct dmabuf_mr *d;
	struct sroce_mr *mr;
	int err;

	if (access & ~SROCE_MR_ACCESS)
		return ERR_PTR(-EOPNOTSUPP);
	err = ib_no_udata_io(sroce_dmabuf_udata(input));
	if (err)
		return ERR_PTR(err);
	mr = sroce_mr_alloc(sizeof(*d), pd, SROCE_MR_DMABUF, access);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	d = to_dmabuf(mr);
	mr->release = dmabuf_release;
	return sroce_mr_finish(mr, make_region(d, fd, offset, length, iova));
}

MODULE_IMPORT_NS(SROCE_DMA_BUF_NS);
