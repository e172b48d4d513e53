// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Multicast: groups with members on both hosts.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "transfer.h"
#include "resources.h"

#define GRH		40
#define EVERYBODY	0xffffff	/* the QP number of multicast packets */
#define LENGTH		600

static union ibv_gid group_of(const char *text)
{
	union ibv_gid gid = {};

	inet_pton(AF_INET6, text, gid.raw);
	return gid;
}

static bool ipv4(void)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(hosts[0].gid.raw, mapped, sizeof(mapped));
}

/* A group in the address family of the hosts. */
static union ibv_gid group(int number)
{
	union ibv_gid gid = group_of(ipv4() ? "::ffff:239.7.8.0" :
					      "ff0e::7:800");

	gid.raw[15] = number;
	return gid;
}

static struct ibv_ah *path_to_group(const struct side *side,
				    union ibv_gid gid)
{
	struct ibv_ah_attr attr = {
		.is_global = 1,
		.port_num = 1,
		.grh.dgid = gid,
		.grh.sgid_index = side->host->gid_index,
		.grh.hop_limit = 2,
	};

	return ibv_create_ah(side->pd, &attr);
}

static int send_to(struct side *side, struct ibv_ah *ah, uint64_t id)
{
	struct ibv_sge sge = piece(side, 0, LENGTH);
	struct ibv_send_wr wr = ud_wr(ah, EVERYBODY, id, &sge);

	fill(side->buf, LENGTH, id);
	return post_one(side, &wr);
}

/* The member gets what @from has sent. */
static void gets(struct side *member, const struct side *from, uint64_t id)
{
	const uint8_t *buf = member->buf + 8192;

	EXPECT(member->rcq, member->qp, .wr_id = id, .opcode = IBV_WC_RECV,
	       .length = GRH + LENGTH, .src_qp = from->qp->qp_num);
	CHECK(filled(buf + GRH, LENGTH, id));
}

static int wants(struct side *member, uint64_t id)
{
	memset(member->buf + 8192, 0, GRH + LENGTH);
	return post_recv(member, id, 8192, GRH + LENGTH);
}

/* Members on both hosts, two of them on one; the sender is one itself. */
static void several(const void *arg)
{
	const struct options options = { .type = IBV_QPT_UD };
	union ibv_gid gid = group(1);
	struct pair first, second;
	struct side *members[3];
	struct ibv_ah *ah;
	uint64_t id;
	size_t i;

	(void)arg;
	REQUIRE(pair_up(&first, &options) && pair_up(&second, &options));
	members[0] = &first.a;
	members[1] = &first.b;
	members[2] = &second.b;
	ah = path_to_group(&first.a, gid);
	REQUIRE(CHECK(ah));
	for (i = 0; i < 3; i++)
		CHECK_CALL(ibv_attach_mcast(members[i]->qp, &gid, 0), 0);
	for (id = 1; id <= 5; id++) {
		for (i = 0; i < 3; i++)
			CHECK_CALL(wants(members[i], id), 0);
		CHECK_CALL(send_to(&first.a, ah, id), 0);
		EXPECT(first.a.scq, first.a.qp, .wr_id = id,
		       .opcode = IBV_WC_SEND);
		for (i = 0; i < 3; i++)
			gets(members[i], &first.a, id);
		CHECK(quiet(second.a.rcq));
	}
	/* One member has left, the others continue. */
	CHECK_CALL(ibv_detach_mcast(members[1]->qp, &gid, 0), 0);
	for (i = 0; i < 3; i++)
		CHECK_CALL(wants(members[i], 6), 0);
	CHECK_CALL(send_to(&first.a, ah, 6), 0);
	EXPECT(first.a.scq, first.a.qp, .wr_id = 6, .opcode = IBV_WC_SEND);
	gets(members[0], &first.a, 6);
	gets(members[2], &first.a, 6);
	CHECK(quiet(members[1]->rcq));
	CHECK_CALL(ibv_detach_mcast(members[0]->qp, &gid, 0), 0);
	CHECK_CALL(ibv_detach_mcast(members[2]->qp, &gid, 0), 0);
	CHECK_CALL(ibv_destroy_ah(ah), 0);
	pair_down(&first);
	pair_down(&second);
}

