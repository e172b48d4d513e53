// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "simd_memcpy.h"

#ifdef CONFIG_X86_64
#include <asm/cpufeature.h>
#include <asm/fpu/api.h>
#include <asm/simd.h>
#include <linux/linkage.h>

DEFINE_STATIC_KEY_FALSE(sroce_memcpy_key);

asmlinkage void sroce_memcpy_avx(void *to, const void *from, size_t len);

/* With ERMS (the string instructions are fast) memcpy() is one of these. */
void sroce_memcpy_init(void)
{
	if (boot_cpu_has(X86_FEATURE_AVX) && !boot_cpu_has(X86_FEATURE_ERMS))
		static_branch_enable(&sroce_memcpy_key);
}

void sroce_memcpy_vectors(void *to, const void *from, size_t len)
{
	if (unlikely(!may_use_simd())) {
		memcpy(to, from, len);
		return;
	}
	kernel_fpu_begin();
	sroce_memcpy_avx(to, from, len);
	kernel_fpu_end();
}

#endif /* CONFIG_X86_64 */
