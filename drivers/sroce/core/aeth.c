// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Times of RNR NAKs and of the ACK timeout: codes to microseconds and ns. */
#include "aeth.h"
#include "params.h"

u32 sroce_rnr_delay(u8 timer)
{
	static const u32 delay[32] = {
		655360, 10, 20, 30, 40, 60, 80, 120,
		160, 240, 320, 480, 640, 960, 1280, 1920,
		2560, 3840, 5120, 7680, 10240, 15360, 20480, 30720,
		40960, 61440, 81920, 122880, 163840, 245760, 327680, 491520,
	};

	return delay[timer & 0x1f];
}

u32 sroce_rnr_wait(u8 timer, u8 naks)
{
	u32 wait = sroce_rnr_delay(timer);

	for (; naks > 1 && wait < SROCE_RNR_BACKOFF_US; naks--)
		wait *= 2;
	return wait;
}

u64 sroce_ack_timeout(u8 timeout)
{
	timeout &= 0x1f;
	return timeout ? 4096ull << timeout : 0;
}
