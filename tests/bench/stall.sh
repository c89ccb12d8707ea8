#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# How long one burst holds its thread, by the length of bursts in branches: from
# its first step to its last, in instructions of the whole machine.
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top" || exit 2
text=build/bench/text program=build/bench/stall.bpf.o

if [ "$1" != guest ]; then
	mkdir -p build/bench
	yes "$(cat docs/definitions.md docs/rows.md)" | head -c 500000 > $text
	exec tests/vm/vm --icount --smp 1 --timeout 1200 \
		--file tests/bench/stall.sh --file $program --file $text \
		--file /bin/bzip2 -- sh tests/bench/stall.sh guest
fi

# stalls LENGTH COMMAND...: prints its bursts, and percentiles of how long they
# took. With --icount an instruction takes 2 ns.
stalls()
{
	length=$1
	shift
	hwprof bpf -n 0 -e "edges,burst=$length" -c $((length * 6250)) \
		-o /tmp/stalls $program -- "$@" > /tmp/output || exit 1
	awk '/^[ 0-9]+$/ && NF == 2 { print $1, $2 }' /tmp/stalls | sort -n |
	awk -v name="${1##*/}" -v length_="$length" '
		{ ns[NR] = $1; count[NR] = $2; all += $2 }
		function at(share, i, sum) {
			for (i = 1; i <= NR; i++) {
				sum += count[i]
				if (sum >= share * all)
					return ns[i] / 2
			}
		}
		END {
			printf "%-8s %5d %7d %9d %9d %9d\n", name, length_, all,
			       at(0.5), at(0.99), at(1)
		}'
}

echo "program branches bursts       p50       p99       max"
for length in 8 32 128 512 2000; do
	stalls $length /bin/bzip2 -kc $text
done
