// SPDX-License-Identifier: GPL-2.0-only
#include <assert.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <zstd.h>

#include "perfdata/perfdata.h"
#include "stacks.h"

#define SAMPLE_TYPE	(PERF_SAMPLE_IP | PERF_SAMPLE_TID |		\
			 PERF_SAMPLE_PERIOD | PERF_SAMPLE_BRANCH_STACK)

enum {
	FIRST_ID	= 900,
	PACK_SIZE	= 48 << 10,	/* records compressed at once */
	CALLCHAIN	= 3,
	RAW		= 12,		/* bytes; two words with their size */
	RECORD_MAX	= UINT16_MAX,
};

/* A record that is being built, in words. */
struct body {
	uint64_t words[RECORD_MAX / 8];
	size_t count;
};

static void add(struct body *body, uint64_t word)
{
	body->words[body->count++] = word;
}

/* --- the file ----------------------------------------------------------- */

static void put(struct stacks *stacks, const void *bytes, size_t size)
{
	FILE *file = stacks->part ? stacks->part : stacks->file;
	size_t done = fwrite(bytes, 1, size, file);

	assert(done == size);
}

static void put_record(struct stacks *stacks, uint32_t type, uint16_t misc,
		       const void *body, size_t size)
{
	struct perf_event_header header = {
		.type = type, .misc = misc, .size = sizeof(header) + size,
	};

	put(stacks, &header, sizeof(header));
	put(stacks, body, size);
}

/*
 * Compresses the records as one zstd stream through the file, flushed at each
 * record.
 */
static void pack(struct stacks *stacks)
{
	uint8_t packed[RECORD_MAX - sizeof(struct perf_event_header)];
	ZSTD_inBuffer in = { stacks->records, stacks->size, 0 };
	ZSTD_outBuffer out = { packed, sizeof(packed), 0 };
	size_t rest;

	if (!stacks->size)
		return;
	if (!stacks->zstd)
		stacks->zstd = ZSTD_createCStream();
	rest = ZSTD_compressStream2(stacks->zstd, &out, &in, ZSTD_e_flush);
	assert(!rest);
	put_record(stacks, PERFDATA_ZSTD, 0, packed, out.pos);
	stacks->size = 0;
}

static void keep(struct stacks *stacks, const void *bytes, size_t size)
{
	if (stacks->size + size > stacks->room) {
		stacks->room = 2 * stacks->room + size;
		stacks->records = realloc(stacks->records, stacks->room);
		assert(stacks->records);
	}
	memcpy(stacks->records + stacks->size, bytes, size);
	stacks->size += size;
}

void stacks_record(struct stacks *stacks, uint32_t type, uint16_t misc,
		   const void *body, size_t size)
{
	struct perf_event_header header = {
		.type = type, .misc = misc, .size = sizeof(header) + size,
	};

	assert(sizeof(header) + size <= RECORD_MAX);
	if (!stacks->style.zstd) {
		put_record(stacks, type, misc, body, size);
		return;
	}
	keep(stacks, &header, sizeof(header));
	keep(stacks, body, size);
	if (stacks->size >= PACK_SIZE)
		pack(stacks);
}

/* Returns the attr of event @i. */
static struct perf_event_attr attr_of(const struct stacks *stacks,
				      unsigned int i)
{
	struct perf_event_attr attr = stacks->attr;

	if (stacks->style.chains)
		attr.config += i;
	else if (i + 1 < stacks->style.events)
		attr.sample_type &= ~PERF_SAMPLE_BRANCH_STACK;
	return attr;
}

/* Writes the attr as this version of perf knew it. */
static void put_attr(struct stacks *stacks, const struct perf_event_attr *attr)
{
	put(stacks, attr, stacks->attr.size);
}

static void put_table(struct stacks *stacks)
{
	unsigned int events = stacks->style.events, i;
	uint64_t entry = stacks->attr.size + sizeof(struct perfdata_section);
	uint64_t ids = sizeof(struct perfdata_header);
	struct perfdata_header header = {
		.magic = PERFDATA_MAGIC,
		.size = sizeof(header),
		.attr_size = entry,
		.attrs = { ids + events * 8, events * entry },
		.data.offset = ids + events * (8 + entry),
	};

	put(stacks, &header, sizeof(header));
	for (i = 0; i < events; i++)
		put(stacks, &(uint64_t){ FIRST_ID + i }, 8);
	for (i = 0; i < events; i++) {
		struct perf_event_attr attr = attr_of(stacks, i);
		struct perfdata_section section = { ids + 8 * i, 8 };

		put_attr(stacks, &attr);
		put(stacks, &section, sizeof(section));
	}
}

