/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions that the subcommands of hwprof share. */
#ifndef HWPROF_COMMAND_H
#define HWPROF_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Exit codes. `record` returns those of the command that it ran. */
enum {
	STATUS_OK	= 0,
	STATUS_FAILED	= 1,	/* a file, a permission, the module and so on */
	STATUS_USAGE	= 2,
	STATUS_NOT_EXECUTABLE = 126,
	STATUS_NOT_FOUND = 127,
	STATUS_SIGNAL	= 128,	/* plus the number of the signal */
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
int command_export(int argc, char **argv);
int command_pgo(int argc, char **argv);
int command_bpf(int argc, char **argv);
int command_ctl(int argc, char **argv);

extern const char record_usage[];
extern const char report_usage[];
extern const char replay_usage[];
extern const char doctor_usage[];
extern const char top_usage[];
extern const char stat_usage[];
extern const char script_usage[];
extern const char export_usage[];
extern const char pgo_usage[];
extern const char bpf_usage[];
extern const char ctl_usage[];

/*
 * Print "hwprof: " and a sentence on stderr. The first two return the exit
 * status.
 */
int failed(const char *format, ...) __attribute__((format(printf, 1, 2)));
int usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void warning(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Opens the file @path for output; NULL is @standard. Returns NULL if that
 * fails, and prints why. output_close() writes out the rest, closes a file, and
 * returns the exit status.
 */
FILE *output_open(const char *path, FILE *standard);
int output_close(FILE *out);

/*
 * Returns @text for printing on a terminal: control characters become \xNN,
 * since names in recordings and objects may contain any. Without such
 * characters it returns @text itself. Otherwise it returns a buffer, which is
 * reused four calls later; longer text is cut.
 */
const char *clean(const char *text);

/*
 * Handles what getopt_long() did not understand: prints the reason unless
 * getopt did, or the help if that was requested. Returns the exit status.
 */
int option_error(int option, const char *usage, char **argv);

/*
 * Parses a whole number from @least to @most. Returns false for anything else.
 */
bool parse_count(const char *text, uint64_t least, uint64_t most,
		 uint64_t *value);

/* Reads a number from a file. Returns false if there is none. */
bool read_number(const char *path, int64_t *value);

/*
 * Reads the first line of a file, without its end. Returns false if there is
 * none.
 */
bool read_line(const char *path, char *line, size_t size);

/*
 * Reads a file in the module's folder caps. Returns false if the module is not
 * loaded.
 */
bool read_cap(const char *name, char *value, size_t size);

/* Writes @value with commas between thousands to @text. Returns @text. */
#define GROUPED_SIZE	32
char *grouped(uint64_t value, char text[GROUPED_SIZE]);
/* Does so with @value rounded to two digits, as in 0.13, 5.7 and 1,900. */
char *rounded(double value, char text[GROUPED_SIZE]);

#endif /* HWPROF_COMMAND_H */
