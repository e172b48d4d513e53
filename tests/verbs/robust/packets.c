// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Hundreds of thousands of hostile packets to QPs of every type and state, while two
 * other connections carry data that must stay correct.
 *
 *	SEED	of the random choices
 *	PACKETS	approximate number
 *
 * and the variables of sender.h.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mutate.h"
#include "sender.h"

#define PEER_QPN	0x123456

static uint64_t seed;
static unsigned long budget;
static struct pair victims[2];

/* Traffic that must continue */

static const char *const counters_moved[] = {
	"rx_icrc_encapsulated", "rx_malformed", "rx_bad_qpn", "rx_bad_address",
	"rx_bad_pkey", "rx_bad_qkey", "rx_bad_transport", "rx_bad_state",
	"duplicate_request", "out_of_sequence", "rx_held",
	"rx_ignored",
	"tx_nak_sequence", "tx_nak_invalid", "resp_remote_access_errors",
};

static bool all_well(unsigned long round)
{
	bool good = true;
	size_t i;

	forget_events(hosts[0].context);
	forget_events(hosts[1].context);
	for (i = 0; i < ARRAY_SIZE(victims); i++)
		good &= CHECK(works(&victims[i]));
	for (i = 0; i < NUM_TARGETS; i++)
		good &= target_intact(&targets[i]);
	if (!good)
		diag("after round %lu of seed %llu", round,
		     (unsigned long long)seed);
	return good;
}

/*
 * Every opcode, every short length, every pad, several flags.  SWEPT of them were sent
 * by earlier runs, so that several runs send all.
 */

#define LENGTHS		73
static const uint8_t sweep_flags[] = { 0x40, 0x80, 0x41, 0x4f };
#define SWEEP		(256ul * LENGTHS * 4 * ARRAY_SIZE(sweep_flags))
/* No divisor of it: so a part of them is spread over all. */
#define SWEEP_STEP	1000003ul

static uint32_t sweep_body(struct target *t, struct chance *c, uint8_t *body,
			   unsigned long n)
{
	uint32_t length = n % LENGTHS;
	struct packet p;

	n /= LENGTHS;
	propose(t, c, &p);
	t->busy = -1;
	p.opcode = n / 4;
	p.length = draw_below(c, 60);
	p.flags = sweep_flags[n / 4 / 256 % ARRAY_SIZE(sweep_flags)] |
		  (n % 4) << 4;
	memset(body, draw(c), LENGTHS);
	packet_build(&p, body, 0x5a);
	return length;
}

/* Mostly a target that this packet fits. */
static struct target *sweep_target(unsigned long n, struct chance *c)
{
	static const uint8_t of_transport[8][4] = {
		{ 0, 1, 2, 3 }, { 5, 6, 5, 6 }, { 0, 5, 7, 9 }, { 7, 8, 7, 8 },
		{ 0, 5, 7, 9 }, { 9, 10, 9, 10 }, { 0, 5, 7, 9 },
		{ 4, 11, 12, 13 },
	};
	uint8_t opcode = n / LENGTHS / 4;

	if (one_in(c, 16))
		return &targets[draw_below(c, NUM_TARGETS)];
	return &targets[PICK(c, of_transport[opcode >> 5])];
}

static void sweep(const void *arg)
{
	struct chance c = { seed };
	unsigned long want = budget * 2 / 5, i, n;
	static uint8_t body[BODY_ROOM];
	const char *text = getenv("SWEPT");
	struct target *used[12];
	unsigned int k;

	(void)arg;
	if (want > SWEEP)
		want = SWEEP;
	n = text ? strtoul(text, NULL, 0) % SWEEP * SWEEP_STEP : 0;
	n = (n + seed) % SWEEP;
	for (i = 0; i < want; i += ARRAY_SIZE(used)) {
		for (k = 0; k < ARRAY_SIZE(used); k++) {
			n = (n + SWEEP_STEP) % SWEEP;
			used[k] = sweep_target(n, &c);
			frame_seal(sender_frame(), &sender.path, body,
				   sweep_body(used[k], &c, body, n));
		}
		sender_flush();
		for (k = 0; k < ARRAY_SIZE(used); k++)
			REQUIRE(target_refresh(used[k], &c));
		if (i / ARRAY_SIZE(used) % 1000 == 999)
			REQUIRE(all_well(i / ARRAY_SIZE(used)));
	}
	all_well(i / ARRAY_SIZE(used));
	diag("%lu of %lu combinations", i, SWEEP);
}

