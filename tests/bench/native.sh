#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Runs a benchmark on branches of real programs. The benchmarks native, ranges,
# contexts, sampled and paths measure nanoseconds per branch of an engine and of
# hash tables. Feed measures a window of branches. Flat measures all engines by
# the number of branches before. The branches are recorded once and kept under
# build/.
# usage: native.sh [native|ranges|contexts|sampled|paths|feed|flat [OPTION]...]
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top" || exit 2
streams=build/bench/streams
inputs=tests/bench/inputs
mkdir -p $streams
export LC_ALL=C
program=${1:-native}
[ $# = 0 ] || shift

# record NAME COMMAND...: records the command's first two million branches
record()
{
	name=$1
	shift
	[ -s "$streams/$name" ] && return
	echo "recording $name" >&2
	if ! build/bench/trace "$streams/$name.new" 2000000 "$@" \
			> /dev/null; then
		rm -f "$streams/$name.new"
		exit 2
	fi
	mv "$streams/$name.new" "$streams/$name"
}

seq 1 3000 | awk '{ print $1 * 7919 % 3001 }' > $streams/.lines
head -c 30000 uapi/linux/hwprof.h docs/definitions.md > $streams/.text

record bzip2 bzip2 -c $streams/.text
record sort sort $streams/.lines
record perl perl $inputs/hash.pl
record lua lua5.4 $inputs/sort.lua
record xz xz -c $streams/.text
record sqlite3 sqlite3 -init $inputs/join.sql :memory: .quit
record python3 /usr/bin/python3 -S -c \
	"print(sum(i * i % 7 for i in range(3000)))"
record jq jq -n "[range(300) | tostring] | map(length) | add"

exec "build/bench/$program" "$@" $streams/[!.]*
