#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# hwprof top, stat and script, and the examples, on programs with known loops.
. "${0%/*}/tap.sh"
needs step

examples=../../examples
cgroup=/sys/fs/cgroup/hwprof-live

# Back edges of `known`.
BACK=9999

output_is()
{
	pattern=$1
	shift
	"$@" > /tmp/live.out 2>&1
	status=$?
	cat /tmp/live.out
	[ $status = 0 ] && grep -qe "$pattern" /tmp/live.out
}

# sees COMMAND...: runs it with a longer time as its last argument until it
# succeeds. With 1 % of the time, a slow or busy machine takes few bursts, or
# none.
sees()
{
	for seconds in 2 4 8 16 32 64; do
		"$@" $seconds && return
	done
	return 1
}

# fails STATUS PATTERN COMMAND...
fails()
{
	expected=$1 pattern=$2
	shift 2
	"$@" > /tmp/live.out 2>&1
	status=$?
	cat /tmp/live.out
	[ $status = "$expected" ] && grep -qe "$pattern" /tmp/live.out
}

stat_is_right()
{
	output_is "9,999  back edges" hwprof stat -- ./known &&
		grep -q '9,999    delivered' /tmp/live.out &&
		grep -q ' 0    lost' /tmp/live.out &&
		hwprof stat --json -o /tmp/stat.json -- ./known &&
		grep -q '"produced": 9999,' /tmp/stat.json &&
		grep -q '"units": "back edges"' /tmp/stat.json
}

# The rows of a recording add up to the count of stat.
script_sums()
{
	hwprof record -q -o /tmp/live.data -- ./known || return
	hwprof script /tmp/live.data > /tmp/script
	cat /tmp/script
	sum=$(sed -n 's/.* loop .* back_edges=\([0-9]*\) .*/\1/p' /tmp/script |
	      awk '{ sum += $1 } END { print sum }')
	[ "$sum" = $BACK ] && grep -q ' totals .* produced=9999 ' /tmp/script &&
		hwprof script --json -i /tmp/live.data > /tmp/script.json &&
		[ "$(wc -l < /tmp/script)" = "$(wc -l < /tmp/script.json)" ] &&
		grep -q '"head": "0x10000005"' /tmp/script.json
}

# One table after each interval, and one at the end.
top_tables()
{
	./spin & pid=$!
	hwprof top -e loops,step -d 0.5 -D 1.2 -p $pid > /tmp/top 2>&1
	status=$?
	kill $pid
	wait $pid
	cat /tmp/top
	! grep -q "$(printf '\033')" /tmp/top && [ $status = 0 ] &&
		[ "$(grep -c 'known_inner' /tmp/top)" -ge 2 ] &&
		[ "$(grep -c '^share\|^ share' /tmp/top)" -ge 2 ]
}

# The table of each kind, once.
top_kinds()
{
	for kind in loops ranges calls cct paths values; do
		hwprof top -e $kind -d 100 -- ./known > /tmp/top 2>&1 || return
		cat /tmp/top
		grep -q " = .* delivered + 0 lost" /tmp/top || return
	done
	hwprof top -e loops --json -d 100 -- ./known > /tmp/top.json &&
		grep -q '"back_edges_seen": 9800' /tmp/top.json
}

# Counts before the last table are not in the next one.
top_zero()
{
	./spin & pid=$!
	hwprof top -e loops,step -z -d 0.5 -D 2.2 -p $pid > /tmp/top 2>&1
	status=$?
	kill $pid
	wait $pid
	cat /tmp/top
	[ $status = 0 ] && [ "$(grep -c known_inner /tmp/top)" -ge 2 ]
}

# top ends with the command, and returns its status.
top_command()
{
	hwprof top -d 100 -- sh -c './known; exit 3' > /tmp/top
	status=$?
	cat /tmp/top
	[ $status = 3 ] && grep -q known_inner /tmp/top
}

# One of them runs on each CPU.
top_cpu()
{
	pids=
	for i in $(seq "$(nproc)"); do
		./spin & pids="$pids $!"
	done
	output_is 'known_inner' hwprof top -e loops,step -C 0 -D 1 -n 5
	status=$?
	kill $pids
	wait $pids
	return $status
}

