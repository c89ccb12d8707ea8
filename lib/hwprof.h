/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libhwprof: reads what hwprof recorded.
 *
 * Nothing here prints, exits or keeps global state. Functions return 0 or a
 * negative errno, and the handle they were given has the sentence that goes
 * with it (..._error()). Handles may be used by one thread at a time. Strings
 * and pointers that are given out belong to their handle and live as long,
 * unless it is said otherwise.
 */
#ifndef HWPROF_H
#define HWPROF_H

#include <linux/hwprof.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HWPROF_VERSION	"0.1"

/* ---- a perf.data file, written by perf or hwprof ----------------------- */

struct hwprof_file;

/*
 * Opens the recording at @path ("-": standard input) and reads its header.
 * *@file is made in any case, so that hwprof_file_error() can be asked; it is
 * NULL only for -ENOMEM. Free it with hwprof_file_close().
 *
 * -EBADMSG: this is no perf.data file, or a damaged one; -ENOTSUP: it is of a
 * machine of the other byte order or of an old format; else the errno of
 * open() or read().
 */
int hwprof_file_open(struct hwprof_file **file, const char *path);

/* The same of an open descriptor, which the handle closes. @name is for errors. */
int hwprof_file_open_fd(struct hwprof_file **file, int fd, const char *name);

/* Frees @file; NULL is allowed. */
void hwprof_file_close(struct hwprof_file *file);

/* What the last call that failed has to say; of NULL, that memory was out. */
const char *hwprof_file_error(const struct hwprof_file *file);

/*
 * Damage that left the rest of the file readable (a recorder that was killed, a
 * copy that was cut, a section that is broken), a sentence each with its offset;
 * NULL behind the last one. Profiles have these among their own warnings.
 */
const char *hwprof_file_warning(const struct hwprof_file *file, size_t index);

/* A sample of a hwprof event. */
struct hwprof_sample {
	uint64_t time;		/* ns of the recording's clock; UINT64_MAX: the
				 * file has no times */
	uint64_t ip;		/* where the thing is; 0: not in the file */
	uint64_t addr;		/* its other end; 0: not in the file */
	uint64_t period;	/* increase of the event's unit */
	uint32_t pid, tid;
	uint32_t cpu;		/* UINT32_MAX: not in the file */
	bool rows;		/* the event gives rows; else samples, whose
				 * rows name a thing and count nothing */
	uint64_t config[3];	/* of the event: see HWPROF_FIELDS */
	uint64_t offset;	/* of its record in the file, for messages */
	const struct hwprof_row *row;	/* NULL: no raw data. 8-byte aligned,
				 * and row->size bytes are there. Of the types
				 * that this library knows the size is
				 * checked. Valid during the call only. */
};

/* Anything but 0 ends the reading and is returned. */
typedef int (*hwprof_sample_fn)(void *context,
				const struct hwprof_sample *sample);

/*
 * Calls @fn for each sample of a hwprof event, in the file's order, which is
 * not the order of time. Once per handle; memory does not grow with the number
 * of samples. 0 at the end of the data, or where damage hides what follows, as
 * hwprof_file_warning() then says; -EBADMSG: a record contradicts itself;
 * -EALREADY: the file was read before; -ENOENT: the file has no hwprof event; else what @fn
 * returned or read() failed with.
 */
int hwprof_file_samples(struct hwprof_file *file, hwprof_sample_fn fn,
			void *context);

/* ---- profiles ---------------------------------------------------------- */

/* What a profile is of, by the name that `hwprof report` has for it. */
enum hwprof_kind {
	HWPROF_KIND_LOOPS,
	HWPROF_KIND_RANGES,
	HWPROF_KIND_CALLS,
	HWPROF_KIND_CCT,
	HWPROF_KIND_PATHS,
	HWPROF_KIND_VALUES,
	HWPROF_KIND_EDGES,
	HWPROF_KINDS,
};

/* "cct"; NULL: there is no such one. */
const char *hwprof_kind_name(enum hwprof_kind kind);
/* What its totals count, "back edges"; NULL: there is no such kind. */
const char *hwprof_kind_units(enum hwprof_kind kind);
/* Which one it is of enum hwprof_kind; -EINVAL: there is no such name. */
int hwprof_kind_of(const char *name);

/*
 * Sets *@kinds to a bit 1 << enum hwprof_kind for each kind of profile that the
 * hwprof events of @file name. It reads the header only, and may be called
 * before the functions that read the samples. -ENOENT: there is no hwprof event, or none with a
 * profile (events of branches have none); -ESPIPE: @file was recorded to a pipe, so
 * that its events come with its data.
 */
int hwprof_file_kinds(struct hwprof_file *file, unsigned int *kinds);

/*
 * The run's, summed over its sessions. In what hwprof_kind_units() says where no
 * unit is named, or sums of that over several kinds.
 */
struct hwprof_totals {
	uint64_t events;	/* branches and all else that the source saw */
	uint64_t lost;
	uint64_t evicted;
	uint64_t gaps;
	uint64_t sessions;
	uint64_t produced;
	uint64_t delivered;	/* what the rows in the file carry */
	uint64_t pending;	/* in no row when the recording ended */
	uint64_t windows;	/* that were taken; 0: there are none */
	uint64_t lost_records;	/* records the kernel had no room for */
	uint64_t rows;		/* rows of the profile's kind */
	uint64_t samples;	/* samples that are no rows */
	uint32_t sources;	/* of sessions: bits 1 << enum hwprof_source */
	uint64_t cost_ns;	/* of windows and samples; 0: not known */
	uint64_t task_ns;	/* time of what was profiled, with them in it */
	uint32_t budget_permille;	/* the largest that was asked for; 0: none */
	uint64_t unmeasured;	/* samples without metrics: a counter was not
				 * there, or did not count */
	uint64_t lost_events;	/* of which nothing was learnt: no table was
				 * free, or records of branches were not whole */
	uint32_t kinds;		/* bits 1 << enum hwprof_kind: of a session with
				 * several (the event "loops,calls"), `produced`
				 * and what it adds up from are sums over all of
				 * these, whichever the profile is of; 0: each
				 * session has one */
};

