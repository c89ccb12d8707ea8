# SPDX-License-Identifier: GPL-2.0-only
# hwprofd and hwprofd-collect. Without a library of theirs they are left out, and
# everything else is built.

DAEMON_PACKAGES := libcurl4-gnutls-dev libmicrohttpd-dev libsqlite3-dev
DAEMON_LINK	:= -lcurl -lmicrohttpd -lsqlite3 -lmd
DAEMON ?= $(shell printf '\#include <%s>\n' curl/curl.h microhttpd.h sqlite3.h | \
	    $(CC) -E - > /dev/null 2>&1 && echo yes || echo no)

# Both programs have all of it but the other's own.
DAEMON_OWN := daemon/hwprofd.c daemon/collect.c
DAEMON_SOURCES := $(filter-out $(DAEMON_OWN),$(wildcard daemon/*.c))
DAEMON_OBJECTS := $(DAEMON_SOURCES:%.c=$(BUILD)/obj/%.o)

# What pages are made of: those of profiles as the program makes them.
PAGE_SOURCES := $(patsubst %,tools/html_%.c,data page text) \
		$(BUILD)/gen/html_files.c $(BUILD)/gen/front_files.c
PAGE_OBJECTS := $(PAGE_SOURCES:%.c=$(BUILD)/obj/%.o)

FRONT_PARTS := $(patsubst %,tools/html/%.js,base table heat values) \
	       $(patsubst %,daemon/html/%.js,windows strips map builds ranges data \
					    front)
FRONT_STYLE := tools/html/page.css daemon/html/front.css

$(BUILD)/gen/front_files.c: $(FRONT_PARTS) $(FRONT_STYLE) daemon/build.mk
	@mkdir -p $(@D)
	{ $(call bytes,front_script,$(FRONT_PARTS)); \
	  $(call bytes,front_style,$(FRONT_STYLE)); } > $@

$(DAEMON_OBJECTS) $(DAEMON_OWN:%.c=$(BUILD)/obj/%.o): \
	override CFLAGS += -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -I.

$(BUILD)/hwprofd: $(BUILD)/obj/daemon/hwprofd.o $(DAEMON_OBJECTS) \
		  $(PAGE_OBJECTS) $(BUILD)/libhwprof.a
	$(CC) $(LDFLAGS) -o $@ $^ $(DAEMON_LINK) $(LIB_LINK)

# The process with capabilities has no HTTP and no database in it.
$(BUILD)/hwprofd-collect: $(BUILD)/obj/daemon/collect.o \
			  $(patsubst %,$(BUILD)/obj/daemon/%.o,code_reader \
				       config file_opener log meter mount_of \
				       notify spending wire worker) \
			  $(BUILD)/libhwprof.a
	$(CC) $(LDFLAGS) -o $@ $^ $(LIB_LINK)

ifeq ($(DAEMON),yes)
DAEMON_PROGRAMS := $(BUILD)/hwprofd $(BUILD)/hwprofd-collect
else
daemon-left-out:
	@echo "hwprofd is left out: it needs $(DAEMON_PACKAGES)" >&2

all: daemon-left-out
.PHONY: daemon-left-out
endif

all: $(DAEMON_PROGRAMS)

# Says whether the daemon is built: yes or no.
print-daemon:
	@echo $(DAEMON)

.PHONY: print-daemon
