#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Branch records: hwprof/loops,lbr/ where there is a PMU that keeps them, and a
# clear refusal where there is none.
. "${0%/*}/windows.sh"

# Taken branches of `trips`: 3 calls of inner with 6 back edges each, 2 back
# edges and a call of middle, and those of outer. Returns count, too.
TAKEN=$((30000 * (3 * 8 + 2 + 2 + 1)))

is_missing()
{
	cat $caps/lbr
	! grep -q '^yes$' $caps/lbr &&
		stat_refuses loops,lbr &&
		hwprof record -o $data -e loops,lbr -- ./trips 2>&1 |
			grep -F \
				"no source on this machine: lbr: $(cat $caps/lbr)" &&
		hwprof record -o $data -e cct,lbr -- ./trips 2>&1 |
			grep -F \
				"no source on this machine: lbr: $(cat $caps/lbr)" &&
		sessions 0
}

estimates()
{
	record -e loops,lbr -c 499 -- ./trips && loses_nothing &&
		trip inner 7 && trip middle 3
}

# There is a window for each sample of stock perf with the same period, except
# the last: hwprof's counter has run since before the exec.
as_many_as_perf()
{
	record -e loops,lbr -c 1009 -- ./trips || return
	perf record -q -m 2048 -b -e r20c4:u -c 1009 -o /tmp/perf.data -- \
		./trips
	samples=$(perf script -i /tmp/perf.data -F ip | wc -l)
	echo "windows $(gaps), samples $samples"
	gaps=$(gaps)
	[ $((gaps - samples)) -le 1 ] &&
		[ $((samples - gaps)) -le 1 ] &&
		[ "$samples" -gt $((TAKEN / 1009 - 9)) ]
}

on_a_budget()
{
	record -e loops,lbr --budget 5% -- ./long_trips && loses_nothing &&
		has_overhead 5 && ! grep -q 'windows of branches' /tmp/report
}

on_the_usual_budget()
{
	record -e loops,lbr -- sh -c "$ten_times" && has_overhead 1 &&
		grep -q 'windows of CPU time' /tmp/report
}

by_frequency()
{
	record -e loops,lbr -F 2000 -- ./trips && has_no_budget &&
		grep -q 'windows of CPU time' /tmp/report
}

by_another_event()
{
	record -e loops,lbr,trigger=0xc0 -c 10007 -- ./trips &&
		grep -q 'windows of CPU time' /tmp/report && trip inner 7
}

# Taken branches by libpfm4's name, and perf's name of another event.
by_name()
{
	record --trigger BR_INST_RETIRED:NEAR_TAKEN -c 499 -e loops,lbr -- \
		./trips && grep -q 'windows of branches' /tmp/report &&
		trip inner 7 || return
	record --trigger instructions -c 10007 -e loops,lbr -- ./trips &&
		grep -q 'windows of CPU time' /tmp/report && trip inner 7 &&
		! hwprof record -o $data --trigger clock -e loops,lbr -- ./trips
}

# The CPU's records of calls need no frame pointers and no table.
who_calls()
{
	contexts -e cct,lbr -c 100003 -- ./pointerless && loses_nothing &&
		grep -q 'sampled: where the samples' /tmp/report &&
		grep -q 'again (recursion)' /tmp/report &&
		parts_of pointerless && ! grep -q '^pointerless;left' \
			/tmp/folded
}

# The calls of a fork are recorded from its first one on. On one CPU, parents
# and children take turns, and each finds its records as it left them. Perf may
# reset the records for a moment, so a few stacks in a hundred may begin below
# main.
who_calls_in_forks()
{
	contexts -e cct,lbr -c 10007 -- taskset 1 \
			sh -c './plugged 20 & ./plugged 20; wait' &&
		loses_nothing || return
	grep '^plugged;.*;work ' /tmp/folded
	grep -q '^plugged;.*;main;parent;plugin_turn;mostly;work ' \
		/tmp/folded &&
		grep -q '^plugged;main;child;plugin_turn;rarely;work ' \
			/tmp/folded &&
		awk '/^plugged;/ {
			all += $NF
			if (!/;main;/)
				below += $NF
		}
		END { exit below > all / 20 }' /tmp/folded
}