/*
 * What windows and samples cost, as a share of the time that the program had
 * besides; below 0: not known, as where all was seen.
 */
double hwprof_overhead(const struct hwprof_totals *totals);

/* The field's name of the source, "step"; NULL: there is no such one. */
const char *hwprof_source_name(enum hwprof_source source);

enum hwprof_flags {
	HWPROF_PER_PROCESS = 1 << 0,	/* do not merge processes */
	HWPROF_NO_OBJECTS = 1 << 1,	/* open no file but the recording: no
					 * symbols, and heads are offsets in
					 * their files */
	HWPROF_MERGE_SITES = 1 << 8,	/* contexts: calls of one procedure by
					 * another are one, wherever they stand */
};

/* To be added to flags: ranges of that, if the files have those of others. */
#define HWPROF_RANGES_OF_FLAG(of)	(((of) + 1U) << 16)

/* How a profile is made; all 0, or NULL in its place: the defaults. */
struct hwprof_options {
	unsigned int flags;	/* enum hwprof_flags */
	double hot;		/* ranges: hot are those with this part of all
				 * events, without the hot ranges inside them;
				 * up to 1; 0: 0.1 */
	const char *symfs;	/* folder that has the recorded machine's files
				 * at their paths, or all at its top; NULL: / */
	const char *debuginfo;	/* folder with files for debuggers, by build id
				 * (.build-id/xx/...); NULL: the system's */
	const char *function;	/* only what functions of this name have, or a
				 * shell pattern: loops, paths, loads, branches,
				 * calls by and of them; of contexts, who called them: see
				 * hwprof_contexts_turned(). NULL: everything */
};

/*
 * A profile: what was counted, placed in objects, functions and source. What is
 * in it, the functions of its kind give out, below; for a profile of another
 * kind they count 0 things, and their other functions must not be called.
 */
struct hwprof_profile;

/*
 * Reads the @kind of things of all @files, @count of them, 1 or more: sums the
 * rows of that kind, also of events that have others, finds object, function and
 * source of each thing, and merges files, and processes that ran the same object.
 * The files can be closed then. *@profile is
 * NULL when it fails, and hwprof_file_error() of the file that it failed at says
 * why: as hwprof_file_samples(), -ENOMEM, -EBADMSG, -EINVAL (an option is out of
 * its range, or a file has ranges of several things, and none is named); of the
 * others it is "".
 */
int hwprof_profile_read(struct hwprof_profile **profile, enum hwprof_kind kind,
			struct hwprof_file *const *files, size_t count,
			const struct hwprof_options *options);

struct hwprof_replay_options {
	uint64_t span;		/* longest back edge in bytes; 0: 1 MiB */
	uint64_t memory_mib;	/* of the engine, 1 to 4095; 0: 64 */
	/* If not NULL, it is called now and then: @done bytes of the data were
	 * read, of @size; 0: of a pipe, that is not known. */
	void (*progress)(void *context, uint64_t done, uint64_t size);
	void *context;		/* of progress() */
	const char *event;	/* name of the event whose samples are replayed;
				 * NULL: stacks of calls, of the file's first
				 * event that has them; else, of all events */
};

/*
 * The same from the stacks in @file, by the engine that also runs in the kernel.
 *
 * Loops, calls, paths, edges and ranges: from branch stacks (perf record -b). Each
 * is a window: counts are of what was seen (paths: seen whole), and the basis is
 * HWPROF_BASIS_BRANCHES if all events that have stacks count taken branches, or
 * else HWPROF_BASIS_TIME. Ranges are of where branches led or, if
 * HWPROF_RANGES_OF_FLAG() says so, of callees. Totals are of one
 * session, whose events are branches and gaps. Calls and returns are told from
 * jumps by the recording, by the code in the objects or, where that cannot be had
 * (or with HWPROF_NO_OBJECTS), from the stacks themselves, as far as that goes; a
 * warning says how many.
 *
 * Contexts: from stacks of calls (perf record -g) of the file's first event that
 * has them, by frame pointers or LBR (--call-graph lbr). The procedures are told by
 * symbols, or else by tables for unwinding; code that has neither is one procedure
 * for each map, and the kernel is one. The unit is the samples' periods. Call sites
 * are the last byte of the call, of LBR its first; and span says nothing.
 *
 * Memory grows with the number of processes, maps and things, never with that of
 * samples. @replay: NULL for the defaults.
 *
 * Stacks that are in samples as memory (--call-graph dwarf) are unwound by the
 * code's tables, on x86-64.
 *
 * Samples of virtual machines are of the objects "[guest]" and "[guest kernel]",
 * and of a process "guest".
 *
 * -ENOENT: the file has no such stacks, or none with all branches; -EINVAL:
 * an option is out of its range, or the file has no event of that name; -EOPNOTSUPP: stacks do not say enough for
 * @kind (values), or ranges of other things; else as hwprof_profile_read().
 */
int hwprof_profile_replay(struct hwprof_profile **profile,
			  enum hwprof_kind kind, struct hwprof_file *file,
			  const struct hwprof_options *options,
			  const struct hwprof_replay_options *replay);

/*
 * The same of all @files, @count of them, 1 or more, in one profile: as
 * hwprof_profile_read() merges them.
 */
int hwprof_profile_replay_all(struct hwprof_profile **profile,
			      enum hwprof_kind kind,
			      struct hwprof_file *const *files, size_t count,
			      const struct hwprof_options *options,
			      const struct hwprof_replay_options *replay);

/* NULL is allowed. */
void hwprof_profile_free(struct hwprof_profile *profile);

enum hwprof_kind hwprof_profile_kind(const struct hwprof_profile *profile);
/* The event whose samples were replayed; NULL: none, or several. */
const char *hwprof_profile_event(const struct hwprof_profile *profile);
const struct hwprof_totals *
hwprof_profile_totals(const struct hwprof_profile *profile);

/*
 * What a reader of the numbers has to know (an object that has changed since,
 * samples in place of rows, something lost): a sentence each; NULL behind the
 * last one.
 */
const char *hwprof_profile_warning(const struct hwprof_profile *profile,
				   size_t index);

