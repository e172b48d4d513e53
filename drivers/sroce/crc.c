// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/jump_label.h>
#include <linux/ktime.h>
#include <linux/moduleparam.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/udp.h>
#include "core/icrc.h"
#include "core/sparse.h"
#include "crc.h"

/**
 * enum crc_way - how CRCs are computed
 * @CRC_AUTO: to be found out
 * @CRC_LIBRARY: the kernel's crc32_le(); always for a few bytes
 * @CRC_SPARSE: sroce_sparse()
 * @CRC_CLMUL: carry-less multiplication of vectors, fold.S
 */
enum crc_way { CRC_AUTO, CRC_LIBRARY, CRC_SPARSE, CRC_CLMUL };

static const char * const names[] = {
	[CRC_AUTO] = "auto",
	[CRC_LIBRARY] = "library",
	[CRC_SPARSE] = "sparse",
	[CRC_CLMUL] = "clmul",
};

static enum crc_way chosen = CRC_AUTO;

/* Bytes of a burst from which on a way is taken, the lower one first. */
static u32 clmul_from __ro_after_init = U32_MAX;
static u32 sparse_from __ro_after_init = U32_MAX;

/* Less than this is not worth saving the caller's vector registers for. */
#define CLMUL_FROM	512
/* The kernel's way is as good for less than this. */
#define SPARSE_FROM	128

/* The first bytes that sroce_fold() and sroce_sparse() need at least */
#define LEAST_HEAD	48

#ifdef CONFIG_X86_64
#include <asm/cpufeature.h>
#include <asm/fpu/api.h>
#include <asm/simd.h>
#include <linux/linkage.h>

/* What sroce_fold_wide() needs at least */
#define WIDE_BYTES	208

static DEFINE_STATIC_KEY_FALSE(wide);

asmlinkage u32 sroce_fold(const void *head, const void *p, size_t len,
			  size_t n);
asmlinkage u32 sroce_fold_wide(const void *head, const void *p, size_t len,
			       size_t n);

/* The kernel clears the feature bits of registers that it does not save. */
static bool clmul_init(void)
{
	if (!boot_cpu_has(X86_FEATURE_AVX) ||
	    !boot_cpu_has(X86_FEATURE_PCLMULQDQ))
		return false;
	if (boot_cpu_has(X86_FEATURE_AVX2) &&
	    boot_cpu_has(X86_FEATURE_VPCLMULQDQ))
		static_branch_enable(&wide);
	return true;
}

static bool clmul_begin(void)
{
	if (!may_use_simd())
		return false;
	kernel_fpu_begin();
	return true;
}

static void clmul_end(void)
{
	kernel_fpu_end();
}

static __always_inline u32 clmul(const void *head, const void *p, u32 len,
				 u32 n)
{
	if (static_branch_likely(&wide) && len >= WIDE_BYTES)
		return sroce_fold_wide(head, p, len, n);
	return sroce_fold(head, p, len, n);
}

#else /* other processors have the library's */

static bool clmul_init(void)
{
	return false;
}

static bool clmul_begin(void)
{
	return false;
}

static void clmul_end(void)
{
}

static u32 clmul(const void *head, const void *p, u32 len, u32 n)
{
	return 0;
}

#endif /* CONFIG_X86_64 */

/*
 * Saving the caller's vector registers costs more than the CRC of a short
 * packet, so it is done once a burst, and only if there is enough to do.
 */
static enum crc_way begin(u32 bytes)
{
	if (bytes >= clmul_from && clmul_begin())
		return CRC_CLMUL;
	return bytes >= sparse_from ? CRC_SPARSE : CRC_LIBRARY;
}

static void end(enum crc_way way)
{
	if (way == CRC_CLMUL)
		clmul_end();
}

static __always_inline u32 fold(enum crc_way way, const void *head,
				const void *p, u32 len, u32 n)
{
	if (way == CRC_SPARSE)
		return sroce_sparse(head, p, len, n);
	return clmul(head, p, len, n);
}

