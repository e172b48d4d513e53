// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Unreliable datagrams.
 */
#include <arpa/inet.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <string.h>

#include "transfer.h"

#define GRH	40

static const struct options ud = { .type = IBV_QPT_UD, .inline_data = 64 };

struct datagram {
	uint32_t length;
	unsigned int flags;
	bool with_imm;
	uint32_t imm;
	uint32_t qkey;
};

static struct ibv_send_wr request(uint64_t id, const struct datagram *d,
				  struct ibv_sge *sge, struct ibv_ah *ah,
				  uint32_t qpn)
{
	struct ibv_send_wr wr = ud_wr(ah, qpn, id, sge);

	wr.num_sge = d->length ? 1 : 0;
	if (d->with_imm)
		wr.opcode = IBV_WR_SEND_WITH_IMM;
	wr.send_flags |= d->flags;
	wr.imm_data = htonl(d->imm);
	if (d->qkey)
		wr.wr.ud.remote_qkey = d->qkey;
	return wr;
}

static int post_to(struct pair *pair, uint64_t id, const struct datagram *d,
		   struct ibv_ah *ah, uint32_t qpn)
{
	struct ibv_sge sge = piece(&pair->a, 0, d->length);
	struct ibv_send_wr wr = request(id, d, &sge, ah, qpn);

	return post_one(&pair->a, &wr);
}

static int post(struct pair *pair, uint64_t id, const struct datagram *d)
{
	return post_to(pair, id, d, pair->a.ah, pair->b.qp->qp_num);
}

static bool arrives(struct pair *pair, uint64_t id, const struct datagram *d)
{
	return EXPECT(pair->a.scq, pair->a.qp, .wr_id = id,
		      .opcode = IBV_WC_SEND) &&
	       EXPECT(pair->b.rcq, pair->b.qp, .wr_id = ~id,
		      .opcode = IBV_WC_RECV, .length = GRH + d->length,
		      .with_imm = d->with_imm, .imm = d->imm,
		      .src_qp = pair->a.qp->qp_num);
}

static bool delivered(struct pair *pair, uint64_t id, const struct datagram *d)
{
	fill(pair->a.buf, d->length, id);
	memset(pair->b.buf, 0, GRH + d->length + 1);
	return CHECK_CALL(post_recv(&pair->b, ~id, 0, pair->b.size), 0) &&
	       CHECK_CALL(post(pair, id, d), 0) && arrives(pair, id, d) &&
	       CHECK(filled(pair->b.buf + GRH, d->length, id)) &&
	       CHECK(!pair->b.buf[GRH + d->length]);
}

static void sizes(const void *arg)
{
	const uint32_t mtu = 128u << hosts[0].mtu;
	const uint32_t lengths[] = { 0, 1, 2, 3, 4, 63, 64, mtu - 1, mtu };
	struct pair pair;
	size_t i;

	(void)arg;
	REQUIRE(pair_up(&pair, &ud));
	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		struct datagram d = { .length = lengths[i] };

		delivered(&pair, i, &d);
		d.with_imm = true;
		d.imm = 0xdeadbeef + i;
		delivered(&pair, 100 + i, &d);
		d.flags = IBV_SEND_INLINE;
		if (d.length <= 64)
			delivered(&pair, 200 + i, &d);
	}
	pair_down(&pair);
}

static void check_grh4(const struct iphdr *ip, const struct iphdr *zero,
		       uint32_t length)
{
	static const char nothing[20];

	CHECK(!memcmp(zero, nothing, 20));
	CHECK(ip->version == 4 && ip->ihl == 5);
	CHECK(ip->protocol == IPPROTO_UDP);
	CHECK(ntohs(ip->tot_len) == 20 + 8 + 12 + 8 + (length + 3) / 4 * 4 + 4);
	CHECK(!memcmp(&ip->saddr, hosts[0].gid.raw + 12, 4));
	CHECK(!memcmp(&ip->daddr, hosts[1].gid.raw + 12, 4));
}

static void check_grh6(const struct ip6_hdr *ip, uint32_t length)
{
	CHECK(ip->ip6_vfc >> 4 == 6 && ip->ip6_nxt == IPPROTO_UDP);
	CHECK(ntohs(ip->ip6_plen) == 8 + 12 + 8 + (length + 3) / 4 * 4 + 4);
	CHECK(!memcmp(&ip->ip6_src, &hosts[0].gid, 16));
	CHECK(!memcmp(&ip->ip6_dst, &hosts[1].gid, 16));
}