/* What the last call that failed has to say. */
const char *hwprof_profile_error(const struct hwprof_profile *profile);

/* What of a profile becomes JSON; all 0, or NULL in its place: everything. */
struct hwprof_json_options {
	size_t limit;		/* things at most; methods too; 0: all; not of
				 * ranges and contexts, which are trees */
	double min_share;	/* of contexts: as hwprof_context_is_shown() */
};

/*
 * Writes the things of @profile, the totals and the warnings as JSON. What is not
 * known is null. -EIO: @out had an error; -ENOMEM.
 */
int hwprof_profile_json(const struct hwprof_profile *profile,
			const struct hwprof_json_options *options, FILE *out);

/* ---- loops ------------------------------------------------------------- */

struct hwprof_loop {
	const char *object;	/* path, or a name in brackets such as [vdso] */
	const char *build_id;	/* hexadecimal; NULL: not known */
	const char *function;	/* symbol; NULL: none */
	uint64_t function_offset;	/* of the head in it, bytes */
	uint64_t head;		/* first instruction: address in the object as
				 * objdump shows it; in the process where the
				 * code is in no file */
	uint64_t tail;		/* farthest branch back, the same */
	const char *file;	/* source; NULL: no debug information */
	unsigned int line;	/* 0: not known */
	bool counted;		/* the next two are totals of the run */
	uint64_t entries;
	uint64_t iterations;
	uint64_t entries_seen;
	uint64_t back_edges_seen;	/* samples: the sum of their periods */
	double trip;		/* iterations / entries; NaN: not known */
	double trip_low;	/* 95 % interval of it; NaN: not known */
	double trip_high;
	double trip_recent;	/* 7/8-weighted average, of executions that took
				 * the back edge; NaN: not known */
	uint64_t trip_min;	/* of executions seen whole; 0: none */
	uint64_t trip_max;
	uint64_t histogram[HWPROF_TRIP_BUCKETS];	/* whole executions with
				 * a trip count in [2^i, 2^(i+1)) */
	double share;		/* 0 to 1, of what share_of says: "iterations"
				 * (all that were seen), "back_edges" (of
				 * samples), or "time" (basis time: spent in the
				 * loop, but in none inside it and in nothing
				 * that it calls) */
	double share_low;	/* 95 % interval of it; NaN: not known */
	double share_high;
	const char *share_of;
	enum hwprof_basis basis;	/* of the counts; 0: samples */
	uint64_t tolerance;	/* executions that the trip statistics may have
				 * split */
	const struct hwprof_loop *parent;	/* smallest region around this
				 * one; NULL: none */
	unsigned int depth;	/* loops around this one */
	uint32_t pid;		/* HWPROF_PER_PROCESS, or code in no file;
				 * else 0 */
	const char *comm;	/* name of the process, the same; or NULL */
};

/* The largest shares first. */
size_t hwprof_loops_count(const struct hwprof_profile *profile);

/* @index: less than the count. Valid until hwprof_loops_sort(). */
const struct hwprof_loop *
hwprof_loops_get(const struct hwprof_profile *profile, size_t index);
#define HWPROF_LOOPS_SORT_KEYS \
	"share, entries, iterations, trip, head, function, object"

/*
 * Sorts by @keys, separated by commas: numbers from the largest, names and
 * addresses from the smallest. -EINVAL: a key is none of
 * HWPROF_LOOPS_SORT_KEYS, and hwprof_profile_error() names it.
 */
int hwprof_loops_sort(struct hwprof_profile *profile, const char *keys);

/* ---- ranges ------------------------------------------------------------ */

/* Addresses side by side, and what is there. */
struct hwprof_span {
	const char *object;	/* path, or a name in brackets; NULL: all that
				 * was counted, wherever it was */
	const char *build_id;	/* hexadecimal; NULL: not known */
	uint64_t low, high;	/* its ends, both inside: as those of a range */
	unsigned int bits;	/* log2 of its size */
	const char *function;	/* symbol that has the low end; NULL: none */
	uint64_t function_offset;	/* bytes */
	const char *last_function;	/* the same of the high end */
	uint64_t last_offset;
};

/*
 * A hot range, or what all of them are in. Its events are at least `least`, and
 * at most `most`: those of ranges around it may have been in it, and those that
 * were evicted.
 */
struct hwprof_range {
	const char *object;	/* path, or a name in brackets; NULL: all that
				 * was counted, wherever it was, and values */
	const char *build_id;	/* hexadecimal; NULL: not known */
	uint64_t low, high;	/* its ends, both inside: addresses in the object
				 * as objdump shows them; in the process where
				 * they are in no file; values */
	unsigned int bits;	/* log2 of its size */
	const char *function;	/* symbol that has the low end; NULL: none */
	uint64_t function_offset;	/* bytes */
	const char *last_function;	/* the same of the high end */
	uint64_t last_offset;
	uint64_t least, most;	/* events, weighted: the unit */
	uint64_t own;		/* of `least`, what no hot range inside has */
	double share;		/* of `own` in all events, 0 to 1 */
	enum hwprof_basis basis;	/* 0: samples */
	const struct hwprof_range *parent;	/* smallest hot range around it,
				 * or all that was counted; NULL: it is that */
	unsigned int depth;	/* how many are around it */
	uint32_t pid;		/* HWPROF_PER_PROCESS, or memory of no file;
				 * else 0 */
	const char *comm;	/* name of the process, the same; or NULL */
	struct hwprof_span code;	/* of pairs: the code that accesses the
				 * range; else all 0 and NULL */
};

/* Are they of pairs: of code by what it accesses? */
bool hwprof_range_of_pairs(enum hwprof_range_of of);

/* The name of what ranges are of, "load-address"; NULL: there is no such one. */
const char *hwprof_range_of_name(enum hwprof_range_of of);
/* Which one it is of enum hwprof_range_of; -EINVAL: there is no such name. */
int hwprof_range_of(const char *name);

/*
 * Hot ranges (Mysore et al., section 5.1) are those that have, without the hot
 * ranges inside them, a part of all events or more. Totals are in events,
 * weighted.
 */

