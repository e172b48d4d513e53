// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rings.h"

#define MAX_FDS	1024

static struct host victim_hosts[2];
static struct pair victim;

bool victim_works(void)
{
	return CHECK(works(&victim));
}

/* Finding the provider's mappings and files */

struct seen {
	struct mapping maps[64];
	int num;
	bool fds[MAX_FDS];
};

static void see_maps(struct seen *seen, const char *device)
{
	FILE *file = fopen("/proc/self/maps", "r");
	unsigned long from, to, offset;
	char line[512];

	seen->num = 0;
	while (file && fgets(line, sizeof(line), file))
		if (strstr(line, device) && seen->num < 64 &&
		    sscanf(line, "%lx-%lx %*s %lx", &from, &to, &offset) == 3)
			seen->maps[seen->num++] = (struct mapping) {
				(uint8_t *)from, to - from, offset };
	if (file)
		fclose(file);
}

static void see_fds(struct seen *seen)
{
	char path[64], link[64];
	ssize_t length;
	int fd;

	memset(seen->fds, 0, sizeof(seen->fds));
	for (fd = 0; fd < MAX_FDS; fd++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		length = readlink(path, link, sizeof(link) - 1);
		if (length < 0)
			continue;
		link[length] = 0;
		seen->fds[fd] = strstr(link, "[sroce]");
	}
}

static void see(struct seen *seen, const struct ibv_device *device)
{
	char name[80];

	snprintf(name, sizeof(name), "/%s\n", device->dev_name);
	see_maps(seen, name);
	see_fds(seen);
}

static bool was_there(const struct seen *seen, const struct mapping *map)
{
	int i;

	for (i = 0; i < seen->num; i++)
		if (seen->maps[i].addr == map->addr)
			return true;
	return false;
}

/* Their sizes tell them apart. */
static void sort_in(struct abuser *abuser, const struct mapping *map)
{
	switch (map->size) {
	case SROCE_SLOTS_PER_PAGE * SROCE_SLOT_SIZE:
		abuser->page = *map;
		break;
	case 2 * ENTRIES * STRIDE:
	case XRC_ENTRIES * STRIDE:
		abuser->ring = *map;
		break;
	case CQ_ENTRIES * SROCE_CQE_SIZE:
		if (abuser->num_cqs < 2)
			abuser->cqs[abuser->num_cqs++] = *map;
	}
}

static bool find_doorbells(struct abuser *abuser, const struct seen *before)
{
	struct seen now;
	int i;

	see(&now, hosts[0].context->device);
	for (i = 0; i < now.num; i++)
		if (!was_there(before, &now.maps[i]))
			sort_in(abuser, &now.maps[i]);
	abuser->kick_fd = -1;
	for (i = 0; i < MAX_FDS; i++)
		if (now.fds[i] && !before->fds[i])
			abuser->kick_fd = i;
	return CHECK(abuser->page.addr) && CHECK(abuser->kick_fd >= 0);
}

/* A request shows which slot and which entry is which.  An initiator of XRC only sends. */
static bool find_slot(struct abuser *abuser)
{
	struct sroce_qp_slot *slots = (void *)abuser->page.addr;
	struct side *a = &abuser->pair.a;
	int i, cqs = 0;

	if (!CHECK_CALL(abuser->pair.options.type == IBV_QPT_XRC_SEND ?
			post_send(a, 0x5107, 0, 64, 0) : post_recv(a, 0x5107, 0, 64), 0))
		return false;
	for (i = 0; i < 3; i++)
		if (slots[i].rq_tail == 1 || slots[i].sq_tail == 1) {
			abuser->slot = &slots[i];
			abuser->slot_number = i;
		} else if (cqs < 2) {
			abuser->cq_slots[cqs++] = (void *)&slots[i];
		}
	return CHECK(abuser->slot) && CHECK(cqs == 2);
}

