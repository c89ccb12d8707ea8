#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Filters: a session of one function has that function's rows, as a session of
# everything has them, and no others; from each source, and for programs.
. "${0%/*}/tap.sh"
needs step
command -v hwprof > /dev/null || { skip all "no hwprof"; finish; exit; }

# bounds PROGRAM FUNCTION: the addresses of its first byte and behind its last
# one. All addresses of the programs have eight digits, so text can be compared.
bounds()
{
	objdump -t "$1" |
	awk -v name="$2" '$NF == name { print $1, $(NF - 1) }' |
	{
		read -r begin size
		printf '0x%x 0x%x\n' $((0x$begin)) $((0x$begin + 0x$size))
	}
}

# rows FILE TYPE PLACE "KEY..." "COUNT...": sums of COUNTs by KEYs of all rows
# of this type. Only those whose PLACE is in $bounds, if it is not empty.
rows()
{
	command hwprof script -i "$1" | awk -v type="$2" -v place="$3" \
		-v keys="$4" -v counts="$5" -v bounds="$bounds" '
		function value(name)
		{
			if (!match($0, " " name "=[-0-9a-fx,;]+"))
				return ""
			return substr($0, RSTART + length(name) + 2,
				      RLENGTH - length(name) - 2)
		}
		BEGIN {
			keys = split(keys, key)
			counts = split(counts, count)
			split(bounds, bound)
		}
		$0 !~ "(^| )" type " pid=" { next }
		type == "edge" && value("end") == "0x0" { next }
		type == "context" && value("site") == "0x0" { next }
		type == "path" && value("flags") % 2 { next }
		bounds != "" && (value(place) < bound[1] ||
				 value(place) >= bound[2]) { next }
		{
			name = ""
			for (i = 1; i <= keys; i++)
				name = name " " value(key[i])
			names[name]
			for (i = 1; i <= counts; i++)
				sum[name, i] += value(count[i])
		}
		END {
			for (name in names) {
				line = name ":"
				for (i = 1; i <= counts; i++)
					line = line " " sum[name, i]
				print line
			}
		}' | sort
}

# same EVENT ROWS...: checks that a filtered recording has these rows, and no
# others, as one of everything has. TOOL is the command that records it.
same()
{
	event=$1
	shift
	hwprof record -q -e "$event,step" -o /tmp/all.data -- ./filtered &&
	$filtered "$event" || return
	bounds=$(bounds ./filtered wanted)
	rows /tmp/all.data "$@" > /tmp/all.text
	bounds=
	rows /tmp/filtered.data "$@" > /tmp/filtered.text
	echo "$(wc -l < /tmp/all.text) rows, and $(wc -l < /tmp/filtered.text)"
	diff /tmp/all.text /tmp/filtered.text | head -20
	[ -s /tmp/all.text ] && cmp -s /tmp/all.text /tmp/filtered.text
}

by_hwprof()
{
	hwprof record -q -e "$1,step" -o /tmp/filtered.data \
		--filter wanted@./filtered -- ./filtered
}

by_perf()
{
	perf record -q -R -e "hwprof/$1,step,rows/u" -o /tmp/filtered.data \
		--filter 'filter wanted @./filtered' -- ./filtered
}

filtered=by_hwprof
test_ok loops same loops loop head "head tail" \
	"back_edges entries executions unclosed"
test_ok edges same edges edge end "from to end kind" count
test_ok calls same calls call site "site callee" calls
test_ok paths same paths path end "start end target jumps" count
test_ok contexts same cct context site "site callee" calls
test_ok "several at once" same loops,calls,paths,edges loop head "head tail" \
	"back_edges entries executions"

filtered=by_perf
test_ok "loops, by perf" same loops loop head "head tail" \
	"back_edges entries executions unclosed"

# Sums of the filtered program's back edges and entries, over all processes
sums()
{
	rows "$1" loop head head "back_edges entries" |
		awk '{ back += $3; entries += $4 } END { print back, entries }'
}

# Each process has its own addresses: of a program that is exec'ed by a shell,
# with another beside it, by a fork of a fork.
processes()
{
	bounds=
	by_hwprof loops && once=$(sums /tmp/filtered.data) &&
	hwprof record -q -e loops,step -o /tmp/filtered.data \
		--filter wanted@./filtered -- sh -c \
		'./filtered & (./filtered); ./filtered; wait' || return
	set -- $once $(sums /tmp/filtered.data)
	echo "$*"
	[ $((3 * $1)) = "$3" ] && [ $((3 * $2)) = "$4" ]
}
test_ok processes processes

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
		awk -v bounds="$bounds" '
			BEGIN { split(bounds, bound) }
			NF == 5 && $1 ~ /^0x/ &&
			(bounds == "" || ($1 >= bound[1] && $1 < bound[2])) {
				print $1, $2, $4, $5
			}' /tmp/program | sort > "$file"
	}

	programs()
	{
		bounds=$(bounds ./filtered wanted)
		edges_of /tmp/all.text || return
		bounds=
		edges_of /tmp/filtered.text --filter wanted@./filtered || return
		diff /tmp/all.text /tmp/filtered.text | head -20
		[ -s /tmp/all.text ] && cmp -s /tmp/all.text /tmp/filtered.text
	}
	test_ok programs programs
fi

# from PROGRAM EVENT OPTION...: checks that all rows of a source that sees parts
# are of the function, and that its loop has its trip count, about 7.
from()
{
	program=$1 event=$2
	shift 2
	hwprof record -q -e "$event" "$@" -o /tmp/filtered.data \
		--filter "inner@$program" -- "$program" || return
	bounds=
	rows /tmp/filtered.data loop head head "back_edges entries" > /tmp/all
	bounds=$(bounds "$program" inner)
	rows /tmp/filtered.data loop head head "back_edges entries" > /tmp/own
	cat /tmp/all
	cmp /tmp/all /tmp/own && awk '
		{ back += $2; entries += $3 }
		END {
			trips = (back + entries) / entries
			print "trip count " trips
			exit !(trips > 6 && trips < 8)
		}' /tmp/own
}
test_ok bursts from ./long_trips loops,burst=200 -c 100000
if [ "$(cat $caps/lbr)" = yes ]; then
	test_ok "branch records" from ./trips loops,lbr -c 1009
fi

# Samples of code: the addresses are in the function. It runs often, because one
# run is short.
samples()
{
	hwprof record -q -e ranges,sample "$@" -o /tmp/filtered.data \
		--filter inner@./trips -- sh -c '
			for i in $(seq 30); do ./trips; done' || return
	bounds=
	rows /tmp/filtered.data range "" "low bits" count > /tmp/all
	cat /tmp/all
	[ -s /tmp/all ]
}
test_ok samples samples -c 20000

test_ok "no such function" says "has no function 'nothing'" \
	command hwprof record --filter nothing@./filtered -- ./filtered
test_ok "no such file" says "no file" \
	command hwprof record --filter wanted@./nothing -- ./filtered
test_ok "no file" says "allowed are" \
	command hwprof record --filter wanted -- ./filtered
test_ok "all processes" says "in a process only" \
	command hwprof record -a --filter wanted@./filtered -e loops,step \
	-- ./filtered
test_ok "too many ranges" says "more than 8" command hwprof record --filter \
	"$(for i in 1 2 3 4 5 6 7 8 9; do printf '%s/1@./filtered,' $i; done |
	   sed 's/,$//')" -- ./filtered

finish
