#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Replays a recording of 10^7 branches, and one four times as long, beside
# `perf script -F brstack` of the same; then windows of real programs, as far as
# there are any: what bench-native recorded, and branch records of a Skylake.
# Prints CPU seconds, ratios and memory.
# usage, in the project's folder: replay.sh [BRANCHES]
branches=${1:-10000000}
skylake=../shared/data/lbr/skylake-sp-lbr32.perf.data
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# measure N COMMAND...: prints CPU seconds and KiB of N runs, as a single short
# run is below the resolution of time
measure()
{
	/usr/bin/time -f "%U %S %M" -o "$work/time" sh -c '
		n=$1; shift
		while [ $n -gt 0 ]; do "$@" || exit; n=$((n - 1)); done' \
		- "$@" \
		> "$work/out" 2> "$work/err" || {
		cat "$work/err" >&2
		exit 1
	}
	tail -1 "$work/time"
}

# compare NAME FILE BRANCHES [N]: measures N runs as one. It takes the least of
# five measurements of each tool. They alternate, as other work on the machine
# slows both down.
compare()
{
	cat "$2" > "$work/out"	# read once, so that it is in memory
	for i in 1 2 3 4 5; do
		echo "ours $(measure ${4:-1} build/hwprof replay "$2")"
		echo "perf $(measure ${4:-1} perf script -i "$2" -F brstack)"
	done | awk -v name="$1" -v n="$3" '
	{ t = $2 + $3 }
	!($1 in least) || t < least[$1] { least[$1] = t; kib[$1] = $4 }
	END {
		printf "%s, %d branches: hwprof replay %.2f s, %.1f ns a branch, %.1f MiB; ",
		       name, n, least["ours"], least["ours"] / n * 1e9,
		       kib["ours"] / 1024
		printf "perf script -F brstack %.2f s, %.1f ns, %.1f MiB: %.1fx (goal 20)\n",
		       least["perf"], least["perf"] / n * 1e9,
		       kib["perf"] / 1024,
		       least["perf"] / least["ours"]
	}'
}

for times in 1 4; do
	build/bench/stacks "$work/recording" "$work/object.so" \
		$((times * branches)) || exit 1
	compare random "$work/recording" $((times * branches))
done
for stream in build/bench/streams/[!.]*; do
	[ -e "$stream" ] || continue
	build/bench/cut "$work/recording" "$stream" $((branches / 32)) 300 \
		types ||
		exit 1
	compare "$(basename "$stream")" "$work/recording" "$branches"
done
[ ! -r $skylake ] || compare "Skylake, 20 times" $skylake \
				      $((20 * 119424)) 20
