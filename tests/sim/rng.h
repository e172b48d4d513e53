/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* All random choices of a run come from one seed. */
#ifndef SROCE_SIM_RNG_H
#define SROCE_SIM_RNG_H

#include <env_native.h>

struct rng {
	u64 state;
};

/* splitmix64 */
static inline u64 rng_next(struct rng *rng)
{
	u64 z = rng->state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* Both ends included. */
static inline u32 rng_between(struct rng *rng, u32 low, u32 high)
{
	return low + rng_next(rng) % ((u64)high - low + 1);
}

static inline bool rng_permille(struct rng *rng, u32 chance)
{
	return rng_next(rng) % 1000 < chance;
}

static inline void rng_fill(struct rng *rng, u8 *p, u32 len)
{
	while (len) {
		u64 bytes = rng_next(rng);
		u32 n = len < sizeof(bytes) ? len : sizeof(bytes);

		memcpy(p, &bytes, n);
		p += n;
		len -= n;
	}
}

#endif /* SROCE_SIM_RNG_H */
