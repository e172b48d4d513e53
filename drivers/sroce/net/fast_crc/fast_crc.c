// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Implementations of the CRC for kernels whose library has only slow ones, and
 * the choice among them.  The upstream tree has no such folder: it uses the
 * library.
 */
#include <linux/cache.h>
#include <linux/init.h>
#include <linux/jump_label.h>
#include <linux/ktime.h>
#include <linux/moduleparam.h>
#include <linux/random.h>
#include <linux/sysfs.h>
#include "../../core/params.h"
#include "chorba.h"
#include "fast_crc.h"
#include "icrc_start.h"

/**
 * enum crc_way - CRC implementation
 * @CRC_AUTO: choose at load
 * @CRC_LIBRARY: the kernel's crc32_le()
 * @CRC_CHORBA: sroce_chorba(), with crc32_le() for short data
 * @CRC_CLMUL: carry-less multiplication (crc32_clmul.S), with
 *	CRC_CHORBA for short bursts
 */
enum crc_way { CRC_AUTO, CRC_LIBRARY, CRC_CHORBA, CRC_CLMUL };

static enum crc_way chosen __ro_after_init = CRC_AUTO;

/* Minimum @n of sroce_crc32_clmul(). */
#define LEAST_HEAD	48

#ifdef CONFIG_X86_64
#include <asm/cpufeature.h>
#include <asm/fpu/api.h>
#include <asm/simd.h>
#include <linux/linkage.h>

/* Minimum @len of sroce_crc32_vclmul(). */
#define WIDE_BYTES	208

static DEFINE_STATIC_KEY_FALSE(wide);

asmlinkage u32 sroce_crc32_clmul(const void *head, const void *p, size_t len,
				 size_t n);
asmlinkage u32 sroce_crc32_vclmul(const void *head, const void *p, size_t len,
				  size_t n);
asmlinkage u32 sroce_copy_crc32_clmul(const void *head, const void *p, size_t len,
				      size_t n, void *to);
asmlinkage u32 sroce_copy_crc32_vclmul(const void *head, const void *p, size_t len,
				       size_t n, void *to);

/* The kernel clears feature bits whose registers it does not save. */
static bool __init clmul_init(void)
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

static __always_inline u32 clmul_crc(const void *head, const void *p, u32 len,
				     u32 n)
{
	if (static_branch_likely(&wide) && len >= WIDE_BYTES)
		return sroce_crc32_vclmul(head, p, len, n);
	return sroce_crc32_clmul(head, p, len, n);
}

static u32 clmul_copy(const void *head, const void *p, u32 len, u32 n, void *to)
{
	if (static_branch_likely(&wide) && len >= WIDE_BYTES)
		return sroce_copy_crc32_vclmul(head, p, len, n, to);
	return sroce_copy_crc32_clmul(head, p, len, n, to);
}

#else /* other architectures have no implementation of ours */

static bool __init clmul_init(void)
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

static u32 clmul_crc(const void *head, const void *p, u32 len, u32 n)
{
	return 0;
}

static u32 clmul_copy(const void *head, const void *p, u32 len, u32 n, void *to)
{
	return 0;
}

#endif /* CONFIG_X86_64 */

/*
 * Saving the FPU state costs more than the CRC of a short packet.  It is done
 * once per burst, and only for large bursts.
 */
void sroce_fast_crc_begin(struct sroce_icrc *icrc, u32 bytes)
{
	icrc->way = chosen;
	if (chosen == CRC_CLMUL &&
	    (bytes < SROCE_CLMUL_BYTES || !clmul_begin()))
		icrc->way = CRC_CHORBA;
}

void sroce_fast_crc_end(const struct sroce_icrc *icrc)
{
	if (icrc->way == CRC_CLMUL)
		clmul_end();
}

static __always_inline bool is_library(enum crc_way way, u32 len)
{
	return way == CRC_LIBRARY || (way == CRC_CHORBA && len < SROCE_CHORBA_MIN_BYTES);
}

/* CRC, from 0, of @n bytes at @head and @len bytes at @p. */
static __always_inline u32 crc_steps(enum crc_way way, const void *head,
				     const void *p, u32 len, u32 n)
{
	if (way == CRC_CHORBA)
		return sroce_chorba(head, p, len, n);
	return clmul_crc(head, p, len, n);
}

u32 sroce_fast_crc_head(struct sroce_icrc *icrc, const u8 *p, u32 len)
{
	enum crc_way way = icrc->way;
	u32 odd = len % SROCE_ICRC_STEP;
	u32 start;

	if (is_library(way, len))
		return sroce_crc32(sroce_crc32(SROCE_ICRC_AFTER_LRH,
					       icrc->head + icrc->ip,
					       SROCE_ICRC_END - icrc->ip),
				   p, len);
	start = sroce_icrc_start(icrc, odd);
	if (odd && len > odd)
		memcpy(icrc->head + SROCE_ICRC_END, p, SROCE_ICRC_STEP);
	else if (odd)
		memcpy(icrc->head + SROCE_ICRC_END, p, odd);
	return crc_steps(way, icrc->head + start, p + odd, len - odd,
			 SROCE_ICRC_END + odd - start);
}

