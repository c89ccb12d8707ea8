# SPDX-License-Identifier: GPL-2.0-only
# The program that vm --forward runs in the guest.

$(BUILD)/relay: tests/vm/guest/relay.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -D_GNU_SOURCE -MF $@.d -o $@ $<

-include $(BUILD)/relay.d
