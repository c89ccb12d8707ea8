#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Stepping in bursts: hwprof/loops,burst=N/, at times and, where there is a PMU,
# at a counter's overflows.
. "${0%/*}/windows.sh"
needs step

every=300000		# ns of CPU time

# is_in_windows BRANCHES: checks that windows have at most this many lines on
# average, or four times as many, besides the gap. Threads that leave their CPU
# cut windows short, which is frequent on a slow machine.
is_in_windows()
{
	echo "$(events) events in $(gaps) windows"
	[ "$(gaps)" -ge 2 ] &&
		[ "$(events)" -le $(($1 * $(gaps))) ] &&
		[ "$(events)" -ge $((20 * $(gaps))) ]
}

estimates()
{
	record -e loops,burst=200 -c $every -- ./long_trips && loses_nothing &&
		is_in_windows 800 && grep -q 'windows of CPU time' /tmp/report \
			&&
		trip inner 7 && trip middle 3
}

# The shares depend on the machine: tests/accuracy/burst has figures.
shares_time()
{
	record -e loops,burst=200 -c $every -- ./long_trips &&
		hwprof report loops -i $data --json |
			grep -q '"share_of": "time"' || return
	awk '$1 ~ /^[0-9.]+%$/ { print; sum += $1 }
		END { exit !(sum > 0 && sum < 101) }' /tmp/report
}

# Even the shortest window begins with a gap, and has a line.
short_ones()
{
	record -e loops,burst=2 -c $every -- ./long_trips && loses_nothing ||
		return
	echo "$(events) events in $(gaps) windows"
	[ "$(gaps)" -ge 2 ] && [ "$(events)" -le $((8 * $(gaps))) ]
}

long_ones()
{
	record -e loops,burst=16383 -c 1000000 -- ./long_trips &&
		loses_nothing &&
		trip inner 7 && trip middle 3
}

by_frequency()
{
	record -e loops,burst=200 -F 5000 -- ./long_trips && loses_nothing &&
		trip inner 7
}

# Bursts that see loads also see their values.
values_of_bursts()
{
	about=values
	record -e values,burst=25,memory_mib=64 -c $every -- sh -c '
		i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done' &&
		loses_nothing && grep -q 'windows of CPU time' /tmp/report &&
		grep -q '^complete to [0-9.]* %' /tmp/report &&
		[ "$(hwprof report values -i $data --json |
			grep -c '"executions"')" -ge 10 ]
	status=$?
	about=loops
	return $status
}

on_a_budget()
{
	record -e loops,burst=20 --budget 5% -- sh -c "$ten_times" &&
		loses_nothing &&
		has_overhead 5 || return
	record -e loops,burst=20,budget_permille=1000 -F 1000 -- ./long_trips &&
		loses_nothing && has_overhead 100
}

on_the_usual_budget()
{
	record -e loops,burst=20 -- sh -c "$ten_times" && has_overhead 1
}

# The time of all processes counts for the budget. A burst in one delays bursts
# in the next for long.
on_a_budget_of_many()
{
	record -e loops,burst=20 --budget 10% -- sh -c '
		for i in 1 2 3 4 5 6 7 8; do ./trips & ./trips; done; wait' &&
		loses_nothing && has_overhead 10
}

forks_and_execs()
{
	record -e loops,burst=200 -c $every -- sh -c '
		./long_trips & ./long_trips & wait
		./long_trips; exec ./long_trips' &&
		loses_nothing && trip inner 7 && trip middle 3
}

all_cpus()
{
	record -a -e loops,burst=200 -c $every -- ./long_trips &&
		loses_nothing &&
		trip inner 7
}

running()
{
	./spin & spin=$!
	record -p $spin -e loops,burst=200 -c $every -- sleep 0.5
	status=$?
	kill $spin
	[ $status = 0 ] && grep -q ' spin ' /tmp/report
}

two_at_once()
{
	record -e loops,burst=200 -e loops,burst=50 -c $every -- ./long_trips &&
		grep -q '2 sessions' /tmp/report && trip inner 7
}

