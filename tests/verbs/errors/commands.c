// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The driver's part of uverbs commands: driver data that is too short, too long or
 * reserved, and responses that have nowhere to go.  uverbs itself checks the rest.
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl.h>
#include <rdma/sroce-abi.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "misuse.h"

/* write() */

struct raw {
	struct ib_uverbs_cmd_hdr hdr;
	union {
		uint64_t words[64];
		uint64_t response;
		struct ib_uverbs_alloc_pd alloc_pd;
		struct ib_uverbs_reg_mr reg_mr;
		struct ib_uverbs_create_cq create_cq;
		struct ib_uverbs_resize_cq resize_cq;
		struct ib_uverbs_create_qp create_qp;
		struct ib_uverbs_create_ah create_ah;
		struct ib_uverbs_create_srq create_srq;
		struct ib_uverbs_modify_srq modify_srq;
		struct ib_uverbs_modify_qp modify_qp;
	};
} __attribute__((packed, aligned(4)));

static uint64_t answer[64];

/* Words are counted from the header on, bytes here behind it. */
static int send_raw(struct things *t, struct raw *raw, uint32_t command,
		    size_t in, size_t out)
{
	size_t length = sizeof(raw->hdr) + in;

	raw->hdr.command = command;
	raw->hdr.in_words = length / 4;
	raw->hdr.out_words = out / 4;
	errno = 0;
	return write(t->context->cmd_fd, raw, length) == (ssize_t)length ?
	       0 : errno;
}

/*
 * sroce's part of a command and of its response; @fill writes the core's part
 * and returns its length.
 */
struct command {
	const char *name;
	uint32_t number;
	size_t (*fill)(struct things *t, struct raw *raw);
	size_t core_answer;
	size_t in;
	size_t out;
};

static size_t create_cq(struct things *t, struct raw *raw)
{
	(void)t;
	raw->create_cq.cqe = 4;
	raw->create_cq.comp_channel = -1;
	return sizeof(raw->create_cq);
}

static size_t resize_cq(struct things *t, struct raw *raw)
{
	raw->resize_cq.cq_handle = t->cq->handle;
	raw->resize_cq.cqe = 8;
	return sizeof(raw->resize_cq);
}

static size_t create_qp(struct things *t, struct raw *raw)
{
	raw->create_qp.pd_handle = t->pd->handle;
	raw->create_qp.send_cq_handle = t->cq->handle;
	raw->create_qp.recv_cq_handle = t->cq->handle;
	raw->create_qp.qp_type = IBV_QPT_RC;
	return sizeof(raw->create_qp);
}

static size_t create_srq(struct things *t, struct raw *raw)
{
	raw->create_srq.pd_handle = t->pd->handle;
	raw->create_srq.max_wr = 4;
	return sizeof(raw->create_srq);
}

static size_t create_ah(struct things *t, struct raw *raw)
{
	struct ib_uverbs_ah_attr *attr = &raw->create_ah.attr;

	raw->create_ah.pd_handle = t->pd->handle;
	memcpy(attr->grh.dgid, &hosts[1].gid, 16);
	attr->grh.sgid_index = hosts[0].gid_index;
	attr->is_global = 1;
	attr->port_num = 1;
	return sizeof(raw->create_ah);
}

static size_t alloc_pd(struct things *t, struct raw *raw)
{
	(void)t;
	return sizeof(raw->alloc_pd);
}

