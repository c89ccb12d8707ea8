#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The module comes and goes, and so do CPUs, while programs are profiled.
. "${0%/*}/tap.sh"
needs step

BACK=9999		# back edges of `known`
module=../../$KSELFTEST_KERNEL/hwprof.ko
data=/tmp/perf.data
cpu1=/sys/devices/system/cpu/cpu1/online

is_exact()
{
	[ "$(perf stat -x, -e hwprof/loops/u -- ./known 2>&1 | cut -d, -f1)" = \
		$BACK ]
}

# Unloading fails while an event is open, and works at once afterwards.
unload_is_refused()
{
	sessions 0
	./spin & spin=$!
	perf stat -e hwprof/loops,step/u -p $spin -- sleep 1 &
	stat=$!
	sessions 1
	rmmod hwprof
	refused=$?
	wait $stat
	kill $spin
	wait $spin	# the work of a stepped task holds the module, too
	[ $refused != 0 ] && rmmod hwprof && insmod "$module" && is_exact
}

# Unloading fails while the device is open, with or without a session.
unload_is_refused_by_a_file()
{
	exec 9<> /dev/hwprof
	rmmod hwprof
	refused=$?
	exec 9>&-
	[ $refused != 0 ] && rmmod hwprof && ! [ -e /dev/hwprof ] &&
		insmod "$module" && [ -c /dev/hwprof ] && is_exact
}

# The first tier loads the module often enough.
rounds="1 2 3"
[ ! "$KSELFTEST_SHORT" ] || rounds=1

reload()
{
	for round in $rounds; do
		rmmod hwprof && insmod "$module" || return
		is_exact || return
	done
}

# The session is still ending.
reload_at_once()
{
	for round in $rounds; do
		perf record -q -R -o $data -e hwprof/loops,rows/u -- ./known ||
			return
		rmmod hwprof && insmod "$module" || return
	done
}

toggle_cpu()
{
	until [ -e /tmp/toggle ]; do
		usleep 10000
	done
	while :; do
		echo 0 > $cpu1
		usleep 20000
		echo 1 > $cpu1
		usleep 20000
	done
}

# Begins when the command creates a file. perf has opened its events then, and
# cannot open one on a missing CPU.
while_cpus_go()
{
	toggle_cpu & toggle=$!
	"$@"
	status=$?
	kill $toggle
	wait $toggle
	rm -f /tmp/toggle
	echo 1 > $cpu1
	return $status
}

# record SCRIPT OPTION...: sets $sum to the back edges of `known` in it. By
# address: rows that come after its exit have no name in perf 6.12.
record()
{
	script=$1
	shift
	perf record -q -R -o $data "$@" -- sh -c "$script" || return
	sum=$(perf script -i $data -F period,ip |
		awk '$2 ~ /^10000...$/ { sum += $1 } END { print sum }')
	echo "$sum"
}

# Nothing of the 12 programs is missing, whichever CPU they ran on.
hotplug_of_tasks()
{
	record 'touch /tmp/toggle
		for i in 1 2 3 4; do ./forks; done' \
		-e hwprof/loops,rows,memory_mib=8,interval_ms=50/u &&
		[ "$sum" = $((12 * BACK)) ]
}

# Events of a CPU end with it. Those of other CPUs continue.
hotplug_of_all()
{
	record "for i in 1 2 3; do
			./forks; echo 0 > $cpu1; ./forks; echo 1 > $cpu1
		done" -a -e \
			hwprof/loops,step,rows,memory_mib=8,interval_ms=50/u &&
		[ "$sum" -gt $((9 * BACK)) ] && [ "$sum" -le $((18 * BACK)) ]
}

hotplug_counting()
{
	touch /tmp/toggle
	sum=$(perf stat -x, -e hwprof/loops/u -- \
		./forks 2>&1 | cut -d, -f1)
	echo "$sum"
	[ "$sum" = $((3 * BACK)) ]
}

test_ok "unload is refused while an event is open" unload_is_refused
test_ok "unload is refused while the device is open" unload_is_refused_by_a_file
test_ok "unload and load" reload
test_ok "unload right after a recording" reload_at_once
# In the first tier, the soak toggles CPUs of the debug kernel all the time.
case $KSELFTEST_KERNEL$KSELFTEST_SHORT in
*debugyes) finish; exit ;;
esac
if [ -w $cpu1 ]; then
	test_ok "CPUs go while tasks are recorded" while_cpus_go \
		hotplug_of_tasks
	test_ok "CPUs go while all is recorded" hotplug_of_all
	test_ok "CPUs go while tasks are counted" while_cpus_go hotplug_counting
else
	skip "CPUs go" "one CPU"
fi
finish