/* The headers, and @len bytes that follow. */
static __always_inline u32 crc_head(enum crc_way way, struct sroce_icrc *icrc,
				    const u8 *p, u32 len)
{
	u32 odd = len % SROCE_ICRC_STEP;
	u32 start;

	if (way == CRC_LIBRARY)
		return sroce_crc32(sroce_crc32(SROCE_ICRC_AFTER_LRH,
					       icrc->head + icrc->ip,
					       SROCE_ICRC_END - icrc->ip),
				   p, len);
	start = sroce_icrc_start(icrc, odd);
	if (odd && len > odd)
		memcpy(icrc->head + SROCE_ICRC_END, p, SROCE_ICRC_STEP);
	else if (odd)
		memcpy(icrc->head + SROCE_ICRC_END, p, odd);
	return fold(way, icrc->head + start, p + odd, len - odd,
		    SROCE_ICRC_END + odd - start);
}

/* Zeros in front of the first bytes, and the state in them. */
static u32 crc_more(enum crc_way way, u32 state, const u8 *p, u32 len)
{
	u32 odd = way == CRC_LIBRARY ? len : len % SROCE_ICRC_STEP;
	u32 head[LEAST_HEAD / sizeof(u32)] = {};
	u32 *first = head + ARRAY_SIZE(head) - SROCE_ICRC_STEP / sizeof(u32);

	if (odd)
		state = sroce_crc32(state, p, odd);
	if (len == odd)
		return state;
	memcpy(first, p + odd, SROCE_ICRC_STEP);
	*first ^= state;
	return fold(way, head, p + odd + SROCE_ICRC_STEP,
		    len - odd - SROCE_ICRC_STEP, sizeof(head));
}

/* Of a packet in other pieces than our own: its CRC, @r moved to its trailer. */
static noinline bool crc_pieces(enum crc_way way, struct sroce_icrc *icrc,
				u32 index, struct sroce_reader *r, u32 len,
				u32 *state)
{
	u8 buffer[SROCE_BTH_BYTES];
	const u8 *p;
	u32 n;

	p = sroce_reader_take(r, SROCE_BTH_BYTES, buffer);
	if (!p)
		return false;
	sroce_icrc_head(icrc, index, p, len + sizeof(struct udphdr));
	len -= SROCE_BTH_BYTES + SROCE_ICRC_BYTES;
	n = len;
	if (n)
		p = sroce_reader_piece(r, &n);
	if (!p)
		return false;
	*state = crc_head(way, icrc, p, n);
	for (len -= n; len; len -= n) {
		n = len;
		p = sroce_reader_piece(r, &n);
		if (!p)
			return false;
		*state = crc_more(way, *state, p, n);
	}
	return true;
}

/*
 * Finds the trailer of the packet of @len bytes at @r, which is moved behind
 * it, and what has to be there.  A trailer in pieces is copied to @buffer; NULL
 * if there is none.
 */
static __always_inline const u8 *
crc_packet(enum crc_way way, struct sroce_icrc *icrc, u32 index,
	   struct sroce_reader *r, u32 len, u8 *buffer, __le32 *trailer)
{
	u32 rest = len - SROCE_BTH_BYTES - SROCE_ICRC_BYTES;
	const u8 *bth, *p, *to;
	u32 state;

	if (unlikely(len < SROCE_BTH_BYTES + SROCE_ICRC_BYTES))
		return NULL;
	if (unlikely(!r->left))
		sroce_reader_refill(r);
	if (r->left >= len) {
		bth = sroce_reader_take(r, len, NULL);
		p = bth + SROCE_BTH_BYTES;
		to = p + rest;
	} else {
		p = sroce_reader_payload(r, SROCE_BTH_BYTES, rest,
					 SROCE_ICRC_BYTES, &bth, &to);
	}
	if (likely(p)) {
		sroce_icrc_head(icrc, index, bth, len + sizeof(struct udphdr));
		state = crc_head(way, icrc, p, rest);
	} else {
		if (!crc_pieces(way, icrc, index, r, len, &state))
			return NULL;
		to = sroce_reader_take(r, SROCE_ICRC_BYTES, buffer);
	}
	*trailer = sroce_icrc_final(state);
	return to;
}

