// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mmap() and ioctl() with invalid arguments.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rings.h"

#define RW	(PROT_READ | PROT_WRITE)

/* Returns 0 or the errno. */
static int try_map(int fd, uint64_t offset, size_t size, int prot, int flags)
{
	void *addr = mmap(NULL, size, prot, flags, fd, offset);
	int err = errno;

	if (addr == MAP_FAILED)
		return err;
	munmap(addr, size);
	return 0;
}

static void wrong_maps(const void *arg)
{
	struct abuser abuser;
	struct mapping *ring = &abuser.ring;
	uint64_t offset;
	size_t size;
	int fd;

	(void)arg;
	REQUIRE(abuser_up(&abuser));
	fd = hosts[0].context->cmd_fd;
	offset = ring->offset;
	size = ring->size;
	CHECK_CALL(try_map(fd, offset, size, RW, MAP_SHARED), 0);
	CHECK_CALL(try_map(fd, offset, size + 4096, RW, MAP_SHARED), EINVAL);
	CHECK_CALL(try_map(fd, offset, size - 4096, RW, MAP_SHARED), EINVAL);
	CHECK_CALL(try_map(fd, offset, 4096, RW, MAP_SHARED), EINVAL);
	CHECK_CALL(try_map(fd, offset + 4096, size - 4096, RW, MAP_SHARED),
		   EINVAL);
	CHECK_CALL(try_map(fd, offset, size, RW, MAP_PRIVATE), EINVAL);
	CHECK_CALL(try_map(fd, offset, size, RW | PROT_EXEC, MAP_SHARED), EPERM);
	CHECK_CALL(try_map(fd, 1ull << 30, 4096, RW, MAP_SHARED), EINVAL);
	CHECK_CALL(try_map(fd, 1ull << 40, 4096, RW, MAP_SHARED), EINVAL);
	CHECK_CALL(try_map(fd, -4096ull, 4096, RW, MAP_SHARED), EOVERFLOW);
	victim_works();
	abuser_down(&abuser);
}

static bool is_mapped(const struct abuser *abuser, uint64_t offset,
		      size_t size)
{
	const struct mapping all[] = {
		abuser->page, abuser->ring, abuser->cqs[0], abuser->cqs[1],
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i].offset == offset && all[i].size == size)
			return true;
	return false;
}

/* Only a whole existing queue can be mapped again. */
static void every_map(const void *arg)
{
	struct abuser abuser;
	uint64_t offset;
	int found = 0;
	size_t size;

	(void)arg;
	REQUIRE(abuser_up(&abuser));
	for (offset = 0; offset < 64 << 12; offset += 4096)
		for (size = 4096; size <= 40 << 12; size += 4096) {
			bool mine = is_mapped(&abuser, offset, size);

			found += mine;
			if (!CHECK_CALL(try_map(hosts[0].context->cmd_fd,
						offset, size, RW, MAP_SHARED),
					mine ? 0 : EINVAL))
				diag("offset %#lx, size %#zx", offset, size);
		}
	CHECK_CALL(found, 4);
	CHECK(works(&abuser.pair));
	abuser_down(&abuser);
}

static void later_changes(const void *arg)
{
	struct abuser abuser;
	struct mapping *ring = &abuser.ring;

	(void)arg;
	REQUIRE(abuser_up(&abuser));
	CHECK(mprotect(ring->addr, ring->size, RW | PROT_EXEC) &&
	      errno == EACCES);
	CHECK(mremap(ring->addr, ring->size, 2 * ring->size,
		     MREMAP_MAYMOVE) == MAP_FAILED);
	CHECK(works(&abuser.pair));
	abuser_down(&abuser);
}

/* Memory that is still mapped after its QP is destroyed is harmless. */
static void outlived(const void *arg)
{
	struct abuser abuser;
	struct mapping *ring = &abuser.ring;
	uint64_t *again;
	int fd;

	(void)arg;
	REQUIRE(abuser_up(&abuser));
	fd = hosts[0].context->cmd_fd;
	again = mmap(NULL, ring->size, RW, MAP_SHARED, fd, ring->offset);
	REQUIRE(CHECK(again != MAP_FAILED));
	CHECK_CALL(ibv_destroy_qp(abuser.pair.a.qp), 0);
	abuser.pair.a.qp = NULL;
	CHECK_CALL(try_map(fd, ring->offset, ring->size, RW, MAP_SHARED),
		   EINVAL);
	memset(again, 0xff, ring->size);
	victim_works();
	abuser_down(&abuser);
	memset(again, 0xee, ring->size);
	CHECK(*again == 0xeeeeeeeeeeeeeeee);
	munmap(again, ring->size);
	victim_works();
}

/* The kick file */

static int try_kick(int fd, unsigned long command, unsigned long argument)
{
	return ioctl(fd, command, argument) ? errno : 0;
}

