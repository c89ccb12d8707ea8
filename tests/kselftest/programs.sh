#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# hwprof bpf: its program edges counts what the profile edges does, and other
# objects are loaded, printed, or refused with a sentence.
. "${0%/*}/tap.sh"
needs step
command -v hwprof > /dev/null || { skip all "no hwprof"; finish; exit; }
case $(hwprof help bpf) in
*BPF=no*) skip all "hwprof was built without BPF programs"; finish; exit ;;
esac

# Kinds of branches that both count: jumps, calls and returns.
of_engine()
{
	hwprof record -q -e edges,step,memory_mib=64 -o /tmp/edges.data \
		-- "$@" > /dev/null ||
		return
	command hwprof script -i /tmp/edges.data | awk '
		function value(name)
		{
			if (!match($0, " " name "=[0-9a-fx]+"))
				return ""
			return substr($0, RSTART + length(name) + 2,
				      RLENGTH - length(name) - 2)
		}
		/ edge / && value("kind") >= 1 && value("kind") <= 5 {
			sum[value("from") " " value("to")] += value("count")
		}
		END { for (edge in sum) print edge, sum[edge] }' | sort
}

of_program()
{
	command hwprof bpf -n 0 -o /tmp/edges.text edges -- "$@" > /dev/null ||
		return
	awk '
		/:$/ { map = $1; next }
		map == "edges:" && $4 >= 1 && $4 <= 5 { sum[$1 " " $2] += $5 }
		map == "lost:" && $2 + 0 > 0 { print "lost", $2 }
		END { for (edge in sum) print edge, sum[edge] }' \
		/tmp/edges.text | sort
}

same_edges()
{
	of_engine "$@" > /tmp/engine || return
	of_program "$@" > /tmp/program || return
	echo "$(wc -l < /tmp/engine) edges, and $(wc -l < /tmp/program)"
	diff /tmp/engine /tmp/program | head -10
	[ -s /tmp/engine ] && cmp -s /tmp/engine /tmp/program
}

# Programs at fixed addresses, which do the same each time.
test_ok "edges of loops" same_edges ./known

rest_is_no_news
test_ok "edges of nested loops" same_edges ./nests

# A program without random addresses, and with nothing of the environment
bzip2_of_nothing_new()
{
	random=$(cat /proc/sys/kernel/randomize_va_space)
	head -c 1000 /proc/self/exe > /tmp/input
	echo 0 > /proc/sys/kernel/randomize_va_space
	same_edges env -i "$(command -v bzip2)" -kc /tmp/input
	status=$?
	echo "$random" > /proc/sys/kernel/randomize_va_space
	return $status
}
test_ok "edges of bzip2" bzip2_of_nothing_new

json()
{
	command hwprof bpf -j -n 1 edges -- ./known > /tmp/edges.json &&
	cat /tmp/edges.json &&
	grep -q '"taken_away": false' /tmp/edges.json &&
	grep -q '"missed": 0' /tmp/edges.json &&
	grep -q '"from": "0x1000' /tmp/edges.json
}
test_ok json json

# counts PROGRAM COLUMNS OPTION...: what the program counts of ./filtered: these
# columns of its first map
counts()
{
	program=$1 columns=$2
	shift 2
	command hwprof bpf -n 0 -o /tmp/counts "$@" "$program" -- ./filtered ||
		return
	cat /tmp/counts >> /tmp/all.counts
	awk -v columns="$columns" '
		/:$/ { map++ }
		map != 1 || !/^ *0x/ { next }
		{
			line = ""
			for (i = split(columns, column); i; i--)
				line = $column[i] " " line
			print line
		}' /tmp/counts | sed 's/ $//' | sort > /tmp/counted
	awk '/:$/ { map = $1 } map == "lost:" && $2 > 0 { exit 1 }' /tmp/counts
}

# as_simulated PROGRAM COLUMNS [SIZE WAYS LINE RECENT]: compares the counts with
# those that a simulation of the same events has. Addresses are the same in each
# run.
as_simulated()
{
	program=$1 columns=$2
	shift 2
	random=$(cat /proc/sys/kernel/randomize_va_space)
	echo 0 > /proc/sys/kernel/randomize_va_space
	[ -s /tmp/all.trace ] || command hwprof bpf -n 0 -o /tmp/all.trace \
		./trace.bpf.o -- ./filtered
	counts "$program" "$columns" ${1:+--set size=$1 --set ways=$2 \
		--set line=$3 --set recent=$4}
	status=$?
	echo "$random" > /proc/sys/kernel/randomize_va_space
	./simulate "$program" "$@" < /tmp/all.trace | sort > /tmp/simulated
	echo "$(wc -l < /tmp/counted) rows, and $(wc -l < /tmp/simulated)"
	diff /tmp/counted /tmp/simulated | head -20
	[ $status = 0 ] && [ -s /tmp/counted ] &&
		cmp -s /tmp/counted /tmp/simulated
}
test_ok depend as_simulated depend "1 2 4 5 6 7"
test_ok "a small cache" as_simulated cache "1 3 4 5" 512 2 64 8
test_ok "a smaller cache" as_simulated cache "1 3 4 5" 128 1 16 3
test_ok "the default cache" as_simulated cache "1 3 4 5"
test_ok stride as_simulated stride "1 3 4 5"

