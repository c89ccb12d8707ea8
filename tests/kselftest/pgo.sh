#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# hwprof pgo: what it records, when it ends, what it says of it. Exact profiles
# equal the exports of a recording; those of branch records or bursts are of the
# same branches.
. "${0%/*}/tap.sh"

needs step
rest_is_no_news
work=/tmp/pgo
mkdir -p $work
case $(cat $caps/lbr) in
yes) source=lbr ;;
*) source=step ;;
esac

# said PATTERN...: checks what the last command printed
said()
{
	for pattern; do
		grep -qe "$pattern" $work/out && continue
		echo "nothing of: $pattern"
		return 1
	done
}

# pgo STATUS ARGUMENT...: runs it with an empty folder
pgo()
{
	expected=$1
	shift
	rm -rf $work/profiles
	hwprof pgo -o $work/profiles "$@" > $work/out 2>&1
	status=$?
	cat $work/out
	[ $status = "$expected" ]
}

# Branches that a profile for BOLT has, of the program: B FROM TO COUNT MISSES.
taken_in()
{
	awk '$1 == "B" { sum += $4 } END { print sum + 0 }' "$1"
}

exact()
{
	pgo 0 --exact -f bolt,llvm-profgen,autofdo-text -- ./known &&
		said 'known: [0-9,]* taken branches, each of them' || return
	hwprof record -q -e edges,step -o $work/data -- ./known || return
	for format in bolt llvm-profgen autofdo-text; do
		hwprof export $work/data -f $format --binary ./known \
			-o $work/exported || return
		for file in $work/profiles/*; do
			cmp -s $work/exported "$file" && continue 2
		done
		echo "$format: not what export writes"
		return 1
	done
	[ "$(taken_in $work/profiles/*.bolt)" -gt 9999 ]
}

# on_spin ARGUMENT...: of a program that runs already
on_spin()
{
	./spin & pid=$!
	pgo 0 "$@" -p $pid
	status=$?
	kill $pid
	wait $pid
	return $status
}

# It ends by itself, with what was asked for, and few branches are few. It looks
# once a second, in which branch records, or a busy machine, give more.
ends()
{
	on_spin -n 1000 --budget 50% -f bolt || return
	taken=$(taken_in $work/profiles/*.bolt)
	echo "$taken branches"
	few='warning: .*spin: [0-9,]* taken branches are few.*record longer'
	# It counts branches that end outside the program, too.
	count=$(sed -n 's/.*spin, \([0-9,]*\) taken branches$/\1/p' $work/out |
		tr -d ,)
	[ "$count" -ge 20000 ] || said "$few" || return
	[ "$taken" -ge 900 ] && [ "$(ls $work/profiles | wc -l)" = 1 ]
}

# The build of a program that runs already is known, too.
knows_build()
{
	on_spin -n 1000 --budget 50% -f bolt --binary ./spin &&
		ls $work/profiles | grep -xE '[0-9a-f]{16,}\.bolt'
}

# A wrong binary is refused before anything is recorded.
wrong_binary()
{
	on_spin -D 600 --binary /no/such
	[ $? != 0 ] && said "--binary '/no/such': No such file"
}

# Without a limit, as long as it is told to. A busy machine may have no burst in
# a second.
lasts()
{
	on_spin -n 0 -D 4 --budget 20% && [ "$(ls $work/profiles | wc -l)" = 3 ]
}

# Its command goes on when there is enough, and its status is the result.
command_goes_on()
{
	pgo 3 -n 1 --budget 100% -- \
		sh -c './trips; ./trips; echo over; exit 3' &&
		said '^over$' '\.bolt: .*, [1-9][0-9]* taken branches'
}

# The source is the one that the machine has. A session's folder comes a moment
# after the session counts.
chooses()
{
	sessions 0
	./spin & pid=$!
	command hwprof pgo -o $work/profiles -n 0 -D 3 -p $pid \
		> $work/out 2>&1 & pgo=$!
	until grep -h . /sys/class/misc/hwprof/sessions/*/source \
			> $work/session 2> $work/unseen; do
		kill -0 $pgo || break
		usleep 10000
	done
	kill $pid
	wait
	cat $work/out $work/session
	grep -qx $source $work/session
}

# A burst or branch records may have seen some branches of it.
too_short()
{
	hwprof pgo -o $work/profiles -- true > $work/out 2>&1
	status=$?
	cat $work/out
	case $status in
	0) said 'taken branches are few' ;;
	1) said 'no taken branch was seen: run it longer' ;;
	*) return 1 ;;
	esac
}

test_ok "exact profiles are those of a recording" exact
test_ok "ends when there are enough" ends
test_ok "knows the build of what runs" knows_build
test_ok "a binary that is not there" wrong_binary
test_ok "lasts as long as it is told to" lasts
test_ok "a command goes on" command_goes_on
test_ok "takes what the machine has" chooses
test_ok "too short a program" too_short
finish