static void put_pipe(struct stacks *stacks)
{
	uint64_t header[2] = { PERFDATA_MAGIC, PERFDATA_PIPE_HEADER };
	unsigned int events = stacks->style.events, i;

	put(stacks, header, sizeof(header));
	for (i = 0; i < events; i++) {
		struct perf_event_attr attr = attr_of(stacks, i);
		uint8_t body[sizeof(attr) + 8];
		uint64_t id = FIRST_ID + i;

		memcpy(body, &attr, stacks->attr.size);
		memcpy(body + stacks->attr.size, &id, 8);
		put_record(stacks, PERFDATA_HEADER_ATTR, 0, body,
			   stacks->attr.size + 8);
	}
}

static uint64_t type_of(const struct stacks_style *style)
{
	uint64_t type = SAMPLE_TYPE | style->sample_type;

	if (!style->chains)
		return type;
	if (!(style->filter & PERF_SAMPLE_BRANCH_CALL_STACK))
		type &= ~PERF_SAMPLE_BRANCH_STACK;
	return type | PERF_SAMPLE_CALLCHAIN;
}

void stacks_begin(struct stacks *stacks, const char *path,
		  const struct stacks_style *style)
{
	*stacks = (struct stacks){
		.file = fopen(path, "w"), .style = *style, .ip = 0x400000,
		.misc = PERF_RECORD_MISC_USER,
		.attr = {
			.type = style->type,
			.size = style->attr_size ? style->attr_size :
				sizeof(struct perf_event_attr),
			.config = style->config,
			.sample_period = 100003,
			.sample_type = type_of(style),
			.sample_max_stack = style->max_stack,
			.read_format = style->read_format,
			.sample_regs_user = style->sample_type &
					    PERF_SAMPLE_REGS_USER ? 0x1c0 : 0,
			.freq = style->freq,
			.exclude_kernel = !style->kernel,
			.exclude_hv = 1,
			.sample_id_all = 1,
			.mmap = 1, .mmap2 = 1, .comm = 1, .comm_exec = 1,
			.task = 1,
			.branch_sample_type = style->filter ||
					      style->synthesized ?
					      style->filter :
					      PERF_SAMPLE_BRANCH_ANY,
		},
	};
	assert(stacks->file);
	if (!style->events)
		stacks->style.events = 1;
	stacks->event = stacks->style.events - 1;
	if (style->pipe)
		put_pipe(stacks);
	else
		put_table(stacks);
}

void stacks_part(struct stacks *stacks, const char *path)
{
	pack(stacks);
	ZSTD_freeCStream(stacks->zstd);
	stacks->zstd = NULL;
	if (stacks->part)
		fclose(stacks->part);
	stacks->part = fopen(path, "w");
	assert(stacks->part);
}

void stacks_section(struct stacks *stacks, unsigned int feature,
		    const void *bytes, size_t size)
{
	struct stacks_section *section =
		&stacks->sections[stacks->section_count++];

	assert(stacks->section_count <= STACKS_SECTIONS);
	section->feature = feature;
	section->bytes = malloc(size + 1);
	section->size = size;
	assert(section->bytes);
	memcpy(section->bytes, bytes, size);
}

/*
 * Writes the table of sections, and the sections. Sets their bits in @features.
 */
static void put_sections(struct stacks *stacks, uint64_t *features)
{
	size_t count = stacks->section_count, i;
	uint64_t offset = ftell(stacks->file) +
			  count * sizeof(struct perfdata_section);

	for (i = 0; i < count; i++) {
		const struct stacks_section *section = &stacks->sections[i];
		struct perfdata_section entry = { offset, section->size };

		features[section->feature / 64] |= 1ULL
						   << section->feature % 64;
		put(stacks, &entry, sizeof(entry));
		offset += section->size;
	}
	for (i = 0; i < count; i++) {
		put(stacks, stacks->sections[i].bytes,
		    stacks->sections[i].size);
		free(stacks->sections[i].bytes);
	}
}

