#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Checks where `make install` puts each file, and that it can be used there.
# Prints TAP.
# usage, in the project's folder: test-install
recording=tests/fuzz/seeds/fuzz-perfdata/hwprof
. tests/install/tap.sh
root=$work/root
prefix=/opt/hwprof
libdir=$prefix/lib/$(cc -print-multiarch)
version=$(sed -n 's/^#define HWPROF_VERSION[^"]*"\(.*\)"/\1/p' lib/hwprof.h)

# in_root TARGET...: runs make with the folders to install to.
in_root()
{
	make -s "$@" DESTDIR="$root" PREFIX=$prefix LIBDIR="$libdir"
}

# files: lists all installed files, without directories.
files()
{
	(cd "$root" && find . ! -type d | sort)
}

# pkgconf OPTION...: runs pkg-config on the installed library.
pkgconf()
{
	PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_PATH=$root$libdir/pkgconfig \
		pkg-config "$@" hwprof
}

# builds NAME OPTION-OF-PKG-CONFIG COMPILER...: builds reads.c as the program
# NAME with the installed library.
builds()
{
	out=$1 options=$2
	shift 2
	"$@" -Wall -Wextra -Werror -o "$work/$out" tests/install/reads.c \
		$(pkgconf $options --cflags) -x none $(pkgconf $options --libs)
}

# counts PROGRAM: checks that it counts at least as many rows as hwprof reports,
# and prints the version of hwprof.
counts()
{
	rows=$(build/hwprof report loops --json -i $recording |
		python3 -c \
			'import json, sys; print(json.load(sys.stdin)["totals"]["rows"])')
	said=$(LD_LIBRARY_PATH=$root$libdir "$work/$1" $recording) || return
	echo "$said; hwprof: $rows rows"
	[ "${said#*, }" = "hwprof $version" ] && [ "${said%% *}" -ge "$rows" ]
}


check "make install-user" in_root install-user
files > "$work/once"
check "make install-user again" in_root install-user
files > "$work/twice"
check "the same as before" diff "$work/once" "$work/twice"
check "files in all places" sh -c '
	for file; do
		[ -s "$0/$file" ] || { echo "no $file"; exit 1; }
	done' "$root" $prefix/bin/hwprof "$libdir/libhwprof.a" \
	"$libdir/libhwprof.so.1" "$libdir/libhwprof.so" \
	$prefix/include/hwprof.h $prefix/include/linux/hwprof.h \
	"$libdir/pkgconfig/hwprof.pc" $prefix/share/man/man1/hwprof.1 \
	$prefix/share/bash-completion/completions/hwprof \
	$prefix/share/hwprof/perf-script-hwprof.py \
	$prefix/share/doc/hwprof/device.md $prefix/share/doc/hwprof/README.md \
	$prefix/lib/udev/rules.d/60-hwprof.rules \
	$prefix/lib/sysusers.d/hwprof.conf
if [ "$(make -s print-daemon)" = yes ]; then
	check "the daemon's files" sh -c 'for file; do
			[ -s "$0/$file" ] || { echo "no $file"; exit 1; }
		done' "$root" $prefix/sbin/hwprofd \
		$prefix/libexec/hwprof/hwprofd-collect \
		$prefix/lib/systemd/system/hwprofd.service \
		$prefix/lib/systemd/system/hwprofd-collect.service \
		$prefix/lib/systemd/system/hwprofd.socket \
		$prefix/share/doc/hwprof/examples/hwprofd.dashboard.json \
		$prefix/share/man/man8/hwprofd.8 \
		$prefix/share/man/man5/hwprofd.conf.5 \
		$prefix/lib/sysusers.d/hwprofd.conf
	check "a unit starts what is installed" grep -q \
		"^ExecStart=$prefix/sbin/hwprofd$" \
		"$root$prefix/lib/systemd/system/hwprofd.service"
fi
check "nothing knows where it was made" sh -c \
	'! grep -rlF -e "$0" "$1"/opt/hwprof/lib/*/pkgconfig \
		"$1/opt/hwprof/share"' "$work" "$root"
check "the program runs" "$root$prefix/bin/hwprof" --version

check "C, shared" builds shared "" cc
check "C, shared, runs" counts shared
check "C, shared, by its soname" sh -c 'readelf -d "$0" |
	grep "NEEDED.*libhwprof.so.1"' "$work/shared"
check "C, static" builds static --static cc -static
check "C, static, runs" counts static
check "C, static, needs nothing" sh -c '! readelf -d "$0" | grep NEEDED' \
	"$work/static"
check "C++, shared" builds shared++ "" c++ -x c++
check "C++, shared, runs" counts shared++
check "C++, static" builds static++ --static c++ -static -x c++
check "C++, static, runs" counts static++
check "pkg-config's version" [ "$(pkgconf --modversion)" = "$version" ]

# The mode in the rule of udev may only have permissions that the module's own
# mode has, and none for other users.
mode=$(sed -n 's/.*MODE="\(0[0-7]*\)".*/\1/p' kmod/front/60-hwprof.rules)
module=$(sed -n 's/^\t\.mode\t*= \(0[0-7]*\),/\1/p' kmod/front/chardev.c)
group=$(sed -n 's/^g \([a-z]*\) .*/\1/p' kmod/front/hwprof.conf)
check "the rule of udev widens nothing" \
	[ $((mode & ~module)):$((mode & 7)):$((${#mode} + ${#module})) = 0:0:8 ]
check "its group is made" grep "GROUP=\"$group\"" kmod/front/60-hwprof.rules

check "make install-dkms" in_root install-dkms
sources=$root/usr/src/hwprof-$version
check "DKMS has the version" grep "^PACKAGE_VERSION=\"$version\"" \
	"$sources/dkms.conf"
check "DKMS has all sources" sh -c 'cd "$0" &&
	ls $(grep -oE "kmod/[a-z0-9_/]+\.o" Kbuild | sed "s/o$/c/")' "$sources"
# DKMS builds for the kernels of the table, and for none after the newest.
kernels=$(sed '/^#/d' tests/vm/kernel/kernels | awk '{ print $3 }' | sort -uV)
newest=$(echo "$kernels" | tail -1)
after=${newest%.*}.$((${newest#*.} + 1))
check "DKMS has the kernels of the table" bash -c '. "$0"
	for version in $1; do
		for release in $version $version.0-1-amd64 $version-rc1; do
			echo "$release" | grep -E "$BUILD_EXCLUSIVE_KERNEL" || exit
		done
	done
	! echo "$2.0-1-amd64" | grep -E "$BUILD_EXCLUSIVE_KERNEL"' \
	"$sources/dkms.conf" "$kernels" "$after"
check "one version everywhere" sh -c '
	grep "^MODULE_VERSION(\"$0\");" kmod/main.c &&
	grep "^hwprof ($0) " debian/changelog &&
	for page in docs/man/*.[13]; do
		grep "^\.TH .* \"hwprof $0\" \|^\.so " "$page" ||
			{ echo "$page has another one"; exit 1; }
	done' "$version"

mkdir -p "$root$prefix/share/doc/other"
echo "of another package" > "$root$prefix/share/doc/other/file"
check "make uninstall" in_root uninstall-user uninstall-dkms
files > "$work/left"
check "nothing is left but others'" [ "$(cat "$work/left")" = \
	".$prefix/share/doc/other/file" ]
check "not even a folder" [ "$(find "$root" -name "hwprof*")" = "$root$prefix" ]
finish
