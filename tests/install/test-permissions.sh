#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The table in docs/permissions.md is the one that is tested. Prints TAP.
# usage, in the project's folder: test-permissions
. tests/install/tap.sh

# first_table FILE: prints the rows of the first table in it.
first_table()
{
	awk '/^\|/ { print; table = 1; next } table { exit }' "$1"
}

same_table()
{
	build/tests/kselftest/test_rights --table > "$work/tested" &&
		first_table docs/permissions.md |
		diff "$work/tested" - && [ -s "$work/tested" ]
}

check "who may" same_table
finish