bool abuser_doorbells(struct abuser *abuser, const struct options *options)
{
	struct seen before;

	memset(abuser, 0, sizeof(*abuser));
	see(&before, hosts[1].context->device);
	see(&before, victim_hosts[0].context->device);
	if (!CHECK(host_open(&hosts[0], victim_hosts[0].name,
			     victim_hosts[0].gid_index)))
		return false;
	forget_events(hosts[1].context);
	return pair_up(&abuser->pair, options) &&
	       find_doorbells(abuser, &before) && find_slot(abuser) &&
	       pair_again(&abuser->pair);
}

bool abuser_up(struct abuser *abuser)
{
	const struct options options = { .wr = ENTRIES, .cqe = CQ_ENTRIES };

	return abuser_doorbells(abuser, &options) &&
	       CHECK(abuser->ring.addr) && CHECK(abuser->num_cqs == 2) &&
	       CHECK(rqe_at(abuser, 0)->wr_id == 0x5107);
}

bool abuser_xrc_up(struct abuser *abuser)
{
	const struct options options = {
		.type = IBV_QPT_XRC_SEND, .wr = XRC_ENTRIES, .cqe = CQ_ENTRIES,
	};

	return abuser_doorbells(abuser, &options) &&
	       CHECK(abuser->ring.addr) && CHECK(abuser->num_cqs == 2) &&
	       CHECK(sqe_at(abuser, 0)->wr_id == 0x5107);
}

void abuser_down(struct abuser *abuser)
{
	pair_down(&abuser->pair);
	CHECK_CALL(ibv_close_device(hosts[0].context), 0);
}

struct sroce_sqe *sqe_at(const struct abuser *abuser, uint32_t index)
{
	return (void *)(abuser->ring.addr + index % ENTRIES * STRIDE);
}

struct sroce_rqe *rqe_at(const struct abuser *abuser, uint32_t index)
{
	return (void *)(abuser->ring.addr + ENTRIES * STRIDE +
			index % ENTRIES * STRIDE);
}

int kick(const struct abuser *abuser)
{
	return ioctl(abuser->kick_fd, SROCE_IOC_KICK, abuser->slot_number);
}

/* Another process, which works until its pipe is closed */

static int other_process(int pipe_fd)
{
	struct pair pair;
	bool good = true;
	int rounds = 0;
	char byte;

	fabric_open();
	if (!pair_up(&pair, NULL))
		return 1;
	while (good && read(pipe_fd, &byte, 1) > 0) {
		good = works(&pair);
		rounds++;
	}
	diag("the other process moved data %d times", rounds);
	return good && rounds ? 0 : 1;
}

static pid_t start_other(int *pipe_fd)
{
	int fds[2];
	pid_t pid;

	if (pipe(fds))
		exit(1);
	pid = fork();
	if (!pid) {
		close(fds[1]);
		_exit(other_process(fds[0]));
	}
	close(fds[0]);
	*pipe_fd = fds[1];
	return pid;
}

static int others_fd;
static pid_t other_pid;

/* It does one more round while we continue. */
static void other_goes_on(const void *arg)
{
	(void)arg;
	CHECK(write(others_fd, "", 1) == 1);
}

static void others(const void *arg)
{
	pid_t pid = *(const pid_t *)arg;
	int status;

	close(others_fd);
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
	victim_works();
}

static void set_up(const void *arg)
{
	(void)arg;
	fabric_open();
	victim_hosts[0] = hosts[0];
	victim_hosts[1] = hosts[1];
	REQUIRE(pair_up(&victim, NULL));
	victim.a.host = &victim_hosts[0];
	victim.b.host = &victim_hosts[1];
	victim_works();
}

void tap_begin(void)
{
	other_pid = start_other(&others_fd);
	run_test(set_up, NULL, "connections of the attacking process");
	run_test(other_goes_on, NULL, "a connection of another process");
}

void other_process_goes_on(void)
{
	run_test(other_goes_on, NULL,
		 "the connection of another process still works");
}

void tap_end(void)
{
	other_process_goes_on();
	run_test(others, &other_pid,
		 "connections of other processes still work");
}
