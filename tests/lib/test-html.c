// SPDX-License-Identifier: GPL-2.0-only
/* Bytes as text of pages: base 64, gzip. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "check.h"
#include "tools/html_text.h"

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
		cmocka_unit_test(test_base64),
		cmocka_unit_test(test_packed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
