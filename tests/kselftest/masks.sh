#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# --mask of the tools: a recording has the rows that pass, as one of everything
# has them, and no others; so has a program; and a mask is set while a session
# runs.
. "${0%/*}/tap.sh"
needs step
command -v hwprof > /dev/null || { skip all "no hwprof"; finish; exit; }

call=4

# branches FILE: how often each branch led where, by kind. Lines end where a
# branch is left out, so that ends differ.
branches()
{
	command hwprof script -i "$1" | awk '
		function value(name)
		{
			match($0, " " name "=[0-9a-fx]+")
			return substr($0, RSTART + length(name) + 2,
				      RLENGTH - length(name) - 2)
		}
		/(^| )edge pid=/ && value("from") != "0x0" {
			sum[value("from") " " value("to") " " value("kind")] +=
				value("count")
		}
		END { for (branch in sum) print branch, sum[branch] }' | sort
}

# same FILE FILE: checks that they are the same, and have something
same()
{
	wc -l "$1" "$2"
	diff "$1" "$2" | head -20
	[ -s "$1" ] && cmp -s "$1" "$2"
}

edges()
{
	hwprof record -q -e edges,step -o /tmp/all.data -- ./filtered &&
	hwprof record -q -e edges,step -o /tmp/calls.data --mask kind=call \
		-- ./filtered || return
	branches /tmp/all.data | awk -v kind=$call '$3 == kind' > /tmp/all.text
	branches /tmp/calls.data > /tmp/calls.text
	same /tmp/all.text /tmp/calls.text
}
test_ok edges edges

# says_which FILE MASK: checks that reports tell the mask, and no change
says_which()
{
	command hwprof report edges -i "$1" > /tmp/mask.report 2>&1 &&
		command hwprof report edges --json -i "$1" > /tmp/mask.json ||
		return
	grep -v "^ *[0-9]" /tmp/mask.report
	grep -q "^events were left out by the mask $2\$" /tmp/mask.report &&
		! grep -q "have changed" /tmp/mask.report &&
		tr -d ' \n' < /tmp/mask.json | grep -qF "\"masks\":[\"$2\"]"
}
test_ok "reports tell the mask" says_which /tmp/calls.data kind=call
test_ok "reports of everything tell none" \
	sh -c '! hwprof report edges -i /tmp/all.data 2>&1 | grep "left out"'

# Beside a filter: both must let a branch pass.
beside_a_filter()
{
	hwprof record -q -e edges,step -o /tmp/all.data \
		--filter wanted@./filtered -- ./filtered &&
	hwprof record -q -e edges,step -o /tmp/calls.data --mask kind=call \
		--filter wanted@./filtered -- ./filtered || return
	branches /tmp/all.data | awk -v kind=$call '$3 == kind' > /tmp/all.text
	branches /tmp/calls.data | awk -v kind=$call '$3 == kind' \
		> /tmp/calls.text
	same /tmp/all.text /tmp/calls.text
}
test_ok "beside a filter" beside_a_filter

# loads OPTION...: what stat counts
loads()
{
	command hwprof stat -e values,step -o /tmp/stat "$@" --json \
		-- ./filtered || return
	sed -n 's/.*"produced": \([0-9]*\).*/\1/p' /tmp/stat
}

# All loads are of one width.
widths()
{
	all=$(loads) sum=0
	for width in 1 2 4 8 16 32 64; do
		sum=$((sum + $(loads --mask kind=load,width=$width)))
	done
	echo "$all loads, and $sum of all widths"
	[ "$all" -gt 0 ] && [ "$all" = "$sum" ]
}
test_ok "loads of all widths" widths

if hwprof help bpf | grep -q BPF=no; then
	skip programs "hwprof was built without BPF programs"
