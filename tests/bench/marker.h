/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MARKER_H
#define MARKER_H

/*
 * Instructions that have no effect, except that the plugin insns.so begins or ends
 * counting: nopl with a displacement that no compiler generates.
 */
#define MARKER_OPCODE	0x801f0f	/* nopl disp32(%rax), little endian */
#define MARKER_BEGIN	0x5c0ce001
#define MARKER_END	0x5c0ce002
#define MARKER_SIZE	7

#endif /* MARKER_H */