/* Conversations with something wrong */

static bool foreign(uint32_t qpn)
{
	return qpn == foreign_qpns[0] || qpn == foreign_qpns[1];
}

/* Another address, but not the real peer of a connection. */
static void spoof(struct chance *c, struct path *path)
{
	static const char *const v4[] = {
		"10.0.0.1", "10.0.0.2", "10.0.0.78", "127.0.0.1", "0.0.0.0",
		"255.255.255.255", "224.0.0.1", "10.0.0.255",
	};
	static const char *const v6[] = {
		"fd00::1", "fd00::2", "fd00::78", "::1", "::", "ff02::1",
		"fe80::1", "::ffff:10.0.0.1",
	};
	uint8_t *which = one_in(c, 4) ? path->target : path->source;

	if (path->ipv6)
		inet_pton(AF_INET6, PICK(c, v6), which);
	else
		inet_pton(AF_INET, PICK(c, v4), which);
}

static void one_frame(struct target *t, struct chance *c, uint32_t evil)
{
	static uint8_t body[BODY_ROOM + 100];
	struct frame *frame = sender_frame();
	struct path path = sender.path;
	struct packet p;
	uint32_t n;

	if (!frame)
		return;
	if (one_in(c, 40))
		propose_mad(c, &p);
	else
		propose(t, c, &p);
	if (evil && one_in(c, evil))
		spoil(t, c, &p);
	n = packet_build(&p, body, draw(c));
	if (evil && one_in(c, 4 * evil) && n)
		n = spoil_body(c, body, n);
	if (evil && one_in(c, 8 * evil) && !foreign(p.qpn))
		spoof(c, &path);
	path.source_port = draw(c);
	path.id = draw(c);
	frame_seal(frame, &path, body, n);
	if (evil && one_in(c, 4 * evil))
		spoil_frame(c, frame);
}

/* Again, out of order, not at all, in pieces. */
static void trouble(struct chance *c)
{
	struct frame *frame;

	if (one_in(c, 20) && sender.used < BATCH) {
		frame = sender_frame();
		*frame = sender.used > 2 && one_in(c, 2) ?
			 frame[-2] : *sender_old(c);
	}
	if (one_in(c, 25) && sender.used)
		sender_shuffle(c);
	if (one_in(c, 40) && sender.used)
		sender.used--;
	if (one_in(c, 60) && sender.used)
		sender_fragment(c);
}

static bool conversation(struct chance *c)
{
	static const uint8_t evils[] = { 0, 2, 3, 8, 30 };
	uint32_t i, n = 1 + draw_below(c, 64), evil = PICK(c, evils);
	struct target *t = &targets[draw_below(c, one_in(c, 8) ?
						  NUM_TARGETS : 11)];
	bool troubled = one_in(c, 2);

	for (i = 0; i < n; i++) {
		one_frame(t, c, evil);
		if (troubled)
			trouble(c);
	}
	sender_flush();
	return target_refresh(t, c);
}

static void conversations(const void *arg)
{
	struct chance c = { seed ^ 0xc0 };
	unsigned long end = budget - budget * 7 / 20, round;

	(void)arg;
	for (round = 0; sender.sent < end; round++) {
		REQUIRE(conversation(&c));
		if (round % 500 == 499)
			REQUIRE(all_well(round));
	}
	all_well(round);
}

/* Packets behind gaps, which the receiver holds; some of the gaps are never filled. */

static bool behind_gaps(struct chance *c)
{
	static const uint8_t evils[] = { 0, 0, 8, 60 };
	uint32_t i, n = 2 + draw_below(c, BATCH - 2), evil = PICK(c, evils);
	struct target *t = &targets[draw_below(c, 11)];

	for (i = 0; i < n; i++)
		one_frame(t, c, evil);
	for (i = draw_below(c, 4); i; i--)
		sender_delay(c);
	if (one_in(c, 4))
		sender_forget_first();
	else
		sender_delay_first();
	sender_flush();
	return target_refresh(t, c);
}

static void gaps(const void *arg)
{
	unsigned long end = budget - budget * 3 / 20, round;
	struct chance c = { seed ^ 0x9a };

	(void)arg;
	for (round = 0; sender.sent < end; round++) {
		REQUIRE(behind_gaps(&c));
		if (round % 200 == 199)
			REQUIRE(all_well(round));
	}
	all_well(round);
}

/* Bursts that no switch and no driver has cut */

