/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_ICRC_START_H
#define SROCE_ICRC_START_H

#include "../../core/icrc.h"

/**
 * sroce_icrc_start() - find the start of a CRC in steps of SROCE_ICRC_STEP bytes
 * @icrc: headers
 * @more: bytes after SROCE_ICRC_END that belong to the headers, less than a
 *	step
 *
 * Return: offset in @icrc->head.  The CRC starts there with initial value 0.
 */
static inline u32 sroce_icrc_start(const struct sroce_icrc *icrc, u32 more)
{
	u32 lrh = icrc->ip - SROCE_ICRC_LRH_BYTES + 4;

	/*
	 * SROCE_ICRC_END is a multiple of the step.  Round down to a multiple
	 * before the first byte that is not zero.
	 */
	return (lrh & ~(SROCE_ICRC_STEP - 1)) -
	       (more ? SROCE_ICRC_STEP - more : 0);
}

#endif /* SROCE_ICRC_START_H */