static bool mapped(const union ibv_gid *gid)
{
	static const uint8_t prefix[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(gid->raw, prefix, 12);
}

static void grh(const void *arg)
{
	const struct datagram d = { .length = 101 };
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, &ud));
	delivered(&pair, 1, &d);
	if (mapped(&hosts[0].gid))
		check_grh4((struct iphdr *)(pair.b.buf + 20),
			   (struct iphdr *)pair.b.buf, d.length);
	else
		check_grh6((struct ip6_hdr *)pair.b.buf, d.length);
	pair_down(&pair);
}

/* The reply goes to the source in the completion and the header. */
static void answer(const void *arg)
{
	const struct datagram d = { .length = 33 };
	struct ibv_ah *there;
	struct pair pair;
	struct ibv_wc wc;
	struct side side;

	(void)arg;
	REQUIRE(pair_up(&pair, &ud));
	CHECK_CALL(post_recv(&pair.b, 1, 0, 1000), 0);
	CHECK_CALL(post(&pair, 1, &d), 0);
	REQUIRE(next_wc(pair.b.rcq, &wc) && CHECK(!wc.status));
	CHECK(wc.wc_flags & IBV_WC_GRH);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 1, .opcode = IBV_WC_SEND);
	there = ibv_create_ah_from_wc(pair.b.pd, &wc,
				      (struct ibv_grh *)pair.b.buf, 1);
	REQUIRE(CHECK(there));
	side = pair.a;
	pair.a = pair.b;
	pair.b = side;
	CHECK_CALL(post_recv(&pair.b, ~2ull, 0, 1000), 0);
	CHECK_CALL(post_to(&pair, 2, &d, there, wc.src_qp), 0);
	arrives(&pair, 2, &d);
	CHECK_CALL(ibv_destroy_ah(there), 0);
	pair_down(&pair);
}

static void wrong_qkey(const void *arg)
{
	const struct datagram wrong = { .length = 8, .qkey = QKEY + 1 };
	const struct datagram right = { .length = 8 };
	long long before = counter(&hosts[1], "rx_bad_qkey");
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, &ud));
	CHECK_CALL(post(&pair, 1, &wrong), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 1, .opcode = IBV_WC_SEND);
	delivered(&pair, 2, &right);
	CHECK(counter(&hosts[1], "rx_bad_qkey") == before + 1);
	pair_down(&pair);
}

/* A Q_Key with the highest bit set means the Q_Key of the sender's QP. */
static void own_qkey(const void *arg)
{
	const struct datagram d = { .length = 8, .qkey = 0x80000123 };
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, &ud));
	delivered(&pair, 1, &d);
	pair_down(&pair);
}

static void wrong_qpn(const void *arg)
{
	const struct datagram d = { .length = 8 };
	long long before = counter(&hosts[1], "rx_bad_qpn");
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, &ud));
	CHECK_CALL(post_to(&pair, 1, &d, pair.a.ah,
			   pair.b.qp->qp_num ^ 0x555555), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 1, .opcode = IBV_WC_SEND);
	delivered(&pair, 2, &d);
	CHECK(counter(&hosts[1], "rx_bad_qpn") == before + 1);
	pair_down(&pair);
}

/* A datagram without a receive request is lost, and so is one that is too long. */
static void no_room(const void *arg)
{
	const struct datagram d = { .length = 100 };
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, &ud));
	CHECK_CALL(post(&pair, 1, &d), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 1, .opcode = IBV_WC_SEND);
	CHECK(quiet(pair.b.rcq));
	delivered(&pair, 2, &d);
	pair_down(&pair);
}

static void too_long(const void *arg)
{
	const struct datagram d = { .length = (128u << hosts[0].mtu) + 1 };
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, &ud));
	CHECK_CALL(post(&pair, 1, &d), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 1, .status = IBV_WC_LOC_LEN_ERR);
	CHECK(state_of(&pair.a) == IBV_QPS_SQE);
	pair_down(&pair);
}

#define IN_A_ROW	32

