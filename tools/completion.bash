# SPDX-License-Identifier: GPL-2.0-only
# bash completion for hwprof. Commands, options, reports and sort keys are those
# that its --help tells, so that the two cannot disagree.

# Fields of events as name:lowest bit:highest bit, and the streams of ranges.
_hwprof_fields=@FIELDS@
_hwprof_streams=@STREAMS@
_hwprof_sysfs=/sys/bus/event_source/devices/hwprof

# _hwprof_commands HWPROF
_hwprof_commands()
{
	"$1" --help 2> /dev/null | sed -n 's/^  \([a-z]\{1,\}\)  .*/\1/p'
}

# _hwprof_options HWPROF COMMAND: the options in the usage and in the lines that
# describe them.
_hwprof_options()
{
	"$1" help "$2" 2> /dev/null |
		sed -n -e '/^usage/,/^$/p' -e 's/^ *\(-.*\)/\1/p' |
		sed 's/\([^ ]\)  .*/\1/' |
		grep -oE -e '(^|[ [])--?[a-zA-Z][a-z-]*' | tr -d ' ['
	echo --help
}

# _hwprof_reports HWPROF: loops, ranges and so on.
_hwprof_reports()
{
	"$1" help report 2> /dev/null |
		sed -n 's/^usage: hwprof report \[*\([a-z|]*\).*/\1/p' | tr '|' ' '
}

# _hwprof_takers HWPROF COMMAND: the options with a value, which follows in
# capitals.
_hwprof_takers()
{
	"$1" help "$2" 2> /dev/null | sed -n 's/^ *\(-.*\)/\1/p' |
		sed 's/\([^ ]\)  .*/\1/' | grep ' [A-Z]' |
		grep -oE -e '(^| )--?[a-zA-Z][a-z-]*' | tr -d ' '
}

# _hwprof_keys HWPROF COMMAND: the keys of --sort.
_hwprof_keys()
{
	"$1" help "$2" 2> /dev/null | awk '
		/^ *-s, --sort/ { on = 1; sub(/.* of:/, ""); print; next }
		on && /^ *[-(]/ { exit }
		on' | tr -d ','
}

# _hwprof_formats HWPROF: what export --format takes.
_hwprof_formats()
{
	"$1" help export 2> /dev/null |
		sed -n 's/^ \{22\}\([a-z-]\{1,\}\)   *[^ ].*/\1/p'
}

# _hwprof_compiler_formats HWPROF: the formats that pgo --format takes.
_hwprof_compiler_formats()
{
	"$1" help pgo 2> /dev/null | awk '
		/^ *-f, --format/ { on = 1; next }
		on && /^ *[-(]/ { exit }
		on' | tr -d ','
}

# _hwprof_parameters HWPROF: the parameters that ctl changes, with '='.
_hwprof_parameters()
{
	"$1" help ctl 2> /dev/null | sed -n 's/^  \([a-z]\{1,\}=\).*/\1/p'
}

# The fields of events. Those with a value end with '='.
_hwprof_event_fields()
{
	local field name low high

	if [[ -d $_hwprof_sysfs/format ]]; then
		for field in "$_hwprof_sysfs"/format/*; do
			name=${field##*/}
			# "branches" is all_branches there.
			name=${name#all_}
			[[ $(< "$field") == *-* ]] && name+==
			echo "$name"
		done
	else
		while IFS=: read -r name low high; do
			((low == high)) || name+==
			echo "$name"
		done <<< "${_hwprof_fields//,/$'\n'}"
	fi
	echo of=
}

# _hwprof_list WORDS: completes the last element of a list in $cur. Readline
# keeps everything before the last '='.
_hwprof_list()
{
	local last=${cur##*[,=/]} kept

	kept=${cur%"$last"}
	[[ $kept != *=* || $COMP_WORDBREAKS != *=* ]] || kept=${kept##*=}
	COMPREPLY=($(compgen -P "$kept" -W "$1" -- "$last"))
	compopt -o nospace 2> /dev/null || true
}

# Completes an event in $cur.
_hwprof_event()
{
	case $cur in
	*of=*([!,])) _hwprof_list "${_hwprof_streams//,/ }" ;;
	*=*([!,])) ;;
	*) _hwprof_list "$(_hwprof_event_fields | grep .)" ;;
	esac
}

# The names of kinds, classes and widths, and the tests, are those that the
# messages about a wrong one list.
# _hwprof_names HWPROF MASK
_hwprof_names()
{
	"$1" record --mask "$2" -- true 2>&1 | sed -n 's/.*; there are //p' |
		tr -d ',' | sed 's/ and / /'
}

# _hwprof_mask HWPROF: completes a mask in $cur.
_hwprof_mask()
{
	case $cur in
	*kind=*([!,])) _hwprof_list "$(_hwprof_names "$1" kind=)" ;;
	*class=*([!,])) _hwprof_list "$(_hwprof_names "$1" class=)" ;;
	*width=*([!,])) _hwprof_list "$(_hwprof_names "$1" width=)" ;;
	*=*([!,])) ;;
	*) _hwprof_list "$(_hwprof_names "$1" x)" ;;
	esac
}