/* A message for one group does not reach another. */
static void two_groups(const void *arg)
{
	const struct options options = { .type = IBV_QPT_UD };
	union ibv_gid gids[2] = { group(2), group(3) };
	struct ibv_ah *ahs[2];
	struct pair pairs[2];
	uint64_t id;
	int i;

	(void)arg;
	for (i = 0; i < 2; i++) {
		REQUIRE(pair_up(&pairs[i], &options));
		ahs[i] = path_to_group(&pairs[0].a, gids[i]);
		REQUIRE(CHECK(ahs[i]));
		CHECK_CALL(ibv_attach_mcast(pairs[i].b.qp, &gids[i], 0), 0);
	}
	for (id = 10; id <= 13; id++) {
		struct side *member = &pairs[id % 2].b;

		CHECK_CALL(wants(member, id), 0);
		CHECK_CALL(send_to(&pairs[0].a, ahs[id % 2], id), 0);
		EXPECT(pairs[0].a.scq, pairs[0].a.qp, .wr_id = id,
		       .opcode = IBV_WC_SEND);
		gets(member, &pairs[0].a, id);
		CHECK(quiet(pairs[(id + 1) % 2].b.rcq));
	}
	for (i = 0; i < 2; i++) {
		CHECK_CALL(ibv_destroy_ah(ahs[i]), 0);
		CHECK_CALL(ibv_detach_mcast(pairs[i].b.qp, &gids[i], 0), 0);
	}
	pair_down(&pairs[0]);
	pair_down(&pairs[1]);
}

/* Programs such as mckey leave as soon as they have posted everything. */
static void posted_and_gone(const void *arg)
{
	const struct options options = { .type = IBV_QPT_UD };
	union ibv_gid gid = group(5);
	const bool ah_first = arg;
	const uint64_t n = 40;
	struct ibv_sge sge;
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.wr.ud = { .remote_qpn = EVERYBODY, .remote_qkey = QKEY },
	};
	struct pair pair;
	uint64_t id;

	REQUIRE(pair_up(&pair, &options));
	sge = piece(&pair.a, 0, LENGTH);
	wr.wr.ud.ah = path_to_group(&pair.a, gid);
	REQUIRE(CHECK(wr.wr.ud.ah));
	CHECK_CALL(ibv_attach_mcast(pair.b.qp, &gid, 0), 0);
	for (id = 1; id <= n; id++)
		CHECK_CALL(post_recv(&pair.b, id, 8192, GRH + LENGTH), 0);
	for (id = 1; id <= n; id++)
		CHECK_CALL(post_one(&pair.a, &wr), 0);
	if (ah_first)
		CHECK_CALL(ibv_destroy_ah(wr.wr.ud.ah), 0);
	CHECK_CALL(ibv_destroy_qp(pair.a.qp), 0);
	pair.a.qp = NULL;
	for (id = 1; id <= n; id++)
		EXPECT(pair.b.rcq, pair.b.qp, .wr_id = id,
		       .opcode = IBV_WC_RECV, .length = GRH + LENGTH);
	if (!ah_first)
		CHECK_CALL(ibv_destroy_ah(wr.wr.ud.ah), 0);
	CHECK_CALL(ibv_detach_mcast(pair.b.qp, &gid, 0), 0);
	pair_down(&pair);
}