static void post_list(struct pair *pair, const struct datagram *d)
{
	struct ibv_sge sge = piece(&pair->a, 0, d->length);
	struct ibv_send_wr wrs[IN_A_ROW], *bad;
	int i;

	for (i = 0; i < IN_A_ROW; i++) {
		wrs[i] = request(i, d, &sge, pair->a.ah, pair->b.qp->qp_num);
		wrs[i].next = i + 1 < IN_A_ROW ? &wrs[i + 1] : NULL;
	}
	CHECK_CALL(ibv_post_send(pair->a.qp, wrs, &bad), 0);
}

static bool sum_is_right(const struct iphdr *ip)
{
	const uint16_t *words = (const uint16_t *)ip;
	uint32_t sum = 0;
	int i;

	for (i = 0; i < 10; i++)
		sum += words[i];
	return (sum & 0xffff) + (sum >> 16) == 0xffff;
}

/* In a burst, too, each packet has its own header. */
static void listed(const void *arg)
{
	const struct datagram d = { .length = 500 };
	const struct iphdr *ip;
	struct pair pair;
	int i, first = 0;

	(void)arg;
	REQUIRE(pair_up(&pair, &ud));
	for (i = 0; i < IN_A_ROW; i++)
		CHECK_CALL(post_recv(&pair.b, ~(uint64_t)i, 1024 * i, 1024), 0);
	fill(pair.a.buf, 500, 3);
	post_list(&pair, &d);
	for (i = 0; i < IN_A_ROW; i++) {
		arrives(&pair, i, &d);
		CHECK(filled(pair.b.buf + 1024 * i + GRH, 500, 3));
		ip = (const struct iphdr *)(pair.b.buf + 1024 * i + 20);
		if (!mapped(&hosts[0].gid))
			continue;
		first = i ? first : ntohs(ip->id);
		CHECK(ntohs(ip->id) == (uint16_t)(first + i));
		CHECK(sum_is_right(ip));
	}
	pair_down(&pair);
}

/* Datagrams of a burst, of which each differs from the one before it in at most one thing. */
static const struct datagram mixed[] = {
	{ .length = 500 },
	{ .length = 500 },
	{ .length = 500, .qkey = QKEY + 1 },
	{ .length = 500 },
	{ .length = 499 },
	{ .length = 500 },
	{ .length = 500, .flags = IBV_SEND_SOLICITED },
	{ .length = 500 },
	{ .length = 500, .with_imm = true, .imm = 7 },
	{ .length = 500, .with_imm = true, .imm = 8 },
	{ .length = 500 },
	{ .length = 500 },
	{ .length = 100 },
};

#define MIXED		((int)ARRAY_SIZE(mixed))

static void post_mixed(struct pair *pair, uint32_t even, uint32_t odd)
{
	struct ibv_send_wr wrs[MIXED], *bad;
	struct ibv_sge from[MIXED];
	int i;

	for (i = 0; i < MIXED; i++) {
		from[i] = piece(&pair->a, 512 * i, mixed[i].length);
		fill(pair->a.buf + 512 * i, mixed[i].length, i);
		wrs[i] = request(i, &mixed[i], &from[i], pair->a.ah,
				 i % 2 ? odd : even);
		wrs[i].next = i + 1 < MIXED ? &wrs[i + 1] : NULL;
	}
	CHECK_CALL(ibv_post_send(pair->a.qp, wrs, &bad), 0);
}

/* Each has its own place.  Buffers are used from the last to the first. */
static size_t mixed_at(int i)
{
	return 800 * (MIXED - i);
}

static void check_mixed(struct pair *pair, struct side *to, int i)
{
	EXPECT(pair->a.scq, pair->a.qp, .wr_id = i, .opcode = IBV_WC_SEND);
	/* Another Q_Key: lost. */
	if (mixed[i].qkey)
		return;
	EXPECT(to->rcq, to->qp, .wr_id = i, .opcode = IBV_WC_RECV,
	       .length = GRH + mixed[i].length, .with_imm = mixed[i].with_imm,
	       .imm = mixed[i].imm, .src_qp = pair->a.qp->qp_num);
	CHECK(filled(to->buf + mixed_at(i) + GRH, mixed[i].length, i));
	CHECK(!to->buf[mixed_at(i) + GRH + mixed[i].length]);
}