static const struct command commands[] = {
	{ "create CQ", IB_USER_VERBS_CMD_CREATE_CQ, create_cq,
	  sizeof(struct ib_uverbs_create_cq_resp),
	  sizeof(struct sroce_create_req), sizeof(struct sroce_create_cq_resp) },
	{ "resize CQ", IB_USER_VERBS_CMD_RESIZE_CQ, resize_cq,
	  sizeof(struct ib_uverbs_resize_cq_resp), 0,
	  sizeof(struct sroce_create_cq_resp) },
	{ "create QP", IB_USER_VERBS_CMD_CREATE_QP, create_qp,
	  sizeof(struct ib_uverbs_create_qp_resp),
	  sizeof(struct sroce_create_req), sizeof(struct sroce_create_qp_resp) },
	{ "create SRQ", IB_USER_VERBS_CMD_CREATE_SRQ, create_srq,
	  sizeof(struct ib_uverbs_create_srq_resp),
	  sizeof(struct sroce_create_req),
	  sizeof(struct sroce_create_srq_resp) },
	{ "create AH", IB_USER_VERBS_CMD_CREATE_AH, create_ah,
	  sizeof(struct ib_uverbs_create_ah_resp), 0,
	  sizeof(struct sroce_create_ah_resp) },
	{ "allocate PD", IB_USER_VERBS_CMD_ALLOC_PD, alloc_pd,
	  sizeof(struct ib_uverbs_alloc_pd_resp), 0, 0 },
};

/* Adds @in bytes for the driver, the last of which is @last, and room for @out. */
static int command(struct things *t, const struct command *c, size_t in,
		   size_t out, int last, void *to)
{
	struct raw raw = {};
	size_t core = c->fill(t, &raw);

	raw.response = (uintptr_t)to;
	if (in)
		((uint8_t *)&raw.words)[core + in - 1] = last;
	return send_raw(t, &raw, c->number, core + in, c->core_answer + out);
}

static void our_part(struct things *t, const struct command *c)
{
	char verb[40];

	snprintf(verb, sizeof(verb), "command \"%s\"", c->name);
	if (c->in) {
		REFUSED(verb, "driver data missing", EINVAL,
			command(t, c, 0, c->out, 0, answer));
		REFUSED(verb, "driver data truncated", EINVAL,
			command(t, c, c->in / 2, c->out, 0, answer));
		REFUSED(verb, "driver data with reserved bits", EOPNOTSUPP,
			command(t, c, c->in, c->out, 1, answer));
	}
	REFUSED(verb, "driver data followed by unknown bytes", EOPNOTSUPP,
		command(t, c, c->in + 16, c->out, 0x80, answer));
	if (c->out) {
		REFUSED(verb, "no buffer for the driver's response", EINVAL,
			command(t, c, c->in, 0, 0, answer));
		REFUSED(verb, "response buffer too small", EINVAL,
			command(t, c, c->in, c->out - 4, 0, answer));
	}
	REFUSED(verb, "response address not mapped", EFAULT,
		command(t, c, c->in, c->out, 0, (void *)4096));
}

static int open_raw(struct things *t, uint32_t version, uint32_t flags)
{
	struct ibv_context *again = ibv_open_device(t->context->device);
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		uint64_t response;
		struct sroce_alloc_ucontext_req drv;
	} __attribute__((packed)) raw = {
		.response = (uintptr_t)answer,
		.drv = { .abi_version = version, .flags = flags },
	};
	char path[100];
	int fd, err;

	if (!CHECK(again))
		return -1;
	snprintf(path, sizeof(path), "/dev/infiniband/%s",
		 again->device->dev_name);
	CHECK_CALL(ibv_close_device(again), 0);
	fd = open(path, O_RDWR);
	raw.hdr = (struct ib_uverbs_cmd_hdr) {
		IB_USER_VERBS_CMD_GET_CONTEXT, sizeof(raw) / 4,
		(sizeof(struct ib_uverbs_get_context_resp) +
		 sizeof(struct sroce_alloc_ucontext_resp)) / 4,
	};
	errno = 0;
	err = write(fd, &raw, sizeof(raw)) < 0 ? errno : 0;
	close(fd);
	return err;
}

