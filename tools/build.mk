# SPDX-License-Identifier: GPL-2.0-only
# The program, and what a user installs.

TOOL_SOURCES := $(wildcard tools/*.c)
TOOL_OBJECTS := $(TOOL_SOURCES:%.c=$(BUILD)/obj/%.o)

$(TOOL_OBJECTS): override CFLAGS += -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64

$(BUILD)/hwprof: $(TOOL_OBJECTS) $(BUILD)/libhwprof.a
	$(CC) $(LDFLAGS) -o $@ $^ $(LIB_LINK) -lpfm

all: $(BUILD)/hwprof

# DESTDIR: an empty root to install into; PREFIX: where it will be.
HWPROF_VERSION = $(shell sed -n 's/^\#define HWPROF_VERSION[^"]*"\(.*\)"/\1/p' lib/hwprof.h)

install-user: $(BUILD)/hwprof $(BUILD)/libhwprof.a $(BUILD)/libhwprof.so.0
	install -D -t $(DESTDIR)$(PREFIX)/bin $(BUILD)/hwprof
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/lib \
		$(BUILD)/libhwprof.a $(BUILD)/libhwprof.so.0
	ln -sf libhwprof.so.0 $(DESTDIR)$(PREFIX)/lib/libhwprof.so
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/include lib/hwprof.h
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/include/linux uapi/linux/hwprof.h
	install -d $(DESTDIR)$(PREFIX)/lib/pkgconfig
	sed 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(HWPROF_VERSION)|' lib/hwprof.pc.in \
		> $(DESTDIR)$(PREFIX)/lib/pkgconfig/hwprof.pc
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/man/man1 docs/man/*.1
	install -D -t $(DESTDIR)$(PREFIX)/share/hwprof tools/perf-script-hwprof.py

.PHONY: install-user