void stacks_end(struct stacks *stacks)
{
	uint64_t features[PERFDATA_FEATURES / 64] = { 0 };
	struct perfdata_section data = {
		.offset = sizeof(struct perfdata_header) +
			  stacks->style.events *
			  (8 + stacks->attr.size + sizeof(data)),
	};

	pack(stacks);
	if (stacks->part)
		fclose(stacks->part);
	stacks->part = NULL;
	data.size = ftell(stacks->file) - data.offset;
	if (!stacks->style.pipe) {
		put_sections(stacks, features);
		fseek(stacks->file, offsetof(struct perfdata_header, data),
		      SEEK_SET);
		put(stacks, &data, sizeof(data));
		fseek(stacks->file, offsetof(struct perfdata_header, features),
		      SEEK_SET);
		put(stacks, features, sizeof(features));
	}
	fclose(stacks->file);
	free(stacks->records);
	ZSTD_freeCStream(stacks->zstd);
}

/* --- records ------------------------------------------------------------ */

static uint64_t own_id(const struct stacks *stacks)
{
	return FIRST_ID + stacks->event;
}

static void add_origin(const struct stacks *stacks, struct body *body)
{
	uint64_t type = stacks->attr.sample_type;

	if (type & PERF_SAMPLE_ID)
		add(body, own_id(stacks));
	if (type & PERF_SAMPLE_STREAM_ID)
		add(body, own_id(stacks));
	if (type & PERF_SAMPLE_CPU)
		add(body, 1);
}

/* Adds the fields that sample_id_all appends to records other than samples. */
static void add_trailer(const struct stacks *stacks, struct body *body,
			uint32_t pid, uint64_t time)
{
	uint64_t type = stacks->attr.sample_type;

	add(body, (uint64_t)pid << 32 | pid);
	if (type & PERF_SAMPLE_TIME)
		add(body, time);
	add_origin(stacks, body);
	if (type & PERF_SAMPLE_IDENTIFIER)
		add(body, own_id(stacks));
}

static void add_name(struct body *body, const char *name)
{
	size_t words = strlen(name) / 8 + 1;

	memset(body->words + body->count, 0, 8 * words);
	strcpy((char *)(body->words + body->count), name);
	body->count += words;
}

void stacks_comm(struct stacks *stacks, uint64_t time, uint32_t pid,
		 const char *name, bool exec)
{
	static struct body body;

	body.count = 0;
	add(&body, (uint64_t)pid << 32 | pid);
	add_name(&body, name);
	add_trailer(stacks, &body, pid, time);
	stacks_record(stacks, PERF_RECORD_COMM,
		      exec ? PERF_RECORD_MISC_COMM_EXEC : 0, body.words,
		      8 * body.count);
}

void stacks_map(struct stacks *stacks, uint64_t time, uint32_t pid,
		uint64_t start, uint64_t size, uint64_t offset,
		const char *name)
{
	static struct body body;

	body.count = 0;
	add(&body, (uint64_t)pid << 32 | pid);
	add(&body, start);
	add(&body, size);
	add(&body, offset);
	add(&body, 0);		/* device */
	add(&body, 0);		/* inode */
	add(&body, 0);		/* its generation */
	add(&body, (uint64_t)MAP_PRIVATE << 32 | PROT_READ | PROT_EXEC);
	add_name(&body, name);
	add_trailer(stacks, &body, pid, time);
	stacks_record(stacks, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER,
		      body.words, 8 * body.count);
}

static void add_read(struct body *body, uint64_t format)
{
	bool group = format & PERF_FORMAT_GROUP;
	unsigned int i, counters = group ? 2 : 1;

	if (group)
		add(body, counters);
	else
		add(body, 4711);
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		add(body, 1);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		add(body, 2);
	for (i = 0; i < counters; i++) {
		if (group)
			add(body, 4711 + i);
		if (format & PERF_FORMAT_ID)
			add(body, FIRST_ID);
		if (format & PERF_FORMAT_LOST)
			add(body, 0);
	}
}

static void add_before_chain(const struct stacks *stacks, struct body *body,
			     uint64_t time, uint32_t pid, uint64_t ip,
			     uint64_t period)
{
	uint64_t type = stacks->attr.sample_type;

	if (type & PERF_SAMPLE_IDENTIFIER)
		add(body, own_id(stacks));
	add(body, ip);
	add(body, (uint64_t)pid << 32 | pid);
	if (type & PERF_SAMPLE_TIME)
		add(body, time);
	if (type & PERF_SAMPLE_ADDR)
		add(body, 0x600000);
	add_origin(stacks, body);
	add(body, period);
	if (type & PERF_SAMPLE_READ)
		add_read(body, stacks->attr.read_format);
}

