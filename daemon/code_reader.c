// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/read_whole.h"
#include "base/write_whole.h"
#include "code_reader.h"
#include "log.h"
#include "notify.h"
#include "wire.h"
#include "worker.h"

enum {
	FILE_SECONDS = 10,		/* that reading a file may take */
	WINDOW_SECONDS = 10,		/* after which no other file is begun */
	NAME_SIZE = 256,		/* of a name in the log */
};

/* A worker writes this, then the parts, and the rows of the table. */
struct written {
	struct build_id id;
	uint64_t base;
	uint32_t part_count;
	uint32_t row_count;
};

/* --- the worker's side ---------------------------------------------------- */

static enum answer write_facts(int out, const struct code_facts *facts)
{
	struct written head;
	int error;

	/* No padding that was never set. */
	memset(&head, 0, sizeof(head));
	head.id = facts->id;
	head.base = facts->table.base;
	head.part_count = facts->part_count;
	head.row_count = facts->table.count;
	error = write_whole(out, &head, sizeof(head));
	if (!error)
		error = write_whole(out, facts->parts,
				    facts->part_count *
				    sizeof(facts->parts[0]));
	if (!error)
		error = write_whole(out, facts->table.rows,
				    facts->table.count *
				    sizeof(facts->table.rows[0]));
	return error ? ANSWER_FAILED : ANSWER_OK;
}

static enum answer read_file(const void *context, int out)
{
	const enum code_wanted *wanted = context;
	struct code_facts facts;

	if (code_read(NULL, WORKER_KEPT, "", *wanted, &facts))
		return ANSWER_FAILED;
	return write_facts(out, &facts);
}

/* --- what it says --------------------------------------------------------- */

static bool head_is_valid(const struct written *head, uint64_t size)
{
	return head->id.size <= BUILD_ID_MAX &&
	       head->part_count <= CODE_PARTS_MAX &&
	       head->row_count <= HWPROF_UNWIND_ROWS_MAX &&
	       size == sizeof(*head) +
		       head->part_count * sizeof(struct code_part) +
		       head->row_count *
		       (uint64_t)sizeof(struct hwprof_unwind_row);
}

static bool rows_are_valid(const struct cfi_table *table)
{
	uint32_t i;

	for (i = 0; i < table->count; i++)
		if (table->rows[i].kind > HWPROF_UNWIND_OUTERMOST ||
		    (i && table->rows[i].start <= table->rows[i - 1].start))
			return false;
	return true;
}

static int take_rows(int fd, const struct written *head, uint64_t at,
		     struct cfi_table *table)
{
	size_t size = head->row_count * sizeof(*table->rows);
	int error;

	*table = (struct cfi_table){ .base = head->base };
	if (!size)
		return 0;
	table->rows = malloc(size);
	if (!table->rows)
		return -ENOMEM;
	table->count = head->row_count;
	error = read_whole(fd, table->rows, size, at);
	return error || rows_are_valid(table) ? error : -EBADMSG;
}

static int take_all(int fd, struct code_facts *facts)
{
	off_t size = lseek(fd, 0, SEEK_END);
	struct written head;
	size_t parts;
	int error;

	if (size < (off_t)sizeof(head))
		return size < 0 ? -errno : -EBADMSG;
	error = read_whole(fd, &head, sizeof(head), 0);
	if (error)
		return error;
	if (!head_is_valid(&head, size))
		return -EBADMSG;
	parts = head.part_count * sizeof(facts->parts[0]);
	error = read_whole(fd, facts->parts, parts, sizeof(head));
	if (error)
		return error;
	facts->id = head.id;
	memset(facts->id.bytes + head.id.size, 0, BUILD_ID_MAX - head.id.size);
	facts->part_count = head.part_count;
	return take_rows(fd, &head, sizeof(head) + parts, &facts->table);
}

int code_reader_take(int fd, struct code_facts *facts)
{
	int error;

	*facts = (struct code_facts){ .part_count = 0 };
	error = take_all(fd, facts);
	if (error)
		code_facts_free(facts);
	return error;
}

/* --- the caller's side ---------------------------------------------------- */

/* Says once in a window what is wrong with a file. */
static void complain(struct confined_reader *reader, const char *name,
		     const char *message)
{
	if (!reader->said)
		log_warning("%.*s cannot be read: %s", NAME_SIZE, name, message);
	reader->said = true;
}

static int finish(struct confined_reader *reader, struct worker *worker,
		  const char *name, struct code_facts *facts)
{
	enum answer answer = worker_wait(worker);
	int error = -EIO;

	if (answer == ANSWER_OK)
		error = code_reader_take(worker->out, facts);
	close(worker->out);
	if (!error) {
		reader->counts.read++;
		return 0;
	}
	reader->counts.failed++;
	complain(reader, name, answer == ANSWER_OK ?
		 "its reader said what makes no sense" :
		 "its reader took too much time or memory, or crashed");
	return error;
}

static int read_confined(void *context, int fd, const char *name,
			 enum code_wanted wanted, struct code_facts *facts)
{
	struct confined_reader *reader = context;
	uint64_t begin = wire_now();
	struct worker worker;
	int error;

	if (reader->spent_ns > WINDOW_SECONDS * 1000000000ULL ||
	    worker_start(&worker, read_file, &wanted, WORKER_ONE_FILE, fd,
			 reader->seconds)) {
		reader->counts.late++;
		return -EAGAIN;
	}
	error = finish(reader, &worker, name, facts);
	reader->spent_ns += wire_now() - begin;
	notify("WATCHDOG=1");
	return error;
}

static int find_confined(void *context, const struct wanted_file *wanted,
			 bool open, struct found_file *found)
{
	struct confined_reader *reader = context;

	return file_opener_find(&reader->opener, wanted, open, found);
}

void code_reader_init(struct confined_reader *reader)
{
	*reader = (struct confined_reader){
		.reader.find = find_confined, .reader.read = read_confined,
		.reader.context = reader, .seconds = FILE_SECONDS,
	};
	file_opener_init(&reader->opener);
}

void code_reader_stop(struct confined_reader *reader)
{
	file_opener_stop(&reader->opener);
}

void code_reader_begin(struct confined_reader *reader)
{
	reader->spent_ns = 0;
	reader->said = false;
}
