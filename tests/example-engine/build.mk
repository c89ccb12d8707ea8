# SPDX-License-Identifier: GPL-2.0-only
# The engine of docs/adding-an-engine.md.

$(BUILD)/tests/test-example-engine: tests/example-engine/run
	@mkdir -p $(@D)
	install $< $@

UNIT_TESTS += $(BUILD)/tests/test-example-engine
