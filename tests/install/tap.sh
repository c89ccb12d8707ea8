# SPDX-License-Identifier: GPL-2.0-only
# To be sourced by tests that are shell scripts and run in the project's folder:
# TAP, and a folder $work that goes at the end.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0

# check TITLE COMMAND...: checks that the command succeeds; if not, prints its
# output.
check()
{
	title=$1
	shift
	n=$((n + 1))
	if "$@" > "$work/out" 2>&1 < /dev/null; then
		echo "ok $n - $title"
	else
		sed 's/^/# /' "$work/out"
		echo "not ok $n - $title"
		failed=1
	fi
}

# Prints the plan and exits. A test calls it last.
finish()
{
	echo "1..$n"
	exit "${failed:-0}"
}
