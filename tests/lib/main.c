// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * usage: PROGRAM [WORD...]	runs all tests; or the groups of that name, and the
 *				tests whose names contain the word
 *	  PROGRAM COMMAND [...]	runs a command; the program may also have its name
 */
#include <err.h>
#include <stdio.h>
#include <string.h>

#include "tap.h"

/* A program may define these, to do something before and after its tests. */
void tap_begin(void) __attribute__((weak));
void tap_end(void) __attribute__((weak));

static const struct tap_entry *command(const char *name)
{
	const struct tap_entry *entry;

	for (entry = tap_entries; entry; entry = entry->next)
		if (entry->main && !strcmp(entry->group, name))
			return entry;
	return NULL;
}

static bool names(const char *word, const struct tap_entry *entry)
{
	return entry->run && (!strcmp(word, entry->group) ||
			      (entry->name && strstr(entry->name, word)));
}

static bool wanted(const struct tap_entry *entry, int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		if (names(argv[i], entry))
			return true;
	return argc == 1;
}

/* A test that has another name now must not be missed in silence. */
static const char *unknown_word(char **words)
{
	const struct tap_entry *entry;

	for (; *words; words++) {
		for (entry = tap_entries; entry; entry = entry->next)
			if (names(*words, entry))
				break;
		if (!entry)
			break;
	}
	return *words;
}

int main(int argc, char **argv)
{
	const struct tap_entry *entry;
	const char *unknown;

	setvbuf(stdout, NULL, _IOLBF, 0);
	entry = command(argv[0]);
	if (entry)
		return entry->main(argc, argv);
	entry = argc > 1 ? command(argv[1]) : NULL;
	if (entry)
		return entry->main(argc - 1, argv + 1);
	unknown = argc > 1 ? unknown_word(argv + 1) : NULL;
	if (unknown)
		errx(2, "no test or group '%s'", unknown);
	if (tap_begin)
		tap_begin();
	for (entry = tap_entries; entry; entry = entry->next)
		if (entry->run && wanted(entry, argc, argv))
			run_entry(entry);
	if (tap_end)
		tap_end();
	return tests_done();
}
