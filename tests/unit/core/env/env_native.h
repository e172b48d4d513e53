/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The native twin of drivers/sroce/core/env.h: the kernel's names for integer
 * types, byte order, memcpy and one CRC, so that the same core files run under
 * sanitizers and fuzzers.  If this grows, the core has left its bounds.
 */
#ifndef SROCE_ENV_NATIVE_H
#define SROCE_ENV_NATIVE_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;
typedef uint16_t __be16;
typedef uint32_t __be32;
typedef uint32_t __le32;

/* As strict as the kernel's: both of one type, each evaluated once. */
#define min(a, b) ({							\
	__typeof__(a) min_a = (a);					\
	__typeof__(b) min_b = (b);					\
	_Static_assert(__builtin_types_compatible_p(__typeof__(min_a),	\
						    __typeof__(min_b)),	\
		       "min() of different types");			\
	min_a < min_b ? min_a : min_b;					\
})

#define max(a, b) ({							\
	__typeof__(a) max_a = (a);					\
	__typeof__(b) max_b = (b);					\
	_Static_assert(__builtin_types_compatible_p(__typeof__(max_a),	\
						    __typeof__(max_b)),	\
		       "max() of different types");			\
	max_a > max_b ? max_a : max_b;					\
})

#define min_t(type, a, b)	min((type)(a), (type)(b))
#define max_t(type, a, b)	max((type)(a), (type)(b))
#define clamp(v, low, high)	min(max(v, low), high)

/* The compiler must not know the value, nor read it from memory again. */
#define OPTIMIZER_HIDE_VAR(var)	({ __asm__ ("" : "+r" (var)); })

#define NATIVE_UNALIGNED(bits)						\
static inline u##bits get_unaligned_be##bits(const void *p)		\
{									\
	u##bits v;							\
									\
	memcpy(&v, p, sizeof(v));					\
	return be##bits##toh(v);					\
}									\
									\
static inline void put_unaligned_be##bits(u##bits v, void *p)		\
{									\
	v = htobe##bits(v);						\
	memcpy(p, &v, sizeof(v));					\
}

NATIVE_UNALIGNED(16)
NATIVE_UNALIGNED(32)
NATIVE_UNALIGNED(64)

static inline __le32 cpu_to_le32(u32 v)
{
	return htole32(v);
}

static inline u64 get_unaligned_le64(const void *p)
{
	u64 v;

	memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

static inline void put_unaligned_le64(u64 v, void *p)
{
	v = htole64(v);
	memcpy(p, &v, sizeof(v));
}

/* CRC-32 of IEEE 802.3, reflected, without the inversions. */
u32 sroce_crc32(u32 crc, const void *p, size_t len);

#endif /* SROCE_ENV_NATIVE_H */
