/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The fuzzer's bytes as a sequence of choices; zeros when they are used up. */
#ifndef SROCE_FUZZ_INPUT_H
#define SROCE_FUZZ_INPUT_H

#include <env_native.h>
#include <stdio.h>

struct input {
	const u8 *p;
	size_t left;
};

static inline u8 input_u8(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->p++;
}

static inline u32 input_u32(struct input *in)
{
	u32 v = input_u8(in);

	v = v << 8 | input_u8(in);
	v = v << 8 | input_u8(in);
	return v << 8 | input_u8(in);
}

/* A length that is interesting to one who cuts messages into packets. */
static inline u32 input_length(struct input *in, u32 mtu)
{
	u8 how = input_u8(in);

	switch (how >> 6) {
	case 0:
		return (how & 0x3f) * mtu;
	case 1:
		return (how & 0x3f) * mtu + 1;
	case 2:
		return how & 0x3f;
	default:
		return input_u32(in);
	}
}

/* Near @psn mostly, anywhere sometimes. */
static inline u32 input_psn(struct input *in, u32 psn)
{
	u8 how = input_u8(in);

	if (how == 0x80)
		return input_u32(in) & 0xffffff;
	return (psn + (s32)(signed char)how) & 0xffffff;
}

/* How many packets all inputs together were; printed at the end. */
static unsigned long packets;

static void __attribute__((destructor)) print_packets(void)
{
	fprintf(stderr, "packets: %lu\n", packets);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

#endif /* SROCE_FUZZ_INPUT_H */
