#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Replays a recording of 10^7 branches, and one four times as long, beside
# `perf script -F brstack` of the same. Prints CPU seconds, ratios and memory.
# usage, in the project's folder: replay.sh [BRANCHES]
branches=${1:-10000000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# measure COMMAND...: least of three: CPU seconds, and KiB
measure()
{
	for i in 1 2 3; do
		/usr/bin/time -f "%U %S %M" -o "$work/time" "$@" \
			> "$work/out" 2> "$work/err" || {
			cat "$work/err" >&2
			exit 1
		}
		tail -1 "$work/time"
	done | awk '{ t = $1 + $2; if (!n++ || t < least) { least = t; kib = $3 } }
		    END { print least, kib }'
}

for times in 1 4; do
	file=$work/recording
	build/bench/stacks "$file" "$work/object.so" $((times * branches)) ||
		exit 1
	cat "$file" > "$work/out"	# read once, so that it is in memory
	set -- $(measure build/hwprof replay "$file")
	ours=$1 ours_kib=$2
	set -- $(measure perf script -i "$file" -F brstack)
	awk -v n=$((times * branches)) -v ours="$ours" -v kib="$ours_kib" \
	    -v perf="$1" -v perf_kib="$2" 'BEGIN {
		printf "%d branches: hwprof replay %.2f s, %.1f ns a branch, %.1f MiB; ",
		       n, ours, ours / n * 1e9, kib / 1024
		printf "perf script -F brstack %.2f s, %.1f ns, %.1f MiB: %.1fx (goal 20)\n",
		       perf, perf / n * 1e9, perf_kib / 1024, perf / ours }'
done
