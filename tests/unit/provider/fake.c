// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "fake.h"

#define MAX_QUEUES	4096
#define PAGE		4096ul
#define PAGES_AT	0x10000000000ull	/* mmap offsets of doorbell pages */

struct fake_kernel fake;

static struct fake_queue queues[MAX_QUEUES];
static unsigned char *pages[MAX_QUEUES];
static uint32_t next_handle = 1;
static uint32_t next_slot;
static int cmd_fd = -1;
static int kick_fd = -1;

static const struct verbs_device_ops *driver;

/* The constructor of the provider calls this function instead of that of libibverbs. */
__attribute__((__visibility__("default")))
void SROCE_REGISTER(const struct verbs_device_ops *ops)
{
	driver = ops;
}

const struct verbs_device_ops *fake_driver(void)
{
	return driver;
}

static void *anonymous(size_t size)
{
	return (void *)syscall(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static uint32_t power_of_two(uint32_t least)
{
	uint32_t power = 1;

	while (power < least)
		power *= 2;
	return power;
}

static uint32_t max_of(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

struct fake_queue *fake_queue(uint32_t handle)
{
	return &queues[handle];
}

void fake_use_slots_from(uint32_t number)
{
	next_slot = number;
}

void *fake_sqe(const struct fake_queue *queue, uint32_t index)
{
	return queue->ring + (index & (queue->entries - 1)) * queue->stride;
}

struct sroce_rqe *fake_rqe(const struct fake_queue *queue, uint32_t index)
{
	return (void *)(queue->rq +
			(index & (queue->rq_entries - 1)) * queue->rq_stride);
}

void fake_complete(const struct fake_queue *queue, uint32_t index,
		   struct sroce_cqe cqe)
{
	struct sroce_cqe *at = fake_sqe(queue, index);

	cqe.phase = at->phase;
	*at = cqe;
	sroce_store_release(&at->phase, sroce_cqe_phase(index, queue->entries));
}

/* Allocates the memory of a queue, and stores the offsets for mmap() in @map. */
static void alloc_queue(uint32_t handle, size_t size, struct sroce_map *map)
{
	struct fake_queue *queue = &queues[handle];
	uint32_t page = next_slot / SROCE_SLOTS_PER_PAGE;

	size = (size + PAGE - 1) & -PAGE;
	if (size)
		queue->ring = anonymous(size);
	if (!pages[page])
		pages[page] = anonymous(PAGE);
	queue->slot_number = next_slot++;
	queue->slot = pages[page] + queue->slot_number % SROCE_SLOTS_PER_PAGE *
				    SROCE_SLOT_SIZE;
	*map = (struct sroce_map){
		.ring_offset = handle * PAGE * PAGE,
		.ring_size = size,
		.slot = queue->slot_number,
		.page_offset = PAGES_AT + page * PAGE,
	};
}

static struct ib_uverbs_attr *find(struct ib_uverbs_ioctl_hdr *hdr, int id)
{
	int i;

	for (i = 0; i < hdr->num_attrs; i++)
		if (hdr->attrs[i].attr_id == id)
			return &hdr->attrs[i];
	return NULL;
}

static void *pointer(struct ib_uverbs_attr *attr)
{
	return (void *)(uintptr_t)attr->data;
}

/* Returns the bytes of an input attribute: short ones are in the attribute itself. */
static void read_in(struct ib_uverbs_ioctl_hdr *hdr, int id, void *to,
		    size_t size)
{
	struct ib_uverbs_attr *attr = find(hdr, id);

	memset(to, 0, size);
	if (!attr)
		return;
	memcpy(to, attr->len > 8 ? pointer(attr) : &attr->data,
	       attr->len < size ? attr->len : size);
}

static void write_out(struct ib_uverbs_ioctl_hdr *hdr, int id,
		      const void *from, size_t size)
{
	struct ib_uverbs_attr *attr = find(hdr, id);

	if (!attr)
		return;
	memset(pointer(attr), 0, attr->len);
	memcpy(pointer(attr), from, attr->len < size ? attr->len : size);
	attr->flags |= UVERBS_ATTR_F_VALID_OUTPUT;
}

/* The driver's response must have exactly the expected size. */
static void write_driver_response(struct ib_uverbs_ioctl_hdr *hdr, const void *from,
				  size_t size)
{
	struct ib_uverbs_attr *attr = find(hdr, UVERBS_ATTR_UHW_OUT);

	if (!attr || attr->len != size)
		fake.bad_request = true;
	write_out(hdr, UVERBS_ATTR_UHW_OUT, from, size);
}

static void check_create_request(struct ib_uverbs_ioctl_hdr *hdr)
{
	struct ib_uverbs_attr *attr = find(hdr, UVERBS_ATTR_UHW_IN);

	if (!attr || attr->len != sizeof(struct sroce_create_req) || attr->data)
		fake.bad_request = true;
}

#define ALL_OPCODES	0xc3ff	/* of this ABI: 0 to 9, FLUSH, atomic WRITE */

static struct sroce_alloc_ucontext_resp context_response(void)
{
	return (struct sroce_alloc_ucontext_resp) {
		.abi_version = fake.abi_version,
		.max_inline = SROCE_MAX_INLINE,
		.max_sge = SROCE_MAX_SGE,
		.features = (fake.newer ? ~0ull : SROCE_ALL_FEATURES) &
			    ~fake.lacks,
		.opcodes = (fake.newer ? ~0u : ALL_OPCODES) &
			   ~fake.lacks_opcodes,
		.sqe_header = SROCE_SQE_HEADER,
		.rqe_header = SROCE_RQE_HEADER,
		.cqe_size = fake.cqe_size ? fake.cqe_size : SROCE_CQE_SIZE,
		.slot_size = SROCE_SLOT_SIZE,
	};
}

static int get_context(struct ib_uverbs_ioctl_hdr *hdr)
{
	struct sroce_alloc_ucontext_resp resp = context_response();
	struct sroce_alloc_ucontext_req req;
	uint32_t vectors = 1;

	read_in(hdr, UVERBS_ATTR_UHW_IN, &req, sizeof(req));
	if (req.abi_version != SROCE_ABI_VERSION || req.flags ||
	    req.features != SROCE_ALL_FEATURES)
		fake.bad_request = true;
	write_out(hdr, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, &vectors,
		  sizeof(vectors));
	write_driver_response(hdr, &resp, sizeof(resp));
	return 0;
}

/* One call has the attributes of libibverbs and of the driver. */
static int query_context(struct ib_uverbs_ioctl_hdr *hdr)
{
	struct sroce_alloc_ucontext_resp resp = context_response();
	uint32_t vectors = 1;

	if (!find(hdr, SROCE_ATTR_QUERY_CONTEXT_RESP))
		fake.bad_request = true;
	write_out(hdr, UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, &vectors,
		  sizeof(vectors));
	write_out(hdr, SROCE_ATTR_QUERY_CONTEXT_RESP, &resp, sizeof(resp));
	return 0;
}

static int create_cq(struct ib_uverbs_ioctl_hdr *hdr)
{
	uint32_t handle = next_handle++;
	struct fake_queue *queue = &queues[handle];
	struct sroce_create_cq_resp resp = {};
	uint32_t cqe;

	check_create_request(hdr);
	read_in(hdr, UVERBS_ATTR_CREATE_CQ_CQE, &cqe, sizeof(cqe));
	read_in(hdr, UVERBS_ATTR_CREATE_CQ_FLAGS, &fake.cq_flags, 4);
	queue->stride = SROCE_CQE_SIZE;
	queue->entries = power_of_two(cqe);
	alloc_queue(handle, queue->entries * queue->stride, &resp.map);
	resp.entries = queue->entries;
	write_out(hdr, UVERBS_ATTR_CREATE_CQ_RESP_CQE, &queue->entries, 4);
	find(hdr, UVERBS_ATTR_CREATE_CQ_HANDLE)->data = handle;
	write_driver_response(hdr, &resp, sizeof(resp));
	return 0;
}

static void size_qp(struct fake_queue *queue, const struct ibv_qp_cap *cap)
{
	uint32_t room = max_of(cap->max_send_sge * 16, cap->max_inline_data);

	queue->entries = cap->max_send_wr ? power_of_two(cap->max_send_wr) : 0;
	queue->stride = max_of(power_of_two(SROCE_SQE_HEADER + room), 64);
	queue->rq_entries = cap->max_recv_wr ? power_of_two(cap->max_recv_wr) : 0;
	queue->rq_stride = max_of(power_of_two(SROCE_RQE_HEADER +
					       cap->max_recv_sge * 16), 32);
}

/*
 * libibverbs clears verbs_qp.comp_mask, which follows struct ibv_qp_ex, wherever that ends.
 * Its handle of a QP is the QP's address.
 */
static void clear_comp_mask(struct ib_uverbs_ioctl_hdr *hdr)
{
	uint64_t qp;

	read_in(hdr, UVERBS_ATTR_CREATE_QP_USER_HANDLE, &qp, sizeof(qp));
	if (fake.qp_ex_size)
		memset((char *)(uintptr_t)qp + fake.qp_ex_size, 0, 4);
}

static int create_qp(struct ib_uverbs_ioctl_hdr *hdr)
{
	uint32_t handle = next_handle++;
	struct fake_queue *queue = &queues[handle];
	struct sroce_create_qp_resp resp = {};
	struct ibv_qp_cap cap;

	check_create_request(hdr);
	clear_comp_mask(hdr);
	read_in(hdr, UVERBS_ATTR_CREATE_QP_CAP, &cap, sizeof(cap));
	if (find(hdr, UVERBS_ATTR_CREATE_QP_SRQ_HANDLE))
		cap.max_recv_wr = 0;
	size_qp(queue, &cap);
	resp.sq_stride = queue->stride;
	resp.sq_entries = queue->entries;
	resp.rq_stride = queue->rq_stride;
	resp.rq_entries = queue->rq_entries;
	resp.rq_offset = queue->entries * queue->stride;
	alloc_queue(handle, resp.rq_offset + queue->rq_entries * queue->rq_stride,
		    &resp.map);
	queue->rq = queue->ring + resp.rq_offset;
	write_out(hdr, UVERBS_ATTR_CREATE_QP_RESP_CAP, &cap, sizeof(cap));
	write_out(hdr, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, &handle, 4);
	find(hdr, UVERBS_ATTR_CREATE_QP_HANDLE)->data = handle;
	write_driver_response(hdr, &resp, sizeof(resp));
	return 0;
}

static int create_srq(struct ib_uverbs_ioctl_hdr *hdr)
{
	uint32_t handle = next_handle++;
	struct fake_queue *queue = &queues[handle];
	struct sroce_create_srq_resp resp = {};
	uint32_t max_wr, max_sge;

	check_create_request(hdr);
	read_in(hdr, UVERBS_ATTR_CREATE_SRQ_MAX_WR, &max_wr, 4);
	read_in(hdr, UVERBS_ATTR_CREATE_SRQ_MAX_SGE, &max_sge, 4);
	queue->rq_entries = power_of_two(max_wr);
	queue->rq_stride = power_of_two(SROCE_RQE_HEADER + max_sge * 16);
	alloc_queue(handle, queue->rq_entries * queue->rq_stride, &resp.map);
	queue->rq = queue->ring;
	resp.entries = queue->rq_entries;
	resp.stride = queue->rq_stride;
	write_out(hdr, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, &max_wr, 4);
	write_out(hdr, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, &max_sge, 4);
	find(hdr, UVERBS_ATTR_CREATE_SRQ_HANDLE)->data = handle;
	write_driver_response(hdr, &resp, sizeof(resp));
	return 0;
}

static int create_ah(struct ib_uverbs_ioctl_hdr *hdr)
{
	struct sroce_create_ah_resp resp = { .ah = 1000 + next_handle };
	uint32_t handle = next_handle++;

	write_out(hdr, UVERBS_ATTR_CORE_OUT, &handle, sizeof(handle));
	write_driver_response(hdr, &resp, sizeof(resp));
	return 0;
}

static int modify_qp(struct ib_uverbs_ioctl_hdr *hdr)
{
	struct ib_uverbs_modify_qp cmd;
	struct sroce_qp_slot *slot;

	read_in(hdr, UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd));
	slot = queues[cmd.qp_handle].slot;
	if (cmd.attr_mask & IBV_QP_STATE)
		fake.state = cmd.qp_state;
	if (cmd.attr_mask & IBV_QP_STATE && cmd.qp_state == IBV_QPS_RESET) {
		fake.tail_at_reset = slot->sq_tail;
		if (fake.at_reset)
			fake.at_reset();
		slot->sq_head = 0;
		slot->rq_head = 0;
		slot->kick = 0;
	}
	return 0;
}

static int query_device(struct ib_uverbs_ioctl_hdr *hdr)
{
	struct ib_uverbs_ex_query_device_resp resp = {
		.timestamp_mask = UINT64_MAX,
		.hca_core_clock = 1000000,
		.base = { .fw_ver = 1ull << 32 | 2 << 16 | 3 },
		.response_length = sizeof(resp),
	};

	write_out(hdr, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
	return 0;
}

/* Commands that libibverbs still sends in the form of the write interface. */
static int old_command(struct ib_uverbs_ioctl_hdr *hdr)
{
	uint64_t command;
	uint32_t zero = 0;

	if (!find(hdr, UVERBS_ATTR_CORE_IN) && !find(hdr, UVERBS_ATTR_CORE_OUT))
		return ENOSPC;
	read_in(hdr, UVERBS_ATTR_WRITE_CMD, &command, sizeof(command));
	switch (command & ~(uint64_t)IB_USER_VERBS_CMD_FLAG_EXTENDED) {
	case IB_USER_VERBS_CMD_CREATE_AH:
		return create_ah(hdr);
	case IB_USER_VERBS_CMD_MODIFY_QP:
		return modify_qp(hdr);
	case IB_USER_VERBS_CMD_QUERY_DEVICE:
		return query_device(hdr);
	default:
		write_out(hdr, UVERBS_ATTR_CORE_OUT, &zero, sizeof(zero));
		return 0;
	}
}

static int take_error(int *fail)
{
	int err = *fail;

	*fail = 0;
	return err;
}

static int create(struct ib_uverbs_ioctl_hdr *hdr)
{
	int err = take_error(&fake.fail);

	if (err)
		return err;
	switch (hdr->object_id) {
	case UVERBS_OBJECT_CQ:
		return create_cq(hdr);
	case UVERBS_OBJECT_QP:
		return create_qp(hdr);
	default:
		return create_srq(hdr);
	}
}

#define DM_LENGTH	64

static int alloc_dm(struct ib_uverbs_ioctl_hdr *hdr)
{
	uint32_t handle = next_handle++;

	queues[handle].ring = anonymous(PAGE);
	find(hdr, UVERBS_ATTR_ALLOC_DM_HANDLE)->data = handle;
	return 0;
}

static int query_dm(struct ib_uverbs_ioctl_hdr *hdr)
{
	struct sroce_dm_query_resp resp = {
		.offset = find(hdr, SROCE_ATTR_DM_QUERY_HANDLE)->data * PAGE * PAGE,
		.size = PAGE,
		.length = DM_LENGTH,
	};

	write_out(hdr, SROCE_ATTR_DM_QUERY_RESP, &resp, sizeof(resp));
	return 0;
}

static int dm_method(struct ib_uverbs_ioctl_hdr *hdr)
{
	switch (hdr->method_id) {
	case UVERBS_METHOD_DM_ALLOC:
		return alloc_dm(hdr);
	case SROCE_METHOD_DM_QUERY:
		return query_dm(hdr);
	default:
		return 0;
	}
}

static int zero_outputs(struct ib_uverbs_ioctl_hdr *hdr)
{
	uint32_t zero = 0;

	write_out(hdr, UVERBS_ATTR_DESTROY_CQ_RESP, &zero, sizeof(zero));
	return 0;
}

static int device_method(struct ib_uverbs_ioctl_hdr *hdr)
{
	switch (hdr->method_id) {
	case UVERBS_METHOD_INVOKE_WRITE:
		return old_command(hdr);
	case UVERBS_METHOD_GET_CONTEXT:
		return get_context(hdr);
	case UVERBS_METHOD_QUERY_CONTEXT:
		return query_context(hdr);
	default:
		return 0;
	}
}

static int open_kick(struct ib_uverbs_ioctl_hdr *hdr)
{
	struct ib_uverbs_attr *attr = &hdr->attrs[0];

	if (hdr->method_id != SROCE_METHOD_KICK_ALLOC || hdr->num_attrs != 1 ||
	    attr->attr_id != SROCE_ATTR_KICK_FD || attr->len || attr->data ||
	    !(attr->flags & UVERBS_ATTR_F_MANDATORY))
		return EINVAL;
	kick_fd = open("/dev/null", O_RDWR);
	attr->data_s64 = kick_fd;
	return 0;
}

/*
 * Methods of Linux 6.17 and newer: the installed headers may not name them, but they follow
 * those of older kernels.
 */
static bool is_new(const struct ib_uverbs_ioctl_hdr *hdr)
{
	if (hdr->object_id & UVERBS_ID_NS_MASK || hdr->method_id & UVERBS_ID_NS_MASK)
		return false;
	switch (hdr->object_id) {
	case UVERBS_OBJECT_MR:
		return hdr->method_id > UVERBS_METHOD_REG_DMABUF_MR;
	case UVERBS_OBJECT_DEVICE:
		return hdr->method_id > UVERBS_METHOD_QUERY_GID_ENTRY;
	default:
		return hdr->object_id > UVERBS_OBJECT_ASYNC_EVENT;
	}
}

static int command(struct ib_uverbs_ioctl_hdr *hdr)
{
	if (fake.old_kernel && is_new(hdr))
		return EPROTONOSUPPORT;
	if (hdr->driver_id != SROCE_DRIVER_ID || hdr->reserved1 ||
	    hdr->reserved2 ||
	    hdr->length != sizeof(*hdr) + hdr->num_attrs * sizeof(hdr->attrs[0]))
		return EINVAL;

	switch (hdr->object_id) {
	case UVERBS_OBJECT_DEVICE:
		return device_method(hdr);
	case SROCE_OBJECT_KICK:
		return open_kick(hdr);
	case UVERBS_OBJECT_DM:
		return dm_method(hdr);
	case UVERBS_OBJECT_CQ:
	case UVERBS_OBJECT_QP:
	case UVERBS_OBJECT_SRQ:
		if (hdr->method_id == UVERBS_METHOD_CQ_CREATE)
			return create(hdr);
		return zero_outputs(hdr);
	default:
		return 0;
	}
}

__attribute__((__visibility__("default")))
int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);

	fake.calls++;
	/* valgrind warns of an ioctl number without a direction; the argument is no pointer. */
	static_assert(_IOC_DIR(SROCE_IOC_KICK) == _IOC_WRITE &&
		      !_IOC_SIZE(SROCE_IOC_KICK), "");
	if (fd == kick_fd && request == SROCE_IOC_KICK) {
		fake.kicks++;
		fake.kicked_slot = (unsigned long)arg;
		return 0;
	}
	if (fd != cmd_fd || request != RDMA_VERBS_IOCTL)
		return syscall(SYS_ioctl, fd, request, arg);
	errno = command(arg);
	return errno ? -1 : 0;
}

char *secure_getenv(const char *name);

__attribute__((__visibility__("default")))
char *secure_getenv(const char *name)
{
	return fake.privileged ? NULL : getenv(name);
}

__attribute__((__visibility__("default")))
int sched_yield(void)
{
	fake.yields++;
	return syscall(SYS_sched_yield);
}

static void *map_shared(uint64_t offset)
{
	errno = take_error(&fake.fail_map);
	if (errno)
		return MAP_FAILED;
	fake.mapped++;
	if (offset >= PAGES_AT)
		return pages[(offset - PAGES_AT) / PAGE];
	return queues[offset / PAGE / PAGE].ring;
}

__attribute__((__visibility__("default")))
void *mmap(void *addr, size_t size, int prot, int flags, int fd, off_t offset)
{
	void *private;

	if (fd >= 0 && fd == cmd_fd)
		return map_shared(offset);
	if (fake.fail_private) {
		errno = fake.fail_private;
		return MAP_FAILED;
	}
	private = (void *)syscall(SYS_mmap, addr, size, prot, flags, fd, offset);
	if (private != MAP_FAILED)
		fake.private++;
	return private;
}

/* The fake kernel's memory stays, so that a test can still read it. */
static bool is_shared(const void *addr)
{
	int i;

	for (i = 0; i < MAX_QUEUES; i++)
		if (addr && (queues[i].ring == addr || pages[i] == addr))
			return true;
	return false;
}

__attribute__((__visibility__("default")))
int munmap(void *addr, size_t size)
{
	if (!is_shared(addr)) {
		fake.private--;
		return syscall(SYS_munmap, addr, size);
	}
	fake.mapped--;
	return 0;
}

/* The provider replaces a mapping by a copy. */
__attribute__((__visibility__("default")))
void *mremap(void *old, size_t old_size, size_t new_size, int flags, ...)
{
	void *new;
	va_list args;

	va_start(args, flags);
	new = flags & MREMAP_FIXED ? va_arg(args, void *) : NULL;
	va_end(args);
	if (fake.fail_move) {
		errno = fake.fail_move;
		return MAP_FAILED;
	}
	if (!is_shared(new))
		return (void *)syscall(SYS_mremap, old, old_size, new_size, flags, new);
	munmap(old, old_size);
	fake.mapped--;
	return new;
}

static struct ibv_device *new_device(void)
{
	struct verbs_device *device = driver->alloc_device(NULL);

	if (!fake.abi_version)
		fake.abi_version = SROCE_ABI_VERSION;
	device->unused_ops = driver;
	device->unused_sysfs = calloc(1, 4096);	/* opaque; freed by libibverbs */
	cmd_fd = open("/dev/null", O_RDWR);
	return &device->device;
}

/* Returns NULL with errno when the provider refuses. */
struct ibv_context *fake_open(void)
{
	struct ibv_device *device = new_device();
	struct verbs_context *context =
		driver->alloc_context(device, cmd_fd, NULL);

	return context ? &context->context : NULL;
}

/* Like fake_open(), for a context that another process has opened. */
struct ibv_context *fake_import(void)
{
	struct ibv_device *device = new_device();
	struct verbs_context *context =
		driver->import_context(device, cmd_fd);

	return context ? &context->context : NULL;
}

void fake_close(struct ibv_context *context)
{
	ibv_close_device(context);
	cmd_fd = -1;
	kick_fd = -1;
}
