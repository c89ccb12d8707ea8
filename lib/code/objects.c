// SPDX-License-Identifier: LGPL-2.1-or-later
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "eh_frame.h"
#include "foreign_elf.h"
#include "names.h"
#include "objects.h"
#include "plt.h"
#include "base/tree.h"

#ifndef FUSE_SUPER_MAGIC
#define FUSE_SUPER_MAGIC	0x65735546
#endif

/*
 * perf's names of other memory are [vdso], [heap], //anon, /memfd:... and so
 * on.
 */
bool names_file(const char *name)
{
	return name[0] == '/' && strncmp(name, "//", 2) &&
	       strncmp(name, "/memfd:", 7) &&
	       strncmp(name, "/anon_hugepage", 14) &&
	       strncmp(name, "/dev/zero", 9) && strncmp(name, "/SYSV", 5);
}

enum {
	PAGE = 4096,		/* smallest; with larger pages, segments share
				 * more bytes */
};

struct object {
	char *name;
	struct build_id id;
	char id_text[BUILD_ID_TEXT];
	char *warning;
	bool file;		/* its name is that of a file */
	bool kernel;
	bool made;		/* code that a program made at run time */
	uint32_t pid;		/* of that program */
	struct kernel_text text;	/* of the kernel, as first recorded */
	uint64_t symbol_at;	/* of the kernel's symbol, in the object; 0:
				 * unknown */
	struct names *names;	/* of code that is in no ELF file; or NULL */
	bool tried;		/* opening was tried */
	const struct objects *objects;	/* owner */
	bool bare;		/* the file has symbols but no code */
	Dwfl *dwfl;		/* NULL: cannot be read */
	Dwfl_Module *module;
	Elf *elf;
	uint64_t bias;		/* dwfl's addresses minus the object's */
	void *named;		/* tree of struct named */
	struct cfi_table cfi_table;	/* for unwinding; count 0: none, or not
					 * made yet */
	Dwarf_CFI *cfi;
	bool unwinding_tried;	/* making @cfi_table and @cfi was tried */
};

/* The symbol at an address, cached because a lookup searches all symbols. */
struct named {
	uint64_t address;
	const char *name;	/* NULL: no symbol */
	uint64_t offset;	/* in the symbol */
	char *own;		/* the name if it is no symbol's (PLT); or
				 * NULL */
};

struct objects {
	void *tree;		/* of struct object, by build id or name */
	bool closed;		/* no object is opened */
	bool trust_copies;	/* see objects_trust_copies() */
	char *symfs, *debuginfo;	/* NULL: not set */
	char *debug_path;	/* for elfutils; NULL: its default */
	Dwfl_Callbacks callbacks;
};

struct objects *objects_new(bool closed)
{
	struct objects *objects = calloc(1, sizeof(*objects));

	if (!objects)
		return NULL;
	objects->closed = closed;
	objects->callbacks = (Dwfl_Callbacks){
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
	};
	return objects;
}

int objects_look_in(struct objects *objects, const char *symfs,
		    const char *debuginfo)
{
	if (symfs && !(objects->symfs = strdup(symfs)))
		return -ENOMEM;
	if (!debuginfo)
		return 0;
	objects->debuginfo = strdup(debuginfo);
	if (!objects->debuginfo ||
	    asprintf(&objects->debug_path, ":.debug:%s:/usr/lib/debug",
		     debuginfo) < 0)
		return -ENOMEM;
	objects->callbacks.debuginfo_path = &objects->debug_path;
	return 0;
}

void objects_trust_copies(struct objects *objects)
{
	objects->trust_copies = true;
}

static void free_named(void *node)
{
	struct named *named = node;

	free(named->own);
	free(named);
}

static void free_object(void *node)
{
	struct object *object = node;

	tdestroy(object->named, free_named);
	free(object->cfi_table.rows);
	dwarf_cfi_end(object->cfi);
	if (object->dwfl)
		dwfl_end(object->dwfl);
	names_free(object->names);
	free(object->warning);
	free(object->name);
	free(object);
}

void objects_free(struct objects *objects)
{
	if (!objects)
		return;
	tdestroy(objects->tree, free_object);
	free(objects->symfs);
	free(objects->debuginfo);
	free(objects->debug_path);
	free(objects);
}

