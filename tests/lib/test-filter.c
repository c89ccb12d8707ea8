// SPDX-License-Identifier: GPL-2.0-only
/* Filters: functions become ranges of a file, in the kernel's words. */
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "live/filter.h"

static char words[FILTER_WORDS_MAX], message[1024], self[PATH_MAX];

/* Functions to be found; one has parts, as a compiler makes them. */
__attribute__((noinline, used)) static int alone(int n)
{
	return n + getpid();
}

int parted(int n);
int parted_not(int n);
__asm__(".text\n"
	".type parted, @function\nparted:\n\tnop\n\tret\n.size parted, 2\n"
	".type parted_not, @function\nparted_not:\n\tret\n"
	".size parted_not, 1\n"
	".type parted.cold, @function\nparted.cold:\n\tnop\n\tnop\n\tret\n"
	".size parted.cold, 3\n"
	".type sizeless, @function\nsizeless:\n\tret\n");

static int resolve(const char *format)
{
	char text[PATH_MAX + 256];

	snprintf(text, sizeof(text), format, self, self, self);
	message[0] = 0;
	return filter_resolve(text, words, sizeof(words), message,
			      sizeof(message));
}

/* Returns the offset in the file of code at @address of this program. */
static uint64_t offset_of(const void *address)
{
	const ElfW(Phdr) *header;
	struct link_map *map = _r_debug.r_map;
	uint64_t at = (uintptr_t)address - map->l_addr;
	const ElfW(Ehdr) *elf = (const void *)map->l_addr;
	int i;

	header = (const void *)((const char *)elf + elf->e_phoff);
	for (i = 0; i < elf->e_phnum; i++, header++)
		if (header->p_type == PT_LOAD &&
		    at - header->p_vaddr < header->p_filesz)
			return at - header->p_vaddr + header->p_offset;
	fail();
	return 0;
}

static void function(void **state)
{
	uint64_t offset, size;

	assert_int_equal(0, resolve("alone@%s"));
	assert_int_equal(2, sscanf(words, "filter 0x%" SCNx64 "/0x%" SCNx64,
				   &offset, &size));
	assert_int_equal(offset_of(alone), offset);
	assert_true(size > 1 && size < 4096);
	assert_string_equal(self, strchr(words, '@') + 1);
}

/* A name with a suffix is a part of the function; a longer name is not. */
static void parts(void **state)
{
	unsigned long at, second, size, second_size;
	char path[PATH_MAX];

	assert_int_equal(0, resolve("parted@%s"));
	assert_int_equal(5, sscanf(words, "filter 0x%lx/0x%lx@%[^,],filter 0x%lx/0x%lx@",
				   &at, &size, path, &second, &second_size));
	assert_int_equal(5, size + second_size);
	assert_int_equal(offset_of(parted), size == 2 ? at : second);
	assert_null(strchr(strchr(words, ',') + 1, ','));
}

static void several(void **state)
{
	assert_int_equal(0, resolve("0x10/4@%s,32/0x8@%s"));
	assert_non_null(strstr(words, "filter 0x10/0x4@/"));
	assert_non_null(strstr(words, ",filter 0x20/0x8@/"));
}

/* A name without a slash is a program of PATH. */
static void program(void **state)
{
	assert_int_equal(0, resolve("1/1@sh"));
	assert_non_null(strstr(words, "@/"));
	assert_int_equal(-ENOENT, resolve("1/1@no-such-program"));
	assert_non_null(strstr(message, "no file"));
}

static void refused(void **state)
{
	static const struct {
		const char *text;
		int error;
		const char *sentence;
	} cases[] = {
		{ "nothing@%s", -ENOENT, "has no function 'nothing'" },
		{ "sizeless@%s", -EINVAL, "has no size" },
		{ "alone", -EINVAL, "allowed are" },
		{ "@%s", -EINVAL, "allowed are" },
		{ "alone@", -EINVAL, "allowed are" },
		{ "alone@%s,", -EINVAL, "allowed are" },
		{ "", -EINVAL, "allowed are" },
		{ "1/0@%s", -ENOENT, "has no function" },
		{ "alone@/dev/null", -EINVAL, "no program" },
		{ "alone@/", -EINVAL, "no program" },
		{ "alone@/nothing/there", -ENOENT, "no file" },
		{ "1/1@sh,2/1@sh,3/1@sh,4/1@sh,5/1@sh,6/1@sh,7/1@sh,8/1@sh,9/1@sh",
		  -E2BIG, "more than 8" },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(cases[i].error, resolve(cases[i].text));
		if (!strstr(message, cases[i].sentence))
			fail_msg("'%s': %s", cases[i].text, message);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(function),
		cmocka_unit_test(parts),
		cmocka_unit_test(several),
		cmocka_unit_test(program),
		cmocka_unit_test(refused),
	};
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (length < 0)
		return 1;
	self[length] = 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
