# SPDX-License-Identifier: GPL-2.0-only
# The program, and what goes with it.

TOOL_SOURCES := $(wildcard tools/*.c)
TOOL_OBJECTS := $(TOOL_SOURCES:%.c=$(BUILD)/obj/%.o)

$(TOOL_OBJECTS): override CFLAGS += -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64

$(BUILD)/hwprof: $(TOOL_OBJECTS) $(BUILD)/libhwprof.a
	$(CC) $(LDFLAGS) -o $@ $^ $(LIB_LINK) -lpfm

all: $(BUILD)/hwprof


# The names and bits of an event's fields, and of what ranges are of, as the ABI
# has them.
$(BUILD)/completion/hwprof: tools/completion.bash uapi/linux/hwprof.h
	@mkdir -p $(@D)
	names() { printf '%s\n' '#include <linux/hwprof.h>' \
		"#define X(a, b, c, d, ...) $$1" "<names> $$2(X)" | \
		$(CC) -Iuapi -E -P -x c - | sed -n 's/<names>//p' | tr -d '" '; }; \
	sed "s|@FIELDS@|$$(names 'a:c:d,' HWPROF_FIELDS)|; \
	     s|@STREAMS@|$$(names 'c,' HWPROF_RANGES_OF)|" $< > $@