static void special(struct things *t)
{
	struct raw raw = { .modify_srq = {
		.srq_handle = t->srq->handle, .attr_mask = IBV_SRQ_MAX_WR,
		.max_wr = 8,
	} };
	struct sroce_modify_srq_req resize = { 4096, 32 };
	const size_t size = sizeof(raw.modify_srq);

	REFUSED("command \"open the device\"", "another ABI version", EPROTO,
		open_raw(t, SROCE_ABI_VERSION + 1, 0));
	REFUSED("command \"open the device\"", "an unknown flag", EOPNOTSUPP,
		open_raw(t, SROCE_ABI_VERSION, 1));
	REFUSED("command \"resize SRQ\"", "driver data missing", EINVAL,
		send_raw(t, &raw, IB_USER_VERBS_CMD_MODIFY_SRQ, size, 0));
	memcpy(&raw.words[size / 8], &resize, sizeof(resize));
	REFUSED("command \"resize SRQ\"", "response address not mapped",
		EFAULT, send_raw(t, &raw, IB_USER_VERBS_CMD_MODIFY_SRQ,
				 size + 16, 0));
	REFUSED("command \"resize SRQ\"", "driver data truncated", EINVAL,
		send_raw(t, &raw, IB_USER_VERBS_CMD_MODIFY_SRQ, size + 8, 0));
	resize = (struct sroce_modify_srq_req) { (uintptr_t)answer, 28 };
	memcpy(&raw.words[size / 8], &resize, sizeof(resize));
	REFUSED("command \"resize SRQ\"", "response buffer too small", EINVAL,
		send_raw(t, &raw, IB_USER_VERBS_CMD_MODIFY_SRQ, size + 16, 0));
	resize = (struct sroce_modify_srq_req) { (uintptr_t)answer, 32, 1 };
	memcpy(&raw.words[size / 8], &resize, sizeof(resize));
	REFUSED("command \"resize SRQ\"", "driver data with reserved bits", EOPNOTSUPP,
		send_raw(t, &raw, IB_USER_VERBS_CMD_MODIFY_SRQ, size + 16, 0));
	raw.words[size / 8 + 1] = 32;
	raw.words[size / 8 + 2] = 1;
	REFUSED("command \"resize SRQ\"", "driver data followed by unknown bytes", EOPNOTSUPP,
		send_raw(t, &raw, IB_USER_VERBS_CMD_MODIFY_SRQ, size + 24, 0));
	raw = (struct raw) { .modify_qp = {
		.qp_handle = t->qp->handle, .attr_mask = IBV_QP_STATE,
		.qp_state = IBV_QPS_RESET,
	} };
	raw.words[sizeof(raw.modify_qp) / 8] = 1;
	REFUSED("command \"modify QP\"", "unknown bytes at the end", EOPNOTSUPP,
		send_raw(t, &raw, IB_USER_VERBS_CMD_MODIFY_QP,
			 sizeof(raw.modify_qp) + 8, 0));
	raw = (struct raw) { .reg_mr = {
		.response = (uintptr_t)answer, .pd_handle = t->pd->handle,
		.start = (uintptr_t)t->buf, .hca_va = (uintptr_t)t->buf,
		.length = 4096,
	} };
	raw.words[sizeof(raw.reg_mr) / 8] = 0x80;
	REFUSED("command \"register MR\"", "an unknown flag", EOPNOTSUPP,
		send_raw(t, &raw, IB_USER_VERBS_CMD_REG_MR,
			 sizeof(raw.reg_mr) + 8,
			 sizeof(struct ib_uverbs_reg_mr_resp)));
	raw.words[sizeof(raw.reg_mr) / 8] = SROCE_REG_MR_NULL;
	REFUSED("command \"register MR\"", "null region with a length", EINVAL,
		send_raw(t, &raw, IB_USER_VERBS_CMD_REG_MR,
			 sizeof(raw.reg_mr) + 8,
			 sizeof(struct ib_uverbs_reg_mr_resp)));
}

/*
 * The driver has created the object, then the core cannot write its response: the
 * object is destroyed.  The PD shows whether it is gone.
 */

#define PAGE	4096

static struct ibv_pd *swap_pd(struct things *t, struct ibv_pd *pd)
{
	struct ibv_pd *old = t->pd;

	t->pd = pd;
	return old;
}

