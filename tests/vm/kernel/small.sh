# SPDX-License-Identifier: GPL-2.0-only
# The small kernels: x86-64, built from Debian's linux-source package with
# small.config and a fragment of their own. ./get and ./make-small source this
# file after cache.sh, apt.sh, debian.sh and debug.sh, and set here.

# merge_fragments FILE...: their options, of each the last word
merge_fragments()
{
	cat "$@" | awk '
	match($0, /CONFIG_[A-Z0-9_]+/) && (/^CONFIG_/ || /is not set$/) {
		line[substr($0, RSTART, RLENGTH)] = $0
	}
	END { for (name in line) print line[name] }' | sort
}

# The unpacked source, which all of them share.
kernel_source()
{
	fetch linux-source-6.12 "$version" "$1/work"
	say "unpacking it"
	tar -C "$1" --strip-components=1 -xf "$1/work/usr/src/linux-source-6.12.tar.xz"
	rm -rf "$1/work"
	apply_patches "$here/patches/series" "$1"
}

# small_make DIR TARGET...: with the compiler of the kernel, through ccache
# where that is installed
small_make()
{
	work=$1
	shift
	make -C "$source" O="$work/out" -j "$(nproc)" CC="$small_cc" \
		$small_llvm "$@"
}

configure()
{
	mkdir -p "$1/out"
	small_make "$1" KCONFIG_ALLCONFIG="$1/fragment" allnoconfig
	survived "$1/fragment" "$1/out/.config"
}

compile_small()
{
	configure "$1"
	small_make "$1" vmlinux modules
	small_make "$1" run-command KBUILD_RUN_COMMAND="\$(srctree)/scripts/package/install-extmod-build $2/build"
}

# Prepare what compiles modules, without a kernel: symbols stay unknown.
prepare_small()
{
	configure "$1"
	small_make "$1" modules_prepare
	force_off "$1/out" "$small_fragment"
}

# force_off DIR FRAGMENT: take options for off when modules are built there.
force_off()
{
	sed -n 's/^#! CONFIG_//p' "$2" | while read -r name; do
		sed -i "/CONFIG_$name\>/d" "$1/include/config/auto.conf" \
			"$1/include/generated/autoconf.h"
	done
}

# choose_tools COMPILER: gcc, or a clang with the rest of its LLVM
choose_tools()
{
	small_cc=$1 small_llvm=
	[ "$1" = gcc ] || small_llvm="LLVM=${1#clang}"
	! command -v ccache > /dev/null || small_cc="ccache $1"
}

small_environment()
{
	export KBUILD_BUILD_TIMESTAMP=2020-01-01
	export KBUILD_BUILD_USER=hwprof KBUILD_BUILD_HOST=vm
	export CCACHE_DIR="$cache_root/ccache"
	mkdir -p "$1"
	merge_fragments "$here/small.config" "$small_fragment" > "$1/fragment"
}

small_kernel()
{
	small_environment "$1/work"
	mkdir "$1/modules"
	logged "building the kernel $small_name" "$1/log" compile_small "$1/work" "$1"
	strip -g -o "$1/vmlinux" "$1/work/out/vmlinux"
	cp "$1/work/out/include/config/kernel.release" "$1/release"
	: > "$1/modules/load"
	rm -rf "$1/work"
}

small_headers()
{
	small_environment "$1"
	logged "preparing headers of $small_name" "$1/log" prepare_small "$1"
	ln -s out "$1/build"
}

# small_entry kernel|headers NAME COMPILER FRAGMENT: print a directory with the
# kernel, or with no more than what compiles modules for it
small_entry()
{
	small_name=$2 small_fragment=$4
	headers_release linux-headers-6.12-cloud-amd64
	key=$(echo "$version" | cache_hash "$here"/patches/*)
	source=$(cache_entry "source-$key" kernel_source)
	key=$( (echo "$version $1"; "$3" --version) | cache_hash "$here/small.sh" \
		"$here/small.config" "$4" "$here"/patches/*)
	choose_tools "$3"
	cache_entry "$2-$key" "small_$1"
}