# There are 32 records. Of more calls, the outermost are missing.
who_calls_deep_down()
{
	contexts -e cct,lbr -c 10007 -- ./deep && loses_nothing &&
		cat /tmp/folded && grep -q '^deep;again ' /tmp/folded &&
		grep -q '^deep;_start;again ' /tmp/folded &&
		grep -q '^deep;_start;first;left ' /tmp/folded
}

who_calls_on_all_cpus()
{
	contexts -a -e cct,lbr -c 100003 -- ./pointerless && loses_nothing &&
		grep ';first;left ' /tmp/folded
}

who_calls_the_kernel()
{
	contexts -e cct,lbr/uk -c $kernel_every -- $in_kernel &&
		grep '^dd;.*;\[kernel\]' /tmp/folded || return
	contexts -e cct,lbr/u -c 99 -- $in_kernel &&
		! grep '\[kernel\]' /tmp/folded
}

# Records that were filtered for the other event are lost, not used.
beside_who_calls()
{
	hwprof record -q -o /tmp/calls.data -c 499 -e cct,lbr -- \
		hwprof record -q -o $data -c 499 -e loops,lbr -- ./trips &&
		accounted $data &&
		hwprof report loops -i $data > /tmp/report &&
		hwprof report cct --folded -i /tmp/calls.data > /tmp/folded ||
		return
	cat /tmp/report /tmp/folded
	grep ' events, [1-9][0-9,]* lost, ' /tmp/report &&
		grep '^trips;.*;inner ' /tmp/folded &&
		{ ! grep -q ' windows$' /tmp/report || trip inner 7; } &&
		hwprof record -o $data -e loops,lbr -e cct,lbr -- ./trips 2>&1 |
			grep "'cct,lbr' and 'loops,lbr' exclude each other"
}

# All loops of the program have three instructions per branch.
counters_beside()
{
	contexts -e cct,lbr -c 100003 --metric instructions --metric branches \
			-- ./pointerless && loses_nothing && awk '
			{ gsub(",", "") }
			$9 == "left" || $9 == "again" {
				print $9, $6, $8
				n += $6 > 0 && $6 / $8 > 2.97 && $6 / $8 < 3.03
			}
			END { exit n != 3 }' /tmp/report
}

# The emulated counters count nothing with edge, inversion or mask, which shows
# that the bits arrive.
wide_codes()
{
	for bits in trigger_edge trigger_cmask=1 trigger_cmask=2,trigger_inv; do
		stat_says "loops,lbr,trigger=0xc0,$bits" '^ *0  *hwprof/' ||
			return
	done
	stat_says loops,lbr,trigger=0xc0 '^ *[1-9][0-9,]*  *hwprof/' &&
		stat_refuses loops,lbr,trigger=0xc0,trigger_any &&
		stat_refuses loops,lbr,trigger=0xc0,trigger_high=1 &&
		stat_refuses loops,lbr,trigger_cmask=1
}

# is_named TRIGGER PATTERN: checks the name of the recorded event, which has no
# budget.
is_named()
{
	hwprof record -q -o $data --trigger "$1" -e loops,lbr -- ./trips &&
		perf evlist -i $data && perf evlist -i $data | grep -q "$2" &&
		! perf evlist -i $data | grep budget
}

# The spellings of perf, libpfm4 and sysfs.
wide_names()
{
	all="trigger_edge,trigger_inv,.*trigger=8388,trigger_cmask=1/"
	is_named r20c4 "trigger=8388/" && is_named r18420c4 "$all" &&
		is_named BR_INST_RETIRED:NEAR_TAKEN:c=1:i:e "$all" &&
		is_named cpu/event=0xc4,umask=0x20,inv,edge=1,cmask=0x1/ \
			"$all" &&
		is_named cpu/branch-instructions/ "trigger=196/" &&
		! hwprof record --trigger cpu/event=0xcd,ldlat=3/ -e loops,lbr \
			-- ./trips &&
		! hwprof record --trigger cpu/branch-instructions/u -e \
			loops,lbr -- ./trips
}

