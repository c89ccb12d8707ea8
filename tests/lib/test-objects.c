// SPDX-License-Identifier: GPL-2.0-only
/*
 * Symbols and lines of programs built here, compared with nm, objdump and
 * addr2line.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "fixture.h"
#include "code/objects.h"

static const char source[] =
"__attribute__((noinline)) int turns(int n)\n"
"{\n"
"	int sum = 0;\n"
"\n"
"	for (int i = 0; i < n; i++)\n"
"		sum = sum * 3 + i;\n"
"	return sum;\n"
"}\n"
"\n"
"int main(int argc, char **argv)\n"
"{\n"
"	return turns(argc);\n"
"}\n";

static char folder[] = "/tmp/hwprof-test-XXXXXX";

static void shell(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

static void shell(const char *format, ...)
{
	char command[2048];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	assert_int_equal(system(command), 0);
}

/* A program that calls other objects. */
static const char caller[] =
"#include <stdio.h>\n"
"#include <stdlib.h>\n"
"\n"
"int main(int argc, char **argv)\n"
"{\n"
"	puts(getenv(argv[0]) ?: \"none\");\n"
"	return abs(argc) + atoi(argv[0]);\n"
"}\n";

static void write_source(const char *name, const char *text)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	fputs(text, file);
	fclose(file);
}

static int make_folder(void **state)
{
	assert_non_null(mkdtemp(folder));
	write_source("turns.c", source);
	write_source("caller.c", caller);
	return 0;
}

static int remove_folder(void **state)
{
	shell("rm -r %s", folder);
	return 0;
}

static void build(const char *name, const char *flags)
{
	shell("cd %s && gcc -O1 %s -o %s turns.c", folder, flags, name);
}

/* Returns a number that a command prints. */
static uint64_t number(const char *format, const char *name)
{
	char command[1024], output[256];

	snprintf(command, sizeof(command), format, folder, name);
	assert_int_equal(fixture_shell(output, sizeof(output), "%s", command),
			 0);
	return strtoull(output, NULL, 16);
}

/* Returns the file offset of a code address, from the table of sections. */
static uint64_t offset_of(const char *name, uint64_t address)
{
	uint64_t text = number(
		"objdump -h %s/%s | awk '$2==\".text\"{print $4}'", name);
	uint64_t offset = number(
		"objdump -h %s/%s | awk '$2==\".text\"{print $6}'", name);

	return address - text + offset;
}

static struct object *open_object(struct objects *objects, const char *name)
{
	struct build_id id = { .size = 0 };
	struct object *object;
	char path[64];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	object = objects_get(objects, path, &id);
	assert_non_null(object);
	return object;
}

/* Compares with "FILE:LINE" of addr2line. */
static void check_line(struct object *object, const char *name,
		       uint64_t address)
{
	char expected[512], found[512];
	const char *file;
	unsigned int line;

	fixture_shell(expected, sizeof(expected),
		      "addr2line -e %s/%s 0x%" PRIx64, folder, name, address);
	expected[strcspn(expected, " \n")] = 0;
	file = object_line(object, address, &line);
	assert_non_null(file);
	snprintf(found, sizeof(found), "%s/%s:%u", folder,
		 strrchr(file, '/') ? strrchr(file, '/') + 1 : file, line);
	assert_string_equal(found, expected);
}

static void check(const char *name, const char *flags, bool lines)
{
	struct objects *objects = objects_new(false);
	uint64_t address, offset = 0, begin, end;
	struct object *object;
	unsigned int line;

	build(name, flags);
	object = open_object(objects, name);
	address = number("nm %s/%s | awk '$3==\"turns\"{print $1}'", name);
	assert_int_not_equal(address, 0);
	assert_int_equal(object_address(object, offset_of(name, address + 6)),
			 address + 6);
	assert_string_equal(object_symbol(object, address + 6, &offset),
			    "turns");
	assert_int_equal(offset, 6);
	assert_true(object_bounds(object, address + 6, &begin, &end));
	assert_int_equal(begin, address);
	assert_int_equal(end - begin,
			 number("nm -S %s/%s | awk '$4==\"turns\"{print $2}'",
				name));
	if (lines)
		check_line(object, name, address + 6);
	else
		assert_null(object_line(object, address, &line));
	assert_null(object_warning(object));
	objects_free(objects);
}

static void test_pie(void **state)
{
	check("pie", "-fPIE -pie", false);
}

static void test_pie_debug(void **state)
{
	check("pie-g", "-fPIE -pie -g", true);
}

static void test_fixed(void **state)
{
	check("fixed", "-no-pie", false);
}

static void test_fixed_debug(void **state)
{
	check("fixed-g", "-no-pie -g", true);
}

