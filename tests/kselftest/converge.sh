#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# --converge: distances grow while a program does the same, and are those asked
# for when its late phase comes. Shares are those of time, also on a machine
# that is late.
. "${0%/*}/tap.sh"
needs step
command -v hwprof > /dev/null || { skip all "no hwprof"; finish; exit; }

EARLY=9000 LATE=3000		# ms of CPU time, not counting bursts
EVENT=loops,burst=20,interval_ms=100
TURNS=$(./converge)		# in a ms

# number FIELD FILE: the first number of this name in a JSON file
number()
{
	grep -oE "\"$1\": [0-9.]+" "$2" | head -n 1 | sed 's/.*: //'
}

# records NAME ARGUMENT...: makes NAME.data and its report
records()
{
	name=$1
	shift
	run hwprof record -q -o "/tmp/$name.data" "$@" -- \
		./converge $TURNS $EARLY $LATE > "/tmp/$name.times" &&
	command hwprof report loops -i "/tmp/$name.data" > "/tmp/$name.txt" \
		2>&1 &&
	command hwprof report loops -i "/tmp/$name.data" --json \
		> "/tmp/$name.json"
}

# lengthened NAME TIMES: distances grew so often, and went back
lengthened()
{
	grep distances: "/tmp/$1.txt"
	[ "$(number lengthened "/tmp/$1.json")" -ge "$2" ] &&
	[ "$(number shortened "/tmp/$1.json")" -ge 1 ] &&
	grep -q "counts are weighed by them" "/tmp/$1.txt" &&
	! grep -q "before and after add up" "/tmp/$1.txt"
}

# shares NAME: those of both loops are those of the phases' times. The overhead
# has a share in the file, too, behind the loops.
shares()
{
	{
		cat "/tmp/$1.times"
		tr -d '"' < "/tmp/$1.json" |
			grep -oE '(function|share): [a-z0-9.]+'
	} | awk '
		NR == 1 { early = $1 / ($1 + $2); late = 1 - early }
		$1 == "function:" { name = $2 }
		$1 == "share:" { share[name] += $2; name = "" }
		function off(a, b) { return a > b ? a - b : b - a }
		END {
			print "early", share["early"], "of", early
			print "late", share["late"], "of", late
			exit off(share["early"], early) > 0.1 ||
			     off(share["late"], late) > 0.1 ||
			     share["early"] + share["late"] > 1.05
		}'
}

# fewer NAME: took less than half of the windows that one each ms makes
fewer()
{
	windows=$(number windows "/tmp/$1.json")
	echo "$windows windows"
	[ "$windows" -gt 100 ] && [ "$windows" -lt $(((EARLY + LATE) / 2)) ]
}

test_ok "a period that converges" records period -e $EVENT -c 1000000 \
	--converge=5%
test_ok "is lengthened" lengthened period 3
test_ok "takes fewer windows" fewer period
test_ok "finds the late phase" shares period
test_ok "a budget that converges" records budget -e $EVENT --budget 10% \
	--converge=5%
test_ok "is lengthened" lengthened budget 1
test_ok "finds the late phase" shares budget

# A mask leaves out events, and no windows. The report tells the mask, too.
masked()
{
	run hwprof record -q -o /tmp/masked.data -c 1000000 --converge=5% \
		-e edges,burst=20,interval_ms=100 --mask kind=cond -- \
		./converge $TURNS 3000 0 &&
	command hwprof report edges -i /tmp/masked.data > /tmp/masked.txt \
		2>&1 || return
	grep -v "^ *[0-9]" /tmp/masked.txt
	grep -q "^distances: .*counts are weighed by them" /tmp/masked.txt &&
	grep -q "^events were left out by the mask kind=cond\$" \
		/tmp/masked.txt &&
	! grep -q "have changed" /tmp/masked.txt
}
test_ok "converges with a mask" masked

# others CHANGE: somebody else's change ends it, and the report says so
others()
{
	./converge $TURNS 8000 0 & program=$!
	command hwprof record -q -o /tmp/others.data -e $EVENT -c 1000000 \
		--converge=5% -p $program 2> /tmp/others.log & recorder=$!
	until command hwprof ctl -p $recorder | grep -q " $recorder "; do
		usleep 10000
	done
	usleep 300000
	until command hwprof ctl -p $recorder "$@"; do
		usleep 10000
	done
	wait $recorder || return
	cat /tmp/others.log
	grep -q "converges no more" /tmp/others.log &&
	command hwprof report loops -i /tmp/others.data 2>&1 |
		grep -q "before and after add up"
}
test_ok "changes of others" others period=3000000
test_ok "masks of others" others --mask kind=branch

top()
{
	command hwprof top --converge=5% -e loops,burst=20 -c 1000000 -j \
		-d 0.2 -- ./converge $TURNS $EARLY $LATE > /tmp/top.json ||
		return
	grep '"lengthened"' /tmp/top.json | tail -n 1
	grep -q '"lengthened": [1-9]' /tmp/top.json
}
test_ok "top converges" top

# refuses SENTENCE ARGUMENT...
refuses()
{
	sentence=$1
	shift
	command hwprof record -q -o /tmp/refused.data --converge "$@" -- true \
		> /tmp/refused 2>&1
	status=$?
	cat /tmp/refused
	[ $status = 2 ] && grep -q "$sentence" /tmp/refused
}
test_ok "refuses what sees everything" refuses "sees everything" -e loops,step
test_ok "refuses samples" refuses "gives samples" -e ranges,sample,rows=0
test_ok "refuses values" refuses "cannot converge" -e values,burst=4
test_ok "refuses productions" refuses "exclude each other" \
	-e loops,burst=20 --when 'call(to=f)' --then stop
finish
