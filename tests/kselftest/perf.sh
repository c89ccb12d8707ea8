#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Stock perf, as its users know it, on a program of known loops.
. "${0%/*}/tap.sh"
needs step

BACK=9999		# back edges of `known`
TAKEN=10001		# its taken branches: and a call and a return
SHAPES=20000		# of `shapes`
TRIPS=629999		# of `trips`: 30,000 * (3 * 6 + 2), and 29,999 of outer
CALLS=4001		# calls of `short_trips`: 3000 of inner, 1000 of middle
data=/tmp/perf.data
export PERF_BUILDID_DIR=/tmp/buildid

# Perf is not to throttle: that is test_samples' matter. The kernel takes no
# rate once its own limit is off.
echo 1000000 > /proc/sys/kernel/perf_event_max_sample_rate
echo 0 > /proc/sys/kernel/perf_cpu_time_max_percent
trap 'echo 25 > /proc/sys/kernel/perf_cpu_time_max_percent' EXIT

# The count in perf stat's CSV, of the event's first line.
stat_count()
{
	perf stat -x, "$@" 2>&1 > /dev/null | grep hwprof/ | cut -d, -f1
}

is()
{
	echo "expected $1, got $2"
	[ "$1" = "$2" ]
}

between()
{
	echo "expected $1 to $2, got $3"
	[ "$3" -ge "$1" ] && [ "$3" -le "$2" ]
}

# record OPTION... -- COMMAND...; rows, with all that is in them, add up
record()
{
	case $* in
	*,rows*) set -- -R "$@" ;;
	esac
	perf record -q -o $data "$@" || {
		echo "perf record: status $?"
		return 1
	}
}

# The sum of the periods in the file, of samples from the program.
periods()
{
	perf script -i $data -F comm,period | awk -v comm="$1" \
		'$1 == comm { sum += $2 } END { print sum + 0 }'
}

lists_events()
{
	perf list pmu > /tmp/list
	cat /tmp/list
	grep -q hwprof/loops/ /tmp/list && grep -q hwprof/branches/ /tmp/list
}

stat_is_exact()
{
	is $BACK "$(stat_count -e hwprof/loops/u -- ./known)"
}

stat_repeats()
{
	is $BACK "$(stat_count -r 3 -e hwprof/loops/u -- ./known)"
}

# If the program exits while perf prints, perf reads no last interval, and its
# summary lacks that, too: intervals are long beside that.
stat_intervals()
{
	perf stat -x, -I 500 --summary -e hwprof/loops/u -- ./trips \
		> /tmp/intervals 2>&1
	cat /tmp/intervals
	is $TRIPS "$(sed -n 's/^ *summary,\([0-9]*\),.*/\1/p' /tmp/intervals)" &&
		awk -F, '/summary/ { next } /hwprof/ { sum += $2; intervals++ }
			END { exit !(intervals > 1 && sum == '$TRIPS') }' \
			/tmp/intervals
}

stat_of_group()
{
	is $BACK "$(stat_count -e '{hwprof/loops/u,task-clock:u}' -- ./known)"
}

stat_of_forks()
{
	is $((3 * BACK)) "$(stat_count -e hwprof/loops/u -- ./forks)"
}

record_default()
{
	record -e hwprof/loops/u -- ./known && is $BACK "$(periods known)"
}

record_period()
{
	record -c 100 --period -e hwprof/loops/u -- ./known &&
		is $BACK "$(periods known)" &&
		between 99 110 "$(perf script -i $data -F ip | wc -l)" || return
	# Without --period, perf takes every sample for a whole period.
	record -c 100 -e hwprof/loops/u -- ./known &&
		between $((BACK - 200)) $BACK "$(periods known)"
}

# How long it takes is up to the machine, but not that a hundred times the rate
# gives more samples; those of fewer are of more back edges each.
record_frequency()
{
	samples=
	for rate in 50 5000; do
		record -F $rate -e hwprof/loops/u -- ./shapes &&
			is $SHAPES "$(periods shapes)" || return
		samples="$samples $(perf script -i $data -F ip | wc -l)"
	done
	set -- $samples
	echo "$1 samples at 50 Hz, $2 at 5000 Hz"
	[ "$2" -gt $((2 * $1)) ]
}

record_rows()
{
	record -e hwprof/loops,rows/u -- ./known && is $BACK "$(periods known)"
}

record_callchains()
{
	record -g -c 100 --period -e hwprof/loops/u -- ./shapes &&
		is $SHAPES "$(perf report -i $data --stdio -g none \
			-F period,comm 2> /dev/null |
			awk '$2 == "shapes" { print $1 }')"
}

