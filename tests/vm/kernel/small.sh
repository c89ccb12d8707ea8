# SPDX-License-Identifier: GPL-2.0-only
# The small kernels: x86-64, built from Debian's linux-source package with
# small.config and the fragment of their name. Sourced by ./get, which sets here
# and version, after debug.sh.

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

# small_make DIR TARGET...: with the compiler of the kernel, through ccache where
# that is installed
small_make()
{
	work=$1
	shift
	make -C "$source" O="$work/out" -j "$(nproc)" CC="$small_cc" $small_llvm "$@"
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

# choose_tools COMPILER: gcc, or a clang with the rest of its LLVM
choose_tools()
{
	small_cc=$1 small_llvm=
	[ "$1" = gcc ] || small_llvm="LLVM=${1#clang}"
	! command -v ccache > /dev/null || small_cc="ccache $1"
}

small_kernel()
{
	export KBUILD_BUILD_TIMESTAMP=2020-01-01 KBUILD_BUILD_USER=hwprof KBUILD_BUILD_HOST=vm
	export CCACHE_DIR="$cache_root/ccache"
	mkdir -p "$1/work" "$1/modules"
	merge_fragments "$here/small.config" "$here/$small_name.config" \
		> "$1/work/fragment"
	logged "building the kernel $small_name" "$1/log" compile_small "$1/work" "$1"
	strip -g -o "$1/vmlinux" "$1/work/out/vmlinux"
	cp "$1/work/out/include/config/kernel.release" "$1/release"
	: > "$1/modules/load"
	rm -rf "$1/work"
}

# small_entry NAME COMPILER
small_entry()
{
	small_name=$1
	headers_release linux-headers-6.12-cloud-amd64
	source=$(cache_entry "source-$(echo "$version" | cache_hash "$here"/patches/*)" \
		kernel_source)
	key=$( (echo "$version"; "$2" --version) | cache_hash "$here/small.sh" \
		"$here/small.config" "$here/$1.config" "$here"/patches/*)
	choose_tools "$2"
	cache_entry "$1-$key" small_kernel
}
