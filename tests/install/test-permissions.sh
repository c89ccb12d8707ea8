#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The table in docs/permissions.md is the one that is tested. Prints TAP.
# usage, in the project's folder: test-permissions
. tests/install/tap.sh

same_table()
{
	build/tests/kselftest/test_rights --table > "$work/tested" &&
		grep '^|' docs/permissions.md |
		diff "$work/tested" - && [ -s "$work/tested" ]
}

check "who may" same_table
finish
