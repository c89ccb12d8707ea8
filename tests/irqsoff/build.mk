# SPDX-License-Identifier: GPL-2.0-only
# How long interrupts are off: see tests/irqsoff/run.

IRQSOFF		:= $(BUILD)/tests/irqsoff

$(BUILD)/obj/tests/irqsoff/drive.o: override CFLAGS += -I. -D_GNU_SOURCE

$(IRQSOFF)/drive: $(BUILD)/obj/tests/irqsoff/drive.o \
			$(patsubst %,$(BUILD)/obj/tests/kselftest/%.o, \
				     event device fault text)
	@mkdir -p $(@D)
	$(CC) -o $@ $^ -lpthread

$(IRQSOFF)/guest: tests/irqsoff/guest
	@mkdir -p $(@D)
	install -m 755 $< $@

irqsoff-files: $(IRQSOFF)/drive $(IRQSOFF)/guest

TEST_PROGRAMS += irqsoff-files

.PHONY: irqsoff-files
