/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The test that needs barriers defines them. */
