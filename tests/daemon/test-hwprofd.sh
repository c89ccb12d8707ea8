#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A whole hwprofd, which gets recordings as from the collector, and is asked by
# curl, by pprof and by hwprof. Prints TAP.
# usage, in the project's folder: test-hwprofd [FOLDER OF PROGRAMS]
build=${1:-build}
. tests/install/tap.sh
trap 'kill $daemon 2>/dev/null; wait 2>/dev/null; rm -rf "$work"' EXIT
run=$work/run
port=$((20000 + $$ % 20000))

cat > "$work/conf" <<END
store = $work/store
socket = $run/http
collector = $run/collect
listen = 127.0.0.1:$port
group = no-such-group
request_seconds = 3
END

# wait_for COMMAND...: waits until it succeeds, up to 20 s.
wait_for()
{
	for try in $(seq 200); do
		"$@" > /dev/null 2>&1 && return 0
		sleep 0.1
	done
	return 1
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

# ask PATH [CURL'S OPTION...]: the local socket.
ask()
{
	path=$1
	shift
	curl -s --max-time 30 --unix-socket "$run/http" "$@" \
		"http://localhost$path"
}

tcp()
{
	path=$1
	shift
	curl -s --max-time 30 "$@" "http://127.0.0.1:$port$path"
}

# status_of COMMAND...: the status of HTTP.
status_of()
{
	"$@" -o /dev/null -w '%{http_code}'
}

# says PATTERN COMMAND...: succeeds if the output has the pattern.
says()
{
	pattern=$1
	shift
	"$@" > "$work/said" 2>&1
	grep -qe "$pattern" "$work/said" || { cat "$work/said"; return 1; }
}

# status STATUS COMMAND...
status()
{
	wanted=$1
	shift
	got=$(status_of "$@")
	[ "$got" = "$wanted" ] || { echo "status $got, not $wanted"; return 1; }
}

# exits STATUS COMMAND...
exits()
{
	wanted=$1
	shift
	"$@"
	got=$?
	[ $got = "$wanted" ] || { echo "status $got, not $wanted"; return 1; }
}

metric()
{
	ask /metrics | sed -n "s/^hwprofd_$1 //p"
}

# metric_is NAME VALUE
metric_is()
{
	[ "$(metric "$1")" = "$2" ] || { metric "$1"; return 1; }
}

send()
{
	"$build/tests/daemon/send" "$run/collect" "$@"
}

# --- the command line -------------------------------------------------------
check "help" says "exit status" "$build/hwprofd" --help
check "unknown option: status" exits 2 "$build/hwprofd" --no-such
check "argument: status" exits 2 "$build/hwprofd" argument
check "right configuration" exits 0 "$build/hwprofd" -c "$work/conf" --check
check "no configuration: status" exits 2 "$build/hwprofd" -c /no/conf --check
echo "store_mib = much" > "$work/wrong"
check "wrong configuration: status" exits 2 \
	"$build/hwprofd" -c "$work/wrong" --check
check "wrong configuration: sentence" \
	says "wrong:1: store_mib is 'much': allowed are" \
	"$build/hwprofd" -c "$work/wrong" --check
check "collector: wrong configuration" exits 2 \
	"$build/hwprofd-collect" -c "$work/wrong"

# All keys are in the example, with the defaults, and in the manual page.
keys=$(sed -n 's/^\t\(TEXT\|COUNT\|FLAG\)(\([a-z_]*\), .*/\2/p' daemon/config.h)
check "keys" [ "$(echo "$keys" | wc -l)" -gt 10 ]
for key in $keys; do
	check "$key in the example" \
		grep -q "^#$key =" daemon/system/hwprofd.conf
	check "$key in the manual page" \
		grep -qE "^\.(B|BR) $key( |\$)" docs/man/hwprofd.conf.5
done
sed 's/^#\([a-z_]* =\)/\1/' daemon/system/hwprofd.conf > "$work/example"
check "the example is right" exits 0 "$build/hwprofd" -c "$work/example" --check
if command -v systemd-analyze > /dev/null; then
	for unit in hwprofd:2 hwprofd-collect:3; do
		sed 's|@PREFIX@|/usr|' "daemon/system/${unit%:*}.service.in" > \
			"$work/${unit%:*}.service"
		check "${unit%:*}.service is hardened" sh -c "
			systemd-analyze security --offline=true \
				--threshold=${unit#*:}0 \
			'$work/${unit%:*}.service'"
	done
fi

# --- files for Prometheus and Grafana ---------------------------------------
system=daemon/system
check "dashboard: JSON" python3 -m json.tool "$system/hwprofd.dashboard.json"
python3 - "$system/hwprofd.dashboard.json" > "$work/queries.yml" <<'END'
import json, sys
print('groups:\n- name: dashboard\n  rules:')
number = 0
for panel in json.load(open(sys.argv[1]))['panels']:
    for target in panel['targets']:
        number += 1
        print(f'  - record: query:{number}')
        print('    expr: ' + json.dumps(target['expr']))
END
if command -v promtool > /dev/null; then
	check "alerting rules: syntax" \
		promtool check rules "$system/hwprofd.rules.yml"
	check "dashboard: queries" promtool check rules "$work/queries.yml"
fi

# --- libraries of pages, which empty ones stand for --------------------------
for library in d3-path d3-shape d3-hierarchy; do
	mkdir -p "$work/node/$library/dist"
	echo "// $library" > "$work/node/$library/dist/$library.min.js"
	echo "licence of $library" > "$work/node/$library/LICENSE"
done
HWPROF_NODE_PATH=$work/node
export HWPROF_NODE_PATH

# --- recordings -------------------------------------------------------------
"$build/tests/daemon/record" 1000 "$work/a.data" "$work/stacks.data" || exit 1
"$build/tests/daemon/record" 500 "$work/b.data" "$work/stacks2.data"
start
check "not ready without a collector" status 503 ask /readyz
check "nothing yet" status 404 ask /debug/pprof/loops
send 3 "$work/a.data" "$work/b.data" "$work/stacks.data"
check "windows arrive" wait_for metric_is windows_received_total 3
check "what was lost is counted" metric_is 'units_total{fate="lost"}' 21
check "what was delivered is counted" \
	metric_is 'units_total{fate="delivered"}' 5500
check "metrics are Prometheus's" sh -c "! command -v promtool > /dev/null ||
	curl -s --unix-socket '$run/http' http://localhost/metrics |
	promtool check metrics"

ask /metrics > "$work/metrics"
for name in $(cat "$system/hwprofd.rules.yml" "$work/queries.yml" \
	      docs/daemon.md | grep -o 'hwprofd_[a-z_]*[a-z]' | sort -u); do
	check "there is $name" grep -q "^# TYPE $name " "$work/metrics"
done

if command -v prometheus > /dev/null; then
	cat > "$work/prometheus.yml" <<-END
		rule_files: [ "$PWD/daemon/system/hwprofd.rules.yml" ]
		scrape_configs:
		  - job_name: hwprofd
		    scrape_interval: 1s
		    static_configs: [ { targets: [ "127.0.0.1:$port" ] } ]
	END
	check "alerting rules" promtool check config "$work/prometheus.yml"
	prometheus --config.file "$work/prometheus.yml" --log.level error \
		--storage.tsdb.path "$work/prometheus" \
		--web.listen-address "127.0.0.1:$((port + 1))" &
	prometheus=$!
	query="http://127.0.0.1:$((port + 1))/api/v1/query?query"
	check "Prometheus scrapes it, and answers PromQL" wait_for sh -c "
		curl -s '$query=sum(hwprofd_units_total)' | grep -q '\"5521\"'"
	kill $prometheus
	wait $prometheus
fi

build_id=$(ask /api/v1/builds | sed -n 's/.*"build_id": "\([0-9a-f]*\)".*/\1/p')
check "builds" [ ${#build_id} = 40 ]
check "JSON: windows add up" says '"back_edges_seen": 1500' \
	ask "/api/v1/profile/loops"
check "JSON: symbols" wait_for says '"function": "busy"' \
	ask /api/v1/profile/loops
check "JSON: the account" says '14 of .* were lost' ask /api/v1/profile/loops
check "of a build" says '"back_edges_seen": 1500' \
	ask "/api/v1/profile/loops?build_id=$build_id"
check "of another build" status 404 ask "/api/v1/profile/loops?build_id=0000"
check "of another time" status 404 ask "/api/v1/profile/loops?from=1&to=2"
check "folded contexts" says '^prog;leaf 1000' \
	ask "/api/v1/export?format=folded&kind=cct"
check "BOLT" says '^B [0-9a-f]* [0-9a-f]* 1500' ask "/api/v1/export?format=bolt"
check "windows" says '"level": "memory"' ask /api/v1/windows
check "windows: units" says '"units": {"loops": 1500,"calls": 1500,"cct": 1000' \
	ask /api/v1/windows
check "windows: the accounts of all" says '"delivered": 5500,"lost": 21,' \
	ask /api/v1/windows
check "windows of another build have no units" says '"units": {}' \
	ask "/api/v1/windows?build_id=0000"
check "now: trouble" says '"trouble": "the collector is not connected"' \
	ask /api/v1/now
check "now: budget" says '"budget_permille": 10' ask /api/v1/now

ask "/debug/pprof/profile?seconds=60" -o "$work/profile.pb.gz"
if command -v go > /dev/null; then
	check "pprof reads contexts" says "leaf" env HOME="$work" \
		go tool pprof -raw "$work/profile.pb.gz"
fi
ask "/api/v1/recording" -o "$work/merged.data"
check "a recording for hwprof report" says 'busy+0x0' \
	"$build/hwprof" report loops "$work/merged.data"
check "a recording for hwprof export" says '1500' \
	"$build/hwprof" export -f bolt -o - "$work/merged.data"

# --- pages ------------------------------------------------------------------
# digests PATH: the answer's header has those of its scripts and style sheets.
digests()
{
	ask "$1" -D "$work/head" -o "$work/page.html"
	python3 - "$work/head" "$work/page.html" <<-'END'
		import base64, hashlib, re, sys
		head, page = (open(path, newline="").read()
		              for path in sys.argv[1:])
		policy = re.search("^Content-Security-Policy: (.*?)\r$", head,
		                   re.M)[1]
		parts = re.findall("<(?:style|script)>(.*?)</(?:style|script)>",
		                   page, re.S)
		digests = [hashlib.sha256(part.encode()).digest()
		           for part in parts]
		have = {base64.b64encode(digest).decode() for digest in digests}
		named = set(re.findall("sha256-([^']*)'", policy))
		if not named or named != have or not policy.startswith("default-src 'none'; "):
		    sys.exit(f"{policy}\n{have}")
	END
}

again="from=1&to=9999999999&build_id=$build_id"
check "the page: HTML" says "Content-Type: text/html" ask / -i
check "the page: nosniff" says "X-Content-Type-Options: nosniff" ask / -i
check "the page: its policy" digests /
check "the page: nobody frames it" says "frame-ancestors 'none'" ask / -i
check "the page: HEAD" status 200 ask / -I
check "the page: POST" status 405 ask / -X POST -d x=1
check "a profile's page" status 200 ask "/page?seconds=600"
check "a profile's page: its policy" digests "/page?seconds=600"
check "a profile's page: its frame" says "frame-ancestors 'self'" \
	ask "/page?seconds=600" -i
check "a profile's page: HTML" says "Content-Type: text/html" \
	ask "/page?seconds=600" -i
for kind in loops calls edges cct; do
	check "a profile's page: $kind" says "id=\"data-$kind\"" \
		ask "/page?seconds=600"
done
check "a profile's page: licences" says "licence of d3-shape" \
	ask "/page?seconds=600"
check "a profile's page: one kind" sh -c "! curl -s --unix-socket '$run/http' \
	'http://localhost/page?seconds=600&kind=loops' | grep -q data-edges"
check "a profile's page: its title" \
	says "<title>hwprof: .* to .* UTC, build $build_id</title>" \
	ask "/page?seconds=600&build_id=$build_id"
check "a comparison's page" says "<title>hwprof: 1970-.* → .*</title>" \
	ask "/page?seconds=600&diff_from=1&diff_to=9999999999"
check "a comparison of builds" says "build $build_id → " \
	ask "/page?from=1&to=9999999999&diff_build_id=$build_id"
check "a page of nothing" status 404 ask "/page?from=1&to=2"
check "a page of nothing: sentence" \
	says "nothing was collected of that from 1970-01-01 00:00:01 to 00:00:02" \
	ask "/page?from=1&to=2"
check "a comparison with nothing" status 404 \
	ask "/page?$again&diff_from=1&diff_to=2"
check "half a comparison" status 400 ask "/page?$again&diff_from=1"
check "a page with a wrong parameter" status 400 ask "/page?colour=red"
mv "$work/node/d3-shape" "$work/node/gone"
check "a page without libraries" status 503 ask "/page?seconds=600"
check "a page without libraries: sentence" \
	says "apt-get install node-d3-hierarchy node-d3-shape" \
	ask "/page?seconds=600"
mv "$work/node/gone" "$work/node/d3-shape"

# --- hwprof as a client -----------------------------------------------------
check "report --from" says 'busy+0x0' \
	"$build/hwprof" report loops --from "unix:$run/http"
check "report: both windows" says '1,875' \
	"$build/hwprof" report loops --from "unix:$run/http?seconds=600"
check "report of all that there is" says 'leaf' \
	"$build/hwprof" report "unix:$run/http"
check "report of a build" says 'busy+0x0' \
	"$build/hwprof" report loops "unix:$run/http?build_id=$build_id"
check "export --from" says '^B [0-9a-f]* [0-9a-f]* 1500' \
	"$build/hwprof" export -f bolt -o - --from "unix:$run/http"
check "export: a file, too" exits 2 \
	"$build/hwprof" export -f bolt -o - --from "unix:$run/http" file
check "changes of two times" says 'record' "$build/hwprof" report loops --diff \
	"unix:$run/http?seconds=600" "unix:$run/http?seconds=3600"
check "top --from" says 'busy+0x0' \
	"$build/hwprof" top --from "unix:$run/http" -d 0.5 -D 1.2
check "it asks again" [ "$(grep -c 'busy+0x0' "$work/said")" -ge 3 ]
check "top --from: contexts" says 'leaf' \
	"$build/hwprof" top --from "unix:$run/http" -e cct -D 0.5
check "top --from: JSON" says '"back_edges_seen": 1500' \
	"$build/hwprof" top --from "unix:$run/http" --json -D 0.5
check "top --from and -a: status" exits 2 \
	"$build/hwprof" top --from "unix:$run/http" -a
check "top --from a file: status" exits 2 "$build/hwprof" top --from file
check "top --from: an unknown kind" says "allowed are loops, calls" \
	"$build/hwprof" top --from "unix:$run/http" -e loops,lbr
check "top: nothing of that" says "nothing was collected" \
	"$build/hwprof" top --from "unix:$run/http?from=1&to=2"
check "report: nothing of that: status" exits 1 \
	"$build/hwprof" report loops --from "unix:$run/http?from=1&to=2"
check "report: nothing of that: sentence" \
	says "unix:.*: nothing was collected of that in this time (status 404)" \
	"$build/hwprof" report loops --from "unix:$run/http?from=1&to=2"
check "report: no daemon" says "/no/socket: cannot connect: No such file" \
	"$build/hwprof" report loops --from unix:/no/socket
check "report: no TCP for profiles" says "local socket alone.*status 403" \
	"$build/hwprof" report loops --from "http://127.0.0.1:$port"
check "report: blanks" says "has blanks" \
	"$build/hwprof" report loops --from "unix:$run/http?a b"
check "report: no HTTP" says "gives no answer of HTTP\|cannot" \
	"$build/hwprof" report loops --from "unix:$run/collect"

# --- errors -----------------------------------------------------------------
check "an error is a sentence" says "there is no kind 'heap'" \
	ask /debug/pprof/heap
check "pprof shows it" says "X-Go-Pprof: 1" ask /debug/pprof/heap -i
check "it is text" says "text/plain" ask /debug/pprof/heap -i
check "unknown path" status 404 ask /etc/passwd
check "path upwards" status 404 ask /api/v1/../../etc/passwd --path-as-is
check "POST" status 405 ask /metrics -X POST -d x=1
check "HEAD" status 200 ask /metrics -I
check "too many parameters" status 400 \
	ask "/api/v1/builds?$(seq -s '&' 30)"
check "huge headers" sh -c "[ \$(curl -s --max-time 30 \
	--unix-socket '$run/http' -H 'X: $(head -c 60000 /dev/zero | tr '\0' x)' \
	-o /dev/null -w '%{http_code}' http://localhost/metrics) -ge 400 ]"

# --- TCP --------------------------------------------------------------------
check "TCP: health" status 200 tcp /healthz
check "TCP: metrics" status 200 tcp /metrics
check "TCP: no profiles" status 403 tcp /debug/pprof/loops
check "TCP: no list" status 403 tcp /api/v1/builds
check "TCP: no page" status 403 tcp /
check "TCP: no profile's page" status 403 tcp "/page?seconds=600"
check "TCP: another host" status 403 tcp /metrics -H "Host: evil.example"
check "TCP: no host" status 403 tcp /metrics --http1.0 -H "Host:"

# --- peers ------------------------------------------------------------------
check "local: another host, as of a page of the web" status 403 ask / \
	-H "Host: evil.example"
check "local: another host: no list" status 403 ask /api/v1/builds \
	-H "Host: evil.example"
check "local: a question of another site" status 403 ask /api/v1/builds \
	-H "Sec-Fetch-Site: cross-site"
check "local: a link of another site to the page" status 200 ask / \
	-H "Sec-Fetch-Site: cross-site"
check "local: a question of the page" status 200 ask /api/v1/builds \
	-H "Sec-Fetch-Site: same-origin"
check "local: no host" status 200 ask /metrics --http1.0 -H "Host:"
check "the socket is not for all" \
	[ "$(stat -c %a "$run/http")" = 660 ]
check "the collector's socket is its owner's" \
	[ "$(stat -c %a "$run/collect")" = 600 ]
if [ "$(id -u)" = 0 ]; then
	chmod 711 "$work" "$run"
	chmod 666 "$run/http" "$run/collect"
	# Rights are those of the peer, even where the file has none.
	check "another user may not ask" sh -c "[ \$(setpriv --reuid 65534 \
		--regid 65534 --clear-groups curl -s --unix-socket '$run/http' \
		-o /dev/null -w '%{http_code}' http://localhost/api/v1/builds) \
		= 403 ]"
	for path in / /page /api/v1/windows /api/v1/now; do
		check "another user may not see $path" sh -c "[ \$(setpriv \
			--reuid 65534 --regid 65534 --clear-groups curl -s \
			--unix-socket '$run/http' -o /dev/null \
			-w '%{http_code}' http://localhost$path) = 403 ]"
	done
	check "another user may not collect" sh -c "
		! setpriv --reuid 65534 --regid 65534 --clear-groups \
		'$build/tests/daemon/send' '$run/collect' 3 '$work/a.data' ||
		grep -q 'of another user was refused' '$work/log'"
fi
check "the collector hears what was spent" says '^[1-9]' send rest 20
check "a rest is counted" \
	says '^hwprofd_rested_seconds_total 20.0' ask /metrics
check "hostile messages are sent" send hostile "$work/a.data"
check "hostile messages are counted" wait_for metric_is \
	messages_malformed_total 9
head -c 90 "$work/a.data" > "$work/short.data"
echo "no recording" > "$work/none.data"
send 3 "$work/none.data" "$work/short.data"
check "unreadable recordings are counted" \
	wait_for metric_is recordings_unreadable_total 2
check "it goes on" status 200 ask /healthz

# --- slow clients -----------------------------------------------------------
cat > "$work/slow.py" <<'END'
import socket, sys, time
links = []
for i in range(int(sys.argv[2])):
    link = socket.socket(socket.AF_UNIX)
    link.connect(sys.argv[1])
    link.settimeout(0.2)
    link.send(b'GET /metrics HTTP/1.1\r\n')
    links.append(link)
deadline = time.time() + 20
while links and time.time() < deadline:
    for link in list(links):
        try:
            link.send(b'X')
            if not link.recv(1):
                raise OSError
        except socket.timeout:
            pass
        except OSError:
            links.remove(link)
sys.exit(1 if links else 0)
END
check "slow clients are cut" python3 "$work/slow.py" "$run/http" 5
check "and counted" [ "$(metric http_cut_total)" -ge 5 ]

# --- no processes -----------------------------------------------------------
# As another user, whose limit of processes holds; root's does not.
nobody=$work/nobody
ask_nobody()
{
	curl -s --max-time 30 --unix-socket "$nobody/run/http" \
		"http://localhost$1"
}

# In place of the shell, so that $! is its process.
exec_nobody()
{
	exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}

as_nobody()
{
	setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}

has_nobody()
{
	ask_nobody /metrics | grep -q "^hwprofd_windows_received_total $1$"
}

if [ "$(id -u)" = 0 ]; then
	mkdir "$nobody"
	cp "$build/hwprofd" "$nobody"
	chmod 711 "$work"
	printf '%s\n' "store = $nobody/store" "socket = $nobody/run/http" \
		"collector = $nobody/run/collect" "listen = none" > "$nobody/conf"
	chown -R 65534 "$nobody"
	exec_nobody "$nobody/hwprofd" -c "$nobody/conf" --foreground \
		2> "$nobody/log" &
	other=$!
	wait_for ask_nobody /healthz
	most=$(as_nobody prlimit --pid $other --nproc --noheadings -o HARD)
	as_nobody prlimit --pid $other --nproc=0:
	"$build/tests/daemon/send" "$nobody/run/collect" 3 "$work/a.data"
	check "without processes: it says so" wait_for grep -q \
		"no process can be started.* wait" "$nobody/log"
	check "without processes: it answers" has_nobody 0
	as_nobody prlimit --pid $other --nproc=$(echo $most):
	check "with processes again: the window was kept" wait_for has_nobody 1
	kill $other
	wait $other
fi

# --- labels, and who sees what ----------------------------------------------
# A hwprofd of its own, where every user may ask for what is theirs.
mine=$work/mine
id=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
web=/system.slice/web.service
docker=/system.slice/docker-$id.scope

# seen UID PATH [CURL'S OPTION...]: asks as a user, without groups.
seen()
{
	uid=$1 path=$2
	shift 2
	setpriv --reuid $uid --regid $uid --clear-groups curl -s \
		--max-time 30 --unix-socket "$mine/run/http" "$@" \
		"http://localhost$path"
}

# By one who is in the group, apart from that.
seen_in_group()
{
	setpriv --reuid 65533 --regid 65533 --groups $group curl -s \
		--max-time 30 --unix-socket "$mine/run/http" \
		"http://localhost$1"
}

# By root in a container with users of its own.
seen_in_container()
{
	setpriv --reuid 65534 --regid 65534 --clear-groups unshare -Ur \
		curl -s --max-time 30 --unix-socket "$mine/run/http" \
		"http://localhost$1"
}

# refuses STATUS UID PATH
refuses()
{
	got=$(seen "$2" "$3" -o /dev/null -w '%{http_code}')
	[ "$got" = "$1" ] || { echo "status $got, not $1"; return 1; }
}

loops="/api/v1/profile/loops?seconds=3600"
if [ "$(id -u)" = 0 ]; then
	group=$(id -g daemon)
	mkdir "$mine"
	chmod 711 "$work"
	printf '%s\n' "store = $mine/store" "socket = $mine/run/http" \
		"collector = $mine/run/collect" "listen = none" \
		"group = $(id -gn daemon)" "own_profiles = yes" > "$mine/conf"
	"$build/hwprofd" -c "$mine/conf" --foreground 2> "$mine/log" &
	other=$!
	wait_for seen 0 /healthz
	"$build/tests/daemon/record" 100 "$mine/a" "$mine/a.stacks" 65534 $web
	"$build/tests/daemon/record" 20 "$mine/b" "$mine/b.stacks" 1000 $docker
	"$build/tests/daemon/send" "$mine/run/collect" 3 "$mine/a" "$mine/b" \
		"$work/a.data"
	check "three windows" wait_for says 'received_total 3$' seen 0 /metrics
	"$build/tests/daemon/send" "$mine/run/collect" 3 "$mine/a.values" \
		"$mine/b.values"
	check "five windows" wait_for says 'received_total 5$' seen 0 /metrics
	check "root sees all" says '"back_edges_seen": 1120' seen 0 "$loops"
	check "and so does the group" says '"back_edges_seen": 1120' \
		seen_in_group "$loops"
	check "a user sees their own" says '"back_edges_seen": 100' \
		seen 65534 "$loops"
	check "another one theirs" says '"back_edges_seen": 20' \
		seen 1000 "$loops"
	check "one without processes nothing" refuses 404 65533 "$loops"
	check "nobody sees another's" refuses 403 65534 "$loops&uid=1000"
	check "nor root's" refuses 403 65534 "$loops&uid=0"
	check "one may name oneself" says '"back_edges_seen": 100' \
		seen 65534 "$loops&uid=65534"
	if unshare -Ur true 2> /dev/null; then
		check "a container's root is a user" \
			says '"back_edges_seen": 100' seen_in_container "$loops"
		check "who does not see another's" says "other users" \
			seen_in_container "$loops&uid=1000"
	fi
	for path in /metrics /healthz / /api/v1/now; do
		check "a user may see $path" refuses 200 65533 "$path"
	done
	check "a user's builds" says '"units": {"loops": 100,"calls": 100,"edges": 100}' \
		seen 65534 "/api/v1/builds?seconds=3600"
	check "without processes there are no builds" says '"builds": \[\]' \
		seen 65533 "/api/v1/builds?seconds=3600"
	check "windows have no units of others" sh -c "
		! setpriv --reuid 65534 --regid 65534 --clear-groups curl -s \
		--unix-socket '$mine/run/http' \
		'http://localhost/api/v1/windows?seconds=3600' |
		grep -q '\"units\": {\"'"
	check "a user's labels" says '"uid": 65534' \
		seen 65534 "/api/v1/labels?seconds=3600"
	check "not another's" [ "$(seen 65534 "/api/v1/labels?seconds=3600" |
		grep -o '"program"' | wc -l)" = 1 ]
	seen 1000 "/api/v1/recording?seconds=3600" > "$mine/own.data"
	check "a user's recording" says '^60 units .* = 60 delivered' \
		"$build/hwprof" report loops "$mine/own.data"
	check "a user's export" says '^B [0-9a-f]* [0-9a-f]* 100 ' \
		seen 65534 "/api/v1/export?format=bolt&seconds=3600"
	check "a user's page" refuses 200 65534 "/page?seconds=3600"
	check "a page of nothing" refuses 404 65533 "/page?seconds=3600"

	check "labels" says "\"unit\": \"docker-$id.scope\"" \
		seen 0 "/api/v1/labels?seconds=3600"
	check "labels: container" says "\"container\": \"$id\"" \
		seen 0 "/api/v1/labels?seconds=3600"
	check "labels: unknown ones" says '"uid": null' \
		seen 0 "/api/v1/labels?seconds=3600"
	check "by user" says '"back_edges_seen": 20' seen 0 "$loops&uid=1000"
	check "by unit" says '"back_edges_seen": 100' \
		seen 0 "$loops&unit=web.service"
	check "by cgroup" says '"back_edges_seen": 120' \
		seen 0 "$loops&cgroup=/system.slice"
	check "by container" says '"back_edges_seen": 20' \
		seen 0 "$loops&container=0123456789ab"
	check "by program" says '"back_edges_seen": 1120' \
		seen 0 "$loops&program=prog"
	check "by several" refuses 404 0 "$loops&unit=web.service&uid=1000"
	check "hwprof report by label" says '^60 units' "$build/hwprof" report loops \
		"unix:$mine/run/http?seconds=3600&uid=1000"
	check "by process: sentence" says "use program, uid" \
		seen 0 "$loops&pid=1"
	values="/api/v1/profile/values?seconds=3600"
	check "values, added up" says '"hits": 120' seen 0 "$values"
	check "values are for root" says '"value": "0x2a"' seen 0 "$values"
	check "values: symbols" says '"function": "busy"' seen 0 "$values"
	check "not for the group" says "for root and values_group" \
		seen_in_group "$values"
	check "nor for users" refuses 403 65534 "$values"
	check "nor in other formats" refuses 403 65534 \
		"/debug/pprof/values?seconds=3600"
	check "others do not have them" sh -c "! '$build/hwprof' report \
		values '$mine/own.data' 2>&1 | grep -q busy"
	check "values are not chosen by label" refuses 400 0 "$values&uid=1000"
	ranges="/api/v1/ranges?seconds=3600"
	check "there are no ranges" refuses 404 0 \
		"/api/v1/profile/ranges?seconds=3600"
	check "nor ranges by time" refuses 404 0 "$ranges"
	"$build/tests/daemon/send" "$mine/run/collect" 3 "$mine/a.ranges"
	"$build/tests/daemon/send" "$mine/run/collect" 30 "$mine/b.ranges"
	check "seven windows" wait_for says 'received_total 7$' seen 0 /metrics
	check "ranges by time are for root" \
		says '"of": "load-address"' seen 0 "$ranges"
	seen 0 "$ranges" > "$mine/ranges.json"
	check "their columns add up" python3 - "$mine/ranges.json" <<-'END'
		import json, sys
		map = json.load(open(sys.argv[1]))
		columns, ranges = map['columns'], map['report']['ranges']
		assert [c['events'] for c in columns] == [140, 220], columns
		assert columns[0]['from'] < columns[1]['from'], columns
		for column in columns:
		    assert sum(column['own']) == column['events'], column
		for i, range in enumerate(ranges):
		    assert range['own'] == sum(c['own'][i] for c in columns), i
	END
	check "ranges by time are not for the group" \
		says "for root and values_group" seen_in_group "$ranges"
	check "nor for users" refuses 403 65534 "$ranges"
	check "ranges are not chosen by label" refuses 400 0 "$ranges&uid=1000"
	cat > "$mine/greedy.py" <<-'END'
		import os, socket, sys, time
		os.setgroups([]); os.setgid(65534); os.setuid(65534)
		links = [socket.socket(socket.AF_UNIX) for i in range(64)]
		for link in links:
		    link.connect(sys.argv[1])
		time.sleep(1)
		held = 0
		for link in links:
		    link.settimeout(0.1)
		    try:
		        held += link.recv(1) != b''
		    except socket.timeout:
		        held += 1
		    except OSError:
		        pass
		print('held', held, flush=True)
		time.sleep(5)
	END
	python3 "$mine/greedy.py" "$mine/run/http" > "$mine/greedy" &
	greedy=$!
	wait_for grep -q held "$mine/greedy"
	check "a user cannot have all connections" \
		[ "$(sed 's/held //' "$mine/greedy")" -le 17 ]
	check "so that others are answered" says '"back_edges_seen": 20' \
		seen 1000 "$loops"
	kill $greedy
	wait $greedy 2> /dev/null
	check "the socket is for all" [ "$(stat -c %a "$mine/run/http")" = 666 ]
	sed -i '/^own_profiles/d' "$mine/conf"
	echo "values_group = $(id -gn daemon)" >> "$mine/conf"
	kill -HUP $other
	check "a reload takes that away" wait_for refuses 403 65534 "$loops"
	check "but not from root" says '"back_edges_seen": 1120' seen 0 "$loops"
	kill $other
	wait $other
	"$build/hwprofd" -c "$mine/conf" --foreground 2>> "$mine/log" &
	other=$!
	wait_for seen 0 /healthz
	check "values are stored" says '"hits": 120' seen 0 "$values"
	check "for members of values_group, too" says '"hits": 120' \
		seen_in_group "$values"
	check "and ranges by time" says '"of": "load-address"' \
		seen_in_group "$ranges"
	check "labels are stored" says '"back_edges_seen": 20' \
		seen 0 "$loops&uid=1000"
	kill $other
	wait $other
fi

# --- symbols of programs that are gone ---------------------------------------
# has_builds NUMBER
has_builds()
{
	[ "$(metric symbols_builds)" = "$1" ]
}

check "the program's file is kept" wait_for has_builds 1
kept=$(find "$work/store/symbols" -name '*.debug' -printf '%f')
check "by its build id" [ "$kept" = "${build_id#??}.debug" ]
check "and is whole" cmp "$build/tests/daemon/record" \
	"$work/store/symbols/.build-id/${build_id%${build_id#??}}/$kept"
mv "$build/tests/daemon/record" "$work/record"
check "a program that was removed has its symbols" \
	says '"function": "busy"' ask /api/v1/profile/loops?seconds=3600
strip -o "$build/tests/daemon/record" "$work/record"
check "and so has one that was stripped" \
	says '"function": "busy"' ask /api/v1/profile/loops?seconds=3600
mv "$work/record" "$build/tests/daemon/record"

# --- systemd ----------------------------------------------------------------
if command -v systemd-socket-activate > /dev/null; then
	mkdir "$work/activated"
	sed "s|$work|$work/activated|; s|^listen = .*|listen = none|" \
		"$work/conf" > "$work/activated/conf"
	mkdir -p "$work/activated/run"
	systemd-socket-activate -l "$work/activated/socket" --fdname=http \
		"$build/hwprofd" -c "$work/activated/conf" --foreground \
		2> "$work/activated/log" &
	other=$!
	wait_for test -S "$work/activated/socket"
	check "a question starts it" says ok curl -s --max-time 30 \
		--unix-socket "$work/activated/socket" http://localhost/healthz
	check "it has no other socket" [ ! -e "$work/activated/run/http" ]
	kill $other
	wait $other
	check "the socket stays" [ -S "$work/activated/socket" ]
fi

# The watchdog is fed as long as a collector that is connected sends windows.
cat > "$work/watchdog.py" <<'END'
import os, socket, subprocess, sys, time
work, build = sys.argv[1:]
heard = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
heard.bind(work + '/notify')
heard.settimeout(0.2)
daemon = subprocess.Popen(
    [build + '/hwprofd', '-c', work + '/conf', '--foreground'],
    stderr=open(work + '/log', 'w'),
    env=dict(os.environ, NOTIFY_SOCKET=work + '/notify',
             WATCHDOG_USEC='1500000'))

def fed(seconds):
    """Returns how often it was fed in this time."""
    count, end = 0, time.time() + seconds
    while time.time() < end:
        try:
            count += b'WATCHDOG=1' in heard.recv(4096)
        except socket.timeout:
            pass
    return count

try:
    without = fed(4)
    collector = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    collector.connect(work + '/run/collect')
    first = fed(4)
    fed(12)
    silent = fed(5)
    collector.close()
    gone = fed(5)
finally:
    daemon.terminate()
    daemon.wait()
print('without', without, 'first', first, 'silent', silent, 'gone', gone)
sys.exit(not (without and first and not silent and gone))
END
mkdir "$work/watched"
sed "s|$work|$work/watched|; s|^listen = .*|listen = none|" "$work/conf" > \
	"$work/watched/conf"
echo "window = 1" >> "$work/watched/conf"
check "a collector that is stuck starves the watchdog" \
	python3 "$work/watchdog.py" "$work/watched" "$build"
check "and the log says so" grep -q "collector does not advance" \
	"$work/watched/log"

# --- the store --------------------------------------------------------------
send 300 "$work/a.data"
all=$((1500 + 1000 * ($(metric windows_received_total) - 3)))
check "a minute that is over is stored" wait_for sh -c \
	"curl -s --unix-socket '$run/http' http://localhost/metrics |
	grep -q '^hwprofd_store_windows [1-9]'"
check "a reload with a wrong configuration" sh -c "
	cp '$work/conf' '$work/kept'; echo wrong >> '$work/conf'
	kill -HUP $daemon; sleep 1; grep -q 'stays as it was' '$work/log'"
cp "$work/kept" "$work/conf"
echo "tcp_profiles = yes" >> "$work/conf"
kill -HUP $daemon
check "a reload changes rights" wait_for sh -c \
	"[ \$(curl -s -o /dev/null -w '%{http_code}' \
	http://127.0.0.1:$port/api/v1/builds) = 200 ]"
check "the page by TCP" status 200 tcp /
check "a profile's page by TCP" status 200 tcp "/page?seconds=3600"
check "report by TCP" says 'busy+0x0' \
	"$build/hwprof" report loops "http://127.0.0.1:$port?seconds=3600"
if command -v go > /dev/null; then
	check "go tool pprof URL" says "busy" env HOME="$work" \
		go tool pprof -raw \
		"http://127.0.0.1:$port/debug/pprof/loops?seconds=3600"
fi
before=$(ask "/api/v1/profile/loops?seconds=3600" | grep -o '"back_edges_seen": [0-9]*')
check "all of it" [ "$before" = "\"back_edges_seen\": $all" ]
check "it ends when it is told to" stop
start
check "everything is there after a restart" \
	says "\"back_edges_seen\": $all" ask "/api/v1/profile/loops?seconds=3600"
kill -9 $daemon
wait $daemon 2> /dev/null
start
check "and after a kill" \
	says "\"back_edges_seen\": $all" ask "/api/v1/profile/loops?seconds=3600"
stop
echo precious > "$work/precious"
sed "s|^socket = .*|socket = $work/precious|" "$work/conf" > "$work/wrong"
check "a file is not taken for a socket" exits 1 \
	"$build/hwprofd" -c "$work/wrong" --foreground
check "and is left alone" grep -q precious "$work/precious"
rm -rf "$work/store"
echo "no folder" > "$work/store"
start
check "without a store: it goes on in memory" says "stays in memory" \
	cat "$work/log"
send 3 "$work/a.data"
check "without a store: it answers" wait_for says '"back_edges_seen": 1000' \
	ask "/api/v1/profile/loops"
check "without a store: it is not ready" status 503 ask /readyz
stop
finish
