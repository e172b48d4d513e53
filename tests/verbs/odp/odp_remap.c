// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The process replaces a mapping while a page-in of it waits for a file.  A server of our
 * own (fuse_server.c) holds the reads of that file until it is told to answer.
 */
#define _GNU_SOURCE
#include <fcntl.h>
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
	for (int tries = 0; tries < 1000; tries++) {
		server.file = open(path, O_RDONLY | O_CLOEXEC);
		if (server.file >= 0)
			return true;
		usleep(10000);
	}
	return CHECK(!"the file system is mounted");
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
	char byte;

	return CHECK(read(server.control, &byte, 1) == 1);
}

static bool answer_reads(void)
{
	return CHECK(write(server.control, "a", 1) == 1);
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

/* No function of the vDSO may be called while its data is somewhere else. */
static bool swap_during_page_in(struct pair *pair, const struct ibv_mr *mr,
				void *vvar, size_t length, size_t page)
{
	void *at = mr->addr;
	bool moved;

	if (!post_from(pair, mr, at + page * PAGE) || !read_is_held())
		return false;
	moved = mremap(vvar, length, length, MREMAP_MAYMOVE | MREMAP_FIXED,
		       at) == at;
	answer_reads();
	if (!moved)
		return false;
	usleep(100000);
	return CHECK(mremap(at, length, length, MREMAP_MAYMOVE | MREMAP_FIXED,
			    vvar) == vvar);
}

/* The suite looks for the kernel's warnings. */
static void vvar(const void *arg)
{
	size_t length = 0, page, skipped = 0;
	void *pages = find_vvar(&length), *at;
	struct ibv_mr *mr;
	struct pair pair;
	struct ibv_wc wc;

	(void)arg;
	if (!pages) {
		skip("this kernel has none");
		return;
	}
	REQUIRE(paging_up(&pair, 1));
	for (page = 0; page < length / PAGE && !skipped; page++) {
		at = map_file(NULL, length, 100 * (page + 1));
		REQUIRE(at);
		mr = ibv_reg_mr(pair.a.pd, at, length, IBV_ACCESS_ON_DEMAND);
		REQUIRE(mr);
		skipped = !swap_during_page_in(&pair, mr, pages, length, page);
		CHECK(next_wc(pair.a.scq, &wc) &&
		      (wc.status == IBV_WC_LOC_PROT_ERR ||
		       wc.status == IBV_WC_SUCCESS));
		CHECK_CALL(ibv_dereg_mr(mr), 0);
		CHECK(pair_again(&pair));
	}
	pair_down(&pair);
	if (skipped)
		skip("this kernel does not move it");
}

/* When it is told to; pthread_create() would map memory itself. */
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
	if (access("/dev/fuse", R_OK)) {
		run_test(no_server, NULL, "mappings are replaced during a page-in");
		return;
	}
	if (!server_starts())
		return;
	run_test(vvar, NULL, "a page of the kernel takes the place of one that is awaited");
	run_test(held_again, NULL, "another file takes its place");
	server_ends();
}