/* Segments that share pages. */
static void test_packed(void **state)
{
	check("packed", "-no-pie -g -Wl,-z,noseparate-code", true);
}

static void test_library(void **state)
{
	check("library.so", "-shared -fPIC -g", true);
}

/* Debug information in a separate file, found by its link. */
static void test_separate(void **state)
{
	struct objects *objects = objects_new(false);
	struct object *object;
	uint64_t address, offset;

	build("split", "-fPIE -pie -g");
	address = number("nm %s/%s | awk '$3==\"turns\"{print $1}'", "split");
	shell("cd %s && objcopy --only-keep-debug split split.debug && strip split && objcopy --add-gnu-debuglink=split.debug split",
	      folder);
	object = open_object(objects, "split");
	assert_string_equal(object_symbol(object, address + 6, &offset),
			    "turns");
	check_line(object, "split.debug", address + 6);
	objects_free(objects);
}

static void test_stripped(void **state)
{
	struct objects *objects = objects_new(false);
	struct object *object;
	uint64_t offset, address;

	build("bare", "-no-pie");
	address = number("nm %s/%s | awk '$3==\"turns\"{print $1}'", "bare");
	shell("strip %s/bare", folder);
	object = open_object(objects, "bare");
	assert_int_equal(object_address(object, offset_of("bare", address)),
			 address);
	assert_null(object_symbol(object, address, &offset));
	objects_free(objects);
}

static void test_build_id(void **state)
{
	struct objects *objects = objects_new(false);
	struct build_id id;
	char path[64], expected[256], text[64] = "";
	struct object *object;
	uint64_t offset, address;
	size_t i;

	build("with-id", "-Wl,--build-id=sha1 -no-pie");
	snprintf(path, sizeof(path), "%s/with-id", folder);
	assert_true(object_read_build_id(path, &id));
	fixture_shell(expected, sizeof(expected),
		      "readelf -n %s | awk '/Build ID/{printf \"%%s\", $3}'",
		      path);
	for (i = 0; i < id.size; i++)
		sprintf(text + 2 * i, "%02x", id.bytes[i]);
	assert_string_equal(text, expected);

	/*
	 * The right id gives symbols. A different one gives none, but a
	 * warning.
	 */
	address = number("nm %s/%s | awk '$3==\"turns\"{print $1}'", "with-id");
	object = objects_get(objects, path, &id);
	assert_string_equal(object_build_id(object), expected);
	assert_string_equal(object_symbol(object, address, &offset), "turns");
	id.bytes[0] ^= 1;
	object = objects_get(objects, path, &id);
	assert_null(object_symbol(object, address, &offset));
	assert_non_null(strstr(object_warning(object), "build id differs"));
	objects_free(objects);
}

/* Returns true if a file of the object was opened. @copies may be NULL. */
static bool is_trusted(const char *path, const struct build_id *id,
		       const char *copies)
{
	struct objects *objects = objects_new(false);
	bool trusted;

	assert_int_equal(objects_look_in(objects, NULL, copies), 0);
	objects_trust_copies(objects);
	trusted = object_elf(objects_get(objects, path, id));
	objects_free(objects);
	return trusted;
}

/* Anybody can write a build id into a file: root's and copies count. */
static void test_trusted(void **state)
{
	static const struct build_id none = { .size = 0 };
	char path[64], copies[64], copy[96], text[BUILD_ID_TEXT];
	struct build_id id, other;

	if (geteuid())
		skip();
	build("trusted", "-Wl,--build-id=sha1");
	snprintf(path, sizeof(path), "%s/trusted", folder);
	snprintf(copies, sizeof(copies), "%s/copies", folder);
	assert_true(object_read_build_id(path, &id));
	build_id_print(&id, text);
	other = id;
	other.bytes[0] ^= 1;
	shell("chmod 755 %s", path);
	assert_true(is_trusted(path, &id, NULL));
	assert_false(is_trusted(path, &other, NULL));
	shell("chmod 775 %s", path);
	assert_false(is_trusted(path, &id, NULL));
	shell("chmod 755 %s; chown 1000 %s", path, path);
	assert_false(is_trusted(path, &id, NULL));
	assert_true(is_trusted(path, &none, NULL));
	snprintf(copy, sizeof(copy), "%s/.build-id/%.2s", copies, text);
	shell("mkdir -p %s && cp %s %s/%s.debug", copy, path, copy, text + 2);
	assert_true(is_trusted(path, &id, copies));
	assert_true(is_trusted("/no/such/file", &id, copies));
}

