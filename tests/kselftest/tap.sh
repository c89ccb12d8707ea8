# SPDX-License-Identifier: GPL-2.0-only
# To be sourced by tests that are shell scripts: TAP, as kselftest prints it.

count=0
failed=0

# test NAME COMMAND...: it succeeds
test_ok()
{
	name=$1
	shift
	count=$((count + 1))
	if "$@" > /tmp/tap.log 2>&1; then
		echo "ok $count $name"
	else
		echo "not ok $count $name"
		sed 's/^/# /' /tmp/tap.log | head -40
		failed=$((failed + 1))
	fi
}

skip()
{
	count=$((count + 1))
	echo "ok $count $1 # SKIP $2"
}

# needs SOURCE: without it, none of these tests can be run
needs()
{
	missing=$(cat "/sys/bus/event_source/devices/hwprof/caps/$1")
	[ "$missing" != yes ] || return 0
	skip all "$1: $missing"
	finish
	exit
}

# What follows is of the tools, and of kernel paths that others take as well: on a
# kernel that checks itself, where perf takes ten times as long, it is left out.
rest_is_no_news()
{
	case $KSELFTEST_KERNEL in
	*debug*) finish; exit ;;
	esac
}

finish()
{
	echo "1..$count"
	echo "# Totals: pass:$((count - failed)) fail:$failed"
	[ $failed = 0 ]
}

echo "TAP version 13"
cd "$(dirname "$0")" || exit 1
