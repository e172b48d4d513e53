// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The process replaces a mapping while a page-in of it waits for a file.  A server of our
 * own (fuse_server.c) holds the reads of that file until it is told to answer.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "paging.h"

static struct server {
	char directory[40];
	pid_t process;
	int control;
	int file;
} server;

static bool server_starts(void)
{
	int ends[2];
	char path[60];

	strcpy(server.directory, "/tmp/sroce-XXXXXX");
	if (!CHECK(mkdtemp(server.directory)) ||
	    !CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)))
		return false;
	server.process = fork();
	if (!server.process) {
		dup2(ends[1], 0);
		dup2(ends[1], 1);
		execl("/proc/self/exe", "odp", "fuse_server", "answer",
		      server.directory, NULL);
		_exit(1);
	}
	close(ends[1]);
	server.control = ends[0];
	snprintf(path, sizeof(path), "%s/file", server.directory);
	/* It ends if it may not mount. */
	do {
		server.file = open(path, O_RDONLY | O_CLOEXEC);
		usleep(10000);
	} while (server.file < 0 && !waitpid(server.process, NULL, WNOHANG));
	if (server.file >= 0)
		return true;
	rmdir(server.directory);
	return false;
}

static void server_ends(void)
{
	close(server.file);
	close(server.control);
	waitpid(server.process, NULL, 0);
	umount2(server.directory, MNT_DETACH);
	rmdir(server.directory);
}

/* Waits until the server holds a read. */
static bool read_is_held(void)
{
	struct pollfd control = { .fd = server.control, .events = POLLIN };
	char byte;

	return CHECK(poll(&control, 1, PATIENCE_MS) == 1) &&
	       CHECK(read(server.control, &byte, 1) == 1);
}

static bool tell(const char *byte)
{
	return CHECK(write(server.control, byte, 1) == 1);
}

static bool answer_reads(void)
{
	return tell("a");
}

static void *map_file(void *at, size_t length, off_t page)
{
	void *found = mmap(at, length, PROT_READ,
			   MAP_SHARED | (at ? MAP_FIXED : 0), server.file,
			   page * PAGE);

	return CHECK(found != MAP_FAILED) ? found : NULL;
}

/* A WRITE of a's QP to b's buffer, from that address. */
static bool post_from(struct pair *pair, const struct ibv_mr *mr, void *at)
{
	struct ibv_sge sge = { (uintptr_t)at, 64, mr->lkey };
	struct ibv_send_wr wr = rdma_wr(&pair->b, IBV_WR_RDMA_WRITE, 7, &sge, 1, 0);

	return CHECK_CALL(post_one(&pair->a, &wr), 0);
}

/* Those of the kernel, which expect no fault of another process. */
static void *find_vvar(size_t *length)
{
	FILE *file = fopen("/proc/self/maps", "r");
	char line[300];
	void *at = NULL, *end;

	while (file && !at && fgets(line, sizeof(line), file))
		if (strstr(line, "[vvar]") &&
		    sscanf(line, "%p-%p", &at, &end) == 2)
			*length = (char *)end - (char *)at;
	if (file)
		fclose(file);
	return at;
}

/* next_wc() would ask the vDSO for the time. */
static bool completes(struct pair *pair)
{
	struct ibv_wc wc;
	int tries, n = 0;

	for (tries = 0; tries < PATIENCE_MS && !n; tries++) {
		n = ibv_poll_cq(pair->a.scq, 1, &wc);
		if (!n)
			usleep(1000);
	}
	return n == 1 && (wc.status == IBV_WC_LOC_PROT_ERR ||
			  wc.status == IBV_WC_SUCCESS);
}

/* No function of the vDSO may be called while its data is somewhere else. */
static bool swap_during_page_in(struct pair *pair, const struct ibv_mr *mr,
				void *vvar, size_t length, size_t page)
{
	void *at = mr->addr;
	bool moved, back = true, done;

	if (!post_from(pair, mr, at + page * PAGE) || !read_is_held())
		return false;
	moved = mremap(vvar, length, length, MREMAP_MAYMOVE | MREMAP_FIXED,
		       at) == at;
	answer_reads();
	done = completes(pair);
	if (moved)
		back = mremap(at, length, length,
			      MREMAP_MAYMOVE | MREMAP_FIXED, vvar) == vvar;
	CHECK(done && back);
	return moved;
}

