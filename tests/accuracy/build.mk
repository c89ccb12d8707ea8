# SPDX-License-Identifier: GPL-2.0-only
# Programs that judge recordings of real programs, with the oracle or by exact
# counts. Each has a source file of its name here.
JUDGES := windows exact_ranges exact_calls exact_edges exact_contexts exact_paths \
	  value_error range_error range_curves overlap

# Objects of files, which are given without their endings.
accuracy_objects = $(patsubst %,$(BUILD)/obj/%.o,$(1))
JUDGE_PARTS := $(call accuracy_objects,\
	tests/oracle/oracle tests/oracle/region tests/oracle/rows \
	tests/oracle/walk tests/oracle/contexts tests/oracle/paths)

$(JUDGE_PARTS) $(call accuracy_objects,$(JUDGES:%=tests/accuracy/%) \
				  tests/accuracy/runs \
				  tests/accuracy/hot_ranges): \
	override CFLAGS += -I.
$(call accuracy_objects,tests/accuracy/exact_contexts tests/oracle/contexts): \
	override CFLAGS += -D_GNU_SOURCE

# Parts of the oracle that a judge links, and engines that it feeds itself.
$(BUILD)/windows: $(call accuracy_objects,\
			tests/oracle/oracle tests/oracle/region \
			tests/oracle/rows tests/oracle/walk \
			$(patsubst %.c,%,$(wildcard kmod/engine/*.c)))
$(BUILD)/exact_calls $(BUILD)/exact_edges: \
	$(call accuracy_objects,tests/accuracy/runs)
$(BUILD)/range_error $(BUILD)/range_curves: \
	$(call accuracy_objects,tests/accuracy/hot_ranges)
$(BUILD)/exact_contexts: $(call accuracy_objects,\
				tests/oracle/contexts tests/oracle/rows)
$(BUILD)/exact_paths: $(call accuracy_objects,\
			     tests/oracle/paths tests/oracle/rows)

$(JUDGES:%=$(BUILD)/%): $(BUILD)/%: $(BUILD)/obj/tests/accuracy/%.o \
				    $(BUILD)/libhwprof.a
	$(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIB_LINK)

# A machine at work.
$(BUILD)/tests/machine_load: tests/accuracy/machine_load.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -D_GNU_SOURCE -I. -MF $@.d -o $@ $<

-include $(BUILD)/tests/machine_load.d

# Plugins of the emulator that record a program: all its loads with their values,
# or its calls, back edges, references to data and branches.
$(BUILD)/trace.so: PLUGIN_LINK := -lcapstone

$(BUILD)/%.so: tests/accuracy/%.c tests/accuracy/plugin.c \
	       $(wildcard tests/accuracy/*.h) uapi/linux/hwprof.h
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -MF /dev/null -fPIC -shared -o $@ $(filter %.c,$^) $(PLUGIN_LINK)

TEST_PROGRAMS += $(JUDGES:%=$(BUILD)/%) $(BUILD)/loads.so $(BUILD)/trace.so \
		 $(BUILD)/tests/machine_load
