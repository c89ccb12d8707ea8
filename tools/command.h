/* SPDX-License-Identifier: GPL-2.0-only */
/* What the subcommands of hwprof have in common. */
#ifndef HWPROF_COMMAND_H
#define HWPROF_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit codes; `record` passes on those of the command that it runs. */
enum {
	STATUS_OK	= 0,
	STATUS_FAILED	= 1,	/* a file, a permission, the module, ... */
	STATUS_USAGE	= 2,
	STATUS_NOT_EXECUTABLE = 126,
	STATUS_NOT_FOUND = 127,
	STATUS_SIGNAL	= 128,	/* and the number of the signal */
};

#define DEFAULT_FILE	"hwprof.data"
#define HWPROF_SYSFS	"/sys/bus/event_source/devices/hwprof"

int command_record(int argc, char **argv);
int command_report(int argc, char **argv);
int command_replay(int argc, char **argv);
int command_doctor(int argc, char **argv);
int command_top(int argc, char **argv);
int command_stat(int argc, char **argv);
int command_script(int argc, char **argv);

extern const char record_usage[];
extern const char report_usage[];
extern const char replay_usage[];
extern const char doctor_usage[];
extern const char top_usage[];
extern const char stat_usage[];
extern const char script_usage[];

/* Prints "hwprof: " and a sentence on stderr, and returns the status. */
int failed(const char *format, ...) __attribute__((format(printf, 1, 2)));
int usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void warning(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * @text as it may go to a terminal: control characters are written as \xNN, for
 * recordings and objects may have any names. Returns @text itself if it has none,
 * else a buffer that is used again four calls later; it is cut if it is too long.
 */
const char *clean(const char *text);

/*
 * What getopt_long() did not understand: prints why, if it did not do so
 * itself, or the help that was asked for.
 */
int option_error(int option, const char *usage, char **argv);

/* A whole number from @least to @most; false: it is none. */
bool parse_count(const char *text, uint64_t least, uint64_t most,
		 uint64_t *value);

/* Reads a number from a file of one; false: there is none. */
bool read_number(const char *path, int64_t *value);

/* The first line of a file, without its end; false: there is none. */
bool read_line(const char *path, char *line, size_t size);

/* What the module says in its folder caps; false: it is not loaded. */
bool read_cap(const char *name, char *value, size_t size);

/* @value with commas between thousands, in @text, which it returns. */
#define GROUPED_SIZE	32
char *grouped(uint64_t value, char text[GROUPED_SIZE]);

#endif /* HWPROF_COMMAND_H */
