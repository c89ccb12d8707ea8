# SPDX-License-Identifier: GPL-2.0-only
# To be sourced by tests of what sees windows of a run: branch records, bursts.
. "${0%/*}/tap.sh"

data=/tmp/windows.data
module=../../$KSELFTEST_KERNEL/hwprof.ko
cpu1=/sys/devices/system/cpu/cpu1/online

# The kernel accepts no rate once its own limit is off.
echo 25 > /proc/sys/kernel/perf_cpu_time_max_percent
echo 1000000 > /proc/sys/kernel/perf_event_max_sample_rate
echo 0 > /proc/sys/kernel/perf_cpu_time_max_percent
trap 'echo 25 > /proc/sys/kernel/perf_cpu_time_max_percent' EXIT

# A program that is in the kernel most of the time, with many branches: on a
# debug kernel an interrupt alone makes thousands.
in_kernel="dd if=/dev/zero of=/dev/null bs=1 count=9000"
kernel_every=20011

# A single run may end before its budget allows a look.
ten_times="for i in 0 1 2 3 4 5 6 7 8 9; do ./long_trips; done"

# record OPTION... -- COMMAND...; checks that the account adds up
about=loops		# what is reported
record()
{
	hwprof record -q -o $data "$@" || return
	hwprof report $about -i $data > /tmp/report || return
	cat /tmp/report
	sed -n 's/,//g; s/ back edges = \| calls = \| paths = \| loads = \| of samples. weight = / events = /; / events = /p' \
		/tmp/report | awk '
		$1 != $4 + $7 + $10 + $13 { exit 1 }
		END { exit NR != 1 }'
}

loses_nothing()
{
	grep -q ' 0 lost + 0 evicted + 0 pending$' /tmp/report
}

# Prints a column of the loop in a function of `trips`.
column()
{
	awk -v function_="^$1\\+" -v column="$2" '
		{ for (i = 1; i <= NF; i++) if ($i ~ function_) print $column }
	' /tmp/report | tr -d ,
}

# Prints the percentage of calls from `trips` that led to the function.
called()
{
	awk -v name="$1" '/^$/ { tables++ }
		tables == 2 && $5 == name { print $1 + 0 }' /tmp/report
}

# Checks that inner has three of four calls of `trips`, and middle has one.
calls()
{
	echo "inner $(called inner), middle $(called middle)"
	awk -v inner="$(called inner)" -v middle="$(called middle)" -v \
		off="$1" \
		'BEGIN { exit !(inner > 75 - off && inner < 75 + off &&
				middle > 25 - off && middle < 25 + off) }'
}

# part CHAIN PERCENT: checks the share at the end of the chain, within 8 points.
# On fast machines with few samples, it allows four standard deviations.
part()
{
	awk -v chain="$1" -v percent="$2" -v samples="$(
		sed -n 's/,//g; s/^\([0-9]*\) events .*/\1/p' /tmp/report)" '
		{ sum += $2 }
		$1 == chain { own += $2 }
		END {
			own *= 100 / sum
			off = (own - percent) * (own - percent)
			print chain, own, "of", samples, "samples"
			exit !(off < 8 * 8 || off * samples <
			       4 * 4 * percent * (100 - percent))
		}' /tmp/folded
}

# contexts OPTION... -- COMMAND...
contexts()
{
	reported=$about
	about=cct
	record "$@"
	status=$?
	about=$reported
	hwprof report cct --folded -i $data > /tmp/folded && return $status
}

# parts_of PROGRAM: checks the shares of `callers`, however it was compiled
parts_of()
{
	part "$1;_start;first;left" 50 && part "$1;_start;second;left" 25 &&
		part "$1;_start;again" 25
}

# hottest_path FUNCTION BASIS: checks that the most frequent path is the
# function's.
hottest_path()
{
	grep -q "$2" /tmp/report &&
		awk -v name="$1" '$1 ~ /%$/ { exit $6 != name }' /tmp/report
}

# Most of the time that chose the windows is on paths that were seen whole.
time_on_paths()
{
	grep -q 'windows of CPU time' /tmp/report &&
		grep -qE '^50 % of time is on ' /tmp/report
}

# trip FUNCTION EXACT: checks that it is near the interval, which is narrow. One
# in twenty may be outside; tests/accuracy counts them.
trip()
{
	echo "$1: $(column "$1" 4) in $(column "$1" 5) to $(column "$1" 6)"
	awk -v exact="$2" -v low="$(column "$1" 5)" -v high="$(column "$1" 6)" \
		'BEGIN { exit !(low != "" && 0.9 * low <= exact &&
				exact <= 1.1 * high && high <= 1.5 * low) }'
}

# has_overhead PERCENT: checks that the cost was measured, and that much was
# requested; tests/accuracy/budget has figures.
has_overhead()
{
	grep -q "^overhead: [0-9.]* % of [0-9.e-]* s, asked $1 %\$" /tmp/report
}

has_no_budget()
{
	! grep '^overhead: .*, asked' /tmp/report
}

# with_paranoid LEVEL COMMAND...
with_paranoid()
{
	old=$(cat /proc/sys/kernel/perf_event_paranoid)
	echo "$1" > /proc/sys/kernel/perf_event_paranoid
	shift
	"$@"
	status=$?
	echo "$old" > /proc/sys/kernel/perf_event_paranoid
	return $status
}

events()
{
	sed -n 's/ events, .*//p' /tmp/report | tr -d ,
}

gaps()
{
	sed -n 's/.* events, \([0-9,]*\) gaps.*/\1/p' /tmp/report | tr -d ,
}

# under_hotplug PROGRAM OPTION...
under_hotplug()
{
	program=$1
	shift
	hwprof record -q -a -o $data "$@" -- sh -c '
		'$program' & '$program' &
		for i in 1 2 3 4; do
			echo 0 > '$cpu1'; '$program'; echo 1 > '$cpu1'
		done
		wait'
}

# reloads PROGRAM OPTION...: checks that it is refused while recording
reloads()
{
	program=$1
	shift
	sessions 0
	./spin & spin=$!
	hwprof record -q -o $data -p $spin "$@" -- sleep 0.5 &
	recording=$!
	sessions 1
	rmmod hwprof
	refused=$?
	wait $recording
	kill $spin
	wait $spin
	[ $refused != 0 ] || return
	for round in 1 2 3; do
		rmmod hwprof && insmod "$module" || return
		record "$@" -- $program || return
	done
	sessions 0
}
