#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Makes the recordings of each boot, into /out. Usage: guest.sh BOOT FOLDER
count=$2/count
nest="$2/nest 20000"
text=/usr/share/common-licenses/GPL-3

# record NAME OPTION... COMMAND: makes a recording. Prints the output of perf
# and the command only if perf fails.
record()
{
	name=$1
	shift
	perf record -o "/out/$name" "$@" > "/out/$name.said" 2>&1 ||
		cat "/out/$name.said" >&2
}

stat()
{
	perf stat -x , -o "/out/$1" -e "$2" "$count"
}

case $1 in
plain)
	stat user '{instructions:u,branches:u,r20c4:u,cycles:u}'
	stat both '{instructions:u,instructions:k,instructions}'
	record nest -c 10007 -e cycles:u -b $nest
	record debian -c 100003 -e cycles:u -b gzip -c $text
	record kernel -c 4001 -e cycles:k -j any,k cat $text
	record far -c 4001 -e cycles -j any dd if=/dev/zero of=/dev/null bs=1 \
		count=5000
	record calls -c 10007 -e cycles:u -j any_call,u $nest
	record returns -c 10007 -e cycles:u -j any_ret,u $nest
	record pointers -c 10007 -e cycles:u -j ind_call,u $nest
	record conditions -c 10007 -e cycles:u -j cond,u $nest
	record stacks -c 10007 -e cycles:u --call-graph lbr $nest
	dmesg > /out/dmesg
	;;
lost)
	stat user '{instructions:u,branches:u,r20c4:u,cycles:u}'
	record nest -c 10007 -e cycles:u -b $nest
	;;
late)
	# The first loop has 2,000,001 instructions.
	record before -c 1998900 -e instructions:u -b "$count"
	record behind -c 1999100 -e instructions:u -b "$count"
	;;
again)
	record nest -c 10007 -e cycles:u -b $nest
	;;
esac
