#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Output of `hwprof doctor` on the test machines, whose counters are known.
. "${0%/*}/tap.sh"

module=../../$KSELFTEST_KERNEL/hwprof.ko
devices=/sys/bus/event_source/devices

hwprof doctor > /tmp/doctor
hwprof doctor --json > /tmp/doctor.json

# row_says STATE CHECK TEXT: checks both forms of the output.
row_says()
{
	grep "^$1 *$2 " /tmp/doctor
	grep "^$1 *$2 " /tmp/doctor | grep -qF "$3" &&
		grep -qF "$3" /tmp/doctor.json
}

cap_is()
{
	echo "$1: $(cat $caps/"$1")"
	[ "$(cat $caps/"$1")" = "$2" ]
}

no_counters()
{
	cap_is overflow "no hardware counters" && cap_is counters unknown &&
		row_says warn pmu "no hardware counters: " &&
		row_says warn lbr "there are no hardware counters" &&
		row_says warn precise "there are no hardware counters"
}

# Four counters and 32 records, as on a Skylake. PEBS is not emulated.
x86_counters()
{
	cap_is overflow NMI && cap_is counters 4 &&
		row_says ok pmu \
			"'cpu' with 4 counters for any event; their overflow is an NMI" &&
		row_says ok lbr "$(cat $devices/cpu/caps/branches) entries deep" &&
		row_says warn precise "'cpu' has no precise events"
}

# In the debug kernel they are NMIs.
arm64_counters()
{
	case $KSELFTEST_KERNEL in
	*debug)
		cap_is overflow NMI &&
			row_says ok pmu \
				"6 counters for any event; their overflow is an NMI" ;;
	*)
		cap_is overflow interrupt &&
			row_says warn pmu \
				"6 counters for any event; their overflow is an ordinary interrupt" &&
			grep -q 'gicv3_pseudo_nmi=1' /tmp/doctor ;;
	esac && row_says warn lbr "has none that the kernel knows" &&
		row_says warn precise "has no precise events"
}

# The test machine's kernels are tested ones. test-hwprof has others.
kernel_is_tried()
{
	row_says ok kernel "Linux $(uname -r), $(uname -m)"
}

# Each check has a line, and what lacks counters or records has advice.
is_complete()
{
	for check in kernel module caps step permission mlock tracefs cpu pmu \
		     lbr precise; do
		grep "^[a-z]* *$check *[^ ]" /tmp/doctor || return
	done
	awk 'warned && $1 != "->" { exit 1 }
	     { warned = $1 == "warn" && ($2 == "pmu" || $2 == "lbr") }' \
		/tmp/doctor
}

# Pinned events take all four counters of each CPU while the module is loaded.
counters_in_use()
{
	held="-e r20c4:D -e r20c4:D -e r20c4:D -e r20c4:D"
	# not the function, which would leave perf behind when it is killed
	command perf stat -a $held > /tmp/held 2>&1 &
	perf=$!
	sleep 1
	rmmod hwprof
	insmod "$module"
	cat $caps/lbr
	hwprof doctor > /tmp/doctor
	hwprof doctor --json > /tmp/doctor.json
	kill $perf
	wait $perf
	row_says warn lbr "cannot be used: the hardware counters are in use" &&
		grep -F "then rmmod hwprof; modprobe hwprof" /tmp/doctor
	said=$?
	rmmod hwprof && insmod "$module" && cap_is lbr yes && [ $said = 0 ]
}

test_ok "doctor: every check" is_complete
test_ok "doctor: the kernel is one that is tested" kernel_is_tried
if [ -e $devices/cpu ]; then
	test_ok "doctor: counters of x86-64" x86_counters
	test_ok "doctor: counters in use at load" counters_in_use
elif ls $devices | grep -q '^armv8'; then
	test_ok "doctor: counters of arm64" arm64_counters
else
	test_ok "doctor: no counters" no_counters
fi
finish
