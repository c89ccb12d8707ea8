# SPDX-License-Identifier: GPL-2.0-only
# Programs to copy from, linked to the shared library as a user's would be.

EXAMPLES := $(patsubst examples/%.c,$(BUILD)/examples/%,$(wildcard examples/*.c))

$(EXAMPLES): $(BUILD)/examples/%: examples/%.c lib/hwprof.h $(BUILD)/libhwprof.so.0
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -MF $@.d -o $@ $< $(BUILD)/libhwprof.so.0 \
		-Wl,-rpath,'$$ORIGIN/..'

examples: $(EXAMPLES)

.PHONY: examples
