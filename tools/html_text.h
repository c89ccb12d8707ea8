/* SPDX-License-Identifier: GPL-2.0-only */
/* Bytes as text that HTML can have: gzip, base 64. */
#ifndef HWPROF_HTML_TEXT_H
#define HWPROF_HTML_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Writes bytes in base 64. */
void put_base64(const void *bytes, size_t size, FILE *out);

/*
 * Writes bytes in gzip's format, in base 64. Returns 0 or -ENOMEM.
 */
int put_packed(const void *bytes, size_t size, FILE *out);

#endif /* HWPROF_HTML_TEXT_H */
