# SPDX-License-Identifier: GPL-2.0-only
# make demo     profile a real program on a real kernel, in the embedded VM
#               (another one: make demo DEMO='command args')
# make check    all tests
# make bench    all benchmarks
# make          library and tools, and the module for the running kernel
# make install  install them (install.mk; KDIR: another kernel's headers)
# make uninstall  take them away again, with the same variables
#
# Everything is built in build/. Each folder lists what it builds in build.mk.

BUILD	:= build
PREFIX	?= /usr/local
CFLAGS	?= -O2 -g
override CFLAGS += -std=gnu11 -Wall -Wextra -Werror -Wno-unused-parameter \
		   -Iuapi -Ikmod -Ilib -MMD -MP

# The architecture that the compiler makes programs for.
TARGET	:= $(if $(findstring aarch64,$(shell $(CC) -dumpmachine)),arm64,x86)

.DEFAULT_GOAL := all
.SECONDARY:
.DELETE_ON_ERROR:

include kmod/build.mk lib/build.mk tools/build.mk examples/build.mk install.mk \
	tests/build.mk

$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

all: module

# What the machine lacks is installed before anything is built.
demo:
	@tests/vm/install build rig
	@$(MAKE) -s $(BUILD)/hwprof $(BUILD)/6.12/hwprof.ko
	@tests/demo $(DEMO)

check:
	@export CHECK_BEGAN=$$(date +%s) && \
	tests/vm/install build rig check arm64 packages && \
	$(MAKE) -s -j$$(nproc) tests && \
	tests/check

# All that `make check` runs.
tests: $(BUILD)/hwprof $(BUILD)/libhwprof.so.0 $(UNIT_TESTS) $(FUZZERS) \
       $(TEST_PROGRAMS) $(VM_KERNELS:%=$(BUILD)/%/hwprof.ko)

print-unit-tests:
	@echo $(UNIT_TESTS)
print-fuzzers:
	@echo $(FUZZERS)

clean:
	rm -rf $(BUILD)

.PHONY: all demo check tests print-unit-tests print-fuzzers clean

-include $(shell find $(BUILD)/obj $(BUILD)/bench $(BUILD)/san -name '*.d' 2>/dev/null)
