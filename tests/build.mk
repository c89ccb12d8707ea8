# SPDX-License-Identifier: GPL-2.0-only
# Every folder of tests says in its own fragment what it builds.
include $(wildcard tests/*/build.mk)
