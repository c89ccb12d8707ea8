# SPDX-License-Identifier: GPL-2.0-only
# hwprofd: units under ASan and UBSan, and a whole one that is asked by curl.
DAEMON_SAN := $(patsubst %.c,$(BUILD)/san/%.o,$(DAEMON_SOURCES))
DAEMON_TESTS := config query store timeline wire worker http symbols push \
		code-reader file-opener page ranges spending meter
DAEMON_TEST_SAN := $(patsubst %,$(BUILD)/san/tests/daemon/test-%.o,$(DAEMON_TESTS)) \
		   $(patsubst %,$(BUILD)/san/tests/daemon/%.o,recordings hostile \
							   windows)
DAEMON_PAGE_SAN := $(PAGE_SOURCES:%.c=$(BUILD)/san/%.o)

$(DAEMON_PAGE_SAN): override CFLAGS += -D_GNU_SOURCE
$(DAEMON_SAN) $(DAEMON_TEST_SAN): override CFLAGS += -D_GNU_SOURCE \
	-D_FILE_OFFSET_BITS=64 -Idaemon -I. -Itests/lib

$(patsubst %,$(BUILD)/tests/test-daemon-%,$(DAEMON_TESTS)): \
$(BUILD)/tests/test-daemon-%: $(BUILD)/san/tests/daemon/test-%.o \
			      $(BUILD)/san/tests/daemon/recordings.o \
			      $(BUILD)/san/tests/daemon/hostile.o \
			      $(BUILD)/san/tests/daemon/windows.o \
			      $(BUILD)/san/tests/lib/fixture.o \
			      $(DAEMON_SAN) $(DAEMON_PAGE_SAN) \
			      $(LIB_SOURCES:%.c=$(BUILD)/san/%.o)
	@mkdir -p $(@D)
	$(CC) $(SAN) -Wl,--wrap=wire_now -o $@ $^ $(DAEMON_LINK) $(LIB_LINK) -lcmocka

$(BUILD)/tests/daemon/send: tests/daemon/send.c daemon/wire.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -D_GNU_SOURCE -Idaemon -MF $@.d -o $@ $(filter %.c,$^)

-include $(BUILD)/tests/daemon/send.d

# A program that records itself, as far as a fixture can.
$(BUILD)/tests/daemon/record: tests/daemon/record.c tests/daemon/recordings.c \
			      tests/lib/fixture.c $(BUILD)/libhwprof.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -D_GNU_SOURCE -Itests/lib -Wl,--build-id -MF $@.d \
		-o $@ $^ $(LIB_LINK) -lcmocka

$(BUILD)/tests/test-hwprofd: tests/daemon/test-hwprofd.sh $(DAEMON_PROGRAMS) \
			     $(BUILD)/hwprof \
			     $(patsubst %,$(BUILD)/tests/daemon/%,send record)
	@mkdir -p $(@D)
	install $< $@

$(BUILD)/tests/test-push: tests/daemon/test-push.sh tests/daemon/receiver.py \
			  $(DAEMON_PROGRAMS) \
			  $(patsubst %,$(BUILD)/tests/daemon/%,send record)
	@mkdir -p $(@D)
	install $< $@

ifeq ($(DAEMON),yes)
UNIT_TESTS += $(patsubst %,$(BUILD)/tests/test-daemon-%,$(DAEMON_TESTS)) \
	      $(BUILD)/tests/test-hwprofd $(BUILD)/tests/test-push
endif
