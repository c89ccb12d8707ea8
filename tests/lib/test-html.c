// SPDX-License-Identifier: GPL-2.0-only
/* Bytes as text of pages: SHA-256, base 64, gzip. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "check.h"
#include "tools/html_text.h"

static void check_digest(const void *bytes, size_t size, const char *expected)
{
	uint8_t digest[SHA256_SIZE];
	char text[2 * SHA256_SIZE + 1];
	size_t i;

	sha256(bytes, size, digest);
	for (i = 0; i < SHA256_SIZE; i++)
		sprintf(text + 2 * i, "%02x", digest[i]);
	assert_string_equal(text, expected);
}

/* The examples of FIPS 180, and sizes around the end of a block. */
static void test_sha256(void **state)
{
	char *many = malloc(1000000);

	memset(many, 'a', 1000000);
	check_digest("", 0, "e3b0c44298fc1c149afbf4c8996fb924"
		     "27ae41e4649b934ca495991b7852b855");
	check_digest("abc", 3, "ba7816bf8f01cfea414140de5dae2223"
		     "b00361a396177a9cb410ff61f20015ad");
	check_digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		     56, "248d6a61d20638b8e5c026930c3e6039"
		     "a33ce45964ff2167f6ecedd419db06c1");
	check_digest(many, 55, "9f4390f8d30c2dd92ec9f095b65e2b9a"
		     "e9b0a925a5258e241c9f1e910f734318");
	check_digest(many, 64, "ffe054fe7ae0cb6dc65c3af9b61d5209"
		     "f439851db43d0ba5997337df154668eb");
	check_digest(many, 1000000, "cdc76e5c9914fb9281a1c7e284d73e67"
		     "f1809a48a497200e046d39ccc7112cd0");
	free(many);
}

static void check_base64(const char *bytes, const char *expected)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	put_base64(bytes, strlen(bytes), out);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}

/* The examples of RFC 4648. */
static void test_base64(void **state)
{
	check_base64("", "");
	check_base64("f", "Zg==");
	check_base64("fo", "Zm8=");
	check_base64("foo", "Zm9v");
	check_base64("foob", "Zm9vYg==");
	check_base64("fooba", "Zm9vYmE=");
	check_base64("foobar", "Zm9vYmFy");
	check_base64("\xff\xfe\xfb", "//77");
}

static int digit(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		"0123456789+/";
	const char *at = strchr(digits, c);

	assert_true(at && c);
	return at - digits;
}

/* Returns the number of bytes. */
static size_t read_base64(const char *text, size_t length, uint8_t *bytes)
{
	size_t i, size = 0;

	assert_int_equal(length % 4, 0);
	for (i = 0; i < length; i += 4) {
		bytes[size++] = digit(text[i]) << 2 | digit(text[i + 1]) >> 4;
		if (text[i + 2] != '=')
			bytes[size++] = digit(text[i + 1]) << 4 |
					digit(text[i + 2]) >> 2;
		if (text[i + 3] != '=')
			bytes[size++] = digit(text[i + 2]) << 6 |
					digit(text[i + 3]);
	}
	return size;
}

static void check_packed(const void *bytes, size_t size)
{
	uint8_t *packed, *back = malloc(size + 1);
	z_stream stream = { .next_out = back, .avail_out = size + 1 };
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_int_equal(put_packed(bytes, size, out), 0);
	fclose(out);
	packed = malloc(length + 1);
	stream.next_in = packed;
	stream.avail_in = read_base64(text, length, packed);
	assert_int_equal(inflateInit2(&stream, 16 + MAX_WBITS), Z_OK);
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	assert_int_equal(stream.total_out, size);
	assert_memory_equal(back, bytes, size);
	inflateEnd(&stream);
	free(packed);
	free(back);
	free(text);
}

static void test_packed(void **state)
{
	enum { SIZE = 300000 };
	uint8_t *bytes = malloc(SIZE);
	uint32_t random = 1;
	size_t i;

	check_packed("", 0);
	check_packed("</script>", 9);
	for (i = 0; i < SIZE; i++)
		bytes[i] = (random = random * 1664525 + 1013904223) >> 24;
	check_packed(bytes, SIZE);
	memset(bytes, 'x', SIZE);
	check_packed(bytes, SIZE);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sha256),
		cmocka_unit_test(test_base64),
		cmocka_unit_test(test_packed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
