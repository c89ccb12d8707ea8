#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# hwprof record --when --then: what productions count, and which branches they
# let a profile see, is what a second evaluation of all events says. The events
# are those of another run of the same program, which does the same each time.
. "${0%/*}/tap.sh"
needs step
command -v hwprof > /dev/null || { skip all "no hwprof"; finish; exit; }
case $(hwprof help bpf) in
*BPF=no*) skip all "hwprof was built without BPF programs"; finish; exit ;;
esac

# Addresses on the stack are the same in each run, too.
echo 0 > /proc/sys/kernel/randomize_va_space

# Events, one a line: number, kind (0: branch, 1: load, 2: store), instruction,
# target or address, kind of branch or width.
command hwprof bpf -n 0 -o /tmp/trace.text ./trace.bpf.o -- ./filtered
awk 'NF == 6 && $1 ~ /^[0-9]+$/ { print $1, $3, $4, $5, $6 }' \
	/tmp/trace.text > /tmp/trace

address()
{
	objdump -t ./filtered | awk -v name="$1" '$NF == name {
		sub(/^0*/, "0x", $1); print $1 }'
}
wanted=$(address wanted) leaf=$(address leaf)

# when ARGUMENT...: records ./filtered, and prints the counts' rows
when()
{
	hwprof record -q -o /tmp/when.data --counts /tmp/counts "$@" -- \
		./filtered || return
	grep -v "^[a-z ]*count$\|:$\| none$" /tmp/counts |
		awk '/^ *[0-9]/ { $1 = $1; print }' | sort
}

# same PROGRAM ARGUMENT...: checks that they count what PROGRAM, which is awk's,
# prints about the events
same()
{
	awk -v wanted="$wanted" -v leaf="$leaf" "$1" /tmp/trace | sort \
		> /tmp/expected
	shift
	when "$@" > /tmp/got || return
	echo "$(wc -l < /tmp/expected) rows, and $(wc -l < /tmp/got)"
	diff /tmp/expected /tmp/got | head -20
	[ -s /tmp/expected ] && cmp -s /tmp/expected /tmp/got
}

[ -s /tmp/trace ] && [ -n "$wanted" ] && [ -n "$leaf" ]
test_ok "there are events" [ $? = 0 ]

test_ok "count branches" same '
	$2 == 0 { sum[$3 " " $4]++ }
	END { for (key in sum) print key, sum[key] }' \
	--when branch --then 'count(from,to)'
test_ok "count all" same '$2 == 2 { sum++ } END { print sum }' \
	--when store --then count
test_ok "compare" same '
	$2 == 1 && $5 > 4 && $3 <= wanted { sum[$5 " " $3]++ }
	END { for (key in sum) print key, sum[key] }' \
	--when 'load(width>4, ip <= wanted)' --then 'count(width, ip)'
test_ok "compare arguments" same '
	$2 == 0 && $5 == 1 && $4 < $3 { sum[$4]++ }
	END { for (key in sum) print key, sum[key] }' \
	--when 'branch(kind = cond, to < from)' --then 'count(to)'
test_ok "bits in common" same '
	$2 == 0 && ($5 == 4 || $5 == 5 || $5 == 6) { sum[$5]++ }
	END { for (key in sum) print key, sum[key] }' \
	--when 'branch(kind & 4)' --then 'count(kind)'
test_ok "functions" same '
	$2 == 0 && $5 == 4 && ($4 == wanted || $4 == leaf) { sum[$4]++ }
	END { for (key in sum) print key, sum[key] }' \
	--when 'call(to=wanted)' --then 'count(to)' \
	--when 'call(to=leaf@./filtered)' --then 'count(to)'
test_ok "several at an event" same '
	$2 == 0 { all++ }
	$2 == 0 && $5 == 5 { returns++ }
	END { print all; print returns }' \
	--when branch --then count --when 'branch(kind=ret)' --then count

