#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Docs and manual pages name what the code has. Prints TAP.
# usage, in the project's folder: test-docs
exec python3 tests/install/docs.py build/hwprof
