# SPDX-License-Identifier: GPL-2.0-only
# make demo     profile a real program on a real kernel, in the embedded VM
# make check    all tests
# make          module for the running kernel, library, tools; make install
#
# Everything is built in build/. Each folder lists what it builds in build.mk.

BUILD	:= build
PREFIX	?= /usr/local
CC	?= gcc
CFLAGS	?= -O2 -g
override CFLAGS += -std=gnu11 -Wall -Wextra -Werror -Wno-unused-parameter \
		   -Iuapi -Ikmod -Ilib -MMD -MP

.DEFAULT_GOAL := all
.SECONDARY:
.DELETE_ON_ERROR:

include $(wildcard kmod/build.mk lib/build.mk tools/build.mk tests/build.mk)

$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -c -o $@ $<

clean:
	rm -rf $(BUILD)

.PHONY: all clean

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
