#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Cost of a window of branch records, or of a stack of calls, in instructions of
# the whole guest: with hwprof, and with perf at the same periods. Two periods
# separate the cost of a sample from that of a recording. Usage: lbr.sh [hwprof]
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top" || exit 2

if [ "$1" != guest ]; then
	text=build/bench/text
	mkdir -p build/bench
	yes "$(cat docs/definitions.md docs/rows.md)" | head -c 150000 > $text
	exec tests/vm/vm --pmu lbr --icount --smp 1 --timeout 900 \
		--file tests/bench/lbr.sh --file build/tests/bench-busy \
		--file $text --file /bin/bzip2 -- sh tests/bench/lbr.sh guest $1
fi

few=4000 many=250	# taken branches from sample to sample
program="/bin/bzip2 -kc build/bench/text"
echo 25 > /proc/sys/kernel/perf_cpu_time_max_percent
echo 1000000 > /proc/sys/kernel/perf_event_max_sample_rate
echo 0 > /proc/sys/kernel/perf_cpu_time_max_percent

busy()
{
	build/tests/bench-busy "$@" || exit 1
}

taken=$(perf stat -x, -e r20c4:u $program 2>&1 > /tmp/output |
	sed -n 's/,.*r20c4.*//p')
echo "# $program: $taken taken branches"

# least COMMAND...: prints the least of three runs
least()
{
	for i in 1 2 3; do busy "$@"; done | sort -n | head -1
}

# cost NAME COMMAND...: prints the cost of recording by the command, to which it
# appends -c PERIOD and a program
cost()
{
	name=$1
	shift
	fixed=$(($(least "$@" -c $few true) - $(least true)))
	a=$(least "$@" -c $few $program)
	b=$(least "$@" -c $many $program)
	awk -v name="$name" -v a="$a" -v b="$b" -v fixed="$fixed" \
	    -v few=$((taken / few)) -v many=$((taken / many)) 'BEGIN {
		printf "%-30s %6.0f a sample (%d beside %d), %7.1f M for a recording of true\n",
		       name, (b - a) / (many - few), many, few, fixed / 1e6
	}'
}

cost "hwprof, loops, lbr" hwprof record -q -e loops,lbr -o /tmp/h.data
cost "hwprof, loops,calls,paths, lbr" hwprof record -q \
	-e loops,calls,paths,lbr -o /tmp/h.data
[ "$1 $2" = "guest hwprof" ] && exit
cost "perf record" perf record -q -N -m 512 -e r20c4:u -o /tmp/p.data
cost "perf record -b" perf record -q -N -m 512 -b -e r20c4:u -o /tmp/b.data
cost "hwprof, cct, lbr" hwprof record -q -e cct,lbr -o /tmp/h.data
cost "hwprof, cct, sample" hwprof record -q -e cct,sample --trigger r20c4 \
	-o /tmp/h.data
cost "perf --call-graph lbr" perf record -q -N -m 512 --call-graph lbr \
	-e r20c4:u -o /tmp/l.data
