# SPDX-License-Identifier: GPL-2.0-only
# The oracle and the engines, tested in user space under ASan and UBSan.

SAN	:= -fsanitize=address,undefined -fno-sanitize-recover=all \
	   -fno-omit-frame-pointer
ORACLE_C := $(patsubst %,tests/oracle/%.c,oracle region walk)
ENGINE_C := $(wildcard kmod/engine/*.c)
CONFIG_C := $(wildcard kmod/config/*.c)

$(BUILD)/san/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -I. $(SAN) -c -o $@ $<

ORACLE_SAN := $(ORACLE_C:%.c=$(BUILD)/san/%.o)
ENGINE_SAN := $(ENGINE_C:%.c=$(BUILD)/san/%.o)
CONFIG_SAN := $(CONFIG_C:%.c=$(BUILD)/san/%.o)
HARNESS_SAN := $(patsubst %,$(BUILD)/san/tests/engine/%.o,harness machine program)

$(BUILD)/tests/test-oracle $(BUILD)/tests/test-loop $(BUILD)/tests/test-bounds \
$(BUILD)/tests/test-windows: \
$(BUILD)/tests/%: $(BUILD)/san/tests/engine/%.o $(HARNESS_SAN) $(ORACLE_SAN) \
		  $(ENGINE_SAN)
	@mkdir -p $(@D)
	$(CC) $(SAN) -o $@ $^ -lcmocka

$(BUILD)/tests/test-range $(BUILD)/tests/test-boxes $(BUILD)/tests/test-call $(BUILD)/tests/test-edge \
$(BUILD)/tests/test-value $(BUILD)/tests/test-burst $(BUILD)/tests/test-order \
$(BUILD)/tests/test-cct-stacks $(BUILD)/tests/test-brbe: \
$(BUILD)/tests/%: $(BUILD)/san/tests/engine/%.o $(ENGINE_SAN)
	@mkdir -p $(@D)
	$(CC) $(SAN) -o $@ $^ -lcmocka

$(BUILD)/tests/test-config $(BUILD)/tests/test-mask: \
$(BUILD)/tests/%: $(BUILD)/san/tests/engine/%.o $(CONFIG_SAN) $(ENGINE_SAN)
	@mkdir -p $(@D)
	$(CC) $(SAN) -o $@ $^ -lcmocka

UNIT_TESTS += $(BUILD)/tests/test-config $(BUILD)/tests/test-mask

$(BUILD)/tests/test-cct: $(BUILD)/san/tests/engine/test-cct.o $(HARNESS_SAN) \
			 $(BUILD)/san/tests/oracle/contexts.o $(ENGINE_SAN)
	@mkdir -p $(@D)
	$(CC) $(SAN) -o $@ $^ -lcmocka

$(BUILD)/tests/test-path: \
$(BUILD)/tests/%: $(BUILD)/san/tests/engine/%.o $(HARNESS_SAN) $(ENGINE_SAN) \
		  $(BUILD)/san/tests/oracle/paths.o
	@mkdir -p $(@D)
	$(CC) $(SAN) -o $@ $^ -lcmocka

$(BUILD)/tests/test-multi: $(BUILD)/san/tests/engine/test-multi.o \
			   $(HARNESS_SAN) $(ENGINE_SAN) \
			   $(BUILD)/san/tests/oracle/contexts.o \
			   $(BUILD)/san/tests/oracle/paths.o
	@mkdir -p $(@D)
	$(CC) $(SAN) -o $@ $^ -lcmocka

UNIT_TESTS += $(patsubst %,$(BUILD)/tests/%,test-oracle test-loop test-bounds \
					   test-windows test-order test-range test-boxes test-call test-edge test-cct test-cct-stacks test-path \
					   test-value test-burst test-multi \
					   test-brbe)

$(BUILD)/tests/test-cores: $(BUILD)/san/tests/engine/test-cores.o \
			   $(BUILD)/san/kmod/source/core_pmus.o \
			   $(BUILD)/san/kmod/engine/window.o
	@mkdir -p $(@D)
	$(CC) $(SAN) -o $@ $^ -lcmocka

UNIT_TESTS += $(BUILD)/tests/test-cores

# The decoders of #DB.
$(BUILD)/tests/branch-decode $(BUILD)/tests/access-decode: \
$(BUILD)/tests/%-decode: $(BUILD)/san/tests/engine/%-decode.o \
			 $(BUILD)/san/tests/engine/disassembly.o \
			 $(BUILD)/san/kmod/source/x86/%_decode.o
	@mkdir -p $(@D)
	$(CC) $(SAN) -o $@ $^ -lcmocka -lcapstone

UNIT_TESTS += $(BUILD)/tests/branch-decode $(BUILD)/tests/access-decode

# Parts of FRED that can be tested without such a CPU. Headers of the kernel are
# replaced by a task in plain memory.
$(BUILD)/san/tests/engine/test-fred.o: override CFLAGS += -Itests/engine/kernel

$(BUILD)/tests/test-fred: $(BUILD)/san/tests/engine/test-fred.o
	@mkdir -p $(@D)
	$(CC) $(SAN) -o $@ $^ -lcmocka

UNIT_TESTS += $(BUILD)/tests/test-fred

-include $(shell find $(BUILD)/san -name '*.d' 2>/dev/null)
