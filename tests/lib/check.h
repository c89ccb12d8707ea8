/* SPDX-License-Identifier: GPL-2.0-only */
/* Includes cmocka, after the headers that it needs. */
#ifndef HWPROF_TEST_CHECK_H
#define HWPROF_TEST_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif /* HWPROF_TEST_CHECK_H */