/* What they are of. */
enum hwprof_range_of hwprof_ranges_of(const struct hwprof_profile *profile);

/* 1 or more: the first is all that was counted. Ranges come before those inside. */
size_t hwprof_ranges_count(const struct hwprof_profile *profile);
const struct hwprof_range *
hwprof_ranges_get(const struct hwprof_profile *profile, size_t index);

/* ---- calls ------------------------------------------------------------- */

/* An instruction, as a user finds it. */
struct hwprof_code {
	const char *object;	/* path, or a name in brackets such as [vdso] */
	const char *build_id;	/* hexadecimal; NULL: not known */
	const char *function;	/* symbol; NULL: none */
	uint64_t function_offset;	/* bytes */
	uint64_t address;	/* in the object as objdump shows it; in the
				 * process where the code is in no file */
	const char *file;	/* source; NULL: no debug information */
	unsigned int line;	/* 0: not known */
};

/* How often something was called. */
struct hwprof_called {
	uint64_t least;		/* times, at least: of windows, that were seen;
				 * of samples, the sum of their periods */
	uint64_t most;		/* at most: some were given up for want of memory */
	double share;		/* of `least` in all calls, 0 to 1 */
	double share_low;	/* 95 % interval of it; NaN: not known */
	double share_high;
	enum hwprof_basis basis;	/* 0: samples */
	uint32_t pid;		/* HWPROF_PER_PROCESS, or code in no file;
				 * else 0 */
	const char *comm;	/* name of the process, the same; or NULL */
};

/* A call pair: one call site, and one procedure that it called. */
struct hwprof_pair {
	struct hwprof_called called;
	struct hwprof_code site;	/* the call */
	struct hwprof_code callee;	/* where it led */
};

/* A method: whatever was called, from all sites. */
struct hwprof_method {
	struct hwprof_called called;	/* without an interval */
	struct hwprof_code entry;
	uint64_t sites;			/* that called it */
};

/* Pairs and methods, the largest shares first. */
size_t hwprof_calls_pair_count(const struct hwprof_profile *profile);
const struct hwprof_pair *
hwprof_calls_pair(const struct hwprof_profile *profile, size_t index);
size_t hwprof_calls_method_count(const struct hwprof_profile *profile);
const struct hwprof_method *
hwprof_calls_method(const struct hwprof_profile *profile, size_t index);

/* ---- edges ------------------------------------------------------------- */

/* Where a branch led. */
struct hwprof_branch_target {
	struct hwprof_code code;	/* object NULL: in no known memory */
	uint64_t count;		/* times, at least */
	double share;		/* of the branch's `led` */
	uint64_t mispredicted;	/* of these; 0 as well where it is not known */
	uint64_t cycles;	/* on the line behind it; 0: not known */
};

/*
 * A branch instruction: how often it was taken and passed. Counts are what was
 * seen: of windows, in these; of samples, the sum of their periods.
 */
struct hwprof_branch_site {
	struct hwprof_code code;
	enum hwprof_branch_kind kind;	/* 0: not known */
	bool indirect;		/* where it leads is not in the instruction, as
				 * its code says */
	uint64_t taken;		/* times, at least */
	uint64_t led;		/* of these, where it led was seen */
	uint64_t most;		/* at most: memory was short for some */
	uint64_t passed;	/* conditional jump: lines that ran over it;
				 * of samples, it is not known */
	double share;		/* of `taken` and `passed` in those of all */
	double share_low;	/* 95 % interval of it; NaN: not known */
	double share_high;
	double bias;		/* conditional jump: of lines that came to it,
				 * the part that ended there; else NaN */
	double bias_low;	/* 95 % interval of it, or wider; else NaN */
	double bias_high;
	bool predicted;		/* it is known how many of `led` were */
	uint64_t mispredicted;
	uint64_t cycles;	/* on lines that it led to; 0: not known */
	/* Most frequent first; none where it was not seen where it led. */
	const struct hwprof_branch_target *targets;
	size_t target_count;
	enum hwprof_basis basis;	/* 0: samples */
	uint32_t pid;		/* HWPROF_PER_PROCESS, or code in no file;
				 * else 0 */
	const char *comm;	/* name of the process, the same; or NULL */
};

/*
 * Branches, those that ran most first. Conditional jumps that were never taken
 * are there if their code is at hand.
 */
size_t hwprof_edges_count(const struct hwprof_profile *profile);
const struct hwprof_branch_site *
hwprof_edges_get(const struct hwprof_profile *profile, size_t index);

/* A branch, where it led, and where the straight line from there ends. */
struct hwprof_edge {
	const char *from_object, *from_build_id;	/* NULL: not known */
	const char *to_object, *to_build_id;
	uint64_t from;		/* the branch, in its object; 0: not known */
	uint64_t to;		/* where it led; 0: not known */
	uint64_t end;		/* the next taken branch, in the same object; 0:
				 * not known */
	uint64_t count, mispredicted, cycles;
	enum hwprof_branch_kind kind;	/* of `from`, as it was recorded; 0: not
				 * known */
	bool predicted;		/* `mispredicted` is known */
	enum hwprof_basis basis;
};

/* The edges that the branches are made of, of all functions, by place. */
size_t hwprof_edges_edge_count(const struct hwprof_profile *profile);
void hwprof_edges_edge(const struct hwprof_profile *profile, size_t index,
		       struct hwprof_edge *edge);

/* ---- ranges of any values ---------------------------------------------- */

/*
 * Range-adaptive profiling of any 64-bit values, without a recording, as the
 * paper has it (section 3.2), by the engine that also runs in the kernel.
 */
struct rap;

/*
 * Makes trees for so many profiles, each of 64 KiB, with an error of 1 %.
 * -EINVAL: it is 0; -ENOMEM. Free it with rap_free().
 */
int rap_init(struct rap **rap, unsigned int number_of_simultaneous_profiles);

/* @count events @profile_event_identifier of profile @profile_type, from 0 on. */
void rap_add_points(struct rap *rap, uint64_t profile_event_identifier,
		    uint64_t count, unsigned int profile_type);

