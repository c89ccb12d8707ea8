#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# hwprofd hands profiles on to a strict receiver, which takes them, stalls,
# refuses and cuts connections. Prints TAP.
# usage, in the project's folder: test-push [FOLDER OF PROGRAMS]
build=${1:-build}
. tests/install/tap.sh
trap 'kill $daemon $receiver 2>/dev/null; wait 2>/dev/null; rm -rf "$work"' EXIT
run=$work/run
port=$((20000 + $$ % 20000))
log=$work/received

wait_for()
{
	for try in $(seq 200); do
		"$@" > /dev/null 2>&1 && return 0
		sleep 0.1
	done
	return 1
}

# configure LINE...
configure()
{
	printf '%s\n' "store = $work/store" "socket = $run/http" \
		"collector = $run/collect" "listen = none" \
		"group = no-such-group" "request_seconds = 2" \
		"push_seconds = 1" "$@" > "$work/conf"
}

start()
{
	"$build/hwprofd" -c "$work/conf" --foreground 2>> "$work/log" &
	daemon=$!
	wait_for ask /healthz
}

stop()
{
	kill $daemon
	wait $daemon
}

reload()
{
	kill -HUP $daemon
	sleep 0.5
}

ask()
{
	curl -s --max-time 30 --unix-socket "$run/http" "http://localhost$1"
}

send()
{
	"$build/tests/daemon/send" "$run/collect" 1 "$@"
}

behave()
{
	curl -s -X POST "http://127.0.0.1:$port/behave?to=$1&as=$2"
}

# metric NAME RECEIVER
metric()
{
	ask /metrics | sed -n "s/^hwprofd_push_$1{to=\"$2\"} //p"
}

# metric_is NAME RECEIVER VALUE
metric_is()
{
	[ "$(metric "$1" "$2")" = "$3" ]
}

at_least()
{
	[ "$(metric "$1" "$2")" -ge "$3" ]
}

# received EXPRESSION: true if one of the receiver's lines, r, is so.
received()
{
	python3 -c "
import json, sys
lines = [json.loads(line) for line in open('$log')]
sys.exit(not any($1 for r in lines if not r.get('as_')))" || {
		cat "$log"; return 1; }
}

# none_refused: true if nothing was wrong with any request.
none_refused()
{
	! grep -v '"why": ""' "$log" | grep '"why"'
}

"$build/tests/daemon/record" 1000 "$work/a.data" "$work/stacks.data" || exit 1
python3 tests/daemon/receiver.py $port "$log" &
receiver=$!
wait_for curl -s -o /dev/null "http://127.0.0.1:$port/"

# --- nothing by default -------------------------------------------------------
configure
start
send "$work/a.data"
sleep 2
check "nothing is sent by default" [ ! -e "$log" ]
check "and nothing waits" metric_is waiting pyroscope 0
stop

# --- three receivers ----------------------------------------------------------
echo "secret" > "$work/token"
url=http://127.0.0.1:$port
configure "push_pyroscope = $url" "push_parca = $url" "push_otlp = $url" \
	"push_labels = env=prod, region=eu-1" "push_tenant = team" \
	"push_token = $work/token" "push_kinds = cct,loops,calls,edges"
start
send "$work/a.data" "$work/stacks.data"
for to in pyroscope parca otlp; do
	check "$to takes all four kinds" wait_for metric_is sent_total $to 4
done
check "nothing was wrong with them" none_refused
check "Pyroscope: values" received "r['to'] == 'pyroscope' and
	r['sums'].get('iterations', 0) >= 1000 and
	r['labels']['kind'] == 'loops'"
check "Pyroscope: labels" received "r['to'] == 'pyroscope' and
	r['labels']['env'] == 'prod' and r['labels']['region'] == 'eu-1' and
	r['labels']['host']"
check "Parca: values" received "r['to'] == 'parca' and
	r['labels']['__name__'] == 'hwprof_cct' and
	r['sums']['samples'] == 1000"
check "Parca: labels" received "r['to'] == 'parca' and
	r['labels']['env'] == 'prod' and r['labels']['instance']"
