#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A machine whose counters have branch records, and lose each interrupt. The
# trial when the module is loaded finds that out, and the source is refused.
. "${0%/*}/tap.sh"

why="the counter of branches does not interrupt"
[ "$(cat $caps/lbr)" != yes ] || {
	skip "a counter without interrupts" "this machine has interrupts"
	finish
	exit
}

cap_says_why()
{
	cat $caps/lbr
	grep -qx "$why" $caps/lbr
}

doctor_says_why()
{
	hwprof doctor | grep "^warn *lbr " | grep "$why"
}

test_ok "caps/lbr says why there is no lbr" cap_says_why
test_ok "so does hwprof doctor" doctor_says_why
test_ok "hwprof record refuses it and says why" \
	says "$why" hwprof record -e loops,lbr -o /tmp/none.data -- true
test_ok "perf_event_open() refuses it" stat_refuses loops,lbr
test_ok "other sources work" \
	hwprof record -e loops,step -o /tmp/step.data -- ./trips
finish
