#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Stock perf, as its users know it, on a program of known loops.
. "${0%/*}/tap.sh"
needs step

BACK=9999		# back edges of `known`
TAKEN=10001		# its taken branches, with a call and a return
SHAPES=20000		# of `shapes`
TRIPS=629999		# of `trips`: 30,000 * (3 * 6 + 2), and 29,999 of outer
CALLS=4001		# calls of `short_trips`: 3000 of inner, 1000 of middle
data=/tmp/perf.data
export PERF_BUILDID_DIR=/tmp/buildid

# perf must not throttle here; test_samples tests that. The kernel accepts no
# rate once its own limit is off.
echo 25 > /proc/sys/kernel/perf_cpu_time_max_percent
echo 1000000 > /proc/sys/kernel/perf_event_max_sample_rate
echo 0 > /proc/sys/kernel/perf_cpu_time_max_percent
trap 'echo 25 > /proc/sys/kernel/perf_cpu_time_max_percent' EXIT

# Prints the count of the event's first line in the CSV of perf stat.
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

# record OPTION... -- COMMAND...; checks that rows add up
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

# Prints the sum of periods in the file, of samples of the program.
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
# summary lacks it, too. Intervals are long compared with that.
stat_intervals()
{
	perf stat -x, -I 500 --summary -e hwprof/loops/u -- ./trips \
		> /tmp/intervals 2>&1
	cat /tmp/intervals
	is $TRIPS "$(sed -n 's/^ *summary,\([0-9]*\),.*/\1/p' /tmp/intervals)" \
		&&
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
	# Without --period, each sample counts as a whole period.
	record -c 100 -e hwprof/loops/u -- ./known &&
		between $((BACK - 200)) $BACK "$(periods known)"
}

# The duration depends on the machine. A rate a hundred times higher must give
# more samples, and fewer samples must each have more back edges.
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

# perf 6.12 forgets the name of a process when it exits. The last rows of an
# event on a CPU come after that, with an earlier time. perf puts them in order
# if they come soon, which they may not on a busy machine.
record_all()
{
	for try in 1 2 3 4 5; do
		record -a -e hwprof/loops,step,rows/u -- ./known &&
			is $BACK "$(perf script -i $data -F period,ip | awk '
				$2 ~ /^10000...$/ { sum += $1 }
				END { print sum + 0 }')" || return
		[ "$(periods known)" != $BACK ] || break
	done
	is $BACK "$(periods known)" &&
		hwprof report loops -i $data > /tmp/report || return
	grep known_ /tmp/report
}

record_per_thread()
{
	record --per-thread -e hwprof/loops,rows/u -- ./known &&
		is $BACK "$(periods known)"
}

# perf can read the file with all samples. Its table of threads remains empty:
# since 5.13 the kernel writes no PERF_RECORD_READ when a task exits.
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
	record -z -e hwprof/loops,rows/u -- ./known && is $BACK \
		"$(periods known)"
}

# Switches by size: a period of time might be over before perf is ready. Rows of
# the shell's child from before its exec are delivered at the exec, so perf
# shows `known`, or a number if the process had exited when the file was begun.
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

# percent FUNCTION: prints its rounded share in the report
percent()
{
	awk -v name="$1" '$2 == "[.]" && $3 == name { printf "%.0f", $1 }' \
		/tmp/report
}

# Each CPU's event has a rest that is no sample yet, so a migration moves a few.
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
		perf annotate -i $data --stdio -l hot 2> /dev/null > \
			/tmp/annotate
	cat /tmp/annotate
	grep -q '^ *100.00.* nop' /tmp/annotate
}

says_why_not()
{
	! perf stat -e hwprof/nonsense/u -- ./known &&
		! perf record -q -o $data -e hwprof/loops,values/u -- ./known &&
		stat_refuses loops,mem
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

# Events without a range of their own are not lost, and nothing is reported
# twice.
ranges_rows()
{
	record -e hwprof/ranges,rows/u -- ./known && is $TAKEN \
		"$(periods known)" &&
		record -e hwprof/ranges,rows,epsilon_ppm=500000/u -- ./forks &&
		is $((3 * TAKEN + 3)) $(($(periods forks) + $(periods known)))
}

calls_stat()
{
	is $CALLS "$(stat_count -e hwprof/calls/u -- ./short_trips)" &&
		is 3 "$(stat_count -e hwprof/calls/u -- ./forks)"
}

# By caller, with the exact number of calls. Calls come in fours: every seventh
# hits all of them, every tenth would not.
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

# One pair for each call site, and no other.
calls_rows()
{
	record -e hwprof/calls,rows/u -- ./short_trips &&
		is $CALLS "$(periods short_trips)" &&
		hwprof report calls -i $data > /tmp/report || return
	cat /tmp/report
	grep -q '3 call pairs of 3 methods; exact' /tmp/report &&
		grep -q \
			'^74.98% *3,000 *short_trips *middle+0x.* trips.c:.* inner$' \
			/tmp/report &&
		grep -q \
			'^24.99% *1,000 *short_trips *outer+0x.* trips.c:.* middle$' \
			/tmp/report &&
		grep -q '^74.98% *3,000 *1 *short_trips *inner *trips.c:' \
			/tmp/report
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

# Back edges and returns: `forks` has three `known`, and does not return itself.
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

echo "# $(perf --version)"
test_ok "perf stat" stat_is_exact
test_ok "perf stat of forks" stat_of_forks
test_ok "perf record" record_default
test_ok "perf record of rows" record_rows
test_ok "perf record -p" perf_reads hwprof/loops,step sleep 5
test_ok "perf record -p, stopped" perf_reads_stopped hwprof/loops,step
test_ok "perf record -p, bursts" perf_reads hwprof/loops,burst=200 sleep 5
test_ok "perf record -p, bursts, stopped" perf_reads_stopped \
	hwprof/loops,burst=200
test_ok "perf record -p of branches, stopped" perf_reads_stopped \
	hwprof/branches,step
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
