#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Samples: hwprof/ranges,sample/ and hwprof/cct,sample/, taken by the clock and,
# if the machine has a PMU, by a counter.
. "${0%/*}/windows.sh"
needs sample

about=ranges
every=100000		# ns of CPU time

# has OBJECT PERCENT: checks the share of hot ranges in it
has()
{
	awk -v object=" $1 " -v least="$2" '
		index($0 " ", object) { sub("%", "", $1); sum += $1 }
		END { print object, sum; exit !(sum >= least) }' /tmp/report
}

hot_code()
{
	record -e ranges,sample -c $every -- ./long_trips && loses_nothing &&
		has long_trips 60 && grep -q 'by CPU time' /tmp/report &&
		grep -q ' 1 session from sample$' /tmp/report
}

# A sample's weight is its period, so the sum is a multiple of the clock's
# period.
whole_periods()
{
	weight=$(sed -n 's/,//g; s/ events = .*//p' /tmp/report)
	echo "weight $weight"
	[ "$weight" -gt 0 ] && [ $((weight % every)) = 0 ]
}

by_frequency()
{
	record -e ranges,sample -F 5000 -- ./long_trips && loses_nothing &&
		has_no_budget && has long_trips 60
}

the_kernel()
{
	record -e ranges,sample/uk -c $every -- \
		dd if=/dev/zero of=/dev/null bs=1 count=50000 &&
		has '[kernel]' 20 || return
	record -e ranges,sample/u -c $every -- \
		dd if=/dev/zero of=/dev/null bs=1 count=50000 &&
		! grep -q '\[kernel\]' /tmp/report || return
	record -e ranges,sample/k -c $every -- \
		dd if=/dev/zero of=/dev/null bs=1 count=50000 &&
		has '[kernel]' 50
}

on_a_budget()
{
	record -e ranges,sample --budget 10% -- ./long_trips && loses_nothing &&
		has_overhead 10
}

on_the_usual_budget()
{
	record -e ranges,sample -- sh -c "$ten_times" && has_overhead 1
}

forks_and_execs()
{
	record -e ranges,sample -c $every -- sh -c '
		./long_trips & ./long_trips & wait; exec ./long_trips' &&
		loses_nothing && has long_trips 50
}

# A record of an address space is free again when its process has ended, also
# if samples come in the kernel until then. Memory goes after the exit's probe
# since 6.16: of a process that no sample has found before, these are lost.
many_exits()
{
	hwprof record -q -o $data -a -c 5000 \
		-e cct,sample,memory_mib=1,interval_ms=200/uk -- ./exits 5000 &&
		hwprof report cct -i $data --json > /tmp/report &&
	awk '
		$1 == "\"produced\":" { produced = $2 + 0 }
		$1 == "\"lost\":" { lost = $2 + 0 }
		END {
			print lost " lost of " produced
			exit !(produced > 0 && lost < produced / 200)
		}' /tmp/report
}

all_cpus()
{
	record -a -e ranges,sample/u -c $every -- ./long_trips &&
		loses_nothing && has long_trips 40
}

running()
{
	./spin & spin=$!
	record -p $spin -e ranges,sample -c $every -- sleep 0.5
	status=$?
	kill $spin
	[ $status = 0 ] && has spin 60
}

refuses()
{
	stat_refuses loops,sample && stat_refuses branches,sample &&
		stat_refuses ranges,sample,burst=200 &&
		! perf record -q -e hwprof/ranges,sample/u -o $data -- true
}

by_a_counter()
{
	record -e ranges,sample --trigger cycles -c 100003 -- ./long_trips &&
		loses_nothing && has long_trips 60
}

# A counter of arm64 takes only the number of an event.
of_arm64()
{
	record -e ranges,sample --trigger armv8_pmuv3/event=0x11/ -c 100003 -- \
			./long_trips && has long_trips 60 &&
		stat_refuses ranges,sample,trigger=0x11,trigger_cmask=1 &&
		stat_refuses ranges,sample,trigger=0x11,trigger_edge &&
		stat_refuses ranges,sample,trigger=0x11,trigger_high=1
}