check "OpenTelemetry: values" received "r['to'] == 'otlp' and
	r['labels']['hwprof.kind'] == 'cct' and r['sums']['samples'] == 1000"
check "OpenTelemetry: attributes" received "r['to'] == 'otlp' and
	r['labels']['service.name'] == 'hwprof' and
	r['labels']['region'] == 'eu-1'"
check "tenant" received "r['tenant'] == 'team'"
check "token" received "r['token'] == 'Bearer secret'"
check "metrics are Prometheus's" sh -c "! command -v promtool > /dev/null ||
	curl -s --unix-socket '$run/http' http://localhost/metrics |
	promtool check metrics"

# --- trouble ------------------------------------------------------------------
configure "push_pyroscope = $url" "push_otlp = $url" "push_kinds = loops"
reload
behave pyroscope 429:3,500,cut,stall
send "$work/a.data"
check "one in trouble does not keep another back" \
	wait_for metric_is sent_total otlp 5
check "429, 500, a cut and a stall: it is sent in the end" sh -c '
	for try in $(seq 400); do
		grep -q "sent_total{to=\"pyroscope\"} 5" "$1/metrics" && exit 0
		curl -s --unix-socket "$2/http" http://localhost/metrics > \
			"$1/metrics"
		sleep 0.1
	done; cat "$1/metrics"; exit 1' sh "$work" "$run"
# curl itself repeats a request once whose old connection was cut.
check "the tries that failed are counted" at_least failures_total pyroscope 3
check "each was a try of its own" \
	[ "$(grep -c '"as_"' "$log")" = 4 ]
check "Retry-After holds" python3 -c "
import json, sys
at = [r['at'] for r in map(json.loads, open('$log')) if r['to'] == 'pyroscope']
sys.exit(at[-4] - at[-5] < 3)"
check "it says so once" [ "$(grep -c 'pyroscope at .* does not take' \
	"$work/log")" = 1 ]
check "with the receiver's words" grep -q '(status 429): try later' "$work/log"

behave pyroscope 400
send "$work/a.data"
check "400: it is given up" wait_for metric_is rejected_total pyroscope 1
check "and does not wait" metric_is waiting pyroscope 0
check "the next is sent" sh -c "'$build/tests/daemon/send' '$run/collect' 1 \
	'$work/a.data'"
check "and taken" wait_for metric_is sent_total pyroscope 6

# --- nobody there -------------------------------------------------------------
kill $receiver
wait $receiver 2> /dev/null
send "$work/a.data"
check "no receiver: it waits" wait_for at_least failures_total pyroscope 5
check "and waits in memory" at_least waiting_bytes pyroscope 1
check "hwprofd answers meanwhile" [ "$(ask /healthz)" = ok ]
configure "push_pyroscope = " "push_kinds = loops"
reload
check "switched off: nothing waits any more" \
	wait_for metric_is waiting pyroscope 0
stop

# --- the spool's bound --------------------------------------------------------
# The bodies of Parca are the largest. None is sent: the port is closed.
configure "push_parca = $url" "push_kinds = loops,calls,paths,edges,cct" \
	"push_spool_mib = 1"
start
for round in $(seq 12); do
	send "$work/a.data" "$work/stacks.data"
	sleep 1
done
check "the spool keeps its bound" sh -c "
	[ $(metric waiting_bytes parca) -le 1048576 ]"
check "what it holds is counted" at_least waiting parca 5
check "it ends with a full spool" stop
check "what waits is kept" [ -s "$work/store/push.spool" ]
check "and told" grep -q 'profiles wait in .* to be pushed at the next start' \
	"$work/log"

# --- the next start -----------------------------------------------------------
python3 tests/daemon/receiver.py $port "$log" &
receiver=$!
wait_for curl -s -o /dev/null "http://127.0.0.1:$port/"
start
check "the next start sends it" wait_for at_least sent_total parca 5
check "all of it" wait_for metric_is waiting parca 0
check "once" [ ! -e "$work/store/push.spool" ]
check "nothing was wrong with it" none_refused
send "$work/a.data"
stop
kill $receiver
wait $receiver 2> /dev/null
check "a window that has just come is kept, too" \
	[ -s "$work/store/push.spool" ]
