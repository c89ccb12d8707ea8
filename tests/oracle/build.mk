# SPDX-License-Identifier: GPL-2.0-only
# The oracle as a program: exact loops of a recording's branch rows.

ORACLE_OBJECTS := $(patsubst %,$(BUILD)/obj/tests/oracle/%.o,\
			     main oracle region rows walk)

$(ORACLE_OBJECTS): override CFLAGS += -I.

$(BUILD)/oracle: $(ORACLE_OBJECTS) $(BUILD)/libhwprof.a
	$(CC) $(LDFLAGS) -o $@ $^ $(LIB_LINK)

TEST_PROGRAMS += $(BUILD)/oracle
