// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Strangers cannot guess numbers of QPs and SRQs, keys
 * of regions and windows, and PSNs.  Memory that a process gets from the kernel
 * contains no data of others.
 *
 * usage: info_leak		tests
 *	  info_leak psns FILE	of numbers in FILE, a line each
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "transfer.h"

#define MOST	3000

/**
 * struct series - numbers in the order in which they were given out
 * @name: of what
 * @bits: of each; the lowest ones
 * @twice: numbers may be equal by chance
 * @make: another one; false when there are enough
 * @drop: all of them, the last one first
 */
struct series {
	const char *name;
	int bits;
	int want;
	int twice;
	bool (*make)(uint32_t *number, void **object);
	int (*drop)(void *object);
};

static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_xrcd *xrcd;
static uint8_t page[4096] __attribute__((aligned(4096)));
static uint32_t numbers[MOST], sorted[MOST];
static void *objects[MOST];

/* Numbers */

static bool make_qp(uint32_t *number, void **object)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.cap = { 1, 1, 1, 1, 0 },
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &attr);

	*object = qp;
	*number = qp ? qp->qp_num : 0;
	return qp;
}

static int drop_qp(void *object)
{
	return ibv_destroy_qp(object);
}

static bool make_region(uint32_t *number, void **object)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, page, sizeof(page), ALL_ACCESS);

	*object = mr;
	*number = mr ? mr->rkey : 0;
	return mr;
}

static int drop_region(void *object)
{
	return ibv_dereg_mr(object);
}

static bool make_window(uint32_t *number, void **object)
{
	struct ibv_mw *mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2);

	*object = mw;
	*number = mw ? mw->rkey >> 8 : 0;
	return mw;
}

static int drop_window(void *object)
{
	return ibv_dealloc_mw(object);
}

static bool make_xrc_srq(uint32_t *number, void **object)
{
	const struct options options = { .srq = 1, .sge = 1 };
	struct ibv_srq *srq = xrc_srq(pd, xrcd, cq, &options);

	*object = srq;
	*number = srq ? srq_number(srq) : 0;
	return srq;
}