# _hwprof_value HWPROF COMMAND: completes the value of option $prev. Returns 1
# if the option has none.
_hwprof_value()
{
	_hwprof_takers "$1" "$2" | grep -qxe "$prev" || return 1
	case $prev in
	-e | --event)
		if [[ $2 == replay ]]; then
			COMPREPLY=($(compgen -W "loops calls paths edges ranges cct" -- "$cur"))
		else
			_hwprof_event
		fi ;;
	-f | --format)
		if [[ $2 == pgo ]]; then
			_hwprof_list "$(_hwprof_compiler_formats "$1")"
			return 0
		fi
		COMPREPLY=($(compgen -W "$(_hwprof_formats "$1")" -- "$cur")) ;;
	-i | --input | -o | --output | --binary | --html) _filedir ;;
	-p | --pid) _pids ;;
	-G | --cgroup) _filedir -d ;;
	-s | --sort) _hwprof_list "$(_hwprof_keys "$1" "$2")" ;;
	--mask) _hwprof_mask "$1" ;;
	--of) COMPREPLY=($(compgen -W "${_hwprof_streams//,/ }" -- "$cur")) ;;
	esac
	return 0
}

# _hwprof_program HWPROF COMMAND: prints the index in words of the command to
# profile; 0 if there is none yet.
_hwprof_program()
{
	local at takers=$(_hwprof_takers "$1" "$2")

	for ((at = 2; at < cword; at++)); do
		case ${words[at]} in
		--) echo $((at + 1)); return ;;
		-*) grep -qxe "${words[at]}" <<< "$takers" && ((at++)) ;;
		*) echo $at; return ;;
		esac
	done
	echo 0
}

_hwprof()
{
	local cur prev words cword split command at

	_init_completion -s -n = || return
	if ((cword == 1)); then
		COMPREPLY=($(compgen -W "$(_hwprof_commands "$1") --help --version" \
			-- "$cur"))
		return
	fi
	command=${words[1]}
	case $command in
	record | stat | top | pgo)
		at=$(_hwprof_program "$1" "$command")
		if ((at)); then
			_command_offset "$at"
			return
		fi ;;
	esac
	_hwprof_value "$1" "$command" && return
	case $command:$cword:$cur in
	*:-*) COMPREPLY=($(compgen -W "$(_hwprof_options "$1" "$command")" \
		-- "$cur")) ;;
	help:2:*) COMPREPLY=($(compgen -W "$(_hwprof_commands "$1")" -- "$cur")) ;;
	ctl:*) COMPREPLY=($(compgen -W "$(_hwprof_parameters "$1")" -- "$cur"))
		compopt -o nospace 2> /dev/null || true ;;
	report:2:*) COMPREPLY=($(compgen -W "$(_hwprof_reports "$1")" -- "$cur")) ;;
	record:* | stat:* | top:* | pgo:*) COMPREPLY=($(compgen -c -- "$cur")) ;;
	report:* | replay:* | script:* | export:* | bpf:*) _filedir ;;
	esac
} &&
complete -F _hwprof hwprof
