#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Exports of recordings that the module made: none is empty, and the values of
# each add up to those of the report.
. "${0%/*}/tap.sh"

needs step
rest_is_no_news
work=/tmp/export
mkdir -p $work

# reported SECTION KEY: sums the first KEY of each row of a section of the JSON
reported()
{
	sed -n "/^ *\"$1\": \\[/,/^ *\\],*\$/p" $work/json |
		sed -n "s/^[^:]*:.*\"$2\": \\([0-9]*\\)[,}].*/\\1/p" |
		awk '{ sum += $1 } END { print sum + 0 }'
}

# folded: sums the values behind the stacks
folded()
{
	awk '{ sum += $NF } END { print sum + 0 }' $work/folded
}

# weights FILE NAME: sums an array of numbers in a file of JSON
weights()
{
	sed -n "s/.*\"$2\":\\[\\([0-9,]*\\)\\].*/\\1/p" "$1" | tr , '\n' |
		awk '{ sum += $1 } END { print sum + 0 }'
}

# callgrind COLUMN
callgrind()
{
	awk -v column="$1" '$1 == "totals:" { print $(column + 1) }' \
		$work/callgrind
}

# has_names FILE...: its tables have the program's name
has_names()
{
	for file; do
		grep -q trips "$file" && continue
		echo "$file: no name of the program"
		return 1
	done
}

# adds_up KIND SECTION KEY COLUMN: KIND is the event; the value that viewers
# show first is KEY in JSON, and has this COLUMN of callgrind's.
adds_up()
{
	kind=$1 want=
	hwprof record -q -e "$kind,step" -o $work/data -- ./trips || return
	hwprof report "$kind" -i $work/data --json > $work/json || return
	want=$(reported "$2" "$3")
	for format in folded speedscope firefox callgrind pprof otlp; do
		hwprof export "$kind" $work/data -f $format -o $work/$format ||
			return
	done
	gunzip -c < $work/pprof > $work/pprof.plain
	got="$(folded) $(weights $work/speedscope weights)"
	got="$got $(weights $work/firefox weight) $(callgrind $4)"
	echo "report: $want; folded, speedscope, firefox, callgrind: $got"
	[ "$want" -gt 0 ] && [ "$got" = "$want $want $want $want" ] &&
		has_names $work/pprof.plain $work/otlp
}

# Compilers' formats have the program's branches, each as often as the report.
compilers()
{
	hwprof record -q -e edges,step -o $work/data -- ./trips || return
	for format in bolt autofdo-text llvm-profgen llvm-perfscript; do
		hwprof export $work/data -f $format --binary ./trips \
			-o $work/$format || return
		[ -s $work/$format ] || return
	done
	hwprof report edges -i $work/data --json > $work/json
	want=$(reported branches led)
	got=$(awk '$1 == "B" { sum += $4 } END { print sum + 0 }' $work/bolt)
	text=$(sed -n 's/.*->.*:\([0-9]*\)$/\1/p' $work/autofdo-text |
	       awk '{ sum += $1 } END { print sum + 0 }')
	echo "led: $want; bolt: $got; autofdo-text: $text"
	[ "$want" -gt 0 ] && [ "$got" = "$want" ] && [ "$text" = "$want" ]
}

test_ok "loops" adds_up loops loops iterations 2
test_ok "calls" adds_up calls pairs least 1
test_ok "contexts" adds_up cct contexts branches 2
test_ok "paths" adds_up paths paths branches 2
test_ok "values" adds_up values loads executions 1
test_ok "edges" adds_up edges branches taken 1
test_ok "compilers' formats" compilers
finish
