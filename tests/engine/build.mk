# SPDX-License-Identifier: GPL-2.0-only
# The oracle and the engines, tested in user space under ASan and UBSan.

SAN	:= -fsanitize=address,undefined -fno-sanitize-recover=all \
	   -fno-omit-frame-pointer
ORACLE_C := $(wildcard tests/oracle/*.c)
ENGINE_C := $(wildcard kmod/engine/*.c)

$(BUILD)/san/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -I. $(SAN) -c -o $@ $<

ORACLE_SAN := $(patsubst %.c,$(BUILD)/san/%.o,$(filter-out %/main.c,$(ORACLE_C)))
ENGINE_SAN := $(patsubst %.c,$(BUILD)/san/%.o,$(ENGINE_C))

$(BUILD)/tests/test-oracle: $(BUILD)/san/tests/engine/test-oracle.o $(ORACLE_SAN)
	@mkdir -p $(@D)
	$(CC) $(SAN) -o $@ $^ -lcmocka

TEST_SAN := $(patsubst %,$(BUILD)/san/tests/engine/%.o,harness machine program)

$(BUILD)/tests/test-loop: $(BUILD)/san/tests/engine/test-loop.o \
			  $(TEST_SAN) $(ORACLE_SAN) $(ENGINE_SAN)
	@mkdir -p $(@D)
	$(CC) $(SAN) -o $@ $^ -lcmocka

UNIT_TESTS += $(BUILD)/tests/test-oracle $(BUILD)/tests/test-loop

-include $(shell find $(BUILD)/san -name '*.d' 2>/dev/null)
