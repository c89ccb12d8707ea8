#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Contexts, exactly, of what returns from several calls at once.
. "${0%/*}/tap.sh"
needs step

data=/tmp/unwinds.data

# called NAME CHAIN: checks that it was called in this context, and in no other
called()
{
	grep ";$1 " /tmp/folded | sed 's/ .*//' > /tmp/called
	cat /tmp/called
	[ "$(cat /tmp/called)" = "$2;$1" ]
}

record()
{
	hwprof record -q -m 16 -o $data -e cct -- ./unwinds &&
		hwprof report cct --folded -i $data > /tmp/folded || return
	main=$(sed -n 's/\(.*;main\);jumps .*/\1/p' /tmp/folded)
	[ -n "$main" ]
}

longjmp_leads_back()
{
	called after_jump "$main;jumps"
}

# Twice, because the handler has its own stack the second time.
siglongjmp_leads_back()
{
	grep ';after_signal ' /tmp/folded | sed 's/ .*//' | sort > /tmp/called
	printf '%s\n' "$main;signals;after_signal" \
		"$main;signals_on_own_stack;signals;after_signal" |
		diff - /tmp/called
}

unwinding_leads_to_landing_pads()
{
	called cleaned "$main;unwindings;catches" &&
		called after_unwinding "$main;unwindings"
}

# The target of a retpoline is in the thunk's context, as with a tail call.
retpolines_are_left()
{
	grep ';after_thunk ' /tmp/folded |
		sed 's/__x86_indirect_thunk_[a-z0-9]*/pointed_to/; s/ .*//' |
		sort > /tmp/called
	printf '%s\n' "$main;calls_by_pointer;after_thunk" \
		"$main;calls_by_pointer;pointed_to;after_thunk" |
		diff - /tmp/called
}

test_ok "records" record
test_ok "longjmp leads back" longjmp_leads_back
test_ok "siglongjmp out of a handler leads back" siglongjmp_leads_back
test_ok "unwinding leads to landing pads" unwinding_leads_to_landing_pads
test_ok "retpolines are left" retpolines_are_left
finish
