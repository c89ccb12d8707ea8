#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Eight CPUs that all learn something all the time: the rows of each one come
# while it runs. Each CPU gives its table to the next one in turn. The memory of
# the second recording suffices for six tables.
. "${0%/*}/tap.sh"

# How long: a machine that other work slows down sees little in each second.
lengths="8 16 32"

# rows_of_all: prints how often each process had rows in the second half of the
# recording. Returns false if one had none.
rows_of_all()
{
	perf script -i /tmp/cpus.data -F comm,pid,time | awk '
		$1 == "spin" { time[NR] = $3 + 0; pid[NR] = $2; last = $3 + 0 }
		END {
			for (row in time)
				if (time[row] > last - '$seconds' / 2)
					rows[pid[row]]++
			for (one in rows) {
				print "process", one ":", rows[one], "rows"
				count++
			}
			print count + 0, "processes"
			exit count != '"$cpus"'
		}'
}

cpus=$(nproc) spinners=
[ "$cpus" -ge 8 ] || {
	skip "rows of each CPU" "this machine has fewer than 8 CPUs"
	finish
	exit
}
for cpu in $(seq 0 $((cpus - 1))); do
	taskset -c "$cpu" ./spin & spinners="$spinners $!"
done

# record EVENT PERIOD: records all CPUs for $seconds
record()
{
	perf record -q -R --period -o /tmp/cpus.data -c "$2" -a \
		-e "hwprof/$1,rows,interval_ms=200/u" -- sleep $seconds
}

# try EVENT PERIOD: records until each process has rows. Without its table in
# turn, a CPU has none however long that is.
try()
{
	for seconds in $lengths; do
		record "$@" && rows_of_all && return
	done
	return 1
}

test_rows()
{
	test_ok "$1: rows of each CPU's process, until the end" try "$@"
}

test_rows loops,burst=20,budget_permille=20 1
test_rows cct,sample,memory_mib=1 1000000
kill -KILL $spinners

# works_alone EVENT PERIOD: records all CPUs while a program runs on the last
# one. The others have taken all tables by then, and learn next to nothing.
works_alone()
{
	seconds=8
	taskset -c $((cpus - 1)) ./spin & spinner=$!
	record "$@"
	kill -KILL $spinner
	hwprof script -i /tmp/cpus.data | awk "$tap_number"'
		/ totals pid=/ {
			delivered = number("delivered")
			lost = number("lost")
		}
		END {
			print delivered " delivered, " lost " lost"
			exit delivered <= 3 * lost
		}'
}

for event in cct,sample,memory_mib=1:1000000 loops,step,memory_mib=1:1; do
	test_ok "${event%:*}: idle CPUs give a table to the one that works" \
		works_alone "${event%:*}" "${event##*:}"
done
finish