static void kicks(const void *arg)
{
	static const unsigned long commands[] = {
		0, 1, SROCE_IOC_KICK - 1, SROCE_IOC_KICK + 1, 0xffffffff,
		RDMA_VERBS_IOCTL,
	};
	static const unsigned long slots[] = {
		3, 4, 31, 32, 0x7fffffff, 0x80000000, 0xffffffff, 1ul << 32,
		1ul << 40, -1ul,
	};
	struct abuser abuser;
	int fd, kept;
	size_t i;

	(void)arg;
	REQUIRE(abuser_up(&abuser));
	fd = abuser.kick_fd;
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		CHECK_CALL(try_kick(fd, commands[i], abuser.slot_number),
			   ENOTTY);
	for (i = 0; i < ARRAY_SIZE(slots); i++)
		CHECK_CALL(try_kick(fd, SROCE_IOC_KICK, slots[i]), ENOENT);
	for (i = 0; i < 3; i++)
		CHECK_CALL(try_kick(fd, SROCE_IOC_KICK, i),
			   i == abuser.slot_number ? 0 : ENOENT);
	CHECK(works(&abuser.pair));
	CHECK_CALL(ibv_destroy_qp(abuser.pair.a.qp), 0);
	abuser.pair.a.qp = NULL;
	CHECK_CALL(try_kick(fd, SROCE_IOC_KICK, abuser.slot_number), ENOENT);
	kept = dup(fd);
	abuser_down(&abuser);
	CHECK_CALL(try_kick(kept, SROCE_IOC_KICK, abuser.slot_number), EIO);
	close(kept);
	victim_works();
}

static void kick_file(const void *arg)
{
	struct abuser abuser;
	char byte = 0;

	(void)arg;
	REQUIRE(abuser_up(&abuser));
	CHECK(read(abuser.kick_fd, &byte, 1) < 0);
	CHECK(write(abuser.kick_fd, &byte, 1) < 0);
	CHECK_CALL(try_map(abuser.kick_fd, 0, 4096, PROT_READ, MAP_SHARED),
		   ENODEV);
	CHECK(works(&abuser.pair));
	abuser_down(&abuser);
}

/* Opening a context by hand */

struct open_command {
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attrs[4];
};

/* The response, and room behind it, as a provider of a later release has it */
union answer {
	struct sroce_alloc_ucontext_resp resp;
	uint8_t bytes[64];
};

/* Returns 0 or the errno. */
static int open_context(uint32_t driver, const void *request, size_t length,
			union answer *answer, size_t room)
{
	uint64_t core_support = 0;
	uint32_t vectors = 0;
	struct open_command cmd = {
		.hdr = {
			.length = sizeof(cmd),
			.object_id = UVERBS_OBJECT_DEVICE,
			.method_id = UVERBS_METHOD_GET_CONTEXT,
			.num_attrs = 4,
			.driver_id = driver,
		},
		.attrs = {
			{ .attr_id = UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS,
			  .flags = UVERBS_ATTR_F_MANDATORY, .len = 4,
			  .data = (uintptr_t)&vectors },
			{ .attr_id = UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT,
			  .flags = UVERBS_ATTR_F_MANDATORY, .len = 8,
			  .data = (uintptr_t)&core_support },
			{ .attr_id = UVERBS_ATTR_UHW_IN, .len = length },
			{ .attr_id = UVERBS_ATTR_UHW_OUT, .len = room,
			  .data = (uintptr_t)answer },
		},
	};
	char path[100];
	int fd, err = 0;

	memset(answer, 0, sizeof(*answer));
	/* Short ones travel in the command itself. */
	if (length <= 8)
		memcpy(&cmd.attrs[2].data, request, length);
	else
		cmd.attrs[2].data = (uintptr_t)request;
	snprintf(path, sizeof(path), "/dev/infiniband/%s",
		 hosts[1].context->device->dev_name);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return errno;
	if (ioctl(fd, RDMA_VERBS_IOCTL, &cmd))
		err = errno;
	close(fd);
	if (!err && answer->resp.abi_version != SROCE_ABI_VERSION)
		err = -1;
	return err;
}

static void contexts(const void *arg)
{
	static const uint32_t good[4] = { SROCE_ABI_VERSION };
	static const struct {
		uint32_t words[6];
		size_t length;
		int err;
	} cases[] = {
		{ { SROCE_ABI_VERSION }, 8, 0 },
		{ { SROCE_ABI_VERSION }, 16, 0 },
		{ { SROCE_ABI_VERSION - 1 }, 8, EPROTO },
		{ { SROCE_ABI_VERSION + 1 }, 8, EPROTO },
		{ { 0 }, 8, EPROTO },
		{ { SROCE_ABI_VERSION, 1 }, 8, EOPNOTSUPP },
		{ { SROCE_ABI_VERSION }, 24, 0 },
		{ { SROCE_ABI_VERSION, 0, 0, 0, 0, 1 }, 24, EOPNOTSUPP },
		{ { SROCE_ABI_VERSION }, 4, EINVAL },
	};
	union answer answer;
	size_t i;

	(void)arg;
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		if (!CHECK_CALL(open_context(SROCE_DRIVER_ID, cases[i].words,
					     cases[i].length, &answer,
					     sizeof(answer.resp)), cases[i].err))
			diag("case %zu", i);
	CHECK_CALL(open_context(SROCE_DRIVER_ID + 1, good, 8, &answer,
				sizeof(answer.resp)), EINVAL);
	victim_works();
}