mkdir "$work/store/push.spool.partial"
start
stop
check "what cannot be kept is told" \
	grep -q 'profiles that wait to be pushed are dropped' "$work/log"

# --- labels of processes ------------------------------------------------------
# processes_are RECEIVER TYPE LABELS...: true if these are the processes that
# samples of the type are of, over all requests of this section.
processes_are()
{
	python3 - "$log" "$@" <<-'END'
		import json, sys
		log, to, kind, *wanted = sys.argv[1:]
		sums = {}
		for line in map(json.loads, open(log)):
		    if line['to'] != to or kind not in line.get('sums', {}) or \
		            line['labels'].get('env') != 'labelled':
		        continue
		    for process in line['processes']:
		        value = process.pop('sum')
		        labels = ' '.join(f'{k}={v}' for k, v in
		                          sorted(process.items()))
		        sums[labels] = sums.get(labels, 0) + value
		sums = sorted(f'{labels} sum={value}' for labels, value in sums.items())
		if sums != sorted(wanted):
		    sys.exit(f'{sums}')
	END
}

web=/system.slice/web.service
"$build/tests/daemon/record" 600 "$work/b.data" "$work/b.stacks" 1000 $web
check "samples do not tell users by default" sh -c "
	! grep -q '\"uid\"\|\"cgroup\"\|\"pid\"\|\"program\"' '$log'"
rm -f "$work/store/push.spool"
python3 tests/daemon/receiver.py $port "$log" &
receiver=$!
wait_for curl -s -o /dev/null "http://127.0.0.1:$port/"
configure "push_pyroscope = $url" "push_parca = $url" "push_otlp = $url" \
	"push_labels = env=labelled" "push_process_labels = yes" \
	"push_kinds = cct,loops"
start
send "$work/a.data" "$work/stacks.data" "$work/b.data" "$work/b.stacks"
for to in pyroscope parca otlp; do
	check "$to: whose samples they are" wait_for processes_are $to samples \
		"program=prog sum=1000" \
		"cgroup=$web program=prog uid=1000 unit=web.service sum=600"
	check "$to: whose loops they are" wait_for processes_are $to iterations \
		"program=prog sum=1250" \
		"cgroup=$web program=prog uid=1000 unit=web.service sum=750"
done
check "nothing was wrong with that" none_refused
stop
kill $receiver
wait $receiver 2> /dev/null

# --- configuration ------------------------------------------------------------
# refused SENTENCE LINE
refused()
{
	configure "$2"
	"$build/hwprofd" -c "$work/conf" --check > "$work/said" 2>&1
	[ $? = 2 ] && grep -q "$1" "$work/said" ||
		{ cat "$work/said"; return 1; }
}
check "a URL of another kind" refused "allowed are http://HOST:PORT" \
	"push_parca = ftp://host"
check "a URL with a query" refused "allowed are http://HOST:PORT" \
	"push_otlp = http://host/?a=b"
check "a URL with a password" refused "allowed are http://HOST:PORT" \
	"push_otlp = http://user:secret@host"
check "an unknown kind" refused "push_kinds has 'values'" "push_kinds = values"
check "a label without a value" refused "push_labels has 'env'" \
	"push_labels = env"
check "a label with a brace" refused "push_labels has 'env={'" \
	"push_labels = env={"
check "a reserved label" refused "push_labels has '__name__=x'" \
	"push_labels = __name__=x"
printf 'push_process_labels = yes\n' > "$work/conf"
check "labels of processes" "$build/hwprofd" -c "$work/conf" --check
check "a label of all that is one of processes" refused \
	"push_labels has 'unit=x': with push_process_labels" \
	"push_labels = env=prod, unit=x
push_process_labels = yes"
check "a token that is no path" refused "path of a file" "push_token = secret"
finish