# By symbol: what was there before the exec has a time before it, but may come when
# perf has ordered what is later; then perf takes it for the new program's.
record_all()
{
	record -a -e hwprof/loops,step,rows/u -- ./known &&
		is $BACK "$(perf script -i $data -F comm,period,ip,sym | awk '
			$1 == "known" && $NF ~ /^known_/ { sum += $2 }
			END { print sum + 0 }')"
}

record_per_thread()
{
	record --per-thread -e hwprof/loops,rows/u -- ./known &&
		is $BACK "$(periods known)"
}

# perf can read the file, with all samples in it. The table of threads that it prints
# stays empty: since 5.13 the kernel writes no PERF_RECORD_READ when a task exits.
record_stat()
{
	record -s -c 100 --period -e hwprof/loops/u -- ./known &&
		is $BACK "$(periods known)" &&
		perf report -i $data --stdio -T > /tmp/report 2> /dev/null ||
		return
	cat /tmp/report
	grep -q '^# *PID *TID' /tmp/report
}

record_group()
{
	record -c 100 -e '{hwprof/loops/u,task-clock:u}:S' -- ./known &&
		perf script -i $data -F comm,event,period > /tmp/script &&
		grep -q 'known.*hwprof/loops/u' /tmp/script &&
		grep -q 'known.*task-clock' /tmp/script
}

record_compressed()
{
	record -z -e hwprof/loops,rows/u -- ./known && is $BACK "$(periods known)"
}