static int compare_objects(const void *a, const void *b)
{
	const struct object *x = a, *y = b;

	if (!x->id.size != !y->id.size)
		return !x->id.size ? -1 : 1;
	if (x->id.size)
		return memcmp(x->id.bytes, y->id.bytes, sizeof(x->id.bytes));
	return strcmp(x->name, y->name);
}

int object_compare(const struct object *a, const struct object *b)
{
	if (a == b)
		return 0;
	if (!a || !b)
		return !a ? -1 : 1;
	return compare_objects(a, b);
}

void build_id_print(const struct build_id *id, char text[BUILD_ID_TEXT])
{
	size_t i;

	*text = 0;
	for (i = 0; i < id->size; i++)
		sprintf(text + 2 * i, "%02x", id->bytes[i]);
}

struct object *objects_get(struct objects *objects, const char *name,
			   const struct build_id *id)
{
	struct object key = { .name = (char *)name, .id = *id };
	struct object **found = tfind(&key, &objects->tree, compare_objects);
	struct object *object;

	if (found)
		return *found;
	object = calloc(1, sizeof(*object));
	if (!object)
		return NULL;
	object->id = *id;
	object->objects = objects;
	object->file = names_file(name);
	object->kernel = !strcmp(name, "[kernel]");
	object->tried = objects->closed;
	build_id_print(id, object->id_text);
	object->name = strdup(name);
	if (!object->name ||
	    !tsearch(object, &objects->tree, compare_objects)) {
		free(object->name);
		free(object);
		return NULL;
	}
	return object;
}

const char *object_name(const struct object *object)
{
	return object->name;
}

const char *object_build_id(const struct object *object)
{
	return object->id.size ? object->id_text : NULL;
}

const char *object_warning(const struct object *object)
{
	return object->warning;
}

int objects_warn(const struct objects *objects, struct warnings *warnings)
{
	size_t count, i;
	struct object **all = tree_list(objects->tree, &count);
	int error = all ? 0 : -ENOMEM;

	for (i = 0; !error && i < count; i++)
		if (object_warning(all[i]))
			error = warnings_add(warnings, "%s",
					     object_warning(all[i]));
	free(all);
	return error;
}

int objects_list_missing(const struct objects *objects,
			 int (*fn)(void *context, const char *name,
				   const struct build_id *id),
			 void *context)
{
	size_t count, i;
	struct object **all = tree_list(objects->tree, &count);
	int error = all ? 0 : -ENOMEM;

	for (i = 0; !error && i < count; i++)
		if (all[i]->file && all[i]->warning)
			error = fn(context, all[i]->name, &all[i]->id);
	free(all);
	return error;
}

bool object_is_file(const struct object *object)
{
	return object->file;
}

static bool elf_build_id(Elf *elf, struct build_id *id)
{
	const void *bytes;
	ssize_t size = dwelf_elf_gnu_build_id(elf, &bytes);

	if (size <= 0)
		return false;
	*id = build_id_of(bytes, size < BUILD_ID_MAX ? size : BUILD_ID_MAX);
	return id->size;
}

/* Opens regular files only: opening a device or FIFO may have side effects. */
static int open_regular(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat status;

	if (fd >= 0 && (fstat(fd, &status) || !S_ISREG(status.st_mode))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

bool object_build_id_of(int fd, struct build_id *id)
{
	Elf *elf = foreign_elf_begin(fd);
	bool found = elf && foreign_elf_has_short_notes(elf) &&
		     elf_build_id(elf, id);

	elf_end(elf);
	return found;
}

bool object_read_build_id(const char *path, struct build_id *id)
{
	int fd = open_regular(path);
	bool found;

	if (fd < 0)
		return false;
	found = object_build_id_of(fd, id);
	close(fd);
	return found;
}

/*
 * Returns true for a file of debug information, which has sections for code,
 * but no code.
 */
static bool is_bare(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) &&
		    header.sh_flags & SHF_EXECINSTR)
			return header.sh_type == SHT_NOBITS;
	return false;
}

/* Opens an object. Takes @fd over, of the file at @path. */
static bool open_file(struct object *object, const char *path, int fd)
{
	GElf_Addr bias;

	object->dwfl = dwfl_begin(&object->objects->callbacks);
	if (!object->dwfl) {
		close(fd);
		return false;
	}
	dwfl_report_begin(object->dwfl);
	/* dwfl_report_elf() takes over the descriptor unless it fails. */
	object->module = dwfl_report_elf(object->dwfl, "object", path, fd, 0,
					 true);
	if (!object->module)
		close(fd);
	dwfl_report_end(object->dwfl, NULL, NULL);
	if (object->module)
		object->elf = dwfl_module_getelf(object->module, &bias);
	if (!object->elf) {
		dwfl_end(object->dwfl);
		object->dwfl = NULL;
		object->module = NULL;
		return false;
	}
	object->bias = bias;
	object->bare = is_bare(object->elf);
	return true;
}