/*
 * The same of pairs, as code and the addresses that it accesses are (section 5.5);
 * trees of these have other functions to be made and added to, and are else the
 * same.
 */
int rap_init_pairs(struct rap **rap,
		   unsigned int number_of_simultaneous_profiles);
void rap_add_pairs(struct rap *rap, uint64_t code, uint64_t address,
		   uint64_t count, unsigned int profile_type);

/*
 * Writes the trees as they are now, a line a range: the profile, of pairs the low
 * and the high end of the code, low end, high end, events counted in it and in no
 * smaller range, and how many there are in
 * it at least and at most. Ranges come before those inside them. More points
 * may be added after it. -ENOMEM; -EIO: @out had an error.
 */
int rap_finalize(const struct rap *rap, FILE *out);
void rap_free(struct rap *rap);

/* ---- calling contexts -------------------------------------------------- */

/*
 * A node of the calling context tree: a procedure by the chain of calls that led
 * to it, on which no procedure is twice. Or a back edge in it: a recursive call,
 * whose counts but calls are those of the ancestor that it leads to.
 */
struct hwprof_context {
	enum hwprof_context_kind kind;
	const char *object;	/* path, or a name in brackets; NULL: unknown */
	const char *build_id;	/* hexadecimal; NULL: not known */
	const char *function;	/* symbol; NULL: none */
	uint64_t function_offset;	/* bytes; not 0: the symbol begins before */
	uint64_t address;	/* of the procedure, in the object as objdump
				 * shows it; in the process where the code is in
				 * no file */
	const char *site_object;	/* the same of the call instruction; NULL:
				 * there is none, or calls are not told apart */
	const char *site_function;
	uint64_t site_offset;
	uint64_t site;
	uint64_t calls;		/* times it was entered so, recursion left out */
	uint64_t deeper;	/* calls below it, too deep for nodes */
	uint64_t branches;	/* taken in the procedure itself: its own cost */
	uint64_t all_calls;	/* with those of its subtree, recursion in it, */
	uint64_t all_branches;	/* and the same of branches */
	uint64_t weight;	/* of sampled stacks: what these stand for that
				 * found the procedure itself, its own cost */
	uint64_t all_weight;	/* and the same with its subtree */
	uint64_t samples;	/* stacks that found the procedure itself */
	double share;		/* of all_branches in all, 0 to 1; without any,
				 * of all_weight, or else of all_calls */
	enum hwprof_basis basis;	/* 0: samples; not exact: stacks of calls
				 * were sampled, and calls are not known */
	unsigned int depth;	/* of the chain above it */
	const struct hwprof_context *parent;	/* NULL: a root */
	const struct hwprof_context *target;	/* of a back edge; NULL: none */
	uint32_t pid;		/* HWPROF_PER_PROCESS, or code in no file;
				 * else 0 */
	const char *comm;	/* name of the process, the same; or NULL */
	uint64_t metrics[HWPROF_METRICS_MAX];	/* what counters counted while
				 * stacks found the procedure itself: from one
				 * sample to the next, which has it; */
	uint64_t all_metrics[HWPROF_METRICS_MAX];	/* with its subtree */
};

/* Of the tree: what table 3 of the paper has. */
struct hwprof_context_statistics {
	uint64_t nodes;		/* roots and all */
	uint64_t back_edges;
	uint64_t procedures;
	uint64_t leaves;
	double out_degree;	/* children of a node that has any, on average */
	double height;		/* nodes on the way to a leaf, on average */
	unsigned int height_max;
	uint64_t replication;	/* nodes of the procedure that has most */
	uint64_t call_sites;	/* of nodes, that were reached */
	uint64_t indirect_sites;	/* of these, with more than one callee */
};

/*
 * One tree of all processes that ran the same. Those inside come directly behind,
 * and the largest shares first.
 */
size_t hwprof_contexts_count(const struct hwprof_profile *profile);
/*
 * True if the tree is turned round, as options.function asks for: its roots are the
 * functions of that name, the children of each are those who called it, and so on up
 * to the processes. A node's counts are those of the root that came by this way: its
 * own, and with all it called. The share is of all roots. A child that is a back edge
 * called the root recursively; `site` is where a node calls its parent.
 */
bool hwprof_contexts_turned(const struct hwprof_profile *profile);
const struct hwprof_context *
hwprof_contexts_get(const struct hwprof_profile *profile, size_t index);
const struct hwprof_context_statistics *
hwprof_contexts_statistics(const struct hwprof_profile *profile);
/*
 * The name of metric @index that contexts have, "instructions:u"; "metric 1" where
 * the recording has no names. NULL behind the last one. Metrics of several files
 * are one if they have one name.
 */
const char *hwprof_contexts_metric(const struct hwprof_profile *profile,
				   size_t index);
/* Has it a share of @least or, if it is a back edge, has its caller? */
bool hwprof_context_is_shown(const struct hwprof_context *context,
			     double least);

/*
 * The chain of functions that leads to the context, from the root on, with a ';'
 * between them, to be freed. NULL: out of memory.
 */
char *hwprof_context_chain(const struct hwprof_context *context);
/*
 * Writes a line for each context with branches, or samples, of its own: the chain,
 * procedures with ';' between, and how many, or their weight, as tools that draw
 * flame graphs read it. -EIO.
 */
int hwprof_contexts_folded(const struct hwprof_profile *profile, FILE *out);

/* ---- paths ------------------------------------------------------------- */

/*
 * Ammons, Ball, Larus, section 6.4: hot are those with a hundredth of the metric
 * or more; of these, dense are those with more of it a branch than the program
 * has on average, and sparse the others. The metric is cycles, where the source
 * knows them; else it is branches, and what is hot is neither dense nor sparse.
 */
enum hwprof_heat {
	HWPROF_COLD,
	HWPROF_HOT,
	HWPROF_SPARSE,
	HWPROF_DENSE,
	HWPROF_HEATS,
};

/*
 * A procedure, by the symbol that has the ends of its paths; all code of an object
 * that has no symbol is one.
 */
