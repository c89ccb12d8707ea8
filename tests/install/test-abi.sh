#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The library's binary interface: all that the header has and nothing else, and
# still what programs were linked with that were made with the first release.
# Prints TAP.
# usage, in the project's folder: test-abi
stored=lib/libhwprof.abi
. tests/install/tap.sh

# compatible ABI: succeeds if this interface has the stored one unchanged. It
# may have additions.
compatible()
{
	abidiff --no-added-syms "$stored" "$1"
}

# incompatible ABI: succeeds if abidiff finds a change (bit 3: incompatible, bit
# 2: to be reviewed) and did not fail itself (bits 0 and 1).
incompatible()
{
	compatible "$1"
	status=$?
	[ $((status & 3)) = 0 ] && [ $((status & 12)) != 0 ]
}

# changed NAME SCRIPT: checks that the stored interface, changed by sed's
# SCRIPT, is incompatible.
changed()
{
	sed "$2" "$stored" > "$work/$1.abi"
	! cmp -s "$stored" "$work/$1.abi" || { echo "nothing was changed"; \
		return 1; }
	incompatible "$work/$1.abi"
}

# without FUNCTION: checks that a library of the same objects without this
# function is incompatible.
without()
{
	sed "s/local:/local: $1;/" lib/libhwprof.map > "$work/map"
	cc -shared -Wl,-soname,libhwprof.so.1 -Wl,--version-script="$work/map" \
		-o "$work/libhwprof.so.1" -Wl,--whole-archive \
		build/libhwprof.a \
		-Wl,--no-whole-archive $(pkg-config --libs libdw libelf \
		capstone libzstd) -lm &&
	incompatible "$work/libhwprof.so.1"
}

# The library must export the functions of the header and nothing else. Each has
# the version of the first release or of a later one.
all_and_no_more()
{
	nm -D --defined-only --with-symbol-versions build/libhwprof.so.1 |
		sed -n 's/.* T \(.*\)@@LIBHWPROF_[0-9.]*$/\1/p' | sort > \
			"$work/exported"
	echo '#include <hwprof.h>' | cc -Iuapi -Ilib -E -P -x c - |
		grep -oE '\b(hwprof|rap)_[a-z0-9_]+\(' | tr -d '(' |
		sort -u > "$work/declared"
	[ -s "$work/exported" ] && diff "$work/declared" "$work/exported"
}

check "exported is what the header has" all_and_no_more
check "compatible with the first release" compatible build/libhwprof.so.1
check "the stored one is the first release's" grep -q \
	"soname='libhwprof.so.1'" \
	"$stored"

# Changes that abidiff must find.
check "a function is missing" without rap_free
check "a struct has grown" changed grown \
	"/class-decl name='hwprof_sample'/s/size-in-bits='[0-9]*'/size-in-bits='4096'/"
check "a field has moved" changed moved \
	"/class-decl name='hwprof_event'/,/class-decl>/s/layout-offset-in-bits='192'/layout-offset-in-bits='224'/"
check "an enumerator has another value" changed enumerator \
	"s/\(enumerator name='HWPROF_VALUE_STRIDE' value=\)'3'/\1'7'/"
finish
