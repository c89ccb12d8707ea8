# SPDX-License-Identifier: GPL-2.0-only
# make demo     profile a real program on a real kernel, in the embedded VM
#               (another one: make demo DEMO='command args')
# make demo-fleet  three VMs under hwprofd: their profiles, merged
# make test     unit tests alone
# make check    what proves the product on this machine: the first tier of tests
# make check-all  all tests
# make check-due  what is due of the others before a change lands (docs/checks.md)
# make bench    all benchmarks
# make          library and tools, and the module for the running kernel
# make install  install them (install.mk; KDIR: another kernel's headers)
# make uninstall  take them away again, with the same variables
#
# Everything is built in build/. Each folder lists what it builds in build.mk.

# Compilers through ccache, if it is installed, also those of modules and kernels.
export PATH := /usr/lib/ccache:$(PATH)
export CCACHE_DIR := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/hwprof/ccache
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1
# Without a run of the preprocessor for each file that is not in the cache. It needs
# -MD: -MMD would hide changes of system headers from it.
export CCACHE_DEPEND := 1
export CCACHE_MAXSIZE := 2G

BUILD	:= build
PREFIX	?= /usr/local
CFLAGS	?= -O2 -g
override CFLAGS += -std=gnu11 -Wall -Wextra -Werror -Wno-unused-parameter \
		   -Iuapi -Ikmod -Ilib -MD -MP

# The architecture that the compiler makes programs for.
TARGET	:= $(if $(findstring aarch64,$(shell $(CC) -dumpmachine)),arm64,x86)

.DEFAULT_GOAL := all
.SECONDARY:
.DELETE_ON_ERROR:

include kmod/build.mk lib/build.mk tools/build.mk daemon/build.mk examples/build.mk install.mk \
	tests/build.mk

$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

all: module

# Installs missing packages before building.
demo:
	@tests/vm/install build rig
	@$(MAKE) -s $(BUILD)/hwprof $(BUILD)/6.12/hwprof.ko
	@tests/demo $(DEMO)

demo-fleet:
	@tests/vm/install build rig
	@$(MAKE) -s $(patsubst %,$(BUILD)/%,hwprof hwprofd hwprofd-collect relay 6.12/hwprof.ko)
	@tests/fleet/run

test:
	@tests/check unit

check:
	@tests/check

check-all:
	@CHECK_MINUTES=600 tests/check -a

check-due:
	@CHECK_MINUTES=600 tests/check -d

unit-tests: $(UNIT_TESTS)

fuzzers: $(FUZZERS)

# All that the first tier runs in a machine; other suites build what they lack.
test-programs: $(BUILD)/hwprof $(BUILD)/libhwprof.so.1 $(TEST_PROGRAMS) \
	       $(VM_KERNELS:%=$(BUILD)/%/hwprof.ko)

tests: unit-tests fuzzers test-programs

print-unit-tests:
	@echo $(UNIT_TESTS)
print-fuzzers:
	@echo $(FUZZERS)

clean:
	rm -rf $(BUILD)

.PHONY: all demo demo-fleet test check check-all check-due tests unit-tests fuzzers \
	test-programs print-unit-tests print-fuzzers clean

-include $(shell find $(BUILD)/obj $(BUILD)/bench $(BUILD)/san -name '*.d' 2>/dev/null)