/* The suite looks for the kernel's warnings. */
static void vvar(const void *arg)
{
	void *pages, *at;
	size_t length = 0, page;
	bool moved = true;
	struct ibv_mr *mr;
	struct pair pair;

	(void)arg;
	pages = find_vvar(&length);
	if (!pages) {
		skip("this kernel has none");
		return;
	}
	REQUIRE(paging_up(&pair, 1));
	for (page = 0; page < length / PAGE && moved; page++) {
		at = map_file(NULL, length, 100 * (page + 1));
		REQUIRE(at);
		mr = ibv_reg_mr(pair.a.pd, at, length, IBV_ACCESS_ON_DEMAND);
		REQUIRE(mr);
		moved = swap_during_page_in(&pair, mr, pages, length, page);
		CHECK_CALL(ibv_dereg_mr(mr), 0);
		CHECK(pair_again(&pair));
	}
	pair_down(&pair);
	if (!moved)
		skip("this kernel does not move it");
}

/* Each attempt to read the page waits for the server, and fails. */
static void failing_file(const void *arg)
{
	struct ibv_sge sge;
	struct ibv_mr *mr;
	struct pair pair;
	struct ibv_wc wc;
	void *at;

	(void)arg;
	REQUIRE(paging_up(&pair, 1));
	at = map_file(NULL, PAGE, 30);
	mr = at ? ibv_reg_mr(pair.a.pd, at, PAGE, IBV_ACCESS_ON_DEMAND) : NULL;
	REQUIRE(mr);
	REQUIRE(tell("e") && post_from(&pair, mr, at));
	CHECK(next_wc(pair.a.scq, &wc) && wc.status == IBV_WC_LOC_PROT_ERR);
	sge = (struct ibv_sge) { (uintptr_t)at, PAGE, mr->lkey };
	CHECK_CALL(ibv_advise_mr(pair.a.pd, IBV_ADVISE_MR_ADVICE_PREFETCH,
				 IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1), EFAULT);
	tell("h");
	CHECK(pair_again(&pair) && post_from(&pair, mr, at) && read_is_held() &&
	      answer_reads());
	CHECK(next_wc(pair.a.scq, &wc) && wc.status == IBV_WC_SUCCESS);
	CHECK(!memcmp(pair.b.buf, at, 64));
	CHECK_CALL(ibv_dereg_mr(mr), 0);
	pair_down(&pair);
}

static void *map_memory(void *arg)
{
	char byte;

	if (read(*(int *)arg, &byte, 1) != 1)
		return MAP_FAILED;
	return mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* While another page-in waits, the process can change its mappings. */
static void held_again(const void *arg)
{
	struct timespec limit;
	struct ibv_mr *mr;
	struct pair pair;
	struct ibv_wc wc;
	pthread_t thread;
	void *at, *result;
	bool mapped;
	int go[2];

	(void)arg;
	REQUIRE(paging_up(&pair, 1) && !pipe(go));
	REQUIRE(!pthread_create(&thread, NULL, map_memory, &go[0]));
	at = map_file(NULL, PAGE, 10);
	mr = at ? ibv_reg_mr(pair.a.pd, at, PAGE, IBV_ACCESS_ON_DEMAND) : NULL;
	REQUIRE(mr);
	REQUIRE(post_from(&pair, mr, at) && read_is_held());
	REQUIRE(map_file(at, PAGE, 20) && answer_reads() && read_is_held());
	REQUIRE(write(go[1], "g", 1) == 1);
	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += 20;
	mapped = !pthread_timedjoin_np(thread, &result, &limit);
	CHECK(mapped && result != MAP_FAILED);
	answer_reads();
	if (!mapped)
		pthread_join(thread, NULL);
	CHECK(next_wc(pair.a.scq, &wc) && wc.status == IBV_WC_SUCCESS);
	CHECK(!memcmp(pair.b.buf, at, 64));
	CHECK_CALL(ibv_dereg_mr(mr), 0);
	close(go[0]);
	close(go[1]);
	pair_down(&pair);
}

static void no_server(const void *arg)
{
	(void)arg;
	skip("no FUSE");
}

GROUP(odp_remap)
{
	if (access("/dev/fuse", R_OK) || !server_starts()) {
		run_test(no_server, NULL, "mappings are replaced during a page-in");
		return;
	}
	run_test(vvar, NULL, "a page of the kernel takes the place of one that is awaited");
	run_test(held_again, NULL, "another file takes its place");
	run_test(failing_file, NULL, "a file whose reads fail");
	server_ends();
}