/* @arg: alternately to two QPs */
static void listed_mixed(const void *arg)
{
	long long before = counter(&hosts[1], "rx_bad_qkey");
	struct pair pair, other;
	struct side *to[2] = { &pair.b, arg ? &other.b : &pair.b };
	int i;

	REQUIRE(pair_up(&pair, &ud) && pair_up(&other, &ud));
	for (i = 0; i < MIXED; i++)
		if (!mixed[i].qkey)
			CHECK_CALL(post_recv(to[i % 2], i, mixed_at(i), 600), 0);
	post_mixed(&pair, to[0]->qp->qp_num, to[1]->qp->qp_num);
	for (i = 0; i < MIXED; i++)
		check_mixed(&pair, to[i % 2], i);
	CHECK(counter(&hosts[1], "rx_bad_qkey") == before + 1);
	CHECK(quiet(pair.b.rcq) && quiet(other.b.rcq));
	pair_down(&pair);
	pair_down(&other);
}

#define LONG_LIST	60

/* Posts a list; the payload of each datagram is its own. */
static void post_own(struct pair *pair, struct ibv_send_wr *wrs, struct ibv_sge *from, int n)
{
	struct ibv_send_wr *bad;
	int i;

	for (i = 0; i < n; i++) {
		fill((void *)(uintptr_t)from[i].addr, from[i].length, i);
		wrs[i].next = i + 1 < n ? &wrs[i + 1] : NULL;
	}
	CHECK_CALL(ibv_post_send(pair->a.qp, wrs, &bad), 0);
}

/*
 * More than a page of fragments holds, from buffers in several pages and in two regions: the
 * payload of datagrams is not copied at once.
 */
static void listed_long(const void *arg)
{
	const uint32_t mtu = 128u << hosts[0].mtu, length = mtu < 1024 ? mtu : 1024;
	const struct datagram d = { .length = length };
	struct ibv_send_wr wrs[LONG_LIST];
	struct ibv_sge from[LONG_LIST];
	struct ibv_mr *mr;
	struct pair pair;
	int i;

	(void)arg;
	REQUIRE(pair_up(&pair, &ud));
	mr = ibv_reg_mr(pair.a.pd, pair.a.buf, pair.a.size, 0);
	REQUIRE(CHECK(mr));
	for (i = 0; i < LONG_LIST; i++) {
		from[i] = piece(&pair.a, 1080 * i, length);
		if (i >= 20 && i < 40 && i % 7)
			from[i].lkey = mr->lkey;
		wrs[i] = request(i, &d, &from[i], pair.a.ah, pair.b.qp->qp_num);
		CHECK_CALL(post_recv(&pair.b, ~(uint64_t)i, 1088 * i, GRH + length), 0);
	}
	post_own(&pair, wrs, from, LONG_LIST);
	for (i = 0; i < LONG_LIST; i++) {
		arrives(&pair, i, &d);
		CHECK(filled(pair.b.buf + 1088 * i + GRH, length, i));
	}
	CHECK_CALL(ibv_dereg_mr(mr), 0);
	pair_down(&pair);
}

static uint8_t traffic_class(const uint8_t *grh)
{
	return mapped(&hosts[0].gid) ? ((const struct iphdr *)(grh + 20))->tos :
				       ntohl(((const struct ip6_hdr *)grh)->ip6_flow) >> 20;
}

/*
 * Of equal datagrams some have another address handle, and some are inline.  GRO may
 * exchange datagrams of different traffic classes.
 */
static void listed_handles(const void *arg)
{
	int next[2] = { 0, 2 };		/* of each class; every other two have the same */
	const struct datagram plain = { .length = 64 };
	const struct datagram at_once = { .length = 64, .flags = IBV_SEND_INLINE };
	struct ibv_ah_attr attr = {
		.is_global = 1, .port_num = 1,
		.grh = { .dgid = hosts[1].gid, .sgid_index = hosts[0].gid_index,
			 .traffic_class = 0x20, .hop_limit = 64 },
	};
	struct ibv_send_wr wrs[16];
	struct ibv_sge from[16];
	struct ibv_ah *ah;
	struct pair pair;
	int i;

	(void)arg;
	REQUIRE(pair_up(&pair, &ud));
	ah = ibv_create_ah(pair.a.pd, &attr);
	REQUIRE(CHECK(ah));
	for (i = 0; i < 16; i++) {
		from[i] = piece(&pair.a, 100 * i, 64);
		wrs[i] = request(i, i & 4 ? &at_once : &plain, &from[i],
				 i & 2 ? ah : pair.a.ah, pair.b.qp->qp_num);
		CHECK_CALL(post_recv(&pair.b, ~(uint64_t)i, 200 * i, 200), 0);
	}
	post_own(&pair, wrs, from, 16);
	for (i = 0; i < 16; i++) {
		uint8_t class;
		int *n;

		arrives(&pair, i, &plain);
		class = traffic_class(pair.b.buf + 200 * i);
		n = &next[class == 0x20];
		CHECK(class == (*n & 2 ? 0x20 : 0));
		CHECK(filled(pair.b.buf + 200 * i + GRH, 64, *n));
		*n += *n & 1 ? 3 : 1;
	}
	CHECK(next[0] == 16 && next[1] == 18);
	CHECK_CALL(ibv_destroy_ah(ah), 0);
	pair_down(&pair);
}