static bool open_path(struct object *object, const char *path)
{
	int fd = open_regular(path);

	return fd >= 0 && open_file(object, path, fd);
}

bool object_is_roots(int fd)
{
	struct statfs system;
	struct stat status;

	return !fstat(fd, &status) && !status.st_uid &&
	       !(status.st_mode & (S_IWGRP | S_IWOTH)) &&
	       !fstatfs(fd, &system) &&
	       (uint32_t)system.f_type != FUSE_SUPER_MAGIC;
}

/* Opens the object at its path, if the file is root's and has its build id. */
static bool open_roots(struct object *object)
{
	int fd = open_regular(object->name);
	struct build_id id;

	if (fd < 0)
		return false;
	if (object_is_roots(fd) && object_build_id_of(fd, &id) &&
	    build_id_same(&id, &object->id))
		return open_file(object, object->name, fd);
	close(fd);
	return false;
}

static bool has_id(const char *path, const struct build_id *id)
{
	struct build_id found;

	return object_read_build_id(path, &found) &&
	       build_id_same(&found, id);
}

/*
 * Opens the file of its build id in @folder. @name is what perf or debuggers
 * append.
 */
static bool open_by_id(struct object *object, const char *folder,
		       const char *name)
{
	char path[4096];

	if (!folder)
		return false;
	snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s%s", folder,
		 object->id_text, object->id_text + 2, name);
	return has_id(path, &object->id) && open_path(object, path);
}

/*
 * Opens perf's copy of recorded files (man perf-buildid-cache), if it exists.
 */
static bool open_cached(struct object *object)
{
	const char *home = getenv("HOME");
	char folder[4096];

	if (!home)
		return false;
	snprintf(folder, sizeof(folder), "%s/.debug", home);
	return open_by_id(object, folder, "/elf") ||
	       open_by_id(object, folder, "/vdso") ||
	       open_by_id(object, folder, "/vmlinux");
}

/* Opens the object by build id alone, for example if it was in a container. */
static bool open_anywhere(struct object *object)
{
	static const char *const names[] = { "", ".debug" };
	const char *debuginfo = object->objects->debuginfo;
	size_t i;

	if (!object->id.size)
		return false;
	if (open_cached(object))
		return true;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (open_by_id(object, debuginfo, names[i]) ||
		    open_by_id(object, "/usr/lib/debug", names[i]))
			return true;
	return false;
}

/* Returns true if @path has the build id, or that is unknown. */
static bool is_same(const struct object *object, const char *path)
{
	return !object->id.size || has_id(path, &object->id);
}

/*
 * Opens the object in the folder of another machine's files, at its path or
 * directly.
 */
static bool open_in_symfs(struct object *object)
{
	const char *symfs = object->objects->symfs;
	const char *base = strrchr(object->name, '/');
	char path[4096];

	snprintf(path, sizeof(path), "%s%s", symfs, object->name);
	if (is_same(object, path) && open_path(object, path))
		return true;
	snprintf(path, sizeof(path), "%s%s", symfs, base);
	return is_same(object, path) && open_path(object, path);
}

/*
 * Opens the object at its path. With a symfs, this machine's file must have the
 * same build id.
 */
static bool open_named(struct object *object)
{
	if (object->objects->symfs && open_in_symfs(object))
		return true;
	return (object->id.size || !object->objects->symfs) &&
	       is_same(object, object->name) && open_path(object, object->name);
}

static void need(struct object *object);

static void warn(struct object *object, const char *why)
{
	if (asprintf(&object->warning, "no symbols of %s: %s",
		     object->name, why) < 0)
		object->warning = NULL;
}

/* --- code that is in no file -------------------------------------------- */

/*
 * Opens a regular file of the caller or root. Other users' files may be
 * hostile.
 */
