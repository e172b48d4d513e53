// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include <linux/delay.h>
#include <linux/etherdevice.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>
#include "fabric.h"

#define PORT		1
#define WAIT_SECONDS	10

static const char *wanted;
static struct ib_device *found;

static int look_at(struct ib_device *device)
{
	if (!found && !strcmp(dev_name(&device->dev), wanted) &&
	    ib_device_try_get(device))
		found = device;
	return 0;
}

/* Kernels from 7.x on have no other way to find a device by its name. */
static struct ib_device *device_by_name(const char *name)
{
	struct ib_client client = { .name = "sroce_test", .add = look_at };

	wanted = name;
	found = NULL;
	if (!ib_register_client(&client))
		ib_unregister_client(&client);
	return found;
}

int side_open(struct side *s, const char *name, int gid)
{
	struct ib_cq_init_attr attr = { .cqe = 4 * DEPTH };
	int err;

	s->device = device_by_name(name);
	if (!s->device)
		return -ENODEV;
	s->gid = rdma_get_gid_attr(s->device, PORT, gid);
	if (IS_ERR(s->gid))
		return PTR_ERR(s->gid);
	err = rdma_read_gid_l2_fields(s->gid, NULL, s->mac);
	if (err)
		return err;
	s->pd = ib_alloc_pd(s->device, 0);
	if (IS_ERR(s->pd))
		return PTR_ERR(s->pd);
	s->cq = ib_create_cq(s->device, NULL, NULL, NULL, &attr);
	return PTR_ERR_OR_ZERO(s->cq);
}

static int create_qp(struct side *s, enum ib_qp_type type)
{
	struct ib_qp_init_attr init = {
		.send_cq = s->cq,
		.recv_cq = s->cq,
		.srq = s->srq,
		.qp_type = type,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.cap.max_send_wr = DEPTH,
		.cap.max_recv_wr = s->srq ? 0 : DEPTH,
		.cap.max_send_sge = 2,
		.cap.max_recv_sge = s->srq ? 0 : 2,
	};

	s->qp = ib_create_qp(s->pd, &init);
	return PTR_ERR_OR_ZERO(s->qp);
}

int side_qp(struct side *s)
{
	return create_qp(s, IB_QPT_RC);
}

int side_datagram_qp(struct side *s)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = PORT,
		.qkey = QKEY,
	};
	int err = create_qp(s, IB_QPT_UD);

	err = err ?: ib_modify_qp(s->qp, &attr, IB_QP_STATE | IB_QP_PORT |
				  IB_QP_PKEY_INDEX | IB_QP_QKEY);
	attr.qp_state = IB_QPS_RTR;
	err = err ?: ib_modify_qp(s->qp, &attr, IB_QP_STATE);
	attr.qp_state = IB_QPS_RTS;
	return err ?: ib_modify_qp(s->qp, &attr, IB_QP_STATE | IB_QP_SQ_PSN);
}

static void path_to(struct rdma_ah_attr *attr, const struct side *from,
		    const struct side *to)
{
	attr->type = RDMA_AH_ATTR_TYPE_ROCE;
	rdma_ah_set_port_num(attr, PORT);
	rdma_ah_set_grh(attr, (union ib_gid *)&to->gid->gid, 0,
			from->gid->index, 64, 0);
	ether_addr_copy(attr->roce.dmac, to->mac);
}

struct ib_ah *side_address(struct side *s, const struct side *peer)
{
	struct rdma_ah_attr attr = {};

	path_to(&attr, s, peer);
	return rdma_create_ah(s->pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
}

void side_close(struct side *s)
{
	if (!IS_ERR_OR_NULL(s->qp))
		ib_destroy_qp(s->qp);
	if (!IS_ERR_OR_NULL(s->cq))
		ib_destroy_cq(s->cq);
	if (!IS_ERR_OR_NULL(s->pd))
		ib_dealloc_pd(s->pd);
	if (!IS_ERR_OR_NULL(s->gid))
		rdma_put_gid_attr(s->gid);
	if (s->device)
		ib_device_put(s->device);
	memset(s, 0, sizeof(*s));
}

static int to_init(struct side *s)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RESET,
		.port_num = PORT,
		.qp_access_flags = IB_ACCESS_REMOTE_READ |
				   IB_ACCESS_REMOTE_WRITE |
				   IB_ACCESS_REMOTE_ATOMIC,
	};
	int err = ib_modify_qp(s->qp, &attr, IB_QP_STATE);

	attr.qp_state = IB_QPS_INIT;
	return err ?: ib_modify_qp(s->qp, &attr, IB_QP_STATE | IB_QP_PORT |
				   IB_QP_PKEY_INDEX | IB_QP_ACCESS_FLAGS);
}

static int to_rts(struct side *s, const struct side *peer)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTR,
		.path_mtu = IB_MTU_1024,
		.dest_qp_num = peer->qp->qp_num,
		.max_dest_rd_atomic = 4,
		.max_rd_atomic = 4,
		.min_rnr_timer = 1,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
	};
	int err;

	path_to(&attr.ah_attr, s, peer);
	err = ib_modify_qp(s->qp, &attr, IB_QP_STATE | IB_QP_AV |
			   IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN |
			   IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER);
	attr.qp_state = IB_QPS_RTS;
	return err ?: ib_modify_qp(s->qp, &attr, IB_QP_STATE | IB_QP_TIMEOUT |
				   IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
				   IB_QP_SQ_PSN | IB_QP_MAX_QP_RD_ATOMIC);
}

