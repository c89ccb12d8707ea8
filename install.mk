# SPDX-License-Identifier: GPL-2.0-only
# Installed files, and their places.
#
# DESTDIR  an empty root to install into; default: none, this machine
# PREFIX   where it will be in there; default: /usr/local
# LIBDIR   where libraries are looked for; default: PREFIX/lib (Debian's own
#          packages: PREFIX/lib/x86_64-linux-gnu)
# UNITDIR  where systemd looks for units; default: PREFIX/lib/systemd/system
# DAEMON   no: without hwprofd, and so without libcurl, libmicrohttpd and SQLite

LIBDIR ?= $(PREFIX)/lib
UNITDIR ?= $(PREFIX)/lib/systemd/system
HWPROF_VERSION = $(shell sed -n 's/^\#define HWPROF_VERSION[^"]*"\(.*\)"/\1/p' lib/hwprof.h)

# Each place: its directory, the files that go there, their mode if not 644.
PLACES := bin lib header uapi pkgconfig man1 man3 completion reader doc \
	  example abi udev sysusers sbin libexec man5 man8 unit config
bin.dir		 = $(PREFIX)/bin
bin.files	:= $(BUILD)/hwprof
bin.mode	:= 755
lib.dir		 = $(LIBDIR)
lib.files	:= $(BUILD)/libhwprof.a $(BUILD)/libhwprof.so.1
header.dir	 = $(PREFIX)/include
header.files	:= lib/hwprof.h
uapi.dir	 = $(PREFIX)/include/linux
uapi.files	:= uapi/linux/hwprof.h
pkgconfig.dir	 = $(LIBDIR)/pkgconfig
pkgconfig.files	:= $(BUILD)/hwprof.pc
man1.dir	 = $(PREFIX)/share/man/man1
man1.files	:= $(wildcard docs/man/*.1)
man3.dir	 = $(PREFIX)/share/man/man3
man3.files	 = $(FUNCTIONS:%=$(BUILD)/man3/%.3)
completion.dir	 = $(PREFIX)/share/bash-completion/completions
completion.files := $(BUILD)/completion/hwprof
reader.dir	 = $(PREFIX)/share/hwprof
reader.files	:= tools/perf-script-hwprof.py
doc.dir		 = $(PREFIX)/share/doc/hwprof
doc.files	:= README.md $(wildcard docs/*.md docs/*.svg)
example.dir	 = $(PREFIX)/share/doc/hwprof/examples
example.files	:= $(wildcard examples/*.c examples/*/*.c)
abi.dir		 = $(PREFIX)/share/doc/hwprof/ABI/testing
abi.files	:= $(wildcard docs/ABI/testing/*)
udev.dir	 = $(PREFIX)/lib/udev/rules.d
udev.files	:= kmod/front/60-hwprof.rules
sysusers.dir	 = $(PREFIX)/lib/sysusers.d
sysusers.files	:= kmod/front/hwprof.conf
sbin.dir	 = $(PREFIX)/sbin
sbin.mode	:= 755
libexec.dir	 = $(PREFIX)/libexec/hwprof
libexec.mode	:= 755
man5.dir	 = $(PREFIX)/share/man/man5
man8.dir	 = $(PREFIX)/share/man/man8
unit.dir	 = $(UNITDIR)
# An example: all keys of /etc/hwprof/hwprofd.conf have defaults.
config.dir	 = $(PREFIX)/share/doc/hwprof/examples
ifeq ($(DAEMON),yes)
sbin.files	:= $(BUILD)/hwprofd
libexec.files	:= $(BUILD)/hwprofd-collect
man5.files	:= $(wildcard docs/man/*.5)
man8.files	:= $(wildcard docs/man/*.8)
unit.files	:= $(BUILD)/system/hwprofd.service \
		   $(BUILD)/system/hwprofd-collect.service \
		   daemon/system/hwprofd.socket
config.files	:= daemon/system/hwprofd.conf daemon/system/hwprofd.rules.yml \
		   daemon/system/hwprofd.dashboard.json
sysusers.files	+= daemon/system/sysusers.d/hwprofd.conf
endif

# Directories that are nobody else's.
OWN_DIRS = $(libexec.dir) $(reader.dir) $(abi.dir) $(dir $(abi.dir)) $(example.dir) $(doc.dir)

# The module's sources, as DKMS wants them.
DKMS_DIR = /usr/src/hwprof-$(HWPROF_VERSION)

# A page for each function, as the pages' NAME has them: those that share one are
# links to it.
NAMES_OF = sed -n '/^\.SH NAME/ { n; s/ \\-.*//; s/,//g; p; }'
FUNCTIONS := $(shell $(NAMES_OF) docs/man/*.3)

$(FUNCTIONS:%=$(BUILD)/man3/%.3) &: $(wildcard docs/man/*.3)
	@rm -rf $(BUILD)/man3
	@mkdir -p $(BUILD)/man3
	cp $^ $(BUILD)/man3
	for page in $(^F); do \
		for name in $$($(NAMES_OF) docs/man/$$page); do \
			[ -e $(BUILD)/man3/$$name.3 ] || \
				echo ".so man3/$$page" > $(BUILD)/man3/$$name.3; \
		done; \
	done

# Made each time, since PREFIX and LIBDIR may be others.
$(BUILD)/hwprof.pc: lib/hwprof.pc.in always
	@mkdir -p $(@D)
	sed -e 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|' \
		-e 's|@VERSION@|$(HWPROF_VERSION)|' $< > $@

# The same, with PREFIX.
$(BUILD)/system/%.service: daemon/system/%.service.in always
	@mkdir -p $(@D)
	sed 's|@PREFIX@|$(PREFIX)|' $< > $@

# The library and the tools, without the module.
user: $(foreach place,$(PLACES),$($(place).files))

$(PLACES:%=install-%): install-%: user
	$(if $($*.files),install -D -m $(or $($*.mode),644) \
		-t $(DESTDIR)$($*.dir) $($*.files))

# The loader's cache is this machine's.
install-user: $(PLACES:%=install-%)
	ln -sf libhwprof.so.1 $(DESTDIR)$(LIBDIR)/libhwprof.so
	$(if $(DESTDIR),,-ldconfig)

install-dkms:
	install -d $(DESTDIR)$(DKMS_DIR)
	cp -r Kbuild kmod uapi $(DESTDIR)$(DKMS_DIR)
	sed 's|#MODULE_VERSION#|$(HWPROF_VERSION)|' kmod/dkms.conf \
		> $(DESTDIR)$(DKMS_DIR)/dkms.conf
	rm $(DESTDIR)$(DKMS_DIR)/kmod/dkms.conf

install: install-user install-module

uninstall-user:
	rm -f $(foreach place,$(PLACES),$(addprefix \
		$(DESTDIR)$($(place).dir)/,$(notdir $($(place).files)))) \
		$(DESTDIR)$(LIBDIR)/libhwprof.so
	for dir in $(OWN_DIRS:%=$(DESTDIR)%); do \
		[ ! -d $$dir ] || rmdir --ignore-fail-on-non-empty $$dir; done
	$(if $(DESTDIR),,-ldconfig)

# After `dkms remove`.
uninstall-dkms:
	rm -rf $(DESTDIR)$(DKMS_DIR)

uninstall: uninstall-user uninstall-module

.PHONY: always user install install-user install-dkms uninstall \
	uninstall-user uninstall-dkms $(PLACES:%=install-%)
