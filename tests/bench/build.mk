# SPDX-License-Identifier: GPL-2.0-only
# Benchmarks print ratios; they are no tests. `make bench` runs them all:
# bench-step	steps per second beside PTRACE_SINGLESTEP's, in the VM
# bench-native	nanoseconds per branch of the engine beside a hash table's
# bench-ranges	the same of the range engine, and its accuracy
# bench-contexts	the same of the cct engine, beside hashing whole stacks
# bench-sampled	nanoseconds per sampled stack of it, beside the same
# bench-values	nanoseconds per load of the value engine beside a hash table's
# bench-paths	of the path engine, beside a hash table of full sequences
# bench-feed	nanoseconds per window of branch records, of the engines that learn from
#		them
# bench-coverage	what the ten hottest loops of small tables have (run bench-native
#		first)
# bench-flat	of all engines, from the first million of events on to a billion
# bench-rings	rows a second through a session's ring, beside perf's, and records
#		through its ring alone, beside BPF's
# bench-programs	instructions of BPF programs for each branch
# bench-filters	what filters and masks save
# bench-stall	how long one burst holds a thread
# bench-lbr	instructions per sample of branch records, and perf's
# bench-replay	a recording of 10^7 branches, replayed and by `perf script`
# bench-windows	trip counts from windows of bench-native's branches (run that first)

