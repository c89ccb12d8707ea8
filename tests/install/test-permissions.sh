#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The table in docs/permissions.md is the one that is tested. Prints TAP.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo 1..1
build/tests/kselftest/test_rights --table > "$work/tested"
grep '^|' docs/permissions.md > "$work/documented"
if [ -s "$work/tested" ] && diff "$work/tested" "$work/documented" > "$work/diff"
then
	echo "ok 1 - who may"
	exit
fi
sed 's/^/# /' "$work/diff"
echo "not ok 1 - who may"
exit 1
