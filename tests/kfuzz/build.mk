# SPDX-License-Identifier: GPL-2.0-only
# Hostile input to the module's interface, guided by coverage: see tests/kfuzz/run.

KFUZZ		:= $(BUILD)/tests/kfuzz
KFUZZ_OBJECTS	:= $(patsubst %,$(BUILD)/obj/tests/kfuzz/%.o, \
			      kfuzz calls coverage credentials \
			      group images input programs rows)

$(KFUZZ_OBJECTS): override CFLAGS += -I. -D_GNU_SOURCE

# With the kselftests' events.
$(KFUZZ)/kfuzz: $(KFUZZ_OBJECTS) \
		$(patsubst %,$(BUILD)/obj/tests/kselftest/%.o, \
			     event device fault text capability)
	@mkdir -p $(@D)
	$(CC) -o $@ $^ -lpthread

$(KFUZZ)/known: $(BUILD)/tests/kselftest/known
	@mkdir -p $(@D)
	install -m 755 $< $@

kfuzz-files: $(KFUZZ)/kfuzz $(KFUZZ)/known

# The module with kcov takes a minute, and is built when the fuzzer runs.
TEST_PROGRAMS += kfuzz-files

.PHONY: kfuzz-files