static void add_before_stack(const struct stacks *stacks, struct body *body,
			     uint64_t time, uint32_t pid)
{
	uint64_t type = stacks->attr.sample_type, i;

	add_before_chain(stacks, body, time, pid, stacks->ip, 100003);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		add(body, CALLCHAIN);
		for (i = 0; i < CALLCHAIN; i++)
			add(body, 0x400000 + i);
	}
	if (type & PERF_SAMPLE_RAW) {
		add(body, RAW);
		add(body, 0);
	}
}

/* Adds the user's registers and the memory of the stack. */
static void add_user(const struct stacks *stacks, struct body *body)
{
	uint64_t type = stacks->attr.sample_type;
	size_t i;

	if (type & PERF_SAMPLE_REGS_USER) {
		add(body, PERF_SAMPLE_REGS_ABI_64);
		for (i = 0; i < 3; i++)
			add(body, stacks->registers[i]);
	}
	if (!(type & PERF_SAMPLE_STACK_USER))
		return;
	add(body, stacks->memory_room);
	if (!stacks->memory_room)
		return;
	memset(body->words + body->count, 0xee, stacks->memory_room);
	memcpy(body->words + body->count, stacks->memory, stacks->memory_size);
	body->count += stacks->memory_room / 8;
	add(body, stacks->memory_size);
}

void stacks_chain(struct stacks *stacks, uint64_t time, uint32_t pid,
		  uint64_t ip, uint64_t period, const uint64_t *chain,
		  size_t length, const struct perf_branch_entry *entries,
		  size_t count)
{
	bool branches = stacks->attr.sample_type & PERF_SAMPLE_BRANCH_STACK;
	static struct body body;
	size_t i;

	body.count = 0;
	add_before_chain(stacks, &body, time, pid, ip, period);
	add(&body, length);
	for (i = 0; i < length; i++)
		add(&body, chain[i]);
	if (branches)
		add(&body, count);
	for (i = 0; branches && i < count; i++) {
		add(&body, entries[i].from);
		add(&body, entries[i].to);
		add(&body, 0);
	}
	add_user(stacks, &body);
	stacks_record(stacks, PERF_RECORD_SAMPLE, stacks->misc,
		      body.words, 8 * body.count);
}

void stacks_sample(struct stacks *stacks, uint64_t time, uint32_t pid,
		   const struct perf_branch_entry *entries, size_t count)
{
	uint64_t filter = stacks->attr.branch_sample_type;
	static struct body body;
	size_t i;

	body.count = 0;
	add_before_stack(stacks, &body, time, pid);
	add(&body, count);
	if (filter & PERF_SAMPLE_BRANCH_HW_INDEX)
		add(&body, 5);
	memcpy(body.words + body.count, entries, count * sizeof(*entries));
	body.count += 3 * count;
	/* Since Linux 6.8, each branch may have counters. */
	for (i = 0; filter & 1 << 19 && i < count; i++)
		add(&body, 0x0101);
	stacks_record(stacks, PERF_RECORD_SAMPLE, stacks->misc, body.words,
		      8 * body.count);
}

void stacks_round(struct stacks *stacks)
{
	pack(stacks);
	put_record(stacks, PERFDATA_FINISHED_ROUND, 0, "", 0);
}

/* --- objects ------------------------------------------------------------ */

void stacks_object(const char *path, const void *code, size_t size)
{
	uint8_t page[STACKS_CODE] = { 0 };
	Elf64_Ehdr *header = (void *)page;
	Elf64_Phdr *segment = (void *)(header + 1);
	FILE *file = fopen(path, "w");
	size_t done;

	assert(file);
	*header = (Elf64_Ehdr){
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
		.e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = 1,
		.e_phoff = sizeof(*header), .e_ehsize = sizeof(*header),
		.e_phentsize = sizeof(*segment), .e_phnum = 1,
	};
	*segment = (Elf64_Phdr){
		.p_type = PT_LOAD, .p_flags = PF_R | PF_X,
		.p_filesz = sizeof(page) + size,
		.p_memsz = sizeof(page) + size,
		.p_align = 0x1000,
	};
	done = fwrite(page, 1, sizeof(page), file);
	done += fwrite(code, 1, size, file);
	assert(done == sizeof(page) + size);
	fclose(file);
}
