/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The messages from hwprofd-collect to hwprofd, over a socket of the type
 * SOCK_SEQPACKET: a head, and with a recording the descriptor of a sealed
 * memfd. The receiver trusts neither.
 */
#ifndef HWPROFD_WIRE_H
#define HWPROFD_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	WIRE_MAGIC = 0x66707768,	/* "hwpf" */
	WIRE_VERSION = 5,
	WIRE_TEXT = 448,
	WIRE_SIZE_MAX = 128 << 20,	/* of a recording */
	/*
	 * Bytes of its records. The names of files come once more behind them,
	 * with their build ids.
	 */
	WIRE_RECORDS_MAX = 48 << 20,
};

enum wire_type {
	WIRE_RECORDING = 1,		/* of one window of time */
	WIRE_TROUBLE = 2,		/* @text says why there is none */
	WIRE_PLAN = 3,			/* what comes next */
};

/* hwprofd accepts no longer plans. */
enum { WIRE_PLAN_SECONDS = 60 };

/**
 * struct wire_head - A message
 * @magic: WIRE_MAGIC.
 * @version: WIRE_VERSION.
 * @type: enum wire_type.
 * @size: bytes of the recording; 0 without one.
 * @begin_ns: when the recording began, or the plan does, on CLOCK_BOOTTIME.
 * @end_ns: when it ended, or is to end.
 * @rests: of a plan: 1: nothing will be recorded; 0: a window.
 * @cpu_ns: CPU time that the collector has used so far, with its processes.
 * @files_read: files of programs that were read so far.
 * @files_failed: those that could not be.
 * @files_late: those that had no time.
 * @files_hung: those whose file systems did not answer.
 * @files_skipped: those that were not asked for, for that reason.
 * @opens_files: 1; 0: too many file systems did not answer.
 * @dropped: records of the recording that had no room in it.
 * @refused: files and processes for which the module has no room for tables.
 * @text: a sentence, or empty.
 */
struct wire_head {
	uint32_t magic;
	uint16_t version;
	uint16_t type;
	uint64_t size;
	uint64_t begin_ns;
	uint64_t end_ns;
	uint64_t rests;
	uint64_t cpu_ns;
	uint64_t files_read, files_failed, files_late;
	uint64_t files_hung, files_skipped, opens_files;
	uint64_t dropped;
	uint64_t refused;
	char text[WIRE_TEXT];
};

/**
 * struct wire_spent - What hwprofd answers
 * @magic: WIRE_MAGIC.
 * @version: WIRE_VERSION.
 * @cpu_ns: CPU time that it has used so far, with its processes.
 * @looks_ns: what looks cost so far, as the recordings tell.
 */
struct wire_spent {
	uint32_t magic;
	uint32_t version;
	uint64_t cpu_ns;
	uint64_t looks_ns;
};

/*
 * Return ns on CLOCK_BOOTTIME, and the CPU time of @who, as getrusage() has it,
 * in ns.
 */
uint64_t wire_now(void);
uint64_t wire_cpu_ns(int who);

/*
 * Connects to the socket @path, or listens there, with access for its owner
 * alone. Return a descriptor or a negative errno.
 */
int wire_connect(const char *path);
int wire_listen(const char *path);

/*
 * Removes a socket that an earlier process has left. Returns 0, also if there
 * is nothing; -EEXIST if @path is no socket; or another negative errno.
 */
int wire_remove_socket(const char *path);

/*
 * Makes an empty memfd for a recording, and seals it when it is complete.
 * Return a descriptor, or 0; or a negative errno.
 */
int wire_memfd(void);
int wire_seal(int fd);

/*
 * Sends a message; @fd is -1, or that of the sealed recording. Sets the magic,
 * the version and the size. Returns 0 or a negative errno.
 */
int wire_send(int socket, struct wire_head *head, int fd);

/*
 * Receives a message, and *@fd: -1, or the descriptor of the recording. Returns
 * 0; -ENODATA at the end; -EAGAIN if there is none; -EBADMSG with a sentence in
 * @message if it is not what the protocol says; or another negative errno.
 * -EMFILE: no descriptor was free for the recording, which is lost.
 */
int wire_receive(int socket, struct wire_head *head, int *fd, char *message,
		 size_t size);

/*
 * Sends an answer, which sets the magic and the version. One for which there is
 * no room, since nobody reads them, is dropped.
 */
void wire_answer(int socket, struct wire_spent *spent);

/*
 * Receives the answers that have come, of which the latest counts. Returns
 * false if there is none.
 */
bool wire_answered(int socket, struct wire_spent *spent);

#endif /* HWPROFD_WIRE_H */
