/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Calls of uverbs methods: the part that libsroce uses of rdma-core's header of
 * this name, which is private, too (see driver.h).
 */
#ifndef SROCE_STANDALONE_CMD_IOCTL_H
#define SROCE_STANDALONE_CMD_IOCTL_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include <rdma/rdma_user_ioctl_cmds.h>

/* A call, followed by its attributes.  @next has more of them. */
struct ibv_command_buffer {
	struct ibv_command_buffer *next;
	struct ib_uverbs_attr *next_attr;
	struct ib_uverbs_attr *last_attr;
	uint8_t uhw_in_idx;
	uint8_t uhw_out_idx;
	uint8_t unused_headroom[2];
	uint8_t unused_flags;
	struct ib_uverbs_ioctl_hdr hdr;
};

static_assert(sizeof(struct ibv_command_buffer) ==
	      offsetof(struct ibv_command_buffer, hdr.attrs),
	      "the attributes follow the header");

enum { _UHW_NO_INDEX = 0xff };

#define DECLARE_COMMAND_BUFFER(name, object, method, num)		\
	struct {							\
		struct ibv_command_buffer head;				\
		struct ib_uverbs_attr attrs[num];			\
	} name##_buffer = {						\
		.head = {						\
			.next_attr = name##_buffer.attrs,		\
			.last_attr = (void *)(&name##_buffer + 1),	\
			.uhw_in_idx = _UHW_NO_INDEX,			\
			.uhw_out_idx = _UHW_NO_INDEX,			\
			.hdr = {					\
				.object_id = (object),			\
				.method_id = (method),			\
			},						\
		},							\
	};								\
	__auto_type name = &name##_buffer.head

static inline struct ib_uverbs_attr *
fill_attr_in_obj(struct ibv_command_buffer *cmd, uint16_t attr_id,
		 uint32_t handle)
{
	struct ib_uverbs_attr *attr = cmd->next_attr++;

	assert(attr < cmd->last_attr);
	*attr = (struct ib_uverbs_attr){
		.attr_id = attr_id,
		.flags = UVERBS_ATTR_F_MANDATORY,
		.data = handle,
	};
	return attr;
}

static inline struct ib_uverbs_attr *
fill_attr_out(struct ibv_command_buffer *cmd, uint16_t attr_id, void *data,
	      size_t len)
{
	struct ib_uverbs_attr *attr = fill_attr_in_obj(cmd, attr_id, 0);

	attr->len = len;
	attr->data = (uintptr_t)data;
	return attr;
}

/* The kernel returns a new file descriptor; @fd has no effect. */
static inline struct ib_uverbs_attr *
fill_attr_out_fd(struct ibv_command_buffer *cmd, uint16_t attr_id, int fd)
{
	(void)fd;
	return fill_attr_in_obj(cmd, attr_id, 0);
}

static inline int read_attr_fd(uint16_t attr_id,
			       const struct ib_uverbs_attr *attr)
{
	assert(attr->attr_id == attr_id);
	(void)attr_id;
	return attr->data_s64;
}

#endif /* SROCE_STANDALONE_CMD_IOCTL_H */