struct hwprof_procedure {
	const char *object;	/* as struct hwprof_loop has it, like all of these */
	const char *build_id;
	const char *function;	/* NULL: no symbol */
	uint64_t address;	/* of the symbol in the object */
	uint64_t paths;		/* different ones */
	uint64_t possible;	/* of its control-flow graph, that may be run; 0:
				 * not known */
	const char *unnumbered;	/* why that is so: "indirect jump"; or NULL */
	uint64_t count;		/* of the paths, how often they were run */
	uint64_t branches;	/* on them */
	uint64_t cycles;	/* 0: not known */
	double share;		/* of the metric, 0 to 1 */
	enum hwprof_heat heat;
	uint32_t pid;
	const char *comm;
	double windows;		/* of its paths */
};

/*
 * A path: from a procedure's entry or a back edge's target to the next back edge
 * or return, calls stepped over.
 */
struct hwprof_path {
	const struct hwprof_procedure *procedure;
	bool called;		/* it begins at an entry; else where a back edge led */
	bool returns;		/* it ends with a return; else with a back edge */
	const char *start_object;	/* those of a tail call may be others */
	uint64_t start;		/* first instruction: address in its object */
	const char *start_function;	/* symbol; NULL: none */
	uint64_t start_offset;
	const char *start_file;	/* source; NULL: no debug information */
	unsigned int start_line;
	uint64_t end;		/* last instruction, in the procedure's object */
	uint64_t end_offset;	/* of that in the procedure, bytes */
	const char *end_file;
	unsigned int end_line;
	uint32_t length;	/* taken jumps from start to end */
	uint32_t spelled;	/* of these, those that are known, from the
				 * first on */
	uint32_t blocks;	/* up to the last that is known, or to the end */
	uint64_t count;		/* how often it was run: the unit */
	uint64_t number;	/* of all that are possible in its procedure, from
				 * 0 on: always the same in one build of it */
	const char *unnumbered;	/* why it has none: "indirect jump"; NULL: it
				 * has */
	uint64_t branches;	/* count * (length + 1) */
	uint64_t cycles;	/* on it, not on its calls; 0: not known */
	double share;		/* of the metric, 0 to 1 */
	enum hwprof_heat heat;
	enum hwprof_basis basis;
	double windows;		/* that were taken while it was in flight, by time
				 * or a counter's overflow: estimated where other
				 * paths begin alike. 0: none, or not known */
};

/*
 * A basic block of a path: code that is run in a line, up to a jump, taken or not,
 * a call or a return. Where code cannot be decoded (it is in no file, its file
 * cannot be read), it is all the code up to the next taken jump.
 */
struct hwprof_block {
	const char *object;
	uint64_t first, last;	/* addresses of instructions in the object */
	const char *function;	/* symbol of the first; NULL: none */
	uint64_t offset;
	const char *file, *last_file;	/* source of both; NULL: not known */
	unsigned int line, last_line;
	const char *undecoded;	/* why no more is known: "code in no file"; NULL:
				 * it is */
	uint32_t instructions;	/* 0: not known */
	const char *branch;	/* the last one's mnemonic, "jne"; NULL: it is no
				 * jump, call or return, or not known */
	bool conditional;	/* the branch may be taken or not, */
	bool taken;		/* and was; all others are */
	const char *callee;	/* symbol that a call leads to, or a jump to
				 * another procedure; NULL: not known, or none */
};

/* All paths, or procedures, of one heat. */
struct hwprof_heat_sum {
	uint64_t number;
	uint64_t branches;
	double branch_share;
	double share;		/* of the metric */
	uint64_t paths;		/* different ones, of procedures */
};

struct hwprof_paths_summary {
	const char *metric;	/* "time", if it chose all windows (shares are of all
				 * of these), "cycles", if known, or "branches" */
	struct hwprof_heat_sum paths[HWPROF_HEATS];
	struct hwprof_heat_sum procedures[HWPROF_HEATS];
	uint64_t count;		/* of paths that were run */
	uint64_t branches;
	uint64_t unseen;	/* runs besides these, of which the beginning was
				 * not seen or has been forgotten */
	uint64_t half, most;	/* hottest paths that have 50 %, and 90 %, of the
				 * metric; 0: all that are known have less */
	double windows;		/* that were taken on these paths, of all in the
				 * totals; others on paths that were not seen whole.
				 * 0: the metric is not time */
};

/* The largest shares first. */
size_t hwprof_paths_count(const struct hwprof_profile *profile);
const struct hwprof_path *
hwprof_paths_get(const struct hwprof_profile *profile, size_t index);
/* Block @number, from 0 on, of that path. */
void hwprof_paths_block(const struct hwprof_profile *profile, size_t index,
			uint32_t number, struct hwprof_block *block);

/* A calling context that ran a path. */
struct hwprof_path_context {
	const struct hwprof_context *context;	/* as hwprof_contexts_get() has
				 * it, with HWPROF_MERGE_SITES */
	uint64_t count;		/* how often */
	uint64_t cycles;	/* on it; 0: not known */
};

/*
 * How many ran that path, as far as is known: of an event with paths and cct. What
 * its own count has besides is of contexts that are not known.
 */
size_t hwprof_paths_contexts(const struct hwprof_profile *profile, size_t index);
/* Context @number of them, the ones that ran it most first. */
void hwprof_paths_context(const struct hwprof_profile *profile, size_t index,
			  size_t number, struct hwprof_path_context *context);
size_t hwprof_paths_procedures(const struct hwprof_profile *profile);
const struct hwprof_procedure *
hwprof_paths_procedure(const struct hwprof_profile *profile, size_t index);
const struct hwprof_paths_summary *
hwprof_paths_summary(const struct hwprof_profile *profile);
/* "dense"; "hot" where that is all that is known. */
const char *hwprof_heat_name(enum hwprof_heat heat);

/* ---- values ------------------------------------------------------------ */

enum hwprof_value_class {
	HWPROF_VALUE_VARYING,	/* none of the others */
	HWPROF_VALUE_CONSTANT,	/* nearly always the same value, */
	HWPROF_VALUE_ZERO,	/* which is 0 */
	HWPROF_VALUE_STRIDE,	/* the last one and a stride, most of the time */
	HWPROF_VALUE_GLACIAL,	/* the last one, nearly always: it changes rarely */
};

