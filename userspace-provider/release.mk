# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# RELEASE: flags for what the installed libibverbs has as enumerators, which the preprocessor cannot see.
# Without a number sign, which versions of make see differently here.
HAVE = $(shell echo 'int value = $(1);' | \
	$(CC) $(CPPFLAGS) -include infiniband/verbs.h -fsyntax-only -x c - 2>/dev/null && echo -DSROCE_HAVE_$(2))
RELEASE := $(call HAVE,IBV_WR_ATOMIC_WRITE,ATOMIC_WRITE) $(call HAVE,IBV_WR_FLUSH,FLUSH) $(call HAVE,IBV_EVENT_DEVICE_SPEED_CHANGE,PORT_SPEED)