forks_and_execs()
{
	record -e loops,lbr -c 499 -- sh -c '
		./trips & ./trips & wait; ./trips; exec ./trips' &&
		loses_nothing && trip inner 7 && trip middle 3 &&
		[ "$(gaps)" -gt $((4 * TAKEN / 499 - 99)) ]
}

all_cpus()
{
	record -a -e loops,lbr -c 499 -- ./trips && loses_nothing &&
		trip inner 7
}

running()
{
	./spin & spin=$!
	record -p $spin -e loops,lbr -c 997 -- sleep 0.5
	status=$?
	kill $spin
	[ $status = 0 ] && grep -q ' spin ' /tmp/report
}

# Kernel addresses appear only if requested. An overflow may interrupt the
# kernel while it exchanges tables; that window is lost, and counted.
kernel_too()
{
	record -e loops,lbr/uk -c $kernel_every -- $in_kernel &&
		grep -q '\[kernel\]' /tmp/report || return
	record -e loops,lbr/u -c 99 -- \
			sh -c 'cat /proc/[0-9]*/stat > /dev/null; :' &&
		! grep -q '\[kernel\]' /tmp/report
}

# Stepping does not see the kernel. For the kernel alone, the tool and the
# module choose records.
by_default()
{
	record -e loops -- ./trips && grep -q '1 session from step$' \
		/tmp/report &&
		record -e loops/k -c $kernel_every -- $in_kernel &&
		grep -q '1 session from lbr, ' /tmp/report || return
	perf record -q -R --period -e hwprof/loops,rows/k -c $kernel_every -o \
		$data -- \
			$in_kernel &&
		hwprof report loops -i $data > /tmp/report &&
		grep -q '1 session from lbr, ' /tmp/report &&
		hwprof record -q -o $data -e ranges/k -c 100000 -- \
			$in_kernel &&
		hwprof report ranges -i $data | grep '1 session from sample$'
}

two_at_once()
{
	record -e loops,lbr -e loops,lbr,span=1024 -c 499 -- ./trips &&
		grep -q '2 sessions' /tmp/report
}

beside_perf()
{
	perf record -q -b -e cycles:u -c 10007 -o /tmp/perf.data -- \
		hwprof record -q -o $data -e loops,lbr -c 499 -- ./trips &&
		accounted $data &&
		hwprof report loops -i $data > /tmp/report && trip inner 7
}

refuses()
{
	stat_refuses branches,lbr &&
		! perf record -q -e hwprof/loops,lbr/u -o $data -- ./trips &&
		stat_refuses loops,step,trigger=1 &&
		! hwprof record -c 9 -o $data -- ./trips
}

# hwprof does not give ordinary users what perf would not give them.
is_for_users()
{
	su user -c "hwprof record -q -o /tmp/user.data -m 16 -c 499 \
			-e loops,lbr,memory_mib=1 -- ./trips" &&
		accounted /tmp/user.data &&
		su user -c "hwprof record -q -o /tmp/user.data \
			-e cct,lbr,memory_mib=1 -m 16 -c 499 -- ./trips" &&
		accounted /tmp/user.data &&
		! su user -c "hwprof record -q -o /tmp/user.data \
			-e loops,lbr,memory_mib=1/uk -m 16 -- ./trips" &&
		! su user -c "hwprof record -q -o /tmp/user.data \
			-e cct,lbr,memory_mib=1/uk -m 16 -- ./trips" &&
		! su user -c "hwprof record -q -a -o /tmp/user.data \
			-e loops,lbr,memory_mib=1 -m 16 -- ./trips"
}

cpus_go_and_come()
{
	under_hotplug ./trips -e loops,lbr -c 499
}

unload()
{
	reloads ./trips -e loops,lbr -c 499
}