has_no_counter()
{
	stat_refuses ranges,sample,trigger=0xc0
}

# A limit that leaves no room for tables, and a device that the user cannot
# open.
tells_users_what_stacks_lack()
{
	su user -c "ulimit -l 1024; hwprof record -q -o /tmp/user.data -m 1 \
			-e cct,sample,memory_mib=1 -c $every -- ./pointerless" \
			> /tmp/said 2>&1
	cat /tmp/said
	grep -q 'by frame pointers in the code of .*ulimit -l' /tmp/said ||
		return
	chmod 600 /dev/hwprof
	su user -c "hwprof record -q -o /tmp/user.data -m 1 -c $every \
			-e cct,sample,memory_mib=1 -- true" > /tmp/said 2>&1
	status=$?
	chmod 666 /dev/hwprof
	cat /tmp/said
	[ $status = 0 ] && accounted /tmp/user.data &&
		grep -q 'frame pointers alone' /tmp/said
}

is_for_users()
{
	su user -c "hwprof record -q -o /tmp/user.data -m 16 -c $every \
			-e ranges,sample,memory_mib=1 -- ./long_trips" &&
		accounted /tmp/user.data &&
		! su user -c "hwprof record -q -o /tmp/user.data -m 16 \
			-c $every -e ranges,sample,memory_mib=1/uk -- true" &&
		! su user -c "hwprof record -q -a -o /tmp/user.data -m 16 \
			-c $every -e ranges,sample,memory_mib=1 -- true"
}

cpus_go_and_come()
{
	under_hotplug ./long_trips -e ranges,sample/uk -c $every
}

unload()
{
	reloads ./long_trips -e ranges,sample/uk -c $every
}

who_calls()
{
	contexts -e cct,sample -c $every -- ./callers && loses_nothing &&
		grep -q 'sampled: where the samples' /tmp/report &&
		parts_of callers
}

who_calls_by_a_counter()
{
	contexts -e cct,sample --trigger cycles -c 100003 -- ./callers &&
		loses_nothing && part 'callers;_start;first;left' 50 &&
		part 'callers;_start;again' 25
}

# Nothing here has frame pointers, so left() leads nowhere. Samples before the
# table exists have no callers: that is a moment, except on debug kernels.
who_calls_without_pointers()
{
	contexts -e cct,sample -c $every -- ./pointerless && loses_nothing &&
		sed -i '/;_start/!d' /tmp/folded && parts_of pointerless
}

# below CHAIN LEAST: checks that so many percent of the library's samples end
# with the chain. If other machines take CPU time, processes may seem unequal.
below()
{
	awk -v chain=";$1" -v least="$2" '
		/;plugin_turn/ { sum += $2 }
		substr($1, length($1) - length(chain) + 1) == chain {
			own += $2
		}
		END {
			own *= 100 / sum
			print chain, own
			exit !(own >= least)
		}' /tmp/folded
}

# A library that is loaded late, and a fork that maps nothing.
who_calls_plugins()
{
	contexts -e cct,sample -c $every -- \
			sh -c './plugged 2000 & ./plugged 2000; wait' &&
		loses_nothing && grep -q ';__libc_start_main;' /tmp/folded &&
		below 'main;child;plugin_turn;mostly;work' 12 &&
		below 'main;child;plugin_turn;rarely;work' 3 &&
		below 'main;parent;plugin_turn;mostly;work' 12
}

# hwprof record made the tables when -p named the program.
who_calls_in_what_runs()
{
	./endless & runs=$!
	contexts -p $runs -e cct,sample -c $every -- sleep 1
	status=$?
	kill $runs
	[ $status = 0 ] && part 'endless;_start;first;left' 50
}

