/* SPDX-License-Identifier: GPL-2.0-only */
/* SHA-256 (FIPS 180-4), by which a page names the scripts that may run. */
#ifndef HWPROF_SHA256_H
#define HWPROF_SHA256_H

#include <stddef.h>

enum {
	SHA256_BASE64 = 45,	/* bytes of the text, with its end */
};

/* Writes the digest of @bytes in base 64 to @text. */
void sha256_base64(const void *bytes, size_t size, char text[SHA256_BASE64]);

#endif /* HWPROF_SHA256_H */
