// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "html_text.h"

enum { BLOCK = 64 };

/* --- SHA-256 -------------------------------------------------------------- */

static const uint32_t constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5,
	0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
	0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
	0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
	0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5,
	0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t turn(uint32_t word, unsigned int bits)
{
	return word >> bits | word << (32 - bits);
}

static uint32_t read_word(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 |
	       bytes[3];
}

/* The names of the standard: words W, and variables a to h. */
static void add_block(uint32_t hash[8], const uint8_t *block)
{
	uint32_t w[64], v[8], t1, t2;
	unsigned int i;

	for (i = 0; i < 16; i++)
		w[i] = read_word(block + 4 * i);
	for (; i < 64; i++)
		w[i] = (turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^
			w[i - 2] >> 10) + w[i - 7] +
		       (turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^
			w[i - 15] >> 3) + w[i - 16];
	memcpy(v, hash, sizeof(v));
	for (i = 0; i < 64; i++) {
		t1 = v[7] + (turn(v[4], 6) ^ turn(v[4], 11) ^ turn(v[4], 25)) +
		     ((v[4] & v[5]) ^ (~v[4] & v[6])) + constants[i] + w[i];
		t2 = (turn(v[0], 2) ^ turn(v[0], 13) ^ turn(v[0], 22)) +
		     ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
		memmove(v + 1, v, 7 * sizeof(*v));
		v[4] += t1;
		v[0] = t1 + t2;
	}
	for (i = 0; i < 8; i++)
		hash[i] += v[i];
}

/*
 * Adds the bytes behind the whole blocks, a bit of 1, zeros, and the size in
 * bits.
 */
static void add_end(uint32_t hash[8], const uint8_t *rest, size_t size)
{
	size_t left = size % BLOCK, blocks = left < BLOCK - 8 ? 1 : 2, i;
	uint8_t end[2 * BLOCK] = { 0 };

	memcpy(end, rest, left);
	end[left] = 0x80;
	for (i = 0; i < 8; i++)
		end[blocks * BLOCK - 1 - i] = (uint64_t)size * 8 >> 8 * i;
	for (i = 0; i < blocks; i++)
		add_block(hash, end + i * BLOCK);
}

void sha256(const void *bytes, size_t size, uint8_t digest[SHA256_SIZE])
{
	uint32_t hash[8] = {
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
		0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
	};
	const uint8_t *at = bytes;
	size_t i;

	for (i = size / BLOCK; i; i--, at += BLOCK)
		add_block(hash, at);
	add_end(hash, at, size);
	for (i = 0; i < SHA256_SIZE; i++)
		digest[i] = hash[i / 4] >> (24 - 8 * (i % 4));
}

/* --- base 64 and gzip ----------------------------------------------------- */

/* 3 bytes are 4 characters; '=' stands for what is missing of the last 3. */
void put_base64(const void *bytes, size_t size, FILE *out)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		"0123456789+/";
	const uint8_t *at = bytes;
	size_t i;

	for (i = 0; i < size; i += 3) {
		uint32_t three = at[i] << 16;

		three |= i + 1 < size ? at[i + 1] << 8 : 0;
		three |= i + 2 < size ? at[i + 2] : 0;
		putc(digits[three >> 18], out);
		putc(digits[three >> 12 & 63], out);
		putc(i + 1 < size ? digits[three >> 6 & 63] : '=', out);
		putc(i + 2 < size ? digits[three & 63] : '=', out);
	}
}

/* Writes bytes in gzip's format. Returns 0 or -ENOMEM. */
static int put_gzip(const void *bytes, size_t size, FILE *out)
{
	enum { GZIP = 16 + MAX_WBITS, LEVEL = 4, STEP = 1 << 30 };
	z_stream stream = { .next_in = (void *)bytes };
	uint8_t buffer[1 << 14];
	int status;

	if (deflateInit2(&stream, LEVEL, Z_DEFLATED, GZIP, MAX_MEM_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	do {
		/* zlib counts in 32 bits. */
		if (!stream.avail_in) {
			stream.avail_in = size < STEP ? size : STEP;
			size -= stream.avail_in;
		}
		stream.next_out = buffer;
		stream.avail_out = sizeof(buffer);
		status = deflate(&stream, size ? Z_NO_FLUSH : Z_FINISH);
		fwrite(buffer, 1, stream.next_out - buffer, out);
	} while (status != Z_STREAM_END);
	deflateEnd(&stream);
	return 0;
}

int put_packed(const void *bytes, size_t size, FILE *out)
{
	char *packed = NULL;
	size_t packed_size;
	FILE *memory = open_memstream(&packed, &packed_size);
	int error;

	if (!memory)
		return -ENOMEM;
	error = put_gzip(bytes, size, memory);
	if (fclose(memory))
		error = -ENOMEM;
	if (!error)
		put_base64(packed, packed_size, out);
	free(packed);
	return error;
}
