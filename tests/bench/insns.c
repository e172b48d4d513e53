// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A plugin of QEMU's translator: counts executed instructions by the address
 * of their block between two marks (marker.h) that the guest executes. Each
 * window goes to the file named with out=:
 *
 *	window N
 *	ADDRESS COUNT
 *	...
 *
 * The parts of the plugin interface that it needs (version 4, QEMU 9.2 and later)
 * are declared here, because distributions do not install the header.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "marker.h"

#define EXPORT	__attribute__((visibility("default")))

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_scoreboard;

struct entry {		/* qemu_plugin_u64 */
	struct qemu_plugin_scoreboard *score;
	size_t offset;
};

enum { NO_REGS };	/* qemu_plugin_cb_flags */
enum { ADD_U64 };	/* qemu_plugin_op */

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id,
	void (*cb)(uint64_t id, struct qemu_plugin_tb *tb));
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *
qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t idx);
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn,
			     void *dest, size_t len);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
	void (*cb)(unsigned int vcpu, void *data), int flags, void *data);
void qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(
	struct qemu_plugin_tb *tb, int op, struct entry entry, uint64_t imm);
struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t size);
uint64_t qemu_plugin_u64_sum(struct entry entry);

EXPORT int qemu_plugin_version = 4;

/* A counter per block; a hash table by address says which. */
#define BLOCKS	(1 << 20)

static uint64_t address[BLOCKS];
static uint64_t before[BLOCKS];
static struct qemu_plugin_scoreboard *counters;
static const char *out;

static struct entry counter(size_t i)
{
	return (struct entry) { counters, i * sizeof(uint64_t) };
}

/* A full table would never end the search; the last place takes the rest. */
static size_t place_of(uint64_t vaddr)
{
	size_t i = (vaddr * 0x9e3779b97f4a7c15) >> 44;
	int tries;

	for (tries = 0; tries < 4096; tries++, i = (i + 1) % BLOCKS) {
		uint64_t empty = 0;

		__atomic_compare_exchange_n(&address[i], &empty, vaddr, false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
		if (address[i] == vaddr)
			return i;
	}
	return BLOCKS - 1;
}

static void begin(unsigned int vcpu, void *data)
{
	size_t i;

	(void)vcpu;
	(void)data;
	for (i = 0; i < BLOCKS; i++)
		before[i] = qemu_plugin_u64_sum(counter(i));
}

static void end(unsigned int vcpu, void *data)
{
	static int window;
	FILE *file = fopen(out, window ? "a" : "w");
	uint64_t count;
	size_t i;

	(void)vcpu;
	(void)data;
	if (!file)
		return;
	fprintf(file, "window %d\n", window++);
	for (i = 0; i < BLOCKS; i++) {
		count = qemu_plugin_u64_sum(counter(i)) - before[i];
		if (count)
			fprintf(file, "%lx %lu\n", address[i], count);
	}
	fclose(file);
}

static void find_marker(struct qemu_plugin_insn *insn)
{
	uint64_t bytes = 0;

	if (qemu_plugin_insn_size(insn) != MARKER_SIZE)
		return;
	qemu_plugin_insn_data(insn, &bytes, MARKER_SIZE);
	if ((bytes & 0xffffff) != MARKER_OPCODE)
		return;
	if (bytes >> 24 == MARKER_BEGIN)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, begin, NO_REGS,
						       NULL);
	else if (bytes >> 24 == MARKER_END)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, end, NO_REGS,
						       NULL);
}

static void translated(uint64_t id, struct qemu_plugin_tb *tb)
{
	uint64_t vaddr = qemu_plugin_tb_vaddr(tb);
	size_t n = qemu_plugin_tb_n_insns(tb), i;

	(void)id;
	qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, ADD_U64,
		counter(place_of(vaddr)), n);
	for (i = 0; vaddr >> 47 == 0 && i < n; i++)
		find_marker(qemu_plugin_tb_get_insn(tb, i));
}

EXPORT int qemu_plugin_install(uint64_t id, const void *info, int argc,
			       char **argv)
{
	(void)info;
	if (argc != 1 || strncmp(argv[0], "out=", 4))
		return 1;
	out = strdup(argv[0] + 4);
	counters = qemu_plugin_scoreboard_new(BLOCKS * sizeof(uint64_t));
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