/*
 * The request's core part ends in a read-only page, and so does the response's.
 * Behind it the driver's response overwrites the driver's request.
 */
static int abort_create(struct things *t, const struct command *c)
{
	struct ibv_pd *pd = swap_pd(t, ibv_alloc_pd(t->context));
	uint8_t *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct raw raw = {}, *at;
	size_t core;
	int err;

	if (!CHECK(pages != MAP_FAILED && t->pd))
		return -1;
	core = c->fill(t, &raw);
	raw.response = (uintptr_t)pages + PAGE - c->core_answer;
	raw.hdr.command = c->number;
	raw.hdr.in_words = (sizeof(raw.hdr) + core + c->in) / 4;
	raw.hdr.out_words = (c->core_answer + c->out) / 4;
	at = (struct raw *)(pages + PAGE - core - sizeof(raw.hdr));
	memcpy(at, &raw, sizeof(raw.hdr) + core);
	mprotect(pages, PAGE, PROT_READ);
	errno = 0;
	err = write(t->context->cmd_fd, at, raw.hdr.in_words * 4) < 0 ? errno : 0;
	munmap(pages, 2 * PAGE);
	return ibv_dealloc_pd(swap_pd(t, pd)) ?: err;
}

static int abort_null_mr(struct things *t)
{
	struct ibv_pd *pd = ibv_alloc_pd(t->context);
	struct raw raw = { .reg_mr = {
		.response = PAGE, .access_flags = IBV_ACCESS_LOCAL_WRITE,
	} };
	int err;

	if (!CHECK(pd))
		return -1;
	raw.reg_mr.pd_handle = pd->handle;
	raw.words[sizeof(raw.reg_mr) / 8] = SROCE_REG_MR_NULL;
	err = send_raw(t, &raw, IB_USER_VERBS_CMD_REG_MR,
		       sizeof(raw.reg_mr) + 8,
		       sizeof(struct ib_uverbs_reg_mr_resp));
	return ibv_dealloc_pd(pd) ?: err;
}

struct registration {
	struct things *t;
	struct raw raw;
	int err;
};

static void *register_mr(void *arg)
{
	struct registration *r = arg;

	r->err = send_raw(r->t, &r->raw, IB_USER_VERBS_CMD_REG_MR,
			  sizeof(r->raw.reg_mr),
			  sizeof(struct ib_uverbs_reg_mr_resp));
	return NULL;
}

/* A thread that accesses the page waits until the file is closed. */
static int delay_page(void *page)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = {
		.range = { (uintptr_t)page, PAGE },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0)
		return -1;
	CHECK(!ioctl(fd, UFFDIO_API, &api));
	CHECK(!ioctl(fd, UFFDIO_REGISTER, &range));
	return fd;
}

/* Binds a window to the region with this key. */
static void bind_to(struct things *t, uint32_t key)
{
	struct ibv_mw *mw = ibv_alloc_mw(t->pd, IBV_MW_TYPE_1);
	struct ibv_mr mr = *t->mr;
	struct ibv_mw_bind bind = {
		.wr_id = 7, .send_flags = IBV_SEND_SIGNALED,
		.bind_info = { &mr, (uintptr_t)t->buf, 100,
			       IBV_ACCESS_REMOTE_READ },
	};

	if (!CHECK(mw))
		return;
	mr.lkey = key;
	CHECK_CALL(ibv_bind_mw(t->pair.a.qp, mw, &bind), 0);
	EXPECT(t->pair.a.scq, t->pair.a.qp, .wr_id = 7,
	       .status = IBV_WC_MW_BIND_ERR, .opcode = IBV_WC_BIND_MW);
	CHECK(pair_again(&t->pair));
	CHECK_CALL(ibv_dealloc_mw(mw), 0);
}

/*
 * The process reads the key in the part of the response that it already has; the
 * rest of the response fails only after that.
 */
