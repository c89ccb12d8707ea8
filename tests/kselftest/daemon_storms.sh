#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# hwprofd and hwprofd-collect while a machine is at its limits: many short
# processes, many cgroups, a fork bomb, CPUs that go, no descriptors, a full
# disk, a module that goes. They go on, say what was wrong, and account for
# everything that was seen.
. "${0%/*}/hwprofd.sh"

module=../../$KSELFTEST_KERNEL/hwprof.ko
cpu1=/sys/devices/system/cpu/cpu1/online
cgroups=/sys/fs/cgroup/storms
disk=$work/disk

# A small disk, of which symbols may take all.
mkdir -p $disk $cgroups
mount -t tmpfs -o size=8m,mode=0700,uid="$(id -u user)" none $disk
sed -i "s|^store = .*|store = $disk/store|" $work/conf
echo "budget_permille = 50" >> $work/conf

# windows_go_on: two more are received
windows_go_on()
{
	more windows_received_total $(($(metric windows_received_total) + 1))
}

# adds_up: what all sessions produced is delivered, lost, evicted or pending,
# and no window was lost. If one was, the log says why.
adds_up()
{
	ask "/api/v1/profile/loops?seconds=3600&limit=1" 900 > $work/said ||
		echo "no answer: curl's status is $?"
	for word in produced delivered lost evicted pending; do
		eval "$word=$(sed -n "s/.*\"$word\": \([0-9]*\).*/\1/p" \
			$work/said | head -n 1)"
	done
	echo "$produced = $delivered + $lost + $evicted + $pending"
	[ "$produced" -gt 0 ] &&
		[ "$produced" = $((delivered + lost + evicted + pending)) ] &&
		[ "$(metric recordings_unreadable_total)" = "${unreadable:-0}" ] &&
		return
	grep 'window is lost' $work/log
	head -c 500 $work/said
	return 1
}

# logged TEXT: waits until the log has it
logged()
{
	for try in $(seq 60); do
		! grep -q -- "$1" $work/log || return 0
		sleep 1
	done
	tail -n 20 $work/log
	return 1
}

# survive NAME: checks all of that after a storm
survive()
{
	test_ok "$1: windows go on" windows_go_on
	test_ok "$1: everything is accounted for" adds_up
}

start_daemon || exit 1
start_collector
./spin & spin=$!
test_ok "windows come" more windows_received_total 1

# 100,000 short processes, as far as two minutes of a slow machine go.
./crowd short 120 ./known > $work/count
echo "# $(cat $work/count) processes in 120 s"
test_ok "short processes: many ran" [ "$(cat $work/count)" -ge 1000 ]
survive "short processes"
test_ok "short processes: no record was lost" \
	[ "$(metric records_dropped_total)" = 0 ]

./crowd cgroups $cgroups 2000 60 > $work/count & crowd=$!
test_ok "2,000 cgroups: their labels" \
	says '"cgroup": "/storms/1[0-9]*"' "/api/v1/labels?seconds=600"
wait $crowd
test_ok "2,000 cgroups: all ran" [ "$(cat $work/count)" = 2000 ]
survive "2,000 cgroups"
rmdir $cgroups/[0-9]*

echo +pids > /sys/fs/cgroup/cgroup.subtree_control
mkdir -p $cgroups/bomb
echo 300 > $cgroups/pids.max
cat > $work/bomb <<END
echo \$\$ > $cgroups/bomb/cgroup.procs
exec su user -s /bin/sh -c "exec ./crowd bomb 30"
END
sh $work/bomb > $work/count
test_ok "fork bomb: it was held" [ "$(cat $work/count)" -gt 0 ]
test_ok "fork bomb: it is over" sh -c "
	echo 1 > $cgroups/cgroup.kill
	until grep -q 'populated 0' $cgroups/cgroup.events; do sleep 1; done"
survive "fork bomb"

if [ -w $cpu1 ]; then
	for state in 0 1 0 1; do
		echo $state > $cpu1
		sleep 3
	done
	survive "a CPU that goes and comes"
	echo 0 > $cpu1
	survive "a CPU that is gone"
	echo 1 > $cpu1
fi

# Neither has a descriptor to spare: no number below three is free.
./crowd files $collector 3
test_ok "a collector without descriptors says so" \
	logged "Too many open files\|can be made in memory"
test_ok "and hwprofd, too" says "the collector says\|Too many open files\|can be made in memory" /readyz
./crowd files $collector 1024
survive "a collector without descriptors"

# Prints the daemon's process: the parent of its workers is a hwprofd, too.
daemon_process()
{
	for pid in $(pidof hwprofd); do
		parent=$(cut -d ' ' -f 4 /proc/$pid/stat) &&
			[ "$(cat /proc/$parent/comm)" != hwprofd ] && echo $pid
	done
}

# fewest_files PID: those that it keeps. For a request, it has some more.
fewest_files()
{
	for try in $(seq 50); do
		ls /proc/$1/fd | wc -l
		usleep 100000
	done | sort -n | head -n 1
}

pid=$(daemon_process)
./crowd files $pid $(fewest_files $pid)
test_ok "hwprofd without descriptors says so" logged \
	"no process can be started\|no descriptor is free"
./crowd files $pid 1024
unreadable=$(metric recordings_unreadable_total)
test_ok "hwprofd without descriptors counts the windows that it lost" \
	[ "$unreadable" = "$(grep -c 'a window is lost: ' $work/log)" ]
survive "hwprofd without descriptors"

# The disk is full before the first minute is stored, and has room again.
dd if=/dev/zero of=$disk/filler bs=64k 2> /dev/null
test_ok "a full disk: failures are counted" more store_failures_total 0
test_ok "a full disk: it is logged" logged "not stored for now\|stays in memory"
survive "a full disk"
rm $disk/filler
test_ok "a disk with room: windows are stored" more store_windows 0
test_ok "8 MiB are enough" [ "$(du -sk $disk | cut -f 1)" -le 8192 ]

# The collector has the module's device open.
refuses_to_go()
{
	rmmod hwprof && return 1
	[ -c /dev/hwprof ]
}
test_ok "the module stays while the collector runs" refuses_to_go
kill $collector
wait $collector
test_ok "the collector ends" [ $? = 0 ]
sessions 0
test_ok "then the module can go" rmmod hwprof
start_collector
test_ok "without a module: /readyz says so" says "module is not loaded" /readyz
test_ok "without a module: so does the log" logged "module is not loaded"
insmod $module
survive "a module that was loaded again"

kill $spin $collector
wait $collector
test_ok "the collector ends when it is told to" [ $? = 0 ]
kill $(pidof hwprofd)
wait $daemon
test_ok "hwprofd ends when it is told to" [ $? = 0 ]
umount $disk
grep -v ': serving on' $work/log | cut -c 1-200 | sort | uniq -c | sed 's/^/# /'
finish