who_calls_the_kernel()
{
	contexts -e cct,sample/uk -c $every -- \
		dd if=/dev/zero of=/dev/null bs=1 count=50000 &&
		grep '^dd;.*;\[kernel\]' /tmp/folded || return
	contexts -e cct,sample/u -c $every -- \
		dd if=/dev/zero of=/dev/null bs=1 count=50000 &&
		! grep '\[kernel\]' /tmp/folded
}

# Checks both columns of both counters.
has_metrics()
{
	grep -q ' instructions:u  *own  *branches:u  *own  procedure' \
		/tmp/report &&
		! grep 'have no metrics' /tmp/report
}

# All loops of the program have three instructions per branch, wherever they
# are.
counters_beside()
{
	contexts -e cct,sample --trigger instructions -c 1000003 \
			--metric instructions --metric branches -- ./callers &&
		loses_nothing && has_metrics && awk '
			{ gsub(",", "") }
			$9 == "left" || $9 == "again" {
				print $9, $6, $8
				n += $6 > 0 && $6 / $8 > 2.97 && $6 / $8 < 3.03
			}
			END { exit n != 3 }' /tmp/report
}

# perf 6.12 takes counters out of the group, as they are of another PMU. It says
# so, and hwprof that there are no metrics.
counters_beside_of_perf()
{
	rows='hwprof/cct,sample,rows,metrics=2,trigger=0xc0/u'
	perf record -q -R --period --no-inherit -o $data -c 100003 \
		-e "{$rows,instructions:u,branches:u}:S" \
		-- ./long_trips 2> /tmp/said &&
		hwprof report cct -i $data > /tmp/report 2>&1 || return
	if grep 'events were regrouped' /tmp/said; then
		grep 'have no metrics' /tmp/report
	else
		has_metrics
	fi
}

has_counters()
{
	perf stat -x, -e cycles:u -- true 2>&1 | grep -q '^[0-9]'
}

test_ok "sample: hot code" hot_code
test_ok "sample: whole periods" whole_periods
test_ok "sample: who calls" who_calls
[ ! -e ./pointerless ] ||
	test_ok "sample: who calls, without frame pointers" \
		who_calls_without_pointers
[ ! -e ./plugged ] ||
	test_ok "sample: who calls, in libraries and forks" who_calls_plugins
if ! has_counters; then
	test_ok "sample: refused by a counter, where there is none" \
		has_no_counter
	finish
	exit
fi
# The rest is the same with and without counters.
test_ok "sample: by a counter" by_a_counter
if [ -e /sys/bus/event_source/devices/armv8_pmuv3 ]; then
	test_ok "sample: a counter of arm64" of_arm64
else
	test_ok "sample: counters beside it" counters_beside
	test_ok "sample: counters in perf's group" counters_beside_of_perf
fi
test_ok "sample: who calls the kernel" who_calls_the_kernel
test_ok "sample: the kernel" the_kernel
test_ok "sample: forks and execs" forks_and_execs
test_ok "sample: CPU hotplug" cpus_go_and_come
test_ok "sample: unload and reload" unload
rest_is_no_news
test_ok "sample: -a" all_cpus
test_ok "sample: many processes that exit" many_exits
[ ! -e ./pointerless ] ||
	test_ok "sample: who calls, of what runs" who_calls_in_what_runs
test_ok "sample: who calls, by a counter" who_calls_by_a_counter
[ ! -e ./pointerless ] ||
	test_ok "sample: what stacks lack" with_paranoid 2 \
		tells_users_what_stacks_lack
test_ok "sample: -F" by_frequency
test_ok "sample: on a budget" on_a_budget
test_ok "sample: on the usual budget" on_the_usual_budget
test_ok "sample: perf stat" stat_counts ranges,sample 1 ./long_trips
test_ok "sample: -p" running
test_ok "sample: stock perf, -p, stopped" perf_reads_stopped \
	hwprof/ranges,sample
test_ok "sample: what there is not" refuses
test_ok "sample: as an ordinary user" with_paranoid 2 is_for_users
finish
