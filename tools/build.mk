# SPDX-License-Identifier: GPL-2.0-only
# The program, and what a user installs.

TOOL_SOURCES := $(wildcard tools/*.c)
TOOL_OBJECTS := $(TOOL_SOURCES:%.c=$(BUILD)/obj/%.o)

$(TOOL_OBJECTS): override CFLAGS += -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64

$(BUILD)/hwprof: $(TOOL_OBJECTS) $(BUILD)/libhwprof.a
	$(CC) $(LDFLAGS) -o $@ $^ $(LIB_LINK)

all: $(BUILD)/hwprof
