# SPDX-License-Identifier: GPL-2.0-only
# Programs that tests/pgo/run measures with.
$(BUILD)/jumps.so: tests/pgo/jumps.c tests/accuracy/plugin.c \
		   tests/accuracy/plugin.h tests/pgo/trace.h uapi/linux/hwprof.h
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -MF /dev/null -I. -fPIC -shared -o $@ \
		$(filter %.c,$^) -lcapstone

$(BUILD)/cut: tests/pgo/cut.c tests/lib/fixture.c $(BUILD)/libhwprof.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -MF /dev/null -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -I. \
		-Itests/lib -o $@ $(filter %.c %.a,$^) $(LIB_LINK) -lcmocka
