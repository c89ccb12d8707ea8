# SPDX-License-Identifier: GPL-2.0-only
# Every folder of tests says in its own fragment what it builds.
include $(wildcard tests/*/build.mk)

# What the guest of another architecture runs, built as for this one, in a folder
# of its own.
ARM64_CC = aarch64-linux-gnu-gcc --sysroot=$$(tests/vm/sysroot arm64)

arm64-programs:
	$(MAKE) BUILD=$(BUILD)/arm64 CC="$(ARM64_CC)" AR=aarch64-linux-gnu-ar \
		kselftest-programs

TEST_PROGRAMS += arm64-programs

.PHONY: arm64-programs