void sroce_crc_sign(struct sroce_icrc *icrc, struct sroce_reader r, u32 size,
		    u32 left)
{
	enum crc_way way = begin(left);
	u32 i, len;

	for (i = 0; left; i++, left -= len) {
		const u8 *to;
		__le32 trailer;

		len = min(left, size);
		to = crc_packet(way, icrc, i, &r, len, NULL, &trailer);
		memcpy((u8 *)to, &trailer, sizeof(trailer));
	}
	end(way);
}

u64 sroce_crc_check(struct sroce_icrc *icrc, u32 index, struct sroce_reader r,
		    u32 size, u32 left)
{
	enum crc_way way = begin(left);
	u8 buffer[SROCE_ICRC_BYTES];
	u64 good = 0, bit;
	u32 len;

	for (bit = 1; left; bit <<= 1, index++, left -= len) {
		const u8 *found;
		__le32 right;

		len = min(left, size);
		found = crc_packet(way, icrc, index, &r, len, buffer, &right);
		if (found && !memcmp(found, &right, sizeof(right)))
			good |= bit;
	}
	end(way);
	return good;
}

static int set_way(const char *value, const struct kernel_param *param)
{
	int way = sysfs_match_string(names, value);

	if (way < 0)
		return way;
	chosen = way;
	return 0;
}

static int get_way(char *value, const struct kernel_param *param)
{
	return sysfs_emit(value, "%s\n", names[chosen]);
}

static const struct kernel_param_ops way_ops = {
	.set = set_way,
	.get = get_way,
};

module_param_cb(crc, &way_ops, NULL, 0444);
MODULE_PARM_DESC(crc, "How ICRCs are computed: auto (the fastest), library, sparse, clmul");

/* A burst like many others, to measure with. */
#define TRIAL_PACKETS	16
#define TRIAL_BYTES	1024
#define TRIALS		8

static bool try(enum crc_way way, struct sroce_icrc *icrc, const u8 *p)
{
	u32 i;

	if (way == CRC_CLMUL && !clmul_begin())
		return false;
	/* A way that nobody looks at the results of would be left out. */
	for (i = 0; i < TRIAL_PACKETS; i++)
		WRITE_ONCE(*(u32 *)icrc->head,
			   crc_head(way, icrc, p, TRIAL_BYTES));
	end(way);
	return true;
}

/* The best of a few, as interrupts and hypervisors take their time. */
static u64 time_of(enum crc_way way, const u8 *p)
{
	struct sroce_icrc icrc = {
		.ip = SROCE_ICRC_UDP - SROCE_ICRC_IPV4_BYTES,
	};
	u64 start, least = U64_MAX;
	u32 i;

	for (i = 0; i < TRIALS; i++) {
		start = ktime_get_ns();
		if (try(way, &icrc, p))
			least = min(least, ktime_get_ns() - start);
	}
	return least;
}

/* Not what the processor has, but what is fast: an emulator has everything. */
static void choose(bool has_clmul, const u8 *p)
{
	u64 library = time_of(CRC_LIBRARY, p);
	u64 sparse = time_of(CRC_SPARSE, p);

	chosen = CRC_LIBRARY;
	if (sparse < library) {
		sparse_from = SPARSE_FROM;
		chosen = CRC_SPARSE;
	}
	if (has_clmul && time_of(CRC_CLMUL, p) < min(library, sparse)) {
		clmul_from = CLMUL_FROM;
		chosen = CRC_CLMUL;
	}
}

int __init sroce_crc_init(void)
{
	bool has_clmul = clmul_init();
	u8 *p;

	switch (chosen) {
	case CRC_AUTO:
		p = kmalloc(TRIAL_BYTES, GFP_KERNEL);
		if (!p)
			return -ENOMEM;
		get_random_bytes(p, TRIAL_BYTES);
		choose(has_clmul, p);
		kfree(p);
		break;
	case CRC_LIBRARY:
		break;
	case CRC_SPARSE:
		sparse_from = 0;
		break;
	case CRC_CLMUL:
		if (!has_clmul) {
			pr_err("crc=clmul: this processor cannot multiply vectors without carries\n");
			return -EOPNOTSUPP;
		}
		clmul_from = CLMUL_FROM;
		break;
	}
	return 0;
}