static int open_trusted(struct object *object, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY |
			    O_NOFOLLOW);
	struct stat status;

	if (fd < 0 && errno != ELOOP)
		return -1;
	if (fd >= 0 && !fstat(fd, &status) && S_ISREG(status.st_mode) &&
	    (!status.st_uid || status.st_uid == geteuid()))
		return fd;
	warn(object,
	     "its file is no regular one of yours or root's, and is not read");
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Opens the names of code made at run time. Most processes have none. */
static void open_made(struct object *object)
{
	const char *symfs = object->objects->symfs;
	char path[4096];
	int fd, error;

	snprintf(path, sizeof(path), "%s/tmp/perf-%u.map", symfs ? symfs : "",
		 object->pid);
	fd = open_trusted(object, path);
	if (fd < 0)
		return;
	error = names_read_map(fd, &object->names);
	close(fd);
	if (error == -EFBIG)
		warn(object, "the file is too large: names behind its first 128 MiB are missing");
	else if (error)
		warn(object, strerror(-error));
}

/* Returns false if addresses are hidden, or do not fit the recording. */
static bool open_kallsyms(struct object *object, const char *path)
{
	const struct kernel_text *text = &object->text;
	int fd = open_regular(path);

	if (fd < 0)
		return false;
	names_read_kallsyms(fd, text->symbol, text->symbol_at,
			    &object->symbol_at, &object->names);
	close(fd);
	if (object->names && object->symbol_at)
		return true;
	names_free(object->names);
	object->names = NULL;
	return false;
}

static bool open_cached_kallsyms(struct object *object)
{
	const char *home = getenv("HOME");
	char path[4096];

	if (!home)
		return false;
	snprintf(path, sizeof(path), "%s/.debug/.build-id/%.2s/%s/kallsyms",
		 home, object->id_text, object->id_text + 2);
	return open_kallsyms(object, path);
}

static bool is_running(const struct object *object)
{
	struct build_id id;

	return names_read_notes("/sys/kernel/notes", &id) &&
	       build_id_same(&id, &object->id);
}

/* Finds the recorded symbol in vmlinux. Returns false if it is not there. */
static bool find_anchor(struct object *object)
{
	int count = dwfl_module_getsymtab(object->module), i;
	GElf_Addr address;
	GElf_Sym symbol;

	for (i = 0; i < count; i++) {
		const char *name = dwfl_module_getsym_info(object->module, i,
							   &symbol, &address,
							   NULL, NULL, NULL);

		if (name && !strcmp(name, object->text.symbol))
			object->symbol_at = address - object->bias;
	}
	if (object->symbol_at)
		return true;
	/* Its addresses cannot be compared with those of the recording. */
	dwfl_end(object->dwfl);
	object->dwfl = NULL;
	object->module = NULL;
	object->elf = NULL;
	return false;
}

static bool open_vmlinux(struct object *object)
{
	static const char *const paths[] = {
		"/boot/vmlinux-%s", "/usr/lib/debug/boot/vmlinux-%s",
		"/usr/lib/debug/lib/modules/%s/vmlinux",
		"/lib/modules/%s/build/vmlinux", "/vmlinux",
	};
	const char *symfs = object->objects->symfs;
	struct utsname system;
	char name[256], path[4096];
	size_t i;

	if (open_anywhere(object))
		return find_anchor(object);
	if (symfs) {
		snprintf(path, sizeof(path), "%s/usr/lib/debug", symfs);
		if (open_by_id(object, path, ".debug"))
			return find_anchor(object);
	}
	uname(&system);
	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		snprintf(name, sizeof(name), paths[i], system.release);
		snprintf(path, sizeof(path), "%s%s", symfs ? symfs : "", name);
		if (has_id(path, &object->id) && open_path(object, path))
			return find_anchor(object);
	}
	return false;
}

static void open_kernel(struct object *object)
{
	bool running;

	if (!object->id.size || !object->text.symbol_at) {
		warn(object, object->id.size
				     ? "the recording does not say where its code was, as perf record does where kernel.kptr_restrict allows it"
				     : "the recording has no build id of it");
		return;
	}
	running = is_running(object);
	if (open_cached_kallsyms(object) ||
	    (running && open_kallsyms(object, "/proc/kallsyms")) ||
	    open_vmlinux(object))
		return;
	warn(object,
	     running ? "/proc/kallsyms hides its addresses (kernel.kptr_restrict), and there is no vmlinux of its build id"
		     : "perf's build-id cache (~/.debug) has no kallsyms of its build id, another kernel is running here, and there is no vmlinux of that build id (--debuginfo)");
}