static int drop_srq(void *object)
{
	return ibv_destroy_srq(object);
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * As often as a coin shows heads, within 6.5 standard deviations: there are 384 such
 * checks, so one run in 3 * 10^7 fails by chance.
 */
static bool fair(int heads, int throws)
{
	return abs(2 * heads - throws) < 6.5 * sqrt(throws) + 1;
}

/* Each bit, and each bit's change from one number to the next. */
static void check_bits(const struct series *s, int n)
{
	int bit, i, set, changed, carried;

	for (bit = 0; bit < s->bits; bit++) {
		set = changed = carried = 0;
		for (i = 0; i < n; i++) {
			set += numbers[i] >> bit & 1;
			changed += i &&
				   (numbers[i] ^ numbers[i - 1]) >> bit & 1;
			carried += i &&
				   (numbers[i] - numbers[i - 1]) >> bit & 1;
		}
		if (!CHECK(fair(set, n) && fair(changed, n - 1) &&
			   fair(carried, n - 1)))
			diag("bit %d of %d: set %d, changes %d, carried %d",
			     bit, n, set, changed, carried);
	}
}

/* No number occurs twice unless @twice, and equal steps are rare. */
static void check_repetitions(const struct series *s, int n)
{
	double pairs = (double)n * n / 2 / (1ull << s->bits);
	int i, same = 0, twice = 0;

	for (i = 0; i < n - 1; i++)
		sorted[i] = (numbers[i + 1] - numbers[i]) &
			    (uint32_t)((1ull << s->bits) - 1);
	qsort(sorted, n - 1, sizeof(sorted[0]), by_value);
	for (i = 1; i < n - 1; i++)
		same += sorted[i] == sorted[i - 1];
	if (!CHECK(same < 6 + 3 * pairs))
		diag("%d steps occur again", same);
	memcpy(sorted, numbers, n * sizeof(sorted[0]));
	qsort(sorted, n, sizeof(sorted[0]), by_value);
	for (i = 1; i < n; i++)
		twice += sorted[i] == sorted[i - 1];
	CHECK(twice <= s->twice);
}

/* Chi-square of sixteen equal parts, 15 degrees of freedom: 1 in 10^7. */
static void check_spread(const struct series *s, int n)
{
	double expected = n / 16.0, sum = 0;
	int part[16] = {}, i;

	for (i = 0; i < n; i++)
		part[numbers[i] >> (s->bits - 4) & 15]++;
	for (i = 0; i < 16; i++)
		sum += (part[i] - expected) * (part[i] - expected) / expected;
	if (!CHECK(sum < 60))
		diag("chi-square %.1f", sum);
}

static void check_series(const struct series *s, int n)
{
	check_bits(s, n);
	check_repetitions(s, n);
	check_spread(s, n);
}

static int make_all(const struct series *s)
{
	int n = 0;

	while (n < s->want && s->make(&numbers[n], &objects[n]))
		n++;
	return n;
}

static void unpredictable(const void *arg)
{
	const struct series *s = arg;
	int n = make_all(s), i;

	CHECK_CALL(n, s->want);
	check_series(s, n);
	for (i = n; i--;)
		CHECK_CALL(s->drop(objects[i]), 0);
}

/* PSNs are for a connection, so that two may have the same. */
static void read_psns(const void *arg)
{
	static const struct series psns = { "PSNs", 24, .twice = 2 };
	FILE *file = fopen(arg, "r");
	char line[80];
	int n = 0;

	REQUIRE(CHECK(file));
	while (n < MOST && fgets(line, sizeof(line), file))
		numbers[n++] = strtoul(line, NULL, 0);
	fclose(file);
	diag("%d PSNs", n);
	REQUIRE(CHECK(n >= 400));
	check_series(&psns, n);
}

/* A freed number is not used next. */
static void not_again(const void *arg)
{
	const struct series *s = arg;
	uint32_t first, number;
	void *object;
	int i;

	REQUIRE(s->make(&first, &object));
	CHECK_CALL(s->drop(object), 0);
	for (i = 0; i < 50; i++) {
		REQUIRE(s->make(&number, &object));
		CHECK(number != first);
		CHECK_CALL(s->drop(object), 0);
	}
}

/* Memory */

#define MARK	0xa5c3a5c3a5c3a5c3ull
#define LEFT	(64u << 20)

/* A process leaves data behind when it ends. */
static bool leave_marks(void)
{
	uint64_t *words = mmap(NULL, LEFT, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t i;

	if (words == MAP_FAILED)
		return false;
	for (i = 0; i < LEFT / sizeof(*words); i++)
		words[i] = MARK;
	return !munmap(words, LEFT);
}

/* Our pattern, and those of kernels that poison free pages and objects. */
static bool is_stale(uint64_t word)
{
	return word == MARK || word == 0xaaaaaaaaaaaaaaaaull ||
	       word == 0x6b6b6b6b6b6b6b6bull || word == 0x5a5a5a5a5a5a5a5aull;
}

static size_t marks(const uint64_t *from, const uint64_t *to)
{
	size_t n = 0;

	for (; from < to; from++)
		n += is_stale(*from);
	return n;
}

/* All that is mapped from this device: bytes, and marks in them. */
static size_t look(const char *device, size_t *found)
{
	FILE *file = fopen("/proc/self/maps", "r");
	unsigned long from, to;
	size_t bytes = 0;
	char line[512];

	*found = 0;
	while (file && fgets(line, sizeof(line), file)) {
		if (!strstr(line, device) ||
		    sscanf(line, "%lx-%lx rw", &from, &to) != 2)
			continue;
		bytes += to - from;
		*found += marks((uint64_t *)from, (uint64_t *)to);
	}
	if (file)
		fclose(file);
	return bytes;
}

static void clean_memory(const void *arg)
{
	const struct options options = { .wr = 4000, .cqe = 20000 };
	struct pair pairs[4];
	size_t i, bytes, found;
	char name[80];

	(void)arg;
	REQUIRE(leave_marks());
	for (i = 0; i < ARRAY_SIZE(pairs); i++)
		REQUIRE(pair_create(&pairs[i], &options));
	snprintf(name, sizeof(name), "/%s\n",
		 hosts[0].context->device->dev_name);
	bytes = look(name, &found);
	diag("%zu bytes of rings", bytes);
	CHECK(bytes > 4 << 20);
	CHECK(found == 0);
	for (i = 0; i < ARRAY_SIZE(pairs); i++)
		pair_down(&pairs[i]);
}

static void clean_device_memory(const void *arg)
{
	struct ibv_alloc_dm_attr attr = { .length = 64 << 10 };
	static uint64_t words[8 << 10];
	struct ibv_dm *dm;
	int i;

	(void)arg;
	REQUIRE(leave_marks());
	for (i = 0; i < 16; i++) {
		dm = ibv_alloc_dm(hosts[0].context, &attr);
		REQUIRE(CHECK(dm));
		CHECK_CALL(ibv_memcpy_from_dm(words, dm, 0, sizeof(words)), 0);
		CHECK(words[0] == 0 &&
		      !memcmp(words, words + 1, sizeof(words) - 8));
		memset(words, 0xa5, sizeof(words));
		CHECK_CALL(ibv_memcpy_to_dm(dm, 0, words, sizeof(words)), 0);
		CHECK_CALL(ibv_free_dm(dm), 0);
	}
}

COMMAND(info_leak)
{
	static const struct series all[] = {
		{ "QP numbers", 24, 1500, 0, make_qp, drop_qp },
		{ "keys of regions", 32, MOST, 0, make_region, drop_region },
		{ "keys of windows", 24, 1500, 0, make_window, drop_window },
		{ "XRC SRQ numbers", 24, 500, 0, make_xrc_srq, drop_srq },
	};
	size_t i;

	if (argc == 3 && !strcmp(argv[1], "psns")) {
		run_test(read_psns, argv[2], "they are random");
		return tests_done();
	}
	fabric_open();
	pd = ibv_alloc_pd(hosts[0].context);
	cq = ibv_create_cq(hosts[0].context, 100, NULL, NULL, 0);
	xrcd = xrcd_open(hosts[0].context);
	for (i = 0; i < ARRAY_SIZE(all); i++) {
		run_test(unpredictable, &all[i], "%s are random", all[i].name);
		run_test(not_again, &all[i], "%s are not used again at once",
			 all[i].name);
	}
	run_test(clean_memory, NULL, "new rings contain no data of others");
	run_test(clean_device_memory, NULL, "new device memory contains zeros");
	CHECK_CALL(ibv_close_xrcd(xrcd), 0);
	return tests_done();
}