# The last 100 of each 1,000 branches: a sampling counter and a burst counter as
# HPS has them.
test_ok "sampling and burst counters" same '
	$2 == 0 {
		if (sampling >= 900 && ++burst > 100)
			sampling = burst = 0
		if (sampling < 900)
			sampling++
	}
	$2 == 1 && sampling >= 900 { sum[$3]++ }
	END {
		for (key in sum)
			print key, sum[key]
	}' \
	--when 'branch(sampling>=900)' --then 'burst_count+=1' \
	--when 'branch(burst_count>100)' --then 'sampling=0, burst_count=0' \
	--when 'branch(sampling<900)' --then 'sampling+=1' \
	--when 'load(sampling>=900)' --then 'count(ip)'

# Trip counts of loops, as powers of two, beside those of the program triphist
histogram()
{
	command hwprof bpf -n 0 -o /tmp/triphist triphist -- ./filtered &&
	awk '/^ *0x/ && $3 > 1 {
		for (low = 1; low * 2 <= $3; low *= 2)
			;
		sum[low " " $1] += $4
	}
	END { for (key in sum) print key, sum[key] }' /tmp/triphist |
		sort > /tmp/expected || return
	when --when 'loop_exit(trip>1)' --then 'hist(trips, head)' > /tmp/got
	diff /tmp/expected /tmp/got && [ -s /tmp/expected ]
}
test_ok histogram histogram

# branches_of FILE: branches that the recorded edges have
branches_of()
{
	command hwprof script -i "$1" | awk '
		function value(name)
		{
			match($0, " " name "=[0-9a-fx]+")
			return substr($0, RSTART + length(name) + 2,
				      RLENGTH - length(name) - 2)
		}
		/ edge pid=/ && value("end") != "0x0" { sum += value("count") }
		END { print sum + 0 }'
}

# seen PROGRAM ARGUMENT...: checks that the profile has as many branches as
# PROGRAM prints
seen()
{
	expected=$(awk -v wanted="$wanted" -v leaf="$leaf" "$1" /tmp/trace)
	shift
	hwprof record -q -e edges,step -o /tmp/seen.data --counts /dev/null \
		"$@" -- ./filtered || return
	got=$(branches_of /tmp/seen.data)
	echo "$got branches of $expected"
	[ "$got" = "$expected" ] && [ "$got" -gt 0 ]
}
test_ok "bursts of 20 branches" seen '
	$2 == 0 && left > 0 { left--; sum++ }
	$2 == 0 && $5 == 4 && $4 == wanted { left = 20 }
	END { print sum }' --when 'call(to=wanted)' --then burst=20
test_ok "burst on and off" seen '
	$2 == 0 && on { sum++ }
	$2 == 0 && $5 == 4 && $4 == leaf { on = 1 }
	$2 == 0 && $5 == 4 && $4 == wanted { on = 0 }
	END { print sum }' \
	--when 'call(to=leaf)' --then burst=on \
	--when 'call(to=wanted)' --then burst=off
# Exits of loops come from a profile that sees everything.
after_exits()
{
	hwprof record -q -e edges,step -o /tmp/seen.data --counts /dev/null \
		--when 'loop_exit(trips>30)' --then 'burst=10' -- ./filtered ||
		return
	got=$(branches_of /tmp/seen.data)
	exits=$(when --when 'loop_exit(trips>30)' --then count)
	echo "$got branches after $exits exits"
	[ "$got" -gt 0 ] && [ "$got" -le $((10 * exits)) ]
}
test_ok "bursts after exits of loops" after_exits
test_ok stop seen '
	$2 == 0 && !stopped { sum++ }
	$2 == 0 && $5 == 4 && $4 == wanted && ++calls == 50 { stopped = 1 }
	END { print sum }' \
	--when 'call(to=wanted)' --then 'calls+=1' \
	--when 'call(calls>=50)' --then stop