# All branches are seen, even while another session sees some of them.
beside_all()
{
	record -e loops -- hwprof record -q -o /tmp/some.data \
		-e loops,burst=200 -c $every -- ./trips || return
	hwprof report loops -i $data | awk '$0 ~ / inner\+/ { print $2, $3 }' \
		> /tmp/seen
	cat /tmp/seen
	[ "$(cat /tmp/seen)" = "90,000 630,000" ] || return
	accounted /tmp/some.data &&
		hwprof report loops -i /tmp/some.data > /tmp/report &&
		trip inner 7
}

refuses()
{
	stat_refuses loops,burst=16384 && stat_refuses branches,burst=200 &&
		stat_refuses loops,lbr,burst=200 &&
		! perf record -q -e hwprof/loops,burst=200/u -o $data -- ./trips
}

by_a_counter()
{
	record -e loops,burst=200,trigger=0x20c4 -c 10007 -- ./long_trips &&
		loses_nothing && is_in_windows 200 &&
		grep -q 'windows of branches' /tmp/report &&
		trip inner 7 && trip middle 3
}

# Callers and callees in bursts.
calls_of_bursts()
{
	about=calls
	record -e calls,burst=200,trigger=0x20c4 -c 10007 -- ./long_trips &&
		loses_nothing && calls 5
	status=$?
	about=loops
	return $status
}

# Three of four paths that are seen whole belong to inner, and none is lost.
paths_of_bursts()
{
	about=paths
	record -e paths,burst=200,trigger=0x20c4 -c 10007 -- ./long_trips &&
		loses_nothing && hottest_path inner 'windows of branches' &&
		record -e paths,burst=200 -F 997 -- ./long_trips &&
		loses_nothing && time_on_paths
	status=$?
	about=loops
	return $status
}

has_no_counter()
{
	stat_refuses loops,burst=200,trigger=0x20c4
}

by_a_counter_on_a_budget()
{
	record -e loops,burst=20,trigger=0x20c4 --budget 5% -- ./long_trips &&
		loses_nothing && has_overhead 5 &&
		! grep -q 'windows of branches' /tmp/report
}

is_for_users()
{
	su user -c "hwprof record -q -o /tmp/user.data -m 16 -c $every \
			-e loops,burst=200,memory_mib=1 -- ./trips" &&
		accounted /tmp/user.data &&
		! su user -c "hwprof record -q -a -o /tmp/user.data -m 16 \
			-c $every -e loops,burst=200,memory_mib=1 -- ./trips"
}

cpus_go_and_come()
{
	under_hotplug ./long_trips -e loops,burst=200 -c $every
}

unload()
{
	reloads ./long_trips -e loops,burst=200 -c $every
}

test_ok "burst: trip counts" estimates
if ! grep -q '^yes$' $caps/lbr; then
	test_ok "burst: refused by a counter, where there is none" \
		has_no_counter
	finish
	exit
fi
# The rest is the same with and without a PMU.
test_ok "burst: calls" calls_of_bursts
test_ok "burst: values" values_of_bursts
test_ok "burst: of 2 branches" short_ones
test_ok "burst: forks and execs" forks_and_execs
test_ok "burst: -a" all_cpus
test_ok "burst: two sessions" two_at_once
test_ok "burst: CPU hotplug" cpus_go_and_come
test_ok "burst: unload and reload" unload
rest_is_no_news
test_ok "burst: beside one that sees all" beside_all
test_ok "burst: by a counter, on a budget" by_a_counter_on_a_budget
test_ok "burst: paths" paths_of_bursts
test_ok "burst: many processes on a budget" on_a_budget_of_many
test_ok "burst: by a counter" by_a_counter
test_ok "burst: shares of time" shares_time
test_ok "burst: of 16,383 branches" long_ones
test_ok "burst: -F" by_frequency
test_ok "burst: on a budget" on_a_budget
test_ok "burst: on the usual budget" on_the_usual_budget
test_ok "burst: perf stat" stat_counts loops,burst=200 1 ./long_trips
test_ok "burst: -p" running
test_ok "burst: what there is not" refuses
test_ok "burst: as an ordinary user" with_paranoid 2 is_for_users
finish
