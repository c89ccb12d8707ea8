#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Prints how many of all iterations the ten hottest loops of a small table have,
# by the size of the table and its ways (coverage.c). The engine's number of
# ways is fixed, so it is compiled for each. Uses the branches of bench-native.
# LIB_LINK: what libhwprof.a is linked with.
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top" || exit 2
out=build/bench/ways

for ways in 2 4 8 16 32; do
	rm -rf $out/kmod $out/uapi
	mkdir -p $out/kmod
	cp -r uapi $out
	cp -r kmod/engine kmod/config $out/kmod
	sed -i "s/LOOP_WAYS\t= 4/LOOP_WAYS\t= $ways/" \
		$out/kmod/engine/loop_table.h
	cc -O2 -w -D_GNU_SOURCE -fno-strict-aliasing -I$out/kmod -I$out/uapi \
		-Ilib -Ikmod -I. -Itests/bench -o $out/coverage \
		tests/bench/coverage.c tests/oracle/rows.c \
		$out/kmod/engine/*.c build/libhwprof.a \
		$LIB_LINK || exit 1
	$out/coverage build/bench/streams/[!.]*
done | tee $out/all
awk '
	function mean(i, j) {
		return count[i, j] ? sprintf("%.0f", sum[i, j] / count[i, j]) : "-"
	}
	{
		for (i = 5; i <= NF; i++)
			if ($i != "-") {
				sum[$2, i] += 100 * $i / $4
				count[$2, i]++
			}
	}
	END {
		print "of what the ten hottest have, percent, on average:"
		for (ways = 2; ways <= 32; ways *= 2) {
			printf "| %d", ways
			for (i = 5; i <= NF; i++)
				printf " | %s", mean(ways, i)
			print " |"
		}
	}' $out/all
