// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Preloaded into programs that measure under User Mode Linux, where reading a clock is a system call of 13 us: serves the
 * clocks from the time-stamp counter, whose rate is in the environment (TSC_HZ) and comes from tsc_hz() on the host.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#define NS 1000000000ULL
/* Ask the kernel again so often: its time may step, and the rate is not exact. */
#define PERIOD_NS (100 * 1000 * 1000)

struct base {
	uint64_t tsc;
	uint64_t ns;
};

static double ns_per_tick;

static __thread struct base bases[2];

static int ask(clockid_t clock, struct timespec *t) { return syscall(SYS_clock_gettime, clock, t); }

static uint64_t to_ns(const struct timespec *t) { return t->tv_sec * NS + t->tv_nsec; }

__attribute__((constructor)) static void start(void)
{
	const char *hz = getenv("TSC_HZ");

	if (hz && atof(hz) > 0)
		ns_per_tick = NS / atof(hz);
}

/* On the host: ticks in a second, measured for a tenth of one. */
double tsc_hz(void)
{
	struct timespec from, to, pause = { .tv_nsec = NS / 10 };
	uint64_t first, last;

	ask(CLOCK_MONOTONIC, &from);
	first = __rdtsc();
	nanosleep(&pause, NULL);
	ask(CLOCK_MONOTONIC, &to);
	last = __rdtsc();
	return (double)(last - first) * NS / (to_ns(&to) - to_ns(&from));
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
	struct base *base;
	uint64_t since, ns;

	if (!ns_per_tick || (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC))
		return ask(clock, t);
	base = &bases[clock];
	since = (__rdtsc() - base->tsc) * ns_per_tick;
	if (!base->tsc || since > PERIOD_NS) {
		int status = ask(clock, t);

		ns = to_ns(t);
		/* Never back. */
		if (base->tsc && ns < base->ns + since && clock == CLOCK_MONOTONIC)
			ns = base->ns + since;
		*base = (struct base){ __rdtsc(), ns };
		if (status)
			return status;
		since = 0;
	}
	ns = base->ns + since;
	t->tv_sec = ns / NS;
	t->tv_nsec = ns % NS;
	return 0;
}

int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
	struct timespec t;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &t);
	tv->tv_sec = t.tv_sec;
	tv->tv_usec = t.tv_nsec / 1000;
	return 0;
}