int connect_sides(void)
{
	struct ib_wc wc;

	int err = to_init(&near) ?: to_init(&far) ?: to_rts(&near, &far) ?:
		  to_rts(&far, &near);

	while (ib_poll_cq(near.cq, 1, &wc) > 0 || ib_poll_cq(far.cq, 1, &wc) > 0)
		;
	return err;
}

/* Memory */

struct memory *memory_get(struct ib_device *device, u32 count, u32 order)
{
	struct memory *m = kzalloc(sizeof(*m), GFP_KERNEL);
	u32 i;

	if (!m)
		return NULL;
	m->device = device;
	m->order = order;
	m->count = count;
	m->bytes = count * (PAGE_SIZE << order);
	sg_init_table(m->sg, count);
	for (i = 0; i < count; i++) {
		m->pages[i] = alloc_pages(GFP_KERNEL | __GFP_COMP, order);
		if (!m->pages[i])
			goto err;
		sg_set_page(&m->sg[i], m->pages[i], PAGE_SIZE << order, 0);
	}
	if (ib_dma_map_sg(device, m->sg, count, DMA_BIDIRECTIONAL) == count)
		return m;
err:
	while (i--)
		__free_pages(m->pages[i], order);
	kfree(m);
	return NULL;
}

void memory_put(struct memory *m)
{
	u32 i;

	if (!m)
		return;
	ib_dma_unmap_sg(m->device, m->sg, m->count, DMA_BIDIRECTIONAL);
	for (i = 0; i < m->count; i++)
		__free_pages(m->pages[i], m->order);
	kfree(m);
}

u8 *memory_at(const struct memory *m, u32 at)
{
	u32 piece = PAGE_SIZE << m->order;

	return (u8 *)page_address(m->pages[at / piece]) + at % piece;
}

static u8 pattern(u8 seed, u32 at)
{
	return seed + at + (at >> 8) * 3 + (at >> 16);
}

void memory_fill(struct memory *m, u8 seed)
{
	u32 i;

	for (i = 0; i < m->bytes; i++)
		*memory_at(m, i) = pattern(seed, i);
}

/* Are the bytes at @at those that another memory, filled, has at @from? */
bool memory_is(const struct memory *m, u32 at, u32 bytes, u8 seed, u32 from)
{
	u32 i;

	for (i = 0; i < bytes; i++)
		if (*memory_at(m, at + i) != pattern(seed, from + i))
			return false;
	return true;
}

/* Requests */

bool next_wc(struct side *s, struct ib_wc *wc)
{
	unsigned long end = jiffies + WAIT_SECONDS * HZ;

	while (time_before(jiffies, end)) {
		if (ib_poll_cq(s->cq, 1, wc) == 1)
			return true;
		usleep_range(20, 100);
	}
	return false;
}

int do_send(struct side *s, const struct ib_send_wr *wr)
{
	struct ib_wc wc;
	int err;

	err = ib_post_send(s->qp, wr, NULL);
	if (err)
		return err;
	return next_wc(s, &wc) ? (int)wc.status : -ETIMEDOUT;
}

/* All of it from @offset on. */
int do_map(struct ib_mr *mr, struct memory *m, u32 offset, u32 page_size)
{
	return ib_map_mr_sg(mr, m->sg, m->count, &offset, page_size);
}

int do_register(struct side *s, struct ib_mr *mr, u32 key, int access)
{
	struct ib_reg_wr wr = {
		.wr.opcode = IB_WR_REG_MR,
		.wr.send_flags = IB_SEND_SIGNALED,
		.mr = mr,
		.key = key,
		.access = access,
	};

	return do_send(s, &wr.wr);
}

int do_invalidate(struct side *s, u32 key)
{
	struct ib_send_wr wr = {
		.opcode = IB_WR_LOCAL_INV,
		.send_flags = IB_SEND_SIGNALED,
		.ex.invalidate_rkey = key,
	};

	return do_send(s, &wr);
}

int do_rdma(struct side *s, enum ib_wr_opcode op, struct ib_sge *sge, u64 to,
	    u32 rkey)
{
	struct ib_rdma_wr wr = {
		.wr.opcode = op,
		.wr.send_flags = IB_SEND_SIGNALED,
		.wr.sg_list = sge,
		.wr.num_sge = 1,
		.wr.ex.invalidate_rkey = sge->lkey,
		.remote_addr = to,
		.rkey = rkey,
	};

	return do_send(s, &wr.wr);
}

int post_receive(struct side *s, u64 id, struct memory *m)
{
	struct ib_sge sge = sge_of(s, m, PAGE_SIZE);
	struct ib_recv_wr wr = {
		.wr_id = id,
		.sg_list = &sge,
		.num_sge = 1,
	};

	return s->srq ? ib_post_srq_recv(s->srq, &wr, NULL) :
			ib_post_recv(s->qp, &wr, NULL);
}
