// SPDX-License-Identifier: GPL-2.0-only
#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hostile.h"

enum {
	FRAMES_AT = 0x1000,		/* of the table of procedures */
	EH_AT = FRAMES_AT + 64,		/* of .eh_frame */
	STEPS = 400000,			/* of the slow procedure */
	CODE_AT = 0x2000000,
};

struct file {
	Elf64_Ehdr head;
	Elf64_Phdr load, other;
	Elf64_Shdr sections[3];
	char names[64];
};

const char *hostile_name(enum hostile_file file)
{
	static const char *const names[] = {
#define HOSTILE_TEXT(name, what)	#name,
		HOSTILE_FILES(HOSTILE_TEXT)
	};

	return names[file];
}

static int put(int fd, const void *bytes, size_t size, off_t at)
{
	return pwrite(fd, bytes, size, at) == (ssize_t)size ? 0 : -EIO;
}

/* Returns a program that is in order, with a segment of @type. */
static struct file file_of(uint32_t type)
{
	struct file file = {
		.head.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3,
				  ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.head.e_type = ET_DYN, .head.e_machine = EM_X86_64,
		.head.e_version = EV_CURRENT,
		.head.e_phoff = offsetof(struct file, load),
		.head.e_ehsize = sizeof(file.head),
		.head.e_phentsize = sizeof(file.load), .head.e_phnum = 2,
		.head.e_shentsize = sizeof(file.sections[0]),
		.load = {
			.p_type = PT_LOAD, .p_flags = PF_R | PF_X,
			.p_filesz = 1 << 30, .p_memsz = 1 << 30,
			.p_align = 4096,
		},
		.other = {
			.p_type = type, .p_flags = PF_R, .p_align = 4,
			.p_offset = FRAMES_AT, .p_vaddr = FRAMES_AT,
			.p_filesz = 64, .p_memsz = 64,
		},
	};

	return file;
}

static void want_sections(struct file *file)
{
	file->head.e_shoff = offsetof(struct file, sections);
	file->head.e_shnum = 3;
	file->head.e_shstrndx = 2;
	file->sections[2] = (Elf64_Shdr){
		.sh_type = SHT_STRTAB,
		.sh_offset = offsetof(struct file, names),
		.sh_size = sizeof(file->names),
	};
	strcpy(file->names + 1, ".note.gnu.build-id");
}

static int write_bomb(int fd)
{
	const Elf64_Chdr packed = {
		.ch_type = ELFCOMPRESS_ZLIB, .ch_size = 1ULL << 40,
		.ch_addralign = 4,
	};
	struct file file = file_of(PT_NULL);

	want_sections(&file);
	file.sections[1] = (Elf64_Shdr){
		.sh_name = 1, .sh_type = SHT_NOTE, .sh_flags = SHF_COMPRESSED,
		.sh_offset = FRAMES_AT, .sh_size = 4096, .sh_addralign = 4,
	};
	if (put(fd, &packed, sizeof(packed), FRAMES_AT) ||
	    ftruncate(fd, FRAMES_AT + 8192))
		return -EIO;
	return put(fd, &file, sizeof(file), 0);
}

static int write_note(int fd)
{
	const struct {
		Elf64_Nhdr head;
		char name[4];
	} note = { { 4, UINT32_MAX, NT_GNU_BUILD_ID }, "GNU" };
	struct file file = file_of(PT_NOTE);

	file.other.p_filesz = 1ULL << 40;
	return put(fd, &file, sizeof(file), 0) ? -EIO :
	       put(fd, &note, sizeof(note), FRAMES_AT);
}

static int write_counts(int fd, enum hostile_file kind)
{
	struct file file = file_of(PT_NULL);

	file.head.e_shoff = offsetof(struct file, sections);
	file.sections[0].sh_size = 1ULL << 56;
	if (kind == HOSTILE_segments) {
		file.head.e_phnum = PN_XNUM;
		file.sections[0].sh_info = UINT32_MAX;
	}
	return put(fd, &file, sizeof(file), 0);
}

/* The head of .eh_frame_hdr, and its first entry. */
struct frames {
	uint8_t version, pointer, count_encoding, table;
	int32_t eh_frame;		/* from here */
	uint32_t count;
	int32_t begin, frame;		/* from the beginning */
};

static const struct frames frames_head = {
	1, 0x1b, 0x03, 0x3b, .eh_frame = EH_AT - FRAMES_AT - 4,
	.begin = CODE_AT - FRAMES_AT,
};

/* The file is long, but nearly all of it is a hole. */
static int write_frames(int fd)
{
	struct file file = file_of(PT_GNU_EH_FRAME);
	struct frames frames = frames_head;

	frames.count = 1 << 26;
	file.other.p_filesz = 12 + 8ULL * frames.count;
	if (ftruncate(fd, FRAMES_AT + file.other.p_filesz) ||
	    put(fd, &frames, sizeof(frames), FRAMES_AT))
		return -EIO;
	return put(fd, &file, sizeof(file), 0);
}

/* The common part of procedures: CFA = rsp + 8, the return address below. */
static const uint8_t cie[] = {
	20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b,
	0x0c, 7, 8, 0x90, 1, 0, 0,
};

struct fde {
	uint32_t length, cie;
	int32_t begin;			/* from here */
	uint32_t size;
	uint8_t augmentation;
} __attribute__((packed));

/*
 * A procedure whose table has as many rows as instructions: each row is found
 * by running all instructions before it.
 */
static int write_slow(int fd)
{
	static const uint8_t step[] = { 0x41, 0x0e, 16, 0x41, 0x0e, 24 };
	struct file file = file_of(PT_GNU_EH_FRAME);
	struct frames frames = frames_head;
	size_t size = sizeof(struct fde) + STEPS / 2 * sizeof(step), i;
	char *bytes = calloc(1, size + 8);
	struct fde fde = {
		.length = size - 4, .cie = sizeof(cie) + 4,
		.begin = CODE_AT - (EH_AT + (int)sizeof(cie) + 8),
		.size = STEPS,
	};
	int error;

	if (!bytes)
		return -ENOMEM;
	memcpy(bytes, &fde, sizeof(fde));
	for (i = 0; i < STEPS / 2; i++)
		memcpy(bytes + sizeof(fde) + i * sizeof(step), step,
		       sizeof(step));
	frames.count = 1;
	frames.frame = EH_AT - FRAMES_AT + sizeof(cie);
	error = put(fd, bytes, size + 8, EH_AT + sizeof(cie));
	free(bytes);
	if (!error)
		error = put(fd, cie, sizeof(cie), EH_AT);
	if (!error)
		error = put(fd, &frames, sizeof(frames), FRAMES_AT);
	return error ? error : put(fd, &file, sizeof(file), 0);
}

int hostile_write(enum hostile_file kind, int fd)
{
	struct file file = file_of(PT_NULL);

	switch (kind) {
	case HOSTILE_cut:
		return put(fd, &file, offsetof(struct file, other) + 8, 0);
	case HOSTILE_note:
		return write_note(fd);
	case HOSTILE_bomb:
		return write_bomb(fd);
	case HOSTILE_frames:
		return write_frames(fd);
	case HOSTILE_slow:
		return write_slow(fd);
	default:
		return write_counts(fd, kind);
	}
}
