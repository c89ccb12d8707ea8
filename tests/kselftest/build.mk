# SPDX-License-Identifier: GPL-2.0-only
# Tests that run in the guest, and the program that they profile.

KSELFTEST	:= $(BUILD)/tests/kselftest
KSELFTESTS	:= $(patsubst tests/kselftest/%.c,$(KSELFTEST)/%, \
			      $(wildcard tests/kselftest/test_*.c))
KSELFTEST_SH	:= $(patsubst tests/%,$(BUILD)/tests/%, \
			      $(wildcard tests/kselftest/*.sh))

# Programs without a library, at a fixed address.
KSELFTEST_BARE	:= -nostdlib -static -Wl,-Ttext=0x10000000
KSELFTEST_ASM	:= tests/kselftest/$(TARGET)

$(KSELFTEST)/known: $(KSELFTEST_ASM)/known.S tests/kselftest/known.h
	@mkdir -p $(@D)
	$(CC) $(KSELFTEST_BARE) -DKNOWN_PROGRAM -o $@ $<

$(KSELFTEST)/spin: $(KSELFTEST_ASM)/spin.S $(KSELFTEST_ASM)/known.S
	@mkdir -p $(@D)
	$(CC) $(KSELFTEST_BARE) -o $@ $^

$(KSELFTEST)/forks: $(KSELFTEST_ASM)/forks.S
	@mkdir -p $(@D)
	$(CC) $(KSELFTEST_BARE) -o $@ $<

# Things that only stepping sees are tested where stepping exists.
$(KSELFTEST)/chains: tests/kselftest/x86/chains.S tests/kselftest/chains.h
	@mkdir -p $(@D)
	$(CC) $(KSELFTEST_BARE) -o $@ $<

$(KSELFTEST)/nests: tests/kselftest/x86/nests.S tests/kselftest/nests.h
	@mkdir -p $(@D)
	$(CC) $(KSELFTEST_BARE) -o $@ $<

KSELFTEST_BARE_C := $(CC) $(KSELFTEST_BARE) -O1 -g -fno-stack-protector

$(KSELFTEST)/shapes $(KSELFTEST)/trips $(KSELFTEST)/phases: $(KSELFTEST)/%: tests/kselftest/%.c \
						      tests/kselftest/bare.h
	@mkdir -p $(@D)
	$(KSELFTEST_BARE_C) -o $@ $<

ifeq ($(BPF),yes)
KSELFTEST_BPF := $(KSELFTEST)/trace.bpf.o
endif

$(KSELFTEST)/%.bpf.o: tests/kselftest/%.bpf.c uapi/linux/hwprof.h | bpf-tools
	@mkdir -p $(@D)
	$(COMPILE_BPF) -o $@ $<

$(KSELFTEST)/phases $(KSELFTEST)/converge: tests/kselftest/counts.h

$(KSELFTEST)/converge: tests/kselftest/converge.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -o $@ $<

$(KSELFTEST)/crowd: tests/kselftest/crowd.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -D_GNU_SOURCE -static -o $@ $<

$(KSELFTEST)/simulate: tests/kselftest/simulate.c uapi/linux/hwprof.h
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -Iuapi $(CFLAGS) -D_GNU_SOURCE -o $@ $<

# Without tail calls: a function that jumps away does not return to its caller.
$(KSELFTEST)/filtered: tests/kselftest/filtered.c tests/kselftest/bare.h
	@mkdir -p $(@D)
	$(KSELFTEST_BARE_C) -fno-optimize-sibling-calls -o $@ $<

$(KSELFTEST)/callers: tests/kselftest/callers.c tests/kselftest/bare.h
	@mkdir -p $(@D)
	$(KSELFTEST_BARE_C) -fno-omit-frame-pointer -o $@ $<

# The same, as distributions make theirs: who called is in .eh_frame alone.
$(KSELFTEST)/pointerless: tests/kselftest/callers.c tests/kselftest/bare.h
	@mkdir -p $(@D)
	$(KSELFTEST_BARE_C) -DTURNS=1000 -fomit-frame-pointer \
		-Wl,--eh-frame-hdr -o $@ $<

# The same, until it is killed.
$(KSELFTEST)/endless: tests/kselftest/callers.c tests/kselftest/bare.h
	@mkdir -p $(@D)
	$(KSELFTEST_BARE_C) -DTURNS=0x7fffffff -fomit-frame-pointer \
		-Wl,--eh-frame-hdr -o $@ $<

# The same, deeper than records of calls are.
$(KSELFTEST)/deep: tests/kselftest/callers.c tests/kselftest/bare.h
	@mkdir -p $(@D)
	$(KSELFTEST_BARE_C) -DTURNS=100 -DDEPTH=40 -fomit-frame-pointer \
		-Wl,--eh-frame-hdr -o $@ $<

$(KSELFTEST)/plugin.so: tests/kselftest/plugin.c
	@mkdir -p $(@D)
	$(CC) -O2 -g -fomit-frame-pointer -fPIC -shared -o $@ $<

$(KSELFTEST)/plugged: tests/kselftest/plugged.c
	@mkdir -p $(@D)
	$(CC) -O2 -g -fomit-frame-pointer -o $@ $<

$(KSELFTEST)/long_trips: tests/kselftest/trips.c tests/kselftest/bare.h
	@mkdir -p $(@D)
	$(KSELFTEST_BARE_C) -DOUTER=1000000 -o $@ $<

$(KSELFTEST)/short_trips: tests/kselftest/trips.c tests/kselftest/bare.h
	@mkdir -p $(@D)
	$(KSELFTEST_BARE_C) -DOUTER=1000 -o $@ $<

$(BUILD)/obj/tests/kselftest/known.o: $(KSELFTEST_ASM)/known.S
	@mkdir -p $(@D)
	$(CC) -c -o $@ $<

# Objects that open events by hand; other tests use them, too.
EVENT_OBJECTS := $(patsubst %,$(BUILD)/obj/tests/kselftest/%.o, \
			    event device fault known text bpf capability)

# The harness is the kernel's, and has its own idea of warnings.
$(BUILD)/obj/tests/kselftest/test_%.o: CFLAGS += -D_GNU_SOURCE \
	-Wno-sign-compare -Wno-type-limits -Wno-clobbered

ifeq ($(TARGET),x86)
$(KSELFTEST)/test_accesses $(KSELFTEST)/test_masks: \
	$(BUILD)/obj/tests/kselftest/accesses.o

$(BUILD)/obj/tests/kselftest/accesses.o: $(KSELFTEST_ASM)/accesses.S
	@mkdir -p $(@D)
	$(CC) -c -o $@ $<

$(KSELFTEST)/test_edges $(KSELFTEST)/test_masks $(KSELFTEST)/test_programs: \
	$(BUILD)/obj/tests/kselftest/edges.o

$(BUILD)/obj/tests/kselftest/edges.o: $(KSELFTEST_ASM)/edges.S \
				      tests/kselftest/edges.h
	@mkdir -p $(@D)
	$(CC) -c -o $@ $<

$(KSELFTEST)/test_values: $(BUILD)/obj/tests/kselftest/values.o

$(BUILD)/obj/tests/kselftest/values.o: $(KSELFTEST_ASM)/values.S \
				       tests/kselftest/values.h
	@mkdir -p $(@D)
	$(CC) -c -o $@ $<
endif

# This one is about the library.
$(KSELFTEST)/test_live: $(BUILD)/libhwprof.a
$(KSELFTEST)/test_live: KSELFTEST_LINK := $(LIB_LINK)

# Landing pads are made for exceptions only.
$(KSELFTEST)/unwinds: tests/kselftest/unwinds.c
	@mkdir -p $(@D)
	$(CC) -O1 -g -fexceptions -fno-optimize-sibling-calls -o $@ $<

$(addprefix $(KSELFTEST)/,heaps exits): $(KSELFTEST)/%: tests/kselftest/%.c
	@mkdir -p $(@D)
	$(CC) -O1 -g -o $@ $<

$(KSELFTEST)/map-hostile: tests/daemon/map-hostile.c tests/daemon/hostile.c \
			  tests/daemon/hostile.h
	@mkdir -p $(@D)
	$(CC) -D_GNU_SOURCE -O1 -g -o $@ $(filter %.c,$^)

# The programs of docs/recipes.md, built by the commands on the page.
$(KSELFTEST)/recipes/recipes.md: docs/recipes.md examples/orders/orders.c \
				 examples/reader.c uapi/linux/hwprof.h
	@mkdir -p $(@D)/old $(@D)/new $(@D)/examples/orders
	cp examples/orders/orders.c $(@D)/examples/orders
	cp examples/reader.c $(@D)/examples
	sed -n 's/^    \$$ \(cc .*\)/\1/p' $< > $(@D)/build.sh
	cd $(@D) && CPATH=$(CURDIR)/uapi sh -ex build.sh
	cp $< $@

$(KSELFTESTS): $(KSELFTEST)/%: $(BUILD)/obj/tests/kselftest/%.o \
			       $(EVENT_OBJECTS)
	@mkdir -p $(@D)
	$(CC) -o $@ $^ $(KSELFTEST_LINK) -lpthread

$(KSELFTEST)/device32: tests/kselftest/device32.c uapi/linux/hwprof.h
	@mkdir -p $(@D)
	$(CC) $(M32) -Iuapi -O1 -g -Wall -Wextra -Werror -static -o $@ $<

$(KSELFTEST)/guest: tests/kselftest/guest
	install -m 755 $< $@

$(KSELFTEST)/%.sh: tests/kselftest/%.sh
	@mkdir -p $(@D)
	install -m 755 $< $@

TEST_PROGRAMS += kselftest-programs

kselftest-programs: $(BUILD)/hwprof $(EXAMPLES) $(KSELFTESTS) $(KSELFTEST_SH) \
	$(KSELFTEST_BPF) \
	$(addprefix $(KSELFTEST)/,guest known spin forks exits heaps unwinds shapes callers \
		       converge filtered simulate trips phases \
		       long_trips short_trips \
		       $(if $(filter x86,$(TARGET)),chains nests pointerless endless deep plugged \
		       plugin.so recipes/recipes.md) \
		       $(if $(HAS_M32),device32)) \
	$(if $(filter x86,$(TARGET)),$(DAEMON_PROGRAMS) \
				     $(KSELFTEST)/map-hostile $(KSELFTEST)/crowd)

.PHONY: kselftest-programs