/* Features that only one side knows are not used, and are no error. */
static void features(const void *arg)
{
	static const uint64_t offered[] = {
		0, SROCE_FEATURE_DM, SROCE_ALL_FEATURES, ~0ull,
	};
	struct sroce_alloc_ucontext_req req = {
		.abi_version = SROCE_ABI_VERSION,
	};
	union answer answer;
	size_t i;

	(void)arg;
	for (i = 0; i < ARRAY_SIZE(offered); i++) {
		req.features = offered[i];
		CHECK_CALL(open_context(SROCE_DRIVER_ID, &req, sizeof(req),
					&answer, sizeof(answer.resp)), 0);
		EQUAL(answer.resp.features, offered[i] & SROCE_ALL_FEATURES);
	}
	EQUAL(answer.resp.opcodes, 0xc3ff);
	EQUAL(answer.resp.sqe_header, SROCE_SQE_HEADER);
	EQUAL(answer.resp.rqe_header, SROCE_RQE_HEADER);
	EQUAL(answer.resp.cqe_size, SROCE_CQE_SIZE);
	EQUAL(answer.resp.slot_size, SROCE_SLOT_SIZE);
}

/* A provider that knows less of the response, or more */
static void responses(const void *arg)
{
	static const uint32_t good[4] = { SROCE_ABI_VERSION };
	static const uint8_t nothing[64];
	union answer answer;

	(void)arg;
	CHECK_CALL(open_context(SROCE_DRIVER_ID, good, 8, &answer, 12), EINVAL);
	CHECK_CALL(open_context(SROCE_DRIVER_ID, good, 8, &answer, 16), 0);
	EQUAL(answer.resp.max_sge, SROCE_MAX_SGE);
	CHECK(!memcmp(answer.bytes + 16, nothing, sizeof(answer) - 16));
	CHECK_CALL(open_context(SROCE_DRIVER_ID, good, 8, &answer,
				sizeof(answer)), 0);
	EQUAL(answer.resp.cqe_size, SROCE_CQE_SIZE);
	CHECK(!memcmp(answer.bytes + sizeof(answer.resp), nothing,
		      sizeof(answer) - sizeof(answer.resp)));
}

/* Send the query of an importer.  Returns 0 or the errno. */
static int query_context(union answer *answer, size_t room)
{
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attr;
	} cmd = {
		.hdr = {
			.length = sizeof(cmd),
			.object_id = UVERBS_OBJECT_DEVICE,
			.method_id = UVERBS_METHOD_QUERY_CONTEXT,
			.num_attrs = 1,
			.driver_id = SROCE_DRIVER_ID,
		},
		.attr = {
			.attr_id = SROCE_ATTR_QUERY_CONTEXT_RESP,
			.flags = UVERBS_ATTR_F_MANDATORY, .len = room,
			.data = (uintptr_t)answer,
		},
	};

	memset(answer, 0xff, sizeof(*answer));
	return ioctl(hosts[1].context->cmd_fd, RDMA_VERBS_IOCTL, &cmd) ?
	       errno : 0;
}

static void importers(const void *arg)
{
	static const uint8_t nothing[64];
	union answer answer;

	(void)arg;
	CHECK_CALL(query_context(&answer, sizeof(answer.resp)), 0);
	EQUAL(answer.resp.abi_version, SROCE_ABI_VERSION);
	EQUAL(answer.resp.features, SROCE_ALL_FEATURES);
	CHECK_CALL(query_context(&answer, 12), EINVAL);
	CHECK_CALL(query_context(&answer, 16), 0);
	EQUAL(answer.resp.max_sge, SROCE_MAX_SGE);
	EQUAL(answer.bytes[16], 0xff);
	CHECK_CALL(query_context(&answer, sizeof(answer)), 0);
	CHECK(!memcmp(answer.bytes + sizeof(answer.resp), nothing,
		      sizeof(answer) - sizeof(answer.resp)));
}

GROUP(mappings)
{
	static const struct test tests[] = {
		{ "mmap(): wrong offset, length, protection", wrong_maps },
		{ "mmap(): every offset and length", every_map },
		{ "mprotect() and mremap()", later_changes },
		{ "rings stay mapped after their QP is destroyed", outlived },
		{ "ioctl() of the kick file", kicks },
		{ "the kick file accepts no other operation", kick_file },
		{ "opening a context: version, flags, length", contexts },
		{ "opening a context: features of other releases", features },
		{ "opening a context: responses of all lengths", responses },
		{ "importing a context: the response", importers },
	};

	other_process_goes_on();
	run_tests(tests, ARRAY_SIZE(tests));
}