static void crowd(const void *arg)
{
	const struct options options = { .type = IBV_QPT_UD };
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_UD };
	union ibv_gid gid = group(6);
	struct ibv_device_attr attr;
	struct ibv_qp *qps[1000];
	struct pair pair;
	int i, n;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	CHECK_CALL(ibv_query_device(pair.a.host->context, &attr), 0);
	n = attr.max_mcast_qp_attach;
	REQUIRE(CHECK(n > 1 && n < 1000));
	init.send_cq = pair.a.scq;
	init.recv_cq = pair.a.rcq;
	for (i = 0; i <= n; i++) {
		qps[i] = ibv_create_qp(pair.a.pd, &init);
		REQUIRE(CHECK(qps[i]));
		CHECK_CALL(ibv_attach_mcast(qps[i], &gid, 0),
			   i < n ? 0 : ENOSPC);
	}
	/* There is room again; and in other groups. */
	CHECK_CALL(ibv_detach_mcast(qps[0], &gid, 0), 0);
	CHECK_CALL(ibv_attach_mcast(qps[n], &gid, 0), 0);
	gid = group(7);
	CHECK_CALL(ibv_attach_mcast(qps[0], &gid, 0), 0);
	CHECK_CALL(ibv_detach_mcast(qps[0], &gid, 0), 0);
	gid = group(6);
	for (i = 0; i <= n; i++) {
		if (i)
			CHECK_CALL(ibv_detach_mcast(qps[i], &gid, 0), 0);
		CHECK_CALL(ibv_destroy_qp(qps[i]), 0);
	}
	pair_down(&pair);
}

static union ibv_gid numbered(int number)
{
	union ibv_gid gid = group(number & 0xff);

	gid.raw[14] = 16 + (number >> 8);
	return gid;
}

/* After a process has joined as many groups as it may, others can still join. */
static void greedy(const void *arg)
{
	const struct options options = { .type = IBV_QPT_UD };
	struct host own = hosts[0];
	struct pair pair, other;
	union ibv_gid gid;
	int err = 0, n;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	for (n = 0; n < 20000 && !err; n++) {
		gid = numbered(n);
		err = ibv_attach_mcast(pair.a.qp, &gid, 0);
	}
	CHECK_CALL(err, ENOSPC);
	CHECK(n > 1000);
	REQUIRE(host_open(&hosts[0], own.name, own.gid_index));
	REQUIRE(pair_up(&other, &options));
	CHECK_CALL(ibv_attach_mcast(other.a.qp, &gid, 0), 0);
	CHECK_CALL(ibv_detach_mcast(other.a.qp, &gid, 0), 0);
	pair_down(&other);
	CHECK_CALL(ibv_close_device(hosts[0].context), 0);
	hosts[0] = own;
	for (n -= 2; n >= 0; n--) {
		gid = numbered(n);
		CHECK_CALL(ibv_detach_mcast(pair.a.qp, &gid, 0), 0);
	}
	pair_down(&pair);
}

/* A second join changes nothing: one leave ends the membership. */
static void joined_twice(const void *arg)
{
	const struct options ud = { .type = IBV_QPT_UD };
	union ibv_gid gid = group(4);
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, &ud));
	CHECK_CALL(ibv_attach_mcast(pair.a.qp, &gid, 0), 0);
	CHECK_CALL(ibv_attach_mcast(pair.a.qp, &gid, 0), 0);
	CHECK_CALL(ibv_detach_mcast(pair.a.qp, &gid, 0), 0);
	pair_down(&pair);
}

/* One device for both hosts is in another namespace than these commands. */
static bool two_devices(void)
{
	return strcmp(hosts[0].name, hosts[1].name);
}

/* Small objects that the kernel has allocated, or -1. */
static long small_objects(void)
{
	FILE *file = fopen("/proc/slabinfo", "r");
	long found = 0, active;
	char line[512];
	int size;

	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file))
		if ((sscanf(line, "kmalloc-%d %ld", &size, &active) == 2 ||
		     sscanf(line, "kmalloc-cg-%d %ld", &size, &active) == 2) && size <= 128)
			found += active;
	fclose(file);
	return found;
}

