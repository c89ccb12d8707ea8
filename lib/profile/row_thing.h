/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef HWPROF_ROW_THING_H
#define HWPROF_ROW_THING_H

#include <linux/hwprof.h>
#include <stdint.h>

/*
 * Returns a number for the thing that a row is about, the same in all
 * processes that have it at the same address. row_describe() says where that is
 * and how much the row has.
 */
uint64_t row_thing(const struct hwprof_row *row);

#endif /* HWPROF_ROW_THING_H */
