#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The project has no circle and no arrow up but those of tests/rooms.todo, and
# tests/rooms finds both. Prints TAP. usage, in the project's folder: test-rooms
. tests/install/tap.sh
rooms=$PWD/tests/rooms

# file PATH: from standard input, in a project of its own
file()
{
	mkdir -p "$work/project/$(dirname "$1")" && cat > "$work/project/$1"
}

# finds TEXT OBJECT...: what it says of that project
finds()
{
	text=$1
	shift
	(cd "$work/project" && ! "$rooms" "$@" > ../found) &&
		grep -qF "$text" "$work/found"
}

# Each case has a project that begins empty.
circle_of_includes()
{
	rm -rf "$work/project"
	echo '#include "b.h"' | file lib/a.h
	echo '#include "c.h"' | file lib/b.h
	echo '#include "a.h"' | file lib/c.h
	finds 'includes: lib/a.h lib/b.h lib/c.h'
}

arrow_up()
{
	rm -rf "$work/project"
	echo '#include "../session.h"' | file kmod/engine/loop.c
	: | file kmod/session.h
	finds 'up: kmod/engine/loop.c -> kmod/session.h'
}

circle_of_symbols()
{
	rm -rf "$work/project"
	echo 'void b(void); void a(void) { b(); }' | file lib/a.c
	echo 'void a(void); void b(void) { a(); }' | file lib/b.c
	(cd "$work/project" && mkdir -p build/lib &&
		cc -c -o build/lib/a.o lib/a.c &&
		cc -c -o build/lib/b.o lib/b.c) &&
		finds 'symbols: lib/a.c lib/b.c' build/lib/a.o build/lib/b.o
}

symbol_up()
{
	rm -rf "$work/project"
	echo 'void b(void); void a(void) { b(); }' | file lib/base/a.c
	echo 'void b(void) { }' | file lib/replay/b.c
	(cd "$work/project" && mkdir -p build/lib/base build/lib/replay &&
		cc -c -o build/lib/base/a.o lib/base/a.c &&
		cc -c -o build/lib/replay/b.o lib/replay/b.c) &&
		finds 'uses: lib/base/a.c -> lib/replay/b.c' \
			build/lib/base/a.o build/lib/replay/b.o
}

one_name()
{
	rm -rf "$work/project"
	printf 'static int\nfind(struct a *a,\n\tint b)\n{\n}\n' |
		file kmod/a.c
	printf 'static void *find(void)\n{\n\tfind();\n}\n' | file kmod/b.c
	printf 'void find(void)\n{\n}\n' | file kmod/source/arm64/b.c
	finds 'names: find kmod/a.c kmod/b.c'
}

one_word()
{
	rm -rf "$work/project"
	printf 'static int find(struct a *a)\n{\n}\n' | file kmod/a.c
	printf 'static int b_find(struct a *a)\n{\n}\n' | file kmod/b.c
	finds 'word: find kmod/a.c' && ! grep -q b_find "$work/found"
}

# All but e_find() fit: by the file's name, by c.h, or by what c.h defines.
no_noun()
{
	rm -rf "$work/project"
	printf 'struct d {\n};\nvoid c_get(void);\n' | file kmod/c.h
	printf 'struct e {\n};\nvoid e_get(void);\n' | file kmod/e.h
	{
		printf 'static void %s_find(void)\n{\n}\n' a bs e
		printf 'void c_get(void)\n{\n}\n'
		printf 'static void d_put(void)\n{\n}\n'
	} | file kmod/a_b.c
	finds 'noun: kmod/a_b.c e_find' &&
		[ "$(grep -c ^noun: "$work/found")" -eq 1 ]
}

# Each line of the list is still needed.
list_is_minimal()
{
	rm -rf "$work/project"
	echo 'up: lib/a.c -> tools/a.h' | file tests/rooms.todo
	finds 'has what is gone: up: lib/a.c -> tools/a.h'
}

project()
{
	"$rooms" $(find build/obj/lib build/obj/tools build/obj/kmod \
		-name '*.o')
}

check "finds a circle of includes" circle_of_includes
check "finds an arrow that runs up" arrow_up
check "finds files that call each other" circle_of_symbols
check "finds a use of a higher room's symbol" symbol_up
check "finds two functions of one name" one_name
check "finds a function without a prefix" one_word
check "finds a function without a noun of its file" no_noun
check "finds what the list has in vain" list_is_minimal
check "the project's own" project
finish