/* A netdev with an address of the device joins all groups, and goes. */
#define CYCLE	"ip -n h2 link add link eth0 name v0 up type vlan id 7 && "	\
		"ip -n h2 address add 10.77.0.1/24 dev v0 && "			\
		"until [ $(ip -n h2 maddress show dev v0 | "			\
			"grep -cE '239\\.7\\.|ff0e::7:') -ge 128 ]; do sleep 0.02; done; "	\
		"ip -n h2 link delete v0"

static void netdevs_that_go(const void *arg)
{
	const struct options options = { .type = IBV_QPT_UD };
	uint64_t end;
	struct pair pair;
	union ibv_gid gid;
	long before;
	int i;

	(void)arg;
	if (!two_devices() || small_objects() < 0) {
		skip("one device, or a kernel without slabinfo");
		return;
	}
	REQUIRE(pair_up(&pair, &options));
	for (i = 0; i < 128; i++) {
		gid = numbered(i);
		CHECK_CALL(ibv_attach_mcast(pair.b.qp, &gid, 0), 0);
	}
	CHECK(!system(CYCLE));
	before = small_objects();
	for (i = 0; i < 30; i++)
		REQUIRE(CHECK(!system(CYCLE)));
	end = now_ms() + PATIENCE_MS;
	while (small_objects() - before > 1500 && now_ms() < end)
		usleep(100000);
	diag("%ld objects", small_objects() - before);
	CHECK(small_objects() - before <= 1500);
	for (i = 0; i < 128; i++) {
		gid = numbered(i);
		CHECK_CALL(ibv_detach_mcast(pair.b.qp, &gid, 0), 0);
	}
	pair_down(&pair);
}

static void reaches(struct pair *from, struct ibv_ah *ah, struct side *member, uint64_t id)
{
	CHECK_CALL(send_to(&from->a, ah, id), 0);
	EXPECT(from->a.scq, from->a.qp, .wr_id = id, .opcode = IBV_WC_SEND);
	gets(member, &from->a, id);
}

/* Below an MTU of 1280 a netdev has no IPv6. */
static void small_mtu(const void *arg)
{
	const struct options options = { .type = IBV_QPT_UD };
	union ibv_gid gid = group(1);
	struct pair first, second;
	char text[INET6_ADDRSTRLEN], command[200];
	struct ibv_ah *ah;

	(void)arg;
	if (ipv4() || !two_devices()) {
		skip("IPv4, or one device");
		return;
	}
	REQUIRE(pair_up(&first, &options) && pair_up(&second, &options));
	ah = path_to_group(&first.a, gid);
	REQUIRE(CHECK(ah));
	CHECK_CALL(ibv_attach_mcast(first.b.qp, &gid, 0), 0);
	CHECK_CALL(ibv_attach_mcast(second.b.qp, &gid, 0), 0);
	inet_ntop(AF_INET6, hosts[1].gid.raw, text, sizeof(text));
	snprintf(command, sizeof(command), "ip netns exec h2 sh -c 'mtu=$(cat /sys/class/net/eth0/mtu) && "
		 "ip link set eth0 mtu 1000 && ip link set eth0 mtu $mtu && "
		 "ip address add %s/64 dev eth0 nodad'", text);
	CHECK(!system(command));
	CHECK_CALL(wants(&first.b, 1), 0);
	reaches(&first, ah, &first.b, 1);
	/* Each of them joined, so the other's leave is not the last one. */
	CHECK_CALL(ibv_detach_mcast(first.b.qp, &gid, 0), 0);
	CHECK_CALL(wants(&second.b, 2), 0);
	reaches(&first, ah, &second.b, 2);
	CHECK_CALL(ibv_detach_mcast(second.b.qp, &gid, 0), 0);
	CHECK_CALL(ibv_destroy_ah(ah), 0);
	pair_down(&first);
	pair_down(&second);
}

#define BRIDGE	"ip -n h2 link add br9 up type bridge && ip -n h2 link set eth0 master br9 && "	\
		"ip -n h2 address add 10.78.0.1/24 dev br9"
