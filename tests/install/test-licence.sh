#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Licences: the LGPL must allow all parts of the library, the texts must be
# there, and debian/copyright must agree with the files. Prints TAP.
# usage, in the project's folder: test-licence
export LC_ALL=C.UTF-8
. tests/install/tap.sh

# Prints each file with the licence that its first lines name.
licences='
FNR == 1 { printf "%s%s ", line, FILENAME; line = "\n" }
FNR <= 3 && sub(/.*SPDX-License-Identifier: */, "") {
	sub(/[^a-z0-9]*$/, "")
	printf "%s", $0
	nextfile
}
FNR > 3 { nextfile }
END { print "" }'

# licence FILE: prints the licence that its first lines name.
licence()
{
	awk "$licences" "$1" | cut -d " " -f 2-
}

# sources OBJECT...: prints the files of the project that the objects were made
# from. The compiler lists them in the .d files.
sources()
{
	for object in "$@"; do
		cat "${object%.o}.d" || return
	done | tr ' \\' '\n\n' | grep -v '^/' | grep '\.[chS]$' |
		xargs realpath --relative-to=. | sort -u
}

# written FILE: prints the file that this one is made from, or the file itself.
written()
{
	case $1 in
	build/gen/*.pb-c.[ch]) echo "lib/export/$(basename "${1%.pb-c.?}").proto" ;;
	*) echo "$1" ;;
	esac
}

# allows_lgpl FILE: succeeds if the file may be part of the library.
allows_lgpl()
{
	case " $(licence "$(written "$1")") " in
	*" LGPL-2.1-or-later "* | *" BSD-2-Clause "*) ;;
	*) echo "$1 is $(licence "$(written "$1")")"; return 1 ;;
	esac
}

library_is_lgpl()
{
	objects=$(make -s print-library-objects) || return
	# The archive must consist of the objects that the makefile lists.
	[ "$(ar t build/libhwprof.a | sort)" = \
	  "$(printf '%s\n' $objects | sed 's|.*/||' | sort)" ] || return
	sources $objects > "$work/sources"
	[ "$(grep -c '\.c$' "$work/sources")" -ge "$(echo "$objects" | wc -w)" \
		] ||
		return
	wrong=
	while read -r file; do
		allows_lgpl "$file" || wrong=1
	done < "$work/sources"
	[ ! "$wrong" ]
}

# allows_lgpl must refuse files of the module and the tools.
tells_gpl()
{
	! allows_lgpl kmod/session.c && ! allows_lgpl tools/record.c &&
		allows_lgpl lib/live/session.c
}

# Prints the files of the project, each with its licence.
files_of_project()
{
	find kmod lib uapi tools examples tests Kbuild Makefile install.mk \
		-type f \( -name '*.[chS]' -o -name '*.sh' -o -name '*.py' -o \
		-name '*.mk' -o -name Makefile -o -name Kbuild \) ! -path \
		'*/build/*' -exec awk "$licences" {} +
}

each_has_one()
{
	files_of_project | awk 'NF < 2' > "$work/none"
	cat "$work/none"
	[ ! -s "$work/none" ]
}

texts_are_there()
{
	files_of_project | cut -d " " -f 2- |
		sed 's/ OR /\n/g; s/GPL-2.0\n/GPL-2.0-only\n/; s/GPL-2.0$/GPL-2.0-only/' | sort -u > "$work/names"
	grep -q . "$work/names" || return
	while read -r name; do
		[ -s "LICENSES/$name.txt" ] || { echo "no text of $name"; \
			return 1; }
	done < "$work/names"
	for text in LICENSES/*.txt; do
		grep -qx "$(basename "$text" .txt)" "$work/names" ||
			{ echo "nothing is under $text"; return 1; }
	done
}

# copyright_files LICENCE: prints the files of the paragraph of debian/copyright
# with this licence.
copyright_files()
{
	awk -v "RS=" -v "wanted=License: $1" 'index($0 "\n", wanted "\n")' \
		debian/copyright |
		sed -n \
			'/^Files:/,/^Copyright:/{ /^Copyright/d; s/^Files://; p }' |
		while read -r pattern; do
			find . -path "./$pattern" -type f | sed 's|^\./||'
		done | sort -u
}

debian_agrees()
{
	files_of_project | sed -n 's/ GPL-2.0-only OR LGPL-2.1-or-later$//p' |
		sort -u > "$work/both"
	copyright_files "GPL-2 or LGPL-2.1+" > "$work/debian"
	diff "$work/both" "$work/debian" || return
	copyright_files "LGPL-2.1+" | grep '\.[ch]$' > "$work/debian"
	[ -s "$work/debian" ] || return
	! awk "$licences" $(cat "$work/debian") | grep -v ' LGPL-2.1-or-later$'
}

check "the library is of files that the LGPL allows" library_is_lgpl
check "a file of the module's own would be found" tells_gpl
check "each file names its licence" each_has_one
check "the text of each licence is there, and no other" texts_are_there
check "debian/copyright agrees" debian_agrees
finish
