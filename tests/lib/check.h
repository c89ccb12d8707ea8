/* SPDX-License-Identifier: GPL-2.0-only */
/* cmocka with what it wants included before it. */
#ifndef HWPROF_TEST_CHECK_H
#define HWPROF_TEST_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif /* HWPROF_TEST_CHECK_H */
