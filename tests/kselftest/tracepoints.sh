#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The tracepoints of rows: each row that is delivered hits one, with its counts.
. "${0%/*}/tap.sh"
needs step

tracing=/sys/kernel/tracing
[ -d $tracing/events ] || mount -t tracefs none $tracing 2> /dev/null
[ -d $tracing/events/hwprof ] || {
	echo "1..0 # SKIP no tracefs"
	exit 0
}
data=/tmp/trace.data

# traced COMMAND...: runs it while all of hwprof's tracepoints are on
traced()
{
	echo > $tracing/trace
	echo 1 > $tracing/events/hwprof/enable
	"$@"
	status=$?
	echo 0 > $tracing/events/hwprof/enable
	grep hwprof_ $tracing/trace > /tmp/rows.trace
	head -n 5 /tmp/rows.trace
	return $status
}

# sum EVENT FIELD: over all hits of the tracepoint
sum()
{
	grep "hwprof_$1: " /tmp/rows.trace | sed -n "s/.* $2=\([0-9]*\).*/\1/p" |
		awk '{ sum += $1 } END { print sum + 0 }'
}

# last FIELD: of the last totals
last()
{
	grep "hwprof_totals: " /tmp/rows.trace | sed -n "s/.* $1=\([0-9]*\).*/\1/p" |
		tail -n 1
}

# is WHAT EXPECTED SEEN
is()
{
	echo "$1: expected $2, got $3"
	[ "$2" = "$3" ]
}

# adds_up PROFILE EVENT FIELD: what was traced is what was delivered
adds_up()
{
	traced hwprof record -q -e "$1,step" -o $data -- ./known || return
	[ "$(last delivered)" -gt 0 ] &&
		is "$1" "$(last delivered)" "$(sum $2 $3)"
}

known_loops()
{
	traced hwprof record -q -e loops,step -o $data -- ./known &&
		is "back edges" 9999 "$(sum loop back_edges)" &&
		is "delivered" 9999 "$(last delivered)"
}

all_profiles()
{
	adds_up calls call calls &&
		adds_up paths path count &&
		adds_up values value loads &&
		adds_up ranges range count &&
		adds_up cct context calls
}

# Edges whose end was not seen are counted, and are no units.
edges()
{
	traced hwprof record -q -e edges,step -o $data -- ./known || return
	grep -v ' end=0x0 ' /tmp/rows.trace > /tmp/ended
	mv /tmp/ended /tmp/rows.trace
	is edges "$(last delivered)" "$(sum edge count)"
}

# The device's own rings. Their tests check what is in them.
rings()
{
	traced ./test_ring > /tmp/ring || return
	echo "$(sum loop back_edges) back edges"
	[ "$(sum loop back_edges)" -ge 9999 ]
}

# A session that nobody listens to hits none.
off()
{
	echo > $tracing/trace
	hwprof record -q -e loops,step -o $data -- ./known &&
		! grep hwprof_ $tracing/trace
}

test_ok "loops: the known counts" known_loops
test_ok "calls, paths, values, ranges, contexts: what was delivered" all_profiles
test_ok "edges" edges
test_ok "rings of the device" rings
test_ok "off: nothing is traced" off
finish
