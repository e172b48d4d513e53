// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/jump_label.h>
#include <linux/udp.h>
#include "core/env.h"
#include "crc.h"

#ifdef CONFIG_X86_64
#include <asm/cpufeature.h>
#include <asm/fpu/api.h>
#include <asm/simd.h>
#include <linux/linkage.h>

/* Less than this is not worth the registers. */
#define WORTH_BYTES	512
/* What sroce_fold_wide() needs at least. */
#define WIDE_BYTES	256

static DEFINE_STATIC_KEY_FALSE(narrow);
static DEFINE_STATIC_KEY_FALSE(wide);

asmlinkage u32 sroce_fold(u32 state, const void *p, size_t len);
asmlinkage u32 sroce_fold_wide(u32 state, const void *p, size_t len);

/* The kernel clears the feature bits of registers that it does not save. */
void sroce_crc_init(void)
{
	if (!boot_cpu_has(X86_FEATURE_AVX) ||
	    !boot_cpu_has(X86_FEATURE_PCLMULQDQ))
		return;
	static_branch_enable(&narrow);
	if (boot_cpu_has(X86_FEATURE_AVX2) &&
	    boot_cpu_has(X86_FEATURE_VPCLMULQDQ))
		static_branch_enable(&wide);
}

bool sroce_crc_begin(u32 bytes)
{
	if (!static_branch_likely(&narrow) || bytes < WORTH_BYTES ||
	    !may_use_simd())
		return false;
	kernel_fpu_begin();
	return true;
}

void sroce_crc_end(bool fast)
{
	if (fast)
		kernel_fpu_end();
}

static __always_inline u32 fold(u32 state, const void *p, u32 len)
{
	if (static_branch_likely(&wide) && len >= WIDE_BYTES)
		return sroce_fold_wide(state, p, len);
	return sroce_fold(state, p, len);
}

static __always_inline u32 crc(bool fast, u32 state, const void *p, u32 len)
{
	u32 whole = round_down(len, 16);

	if (!fast || !whole)
		return sroce_crc32(state, p, len);
	state = fold(state, p, whole);
	if (whole == len)
		return state;
	return sroce_crc32(state, p + whole, len - whole);
}

#else /* other processors have the library's */

void sroce_crc_init(void)
{
}

bool sroce_crc_begin(u32 bytes)
{
	return false;
}

void sroce_crc_end(bool fast)
{
}

static u32 crc(bool fast, u32 state, const void *p, u32 len)
{
	return sroce_crc32(state, p, len);
}

#endif /* CONFIG_X86_64 */

bool sroce_crc_packet(bool fast, struct sroce_icrc *icrc, u32 index,
		      struct sroce_reader *r, u32 len, __le32 *trailer)
{
	u8 buffer[SROCE_BTH_BYTES];
	const u8 *p;
	u32 state, n;

	if (len < SROCE_BTH_BYTES + SROCE_ICRC_BYTES)
		return false;
	p = sroce_reader_take(r, SROCE_BTH_BYTES, buffer);
	if (!p)
		return false;
	sroce_icrc_head(icrc, index, p, len + sizeof(struct udphdr));
	state = crc(fast, ~0u, icrc->head, icrc->len);
	len -= SROCE_BTH_BYTES + SROCE_ICRC_BYTES;
	for (; len; len -= n) {
		n = len;
		p = sroce_reader_piece(r, &n);
		if (!p)
			return false;
		state = crc(fast, state, p, n);
	}
	*trailer = sroce_icrc_final(state);
	return true;
}
