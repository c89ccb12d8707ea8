#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A program with all capabilities whose AppArmor profile lets it read all
# programs, but attach only to those of its own profile, as in a container.
. "${0%/*}/tap.sh"

parser=/sbin/apparmor_parser
policy=/sys/kernel/security/apparmor
export profile=hwprof-reader

mount -t securityfs securityfs /sys/kernel/security 2> /dev/null
[ -d $policy ] || { skip all "this kernel has no AppArmor"; finish; exit; }
[ -x $parser ] || { skip all "there is no $parser"; finish; exit; }

# load RULE: makes the profile allow the RULE about ptrace as well
load()
{
	echo "profile $profile { file, capability, signal, unix, network, $1 }" |
		$parser --policy-features $policy/features -K -r
}

confined()
{
	sh -c "echo exec $profile > /proc/self/attr/exec; exec \"\$@\"" sh "$@"
}

# of_another EVENT: records the event of another process, confined
of_another()
{
	./spin &
	confined hwprof record -o /tmp/confined.data -e "$1" -p $! -- sleep 0.1
	status=$?
	kill $!
	return $status
}

of_all()
{
	confined hwprof record -o /tmp/confined.data -a -e "$1" -- sleep 0.1
}

# over PID COMMAND...: runs it, confined, with its own memory mounted over that
# of the process
over()
(
	export over=$1
	shift
	script=$(cat << 'END'
		mount --bind /proc/$$/mem /proc/$over/mem || exit
		echo exec $profile > /proc/self/attr/exec
		exec "$@"
END
	)
	sh -c "$script" sh "$@"
	status=$?
	umount "/proc/$over/mem"
	return $status
)

over_all()
{
	over 1 hwprof record -o /tmp/confined.data -a -e loops,step -- sleep 0.1
}

over_another()
(
	./spin &
	over $! hwprof record -o /tmp/confined.data -e values -p $! -- sleep 0.1
	status=$?
	kill $!
	return $status
)

doctor_names()
{
	confined hwprof doctor > /tmp/doctor
	grep "$1" /tmp/doctor
}

label="under the security label '$profile (enforce)'"
test_ok "a profile that allows to read" load \
	"ptrace read, ptrace peer=$profile,"
test_ok "samples of another process" of_another ranges,sample
test_ok "samples of all" of_all ranges,sample
if [ "$(cat $caps/step)" = yes ]; then
	test_ok "values of another process" says "$label" of_another values
	test_ok "values of all" says "$label" of_all values
	test_ok "steps of all" says "$label" of_all loops,step
	test_ok "steps of all, with a file over the init process's" \
		says "$label" over_all
	test_ok "values, with a file over another process's" \
		says "$label" over_another
	test_ok "steps of its child" confined hwprof record \
		-o /tmp/confined.data -e loops,step ./known
else
	skip "values and steps" "step: $(cat $caps/step)"
fi
test_ok "doctor names the label" doctor_names "the security label '$profile"
test_ok "a profile that allows to attach" load "ptrace,"
if [ "$(cat $caps/step)" = yes ]; then
	test_ok "values of another process then" of_another values
	test_ok "values of all then" of_all values
fi
printf %s $profile > $policy/.remove
finish
