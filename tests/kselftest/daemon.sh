#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# hwprofd and hwprofd-collect on the module: what runs is found, by its build.
. "${0%/*}/hwprofd.sh"

no_capabilities()
{
	pid=$(pidof hwprofd)
	grep -E '^(Uid|CapEff|NoNewPrivs)' /proc/$pid/status
	grep -q '^CapEff:.*0000000000000000' /proc/$pid/status &&
		grep -q '^NoNewPrivs:.*1' /proc/$pid/status
}

test_ok "the daemon starts as an ordinary user" start_daemon
test_ok "it has no capability" no_capabilities
test_ok "it is not ready yet" says "collector is not connected" /readyz
start_collector
./spin & spin=$!
test_ok "windows come" more windows_received_total 2
test_ok "it is ready" says "^ready" /readyz
test_ok "loops of a program that runs" \
	says '"object": "[^"]*/spin"' "/api/v1/profile/loops?seconds=600"
test_ok "its branches" \
	says '"object": "[^"]*/spin"' "/api/v1/profile/edges?seconds=600"
test_ok "its contexts" says '^spin;' \
	"/api/v1/export?format=folded&kind=cct&seconds=600"
test_ok "its build" says '/spin","from"' "/api/v1/builds?seconds=600"
test_ok "what it costs is told" more branch_windows_total 0

# The same program, run by another user.
uid=$(id -u user)
su user -s /bin/sh -c "exec ./spin" & theirs=$!
test_ok "a user's label" says "\"uid\": $uid," "/api/v1/labels?seconds=600"
test_ok "loops of that user" says '"object": "[^"]*/spin"' \
	"/api/v1/profile/loops?seconds=600&uid=$uid"
test_ok "loops of root" says '"object": "[^"]*/spin"' \
	"/api/v1/profile/loops?seconds=600&uid=0&program=spin"
test_ok "loops of nobody else" says "nothing was collected" \
	"/api/v1/profile/loops?seconds=600&uid=4242"
kill $theirs

# Files that are to harm who reads them, mapped as code by another user.
mkdir $work/hostile
chown user $work/hostile
read='collector_files_total{result="read"}'
known=$(metric "$read")
su user -s /bin/sh -c "exec ./map-hostile $work/hostile" > $work/mapped &
hostile=$!
test_ok "hostile files are read" more "$read" $known
test_ok "windows go on coming" \
	more windows_received_total $(metric windows_received_total)
test_ok "all of them were mapped" grep -q mapped $work/mapped
kill $hostile
rm -r $work/hostile

# A program that is gone by the time of the question.
cp ./spin $work/gone
$work/gone & gone=$!
test_ok "another program" says '"object": "[^"]*/gone"' \
	"/api/v1/builds?seconds=600"
kill $gone
rm $work/gone
test_ok "a program that is gone" says '"object": "[^"]*/gone"' \
	"/api/v1/builds?seconds=600"

kill -9 $(pidof hwprofd)
wait $daemon
test_ok "the daemon starts again after a kill" start_daemon
test_ok "the collector finds it" more windows_received_total 0
before=$(metric windows_received_total)
kill -9 $collector
wait $collector
start_collector
test_ok "another collector takes over" more windows_received_total "$before"
kill $collector
wait $collector

# Values and addresses of data have each second window.
{ cat $work/conf; echo "values = values
ranges = ranges,range_of=load-address
turn = 2"; } > $work/conf.turns
sh -c 'while :; do :; done' & loads=$!
$collect -c $work/conf.turns >> $work/log 2>&1 &
collector=$!
test_ok "values" says '"invariance"' "/api/v1/profile/values?seconds=600"
test_ok "ranges of data" \
	says '"share"' "/api/v1/profile/ranges?seconds=600"
test_ok "loops go on" more windows_received_total \
	$(metric windows_received_total)
kill $loads
kill $collector
wait $collector
test_ok "the collector ends when it is told to" [ $? = 0 ]

# With its own CPU time in it, such a budget has no room for so many windows.
sed "s/^budget_daemon.*/budget_permille = 2/" $work/conf > $work/conf.rests
$collect -c $work/conf.rests >> $work/log 2>&1 &
collector=$!
test_ok "the collector rests" \
	says '^hwprofd_rested_seconds_total [1-9]' /metrics
test_ok "it is ready all the same" says "^ready" /readyz
kill $collector
wait $collector
sessions 0
test_ok "no session is left" [ "$(cat $caps/sessions)" = 0 ]
kill $spin

echo "# module: $(metric module_seconds_total) s of" \
     "$(metric profiled_seconds_total) s; collector:" \
     "$(metric collector_cpu_seconds_total) s; hwprofd:" \
     "$(metric cpu_seconds_total) s, $(metric resident_bytes) bytes"
kill $(pidof hwprofd)
wait $daemon
finish