uint64_t object_kernel_distance(struct object *object,
				const struct kernel_text *text)
{
	if (!object->tried)
		object->text = *text;
	need(object);
	return object->symbol_at && text->symbol_at &&
	       !strcmp(object->text.symbol, text->symbol) ?
	       object->symbol_at - text->symbol_at : 0;
}

void object_is_elsewhere(struct object *object)
{
	if (object->tried)
		return;
	object->tried = true;
	warn(object, "they are of another boot, which says nothing of modules, and ranges are not moved");
}

struct object *objects_get_made(struct objects *objects, uint32_t pid)
{
	static const struct build_id none = { .size = 0 };
	struct object *object;
	char name[32];

	snprintf(name, sizeof(name), "[perf-%u.map]", pid);
	object = objects_get(objects, name, &none);
	if (object) {
		object->made = true;
		object->pid = pid;
	}
	return object;
}

bool object_is_made(const struct object *object)
{
	return object->made;
}

bool object_has_names(struct object *object)
{
	need(object);
	return object->names || (object->kernel && object->module);
}

/* Opens the object at its path, unless a copy by its build id counts more. */
static bool open_best(struct object *object)
{
	if (!object->objects->trust_copies || !object->id.size)
		return open_named(object);
	return open_by_id(object, object->objects->debuginfo, ".debug") ||
	       open_roots(object);
}

static void open_object(struct object *object)
{
	struct build_id found;

	object->tried = true;
	if (object->kernel)
		return open_kernel(object);
	if (object->made)
		return open_made(object);
	if (!object_is_file(object)) {
		if (!strcmp(object->name, "[vdso]"))
			open_anywhere(object);
		return;
	}
	if (open_best(object) || open_anywhere(object)) {
		/*
		 * Recorders may have padded the id; the file's own is not
		 * padded.
		 */
		if (elf_build_id(object->elf, &found))
			build_id_print(&found, object->id_text);
		return;
	}
	if (access(object->name, R_OK))
		warn(object, strerror(errno));
	else
		warn(object, is_same(object, object->name)
				     ? "it is no ELF file, or none of --symfs"
				     : "it is not the file that was recorded (its build id differs)");
}

static void need(struct object *object)
{
	if (!object->tried)
		open_object(object);
}

Elf *object_elf(struct object *object)
{
	need(object);
	return object->elf;
}

size_t object_x86_code(struct object *object, uint64_t offset, uint8_t *bytes,
		       size_t size, bool *is64)
{
	GElf_Ehdr header;
	const char *file;
	size_t there;

	need(object);
	if (!object->elf || object->bare ||
	    !gelf_getehdr(object->elf, &header) ||
	    (header.e_machine != EM_X86_64 && header.e_machine != EM_386))
		return 0;
	file = elf_rawfile(object->elf, &there);
	if (!file || offset >= there)
		return 0;
	if (size > there - offset)
		size = there - offset;
	memcpy(bytes, file + offset, size);
	*is64 = header.e_machine == EM_X86_64;
	return size;
}

const uint8_t *object_code(struct object *object, uint64_t address,
			   size_t *size, unsigned int *machine)
{
	size_t count, there, i;
	GElf_Phdr segment;
	GElf_Ehdr header;
	const char *file;

	need(object);
	if (!object->elf || object->bare ||
	    !gelf_getehdr(object->elf, &header) ||
	    elf_getphdrnum(object->elf, &count))
		return NULL;
	file = elf_rawfile(object->elf, &there);
	*machine = header.e_machine;
	for (i = 0; file && i < count; i++) {
		uint64_t into, at;

		if (!gelf_getphdr(object->elf, i, &segment) ||
		    segment.p_type != PT_LOAD || !(segment.p_flags & PF_X))
			continue;
		into = address - segment.p_vaddr;
		at = segment.p_offset + into;
		if (into >= segment.p_filesz || at < into || at >= there)
			continue;
		*size = segment.p_filesz - into < there - at ?
			segment.p_filesz - into : there - at;
		return (const uint8_t *)file + at;
	}
	return NULL;
}

/*
 * Returns true if the segment covers @offset when it is mapped in whole pages.
 */
static bool covers(const GElf_Phdr *segment, uint64_t offset)
{
	uint64_t begin = segment->p_offset - segment->p_offset % PAGE;

	return segment->p_type == PT_LOAD && offset >= begin &&
	       offset < segment->p_offset + segment->p_filesz;
}

