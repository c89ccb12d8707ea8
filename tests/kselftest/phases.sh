#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# hwprof report --phases: the phases of a program whose phases are known, and
# the profile of each.
. "${0%/*}/tap.sh"
needs step
command -v hwprof > /dev/null || { skip all "no hwprof"; finish; exit; }

TURNS=200000

hwprof record -q -e loops,step,interval_ms=50 -o /tmp/phases.data -- ./phases
test_ok recorded [ $? = 0 ]

# The stays: first second first third. An interval at a change belongs to the
# phase of its greater part, and so changes are where they are to half an
# interval.
stays()
{
	command hwprof report -i /tmp/phases.data --phases > /tmp/report ||
		return
	cat /tmp/report
	grep -q "^3 phases of loops in [0-9]* intervals, 3 changes" \
		/tmp/report &&
	[ "$(awk '/from s/ { rows = 1; next } rows && !NF { exit }
		  rows { printf "%s ", $3 }' /tmp/report)" = "1 2 1 3 " ]
}
test_ok stays stays

# Each phase has its function's loop with nearly all of its back edges, and the
# back edges of all phases add up.
profiles()
{
	command hwprof report -i /tmp/phases.data --phases --json \
		> /tmp/phases.json || return
	tr -d '"' < /tmp/phases.json |
		grep -oE '(phase|back_edges_seen): [0-9]+|function: [a-z]+' |
	awk -v turns=$TURNS '
		$1 == "phase:" { phase = $2 }
		$1 == "function:" { name = $2 }
		$1 == "back_edges_seen:" {
			edges[phase " " name] += $2
			sum += $2
		}
		END {
			for (key in edges)
				print key, edges[key]
			print sum
			exit !(sum == 4 * (turns - 1) &&
			       edges["1 first"] > 1.9 * turns &&
			       edges["2 second"] > 0.9 * turns &&
			       edges["3 third"] > 0.9 * turns)
		}'
}
test_ok profiles profiles

# Parts are equally long, in instructions. The machine may be busy for a while,
# so that they differ in time.
lengths()
{
	awk '/from s/ { rows = 1; next }
	     rows && !NF { exit }
	     rows { begin[++count] = $1; end[count] = $2 }
	     END {
		whole = end[count] - begin[1]
		for (i = 1; i <= count; i++) {
			part = (end[i] - begin[i]) / whole
			print "part " part
			if (part < 0.08 || part > 0.5)
				exit 1
		}
		exit count != 4
	     }' /tmp/report
}
test_ok lengths lengths

# A program that does the same all the time has one phase.
one()
{
	hwprof record -q -e loops,step,interval_ms=50 -o /tmp/one.data -- \
		./trips &&
	command hwprof report -i /tmp/one.data --phases | tee /tmp/one.text |
		grep -q "^1 phase of loops in [1-9][0-9]* intervals, 0 changes"
	status=$?
	head -20 /tmp/one.text
	return $status
}
test_ok "one phase" one

# Calls and paths have the same phases.
others()
{
	for event in calls paths edges; do
		hwprof record -q -e $event,step,interval_ms=50 \
			-o /tmp/$event.data -- ./phases &&
		command hwprof report -i /tmp/$event.data --phases \
			> /tmp/$event.text || return
		head -1 /tmp/$event.text
	done
	grep -q "^3 phases" /tmp/paths.text && grep -q "^3 phases" \
		/tmp/edges.text
}
test_ok "paths and edges" others

# says SENTENCE ARGUMENT...: checks that the report is refused
says()
{
	sentence=$1
	shift
	command hwprof report -i /tmp/phases.data "$@" 2> /tmp/said && return 1
	cat /tmp/said
	grep -q -- "$sentence" /tmp/said
}
test_ok "no distance" says "between 0 and 1" --phases --phase-distance 1
test_ok "no phases" says "is of --phases" --phase-distance 0.4
test_ok "no diff" says "without --diff" --phases --diff
finish
