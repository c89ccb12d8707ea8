# SPDX-License-Identifier: GPL-2.0-only
# Recordings for the tests of pages in a browser.
PAGE_CFLAGS := -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Itests/lib

$(BUILD)/page-recorder: tests/page/recorder.c tests/lib/stacks.c \
			tests/lib/stepping.c $(BUILD)/libhwprof.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(PAGE_CFLAGS) -o $@ $(filter %.c %.a,$^) $(LIB_LINK)

$(BUILD)/page-fixtures: tests/page/fixtures.c tests/lib/fixture.c \
			$(BUILD)/libhwprof.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(PAGE_CFLAGS) -o $@ $(filter %.c %.a,$^) $(LIB_LINK) \
		-lcmocka
