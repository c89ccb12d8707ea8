/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads files with code for the collector, which has capabilities. Another
 * process opens them: see file_opener.h. Anybody may have written them, so each
 * is read by a process of its own: see WORKER_ONE_FILE. What that process says
 * is not trusted either. A file that cannot be read so is left out, and
 * counted.
 */
#ifndef HWPROFD_CODE_READER_H
#define HWPROFD_CODE_READER_H

#include <stdint.h>

#include "code/code_facts.h"
#include "file_opener.h"

/**
 * struct code_reader_counts - What became of files
 * @read: were read, whatever they were.
 * @failed: took too much time or memory, crashed their reader, or made it talk
 *	nonsense.
 * @late: came when the time for reading was over; they are tried again.
 */
struct code_reader_counts {
	uint64_t read, failed, late;
};

struct confined_reader {
	struct code_reader reader;
	struct file_opener opener;
	struct code_reader_counts counts;
	unsigned int seconds;		/* that reading a file may take */
	uint64_t spent_ns;		/* since code_reader_begin() */
	bool said;			/* a failure, since then */
};

/*
 * Makes @reader.reader usable as long as @reader is. End it with
 * code_reader_stop().
 */
void code_reader_init(struct confined_reader *reader);
void code_reader_stop(struct confined_reader *reader);

/* Begins another window, for which there is some time to read files. */
void code_reader_begin(struct confined_reader *reader);

/*
 * Reads what a worker has written to @fd about a file. Returns 0; -EBADMSG if
 * it contradicts itself; or another negative errno. @facts is empty then.
 */
int code_reader_take(int fd, struct code_facts *facts);

#endif /* HWPROFD_CODE_READER_H */