/* Tests an id from recorders that write no size, and from those that do. */
static void expect_short_id(const char *path, const uint8_t *bytes,
			    uint8_t size, const char *text)
{
	struct objects *objects = objects_new(false);
	const struct build_id id = build_id_of(bytes, size);
	struct object *object = objects_get(objects, path, &id);
	uint64_t offset;

	assert_non_null(object_symbol(
		object,
		number("nm %s/%s | awk '$3==\"turns\"{print $1}'", "short-id"),
		&offset));
	assert_null(object_warning(object));
	assert_string_equal(object_build_id(object), text);
	objects_free(objects);
}

/* lld makes ids of 8 bytes, and old perf pads all ids to 20. */
static void test_short_build_id(void **state)
{
	static const char *const texts[] = {
		"1122334455667788", "11223344556677889900aabbccddee00",
		"1122334455660000", "112233445566778899aabbccddeeff0001020300",
	};
	uint8_t bytes[BUILD_ID_MAX];
	char path[64], options[128];
	size_t i, k;

	snprintf(path, sizeof(path), "%s/short-id", folder);
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		size_t size = strlen(texts[i]) / 2;

		snprintf(options, sizeof(options),
			 "-Wl,--build-id=0x%s -no-pie", texts[i]);
		build("short-id", options);
		memset(bytes, 0, sizeof(bytes));
		for (k = 0; k < size; k++)
			sscanf(texts[i] + 2 * k, "%2hhx", &bytes[k]);
		expect_short_id(path, bytes, BUILD_ID_MAX, texts[i]);
		expect_short_id(path, bytes, size, texts[i]);
	}
	/* Zeros alone are no id. */
	memset(bytes, 0, sizeof(bytes));
	assert_int_equal(build_id_of(bytes, BUILD_ID_MAX).size, 0);
}

static void expect_symbol(struct objects *objects, const char *name,
			  const struct build_id *id, uint64_t address,
			  bool code)
{
	struct object *object = objects_get(objects, name, id);
	unsigned int machine;
	uint64_t offset;
	size_t size;

	assert_string_equal(object_symbol(object, address, &offset), "turns");
	assert_null(object_warning(object));
	assert_int_equal(!!object_code(object, address, &size, &machine), code);
	objects_free(objects);
}

static struct objects *look_in(const char *symfs, const char *debuginfo)
{
	struct objects *objects = objects_new(false);

	assert_int_equal(objects_look_in(objects, symfs, debuginfo), 0);
	return objects;
}

/* Files of another machine, and files known only by their build ids. */
static void test_folders(void **state)
{
	struct build_id id, other, none = { .size = 0 };
	struct objects *objects;
	uint64_t address;
	char path[64];

	build("moved", "-g -Wl,--build-id=0x1122334455667788 -no-pie");
	address = number("nm %s/%s | awk '$3==\"turns\"{print $1}'", "moved");
	snprintf(path, sizeof(path), "%s/moved", folder);
	assert_true(object_read_build_id(path, &id));
	other = id;
	other.bytes[0] ^= 1;
	shell("cd %s && mkdir -p fs/opt/x flat debug/.build-id/11 "
	      "code/.build-id/11 && "
	      "cp moved fs/opt/x/ && cp moved flat/ && "
	      "objcopy --only-keep-debug moved "
	      "debug/.build-id/11/22334455667788.debug && "
	      "mv moved code/.build-id/11/22334455667788",
	      folder);
	snprintf(path, sizeof(path), "%s/fs", folder);
	expect_symbol(look_in(path, NULL), "/opt/x/moved", &id, address, true);
	expect_symbol(look_in(path, NULL), "/opt/x/moved", &none, address,
		      true);
	snprintf(path, sizeof(path), "%s/flat", folder);
	expect_symbol(look_in(path, NULL), "/opt/x/moved", &id, address, true);
	/* Another build is not used. */
	objects = look_in(path, NULL);
	assert_null(object_symbol(objects_get(objects, "/opt/x/moved", &other),
				  address, &address));
	objects_free(objects);
	address = number("nm %s/flat/%s | awk '$3==\"turns\"{print $1}'",
			 "moved");
	snprintf(path, sizeof(path), "%s/code", folder);
	expect_symbol(look_in(NULL, path), "/gone", &id, address, true);
	/* Files of debug information have no code. */
	snprintf(path, sizeof(path), "%s/debug", folder);
	expect_symbol(look_in(NULL, path), "/gone", &id, address, false);
}

static void test_no_objects(void **state)
{
	struct objects *objects = objects_new(false);
	struct build_id id = { .size = 0 };
	struct object *object;
	uint64_t offset;
	char path[64];

	object = objects_get(objects, "/no/such/program", &id);
	assert_int_equal(object_address(object, 0x1234), 0x1234);
	assert_null(object_symbol(object, 0x1234, &offset));
	assert_non_null(strstr(object_warning(object), "No such file"));
	snprintf(path, sizeof(path), "%s/turns.c", folder);
	object = objects_get(objects, path, &id);
	assert_null(object_symbol(object, 0x1234, &offset));
	assert_non_null(strstr(object_warning(object), "is no ELF file"));
	/* Code in no file needs no warning. */
	object = objects_get(objects, "//anon", &id);
	assert_null(object_symbol(object, 0x1234, &offset));
	assert_null(object_warning(object));
	objects_free(objects);
}

