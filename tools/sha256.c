// SPDX-License-Identifier: GPL-2.0-only
#include <stdint.h>
#include <string.h>

#include "sha256.h"

enum { BLOCK = 64, DIGEST = 32 };

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

/* Adds what is left behind the whole blocks, a 1, zeros and the size in bits. */
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

/* Writes @digest in base 64: 3 bytes are 4 characters. */
static void put_base64(const uint8_t digest[DIGEST], char text[SHA256_BASE64])
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		"0123456789+/";
	uint8_t padded[DIGEST + 1] = { 0 };
	unsigned int i;

	memcpy(padded, digest, DIGEST);
	for (i = 0; i < (DIGEST + 1) / 3; i++) {
		uint32_t three = padded[3 * i] << 16 | padded[3 * i + 1] << 8 |
				 padded[3 * i + 2];

		text[4 * i] = digits[three >> 18];
		text[4 * i + 1] = digits[three >> 12 & 63];
		text[4 * i + 2] = digits[three >> 6 & 63];
		text[4 * i + 3] = digits[three & 63];
	}
	text[4 * i - 1] = '=';
	text[4 * i] = 0;
}

void sha256_base64(const void *bytes, size_t size, char text[SHA256_BASE64])
{
	uint32_t hash[8] = {
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
		0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
	};
	uint8_t digest[DIGEST];
	const uint8_t *at = bytes;
	size_t i;

	for (i = size / BLOCK; i; i--, at += BLOCK)
		add_block(hash, at);
	add_end(hash, at, size);
	for (i = 0; i < DIGEST; i++)
		digest[i] = hash[i / 4] >> (24 - 8 * (i % 4));
	put_base64(digest, text);
}
