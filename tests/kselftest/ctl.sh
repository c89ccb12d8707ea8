#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# hwprof ctl on a recording that runs.
. "${0%/*}/tap.sh"
needs step
command -v hwprof > /dev/null || { skip all "no hwprof"; finish; exit; }

# begin ARGUMENT...: records ./spin until end() is called
begin()
{
	rm -f /tmp/ctl.end
	./spin & spin=$!
	command hwprof record -q -o /tmp/ctl.data "$@" -p $spin -- sh -c \
		'until [ -e /tmp/ctl.end ]; do usleep 10000; done' & recorder=$!
	until command hwprof ctl -p $recorder | grep -q " $recorder "; do
		usleep 10000
	done
	session=$(command hwprof ctl -p $recorder | awk 'NR > 1 { print $1 }')
}

end()
{
	: > /tmp/ctl.end
	wait $recorder
	status=$?
	kill -KILL $spin
	wait $spin
	[ $status = 0 ]
}

# lists PATTERN: what ctl says of the session
lists()
{
	command hwprof ctl -p $recorder > /tmp/ctl.list
	cat /tmp/ctl.list
	grep -q -- "$1" /tmp/ctl.list
}

changes()
{
	lists "loops *step .* 200 *1 % *0 *-$" &&
		command hwprof ctl "$session" budget=5% burst=64 &&
		lists " 64 *5 % *1 *-$" &&
		command hwprof ctl -p $recorder budget=2.5% &&
		lists " 64 *2.5 % *2 *-$"
}

json()
{
	command hwprof ctl --json > /tmp/ctl.json
	cat /tmp/ctl.json
	grep -q '"budget_permille": 25' /tmp/ctl.json &&
		grep -q "\"owner\": $recorder" /tmp/ctl.json &&
		grep -q '"changes": 2' /tmp/ctl.json &&
		grep -q '"mask": null' /tmp/ctl.json &&
		grep -q '"command": "hwprof"' /tmp/ctl.json
}

others_see_none()
{
	su user -c "hwprof ctl" | grep "no session that you may change"
}

# Changes are in the rows, and the account holds.
reports()
{
	end && accounted /tmp/ctl.data || return
	command hwprof report loops -i /tmp/ctl.data > /tmp/ctl.report 2>&1
	tail -5 /tmp/ctl.report
	grep -q "mask of session $session have changed 2 times, from " \
		/tmp/ctl.report
}

begin -e loops,burst=200 --budget 1%
test_ok "list and change" changes
test_ok "list as JSON" json
test_ok "no frequency" says "has a period: change period, not freq" \
	command hwprof ctl "$session" freq=10
test_ok "no such session" says "there is no session 4000000000" \
	command hwprof ctl 4000000000 burst=10
chmod 666 /dev/hwprof
test_ok "of another user" says "session $session is not yours to change" \
	su user -c "hwprof ctl $session burst=10"
test_ok "another user sees none" others_see_none
test_ok "the recording says it" reports

begin -e ranges,sample -F 1000
test_ok "a frequency" command hwprof ctl "$session" freq=200
test_ok "is listed" lists " 200 Hz .* 1 *-$"
test_ok "no period" says "has a frequency: change freq, not period" \
	command hwprof ctl "$session" period=1000
test_ok "no bursts" says "takes no bursts" \
	command hwprof ctl "$session" burst=20
test_ok "no budget" says "has no budget" \
	command hwprof ctl "$session" budget=2%
test_ok "it ends" end

test_ok "a process without sessions" says "process $$ has no session" \
	command hwprof ctl -p $$ burst=10
finish
