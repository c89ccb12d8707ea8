# SPDX-License-Identifier: GPL-2.0-only
# Everything at once, for long: see tests/soak/run.

SOAK		:= $(BUILD)/tests/soak
SECONDS		?=
SOAK_OBJECTS	:= $(patsubst %,$(BUILD)/obj/tests/soak/%.o,soak storm)

$(SOAK_OBJECTS): override CFLAGS += -I. -D_GNU_SOURCE

$(SOAK)/soak: $(SOAK_OBJECTS) $(EVENT_OBJECTS)
	@mkdir -p $(@D)
	$(CC) -o $@ $^ -lpthread

$(SOAK)/%: tests/soak/%
	@mkdir -p $(@D)
	install -m 755 $< $@

$(SOAK)/tap.sh $(SOAK)/known: $(SOAK)/%: $(KSELFTEST)/%
	@mkdir -p $(@D)
	install -m 755 $< $@

soak-files: $(addprefix $(SOAK)/,soak guest tap.sh known)

TEST_PROGRAMS += soak-files

# make soak SECONDS=120; the default is an hour. Hostile input runs at the same
# time, in a VM of its own.
SOAK_SECONDS	= $(or $(SECONDS),3600)

soak:
	@tests/vm/install build rig
	@$(MAKE) -s soak-files kfuzz-files $(BUILD)/debug/hwprof.ko \
		$(BUILD)/debug-kcov/hwprof.ko
	@$(MAKE) -s -j2 soak-storm soak-kfuzz

soak-storm:
	@tests/soak/run $(SOAK_SECONDS)

soak-kfuzz:
	@tests/kfuzz/run $(SOAK_SECONDS)

.PHONY: soak-files soak soak-storm soak-kfuzz
