# SPDX-License-Identifier: GPL-2.0-only
# The program, and what goes with it.

TOOL_SOURCES := $(wildcard tools/*.c) $(BUILD)/gen/html_files.c
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

$(BUILD)/hwprof: $(TOOL_OBJECTS) $(BUILD)/libhwprof.a
	$(CC) $(LDFLAGS) -o $@ $^ $(LIB_LINK)

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
