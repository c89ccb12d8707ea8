# SPDX-License-Identifier: GPL-2.0-only
# libhwprof: reads and replays recordings, symbolises, writes perf.data, opens
# events.

# Messages of other programs' protocols, made by protoc-c.
PROTOCOLS := pprof otlp otlp_1_9

# Recordings are replayed through the module's engines, and events are checked
# by its rules. Capstone is loaded when it is first needed: see lib/base/late.h.
LIB_SOURCES := $(wildcard lib/*/*.c kmod/engine/*.c \
			  kmod/config/*.c) \
	       kmod/source/x86/branch_decode.c \
	       $(PROTOCOLS:%=$(BUILD)/gen/%.pb-c.c)
LIB_OBJECTS := $(LIB_SOURCES:%.c=$(BUILD)/obj/%.o)
LIB_LINK    := -ldw -lelf -lprotobuf-c -lzstd -lz -lm
LIB_PACKAGES := libdw-dev libelf-dev libcapstone-dev libzstd-dev \
		libprotobuf-c-dev protobuf-c-compiler zlib1g-dev

$(BUILD)/gen/%.pb-c.c: lib/export/%.proto
	@mkdir -p $(@D)
	protoc-c -Ilib/export --c_out=$(@D) $<

%/lib/export/pprof.o %/lib/export/otlp.o: override CFLAGS += -I$(BUILD)/gen

PROTOCOL_USERS := lib/export/pprof.o lib/export/otlp.o \
		  $(PROTOCOLS:%=$(BUILD)/gen/%.pb-c.o)
$(foreach kind,obj san fuzz/obj,$(PROTOCOL_USERS:%=$(BUILD)/$(kind)/%)): \
	$(PROTOCOLS:%=$(BUILD)/gen/%.pb-c.c)

$(LIB_OBJECTS): override CFLAGS += -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -fPIC

$(BUILD)/libhwprof.a: $(LIB_OBJECTS)
	rm -f $@
	$(AR) rcs $@ $^

# The library's own names stay inside: hwprof.h is all that is exported.
$(BUILD)/libhwprof.so.1: $(LIB_OBJECTS) lib/libhwprof.map
	$(CC) $(LDFLAGS) -shared -Wl,-soname,libhwprof.so.1 \
		-Wl,--version-script=lib/libhwprof.map -o $@ \
		$(LIB_OBJECTS) $(LIB_LINK)

all: $(BUILD)/libhwprof.a $(BUILD)/libhwprof.so.1

# The binary interface that programs count on, as hwprof.h has it: that of the
# first release. It is made again when the soname changes, not before.
abi: $(BUILD)/libhwprof.so.1
	abidw --header-file lib/hwprof.h --header-file uapi/linux/hwprof.h \
		--drop-private-types --exported-interfaces-only \
		--no-corpus-path --no-comp-dir-path --no-show-locs \
		--no-elf-needed --type-id-style hash \
		--out-file lib/libhwprof.abi $<

# Objects of the library, for the test of its licence.
print-library-objects:
	@echo $(LIB_OBJECTS)

.PHONY: abi print-library-objects
