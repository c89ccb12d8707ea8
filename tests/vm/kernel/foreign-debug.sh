# SPDX-License-Identifier: GPL-2.0-only
# A debug kernel that another release of Debian builds, from its source package.
# Sourced by ./get after debug.sh and foreign.sh.

# newest_source: set package and version to those of the newest source whose
# package is called $package
newest_source()
{
	pattern=$(echo "$package" | sed 's/[.+]/\\&/g; s/\*/.*/')
	package=$(apt-cache pkgnames | grep -x "$pattern" | sort -V | tail -n 1)
	[ "$package" ] || die "$suites have no such source any more: change the" \
		"line in tests/vm/kernel/kernels, as docs/kernels.md says"
	version=$(apt-cache show --no-all-versions "$package" |
		sed -n 's/^Version: //p')
}

# without FILE: what is read, without the options that FILE names
without()
{
	sed -n 's/^#! \(CONFIG_[A-Z0-9_]*\)$/^(# )?\1[= ]/p' "$1" > "$1.names"
	grep -vEf "$1.names"
	rm "$1.names"
}

# write_enter DIR: the folder DIR/build, in which ./enter runs commands in the
# other release
write_enter()
{
	mkdir -p "$1/build/place" "$1/build/headers"
	ln -s "$tools" "$1/build/root"
	cp "$here/enter" "$1/build"
}

# compile_there WORK BUILD: the kernel in WORK/src, into WORK/out, by the other
# release's compiler
compile_there()
{
	mkdir -p "$1/out" "$1/tmp"
	there="$2/enter $1 env TMPDIR=/module/tmp make -C /module/src O=/module/out"
	$there KCONFIG_ALLCONFIG=/module/fragment allnoconfig
	survived "$1/fragment" "$1/out/.config"
	$there -j "$(nproc)" vmlinux modules
	install='$(srctree)/scripts/package/install-extmod-build /module/build'
	$there run-command KBUILD_RUN_COMMAND="$install"
}

# keep_there WORK DIR: what boots, and what builds modules for it
keep_there()
{
	strip -g -o "$2/vmlinux" "$1/out/vmlinux"
	mkdir -p "$2/build/headers/usr/src"
	mv "$1/build" "$2/build/headers/usr/src/linux"
	cp "$2/vmlinux" "$2/build/headers/usr/src/linux"
	printf '%s\n' "modules clean:" \
		"	+@\"\$(CURDIR)/enter\" \"\$(M)\" make -C /usr/src/linux M=/module \$@" \
		".PHONY: modules clean" > "$2/build/Makefile"
	cp "$1/out/include/config/kernel.release" "$2/release"
	mkdir "$2/modules"
	: > "$2/modules/load"
}

foreign_debug_kernel()
{
	export KBUILD_BUILD_TIMESTAMP=2020-01-01
	export KBUILD_BUILD_USER=hwprof KBUILD_BUILD_HOST=vm
	private_apt "$1/apt" deb amd64 $(echo "$suites" | tr , ' ')
	newest_source
	fetch "$package" "$version" "$1/work"
	mkdir "$1/work/src"
	say "unpacking it"
	tar -C "$1/work/src" --strip-components=1 -xf "$1/work/usr/src/$package.tar.xz"
	# memcmp() is used at the entry from PVH, before KASAN has its memory.
	echo "KASAN_SANITIZE_string.o := n" >> "$1/work/src/lib/Makefile"
	cp "$here/debug-7.3.config" "$1/work/changes"
	cat "$here/debug.config" "$here/debug-amd64.config" |
		without "$1/work/changes" > "$1/work/fragment"
	grep -v '^#' "$here/debug-7.3.config" >> "$1/work/fragment" || :
	write_enter "$1"
	logged "building $package with the checkers" "$1/log" \
		compile_there "$1/work" "$1/build"
	keep_there "$1/work" "$1"
	rm -rf "$1/work" "$1/apt"
}
