#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Comments, sentences and lines are as tests/lint-words wants them. Prints TAP.
# usage, in the project's folder: test-words
export LC_ALL=C.UTF-8
. tests/install/tap.sh
lint=tests/lint-words

# words N: prints a sentence of N words.
words()
{
	printf 'This'
	yes ' word' | head -n $(($1 - 1)) | tr -d '\n'
	echo .
}

# paragraph N: prints lines of N characters, with the blanks that join them.
# Sentences are short.
paragraph()
{
	yes 'Some words.' | head -n 100 | paste -sd ' ' | head -c $(($1 - 1)) |
		fold -s -w 60 | sed 's/ *$//'
	echo .
}

# finds TEXT FILE: checks that this is the only complaint about the file.
finds()
{
	! "$lint" "$work/$2" > "$work/found" || return
	cat "$work/found"
	[ "$(wc -l < "$work/found")" = 1 ] &&
		grep -q ":[0-9]*: $1" "$work/found"
}

# passes FILE: checks that there is no complaint about the file.
passes()
{
	"$lint" "$work/$1"
}

for word in Of That What Who So Nor; do
	printf '/* %s things. */\nint a;\n' $word > "$work/$word.c"
	printf '#!/bin/sh\n# %s things.\n' $word > "$work/$word"
	printf '# A comment.\n\n# %s things.\na = 1\n' $word > "$work/$word.py"
	for file in $word.c $word $word.py; do
		check "a comment that opens with $word: $file" \
			finds "comment opens with $word" $file
	done
done
printf '/*\n * Office: that of what.\n */\nchar *s = "/* Of";\n' \
	> "$work/fine.h"
printf '#!/bin/sh\n# Sofa\necho "# a" # b\n' > "$work/fine"

{ echo "/*"; words 41 | fold -s -w 60 | sed 's/^/ * /'; echo " */"; } \
	> "$work/long.c"
words 41 > "$work/long.md"
{ echo "| a | b |"; echo "| --- | --- |"; echo "| a | $(words 41) |"; } \
	> "$work/table.md"
printf '.SH DESCRIPTION\n.BR hwprof (1)\n%s\n' "$(words 40)" > "$work/long.1"
{ words 40; words 40; echo; words 40; echo; echo "    $(words 50)"; } \
	> "$work/fine.md"
for file in long.c long.md table.md long.1; do
	check "a long sentence: $file" finds "sentence of 41 words" $file
done

{ echo "# A"; paragraph 701; } > "$work/paragraph.md"
{ echo "Two items:"; echo; echo "- Short."; echo "- $(paragraph 701)"; } \
	> "$work/item.md"
paragraph 700 > "$work/short.md"
{ paragraph 400; echo; paragraph 400; } > "$work/two.md"
{ echo "Items:"; yes -- "- A short item." | head -n 100; } > "$work/list.md"
{ echo "| a |"; echo "| --- |"; yes "| $(paragraph 800 | paste -sd ' ') |" |
	head -n 100; } > "$work/rows.md"
{ echo '```'; paragraph 800; echo '```'; paragraph 800 | sed 's/^/    /'; } \
	> "$work/code.md"
paragraph 800 > "$work/prose.1"
{ echo "/*"; paragraph 800 | sed 's/^/ * /'; echo " */"; } > "$work/prose.c"
check "a long paragraph" finds "paragraph of 701 characters" paragraph.md
check "a long item of a list" finds "paragraph of 701 characters" item.md
for file in short.md two.md list.md rows.md code.md prose.1 prose.c; do
	check "no long paragraph in $file" passes $file
done

printf '\t%073d\n' 0 > "$work/wide.c"
printf '#!/bin/sh\n\t\t%065d\n' 0 > "$work/wide"
printf '\t%072d\n' 0 > "$work/narrow.c"
printf '\tprintf("%%s: %070d\\n", name);\n' 0 > "$work/message.c"
check "a wide line of C" finds "81 columns" wide.c
check "a wide line of shell" finds "81 columns" wide
for file in fine.h fine fine.md narrow.c message.c; do
	check "nothing is wrong with $file" passes $file
done

# function LINES DEPTH: a function of that many lines, and with nested blocks
function()
{
	echo "static int"; echo "f(int a)"; echo "{"
	seq -f "	if (a == %g) {" $2
	seq -f "	a = (struct s){ .b = { %g } }.b.c;" $(($1 - 4 - 2 * $2))
	yes "	}" | head -n $2
	echo "}"
}

# is_small FILE: the functions of that file are
is_small()
{
	tests/sizes "$work/$1"
}

# is_large TEXT FILE: they are not, and why
is_large()
{
	! tests/sizes "$work/$2" > "$work/out" && grep -q "$1" "$work/out"
}

function 70 3 > "$work/small.c"
function 71 3 > "$work/large.c"
function 70 4 > "$work/deep.c"
check "a function of 70 lines, three blocks deep" is_small small.c
check "a function of 71 lines" is_large ":1: f() has 71 lines" large.c
check "a function four blocks deep" is_large "f() has blocks 4 deep" deep.c
check "functions of the project" tests/sizes

check "the project" "$lint"
finish
