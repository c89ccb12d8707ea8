#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Manual pages: one for each function of the library, with what the header has,
# and examples that compile. Prints TAP.
# usage, in the project's folder: test-man [HEADER]
header=$(readlink -f "${1:-lib/hwprof.h}")
export LC_ALL=C.UTF-8 MANPATH=build MANWIDTH=200
unset MANPAGER MANOPT
. tests/install/tap.sh

# prototypes: prints each function of the header, followed by its declaration
# without blanks.
prototypes()
{
	echo "#include \"$header\"" | cc -Iuapi -E -x c - |
		awk -v "header=\"$header\"" \
			'/^#/ { ours = $3 == header; next } ours' |
		tr '\n\t;{}' '  \n\n\n' | grep -v '^ *typedef' |
		sed -nE \
			's/^[^(]*[ *]((hwprof|rap)_[a-z0-9_]+)\(.*\) *$/\1\n&/p' |
		while read -r function && read -r declaration; do
			echo "$function $(echo "$declaration;" |
				tr -d ' ' | sed 's/_Bool/bool/g')"
		done
}

# documented FUNCTION PROTOTYPE: checks that the function has a manual page with
# this prototype and the usual sections.
documented()
{
	man 3 "$1" > "$work/page" || return
	tr -d ' \n' < "$work/page" > "$work/packed"
	grep -qF "$2" "$work/packed" || { echo "the page lacks $2"; return 1; }
	for section in DESCRIPTION "RETURN VALUE" EXAMPLES "SEE ALSO"; do
		grep -qx "$section" "$work/page" ||
			{ echo "the page lacks $section"; return 1; }
	done
}

# only_of_header NAME: checks that all functions which a page names are in the
# header.
only_of_header()
{
	for function in $(man 3 "$1" | grep -oE '\b(hwprof|rap)_[a-z0-9_]+\(' |
			  tr -d '('); do
		grep -qx "$function" "$work/functions" ||
			{ echo "$function() is not in $header"; wrong=1; }
	done
	[ ! "$wrong" ]
}

# silent PAGE: checks that groff has no complaint about the page.
silent()
{
	man --warnings -E UTF-8 -l -Tutf8 -Z "$1" 2>&1 > "$work/typeset" |
		grep . > "$work/warnings"
	cat "$work/warnings"
	[ -s "$work/typeset" ] && [ ! -s "$work/warnings" ]
}

# compiles PAGE: checks that the page's example compiles.
compiles()
{
	sed -n '/^\.EX/,/^\.EE/p' "$1" |
		sed '/^\.E[XE]/d; s/\\-/-/g; s/\\e/\\/g;
		s/\\(aq/'"'"'/g; s/\\(ha/^/g; s/\\(ti/~/g; s/^\\&//' \
		> "$work/example.c"
	grep . "$work/example.c" > "$work/lines" || { echo "none"; return 1; }
	cc -std=gnu11 -Wall -Wextra -Werror -Wno-unused-parameter -Iuapi \
		-I"$(dirname "$header")" -c -o "$work/example.o" \
		"$work/example.c"
}

prototypes > "$work/prototypes"
cut -d ' ' -f 1 "$work/prototypes" > "$work/functions"
check "functions in the header" [ "$(wc -l < "$work/functions")" -ge 40 ]
while read -r function prototype; do
	check "$function(3)" documented "$function" "$prototype"
done < "$work/prototypes"

for page in docs/man/*.3; do
	name=$(basename "$page" .3)
	wrong=
	check "$name(3), no other functions" only_of_header "$name"
	check "$name(3), its example" compiles "$page"
done
for page in build/man3/*.3; do
	name=$(basename "$page" .3)
	[ "$name" = hwprof ] || grep -qx "$name" "$work/functions" ||
		check "$name(3): a page without its function" false
done
for page in docs/man/*.[13]; do
	check "$(basename "$page"), typeset" silent "$page"
done
finish
