# SPDX-License-Identifier: GPL-2.0-only
# Compares conclusions from windows with the oracle.

WINDOWS_OBJECTS := $(patsubst %,$(BUILD)/obj/%.o,\
			tests/accuracy/windows tests/oracle/oracle \
			tests/oracle/region tests/oracle/rows tests/oracle/walk \
			$(patsubst %.c,%,$(wildcard kmod/engine/*.c)))

$(BUILD)/obj/tests/accuracy/windows.o: override CFLAGS += -I.

$(BUILD)/windows: $(WINDOWS_OBJECTS) $(BUILD)/libhwprof.a
	$(CC) $(LDFLAGS) -o $@ $^ $(LIB_LINK)

TEST_PROGRAMS += $(BUILD)/windows

$(BUILD)/obj/tests/accuracy/exact_ranges.o: override CFLAGS += -I.

$(BUILD)/exact_ranges: $(BUILD)/obj/tests/accuracy/exact_ranges.o \
		       $(BUILD)/libhwprof.a
	$(CC) $(LDFLAGS) -o $@ $^ $(LIB_LINK)

TEST_PROGRAMS += $(BUILD)/exact_ranges

$(BUILD)/obj/tests/accuracy/exact_calls.o: override CFLAGS += -I.

$(BUILD)/exact_calls: $(BUILD)/obj/tests/accuracy/exact_calls.o \
		      $(BUILD)/libhwprof.a
	$(CC) $(LDFLAGS) -o $@ $^ $(LIB_LINK)

TEST_PROGRAMS += $(BUILD)/exact_calls

$(BUILD)/obj/tests/accuracy/exact_edges.o: override CFLAGS += -I.

$(BUILD)/exact_edges: $(BUILD)/obj/tests/accuracy/exact_edges.o \
		      $(BUILD)/libhwprof.a
	$(CC) $(LDFLAGS) -o $@ $^ $(LIB_LINK)

TEST_PROGRAMS += $(BUILD)/exact_edges

CONTEXTS_OBJECTS := $(patsubst %,$(BUILD)/obj/tests/%.o,\
			       accuracy/exact_contexts oracle/contexts oracle/rows)

$(CONTEXTS_OBJECTS): override CFLAGS += -I. -D_GNU_SOURCE

$(BUILD)/exact_contexts: $(CONTEXTS_OBJECTS) $(BUILD)/libhwprof.a
	$(CC) $(LDFLAGS) -o $@ $^ $(LIB_LINK)

TEST_PROGRAMS += $(BUILD)/exact_contexts

EXACT_PATHS_OBJECTS := $(patsubst %,$(BUILD)/obj/tests/%.o,\
			accuracy/exact_paths oracle/paths oracle/rows)

$(EXACT_PATHS_OBJECTS): override CFLAGS += -I.

$(BUILD)/exact_paths: $(EXACT_PATHS_OBJECTS) $(BUILD)/libhwprof.a
	$(CC) $(LDFLAGS) -o $@ $^ $(LIB_LINK)

TEST_PROGRAMS += $(BUILD)/exact_paths

# Plugins of the emulator that record a program: all its loads with their values,
# or its calls, back edges, references to data and branches.
$(BUILD)/trace.so: PLUGIN_LINK := -lcapstone

$(BUILD)/%.so: tests/accuracy/%.c tests/accuracy/plugin.c \
	       $(wildcard tests/accuracy/*.h) uapi/linux/hwprof.h
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -MF /dev/null -fPIC -shared -o $@ $(filter %.c,$^) $(PLUGIN_LINK)

$(BUILD)/obj/tests/accuracy/value_error.o: override CFLAGS += -I.

$(BUILD)/value_error: $(BUILD)/obj/tests/accuracy/value_error.o \
		      $(BUILD)/libhwprof.a
	$(CC) $(LDFLAGS) -o $@ $^ $(LIB_LINK)

TEST_PROGRAMS += $(BUILD)/loads.so $(BUILD)/value_error

$(BUILD)/obj/tests/accuracy/overlap.o: override CFLAGS += -I.

$(BUILD)/overlap: $(BUILD)/obj/tests/accuracy/overlap.o $(BUILD)/libhwprof.a
	$(CC) $(LDFLAGS) -o $@ $^ $(LIB_LINK)

TEST_PROGRAMS += $(BUILD)/trace.so $(BUILD)/overlap

$(BUILD)/obj/tests/accuracy/range_error.o: override CFLAGS += -I.

$(BUILD)/range_error: $(BUILD)/obj/tests/accuracy/range_error.o \
		      $(BUILD)/libhwprof.a
	$(CC) $(LDFLAGS) -o $@ $^ $(LIB_LINK)

TEST_PROGRAMS += $(BUILD)/range_error