/* The headers are padded at their beginning, so the rest has to be whole steps. */
static __always_inline bool copies(enum crc_way way, u32 n)
{
	return !is_library(way, n) && !(n % SROCE_ICRC_STEP);
}

/* Like crc_steps(); also copies the @len bytes at @p. */
static __always_inline u32 copy_steps(enum crc_way way, const void *head, const void *p,
				      u32 len, u32 n, void *to)
{
	if (way == CRC_CHORBA)
		return sroce_chorba_copy(head, p, len, n, to);
	return clmul_copy(head, p, len, n, to);
}

bool sroce_fast_crc_store(const struct sroce_icrc *icrc, const u8 *from, u32 n, u8 *to,
			  u32 *state)
{
	u32 start = sroce_icrc_start(icrc, 0);

	if (!copies(icrc->way, n))
		return false;
	*state = copy_steps(icrc->way, icrc->head + start, from, n, SROCE_ICRC_END - start, to);
	return true;
}

/* In one pass if the copied bytes end the packet. */
u32 sroce_fast_crc_copy(struct sroce_icrc *icrc, u8 *p, u32 len, u32 at, const u8 *from,
			u32 n)
{
	u32 start;

	if (!copies(icrc->way, n) || at + n != len || at >= SROCE_ICRC_STEP) {
		memcpy(p + at, from, n);
		return sroce_fast_crc_head(icrc, p, len);
	}
	start = sroce_icrc_start(icrc, at);
	memcpy(icrc->head + SROCE_ICRC_END, p, at);
	return copy_steps(icrc->way, icrc->head + start, from, n, SROCE_ICRC_END + at - start,
			  p + at);
}

/* Zeros are put before the bytes, and @state is added to the first bytes. */
u32 sroce_fast_crc_more(const struct sroce_icrc *icrc, u32 state, const u8 *p,
			u32 len)
{
	enum crc_way way = icrc->way;
	u32 odd = is_library(way, len) ? len : len % SROCE_ICRC_STEP;
	__le32 head[LEAST_HEAD / sizeof(__le32)] = {};
	__le32 *first = head + ARRAY_SIZE(head) -
			SROCE_ICRC_STEP / sizeof(__le32);

	if (odd)
		state = sroce_crc32(state, p, odd);
	if (len == odd)
		return state;
	memcpy(first, p + odd, SROCE_ICRC_STEP);
	*first ^= cpu_to_le32(state);
	return crc_steps(way, head, p + odd + SROCE_ICRC_STEP,
			 len - odd - SROCE_ICRC_STEP, sizeof(head));
}

static const char * const names[] = {
	[CRC_AUTO] = "auto",
	[CRC_LIBRARY] = "library",
	[CRC_CHORBA] = "chorba",
	[CRC_CLMUL] = "clmul",
};

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
MODULE_PARM_DESC(crc, "How ICRCs are computed: auto (the fastest), library, chorba, clmul");
/* A large burst for the measurement. */
#define TRIAL_PACKETS	64
#define TRIAL_BYTES	1024
#define TRIALS		8

static u8 trial[TRIAL_BYTES] __initdata;

static u64 __init time_of(enum crc_way way)
{
	struct sroce_icrc icrc = {
		.ip = SROCE_ICRC_UDP - SROCE_IPV4_BYTES,
		.way = way,
	};
	u64 start = ktime_get_ns();
	u32 i, state;

	if (way == CRC_CLMUL && !clmul_begin())
		return U64_MAX;
	for (i = 0; i < TRIAL_PACKETS; i++) {
		state = sroce_fast_crc_head(&icrc, trial, TRIAL_BYTES);
		/*
		 * crc32_le() is pure: without this the compiler would call it
		 * once.
		 */
		memcpy(trial, &state, sizeof(state));
	}
	sroce_fast_crc_end(&icrc);
	return ktime_get_ns() - start;
}

/*
 * Choose by speed, not by CPU features: an emulator has every feature.
 * Interrupts and clock changes disturb the measurement, so take the best of
 * TRIALS rounds.  Where other work shares the processor's core for all of them,
 * an emulated multiplication is slowed down least, so it gets no advantage.
 */
static enum crc_way __init fastest_way(bool has_clmul)
{
	enum crc_way way, fastest = CRC_LIBRARY;
	u64 best[CRC_CLMUL + 1];
	u32 i;

	get_random_bytes(trial, sizeof(trial));
	memset(best, 0xff, sizeof(best));
	for (i = 0; i < TRIALS; i++)
		for (way = CRC_LIBRARY; way <= CRC_CLMUL; way++)
			if (way != CRC_CLMUL || has_clmul)
				best[way] = min(best[way], time_of(way));
	for (way = CRC_CHORBA; way <= CRC_CLMUL; way++)
		if (best[way] < best[fastest])
			fastest = way;
	return fastest;
}

void __init sroce_fast_crc_init(void)
{
	bool has_clmul = clmul_init();

	if (chosen == CRC_CLMUL && !has_clmul) {
		pr_warn("sroce: crc=clmul: not with this processor\n");
		chosen = CRC_AUTO;
	}
	if (chosen == CRC_AUTO)
		chosen = fastest_way(has_clmul);
}
