# SPDX-License-Identifier: GPL-2.0-only
# Builds the module for each kernel that tests run on, and for the running one.
# Kbuild leaves its files beside the sources, so each kernel gets a copy of them.

KMOD_SOURCES := Kbuild $(shell find kmod uapi -type f)
VM_KERNEL_LIST := tests/vm/kernel/kernels
kernels_of_tier = $(shell awk '$$4 == "$(1)" { print $$1 }' $(VM_KERNEL_LIST))
VM_KERNELS := $(call kernels_of_tier,first)
# The module is built for these kernels when a test asks for it.
VM_OTHER_KERNELS := $(call kernels_of_tier,second)
ALL_KERNELS := $(VM_KERNELS) $(VM_OTHER_KERNELS)

# $(call copy_sources,directory of the module)
define copy_sources
	@mkdir -p $(1)
	cp -rpu Kbuild kmod uapi $(1)/
endef

# $(call build_module,directory of the module,kernel's build directory,...)
define build_module
	$(copy_sources)
	+tests/vm/kernel/at-one-path $(1) $(MAKE) -C $(2) W=1 KCFLAGS=-Werror $(3) modules
endef

$(ALL_KERNELS:%=$(BUILD)/%/hwprof.ko): $(BUILD)/%/hwprof.ko: $(KMOD_SOURCES)
	$(call build_module,$(@D),$$(tests/vm/kernel/get $*)/build)

# The module for the debug kernel, instrumented for kcov.
$(BUILD)/debug-kcov/hwprof.ko: $(KMOD_SOURCES)
	$(call build_module,$(@D),$$(tests/vm/kernel/get debug)/build,KCOV_INSTRUMENT=y)

# Fails if sparse says anything, or if files of the module call each other in a
# circle: the objects tell more than the sources.
$(ALL_KERNELS:%=sparse-%): sparse-%:
	@rm -rf $(BUILD)/sparse-$*
	$(call build_module,$(BUILD)/sparse-$*,$$(tests/vm/kernel/get $*)/build,C=2) \
		> $(BUILD)/sparse-$*.log 2>&1 || { cat $(BUILD)/sparse-$*.log; exit 1; }
	@! grep -E '(warning|error):|C=2 specified, but' $(BUILD)/sparse-$*.log
	@tests/rooms $$(find $(BUILD)/sparse-$*/kmod -name '*.o')

KDIR ?= /lib/modules/$(shell uname -r)/build

module: $(KMOD_SOURCES)
	@test -e $(KDIR)/Makefile || { \
		echo "no headers of the running kernel in $(KDIR):" \
		     "apt-get install linux-headers-$$(uname -r)," \
		     "or name another kernel's: make KDIR=..." >&2; exit 1; }
	$(call copy_sources,$(BUILD)/running)
	+$(MAKE) -C $(KDIR) M=$(abspath $(BUILD)/running) W=1 KCFLAGS=-Werror modules

# The release of the kernel that the headers belong to. MAKEFLAGS is cleared, because
# the call must run even under make -n.
kernel_release = $$(MAKEFLAGS= $(MAKE) -s --no-print-directory -C $(KDIR) \
			kernelrelease)

# Tells modprobe which modules exist. Kbuild does not do it if headers come without
# System.map, as Debian's do. depmod is not in the PATH of everybody who becomes root.
depmod = PATH="$$PATH:/sbin:/usr/sbin" depmod -a

install-module: module
	$(MAKE) -C $(KDIR) M=$(abspath $(BUILD)/running) \
		INSTALL_MOD_PATH=$(DESTDIR) modules_install
	$(if $(DESTDIR),,release=$(kernel_release) && $(depmod) $$release)

# Uninstalls from the same kernel. Without its headers nothing can be installed.
uninstall-module:
	if [ -e $(KDIR)/Makefile ]; then \
		release=$(kernel_release) && \
		updates=$(DESTDIR)/lib/modules/$$release/updates && \
		rm -f $$updates/hwprof.ko* && \
		{ [ ! -d $$updates ] || \
		  rmdir --ignore-fail-on-non-empty $$updates; } \
		$(if $(DESTDIR),,&& $(depmod) $$release); fi

.PHONY: module install-module uninstall-module $(ALL_KERNELS:%=sparse-%)