else
	# edges_of FILE OPTION...: what the program edges counts there
	edges_of()
	{
		file=$1
		shift
		command hwprof bpf -n 0 -o /tmp/program "$@" edges -- \
			./filtered || return
		awk 'NF == 5 && $1 ~ /^0x/ { print $1, $2, $4, $5 }' \
			/tmp/program | sort > "$file"
	}

	programs()
	{
		edges_of /tmp/all.text &&
		edges_of /tmp/calls.text --mask kind=call || return
		awk -v kind=$call '$3 == kind' /tmp/all.text > /tmp/wanted.text
		same /tmp/wanted.text /tmp/calls.text
	}
	test_ok programs programs

	# total OPTION...: accesses that the program stride counts: all but the
	# first of each instruction
	total()
	{
		command hwprof bpf -n 0 --json -o /tmp/program "$@" stride \
			-- ./filtered || return
		grep -o '"count": [0-9]*' /tmp/program |
			awk '{ sum += $2 } END { print sum + 0 }'
	}

	# The program makes the session look at loads and stores, so that the
	# mask may test them.
	accesses()
	{
		all=$(total) loads=$(total --mask kind=load)
		stores=$(total --mask kind=store)
		none=$(total --mask kind=branch)
		echo "$all accesses, $loads loads, $stores stores, $none"
		[ "$loads" -gt 0 ] && [ "$stores" -gt 0 ] && [ "$none" = 0 ] &&
			[ "$all" -ge $((loads + stores)) ]
	}
	test_ok "accesses of programs" accesses

	# counted FILE OPTION...: what a production counts
	counted()
	{
		file=$1
		shift
		command hwprof record -q -e values,step -o /tmp/when.data \
			--when load --then 'count(width)' \
			--counts /tmp/counts "$@" -- ./filtered &&
			awk '/^ *[0-9]/ { $1 = $1; print }' /tmp/counts \
				> "$file"
	}

	# All loads of the program are of eight bytes.
	productions()
	{
		counted /tmp/all.text &&
		counted /tmp/eight.text --mask width=8 &&
		counted /tmp/four.text --mask width=4 || return
		cat /tmp/all.text /tmp/eight.text /tmp/four.text
		same /tmp/all.text /tmp/eight.text && [ ! -s /tmp/four.text ]
	}
	test_ok productions productions
fi

# begin ARGUMENT...: records ./spin until end() is called. The recording has
# begun then.
begin()
{
	rm -f /tmp/mask.end
	./spin & spin=$!
	command hwprof record -q -o /tmp/mask.data "$@" -p $spin -- sh -c \
		'until [ -e /tmp/mask.end ]; do usleep 10000; done' &
	recorder=$!
	until grep -qsvx 0 /sys/class/misc/hwprof/sessions/*/events; do
		kill -0 $recorder || return
		usleep 10000
	done
}

end()
{
	: > /tmp/mask.end
	wait $recorder
	status=$?
	kill -KILL $spin
	wait $spin
	[ $status = 0 ] && accounted /tmp/mask.data
}

changes()
{
	command hwprof ctl -p $recorder --mask kind=ret &&
		command hwprof ctl | grep " $recorder .* 1 *kind=ret$" &&
		command hwprof ctl --json | grep '"mask": "kind=ret"' &&
		command hwprof ctl -p $recorder --mask all || return
	# It sees everything, and has nothing else to list.
	! command hwprof ctl | grep " $recorder " && end &&
		command hwprof script -i /tmp/mask.data | grep ' changes=2' &&
		command hwprof report edges -i /tmp/mask.data 2>&1 |
			grep "or the mask of session .* have changed 2 times"
}

begin -e edges,step
test_ok "while it runs" changes
begin -e loops,step
test_ok "of loops" says "leaves out branches, and the session's profile must" \
	command hwprof ctl -p $recorder --mask kind=ret
test_ok "it ends" end

# The number of events that pass tells what another process of the same user
# may be refused.
of_the_user()
{
	chmod 666 /dev/hwprof
	echo 2 > /proc/sys/kernel/perf_event_paranoid
	su user -c "exec hwprof record -q -o /tmp/user.data -e edges,step \
		--mask kind=ret -- $PWD/spin" & recorder=$!
	until grep -qsvx 0 /sys/class/misc/hwprof/sessions/*/events; do
		kill -0 $recorder || return
		usleep 10000
	done
	session=$(ls /sys/class/misc/hwprof/sessions)
	su user -c "hwprof ctl" | grep "^ *$session .* 0 *hidden$" &&
		says "only the process that made the session sets its mask" \
			su user -c "hwprof ctl --mask kind=call $session" &&
		su user -c "hwprof ctl --mask all $session"
	status=$?
	kill -KILL "$(pidof spin)"
	wait $recorder
	return $status
}
test_ok "of the same user" of_the_user

test_ok "loops must see each branch" says \
	"the mask leaves out branches, and the event's profile must see each" \
	command hwprof record -e loops,step -o /tmp/no.data --mask kind=call \
	-- ./filtered
test_ok "there is no file then" [ ! -e /tmp/no.data ]
test_ok "edges see no loads" says \
	"tests loads and stores, which the event does not see" \
	command hwprof stat -e edges,step --mask width=8 -- ./filtered
finish
