# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# How the protocol core is compiled natively; tests/unit/core, sim and fuzz share it.
HERE := $(dir $(lastword $(MAKEFILE_LIST)))
CORE := $(HERE)../../../drivers/sroce/core
CORE_SOURCES := $(notdir $(wildcard $(CORE)/*.c))

SANITIZE ?= -fsanitize=address,undefined -fno-sanitize-recover=all
# As the kernel: everything warns but comparisons of mixed signs.
NATIVE_CFLAGS = -std=gnu11 -O2 -g -Wall -Wextra -Werror -Wno-sign-compare \
		-Wno-missing-field-initializers $(SANITIZE) -fno-omit-frame-pointer \
		-I$(CORE) -I$(HERE)env $(CFLAGS)

# TAP takes these lines for comments.
say = @mkdir -p $(@D); echo '\# $(1) $(notdir $(2))'

core-objects = $(addprefix $(1)/core/,crc32.o $(CORE_SOURCES:.c=.o))

# $(1): where the objects go
define core-rules
$(1)/core/%.o: $(CORE)/%.c
	$$(call say,CC,$$@)
	@$$(CC) $$(NATIVE_CFLAGS) -MMD -MP -c -o $$@ $$<

$(1)/core/crc32.o: $(HERE)env/crc32.c
	$$(call say,CC,$$@)
	@$$(CC) $$(NATIVE_CFLAGS) -MMD -MP -c -o $$@ $$<
endef