# Rows of several times: those of snapshots after each 100 calls, which may come
# late, and of the end. Their sum is exact.
snapshots()
{
	hwprof record -q -e loops,step -o /tmp/once.data -- ./filtered &&
	hwprof record -q -e loops,step -o /tmp/several.data \
		--counts /tmp/counts --counts-json \
		--when 'call(to=wanted)' --then 'calls+=1' \
		--when 'call(calls=100)' --then 'snapshot, calls=0' \
		-- ./filtered || return
	cat /tmp/counts
	for file in once several; do
		command hwprof report -i /tmp/$file.data --json |
			grep -o '"head": [^,]*\|"back_edges_seen": [0-9]*' \
			> /tmp/$file
	done
	totals=$(command hwprof script -i /tmp/several.data |
		grep -c "totals pid=")
	echo "$totals totals"
	diff /tmp/once /tmp/several && [ -s /tmp/once ] && [ "$totals" -ge 2 ]
}
test_ok snapshots snapshots

# Real bursts get longer where a function is called.
longer()
{
	for burst in 40 400; do
		hwprof record -q -e edges,burst=20 -c 1000000 \
			-o /tmp/burst.data --counts /dev/null \
			--when 'call(to=inner)' --then "burst=$burst" -- \
			./long_trips || return
		command hwprof script -i /tmp/burst.data | awk '
			function value(name)
			{
				match($0, " " name "=[0-9]+")
				return substr($0, RSTART + length(name) + 2,
					      RLENGTH - length(name) - 2)
			}
			/totals pid=/ {
				windows = value("windows")
				events = value("events")
			}
			END { print int(events / windows) }'
	done > /tmp/lengths
	cat /tmp/lengths
	# A burst goes on as long as calls come: each has the same again.
	[ "$(sed -n 1p /tmp/lengths)" -gt 30 ] &&
		[ "$(sed -n 2p /tmp/lengths)" -gt 300 ]
}
test_ok "longer bursts" longer

# A program at a random address: a function is found in its maps.
echo 2 > /proc/sys/kernel/randomize_va_space
moved()
{
	hwprof record -q -o /tmp/moved.data --counts /tmp/counts \
		--when 'call(to=child)' --then 'count(to)' \
		--when 'call(to=parent)' --then 'count(to)' -- ./plugged 3 ||
		return
	cat /tmp/counts
	[ "$(awk '$1 ~ /^0x/ { print $2 }' /tmp/counts | tr '\n' ' ')" = "1 1 " ]
}
test_ok "a program at a random address" moved

json()
{
	hwprof record -q -o /tmp/json.data --counts /tmp/counts --counts-json \
		--when 'call(to=wanted)' --then 'count(to), calls+=1' -- \
		./filtered || return
	cat /tmp/counts
	grep -q "\"to\": \"$wanted\"" /tmp/counts &&
	grep -q '"calls": [1-9]' /tmp/counts &&
	grep -q '"lost": 0' /tmp/counts
}
test_ok json json

# says STATUS SENTENCE ARGUMENT...: checks that recording fails like that
says()
{
	expected=$1 sentence=$2
	shift 2
	command hwprof record -o /tmp/none.data "$@" -- ./filtered 2> /tmp/said
	status=$?
	cat /tmp/said
	[ $status = "$expected" ] && grep -q -- "$sentence" /tmp/said
}
test_ok "no such function" says 1 "has no function 'nothing'" \
	--when 'call(to=nothing)' --then count
test_ok "no samples" says 2 "for samples, -e cct,sample" \
	--when sample --then count
test_ok "no distances" says 2 "sees everything" --when call --then later
test_ok "no bursts" says 2 "has no bursts" -e ranges,sample \
	--when sample --then burst=3
test_ok "no rows" says 2 "rows=0" -e hwprof/loops,step/u \
	--when call --then count
# A user without capabilities gets no program.
no_rights()
{
	su user -c "hwprof record -o /tmp/user.data --when call --then count \
		-- true" 2> /tmp/said
	status=$?
	cat /tmp/said
	[ $status = 1 ] && grep -q "CAP_BPF" /tmp/said
}
test_ok "no rights" no_rights
finish