/* The last of equal datagrams reads beyond its region, or before it; @arg: before */
static void listed_beyond(const void *arg)
{
	const struct datagram d = { .length = 500 };
	struct ibv_send_wr wrs[3];
	struct ibv_sge from[3];
	struct ibv_mr *mr;
	struct pair pair;
	int i;

	REQUIRE(pair_up(&pair, &ud));
	mr = ibv_reg_mr(pair.a.pd, pair.a.buf + 4096 + 1000, 8192, 0);
	REQUIRE(CHECK(mr));
	for (i = 0; i < 3; i++) {
		from[i] = piece(&pair.a, 4096 + 1000, d.length);
		from[i].lkey = mr->lkey;
		wrs[i] = request(i, &d, &from[i], pair.a.ah, pair.b.qp->qp_num);
		CHECK_CALL(post_recv(&pair.b, ~(uint64_t)i, 1024 * i, 1024), 0);
	}
	from[2].addr += arg ? -1 : 8192 - 499;
	post_own(&pair, wrs, from, 3);
	for (i = 0; i < 2; i++)
		arrives(&pair, i, &d);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 2, .status = IBV_WC_LOC_PROT_ERR);
	CHECK(quiet(pair.b.rcq));
	CHECK_CALL(ibv_dereg_mr(mr), 0);
	pair_down(&pair);
}

/* Receive buffers begin shortly before a page ends: in the GRH, or in the payload. */
static void crossing(const void *arg)
{
	static const int before[] = { 1, 8, 20, 39, 40, 41, 48, 100, 300, 539, 540, 541 };
	const struct datagram d = { .length = 500 };
	const int n = ARRAY_SIZE(before);
	const struct iphdr *ip;
	struct pair pair;
	int i, at;

	(void)arg;
	REQUIRE(pair_up(&pair, &ud));
	memset(pair.b.buf, 0, pair.b.size);
	fill(pair.a.buf, 500, 3);
	for (i = 0; i < n; i++)
		CHECK_CALL(post_recv(&pair.b, ~(uint64_t)i, 4096 * (i + 1) - before[i], 540), 0);
	for (i = n; i < IN_A_ROW; i++)
		CHECK_CALL(post_recv(&pair.b, ~(uint64_t)i, 4096 * (n + 1), 540), 0);
	post_list(&pair, &d);
	for (i = 0; i < IN_A_ROW; i++) {
		arrives(&pair, i, &d);
		at = i < n ? 4096 * (i + 1) - before[i] : 4096 * (n + 1);
		ip = (const struct iphdr *)(pair.b.buf + at + 20);
		CHECK(filled(pair.b.buf + at + GRH, 500, 3));
		CHECK(!pair.b.buf[at - 1] && !pair.b.buf[at + 540]);
		CHECK(!mapped(&hosts[0].gid) || sum_is_right(ip));
	}
	pair_down(&pair);
}