uint64_t object_address(struct object *object, uint64_t offset)
{
	GElf_Phdr segment;
	size_t count, i;
	int code;

	need(object);
	if (!object->elf || elf_getphdrnum(object->elf, &count))
		return offset;
	/* Pages where two segments meet are in both: prefer code. */
	for (code = 1; code >= 0; code--) {
		for (i = 0; i < count; i++) {
			if (!gelf_getphdr(object->elf, i, &segment) ||
			    !!(segment.p_flags & PF_X) != code ||
			    !covers(&segment, offset))
				continue;
			return offset - segment.p_offset + segment.p_vaddr;
		}
	}
	return offset;
}

uint64_t object_left(struct object *object, uint64_t address)
{
	GElf_Phdr segment;
	size_t count, i;

	need(object);
	if (!object->elf || elf_getphdrnum(object->elf, &count))
		return 0;
	for (i = 0; i < count; i++)
		if (gelf_getphdr(object->elf, i, &segment) &&
		    segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
		    address - segment.p_vaddr < segment.p_memsz)
			return segment.p_memsz - (address - segment.p_vaddr);
	return 0;
}

static int compare_named(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static void find_name(const struct object *object, struct named *named)
{
	GElf_Off into;
	GElf_Sym symbol;
	const char *name;

	name = dwfl_module_addrinfo(object->module,
				    named->address + object->bias, &into,
				    &symbol, NULL, NULL, NULL);
	if (name && *name) {
		named->name = name;
		named->offset = into;
		return;
	}
	named->own = plt_name(object->elf, named->address);
	named->name = named->own;
}

const char *object_symbol(struct object *object, uint64_t address,
			  uint64_t *offset)
{
	struct named key = { .address = address }, *named;
	struct named_code code;
	bool is_new;

	need(object);
	if (names_find(object->names, address, &code)) {
		*offset = address - code.begin;
		return code.name;
	}
	if (!object->module)
		return NULL;
	named = tree_get(&object->named, &key, sizeof(key), compare_named,
			 &is_new);
	if (named && is_new)
		find_name(object, named);
	if (!named || !named->name)
		return NULL;
	*offset = named->offset;
	return named->name;
}

bool object_bounds(struct object *object, uint64_t address, uint64_t *begin,
		   uint64_t *end)
{
	struct named_code code;
	GElf_Off into;
	GElf_Sym symbol;

	need(object);
	if (names_find(object->names, address, &code)) {
		*begin = code.begin;
		*end = code.end;
		return true;
	}
	if (!object->module ||
	    !dwfl_module_addrinfo(object->module, address + object->bias,
				  &into, &symbol, NULL, NULL, NULL) ||
	    into >= symbol.st_size)
		return false;
	*begin = address - into;
	*end = *begin + symbol.st_size;
	return true;
}

/*
 * Take the nearer of symbol and frame: code may lack one, and sizes of symbols
 * may be wrong.
 */
bool object_procedure(struct object *object, uint64_t address, uint64_t *begin)
{
	uint64_t frame = 0, offset;
	bool found;

	need(object);
	found = object->elf && !object->bare &&
		eh_frame_begin(object->elf, address, &frame);
	*begin = frame;
	if (!object_symbol(object, address, &offset))
		return found;
	if (!found || address - offset > frame)
		*begin = address - offset;
	return true;
}

static void need_unwinding(struct object *object)
{
	need(object);
	if (object->unwinding_tried || !object->elf || object->bare)
		return;
	object->unwinding_tried = true;
	if (cfi_table_make(&object->cfi_table, object->elf))
		object->cfi_table = (struct cfi_table){ .count = 0 };
	else
		object->cfi = dwarf_getcfi_elf(object->elf);
}

const struct cfi_table *object_cfi_table(struct object *object)
{
	need_unwinding(object);
	return object->cfi_table.count ? &object->cfi_table : NULL;
}

Dwarf_CFI *object_cfi(struct object *object)
{
	need_unwinding(object);
	return object->cfi;
}

const char *object_line(struct object *object, uint64_t address,
			unsigned int *line)
{
	Dwfl_Line *found;
	const char *file;
	int number = 0;

	need(object);
	if (!object->module)
		return NULL;
	found = dwfl_module_getsrc(object->module, address + object->bias);
	file = found ? dwfl_lineinfo(found, NULL, &number, NULL, NULL, NULL) :
	       NULL;
	*line = number > 0 ? number : 0;
	return file;
}
