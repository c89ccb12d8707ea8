# SPDX-License-Identifier: GPL-2.0-only
# The debug kernels, built from Debian's linux-source package.  Sourced by
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
	cat "$here/debug.config" "$here/debug-$architecture.config" > "$1/fragment"
	make -C "$1/src" O="$1/out" KCONFIG_ALLCONFIG="$1/fragment" allnoconfig
	survived "$1/fragment" "$1/out/.config"
	make -C "$1/out" -j "$(nproc)" "$image" modules
	# HOSTCC: the modules are built on this machine, whatever they run on.
	install="\$(srctree)/scripts/package/install-extmod-build"
	make -C "$1/out" run-command \
		KBUILD_RUN_COMMAND="HOSTCC=\$(CC) $install $2/build"
}

debug_kernel()
{
	export KBUILD_BUILD_TIMESTAMP=2020-01-01
	export KBUILD_BUILD_USER=hwprof KBUILD_BUILD_HOST=vm
	fetch linux-source-6.12 "$version" "$1/work"
	mkdir "$1/work/src"
	say "unpacking it"
	tar -C "$1/work/src" --strip-components=1 -xf "$1/work/usr/src/linux-source-6.12.tar.xz"
	apply_patches "$here/patches/series" "$1/work/src"
	logged "building the debug kernel for $architecture" "$1/log" compile "$1/work" "$1"
	"keep_$architecture" "$1/work/out" "$1"
	cp "$1/work/out/include/config/kernel.release" "$1/release"
	mkdir "$1/modules"
	: > "$1/modules/load"
	rm -rf "$1/work"
}

keep_amd64()
{
	strip -g -o "$2/vmlinux" "$1/vmlinux"
	# Modules get their BTF from this one, and reports their lines.
	cp "$1/vmlinux" "$2/build/vmlinux"
}

debug_amd64_kernel()
{
	architecture=amd64 image=vmlinux
	debug_kernel "$1"
}

keep_arm64()
{
	cp "$1/arch/arm64/boot/Image" "$2/Image"
	# A build of a module need not know that it is for another machine.
	sed -i "1i ARCH := $ARCH\nCROSS_COMPILE := $CROSS_COMPILE" "$2/build/Makefile"
}

debug_arm64_kernel()
{
	architecture=arm64 image=Image
	export ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu-
	debug_kernel "$1"
}
