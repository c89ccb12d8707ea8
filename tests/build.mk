# SPDX-License-Identifier: GPL-2.0-only
# Every folder of tests says in its own fragment what it builds.
# 32-bit programs need gcc-12-multilib; gcc-multilib would not be installed beside a
# cross compiler, and all that it adds is the place of <asm/...>.
M32 := -m32 -idirafter /usr/include/x86_64-linux-gnu
HAS_M32 := $(shell echo 'int main(void) { return 0; }' | \
	     $(CC) $(M32) -static -x c -o /dev/null - 2>/dev/null && echo yes)

include $(wildcard tests/*/build.mk)

# Programs of a guest of another architecture, built like those of this one, in a
# separate folder.
ARM64_CC = aarch64-linux-gnu-gcc --sysroot=$$(tests/vm/sysroot arm64)

arm64-programs:
	$(MAKE) BUILD=$(BUILD)/arm64 CC="$(ARM64_CC)" AR=aarch64-linux-gnu-ar \
		BPF=no kselftest-programs

.PHONY: arm64-programs
