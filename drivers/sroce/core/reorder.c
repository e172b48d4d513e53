// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Tells packets that are late from packets that are lost. */
#include "params.h"
#include "reorder.h"

static void raise_tolerance(struct sroce_reorder *o, u64 late)
{
	u32 enough = min_t(u64, late, SROCE_MAX_REORDER_NS) / 4 * 5;

	o->tolerance = max(o->tolerance, enough);
}

static void lower_tolerance(struct sroce_reorder *o)
{
	o->tolerance -= o->tolerance / SROCE_REORDER_DECAY;
	if (o->tolerance < SROCE_MIN_REORDER_NS)
		o->tolerance = 0;
}

bool sroce_reorder_gap(struct sroce_reorder *o, u32 psn, u64 since, u64 now)
{
	if (!o->open || o->psn != psn) {
		o->open = true;
		o->reported = false;
		o->psn = psn;
		o->since = since;
	}
	if (o->reported || now - o->since < o->tolerance)
		return false;
	o->reported = true;
	return true;
}

void sroce_reorder_filled(struct sroce_reorder *o, u64 now)
{
	if (!o->open)
		return;
	o->open = false;
	lower_tolerance(o);
	if (!o->reported) {
		raise_tolerance(o, now - o->since);
		return;
	}
	if (o->suspect)
		o->spurious = 0;
	o->late_since = o->since;
	o->late_psn = o->psn;
	o->suspect = true;
}

void sroce_reorder_duplicate(struct sroce_reorder *o, u64 now)
{
	o->suspect = false;
	if (o->spurious < SROCE_SPURIOUS_REPORTS)
		o->spurious++;
	else
		raise_tolerance(o, now - o->late_since);
}