# By size: a period of time may be over before perf is ready for its end. What the
# shell's child did before its exec is delivered at it, and perf says `known`; or the
# number, of one that had gone when the file was begun that has the rest of it.
record_switched_output()
{
	rm -f $data.*
	record -m 1024 --switch-output=1M -e hwprof/branches,rows/u -- \
		sh -c 'for i in 1 2 3 4 5 6 7 8; do ./known; done' || return
	files=$(ls $data.[0-9]* | wc -l)
	for file in $data.[0-9]*; do
		perf script -i "$file" -F comm,period || return
	done > /tmp/script
	rm $data.[0-9]*
	sum=$(awk '$1 == "known" || $1 ~ /^:[0-9]+$/ { sum += $2 }
		END { print sum }' /tmp/script)
	awk '{ print $1 }' /tmp/script | sort | uniq -c
	echo "$files files"
	[ "$files" -ge 2 ] && between $((8 * TAKEN)) $((9 * TAKEN)) "$sum"
}

# percent FUNCTION: its share in the report, rounded
percent()
{
	awk -v name="$1" '$2 == "[.]" && $3 == name { printf "%.0f", $1 }' \
		/tmp/report
}

# Each CPU's event has a rest that is no sample yet, so a move shifts a few.
report_symbols()
{
	record -c 50 --period -e hwprof/loops/u -- ./shapes &&
		perf report -i $data --stdio -F overhead,sym > /tmp/report ||
		return
	cat /tmp/report
	between 74 76 "$(percent hot)" && between 24 26 "$(percent cold)"
}

script_rows()
{
	record -e hwprof/loops,rows/u -- ./known &&
		perf script -i $data -F comm,ip,sym,period > /tmp/script &&
		grep known_inner /tmp/script &&
		perf script -i $data -D > /tmp/script &&
		grep -q 'PERF_RECORD_SAMPLE' /tmp/script
}

annotate_head()
{
	record -c 50 -e hwprof/loops/u -- ./shapes &&
		perf annotate -i $data --stdio -l hot 2> /dev/null > /tmp/annotate
	cat /tmp/annotate
	grep -q '^ *100.00.* nop' /tmp/annotate
}

says_why_not()
{
	! perf stat -e hwprof/nonsense/u -- ./known &&
		! perf record -q -o $data -e hwprof/loops,values/u -- ./known &&
		perf stat -e hwprof/loops,mem/u -- ./known 2>&1 |
			grep 'not supported'
}

ranges_stat()
{
	is $TAKEN "$(stat_count -e hwprof/ranges/u -- ./known)" &&
		is $((3 * TAKEN + 3)) \
			"$(stat_count -e hwprof/ranges/u -- ./forks)"
}

ranges_samples()
{
	record -e hwprof/ranges/u -- ./known && is $TAKEN "$(periods known)" &&
		record -c 100 --period -e hwprof/ranges/u -- ./known &&
		is $TAKEN "$(periods known)"
}

# Nothing is lost that fits in no range of its own, and nothing told twice.
ranges_rows()
{
	record -e hwprof/ranges,rows/u -- ./known && is $TAKEN "$(periods known)" &&
		record -e hwprof/ranges,rows,epsilon_ppm=500000/u -- ./forks &&
		is $((3 * TAKEN + 3)) $(($(periods forks) + $(periods known)))
}

calls_stat()
{
	is $CALLS "$(stat_count -e hwprof/calls/u -- ./short_trips)" &&
		is 3 "$(stat_count -e hwprof/calls/u -- ./forks)"
}

# By caller, and as often as was called. Calls come in fours, so that each seventh
# meets all of them, and each tenth would not.
calls_samples()
{
	record -e hwprof/calls/u -- ./short_trips &&
		is $CALLS "$(periods short_trips)" &&
		record -d -c 7 --period -e hwprof/calls/u -- ./short_trips &&
		is $CALLS "$(periods short_trips)" || return
	perf script -i $data -F period,ip,sym > /tmp/script
	awk '$3 == "middle" { sum += $1 } END { exit !(sum > 2980 && sum < 3020) }' \
		/tmp/script || {
		head -5 /tmp/script
		return 1
	}
}

# A pair of each call site, and no more.
calls_rows()
{
	record -e hwprof/calls,rows/u -- ./short_trips &&
		is $CALLS "$(periods short_trips)" &&
		hwprof report calls -i $data > /tmp/report || return
	cat /tmp/report
	grep -q '3 call pairs of 3 methods; exact' /tmp/report &&
		grep -q '^74.98% *3,000 *short_trips *middle+0x.* trips.c:.* inner$' \
			/tmp/report &&
		grep -q '^24.99% *1,000 *short_trips *outer+0x.* trips.c:.* middle$' \
			/tmp/report &&
		grep -q '^74.98% *3,000 *1 *short_trips *inner *trips.c:' /tmp/report
}

# `known` makes one call.
contexts_stat()
{
	is 1 "$(stat_count -e hwprof/cct/u -- ./known)" &&
		is 3 "$(stat_count -e hwprof/cct/u -- ./forks)"
}

contexts_samples()
{
	record -e hwprof/cct/u -- ./known && is 1 "$(periods known)"
}

contexts_rows()
{
	record -e hwprof/cct,rows/u -- ./known && is 1 "$(periods known)"
}

# Back edges and returns: `forks` has three `known`, and returns from nothing.
paths_stat()
{
	is $((BACK + 1)) "$(stat_count -e hwprof/paths/u -- ./known)" &&
		is $((3 * (BACK + 1))) \
			"$(stat_count -e hwprof/paths/u -- ./forks)"
}

paths_samples()
{
	record -e hwprof/paths/u -- ./known &&
		is $((BACK + 1)) "$(periods known)" &&
		record -d -c 100 --period -e hwprof/paths/u -- ./known &&
		is $((BACK + 1)) "$(periods known)"
}

paths_rows()
{
	record -e hwprof/paths,rows/u -- ./known &&
		is $((BACK + 1)) "$(periods known)" &&
		hwprof report paths -i $data > /tmp/report || return
	cat /tmp/report
	grep -q '5 paths of 1 procedure; exact' /tmp/report &&
		grep -q '^96.00% .* 9,600 .* known_inner' /tmp/report
}

test_ok "perf stat" stat_is_exact
test_ok "perf stat of forks" stat_of_forks
test_ok "perf record" record_default
test_ok "perf record of rows" record_rows
test_ok "perf record -p" perf_reads hwprof/loops,step sleep 5
test_ok "perf record -p, stopped" perf_reads_stopped hwprof/loops,step
test_ok "perf record -p, bursts" perf_reads hwprof/loops,burst=200 sleep 5
test_ok "perf record -p, bursts, stopped" perf_reads_stopped hwprof/loops,burst=200
test_ok "perf record -p of branches, stopped" perf_reads_stopped hwprof/branches,step
test_ok "perf record -a" record_all
test_ok "perf record --per-thread" record_per_thread
test_ok "perf record of a group:S" record_group
rest_is_no_news
test_ok "perf record --switch-output" record_switched_output
test_ok "perf list" lists_events
test_ok "perf stat -r" stat_repeats
test_ok "perf stat -I" stat_intervals
test_ok "perf stat of a group" stat_of_group
test_ok "perf record -c" record_period
test_ok "perf record -F" record_frequency
test_ok "perf record -g" record_callchains
test_ok "perf record -s" record_stat
test_ok "perf record -z" record_compressed
test_ok "perf report by symbol" report_symbols
test_ok "perf script" script_rows
test_ok "perf annotate" annotate_head
test_ok "what there is not" says_why_not
test_ok "ranges: samples" ranges_samples
test_ok "ranges: rows" ranges_rows
test_ok "ranges: perf stat" ranges_stat
test_ok "calls: rows" calls_rows
test_ok "calls: perf stat" calls_stat
test_ok "calls: samples" calls_samples
test_ok "contexts: rows" contexts_rows
test_ok "contexts: perf stat" contexts_stat
test_ok "contexts: samples" contexts_samples
test_ok "paths: samples" paths_samples
test_ok "paths: rows" paths_rows
test_ok "paths: perf stat" paths_stat
finish
