# SPDX-License-Identifier: GPL-2.0-only
# To be sourced by tests that are shell scripts: TAP, as kselftest prints it.
# Its own variables begin with tap_.

tap_count=0
tap_failed=0
caps=/sys/bus/event_source/devices/hwprof/caps

# test_ok NAME COMMAND...: checks that it succeeds
test_ok()
{
	tap_name=$1
	shift
	tap_count=$((tap_count + 1))
	if "$@" > /tmp/tap.log 2>&1; then
		echo "ok $tap_count $tap_name"
	else
		echo "not ok $tap_count $tap_name"
		sed 's/^/# /' /tmp/tap.log | head -40
		tap_failed=$((tap_failed + 1))
	fi
}

# perf_reads EVENT COMMAND...: checks that stock perf has the counts and totals
# of a process when its events are disabled. COMMAND runs meanwhile, with the
# process in $pid. perf visits each CPU for that, and takes it from the program,
# which may continue on another one.
perf_reads()
(
	event=$1 file=/tmp/process.data
	shift
	./spin & export pid=$!
	perf record -q -R -o $file -e "$event,rows,interval_ms=60000/u" -p \
		$pid \
		-- "$@"
	status=$?
	kill -KILL $pid
	sum=$(perf script -i $file -F comm,period |
		awk '$1 == "spin" { sum += $2 } END { print sum + 0 }')
	echo "status $status, a sum of $sum"
	[ $status = 0 ] && [ "$sum" -gt 0 ]
)

# perf_reads_stopped EVENT: does the same with the process on no CPU.
perf_reads_stopped()
{
	perf_reads "$1" sh -c 'sleep 2; kill -STOP $pid; sleep 1'
}

# A function of awk: the number behind a name in a line of hwprof script.
tap_number='
	function number(name)
	{
		match($0, " " name "=[0-9]+")
		name = substr($0, RSTART, RLENGTH)
		sub(/.*=/, "", name)
		return name + 0
	}'

# accounted FILE...: checks recordings that were made together. In each totals
# row, produced = delivered + lost + evicted + pending, and the rows have
# everything that was delivered. Samples have no totals.
accounted()
(
	for file in "$@"; do
		command hwprof script -i "$file" || echo unreadable
	done | awk "$tap_number"'
		/^unreadable$/ { wrong = 1; exit }
		/ sample pid=/ { next }
		{ session = number("session") }
		!/(^| )totals pid=/ {
			arrived[session] += number("period")
			next
		}
		{
			produced = number("produced")
			delivered = number("delivered")
			if (produced != delivered + number("lost") +
					number("evicted") + number("pending")) {
				print "does not add up: " $0
				wrong = 1
			}
			if (!(session in newest) ||
			    produced + delivered >= newest[session]) {
				newest[session] = produced + delivered
				told[session] = delivered
			}
			rows++
		}
		END {
			for (session in told) {
				if (told[session] == arrived[session] + 0)
					continue
				print "session " session ": " told[session] \
				      " delivered, of which came " \
				      arrived[session] + 0
				wrong = 1
			}
			exit wrong || !rows
		}'
)

# recorded TOOL ARGUMENT...: checks the account of its recording. For perf it
# must have recorded rows, with -R and, if -c has a period, --period.
recorded()
(
	tool=$1 output=$1.data rows=
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		case $1 in
		-o) output=$2 ;;
		*hwprof/*rows*) rows=yes ;;
		esac
		shift
	done
	[ -e "$output" ] || output="$output.[0-9]*"
	[ "$tool$rows" = perf ] || accounted $output || {
		echo "$output: not all is accounted for"
		exit 1
	}
) >&2

# run TOOL ARGUMENT...: runs it, and checks the account of a recording
run()
{
	command "$@" || return
	[ "$2" != record ] || recorded "$@"
}

hwprof()
{
	run hwprof "$@"
}

perf()
{
	run perf "$@"
}

# sessions NUMBER: waits until there are so many; they end a moment after their
# last event.
sessions()
{
	until [ "$(cat $caps/sessions)" = "$1" ]; do usleep 10000; done
}

# says TEXT COMMAND...: checks that the command fails, and says TEXT, a pattern
says()
{
	text=$1
	shift
	"$@" > /tmp/said 2>&1 && return 1
	cat /tmp/said
	grep -q -- "$text" /tmp/said
}

# stat_counts EVENT LEAST COMMAND...: checks that stock perf counts as many
stat_counts()
{
	event=$1 least=$2
	shift 2
	counted=$(perf stat -x, -e "hwprof/$event/u" -- "$@" 2>&1 |
		cut -d, -f1)
	echo "counted $counted"
	[ "$counted" -ge "$least" ]
}

# stat_says EVENT TEXT: checks what stock perf says when it counts ./trips
stat_says()
{
	perf stat -e "hwprof/$1/u" -- ./trips 2>&1 | grep "$2"
}

# stat_refuses EVENT: checks that there is no such event. perf says so in other
# words in 7.3 than up to 6.12.
stat_refuses()
{
	stat_says "$1" 'not supported\|^No supported events found'
}

skip()
{
	tap_count=$((tap_count + 1))
	echo "ok $tap_count $1 # SKIP $2"
}

# needs SOURCE: skips all tests without it
needs()
{
	missing=$(cat "$caps/$1")
	[ "$missing" != yes ] || return 0
	skip all "$1: $missing"
	finish
	exit
}

# The following tests the tools, and paths of the kernel that other tests also
# take. It is left out in a short run, and on a kernel that checks itself, where
# perf takes ten times as long.
rest_is_no_news()
{
	case $KSELFTEST_KERNEL$KSELFTEST_SHORT in
	*debug* | *yes) finish; exit ;;
	esac
}

finish()
{
	echo "1..$tap_count"
	echo "# Totals: pass:$((tap_count - tap_failed)) fail:$tap_failed"
	[ $tap_failed = 0 ]
}

echo "TAP version 13"
cd "$(dirname "$0")" || exit 1