/* The region ends before the buffer does, behind a page that the datagram begins in. */
static void beyond_region(const void *arg)
{
	const struct datagram d = { .length = 500 };
	struct ibv_sge sge = { .length = 540 };
	struct ibv_mr *mr;
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, &ud));
	memset(pair.b.buf, 0, 8192);
	mr = ibv_reg_mr(pair.b.pd, pair.b.buf, 4096 + 200, IBV_ACCESS_LOCAL_WRITE);
	REQUIRE(CHECK(mr));
	sge.lkey = mr->lkey;
	sge.addr = (uintptr_t)pair.b.buf + 4096 + 200 - 540;
	CHECK_CALL(post_recv_sge(&pair.b, ~0ull, &sge, 1), 0);
	sge.addr++;
	CHECK_CALL(post_recv_sge(&pair.b, ~1ull, &sge, 1), 0);
	post_list(&pair, &d);
	arrives(&pair, 0, &d);
	EXPECT(pair.b.rcq, pair.b.qp, .wr_id = ~1ull,
	       .status = IBV_WC_LOC_PROT_ERR);
	CHECK(!pair.b.buf[4096 + 200]);
	CHECK_CALL(ibv_dereg_mr(mr), 0);
	pair_down(&pair);
}

/*
 * A receive buffer begins before its region, in the page that the datagram before it has
 * used.
 */
static void before_region(const void *arg)
{
	const struct datagram d = { .length = 500 };
	struct ibv_sge sge = { .length = 600 };
	struct ibv_mr *mr;
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, &ud));
	memset(pair.b.buf, 0, 4096);
	mr = ibv_reg_mr(pair.b.pd, pair.b.buf + 1024, 2048, IBV_ACCESS_LOCAL_WRITE);
	REQUIRE(CHECK(mr));
	sge.lkey = mr->lkey;
	sge.addr = (uintptr_t)pair.b.buf + 1024 + 1000;
	CHECK_CALL(post_recv_sge(&pair.b, ~0ull, &sge, 1), 0);
	sge.addr = (uintptr_t)pair.b.buf + 1024 - 8;
	CHECK_CALL(post_recv_sge(&pair.b, ~1ull, &sge, 1), 0);
	post_list(&pair, &d);
	arrives(&pair, 0, &d);
	EXPECT(pair.b.rcq, pair.b.qp, .wr_id = ~1ull,
	       .status = IBV_WC_LOC_PROT_ERR);
	CHECK(!pair.b.buf[1024 - 8] && !pair.b.buf[1024 - 1] && !pair.b.buf[1024]);
	CHECK_CALL(ibv_dereg_mr(mr), 0);
	pair_down(&pair);
}

/* Many in a row, each with its own contents, none lost on one machine. */
static void stream(const void *arg)
{
	const struct datagram d = { .length = 500 };
	struct pair pair;
	uint64_t i;

	(void)arg;
	REQUIRE(pair_up(&pair, &ud));
	for (i = 0; i < 32; i++)
		CHECK_CALL(post_recv(&pair.b, ~i, 1024 * i, 1024), 0);
	fill(pair.a.buf, 500, 3);
	for (i = 0; i < 32; i++)
		CHECK_CALL(post(&pair, i, &d), 0);
	for (i = 0; i < 32; i++) {
		arrives(&pair, i, &d);
		CHECK(filled(pair.b.buf + 1024 * i + GRH, 500, 3));
	}
	pair_down(&pair);
}

GROUP(datagram)
{
	static const struct test tests[] = {
		{ "UD: all sizes, immediate data, inline", sizes },
		{ "UD: GRH in front of the data", grh },
		{ "UD: GRHs of datagrams that were posted as a list", listed },
		{ "UD: a list of datagrams of which some differ", listed_mixed },
		{ "UD: the same, alternately to two QPs", listed_mixed, &ud },
		{ "UD: a list that is longer than a page, from two regions", listed_long },
		{ "UD: a list with two address handles and inline data", listed_handles },
		{ "UD: the last of a list ends beyond its region", listed_beyond },
		{ "UD: the last of a list begins before its region", listed_beyond, &ud },
		{ "UD: receive buffers cross a page", crossing },
		{ "UD: a receive buffer crosses a page and its region ends", beyond_region },
		{ "UD: a receive buffer begins before its region", before_region },
		{ "UD: reply to the sender of a datagram", answer },
		{ "UD: wrong Q_Key", wrong_qkey },
		{ "UD: a Q_Key with the highest bit set means the sender's own",
		  own_qkey },
		{ "UD: wrong QP number", wrong_qpn },
		{ "UD: no receive request", no_room },
		{ "UD: longer than the MTU", too_long },
		{ "UD: 32 datagrams posted as a list", stream },
	};

	run_tests(tests, ARRAY_SIZE(tests));
}
