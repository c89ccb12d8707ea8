#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Rules of perf that users expect of a PMU.
. "${0%/*}/windows.sh"
needs lbr

BACK=629999			# back edges of `trips`
TAKEN=$((30000 * (3 * 8 + 2 + 2 + 1)))
rate=/proc/sys/kernel/perf_event_max_sample_rate
paranoid=/proc/sys/kernel/perf_event_paranoid

# stat EVENTS PROGRAM: into /tmp/stat, "count;unit;event;run time;percent;..."
stat()
{
	perf stat -x ';' -o /tmp/stat -e "$1" -- "$2" && cat /tmp/stat
}

# each PATTERN CONDITION: checks each row whose event matches, and that there is
# one.
each()
{
	awk -F ';' -v name="$1" '
		$3 ~ name { seen++; if (!('"$2"')) exit 1 }
		END { exit !seen }' /tmp/stat
}

# Six triggers share four counters. Each has a counter for a part of the time,
# like two of perf's own events, and shows it only by seeing less. Estimates are
# not affected.
more_than_counters()
{
	perf stat -x ';' -o /tmp/stat -e r20c4:u,r20c4:u -- \
		hwprof record -q -o $data -c 499 -e loops,lbr \
			-e loops,lbr,span=1024 -e loops,lbr,span=2048 \
			-e loops,lbr,span=3072 -e ranges,lbr \
			-e ranges,lbr,epsilon_ppm=20000 -- ./long_trips &&
		cat /tmp/stat && each r20c4 '$5 < 100' &&
		accounted $data || return
	hwprof report loops -i $data > /tmp/report || return
	cat /tmp/report
	grep -q ' sessions from lbr' /tmp/report && adds_up &&
		trip inner 7 && trip middle 3
}

# Checks the account in the report: produced = delivered + lost + evicted +
# pending.
adds_up()
{
	sed -n 's/,//g; / back edges = /p' /tmp/report | awk '
		$1 != $5 + $8 + $11 + $14 { exit 1 }
		END { exit NR != 1 }'
}

# perf's own events are multiplexed beside a trigger, and scaled. hwprof's event
# has no counter itself, runs all the time and is never scaled.
scaled_beside()
{
	stat r20c4:u,r20c4:u,r20c4:u,r20c4:u,hwprof/loops,lbr/u,hwprof/loops/u \
		./trips && each 'hwprof' '$5 == 100 && $1 > 0' &&
		each 'hwprof/loops/u' '$1 == '$BACK
}

# With one interrupt per tick there are fewer windows. hwprof's file has no
# record of that, because no sample of an event in it is missing. Stock perf has
# one.
throttled()
{
	old=$(cat $rate)
	echo 25 > /proc/sys/kernel/perf_cpu_time_max_percent
	echo 1 > $rate
	record -e loops,lbr -c 97 -- ./trips && adds_up &&
		perf script -D -i $data > /tmp/records &&
		perf record -q -b -e r20c4:u -c 97 -o /tmp/perf.data -- \
			./trips &&
		perf script -D -i /tmp/perf.data > /tmp/perf.records
	status=$?
	echo "$old" > $rate
	echo 0 > /proc/sys/kernel/perf_cpu_time_max_percent
	echo "$(gaps) windows, not $((TAKEN / 97))"
	[ $status = 0 ] && [ "$(gaps)" -gt 0 ] &&
		[ "$(gaps)" -lt $((TAKEN / 97 / 2)) ] &&
		grep -q RECORD_THROTTLE /tmp/perf.records &&
		! grep -q RECORD_THROTTLE /tmp/records
}

# The whole group runs at the same time, hardware and software events.
grouped()
{
	stat '{cycles:u,hwprof/loops/u,hwprof/loops,lbr/u}' ./trips &&
		each . '$1 > 0 && $5 == 100' &&
		each 'hwprof/loops/u' '$1 == '$BACK || return
	stat '{hwprof/loops,lbr/u,instructions:u,hwprof/ranges,sample/u}' \
		./long_trips && each . '$1 > 0 && $5 == 100'
}

# A sample of the leader has hwprof's count at that time.
read_by_leader()
{
	perf record -q -o $data -c 100003 -e \
		'{instructions:u,hwprof/loops/u}:S' \
		-- ./trips && perf script -i $data -F event,period > \
		/tmp/script ||
		return
	awk '$2 ~ /hwprof/ { sum += $1; seen++ }
	     END { print seen, sum
		   exit !(seen > 1 && sum > 0 && sum <= '$BACK') }' /tmp/script
}

# objects MODIFIERS: prints the objects of the loops of a program.
objects()
{
	record -e "loops,lbr/$1" -c $kernel_every -- \
			sh -c "$in_kernel; ./trips" > /dev/null &&
		awk '{ for (i = 1; i <= NF; i++)
			if ($i == "[kernel]" || $i == "trips") print $i }' \
			/tmp/report | sort -u | tr '\n' ' '
}

by_privilege()
{
	for modifiers in u k uk; do
		seen=$(objects $modifiers)
		echo "$modifiers: $seen"
		case "$modifiers: $seen" in
		"u: trips " | "k: [kernel] " | "uk: [kernel] trips ") ;;
		*) return 1 ;;
		esac
	done
}

# There is no hypervisor to exclude, or to select.
of_hypervisor()
{
	stat hwprof/loops,lbr/ukh ./trips && each hwprof '$1 > 0' &&
		stat hwprof/loops,lbr/h ./trips && each hwprof '$1 == 0'
}

# as_user EXPECTED OPTION... -- COMMAND...: records as a user. EXPECTED is
# "yes", or "no" if the user lacks the right.
as_user()
{
	expected=$1
	shift
	if su user -c "hwprof record -q -o /tmp/user.data -m 16 -c 499 $*" \
	   > /tmp/said 2>&1; then
		accounted /tmp/user.data || return
		got=yes
	else
		grep -q 'not permitted' /tmp/said || cat /tmp/said
		got=no
	fi
	echo "paranoid $(cat $paranoid): $*: $got"
	[ $got = "$expected" ]
}

# allows LEVEL OWN_USER OWN_KERNEL ALL: checks what each level of perf allows.
allows()
{
	echo "$1" > $paranoid
	as_user "$2" -e loops,lbr,memory_mib=1/u -- ./trips &&
		as_user "$3" -e loops,lbr,memory_mib=1/uk -- ./trips &&
		as_user "$4" -a -e loops,lbr,memory_mib=1/u -- ./trips
}

paranoid()
{
	old=$(cat $paranoid)
	allows 0 yes yes yes && allows 1 yes yes no && allows 2 yes no no &&
		allows 3 no no no
	status=$?
	echo "$old" > $paranoid
	return $status
}

test_ok "behaviours: throttling" throttled
test_ok "behaviours: groups" grouped
rest_is_no_news
test_ok "behaviours: more events than counters" more_than_counters
test_ok "behaviours: beside events that are scaled" scaled_beside
test_ok "behaviours: a leader's samples" read_by_leader
test_ok "behaviours: user and kernel" by_privilege
test_ok "behaviours: hypervisor" of_hypervisor
test_ok "behaviours: perf_event_paranoid" paranoid
finish
