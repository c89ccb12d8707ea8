# SPDX-License-Identifier: GPL-2.0-only
# The debug kernel, built from Debian's linux-source package.  Sourced by
# ./get, which sets here and version.

# survived FRAGMENT CONFIG: every line of the one is still in the other
survived()
{
	grep CONFIG_ "$1" | while read -r line; do
		case $line in
		*"is not set")
			name=${line#\# } name=${name%% *}
			! grep -q "^$name=" "$2" ;;
		*)	grep -qxF "$line" "$2" ;;
		esac || die "debug.config: this kernel does not accept: $line"
	done
}

compile()
{
	make -C "$1/src" O="$1/out" KCONFIG_ALLCONFIG="$here/debug.config" allnoconfig
	survived "$here/debug.config" "$1/out/.config"
	make -C "$1/out" -j "$(nproc)" vmlinux modules
	make -C "$1/out" run-command KBUILD_RUN_COMMAND="\$(srctree)/scripts/package/install-extmod-build $2/build"
}

debug_kernel()
{
	export KBUILD_BUILD_TIMESTAMP=2020-01-01 KBUILD_BUILD_USER=hwprof KBUILD_BUILD_HOST=vm
	fetch linux-source-6.12 "$version" "$1/work"
	mkdir "$1/work/src"
	say "unpacking it"
	tar -C "$1/work/src" --strip-components=1 -xf "$1/work/usr/src/linux-source-6.12.tar.xz"
	apply_patches "$here/patches/series" "$1/work/src"
	logged "building the debug kernel" "$1/log" compile "$1/work" "$1"
	strip -g -o "$1/vmlinux" "$1/work/out/vmlinux"
	# Modules get their BTF from this one, and reports their lines.
	cp "$1/work/out/vmlinux" "$1/build/vmlinux"
	cp "$1/work/out/include/config/kernel.release" "$1/release"
	mkdir "$1/modules"
	: > "$1/modules/load"
	rm -rf "$1/work"
}