static bool burst(struct target *t, struct chance *c, uint32_t evil)
{
	static uint8_t bodies[66000 + BODY_ROOM];
	uint32_t size = 0, at = 0, n, most = 1 + draw_below(c, 60);
	struct packet p;

	do {
		propose(t, c, &p);
		if (evil && one_in(c, evil))
			spoil(t, c, &p);
		n = packet_build(&p, bodies + at, draw(c)) + ICRC_BYTES;
		if (evil && one_in(c, evil))
			bodies[at + draw_below(c, n)] ^= 1 << draw_below(c, 8);
		if (!size)
			size = n;
		/* All except the last are as long as the first one. */
		if (n > size && evil)
			n = size;
		if (n > size)
			break;
		at += n;
	} while (n == size && --most && at + size < 64000);
	/* A size that none of the packets has */
	if (evil && one_in(c, 10))
		size = 1 + draw_below(c, 1400);
	sender_burst(bodies, size, at);
	return target_refresh(t, c);
}

static void bursts(const void *arg)
{
	unsigned long end = sender.sent + budget * 3 / 20, round;
	struct chance c = { seed ^ 0xb0 };

	(void)arg;
	for (round = 0; sender.sent < end && round < budget; round++) {
		REQUIRE(burst(&targets[draw_below(&c, 11)], &c,
			      one_in(&c, 2) ? 0 : 12));
		if (round % 500 == 499)
			REQUIRE(all_well(round));
	}
	CHECK(sender.sent >= end);
	all_well(round);
}

static void counted(const void *arg)
{
	const long long *before = arg;
	size_t i;

	CHECK(sender.sent >= budget);
	for (i = 0; i < ARRAY_SIZE(counters_moved); i++) {
		long long n = counter(&hosts[1], counters_moved[i]) - before[i];

		diag("%s: %lld", counters_moved[i], n);
		/* With few packets not every kind of fault needs to occur. */
		if (!CHECK(n > 0 || budget < 10000))
			diag("%s did not move", counters_moved[i]);
	}
	for (i = 0; i < NUM_TARGETS; i++)
		diag("%s: made anew %lu times", targets[i].name,
		     targets[i].broken);
}

static void attacker_host(struct host *host)
{
	*host = hosts[0];
	host->gid = (union ibv_gid) {};
	if (sender.path.ipv6) {
		memcpy(host->gid.raw, sender.path.source, 16);
	} else {
		memset(host->gid.raw + 10, 0xff, 2);
		memcpy(host->gid.raw + 12, sender.path.source, 4);
	}
}

static bool set_up(void)
{
	static const struct options types[] = {
		{ .type = IBV_QPT_RC }, { .type = IBV_QPT_UC },
	};
	struct host attacker;
	int i;

	for (i = 0; i < 2; i++) {
		if (!pair_up(&victims[i], &types[i]))
			return false;
		foreign_qpns[i] = victims[i].b.qp->qp_num;
	}
	if (!CHECK(sender_open()))
		return false;
	attacker_host(&attacker);
	return targets_up(&hosts[1], &attacker, PEER_QPN);
}

COMMAND(packets)
{
	long long before[ARRAY_SIZE(counters_moved)];
	const char *text = getenv("SEED"), *packets = getenv("PACKETS");
	time_t started = time(NULL);
	size_t i;

	seed = text ? strtoull(text, NULL, 0) : (uint64_t)started;
	budget = packets ? strtoul(packets, NULL, 0) : 20000;
	diag("seed %llu, %lu packets", (unsigned long long)seed, budget);
	fabric_open();
	if (!set_up()) {
		printf("Bail out! no targets\n");
		return 1;
	}
	for (i = 0; i < ARRAY_SIZE(counters_moved); i++)
		before[i] = counter(&hosts[1], counters_moved[i]);
	run_test(sweep, NULL, "opcodes, lengths, pads and flags");
	run_test(conversations, NULL,
		 "random packets of connections, some of them corrupted");
	run_test(gaps, NULL,
		 "packets behind gaps, some of them corrupted");
	run_test(bursts, NULL,
		 "random bursts, some of their packets corrupted");
	run_test(counted, before, "dropped and held packets were counted");
	diag("%lu packets in %ld s, %lu refused by the sender's own kernel",
	     sender.sent, (long)(time(NULL) - started), sender.refused);
	targets_down();
	for (i = 0; i < ARRAY_SIZE(victims); i++)
		pair_down(&victims[i]);
	return tests_done();
}