BENCH_OBJECTS := $(BUILD)/obj/tests/bench/native.o \
		 $(BUILD)/obj/tests/oracle/rows.o \
		 $(patsubst kmod/engine/%.c,$(BUILD)/bench/%.o,\
			     $(wildcard kmod/engine/*.c))

$(BUILD)/obj/tests/bench/%.o: override CFLAGS += -I.

# As the kernel compiles it, as far as that is said by options.
$(BUILD)/bench/%.o: kmod/engine/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -O2 -fno-strict-aliasing -fno-common \
		-mgeneral-regs-only -c -o $@ $<

$(BUILD)/bench/native: $(BENCH_OBJECTS) $(BUILD)/libhwprof.a
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ $(LIB_LINK)

$(BUILD)/bench/ranges: $(BUILD)/obj/tests/bench/range_peers.o

$(BUILD)/bench/ranges $(BUILD)/bench/paths $(BUILD)/bench/flat \
$(BUILD)/bench/feed: \
$(BUILD)/bench/%: $(BUILD)/obj/tests/bench/%.o \
		       $(filter-out %/native.o,$(BENCH_OBJECTS)) \
		       $(BUILD)/libhwprof.a
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ $(LIB_LINK)

$(BUILD)/bench/contexts $(BUILD)/bench/sampled: \
$(BUILD)/bench/%: $(BUILD)/obj/tests/bench/%.o \
			 $(filter-out %/native.o,$(BENCH_OBJECTS)) \
			 $(BUILD)/libhwprof.a
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ $(LIB_LINK)

$(BUILD)/bench/values: $(BUILD)/obj/tests/bench/values.o \
		       $(patsubst kmod/engine/%.c,$(BUILD)/bench/%.o,\
				  $(wildcard kmod/engine/value*.c))
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^

$(BUILD)/bench/trace: $(BUILD)/obj/tests/bench/trace.o
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ -lcapstone

# With the torture test's events.
$(BUILD)/tests/bench-step: $(BUILD)/obj/tests/bench/step.o \
			   $(BUILD)/obj/tests/torture/profile.o \
			   $(BUILD)/obj/tests/torture/tap.o
	@mkdir -p $(@D)
	$(CC) -static -o $@ $^ -lpthread -lm

bench-step: $(BUILD)/tests/bench-step $(BUILD)/hwprof $(BUILD)/6.12/hwprof.ko
	@tests/vm/vm --file $(BUILD)/tests/bench-step -- \
		$(BUILD)/tests/bench-step

bench-native: $(BUILD)/bench/native $(BUILD)/bench/trace
	@tests/bench/native.sh

bench-paths: $(BUILD)/bench/paths $(BUILD)/bench/trace
	@tests/bench/native.sh paths

bench-feed: $(BUILD)/bench/feed $(BUILD)/bench/trace
	@tests/bench/native.sh feed

bench-flat: $(BUILD)/bench/flat $(BUILD)/bench/trace
	@tests/bench/native.sh flat
	@echo values of loads:
	@tests/bench/values.py flat -v

bench-ranges: $(BUILD)/bench/ranges $(BUILD)/bench/trace
	@tests/bench/native.sh ranges
	@echo values of loads:
	@tests/bench/values.py ranges -v

bench-contexts: $(BUILD)/bench/contexts $(BUILD)/bench/trace
	@tests/bench/native.sh contexts

bench-sampled: $(BUILD)/bench/sampled $(BUILD)/bench/trace
	@tests/bench/native.sh sampled

bench-values: $(BUILD)/bench/values
	@tests/bench/values.py values

# Recordings as the library's tests write them.
STACKS_OBJECTS := $(patsubst %,$(BUILD)/obj/tests/%.o,bench/stacks lib/run \
			     lib/stacks engine/machine engine/program \
			     oracle/oracle oracle/region oracle/walk)
CUT_OBJECTS := $(patsubst %,$(BUILD)/obj/tests/%.o,bench/cut lib/stacks \
			  oracle/rows)

$(STACKS_OBJECTS) $(CUT_OBJECTS): override CFLAGS += -I. -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64

$(BUILD)/bench/stacks: $(STACKS_OBJECTS)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ -lzstd

$(BUILD)/bench/cut: $(CUT_OBJECTS) $(BUILD)/libhwprof.a
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ $(LIB_LINK)

$(BUILD)/tests/bench-busy: tests/bench/busy.c
	@mkdir -p $(@D)
	$(CC) -O2 -static -o $@ $<

bench-lbr: $(BUILD)/tests/bench-busy $(BUILD)/hwprof $(BUILD)/6.12/hwprof.ko
	@tests/bench/lbr.sh

# With the kselftests' events.
RINGS_OBJECTS := $(patsubst %,$(BUILD)/obj/tests/%.o,bench/rings \
			    kselftest/event kselftest/device kselftest/fault \
			    kselftest/known kselftest/text)

$(BUILD)/obj/tests/bench/rings.o: override CFLAGS += -D_GNU_SOURCE

$(BUILD)/tests/bench-rings: $(RINGS_OBJECTS)
	@mkdir -p $(@D)
	$(CC) -o $@ $^ -lbpf

RING_WRITER := $(BUILD)/ring_writer/ring_writer.ko

$(RING_WRITER): $(wildcard tests/bench/ring_writer/*) kmod/ring.c kmod/ring.h \
		uapi/linux/hwprof.h
	@mkdir -p $(@D)
	cp -rpu tests/bench/ring_writer/* kmod uapi $(@D)/
	$(MAKE) -C $$(tests/vm/kernel/get 6.12)/build M=$(abspath $(@D)) \
		W=1 KCFLAGS=-Werror modules

bench-rings: $(BUILD)/tests/bench-rings $(BUILD)/6.12/hwprof.ko $(RING_WRITER)
	@tests/vm/vm --icount --smp 1 --file $(BUILD)/tests/bench-rings \
		--file $(RING_WRITER) -- $(BUILD)/tests/bench-rings $(RING_WRITER)

PROGRAMS_OBJECTS := $(patsubst %,$(BUILD)/obj/tests/%.o,bench/programs \
			    kselftest/event kselftest/device kselftest/fault \
			    kselftest/known kselftest/text kselftest/bpf \
			    kselftest/edges)

$(BUILD)/tests/bench-programs: $(PROGRAMS_OBJECTS)
	@mkdir -p $(@D)
	$(CC) -o $@ $^ -lbpf

bench-coverage: $(BUILD)/libhwprof.a
	@LIB_LINK="$(LIB_LINK)" tests/bench/coverage.sh

$(BUILD)/bench/%.bpf.o: tests/bench/%.bpf.c tools/programs/count.bpf.h \
			uapi/linux/hwprof.h | bpf-tools
	@mkdir -p $(@D)
	$(COMPILE_BPF) -o $@ $<

bench-stall: $(BUILD)/hwprof $(BUILD)/6.12/hwprof.ko $(BUILD)/bench/stall.bpf.o
	@tests/bench/stall.sh

# Fails if a program costs more instructions than it may.
bench-programs: $(BUILD)/tests/bench-programs $(BUILD)/6.12/hwprof.ko \
		$(BUILD)/programs/edges.bpf.o
	@tests/vm/vm --icount --smp 1 --file $(BUILD)/tests/bench-programs \
		--file $(BUILD)/programs/edges.bpf.o -- \
		$(BUILD)/tests/bench-programs $(BUILD)/programs/edges.bpf.o

$(BUILD)/tests/bench-filters: $(patsubst %,$(BUILD)/obj/tests/%.o, \
			bench/filters kselftest/event kselftest/device \
			kselftest/fault kselftest/known kselftest/text \
			kselftest/bpf kselftest/edges)
	@mkdir -p $(@D)
	$(CC) -o $@ $^

# Fails if the profile of one function costs more than a tenth, or a mask more
# than it saves.
bench-filters: $(BUILD)/tests/bench-filters $(BUILD)/6.12/hwprof.ko
	@tests/vm/vm --icount --smp 1 --file $(BUILD)/tests/bench-filters -- \
		$(BUILD)/tests/bench-filters

bench-replay: $(BUILD)/bench/stacks $(BUILD)/bench/cut $(BUILD)/hwprof
	@tests/bench/replay.sh

bench-windows: $(BUILD)/bench/cut $(BUILD)/hwprof $(BUILD)/oracle
	@tests/bench/windows.py $(BUILD)/bench/streams/[!.]*

bench:
	@tests/vm/install build rig check bench
	-@$(MAKE) -s bench-step
	-@$(MAKE) -s bench-native
	-@$(MAKE) -s bench-ranges
	-@$(MAKE) -s bench-contexts
	-@$(MAKE) -s bench-sampled
	-@$(MAKE) -s bench-paths
	-@$(MAKE) -s bench-values
	-@$(MAKE) -s bench-feed
	-@$(MAKE) -s bench-flat
	-@$(MAKE) -s bench-rings
	-@$(MAKE) -s bench-programs
	-@$(MAKE) -s bench-filters
	-@$(MAKE) -s bench-stall
	-@$(MAKE) -s bench-lbr
	-@$(MAKE) -s bench-replay
	-@$(MAKE) -s bench-windows
	-@$(MAKE) -s bench-coverage

# Building them keeps them from rotting.
TEST_PROGRAMS += $(patsubst %,$(BUILD)/bench/%,native ranges paths feed flat \
				contexts sampled values trace stacks cut) \
		 $(patsubst %,$(BUILD)/tests/bench-%,step busy rings programs \
				filters) $(RING_WRITER)

.PHONY: bench bench-step bench-native bench-ranges bench-contexts \
	bench-sampled bench-paths bench-values bench-feed bench-flat \
	bench-coverage bench-rings bench-programs \
	bench-filters bench-stall bench-lbr bench-replay \
	bench-windows
