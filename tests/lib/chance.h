/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Random choices that a seed repeats. */
#ifndef CHANCE_H
#define CHANCE_H

#include <stdbool.h>
#include <stdint.h>

struct chance {
	uint64_t state;
};

/* splitmix64, by its published definition: all seeds are equally good. */
static inline uint64_t draw(struct chance *c)
{
	uint64_t z = c->state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* Less than @n. */
static inline uint32_t draw_below(struct chance *c, uint32_t n)
{
	return draw(c) % n;
}

static inline bool one_in(struct chance *c, uint32_t n)
{
	return !draw_below(c, n);
}

#define PICK(c, array) (array)[draw_below(c, ARRAY_SIZE(array))]

#endif /* CHANCE_H */
