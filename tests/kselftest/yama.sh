#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Where nobody may attach to anything, root neither: Yama's scope 3, which lasts
# until the machine is booted again. By its name this is the last test.
. "${0%/*}/tap.sh"

scope=/proc/sys/kernel/yama/ptrace_scope
[ -e $scope ] || { skip all "this kernel has no Yama"; finish; exit; }

# of_another: records values of another process of the user's
of_another()
{
	su user -c "exec $PWD/spin" &
	until pid=$(pidof spin); do usleep 10000; done
	says "kernel.yama.ptrace_scope is 1" su user -c \
		"hwprof record -o /tmp/user.data -e values -p $pid -- sleep 0.1"
	status=$?
	kill "$pid"
	return $status
}

# stepped NAME COMMAND...: checks that it succeeds, where programs can be
# stepped. Elsewhere record refuses for want of a source.
stepped()
{
	if [ "$steps" = yes ]; then
		test_ok "$@"
	else
		skip "$1" "step: $steps"
	fi
}

# The collector steps all programs, and tells hwprofd why it cannot.
of_the_daemon()
(
	. "${0%/*}/hwprofd.sh"
	echo "events = loops,burst=200" >> $work/conf
	start_daemon && start_collector &&
		says "kernel.yama.ptrace_scope is 3" /readyz
	status=$?
	kill $daemon $collector
	return $status
)

steps=$(cat "$caps/step")
echo 2 > /proc/sys/kernel/perf_event_paranoid
echo 1 > $scope
stepped "hwprof record names Yama's scope" of_another
echo 3 > $scope
stepped "hwprof record of a child at scope 3" says \
	"kernel.yama.ptrace_scope is 3" \
	hwprof record -o /tmp/yama.data -e loops,step ./known
stepped "hwprof record -a at scope 3" says "kernel.yama.ptrace_scope is 3" \
	hwprof record -o /tmp/yama.data -a -e loops,step -- sleep 0.1
[ ! -x ../../hwprofd ] ||
	stepped "hwprofd names Yama's scope" of_the_daemon
test_ok "samples at scope 3" \
	hwprof record -o /tmp/yama.data -e ranges,sample ./known
test_ok "what takes a right to attach" ./test_attach
finish