#define JOINED	"ip -n h2 maddress show dev br9 | grep -qE '239\\.7\\.8\\.1$|ff0e::7:801$'"

static bool joined(bool wanted)
{
	uint64_t end = now_ms() + PATIENCE_MS;

	while (!system(JOINED) != wanted && now_ms() < end)
		usleep(20000);
	return !system(JOINED) == wanted;
}

/* A QP receives nothing through a bridge that the netdev of its device has left. */
static void left_bridge(const void *arg)
{
	const struct options options = { .type = IBV_QPT_UD };
	union ibv_gid gid = group(1);
	struct pair pair;
	int i;

	(void)arg;
	if (!two_devices()) {
		skip("one device");
		return;
	}
	REQUIRE(pair_up(&pair, &options));
	CHECK_CALL(ibv_attach_mcast(pair.b.qp, &gid, 0), 0);
	CHECK(!system(BRIDGE));
	for (i = 0; i < 2; i++) {
		CHECK(joined(true));
		CHECK(!system("ip -n h2 link set eth0 nomaster"));
		CHECK(joined(false));
		CHECK(!system("ip -n h2 link set eth0 master br9"));
	}
	CHECK(joined(true));
	CHECK_CALL(ibv_detach_mcast(pair.b.qp, &gid, 0), 0);
	CHECK(joined(false));
	CHECK(!system("ip -n h2 link delete br9"));
	pair_down(&pair);
}

/*
 * Netdevs above that of the second device, with copies of what that receives.  HOST is the
 * network namespace of the addresses.
 */
#define ABOVE(kind)	"host=h2; ip -n h2 link add up0 link eth0 type " kind
#define ELSEWHERE(kind)	"host=box; ip netns add box && ip -n h2 link add up0 link eth0 netns box type " kind
#define ADDRESSED	" && ip -n $host link set up0 up && ip -n $host address add 10.79.0.1/24 dev up0 && "	\
			"ip -n $host address add fd79::1/64 dev up0 nodad"
#define STRICT		" && ip netns exec h2 sysctl -qw net.ipv4.conf.eth0.rp_filter=1 net.ipv4.conf.up0.rp_filter=1"
#define REMOVED		"ip -n h2 link delete up0 2>/dev/null; ip -n h2 link delete up1 2>/dev/null; "		\
			"ip netns delete box 2>/dev/null; "							\
			"ip netns exec h2 sysctl -qw net.ipv4.conf.eth0.rp_filter=0"

#define DATAGRAMS	4

/* Each datagram comes once.  There is room for a copy of each. */
static void receives_once(struct side *from, struct side *member, struct ibv_ah *ah)
{
	uint64_t id;

	for (id = 1; id <= 2 * DATAGRAMS; id++)
		CHECK_CALL(wants(member, id), 0);
	for (id = 1; id <= DATAGRAMS; id++) {
		CHECK_CALL(send_to(from, ah, id), 0);
		EXPECT(from->scq, from->qp, .wr_id = id, .opcode = IBV_WC_SEND);
		gets(member, from, id);
	}
	CHECK(quiet(member->rcq));
}

static bool above_joined(void)
{
	uint64_t end = now_ms() + PATIENCE_MS;
	const char *joined = "for host in h2 box; do ip -n $host maddress show dev up0 2>/dev/null; done | "
			     "grep -qE '239\\.7\\.8\\.1$|ff0e::7:801$'";

	while (system(joined) && now_ms() < end)
		usleep(20000);
	return !system(joined);
}

/* Adds the netdevs of that script, without those of a test that failed. */
static bool added(const char *script)
{
	if (!two_devices()) {
		skip("one device");
		return false;
	}
	system(REMOVED);
	if (!system(script))
		return true;
	skip("this kernel has no such netdevs");
	return false;
}

