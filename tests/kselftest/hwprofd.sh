# SPDX-License-Identifier: GPL-2.0-only
# To be sourced by tests of hwprofd and hwprofd-collect, which run in $work.
. "${0%/*}/tap.sh"

hwprofd=../../hwprofd
collect=../../hwprofd-collect
[ -x $hwprofd ] || { skip all "hwprofd was not built"; finish; exit; }

work=/tmp/daemon
run=$work/run
mkdir -p $work
chown user $work

cat > $work/conf <<END
store = $work/store
socket = $run/http
collector = $run/collect
listen = none
group = user
window = 2
budget_daemon = no
END

# ask PATH [SECONDS]: prints the answer, for which it waits so long at the most
ask()
{
	curl -s --max-time "${2:-60}" --unix-socket $run/http "http://localhost$1"
}

# says PATTERN PATH: waits for the answer, for up to two minutes. With 1 % of
# the time, a slow machine sees little.
says()
{
	for try in $(seq 120); do
		ask "$2" > $work/said
		grep -qe "$1" $work/said && return
		sleep 1
	done
	head -c 2000 $work/said
	cat $work/log
	return 1
}

# The daemon is an ordinary user, and has no capability.
start_daemon()
{
	su user -s /bin/sh -c "exec $hwprofd -c $work/conf --foreground" \
		>> $work/log 2>&1 &
	daemon=$!
	for try in $(seq 100); do
		[ "$(ask /healthz)" = ok ] && return
		sleep 0.1
	done
	cat $work/log
	return 1
}

start_collector()
{
	$collect -c $work/conf >> $work/log 2>&1 &
	collector=$!
}

metric()
{
	ask /metrics | sed -n "s/^hwprofd_$1 //p"
}

# more NAME THAN: waits until a metric has grown.
more()
{
	for try in $(seq 120); do
		[ "$(metric "$1")" -gt "$2" ] && return
		sleep 1
	done
	cat $work/log
	return 1
}
