# SPDX-License-Identifier: GPL-2.0-only
# Programs to copy from, linked to the shared library as a user's would be; but the
# foreign ones, which run where no such library is installed, to the other.

comma := ,
EXAMPLES := $(patsubst examples/%.c,$(BUILD)/examples/%,$(wildcard examples/*.c))

EXAMPLES_LINK := $(if $(filter x86,$(TARGET)),\
		      $(BUILD)/libhwprof.so.1 -Wl$(comma)-rpath$(comma)'$$ORIGIN/..',\
		      $(BUILD)/libhwprof.a $(LIB_LINK))

$(EXAMPLES): $(BUILD)/examples/%: examples/%.c lib/hwprof.h \
		$(BUILD)/libhwprof.so.1 $(BUILD)/libhwprof.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -MF $@.d -o $@ $< $(EXAMPLES_LINK)

examples: $(EXAMPLES)

.PHONY: examples