/* The member is in group 1 meanwhile.  Destroys the address handle. */
static void member_receives_once(struct side *from, struct side *member, struct ibv_ah *ah)
{
	union ibv_gid gid = group(1);

	REQUIRE(ah);
	CHECK_CALL(ibv_attach_mcast(member->qp, &gid, 0), 0);
	CHECK(above_joined());
	receives_once(from, member, ah);
	CHECK_CALL(ibv_detach_mcast(member->qp, &gid, 0), 0);
	CHECK_CALL(ibv_destroy_ah(ah), 0);
}

static void once(const void *arg)
{
	const struct options options = { .type = IBV_QPT_UD };
	struct pair pair;

	if (!added(arg))
		return;
	REQUIRE(pair_up(&pair, &options));
	member_receives_once(&pair.a, &pair.b, path_to_group(&pair.a, group(1)));
	pair_down(&pair);
	system(REMOVED);
}

#define BESIDE		" && ip -n h2 link add up1 link eth0 up type macvlan mode bridge && "			\
			"ip -n h2 address add 10.79.1.1/24 dev up1 && ip -n h2 address add fd7a::1/64 dev up1 nodad"

/* Waits for the address, and returns its index, or -1. */
static int index_of(struct host *host, const char *text)
{
	uint64_t end = now_ms() + PATIENCE_MS;
	union ibv_gid wanted = group_of(text), gid;
	int i;

	do {
		for (i = 0; i < 32; i++)
			if (!ibv_query_gid(host->context, 1, i, &gid) &&
			    !memcmp(&gid, &wanted, sizeof(gid)))
				return i;
		usleep(20000);
	} while (now_ms() < end);
	return -1;
}

/* The netdev below does not receive what a macvlan sends to another one. */
static void once_from_beside(const void *arg)
{
	const struct options options = { .type = IBV_QPT_UD };
	const int index = hosts[1].gid_index;
	struct pair sender, member;
	struct ibv_ah *ah;

	if (!added(arg))
		return;
	REQUIRE(pair_up(&sender, &options) && pair_up(&member, &options));
	hosts[1].gid_index = index_of(&hosts[1], ipv4() ? "::ffff:10.79.1.1" : "fd7a::1");
	ah = path_to_group(&sender.b, group(1));
	hosts[1].gid_index = index;
	member_receives_once(&sender.b, &member.b, ah);
	pair_down(&sender);
	pair_down(&member);
	system(REMOVED);
}

GROUP(multicast)
{
	static const struct test tests[] = {
		{ "multicast: a datagram reaches all members of a group",
		  several },
		{ "multicast: a datagram for one group does not reach another",
		  two_groups },
		{ "multicast: datagrams arrive after the sending QP is destroyed",
		  posted_and_gone },
		{ "multicast: datagrams arrive after the AH is destroyed as well",
		  posted_and_gone, "" },
		{ "multicast: the device's limit of QPs in a group", crowd },
		{ "multicast: a process with all the groups it may have does not block others",
		  greedy },
		{ "multicast: a QP joins a group twice, and leaves it once",
		  joined_twice },
		{ "multicast: netdevs that come and go leave no memory behind",
		  netdevs_that_go },
		{ "multicast: a netdev that leaves a bridge leaves its groups there", left_bridge },
		{ "multicast: with a macvlan above, a datagram comes once", once,
		  ABOVE("macvlan mode bridge") ADDRESSED },
		{ "multicast: once with strict reverse path filters, too", once,
		  ABOVE("macvlan mode bridge") ADDRESSED STRICT },
		{ "multicast: once with a macvlan in another namespace", once,
		  ELSEWHERE("macvlan mode private") ADDRESSED },
		{ "multicast: once with an ipvlan above", once, ABOVE("ipvlan mode l2") ADDRESSED },
		{ "multicast: once from a macvlan beside", once_from_beside,
		  ABOVE("macvlan mode bridge") ADDRESSED BESIDE },
		/* Last, because the address gets another index. */
		{ "multicast: members receive after an MTU without IPv6", small_mtu },
	};

	run_tests(tests, ARRAY_SIZE(tests));
}