/* "constant", "zero", "stride", "glacial" or "varying". */
const char *hwprof_value_class_name(enum hwprof_value_class kind);

/* A value that a load gave. */
struct hwprof_load_value {
	uint64_t value;		/* the first eight bytes, as a number */
	uint64_t hits;		/* executions that gave it, at least */
	double invariance;	/* their part of those that were seen, 0 to 1 */
	double low, high;	/* what it may be: for sure if the basis is exact,
				 * else with 95 % */
};

struct hwprof_load {
	const char *object;	/* path, or a name in brackets such as [vdso] */
	const char *build_id;	/* hexadecimal; NULL: not known */
	const char *function;	/* symbol; NULL: none */
	uint64_t function_offset;	/* bytes */
	uint64_t address;	/* of the instruction, in the object as objdump
				 * shows it; in the process where the code is in no
				 * file */
	const char *file;	/* source; NULL: no debug information */
	unsigned int line;	/* 0: not known */
	uint64_t executions;	/* that were counted */
	uint64_t seen;		/* of them, those whose value was looked at */
	double share;		/* of executions in all loads', 0 to 1 */
	unsigned int width;	/* bytes; 0: not known */
	enum hwprof_value_class kind;
	uint64_t runs;		/* of executions in a row with one value */
	uint64_t breaks;	/* of runs: what was before was not seen */
	int64_t stride;		/* between values of runs, most of the time */
	uint64_t strides;	/* of runs: so far from the one before; 0: there
				 * is none */
	const struct hwprof_load_value *values;	/* the most frequent first */
	size_t value_count;	/* up to 16 */
	enum hwprof_basis basis;	/* 0: samples */
	uint32_t pid;		/* HWPROF_PER_PROCESS, or code in no file;
				 * else 0 */
	const char *comm;	/* name of the process, the same; or NULL */
};

/* The largest shares first. */
size_t hwprof_values_count(const struct hwprof_profile *profile);
const struct hwprof_load *
hwprof_values_get(const struct hwprof_profile *profile, size_t index);
/*
 * What part of all executions of loads, seen or not, is of loads that are here,
 * 0 to 1: an estimate where windows were seen. NaN: not known.
 */
double hwprof_values_completeness(const struct hwprof_profile *profile);

/* ---- differences ------------------------------------------------------- */

#define HWPROF_NOTHING	SIZE_MAX

/* Why two things are taken for the same, from the surest reason on. */
enum hwprof_match {
	HWPROF_MATCH_NONE,	/* there is one thing only */
	HWPROF_MATCH_ADDRESS,	/* one address in one build */
	HWPROF_MATCH_CODE,	/* of loops: one function, and the same instructions
				 * and callees, operands apart */
	HWPROF_MATCH_CALLS,	/* the one loop of the function, so deep in others,
				 * that calls the same functions; the one call of a
				 * function by another */
	HWPROF_MATCH_LINE,	/* one function and line; of trees, what does not
				 * move with the code */
	HWPROF_MATCH_OFFSET,	/* one function and offset; or one function, of what
				 * is known by that alone */
	HWPROF_MATCH_NESTING,	/* a guess: the one loop of the function, so deep in
				 * others, that is left */
};

/* "code"; NULL: none. */
const char *hwprof_match_name(enum hwprof_match match);

/* A thing of two profiles, of which one may have nothing like it. */
struct hwprof_change {
	size_t before, after;	/* index in each for hwprof_loops_get() and so
				 * on, hwprof_calls_pair(), or by procedure
				 * hwprof_calls_method() and
				 * hwprof_paths_procedure(); HWPROF_NOTHING */
	double share_before;	/* 0 to 1; of nothing 0 */
	double share_after;
	double share;		/* after's less before's, -1 to 1 */
	double share_low;	/* 95 % interval of it; NaN: not known */
	double share_high;
	enum hwprof_match match;
};

struct hwprof_diff;

/*
 * What has changed from @before to @after, which must outlive it and not be
 * sorted meanwhile; the largest changes of share first. enum hwprof_match says
 * which things are the same, and change->match for which reason. The code of loops
 * is compared if the objects of both builds can be read. Calls are known by site and
 * callee; contexts by their callers, function and site, or without the site; and paths
 * by all their blocks. Methods and procedures are known by function alone. -EINVAL:
 * the profiles are of two kinds; -ENOMEM.
 */
int hwprof_profile_diff(struct hwprof_diff **diff,
			const struct hwprof_profile *before,
			const struct hwprof_profile *after);
void hwprof_diff_free(struct hwprof_diff *diff);
size_t hwprof_diff_count(const struct hwprof_diff *diff);
/* @index: less than the count. */
const struct hwprof_change *hwprof_diff_get(const struct hwprof_diff *diff,
					    size_t index);
/*
 * The changes by procedure, which belong to @diff: of calls, of methods; of paths,
 * of their procedures. NULL: its things are not summed up so.
 */
const struct hwprof_diff *
hwprof_diff_procedures(const struct hwprof_diff *diff);
/*
 * At most @limit changes (0: all) as JSON, and so many of those by procedure. -EIO:
 * @out had an error.
 */
int hwprof_diff_json(const struct hwprof_diff *diff, size_t limit, FILE *out);

/* ---- an event ---------------------------------------------------------- */

struct hwprof_event {
	uint64_t config[3];	/* perf_event_attr's config, config1, config2 */
	bool user;		/* what runs in user mode is profiled */
	bool kernel;		/* what runs in the kernel is */
	bool whole;		/* given as hwprof/.../: nothing was left open */
};

/*
 * Understands "loops,rows,memory_mib=4/u" and "hwprof/loops,rows/u". One of what
 * is profiled must be named, or several of loops, calls, paths and cct (beside the
 * others, this needs every branch: no window or samples), and at most one source;
 * numbers are decimal or 0x hexadecimal; a field of one bit needs none. Behind the
 * last slash: u, k or both; user mode alone if nothing is said. -EINVAL: and
 * @message, of @size bytes, has a sentence that names the field and what is
 * allowed.
 */
