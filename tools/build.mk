# SPDX-License-Identifier: GPL-2.0-only
# The program, and what goes with it.

# BPF=no: without `hwprof bpf`, and so without clang, bpftool and libbpf.
BPF ?= yes
TOOL_LINK := -lmd
ifeq ($(BPF),yes)
TOOL_SOURCES := $(filter-out tools/%_absent.c,$(wildcard tools/*.c))
TOOL_LINK    += -lbpf
else
TOOL_SOURCES := $(filter-out tools/bpf.c tools/bpf_maps.c tools/bpf_set.c \
			     tools/bpf_programs.c tools/bpf_streams.c \
			     tools/production_run.c,\
			     $(wildcard tools/*.c))
endif
TOOL_SOURCES += $(BUILD)/gen/html_files.c
TOOL_OBJECTS := $(TOOL_SOURCES:%.c=$(BUILD)/obj/%.o)

$(TOOL_OBJECTS): override CFLAGS += -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64

# The oldest and the newest kernel that are tested: "-DOLDEST_MAJOR=6 ...".
TESTED_KERNELS = $(shell awk '/^[0-9a-z]/ { print $$3 }' $(VM_KERNEL_LIST) | sort -V | \
	sed -n 's/\./ /; 1s/^/OLDEST /p; $$s/^/NEWEST /p' | \
	awk '{ print "-D" $$1 "_MAJOR=" $$2, "-D" $$1 "_MINOR=" $$3 }')

$(BUILD)/obj/tools/doctor_checks.o: $(VM_KERNEL_LIST)
$(BUILD)/obj/tools/doctor_checks.o: override CFLAGS += $(TESTED_KERNELS)

# The script and the style sheet of pages: the program has them in it, so that it
# needs no installed files. Parts of the script use those before them.
HTML_PARTS := base table flame loops paths graph calls heat values diff page
HTML_SCRIPT := $(HTML_PARTS:%=tools/html/%.js)

# bytes NAME FILE...: an array of C with the files' bytes, and a 0 behind them.
bytes = printf 'extern const char %s[];\nconst char %s[] = {' $(1) $(1); \
	cat $(2) | od -An -v -tu1 -w16 | sed 's/[0-9]\+/&,/g'; printf '0 };\n'

$(BUILD)/gen/html_files.c: $(HTML_SCRIPT) tools/html/page.css tools/build.mk
	@mkdir -p $(@D)
	{ $(call bytes,html_script,$(HTML_SCRIPT)); \
	  $(call bytes,html_style,tools/html/page.css); } > $@

# Programs of `hwprof bpf`, and headers that have them as bytes. bpftool is in
# /usr/sbin.
BPF_TOOLS := clang bpftool
BPF_HEADERS := bpf/libbpf.h
with_sbin = PATH="$$PATH:/usr/sbin:/sbin"

bpf-tools:
	@for tool in $(BPF_TOOLS); do \
		$(with_sbin) command -v $$tool > /dev/null || missing=yes; \
	done; \
	echo '#include <$(BPF_HEADERS)>' | $(CC) -E - > /dev/null 2>&1 || \
		missing=yes; \
	[ -z "$$missing" ] || { \
		echo "hwprof bpf needs more packages: apt-get install clang" \
		     "bpftool libbpf-dev, or leave it out: make BPF=no" >&2; \
		exit 1; }

COMPILE_BPF = clang -O2 -g -Wall -Werror -target bpf -Iuapi \
	      -I/usr/include/$$($(CC) -print-multiarch) -c

$(BUILD)/programs/%.bpf.o: tools/programs/%.bpf.c $(wildcard tools/programs/*.h) \
			    uapi/linux/hwprof.h | bpf-tools
	@mkdir -p $(@D)
	$(COMPILE_BPF) -o $@ $<

$(BUILD)/programs/%.skel.h: $(BUILD)/programs/%.bpf.o
	$(with_sbin) bpftool gen skeleton $< name $*_bpf > $@

BPF_PROGRAMS := $(patsubst tools/programs/%.bpf.c,%,\
			   $(wildcard tools/programs/*.bpf.c))

ifeq ($(BPF),yes)
$(BUILD)/obj/tools/bpf%.o: | bpf-tools
$(BUILD)/obj/tools/production_run.o: | bpf-tools
endif
$(BUILD)/obj/tools/bpf_programs.o: override CFLAGS += -I$(BUILD)/programs
$(BUILD)/obj/tools/bpf_programs.o: $(BPF_PROGRAMS:%=$(BUILD)/programs/%.skel.h)

$(BUILD)/hwprof: $(TOOL_OBJECTS) $(BUILD)/libhwprof.a
	$(CC) $(LDFLAGS) -o $@ $^ $(LIB_LINK) $(TOOL_LINK)

.PHONY: bpf-tools

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
