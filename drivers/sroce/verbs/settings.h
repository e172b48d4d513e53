/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_SETTINGS_H
#define SROCE_SETTINGS_H

#include "../base/sroce.h"

/* Give a new device the default settings. */
void sroce_settings_default(struct sroce_device *dev);

/**
 * sroce_settings_init() - show the settings of all devices in debugfs
 *
 * Each device has a folder with its name, and in it a file for each setting.
 * Without debugfs the settings keep their defaults.
 *
 * Context: process, may sleep; there are no devices yet.
 * Return: 0 or an errno.
 */
int sroce_settings_init(void);
/* After the last device has gone. */
void sroce_settings_exit(void);

#endif /* SROCE_SETTINGS_H */
