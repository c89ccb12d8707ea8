#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Loads and unloads the module, and checks the files that it shows in sysfs on
# every machine, also on one without a source.
. "${0%/*}/tap.sh"

pmu=/sys/bus/event_source/devices/hwprof
module=../../$KSELFTEST_KERNEL/hwprof.ko

# Checks the form "config1:0-15", and that no two fields share a bit.
formats()
{
	grep -H . $pmu/format/* | sed 's/.*format.//' > /tmp/formats
	cat /tmp/formats
	awk -F '[:-]' '
		!/^[a-z_]+:config[12]?:[0-9]+(-[0-9]+)?$/ { exit 1 }
		{ for (bit = $3; bit <= (NF > 3 ? $4 : $3); bit++)
			if (taken[$2, bit]++) exit 1 }
		END { exit NR < 10 }' /tmp/formats
}

lists_events()
{
	perf list pmu > /tmp/list
	cat /tmp/list
	grep -q hwprof/loops/ /tmp/list && grep -q hwprof/branches/ /tmp/list
}

# Each source can be used, or has a reason, which the tool repeats.
says_what_it_can()
{
	hwprof doctor > /tmp/doctor
	cat /tmp/doctor
	for source in step lbr sample mem; do
		cap=$(cat $pmu/caps/$source) || return
		case $cap in
		yes | *" "*) ;;
		*) echo "caps/$source: '$cap'"; return 1 ;;
		esac
		grep -q "^ok *caps .*$source=$cap" /tmp/doctor || return
	done
}

# Prints the doctor's exit status: 0 if any source can be used, else 1.
without_source()
{
	for source in step lbr sample; do
		[ "$(cat $pmu/caps/$source)" != yes ] || { echo 0; return; }
	done
	echo 1
}

# The doctor, too, says why stepping cannot be used.
doctor_knows_step()
{
	cap=$(cat $pmu/caps/step)
	hwprof doctor > /tmp/doctor
	status=$?
	cat /tmp/doctor
	case $cap in
	yes) [ $status = 0 ] && grep -q '^ok *step ' /tmp/doctor ;;
	*) [ $status = "$(without_source)" ] && grep -qF "$cap" /tmp/doctor &&
		grep '^missing *step ' /tmp/doctor | grep -qF "$cap" ;;
	esac
}

# Loops have two sources. The tool uses one, or says why each does not work.
says_why_no_loops()
{
	hwprof record -q -o /tmp/load.data -e loops -- true > /tmp/why 2>&1
	status=$?
	cat /tmp/why
	grep -q '^yes$' $pmu/caps/step $pmu/caps/lbr && [ $status = 0 ] ||
		{ [ $status = 1 ] &&
			grep -qF \
				"step: $(cat $pmu/caps/step); lbr: $(cat $pmu/caps/lbr)" \
				/tmp/why; }
}

# Every unexported symbol of this kernel was found, or is listed as missing.
says_what_it_found()
{
	cat $pmu/caps/symbols
	if grep -q ' register_kprobe$' /proc/kallsyms; then
		[ "$(cat $pmu/caps/symbols)" = yes ] &&
			! dmesg | grep 'hwprof: no '
	else
		! grep -v '^no [a-z_]*(): ' $pmu/caps/symbols &&
			dmesg | grep -q 'hwprof: no '
	fi
}

comes_and_goes()
{
	for round in 1 2 3; do
		rmmod hwprof && [ ! -e $pmu ] && insmod "$module" || return
		[ "$(cat $pmu/caps/sessions)" = 0 ] || return
	done
	! insmod "$module"
}

# Prints the number of interrupts of arm64's counters so far.
interrupts()
{
	awk '/arm-pmu/ { for (i = 2; $i ~ /^[0-9]+$/; i++) sum += $i }
	     END { print sum + 0 }' /proc/interrupts
}

# The module tries an overflow. A machine that handles overflows more slowly
# than they come must not hang because of it.
tries_one_overflow()
{
	rmmod hwprof || return
	before=$(interrupts)
	insmod "$module" || return
	after=$(interrupts)
	echo "interrupts of counters: $before before, $after after"
	case $(cat $pmu/caps/overflow) in
	NMI | interrupt) [ ! -e /sys/bus/event_source/devices/armv8* ] ||
		[ $((after - before)) = 1 ] ;;
	*) [ "$after" = "$before" ] ;;
	esac
}

# A refused event keeps nothing.
unloads_after_refusals()
{
	for event in loops,step loops,lbr loops,branches; do
		perf stat -e "hwprof/$event/u" -- true
	done
	sessions 0
	rmmod hwprof && insmod "$module"
}

test_ok "format" formats
test_ok "events" lists_events
test_ok "caps, and what the tool says of them" says_what_it_can
test_ok "stepping, and what the tool says of it" doctor_knows_step
test_ok "loops, from what there is" says_why_no_loops
test_ok "functions that are not exported" says_what_it_found
test_ok "load and unload" comes_and_goes
test_ok "trying an overflow takes one" tries_one_overflow
test_ok "unload after refusals" unloads_after_refusals
finish
