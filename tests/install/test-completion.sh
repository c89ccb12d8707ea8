#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Checks the words that bash completes for hwprof. Prints TAP.
# usage, in the project's folder: test-completion
PATH=$PWD/build:$PATH
. /usr/share/bash-completion/bash_completion
. build/completion/hwprof
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0

# complete_words WORD...: completes the last word. It splits a word at each '=',
# as readline does.
complete_words()
{
	local word

	COMP_LINE=$* COMP_WORDS=()
	for word; do
		while [[ $word == *=* ]]; do
			COMP_WORDS+=("${word%%=*}" =)
			word=${word#*=}
			[[ $word ]] || continue 2
		done
		COMP_WORDS+=("$word")
	done
	COMP_POINT=${#COMP_LINE} COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	COMPREPLY=()
	_hwprof hwprof "${COMP_WORDS[COMP_CWORD]}" \
		"${COMP_WORDS[COMP_CWORD - 1]}" 2> "$work/err"
}

# check EXPECTED WORD...: checks that the completions of the last word are
# EXPECTED.
check()
{
	local expected=$1

	shift
	n=$((n + 1))
	complete_words "$@"
	if [[ "${COMPREPLY[*]}" == "$expected" && ! -s $work/err ]]; then
		echo "ok $n - $*"
	else
		echo "# expected: $expected"
		echo "# got:      ${COMPREPLY[*]}"
		sed 's/^/# /' "$work/err"
		echo "not ok $n - $*"
		failed=1
	fi
}

# same NAME EXPECTED GOT: checks that both lists are equal.
same()
{
	n=$((n + 1))
	if [[ $2 == "$3" ]]; then
		echo "ok $n - $1"
	else
		diff <(tr ' ' '\n' <<< "$2") <(tr ' ' '\n' <<< "$3") |
			sed 's/^/# /'
		echo "not ok $n - $1"
		failed=1
	fi
}

# long_options COMMAND: prints the long options in the command's source.
long_options()
{
	case $1 in
	record) cat tools/record*.c ;;
	report) cat tools/report.c tools/report.h ;;
	replay) cat tools/replay.c tools/report.h ;;
	top | stat) cat tools/$1.c tools/live.h ;;
	script | export | pgo) cat tools/$1.c ;;
	ctl) cat tools/ctl.c ;;
	doctor) cat tools/doctor*.c ;;
	esac | grep -oE '\{ "[a-z-]+", (no|required|optional)_argument' |
		sed 's/{ "\(.*\)", .*/--\1/' | sort -u
}

check "record report replay" hwprof re
check "--version" hwprof --v
check "record report replay" hwprof help re
for command in record report replay top stat script export pgo ctl doctor; do
	complete_words hwprof $command --
	same "all options of $command" "$(long_options $command | xargs)" \
		"$(printf '%s\n' "${COMPREPLY[@]}" | sort -u | xargs)"
done
check "loops ranges calls cct paths values edges" hwprof report ""
check "iterations" hwprof report loops --sort it
check "share,trip" hwprof report loops --sort share,tr
check "trip" hwprof top --sort tr
check "bolt" hwprof pgo -f bo
check "bolt,fdata" hwprof pgo --format bolt,fd
check "callgrind" hwprof export -f call
check "budget=" hwprof ctl 12 bud
check "" hwprof top -d 1
check "tests/vm/README.md" hwprof report loops tests/vm/RE
check "tests/vm/README.md" hwprof report loops -i tests/vm/RE
check "load-value load-address" hwprof report ranges --of lo
check "calls" hwprof replay -e ca
check "$$" hwprof record -p $$
check "" hwprof record -c 1

check "loops" hwprof record -e lo
check "loops,memory_mib=" hwprof record -e loops,memory
check "hwprof/loops" hwprof record --event hwprof/lo
check "load-value load-address" hwprof record -e ranges,of=lo
check "loops" hwprof record --event=lo
check "load-value load-address" hwprof record --event=ranges,of=lo
check "share,trip" hwprof report loops --sort=share,tr
check "" hwprof record -e loops,memory_mib=1
check "4,step" hwprof record -e loops,memory_mib=4,ste
check "store-address" hwprof record -e ranges,memory_mib=4,of=st

check "kind= class= width= value= address= ip= part=" hwprof record --mask ""
check "load" hwprof top --mask kind=lo
check "load,width=" hwprof bpf --mask kind=load,wi
check "vector" hwprof ctl --mask width=8,class=ve
check "16" hwprof stat --mask width=16
check "" hwprof stat --mask value=
complete_words hwprof record -e ""
same "all fields of the ABI" \
	"$(sed -n 's/^\tF(X, \([a-z_]*\),.*/\1/p' \
		uapi/linux/hwprof.h | sort | xargs) of" \
	"$(printf '%s\n' "${COMPREPLY[@]%=}" | grep -vx of | sort | xargs) of"

# The recorded command and its arguments are completed as for any other command.
mkdir "$work/bin"
touch "$work/bin/some-program"
chmod +x "$work/bin/some-program"
PATH=$work/bin:$PATH
check "some-program" hwprof record -a -e loops,step some-pro
check "README.md" hwprof record -e loops -- cat READ
check "some-program" hwprof stat --cpu 0-3 -i some-pro
check "README.md" hwprof top -aG group -D 5 cat READ
check "README.md" hwprof record -q -c 5 cat READ
check "README.md" hwprof record -c5 --freq=9 --freq 9 cat READ

# A kernel whose event fields differ from those of this version of hwprof.
mkdir -p "$work/hwprof/format"
echo config:1 > "$work/hwprof/format/loops"
echo config:2 > "$work/hwprof/format/loose"
echo config:16-27 > "$work/hwprof/format/looks"
echo config:0 > "$work/hwprof/format/all_branches"
_hwprof_sysfs=$work/hwprof
check "looks= loops loose" hwprof record -e loo
check "branches" hwprof record -e br
check "" hwprof record -e al
echo "1..$n"
exit "${failed:-0}"