static void bind_early(const void *arg)
{
	struct things *t = (struct things *)arg;
	uint8_t *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	volatile uint32_t *lkey = (uint32_t *)(pages + PAGE) - 1;
	struct registration r = { .t = t, .raw.reg_mr = {
		.response = (uintptr_t)pages + PAGE - 8,
		.start = (uintptr_t)t->buf, .hca_va = (uintptr_t)t->buf,
		.length = PAGE, .pd_handle = t->pd->handle,
		.access_flags = ALL_ACCESS | IBV_ACCESS_MW_BIND,
	} };
	int fd, tries = 5000;
	pthread_t thread;

	REQUIRE(CHECK(pages != MAP_FAILED));
	memset(pages, 0, PAGE);
	fd = delay_page(pages + PAGE);
	if (fd >= 0) {
		REQUIRE(CHECK(!pthread_create(&thread, NULL, register_mr, &r)));
		while (!*lkey && tries--)
			usleep(1000);
		if (CHECK(*lkey))
			bind_to(t, *lkey);
		munmap(pages + PAGE, PAGE);
		close(fd);
		pthread_join(thread, NULL);
		CHECK_CALL(r.err, EFAULT);
	} else {
		skip("this kernel has no userfaultfd()");
	}
	munmap(pages, PAGE);
}

static void aborts(struct things *t)
{
	char verb[40];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		if (!commands[i].in)
			continue;
		snprintf(verb, sizeof(verb), "command \"%s\"", commands[i].name);
		REFUSED(verb, "response address of the core not writable", EFAULT,
			abort_create(t, &commands[i]));
	}
	REFUSED("command \"register MR\"",
		"null region, response address not mapped", EFAULT,
		abort_null_mr(t));
	run_test(bind_early, t, "no window is bound to a region whose registration fails");
}

/* ioctl() */

struct request {
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attrs[4];
};

static int send_request(struct things *t, struct request *r)
{
	if (!r->hdr.length)
		r->hdr.length = sizeof(r->hdr) +
				r->hdr.num_attrs * sizeof(r->attrs[0]);
	r->hdr.driver_id = SROCE_DRIVER_ID;
	return ioctl(t->context->cmd_fd, RDMA_VERBS_IOCTL, r) ? errno : 0;
}

#define REQUEST(...) send_request(t, &(struct request) { __VA_ARGS__ })

static int query_dm(struct things *t, uint32_t handle, void *to, size_t length)
{
	return REQUEST({ .object_id = UVERBS_OBJECT_DM,
			 .method_id = SROCE_METHOD_DM_QUERY, .num_attrs = 2 }, {
		{ .attr_id = SROCE_ATTR_DM_QUERY_HANDLE,
		  .flags = UVERBS_ATTR_F_MANDATORY, .data = handle },
		{ .attr_id = SROCE_ATTR_DM_QUERY_RESP,
		  .flags = UVERBS_ATTR_F_MANDATORY, .len = length,
		  .data = (uintptr_t)to } });
}

static void our_methods(struct things *t)
{
	const size_t size = sizeof(struct sroce_dm_query_resp);
	const char *verb = "ioctl() DM_QUERY";

	REFUSED("ioctl() PD_QUERY", "no handle", EINVAL,
		REQUEST({ .object_id = UVERBS_OBJECT_PD,
			  .method_id = SROCE_METHOD_PD_QUERY }));
	REFUSED(verb, "no such handle", ENOENT,
		query_dm(t, 0x123456, answer, size));
	REFUSED(verb, "a PD", EINVAL,
		query_dm(t, t->pd->handle, answer, size));
	REFUSED(verb, "response buffer too small", EINVAL,
		query_dm(t, t->dm->handle, answer, size - 8));
	REFUSED(verb, "response address not mapped", EFAULT,
		query_dm(t, t->dm->handle, (void *)4096, size));
}

GROUP(commands)
{
	struct things t;
	size_t i;

	if (!things_up(&t))
		return;
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		our_part(&t, &commands[i]);
	special(&t);
	aborts(&t);
	our_methods(&t);
	things_down(&t);
}
