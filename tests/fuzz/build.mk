# SPDX-License-Identifier: GPL-2.0-only
# The targets of libFuzzer, which is clang's. What they test is compiled for all of
# them once, with the same checkers.

FUZZ_ENGINES	:= loop range call cct cct-stacks path value multi
FUZZ_LIBRARY	:= perfdata replay merge
FUZZ_DAEMON	:= $(if $(filter yes,$(DAEMON)),daemon)
FUZZERS		:= $(patsubst %,$(BUILD)/fuzz/fuzz-%,$(FUZZ_ENGINES) $(FUZZ_LIBRARY) \
					     $(FUZZ_DAEMON))

FUZZ_CFLAGS	:= -g -O1 -std=gnu11 -Wno-gnu-variable-sized-type-not-at-end -Iuapi \
		   -Ikmod -Ilib -fno-sanitize-recover=all -MD -MP

$(BUILD)/fuzz/obj/%.o: %.c
	@mkdir -p $(@D)
	clang $(FUZZ_CFLAGS) $(FUZZ_DEFINES) \
		-fsanitize=fuzzer-no-link,address,undefined -c -o $@ $<

fuzz_object = $(patsubst %.c,$(BUILD)/fuzz/obj/%.o,$(1))

FUZZ_LIB_OBJECTS := $(call fuzz_object,$(LIB_SOURCES))
$(FUZZ_LIB_OBJECTS) $(call fuzz_object,$(FUZZ_LIBRARY:%=tests/fuzz/fuzz-%.c)): \
	FUZZ_DEFINES := -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -I$(BUILD)/gen

$(FUZZ_ENGINES:%=$(BUILD)/fuzz/fuzz-%): $(call fuzz_object,$(ENGINE_C))
$(FUZZ_LIBRARY:%=$(BUILD)/fuzz/fuzz-%): $(FUZZ_LIB_OBJECTS)
$(FUZZ_LIBRARY:%=$(BUILD)/fuzz/fuzz-%): FUZZ_LINK := $(LIB_LINK)

# The parts of hwprofd that read input from others.
FUZZ_DAEMON_C	:= $(patsubst %,daemon/%.c,config query http_listen parts log wire)

$(call fuzz_object,$(FUZZ_DAEMON_C) tests/fuzz/fuzz-daemon.c): \
	FUZZ_DEFINES := -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Idaemon
$(FUZZ_DAEMON:%=$(BUILD)/fuzz/fuzz-%): $(call fuzz_object,$(FUZZ_DAEMON_C)) \
				       $(FUZZ_LIB_OBJECTS)
$(FUZZ_DAEMON:%=$(BUILD)/fuzz/fuzz-%): FUZZ_LINK := $(LIB_LINK)

$(FUZZERS): $(BUILD)/fuzz/%: $(BUILD)/fuzz/obj/tests/fuzz/%.o
	@mkdir -p $(@D)
	clang -fsanitize=fuzzer,address,undefined -o $@ $^ $(FUZZ_LINK)

-include $(shell find $(BUILD)/fuzz/obj -name '*.d' 2>/dev/null)
