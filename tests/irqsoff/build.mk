# SPDX-License-Identifier: GPL-2.0-only
# How long interrupts are off: see tests/irqsoff/run.

IRQSOFF		:= $(BUILD)/tests/irqsoff

IRQSOFF_OBJECTS	:= $(patsubst %.c,$(BUILD)/obj/%.o, \
			$(wildcard tests/irqsoff/*.c tests/irqsoff/scenario/*.c))

$(IRQSOFF_OBJECTS): override CFLAGS += -I. -D_GNU_SOURCE

$(IRQSOFF)/drive: $(IRQSOFF_OBJECTS) \
			$(patsubst %,$(BUILD)/obj/tests/kselftest/%.o, \
				     event device fault text bpf)
	@mkdir -p $(@D)
	$(CC) -o $@ $^ -lpthread

$(IRQSOFF)/guest: tests/irqsoff/guest
	@mkdir -p $(@D)
	install -m 755 $< $@

# The module that measures, in the kernel.
$(IRQSOFF)/irqsoff.ko: tests/irqsoff/probe/irqsoff.c tests/irqsoff/probe/Kbuild
	@mkdir -p $(IRQSOFF)/probe
	cp tests/irqsoff/probe/* $(IRQSOFF)/probe/
	+$(MAKE) -C $$(tests/vm/kernel/get 6.12)/build W=1 KCFLAGS=-Werror \
		M=$(abspath $(IRQSOFF)/probe) modules
	cp $(IRQSOFF)/probe/irqsoff.ko $@

irqsoff-files: $(IRQSOFF)/drive $(IRQSOFF)/guest $(IRQSOFF)/irqsoff.ko

.PHONY: irqsoff-files
