#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Several kinds of one event, recorded by hwprof. Each report must equal that of
# an event with this kind alone, and paths have their contexts.
. "${0%/*}/tap.sh"

needs step
data=/tmp/hwprof.data

all=loops,calls,paths,cct

# said KIND FILE: prints a report up to its totals
said()
{
	hwprof report "$1" -i "$2" --full-path |
		sed '1s/^[^:]*: //; / events, /,$d'
}

as_alone()
{
	hwprof record -q -o $data.all -e $all -- ./trips || return
	for kind in loops calls paths cct; do
		hwprof record -q -o $data -e $kind -- ./trips || return
		said $kind $data > /tmp/alone
		said $kind $data.all > /tmp/together
		[ -s /tmp/alone ] && diff -u /tmp/alone /tmp/together || return
	done
	cat /tmp/together
}

# 630,000 back edges and ends of each inner; likewise for middle, outer and
# _start.
account()
{
	hwprof record -q -o $data -e $all -- ./trips &&
		hwprof report loops -i $data > /tmp/report || return
	cat /tmp/report
	grep -E '^1,620,00. units of loops, calls, cct and paths = 1,620,00. delivered \+ 0 lost \+ 0 evicted \+ 0 pending$' \
		/tmp/report
}

in_contexts()
{
	hwprof record -q -o $data -e paths,cct -- ./trips &&
		hwprof report paths -i $data --contexts -n 4 > /tmp/report ||
		return
	cat /tmp/report
	[ "$(grep -c '100.00%  .*  trips > outer > middle > inner$' \
		/tmp/report)" = 3 ] &&
		grep '100.00%  30,000  trips > outer > middle$' /tmp/report &&
		! grep 'not known' /tmp/report
}

has_json()
{
	hwprof record -q -o $data -e paths,cct -- ./trips &&
		hwprof report paths -i $data --json > /tmp/json || return
	grep -A1 '"chain": "trips;outer;middle;inner"' /tmp/json |
		grep '"count": 450000'
}

# Each iteration of inner's loop has three instructions.
instructions()
{
	hwprof record -q -o $data -e loops,paths -- ./trips &&
		hwprof report loops -i $data --instructions --function inner \
			--json > /tmp/json || return
	grep '"share_of": "instructions"' /tmp/json || return
	tr , '\n' < /tmp/json | awk -F : '
		$1 == "\"iterations\"" { iterations = $2 }
		$1 == "\"instructions\"" { instructions = $2 }
		END { print instructions, iterations
		      exit !iterations || instructions != 3 * iterations }'
}

# refused EVENT WORDS: checks the refusal, which is one sentence
refused()
{
	! hwprof record -q -o $data -e "$1" -- ./trips 2> /tmp/message ||
		return
	cat /tmp/message
	[ "$(wc -l < /tmp/message)" = 1 ] && grep -q "$2" /tmp/message
}

refusals()
{
	refused loops,values 'only these can be in one event' &&
		refused paths,cct,burst=100 cct &&
		refused paths,cct,lbr cct &&
		refused loops,calls,sample sample
}

test_ok "together: the account is of all" account
test_ok "together: paths in contexts" in_contexts
test_ok "together: instructions of loops by their paths" instructions
rest_is_no_news
test_ok "together: as in events of their own" as_alone
test_ok "together: paths in contexts, JSON" has_json
test_ok "together: what is refused" refusals
finish