in_cgroup()
{
	# The kernel gives children controllers only on request.
	echo +pids > /sys/fs/cgroup/cgroup.subtree_control
	mkdir -p $cgroup || return
	sh -c 'while :; do ./known; done' & pid=$!
	echo $pid > $cgroup/cgroup.procs
	hwprof top -e loops,step -G ${cgroup##*/} -D 1 > /tmp/top
	status=$?
	cat /tmp/top
	[ $status = 0 ] && grep -q known_inner /tmp/top &&
		hwprof record -q -e loops,step -o /tmp/live.data -G $cgroup -D \
			1 &&
		hwprof report loops -i /tmp/live.data > /tmp/report
	status=$?
	cat /tmp/report
	kill $pid
	wait $pid
	[ $status = 0 ] && grep -q known_inner /tmp/report
}

# The program makes no system calls, so only a switch can find it. Another one
# runs on its CPU, which is not in the cgroup.
cgroup_of_running()
{
	mkdir -p $cgroup || return
	taskset 1 ./spin & pid=$!
	taskset 1 ./spin & other=$!
	echo $pid > $cgroup/cgroup.procs
	sleep 1
	hwprof record -q -e loops,step -o /tmp/live.data -G $cgroup -D 2 &&
	hwprof script --json /tmp/live.data > /tmp/script
	status=$?
	kill $pid $other
	wait $pid $other
	cat /tmp/script
	[ $status = 0 ] && grep '"type": *"loop"' /tmp/script > /tmp/rows &&
	! grep -v "\"pid\": $pid\>" /tmp/rows
}

# -D ends a recording, and -C limits it to CPUs.
record_options()
{
	./spin & pid=$!
	hwprof record -q -e loops,step -o /tmp/live.data -D 1 -p $pid
	status=$?
	kill $pid
	wait $pid
	[ $status = 0 ] && hwprof report loops -i /tmp/live.data > /tmp/report \
		&&
		cat /tmp/report && grep -q known_inner /tmp/report &&
		hwprof record -q -e loops,step -o /tmp/live.data -C 0 -D 0.5 \
			-- taskset 1 ./spin
	[ $? = 143 ] && hwprof script /tmp/live.data > /tmp/script &&
		grep -q ' totals ' /tmp/script
}

# Runs "$@" for $seconds on a running program.
on_running()
{
	./spin & pid=$!
	"$@" -D ${seconds:-1.5} -p $pid > /tmp/live.out 2>&1
	status=$?
	kill $pid
	wait $pid
	cat /tmp/live.out
	return $status
}

windows_in()
{
	seconds=$1
	on_running hwprof record -o /tmp/live.data &&
		hwprof script /tmp/live.data > /tmp/script &&
		grep -q 'windows=[1-9]' /tmp/script
}

# A running program is stepped only on request.
others_are_spared()
{
	seconds=
	for command in "record -o /tmp/live.data" top stat; do
		# A slow machine may take no burst in this time.
		on_running command hwprof $command || return
		! grep -q 'is stepped' /tmp/live.out &&
			grep -q 'a burst of 200 branches costs' /tmp/live.out ||
			return
		on_running hwprof $command -e loops,step || return
		grep -q \
			'each program that is .* is stepped.*times slower.*hwprof .* -e loops,burst=200' /tmp/live.out ||
			return
	done
	sees windows_in &&
		fails 2 "would step programs that run already" \
			hwprof record -o /tmp/live.data -e hwprof/loops,rows/u \
			-p 1 &&
		fails 2 "would step programs that run already" \
			hwprof stat -e hwprof/loops/u -p 1 &&
		fails 2 "would step programs that run already.*each thing" \
			hwprof record -o /tmp/live.data -e loops,cct -a -- true
}

own_is_told()
{
	output_is './known is stepped, .*times slower; .* hwprof record -e loops,burst=200' \
		hwprof record -o /tmp/live.data -- ./known &&
		output_is './known is stepped' hwprof stat -- ./known &&
		hwprof stat --json -- ./known 2> /tmp/stat.json &&
		! grep -q stepped /tmp/stat.json &&
		! hwprof record -q -o /tmp/live.data -- ./known 2>&1 | grep . &&
		! command hwprof record -q -o /dev/null -- ./known 2>&1 |
			grep . &&
		! hwprof record -o /tmp/live.data -- ./nosuch 2>&1 |
			grep -q stepped &&
		! hwprof stat -- ./nosuch 2>&1 | grep -q stepped
}

# Without udev everybody may open the device. Otherwise the message tells who
# may.
not_permitted()
{
	chmod 600 /dev/hwprof
	fails 1 "for root alone" su user -c "hwprof stat -- true" &&
		chgrp nogroup /dev/hwprof && chmod 660 /dev/hwprof &&
		fails 1 "root and the group nogroup" \
			su user -c "hwprof stat -- true"
	result=$?
	chgrp root /dev/hwprof
	chmod 666 /dev/hwprof
	return $result
}

refusals()
{
	fails 1 "there is no process\|No such process" hwprof top -p \
		2147483646 &&
		fails 1 "CPUs '0-'" hwprof stat -C 0- &&
		fails 1 "CPU 99 is not online: 0" hwprof record -C 99 \
			-o /tmp/none.data &&
		fails 1 "cgroup 'none'" hwprof stat -G none &&
		fails 127 "nosuch: command not found" hwprof stat -- nosuch &&
		fails 127 "nosuch: command not found" hwprof record \
			-o /tmp/none.data -- ./nosuch &&
		fails 1 "source sees (possible with step, step,burst=200)" hwprof stat \
			-e values,lbr -- ./known &&
		fails 1 "source sees (possible with step, step,burst=200)" hwprof record \
			-o /tmp/none.data -e hwprof/values,lbr,rows/u -- \
			./known &&
		fails 2 "are of loops" hwprof top -e calls -s trip -- ./known &&
		fails 2 "unknown sort key" hwprof top -s size -- ./known &&
		fails 1 "no profile" hwprof top -e branches -- ./known
}

trips_in()
{
	$examples/loops $pid $1 > /tmp/example || return
	cat /tmp/example
	head -1 /tmp/example |
		grep -q ' [1-9][0-9,.]* iterations an entry.* known_inner+0x0$'
}

example_loops()
{
	./spin & pid=$!
	sees trips_in
	status=$?
	kill $pid
	wait $pid
	return $status
}

calls_in()
{
	output_is 'call pairs' $examples/calls $1 &&
		[ "$(grep -c 'call pairs' /tmp/live.out)" = $1 ] &&
		grep -q ' -> ' /tmp/live.out
}

example_calls()
{
	# A shell calls functions all the time.
	sh -c 'while :; do :; done' & pid=$!
	sees calls_in
	status=$?
	kill $pid
	wait $pid
	return $status
}

ranges_in()
{
	$examples/heap $pid $1 > /tmp/example || return
	cat /tmp/example
	[ "$(grep -c '% #' /tmp/example)" -ge 2 ]
}

# A program that loads from a part of its heap again and again.
example_heap()
{
	./heaps & pid=$!
	sleep 0.2
	sees ranges_in
	status=$?
	kill $pid
	wait $pid
	return $status
}

test_ok "stat: known counts, in both forms" stat_is_right
test_ok "top: of a CPU" top_cpu
test_ok "top, record: a cgroup" in_cgroup
test_ok "record: a cgroup's program that runs already" cgroup_of_running
test_ok "record: for a time, on a CPU" record_options
rest_is_no_news
test_ok "script: rows add up, in both forms" script_sums
test_ok "top: a table each time" top_tables
test_ok "top: all kinds" top_kinds
test_ok "top: anew each time" top_zero
test_ok "top: a command's status" top_command
test_ok "others are not stepped unasked" others_are_spared
test_ok "what stepping costs is said" own_is_told
test_ok "what is refused" refusals
test_ok "a device that is not one's own" not_permitted
test_ok "examples: loops" example_loops
test_ok "examples: calls" example_calls
test_ok "examples: heap" example_heap
finish