/* Truncated anywhere, an object gives less information, but does no harm. */
static void test_damaged(void **state)
{
	unsigned int cut;
	char path[64];
	long size;
	FILE *file;

	build("whole", "-no-pie -g -Wl,--build-id=sha1");
	snprintf(path, sizeof(path), "%s/whole", folder);
	file = fopen(path, "r");
	fseek(file, 0, SEEK_END);
	size = ftell(file);
	fclose(file);
	for (cut = 0; cut < 24; cut++) {
		struct objects *objects = objects_new(false);
		uint64_t offset, begin, end;
		unsigned int line, machine;
		struct object *object;
		const uint8_t *code;
		size_t left;

		shell("head -c %ld %s > %s/cut", size * cut / 24, path, folder);
		object = open_object(objects, "cut");
		object_address(object, 0x1200);
		object_symbol(object, 0x401200, &offset);
		object_line(object, 0x401200, &line);
		object_bounds(object, 0x401200, &begin, &end);
		code = object_code(object, 0x401000, &left, &machine);
		while (code && left--)
			line ^= *code++;
		objects_free(objects);
	}
}

/* Entries as objdump names them, in an old and a new format. */
static void check_plt(const char *name, const char *flags, const char *section)
{
	struct objects *objects = objects_new(false);
	static const char *const called[] = { "puts", "getenv" };
	struct object *object;
	uint64_t address, offset;
	char command[256], expected[64];
	unsigned int i;

	shell("cd %s && gcc -O1 %s -o %s caller.c && strip %s", folder, flags,
	      name, name);
	object = open_object(objects, name);
	for (i = 0; i < 2; i++) {
		snprintf(expected, sizeof(expected), "%s@plt", called[i]);
		snprintf(command, sizeof(command),
			 "objdump -d -j %s %%s/%%s | sed -n 's/ <%s>:$//p'",
			 section, expected);
		address = number(command, name);
		assert_int_not_equal(address, 0);
		offset = 1;
		assert_string_equal(object_symbol(object, address, &offset),
				    expected);
		assert_int_equal(offset, 0);
		/* Repeat it, and try the middle of the entry. */
		assert_string_equal(object_symbol(object, address, &offset),
				    expected);
		assert_null(object_symbol(object, address + 1, &offset));
	}
	/* The head of the table leads to the loader. */
	address = number("objdump -h %s/%s | awk '$2==\".plt\"{print $4}'",
			 name);
	assert_null(object_symbol(object, address, &offset));
	objects_free(objects);
}

static void test_plt(void **state)
{
	check_plt("lazy", "-fcf-protection=none -Wl,-z,lazy", ".plt");
	check_plt("ibt", "-fcf-protection=full -Wl,-z,lazy,-z,ibtplt",
		  ".plt.sec");
	check_plt("fixed-plt", "-fcf-protection=none -no-pie -Wl,-z,lazy",
		  ".plt");
}

/* Beginnings of procedures, with and without symbols. */
static void test_procedures(void **state)
{
	struct objects *objects = objects_new(false);
	struct object *with, *without;
	uint64_t address, begin = 0;

	build("procedures", "-fPIE -pie");
	address = number("nm %s/%s | awk '$3==\"turns\"{print $1}'",
			 "procedures");
	shell("cd %s && strip -o bare procedures", folder);
	with = open_object(objects, "procedures");
	without = open_object(objects, "bare");
	assert_true(object_procedure(with, address + 6, &begin));
	assert_int_equal(begin, address);
	assert_true(object_procedure(without, address + 6, &begin));
	assert_int_equal(begin, address);
	assert_true(object_procedure(without, address, &begin));
	assert_int_equal(begin, address);
	/* An address before all procedures. */
	assert_false(object_procedure(without, 1, &begin));
	objects_free(objects);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pie),
		cmocka_unit_test(test_pie_debug),
		cmocka_unit_test(test_fixed),
		cmocka_unit_test(test_fixed_debug),
		cmocka_unit_test(test_packed),
		cmocka_unit_test(test_library),
		cmocka_unit_test(test_separate),
		cmocka_unit_test(test_stripped),
		cmocka_unit_test(test_plt),
		cmocka_unit_test(test_procedures),
		cmocka_unit_test(test_build_id),
		cmocka_unit_test(test_trusted),
		cmocka_unit_test(test_short_build_id),
		cmocka_unit_test(test_folders),
		cmocka_unit_test(test_no_objects),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