# streams_of OPTION...: the streams of ./filtered as words, one a line: "times"
# or an instruction, and a number or an address.
streams_of()
{
	random=$(cat /proc/sys/kernel/randomize_va_space)
	echo 0 > /proc/sys/kernel/randomize_va_space
	command hwprof bpf -j -o /tmp/streams.json "$@" streams -- ./filtered
	status=$?
	echo "$random" > /proc/sys/kernel/randomize_va_space
	tr -d '",' < /tmp/streams.json | tr '{}' '\n\n' |
		grep -oE '(references|times): [0-9]+|(ip|address): 0x[0-9a-f]+' \
		> /tmp/words
	return $status
}

# The first streams come as often in the trace as their counts say, without
# overlaps.
streams()
{
	streams_of && awk '
		FILENAME == ARGV[1] && NF == 6 && ($3 == 1 || $3 == 2) {
			trace[count++] = $4 " " $5
		}
		FILENAME == ARGV[1] { next }
		$1 == "references:" { references = $2 }
		$1 == "times:" { stream++; times[stream] = $2 }
		$1 == "ip:" { ip = $2 }
		$1 == "address:" {
			wanted[stream, length_of[stream]++] = ip " " $2
		}
		function comes(stream, at,   i)
		{
			for (i = 0; i < length_of[stream]; i++)
				if (trace[at + i] != wanted[stream, i])
					return 0
			return 1
		}
		function times_of(stream,   at, found)
		{
			while (at + length_of[stream] <= count) {
				if (!comes(stream, at)) {
					at++
					continue
				}
				found++
				at += length_of[stream]
			}
			return found + 0
		}
		END {
			print references " references of " count ", " \
				stream " streams"
			if (references != count || !stream)
				exit 1
			# The others take an emulated machine minutes.
			for (i = 1; i <= stream && i <= 3; i++) {
				found = times_of(i)
				print length_of[i] " references, " times[i] \
					" times, " found " found"
				if (found != times[i] || found < 2)
					wrong = 1
			}
			exit wrong
		}' /tmp/all.trace /tmp/words
}
# An emulated machine takes more than ten minutes.
[ -z "$KSELFTEST_LONG" ] || test_ok streams streams

# Bursts of 100 references of each 1,000: a tenth of all is kept.
bursts_of_references()
{
	streams_of || return
	all=$(sed -n 's/references: //p' /tmp/words | head -1)
	streams_of --set burst=100 --set period=1000 || return
	kept=$(sed -n 's/references: //p' /tmp/words | head -1)
	echo "$kept references of $all"
	[ "$kept" -ge $((all / 11)) ] && [ "$kept" -le $((all / 9 + 200)) ]
}
test_ok "bursts of references" bursts_of_references

# With a filter, a program sees all accesses of the function, and no others.
of_function()
{
	set -- $(objdump -t ./filtered | awk '$NF == "wanted" {
		print $1, $(NF - 1) }')
	begin=$(printf 0x%x $((0x$1))) end=$(printf 0x%x $((0x$1 + 0x$2)))
	counts cache "1 5" &&
	awk -v begin="$begin" -v end="$end" '$1 >= begin && $1 < end' \
		/tmp/counted > /tmp/own &&
	counts cache "1 5" --filter wanted@./filtered || return
	diff /tmp/own /tmp/counted && [ -s /tmp/own ]
}
test_ok "accesses of a function" of_function

# The histogram of trip counts has as many executions as the profile has,
# without those that never take the back edge.
trip_counts()
{
	hwprof record -q -e loops,step -o /tmp/trips.data -- ./filtered &&
	counts triphist "1 3 4" || return
	cat /tmp/counted
	command hwprof script -i /tmp/trips.data | awk '
		/ loop pid=/ {
			for (i = 1; i <= NF; i++)
				if (split($i, field, "=") == 2)
					value[field[1]] = field[2]
			executions[value["head"]] += value["executions"]
			iterations[value["head"]] += value["back_edges"] + \
						     value["executions"]
		}
		END {
			for (head in executions)
				print head, executions[head], iterations[head]
		}' | sort > /tmp/executions
	awk '{ sum[$1] += $3; trips[$1] += $2 * $3 }
	     END { for (head in sum) print head, sum[head], trips[head] }' \
		/tmp/counted | sort > /tmp/sums
	diff /tmp/executions /tmp/sums
}
test_ok triphist trip_counts

only_one()
{
	head=$(head -1 /tmp/sums | cut -d' ' -f1)
	counts triphist "1 3 4" --set "only=$head" || return
	cat /tmp/counted
	[ -s /tmp/counted ] && ! grep -v "^$head " /tmp/counted
}
test_ok "one loop" only_one

test_ok "no such program" says "no file or program" \
	command hwprof bpf nothing -- ./known
test_ok "no object" says "no BPF object" \
	command hwprof bpf ./known -- ./known
test_ok "no such number" says "no such number" \
	command hwprof bpf --set depth=1 cache -- ./known
test_ok "no number" says "NAME=NUMBER" \
	command hwprof bpf --set size=big cache -- ./known
test_ok "no targets" says "nothing to profile" command hwprof bpf edges
test_ok "another event" says "has no such events" \
	command hwprof bpf -e hwprof/ranges,sample/u edges -- ./known

finish
