# SPDX-License-Identifier: GPL-2.0-only
# The module, for each kernel that tests run on, and for the running one.
# Kbuild leaves its files beside the sources, so each kernel has a copy of them.

KMOD_SOURCES := Kbuild $(shell find kmod uapi -type f)
VM_KERNELS := 6.1 6.12 debug

# $(call build_module,directory of the module,kernel's build directory)
define build_module
	@mkdir -p $(1)
	cp -rpu Kbuild kmod uapi $(1)/
	$(MAKE) -C $(2) M=$(abspath $(1)) W=1 KCFLAGS=-Werror modules
endef

$(VM_KERNELS:%=$(BUILD)/%/hwprof.ko): $(BUILD)/%/hwprof.ko: $(KMOD_SOURCES)
	$(call build_module,$(@D),$$(tests/vm/kernel/get $*)/build)

KDIR ?= /lib/modules/$(shell uname -r)/build
module: $(KMOD_SOURCES)
	$(call build_module,$(BUILD)/running,$(KDIR))

.PHONY: module