# Targets of branches in stacks: most are in inner, and none is lost.
ranges()
{
	hwprof record -q -o $data -e ranges,lbr -c 499 -- ./trips &&
		hwprof report ranges -i $data > /tmp/report || return
	cat /tmp/report
	grep -q 'windows of branches' /tmp/report &&
		grep -q ' inner+0x' /tmp/report &&
		sed -n 's/,//g; / events = /p' /tmp/report | awk '
			$1 != $4 || $1 < 30 * '$((TAKEN / 499 - 9))' { exit 1 }
			END { exit NR != 1 }'
}

# Callers and callees in stacks.
calls_of_stacks()
{
	about=calls
	record -e calls,lbr -c 499 -- ./trips && loses_nothing && calls 5 &&
		grep -q ' of [23] methods; windows of branches' /tmp/report &&
		record -e calls,lbr/k -c $kernel_every -- $in_kernel
	status=$?
	about=loops
	return $status
}

# Paths that fit into a stack, also in the kernel.
paths_of_stacks()
{
	about=paths
	record -e paths,lbr -c 499 -- ./trips && loses_nothing &&
		hottest_path inner 'windows of branches' &&
		record -e paths,lbr/k -c $kernel_every -- $in_kernel &&
		record -e paths,lbr --trigger instructions -c 10007 -- ./trips \
			&&
		loses_nothing && time_on_paths &&
		hottest_path inner 'windows of CPU time'
	status=$?
	about=loops
	return $status
}

# Several profiles from the same windows, requested by stock perf.
several_at_once()
{
	perf record -q -R --period -o $data -c 499 \
		-e hwprof/loops,calls,paths,lbr,rows,memory_mib=8/u -- ./trips \
		&&
		hwprof report loops -i $data > /tmp/report || return
	cat /tmp/report
	trip inner 7 && trip middle 3 &&
		hwprof report calls -i $data > /tmp/report && calls 5 &&
		hwprof report paths -i $data > /tmp/report &&
		hottest_path inner 'windows of branches'
}

if ! grep -q '^yes$' $caps/lbr; then
	test_ok "lbr: refused, where there is none" is_missing
	finish
	exit
fi
test_ok "lbr: trip counts" estimates
test_ok "lbr: on a budget" on_a_budget
test_ok "lbr: on the usual budget" on_the_usual_budget
test_ok "lbr: forks and execs" forks_and_execs
test_ok "lbr: -a" all_cpus
test_ok "lbr: the kernel" kernel_too
test_ok "lbr: two sessions" two_at_once
test_ok "lbr: beside perf record -b" beside_perf
test_ok "lbr: ranges" ranges
test_ok "lbr: calls" calls_of_stacks
test_ok "lbr: paths" paths_of_stacks
test_ok "lbr: several things at once" several_at_once
test_ok "lbr: who calls" who_calls
test_ok "lbr: who calls, in forks" who_calls_in_forks
test_ok "lbr: who calls, -a" who_calls_on_all_cpus
test_ok "lbr: who calls the kernel" who_calls_the_kernel
test_ok "lbr: loops, beside who calls" beside_who_calls
test_ok "lbr: CPU hotplug" cpus_go_and_come
test_ok "lbr: unload and reload" unload
rest_is_no_news
test_ok "lbr: who calls, deep down" who_calls_deep_down
test_ok "lbr: who calls, with metrics" counters_beside
test_ok "lbr: as many windows as perf has samples" as_many_as_perf
test_ok "lbr: -F" by_frequency
test_ok "lbr: another event" by_another_event
test_ok "lbr: --trigger" by_name
test_ok "lbr: edge, inv, cmask" wide_codes
test_ok "lbr: --trigger with edge, inv, cmask" wide_names
test_ok "lbr: perf stat" stat_counts loops,lbr 101 ./trips
test_ok "lbr: -p" running
test_ok "lbr: stock perf, -p, stopped" perf_reads_stopped hwprof/loops,lbr
test_ok "lbr: the best source" by_default
test_ok "lbr: what there is not" refuses
test_ok "lbr: as an ordinary user" with_paranoid 2 is_for_users
finish
