# SPDX-License-Identifier: GPL-2.0-only
# The native benchmark, and what records the branches of real programs for it.
# `make bench-native` needs valgrind and libcapstone-dev.

BENCH_OBJECTS := $(BUILD)/obj/tests/bench/native.o \
		 $(BUILD)/obj/tests/oracle/rows.o \
		 $(BUILD)/bench/flow.o $(BUILD)/bench/loop.o

$(BUILD)/obj/tests/bench/%.o: override CFLAGS += -I.

# As the kernel compiles it, as far as that is said by options.
$(BUILD)/bench/%.o: kmod/engine/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -O2 -fno-strict-aliasing -fno-common \
		-mgeneral-regs-only -c -o $@ $<

$(BUILD)/bench/native: $(BENCH_OBJECTS) $(BUILD)/libhwprof.a
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ $(LIB_LINK)

$(BUILD)/bench/trace: $(BUILD)/obj/tests/bench/trace.o
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ -lcapstone

bench-native: $(BUILD)/bench/native $(BUILD)/bench/trace
	@tests/bench/native.sh

.PHONY: bench-native
