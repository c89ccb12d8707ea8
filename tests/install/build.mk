# SPDX-License-Identifier: GPL-2.0-only
# The installation of users, and the promises that go with it.

INSTALL_TESTS := $(patsubst %,$(BUILD)/tests/test-%,install completion \
			     man abi permissions \
			     licence docs words rooms)

$(INSTALL_TESTS): $(BUILD)/tests/%: tests/install/%.sh user
	@mkdir -p $(@D)
	install $< $@

# Other rules describe what each object is built from.
$(BUILD)/tests/test-licence: $(BUILD)/libhwprof.so.1
$(BUILD)/tests/test-docs: $(BUILD)/hwprof
$(BUILD)/tests/test-rooms: $(BUILD)/hwprof

$(BUILD)/tests/test-permissions: $(BUILD)/tests/kselftest/test_rights

UNIT_TESTS += $(INSTALL_TESTS)