int hwprof_event_parse(struct hwprof_event *event, const char *text,
		       char *message, size_t size);

/* Whether the field @name is not zero, or its value. 0 for unknown names. */
uint64_t hwprof_event_field(const struct hwprof_event *event, const char *name);

/* Sets the field, if it exists and @value fits; else -EINVAL. */
int hwprof_event_set(struct hwprof_event *event, const char *name,
		     uint64_t value);

/*
 * Sets the fields that make up the trigger to the raw event @raw, as the CPU's
 * PMU has it. -EINVAL: it has bits that no trigger has.
 */
int hwprof_event_set_trigger(struct hwprof_event *event, uint64_t raw);

/*
 * Spells @event as perf and hwprof_event_parse() read it, "hwprof/loops/u",
 * into @text of @size bytes. As snprintf().
 */
int hwprof_event_print(const struct hwprof_event *event, char *text,
		       size_t size);

/* ---- a session: profiling while it runs -------------------------------- */

/*
 * Tables in the kernel (/dev/hwprof, docs/device.md), events that feed them, and
 * profiles of what they have learnt, whenever one likes:
 *
 *	hwprof_session_open(&session, "loops", NULL);
 *	hwprof_session_attach(session, &(struct hwprof_target){ .id = pid });
 *	hwprof_session_start(session);
 *	...
 *	hwprof_session_snapshot(session, &profile);
 *
 * All functions return 0 or a negative errno, and hwprof_session_error() has the
 * sentence. Who may look at what, perf decides when the events are opened.
 */
struct hwprof_session;

/* All 0, or NULL in its place: the defaults. */
struct hwprof_session_options {
	uint64_t period;	/* of windows and samples: one for so many of
				 * what is counted, or */
	uint64_t frequency;	/* so many a second; both 0: as often as costs 1 %
				 * (bursts), or as the module likes */
	struct hwprof_options profile;	/* how profiles are made */
};

/*
 * Makes a session of @event, as hwprof_event_parse() understands it. If it names
 * no source, it gets one that costs 1 % of its targets' time: lbr; burst=200
 * where there are no branch records, and for what only stepping sees; sample for
 * contexts and ranges of code. Only `step` in the event makes it step its targets
 * all the time. memory_mib is 16 if not said, or less if that is not allowed. *@session is made in any case, so that hwprof_session_error() can
 * be asked; it is NULL only for -ENOMEM. Free it with hwprof_session_close().
 *
 * -EINVAL: the event is none, or an option is out of its range; -ENOENT: the
 * module is not loaded; -EOPNOTSUPP: this machine lacks what the event needs, or
 * the event has no profile, or several, or metrics; -EMFILE, -ENFILE, -ENOMEM: a limit of the
 * module; else what open() fails with.
 *
 * Samples' stacks of calls (cct,sample) need no frame pointers: the module is told
 * what processes have mapped, and how to unwind it (docs/device.md), when they are
 * attached, and whenever rows or a snapshot are read.
 */
int hwprof_session_open(struct hwprof_session **session, const char *event,
			const struct hwprof_session_options *options);

/* Ends it and frees all; NULL is allowed. Profiles that it made stay. */
void hwprof_session_close(struct hwprof_session *session);

/* What the last call that failed has to say; of NULL, that memory was out. */
const char *hwprof_session_error(const struct hwprof_session *session);

/* What its profiles are of. */
enum hwprof_kind hwprof_session_kind(const struct hwprof_session *session);
/* The event as it was completed. */
const struct hwprof_event *
hwprof_session_event(const struct hwprof_session *session);

enum hwprof_target_kind {
	HWPROF_TARGET_PROCESS,	/* its threads, and those that it will have */
	HWPROF_TARGET_THREAD,
	HWPROF_TARGET_SYSTEM,	/* all that runs */
	HWPROF_TARGET_CGROUP,
};

struct hwprof_target {
	enum hwprof_target_kind kind;
	int id;			/* process or thread; of a cgroup, a descriptor
				 * of its folder; 0: oneself */
	const char *cpus;	/* on these, "0-3,8"; NULL: all that are online */
	bool alone;		/* without the children that it will have, nor
				 * threads that it does not have yet */
	bool on_exec;		/* from its next exec on, not from the start */
};

/*
 * Adds what is to be profiled, as often as one likes, also while the session
 * runs. -EACCES, -EPERM: perf does not allow it or, for stepping, the kernel does
 * not allow to attach to it as a debugger; -ESRCH: there is no such process;
 * -EINVAL: of the CPUs; else what perf_event_open() fails with.
 */
int hwprof_session_attach(struct hwprof_session *session,
			  const struct hwprof_target *target);

/* From now on, or after a stop, again. */
int hwprof_session_start(struct hwprof_session *session);
int hwprof_session_stop(struct hwprof_session *session);
/* Forgets all that was counted. -EAGAIN: some of it may come yet. */
int hwprof_session_reset(struct hwprof_session *session);

/*
 * Makes a profile of all that was counted since the start or the last reset, while
 * it goes on or after it. Nobody waits; but all that runs, and cgroups, are not
 * profiled meanwhile, not to profile this. Memory of the session grows with the
 * number of things that were seen, and of programs that were started; to ask now
 * and then keeps the module's from running full.
 */
int hwprof_session_snapshot(struct hwprof_session *session,
			    struct hwprof_profile **profile);

/*
 * A descriptor that is readable (poll(), epoll) once there are rows, which is at
 * each interval's end (the event's field interval_ms) and when a process exits or
 * execs; hwprof_session_rows() takes them. It is the session's. The first call
 * makes the rings that they come by.
 */
int hwprof_session_fd(struct hwprof_session *session);

/*
 * Calls @fn for each row that has come, with the increase since its last one. They
 * are in later snapshots, too, also if @fn is NULL. What @fn returns other than 0
 * ends it and is returned; the rows behind come next time. @fn must not call
 * functions of the session.
 */
int hwprof_session_rows(struct hwprof_session *session, hwprof_sample_fn fn,
			void *context);

#ifdef __cplusplus
}
#endif

#endif /* HWPROF_H */
