# SPDX-License-Identifier: GPL-2.0-only
# Programs that record others for the tests of exports.
$(BUILD)/stepper $(BUILD)/many: $(BUILD)/%: tests/export/%.c tests/lib/fixture.c \
		tests/lib/stepping.c $(BUILD)/libhwprof.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -I. -Itests/lib -o $@ \
		$(filter %.c %.a,$^) $(LIB_LINK) -lcmocka
