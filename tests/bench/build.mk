# SPDX-License-Identifier: GPL-2.0-only
# Benchmarks print ratios; they are no tests. `make bench` runs them all:
# bench-step	steps per second beside PTRACE_SINGLESTEP's, in the VM
# bench-native	nanoseconds per branch of the engine beside a hash table's

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

# With the torture test's events.
$(BUILD)/tests/bench-step: $(BUILD)/obj/tests/bench/step.o \
			   $(BUILD)/obj/tests/torture/profile.o \
			   $(BUILD)/obj/tests/torture/tap.o
	@mkdir -p $(@D)
	$(CC) -static -o $@ $^ -lpthread

bench-step: $(BUILD)/tests/bench-step $(BUILD)/hwprof $(BUILD)/6.12/hwprof.ko
	@tests/vm/vm --file $(BUILD)/tests/bench-step -- \
		$(BUILD)/tests/bench-step

bench-native: $(BUILD)/bench/native $(BUILD)/bench/trace
	@tests/bench/native.sh

bench:
	@tests/vm/install build rig check
	-@$(MAKE) -s bench-step
	-@$(MAKE) -s bench-native

.PHONY: bench bench-step bench-native
