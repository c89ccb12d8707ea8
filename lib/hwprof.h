/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libhwprof: reads recordings, runs sessions, and makes profiles of both.
 *
 * The library prints nothing, never exits and keeps no global state. A function
 * that can fail returns 0 or a negative errno; the ..._error() function of its
 * handle returns a sentence about the failure. Only one thread at a time may
 * use a handle. A string or pointer that a function returns belongs to the
 * handle, and is valid as long as the handle is, unless its description says
 * otherwise.
 *
 * Conventions of all structs below:
 * - An address is one in the object's file, as objdump shows it. Code or memory
 *   without a file has the address that it had in the process.
 * - An object is the path of a file, or a name in brackets such as [vdso].
 * - A build id is a string of hexadecimal digits.
 * - A share is a number from 0 to 1.
 * - A basis of 0 means that the counts come from samples; see
 *   enum hwprof_basis.
 * - A pid is 0 and a comm NULL unless processes are kept apart
 *   (HWPROF_PER_PROCESS) or the code or memory is in no file.
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

/*
 * struct hwprof_file - A recording: a perf.data file of perf or hwprof
 */
struct hwprof_file;

/**
 * hwprof_file_open() - Open a recording and read its header
 * @file: receives the handle, also on failure, for hwprof_file_error(). It is
 *	NULL only after -ENOMEM. Free it with hwprof_file_close().
 * @path: path of the recording; "-" is standard input.
 *
 * Return: 0; -EBADMSG if this is no perf.data file or a damaged one; -ENOTSUP
 * if it has the other byte order or an old format; -ENOMEM; or what open() or
 * read() failed with.
 */
int hwprof_file_open(struct hwprof_file **file, const char *path);

/**
 * hwprof_file_open_fd() - Open a recording from a descriptor
 * @file: as for hwprof_file_open().
 * @fd: the descriptor to read; the handle closes it.
 * @name: what error messages call the recording.
 *
 * Return: as hwprof_file_open().
 */
int hwprof_file_open_fd(struct hwprof_file **file, int fd, const char *name);

/**
 * hwprof_file_close() - Free a recording
 * @file: the handle, or NULL.
 */
void hwprof_file_close(struct hwprof_file *file);

/**
 * hwprof_file_error() - Describe the last failure
 * @file: the handle, or NULL.
 *
 * Return: a sentence about the last call that failed; for NULL, that memory is
 * out.
 */
const char *hwprof_file_error(const struct hwprof_file *file);

/**
 * hwprof_file_warning() - Describe damage that left the rest of the file
 *	readable
 * @file: the handle.
 * @index: number of the warning, from 0.
 *
 * Examples of such damage are a recorder that was killed, a truncated copy, or
 * a broken section. A profile repeats the warnings of its files.
 *
 * Return: a sentence with the offset of the damage; NULL after the last one.
 */
const char *hwprof_file_warning(const struct hwprof_file *file, size_t index);

/**
 * struct hwprof_sample - A sample of a hwprof event
 * @time: ns on the recording's clock; UINT64_MAX if the file has no times.
 * @ip: address of what was counted, such as a loop's head; 0 if not recorded.
 * @addr: its other end; 0 if not recorded.
 * @period: increase of the event's unit.
 * @pid: process.
 * @tid: thread.
 * @cpu: CPU; UINT32_MAX if not recorded.
 * @rows: true if the event delivers rows. Otherwise it delivers samples: their
 *	@row only names what was found, and adds nothing to counts.
 * @config: the event's config, config1 and config2; see HWPROF_FIELDS.
 * @offset: of the record in the file, in bytes, for messages.
 * @row: the raw data, or NULL. It is 8-byte aligned, has row->size bytes, and
 *	is valid during the callback only. For types that this library knows,
 *	the size was checked.
 */
struct hwprof_sample {
	uint64_t time;
	uint64_t ip;
	uint64_t addr;
	uint64_t period;
	uint32_t pid, tid;
	uint32_t cpu;
	bool rows;
	uint64_t config[3];
	uint64_t offset;
	const struct hwprof_row *row;
};

/**
 * typedef hwprof_sample_fn - Callback for one sample
 * @context: what the reader was given.
 * @sample: the sample, which is valid during the call.
 *
 * A result other than 0 ends the reading, whose function then returns it.
 */
typedef int (*hwprof_sample_fn)(void *context,
				const struct hwprof_sample *sample);

/**
 * hwprof_file_samples() - Read the samples of hwprof events
 * @file: the recording.
 * @fn: is called for each sample, in the order of the file, which is not the
 *	order of time.
 * @context: first argument of @fn.
 *
 * A handle can be read once. Memory does not grow with the number of samples.
 *
 * Return: 0 at the end of the data, or where damage hides the rest (see
 * hwprof_file_warning()); the result of @fn if it is not 0; what read() failed
 * with; or
 * - -EBADMSG if a record contradicts itself,
 * - -EALREADY if the handle was read before,
 * - -ENOENT if the file has no hwprof event.
 */
int hwprof_file_samples(struct hwprof_file *file, hwprof_sample_fn fn,
			void *context);

/* ---- profiles ---------------------------------------------------------- */

/**
 * enum hwprof_kind - What a profile counts
 *
 * hwprof_kind_name() returns the name that `hwprof report` uses.
 *
 * @HWPROF_KIND_LOOPS: loops.
 * @HWPROF_KIND_RANGES: hot ranges of addresses or values.
 * @HWPROF_KIND_CALLS: call pairs and methods.
 * @HWPROF_KIND_CCT: calling contexts.
 * @HWPROF_KIND_PATHS: paths.
 * @HWPROF_KIND_VALUES: values of loads.
 * @HWPROF_KIND_EDGES: branches and their targets.
 * @HWPROF_KINDS: number of kinds.
 */
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

/**
 * hwprof_kind_name() - Name a kind
 * @kind: the kind.
 *
 * Return: the name, such as "cct"; NULL if there is no such kind.
 */
const char *hwprof_kind_name(enum hwprof_kind kind);

/**
 * hwprof_kind_units() - Name the unit of a kind's totals
 * @kind: the kind.
 *
 * Return: the unit in the plural, such as "back edges"; NULL if there is no
 * such kind.
 */
const char *hwprof_kind_units(enum hwprof_kind kind);

/**
 * hwprof_kind_of() - Find a kind by its name
 * @name: such as "cct".
 *
 * Return: a value of enum hwprof_kind; -EINVAL if there is no such name.
 */
int hwprof_kind_of(const char *name);

/**
 * hwprof_file_kinds() - Find the kinds of profiles in a recording
 * @file: the recording.
 * @kinds: receives a bit 1 << enum hwprof_kind for each kind that the file's
 *	hwprof events name.
 *
 * The function reads only the header. It may be called before the functions
 * that read samples.
 *
 * Return: 0; -ENOENT if the file has no hwprof event, or only events without a
 * profile (those of branches); -ESPIPE if @file was recorded to a pipe, where
 * the events are among the data.
 */
int hwprof_file_kinds(struct hwprof_file *file, unsigned int *kinds);

/**
 * struct hwprof_totals - Totals of a run, summed over its sessions
 *
 * The unit is hwprof_kind_units(), unless a field names another.
 * @events: everything that the source saw: branches, loads and so on.
 * @lost: units seen while no table or cursor was free.
 * @evicted: units given up because memory was full.
 * @gaps: places where code ran unseen.
 * @sessions: number of sessions.
 * @produced: @delivered + @lost + @evicted + @pending.
 * @delivered: units that the rows in the file carry.
 * @pending: units in no row when the recording ended.
 * @windows: windows taken; 0 if the source takes none.
 * @lost_records: records that did not fit into the kernel's buffer.
 * @rows: rows of the profile's kind.
 * @samples: samples that are not rows.
 * @sources: bits 1 << enum hwprof_source, one for each source of the sessions.
 * @cost_ns: ns spent on windows and samples; 0 if unknown.
 * @task_ns: ns that the profiled tasks ran, @cost_ns included.
 * @budget_permille: largest budget that was requested; 0 if none was.
 * @unmeasured: samples without metrics, because a counter was missing or not
 *	counting.
 * @lost_events: events that nothing was learnt from, because no table was free,
 *	branch records were incomplete, or a filter knew too many processes.
 * @kinds: bits 1 << enum hwprof_kind for a session of several kinds (the event
 *	"loops,calls"); 0 if each session has one. In a session of several kinds
 *	@produced, @delivered, @lost, @evicted and @pending are sums over all of
 *	them.
 */
struct hwprof_totals {
	uint64_t events;
	uint64_t lost;
	uint64_t evicted;
	uint64_t gaps;
	uint64_t sessions;
	uint64_t produced;
	uint64_t delivered;
	uint64_t pending;
	uint64_t windows;
	uint64_t lost_records;
	uint64_t rows;
	uint64_t samples;
	uint32_t sources;
	uint64_t cost_ns;
	uint64_t task_ns;
	uint32_t budget_permille;
	uint64_t unmeasured;
	uint64_t lost_events;
	uint32_t kinds;
};

/**
 * hwprof_overhead() - Compute what windows and samples cost
 * @totals: the totals.
 *
 * Return: cost_ns as a share of the rest of task_ns; below 0 if unknown, for
 * example where everything was seen.
 */
double hwprof_overhead(const struct hwprof_totals *totals);

/**
 * hwprof_source_name() - Name a source
 * @source: the source.
 *
 * Return: its field in an event, such as "step"; NULL if there is no such
 * source.
 */
const char *hwprof_source_name(enum hwprof_source source);

/**
 * enum hwprof_flags - Flags of struct hwprof_options
 *
 * @HWPROF_PER_PROCESS: keep processes apart that ran the same object.
 * @HWPROF_NO_OBJECTS: open no file but the recording. There are no symbols
 *	then, and addresses are offsets in files.
 * @HWPROF_MERGE_SITES: contexts: merge all calls of one procedure by another,
 *	whatever their call site.
 * @HWPROF_BY_INSTRUCTIONS: paths: the metric is instructions, as decoded from
 *	the code, where no counter is known. Loops: shares are of instructions,
 *	where the events have paths, too.
 * @HWPROF_SAME_PROCESSES: ranges: the files are of one system since it started,
 *	so that a number is the same process in all of them. Otherwise memory
 *	without a file is another one in each file.
 * @HWPROF_TRUSTED_FILES: @debuginfo has copies of the recorded files, which
 *	count more than the files at their paths. If there is no copy, only a
 *	file of root's is opened: anybody else could have written the build id
 *	into theirs.
 */
enum hwprof_flags {
	HWPROF_PER_PROCESS = 1 << 0,
	HWPROF_NO_OBJECTS = 1 << 1,
	HWPROF_MERGE_SITES = 1 << 8,
	HWPROF_BY_INSTRUCTIONS = 1 << 9,
	HWPROF_SAME_PROCESSES = 1 << 10,
	HWPROF_TRUSTED_FILES = 1 << 11,
};

/**
 * HWPROF_RANGES_OF_FLAG - Flag that selects a stream of ranges
 * @of: enum hwprof_range_of.
 *
 * It is needed if the files have ranges of several streams.
 */
#define HWPROF_RANGES_OF_FLAG(of)	(((of) + 1U) << 16)

/**
 * struct hwprof_options - How to make a profile
 *
 * All fields 0, or NULL instead of the struct, means the defaults.
 * @flags: enum hwprof_flags and HWPROF_RANGES_OF_FLAG().
 * @hot: ranges: least share of a hot range, without the hot ranges inside it.
 *	Paths: least share of the metric of a hot path or procedure. Above 0, up
 *	to 1. 0 means 0.1 for ranges, and 0.01 for paths.
 * @symfs: folder with the recorded machine's files, either at their paths or
 *	all in the folder itself. NULL means /.
 * @debuginfo: folder with debug files by build id (.build-id/xx/...). NULL
 *	means the system's.
 * @function: name or shell pattern of functions. The profile then has only
 *	their loops, paths, loads and branches, and calls from and to them. For
 *	contexts it has their callers; see hwprof_contexts_turned(). NULL means
 *	everything.
 */
struct hwprof_options {
	unsigned int flags;
	double hot;
	const char *symfs;
	const char *debuginfo;
	const char *function;
};

/*
 * struct hwprof_profile - Counts, attributed to objects, functions and source
 *	lines
 *
 * The functions of its kind return what it contains. The counting functions of
 * another kind return 0 for it, and the other functions of that kind must not
 * be called.
 */
struct hwprof_profile;

/**
 * hwprof_profile_read() - Make a profile of recordings of hwprof events
 * @profile: receives the profile; NULL on failure. Free it with
 *	hwprof_profile_free().
 * @kind: what to count.
 * @files: the recordings, which may be closed afterwards.
 * @count: number of files, at least 1.
 * @options: how to make the profile, or NULL.
 *
 * The function sums all rows of @kind, including those of events that also have
 * other kinds. It attributes them to object, function and source line, and
 * merges files, and processes that ran the same object.
 *
 * Return: 0; the errors of hwprof_file_samples(); -ENOMEM; -ENOENT if the files
 * have events, but none of @kind; or -EINVAL. The last one means that an option
 * is out of range, or that the files have ranges of several streams and no flag
 * selects one. hwprof_file_error() of the file that failed returns the reason.
 * It returns an empty string for the other files.
 */
int hwprof_profile_read(struct hwprof_profile **profile, enum hwprof_kind kind,
			struct hwprof_file *const *files, size_t count,
			const struct hwprof_options *options);

/**
 * struct hwprof_replay_options - How to replay stacks
 * @span: longest back edge in bytes; 0 means 1 MiB.
 * @memory_mib: the engine's memory, 1 to 4095 MiB; 0 means 64.
 * @progress: if not NULL, is called at times: @done bytes of @size were read.
 *	@size is 0 for a pipe.
 * @context: first argument of @progress.
 * @event: name of the event whose samples to replay. NULL means all events; for
 *	call stacks, the file's first event that has them.
 * @output: path of a file to write the result to, or NULL. It is a recording of
 *	hwprof, from which hwprof_profile_read() makes the same profile. One
 *	file can be replayed to it at a time.
 */
struct hwprof_replay_options {
	uint64_t span;
	uint64_t memory_mib;
	void (*progress)(void *context, uint64_t done, uint64_t size);
	void *context;
	const char *event;
	const char *output;
};

/**
 * hwprof_profile_replay() - Make a profile of the stacks in a recording
 * @profile: as for hwprof_profile_read().
 * @kind: what to count.
 * @file: the recording.
 * @options: how to make the profile, or NULL.
 * @replay: how to replay, or NULL for the defaults.
 *
 * The stacks pass through the engine that also runs in the kernel. Memory grows
 * with the number of processes, maps and counted things, not of samples.
 *
 * Loops, calls, paths, edges and ranges come from branch stacks (perf record
 * -b). Each stack is a window, and counts are what was seen in windows; a path
 * counts if it was seen whole. The basis is HWPROF_BASIS_BRANCHES if all events
 * with stacks count taken branches, otherwise HWPROF_BASIS_TIME. Ranges are
 * those of branch targets or, with HWPROF_RANGES_OF_FLAG(), of callees. The
 * totals have one session, whose events are branches and gaps. The kind of a
 * branch comes from the recording, or else from the object's code. Without both
 * (see HWPROF_NO_OBJECTS) it is inferred from the stacks as far as possible; a
 * warning then says how many branches remained unknown.
 *
 * Contexts come from call stacks (perf record -g) of frame pointers, of LBR
 * (--call-graph lbr), or of stack memory (--call-graph dwarf), which is unwound
 * by the code's tables on x86-64. Symbols say where procedures begin, or else
 * tables for unwinding. Code without both is one procedure per map, and so is
 * the kernel. The unit is the samples' period. A call site is the last byte of
 * the call, or its first byte with LBR. The option @span is unused.
 *
 * Samples of virtual machines belong to the objects "[guest]" and "[guest
 * kernel]", in a process "guest".
 *
 * Return: as hwprof_profile_read(), or
 * - -ENOENT if the file has no such stacks, or none of all branches,
 * - -EINVAL if an option is out of range, or the file has no such event,
 * - -EOPNOTSUPP if stacks do not say enough for @kind (values) or for the
 *   selected ranges.
 */
int hwprof_profile_replay(struct hwprof_profile **profile,
			  enum hwprof_kind kind, struct hwprof_file *file,
			  const struct hwprof_options *options,
			  const struct hwprof_replay_options *replay);

/**
 * hwprof_profile_replay_all() - Make one profile of the stacks in several
 *	recordings
 * @profile: as for hwprof_profile_read().
 * @kind: what to count.
 * @files: the recordings, which are merged as in hwprof_profile_read().
 * @count: number of files, at least 1.
 * @options: how to make the profile, or NULL.
 * @replay: how to replay, or NULL.
 *
 * Return: as hwprof_profile_replay().
 */
int hwprof_profile_replay_all(struct hwprof_profile **profile,
			      enum hwprof_kind kind,
			      struct hwprof_file *const *files, size_t count,
			      const struct hwprof_options *options,
			      const struct hwprof_replay_options *replay);

/**
 * hwprof_profile_free() - Free a profile
 * @profile: the profile, or NULL.
 */
void hwprof_profile_free(struct hwprof_profile *profile);

/**
 * hwprof_profile_kind() - Tell what a profile counts
 * @profile: the profile.
 *
 * Return: its kind.
 */
enum hwprof_kind hwprof_profile_kind(const struct hwprof_profile *profile);

/**
 * hwprof_profile_event() - Name the event that was replayed
 * @profile: the profile.
 *
 * Return: the event's name; NULL if none or several were replayed.
 */
const char *hwprof_profile_event(const struct hwprof_profile *profile);

/**
 * hwprof_profile_totals() - Get the totals
 * @profile: the profile.
 *
 * Return: the totals of the profile's files or session.
 */
const struct hwprof_totals *
hwprof_profile_totals(const struct hwprof_profile *profile);

/**
 * struct hwprof_distances - How sessions changed the distances at which they
 *	looked
 * @sessions: how many sessions did.
 * @lengthened: how often distances became longer, in all sessions.
 * @shortened: how often they became shorter.
 * @unit: what @asked and @longest are: "period", of the trigger; "frequency",
 *	in Hz; or "budget", a share of the program's time.
 * @asked: distance at the beginning, of the first session.
 * @longest: the longest distance, of the same unit.
 * @factor: @longest as a multiple of the distance at the beginning.
 * @weighed: counts are multiplied by what their windows stand for, and are
 *	estimates of what looking at the shortest distance would have found.
 *	Otherwise all windows weigh alike.
 */
struct hwprof_distances {
	uint64_t sessions;
	uint64_t lengthened;
	uint64_t shortened;
	const char *unit;
	double asked;
	double longest;
	double factor;
	bool weighed;
};

/**
 * hwprof_profile_distances() - Tell how distances changed
 * @profile: the profile.
 *
 * Only hwprof_session_converge() and `hwprof record --converge` keep them.
 *
 * Return: how they changed; NULL if they did not, or if it is not known.
 */
const struct hwprof_distances *
hwprof_profile_distances(const struct hwprof_profile *profile);

/**
 * hwprof_profile_warning() - Get what a reader of the counts should know
 * @profile: the profile.
 * @index: number of the warning, from 0.
 *
 * Warnings tell for example that an object has changed since the recording,
 * that the file has samples instead of rows, or that something was lost.
 *
 * Return: a sentence; NULL after the last one.
 */
const char *hwprof_profile_warning(const struct hwprof_profile *profile,
				   size_t index);

/**
 * hwprof_profile_mask() - Get a mask that left events out
 * @profile: the profile.
 * @index: number of the mask, from 0.
 *
 * 'hwprof record --mask' keeps it in the recording. Masks of a session are
 * those that hwprof_session_mask() has set since the last reset.
 *
 * Return: the mask as hwprof_mask_print() writes it; NULL after the last one.
 */
const char *hwprof_profile_mask(const struct hwprof_profile *profile,
				size_t index);

/**
 * hwprof_profile_error() - Describe the last failure
 * @profile: the profile.
 *
 * Return: a sentence about the last call that failed.
 */
const char *hwprof_profile_error(const struct hwprof_profile *profile);

/**
 * struct hwprof_json_options - Which parts of a profile to write
 *
 * All fields 0, or NULL instead of the struct, means everything.
 * @limit: most things to write, and most methods; 0 means all. Ranges and
 *	contexts are trees, and have no limit.
 * @min_share: contexts: least share, as for hwprof_context_is_shown().
 */
struct hwprof_json_options {
	size_t limit;
	double min_share;
};

/**
 * hwprof_profile_json() - Write a profile as JSON
 * @profile: the profile.
 * @options: which parts to write, or NULL.
 * @out: where to write.
 *
 * The text has what was counted, the totals and the warnings. An unknown value
 * is null.
 *
 * Return: 0; -EIO if @out had an error; -ENOMEM.
 */
int hwprof_profile_json(const struct hwprof_profile *profile,
			const struct hwprof_json_options *options, FILE *out);

/* ---- loops ------------------------------------------------------------- */

/**
 * struct hwprof_loop - A loop
 * @object: the object with its code.
 * @build_id: build id of the object; NULL if unknown.
 * @function: symbol; NULL if none.
 * @function_offset: offset of the head in the function, in bytes.
 * @head: address of the first instruction.
 * @tail: address of the farthest branch back.
 * @file: source file; NULL without debug information.
 * @line: source line; 0 if unknown.
 * @counted: true if @entries and @iterations are totals of the run.
 * @entries: times that control came into the loop from outside.
 * @iterations: back edges and entries.
 * @entries_seen: entries that were seen.
 * @back_edges_seen: back edges that were seen; for samples the sum of their
 *	periods.
 * @trip: @iterations / @entries; NaN if unknown.
 * @trip_low: low end of the 95 % interval of @trip; NaN if unknown.
 * @trip_high: high end.
 * @trip_recent: average trip count of executions that took the back edge, each
 *	weighing 7/8 of the next; NaN if unknown.
 * @trip_min: least trip count of executions seen whole; 0 if there are none.
 * @trip_max: greatest trip count of these.
 * @histogram: element i counts whole executions with a trip count in [2^i,
 *	2^(i+1)); the last element has all higher ones.
 * @share: the loop's part of what @share_of names.
 * @share_low: low end of the 95 % interval of @share; NaN if unknown.
 * @share_high: high end.
 * @share_of: "iterations" (all that were seen), "back_edges" (of samples),
 *	"time" (basis time: spent in the loop, but not in loops inside it nor in
 *	its callees), or with HWPROF_BY_INSTRUCTIONS "instructions".
 * @basis: how the counts arose.
 * @tolerance: executions that the trip statistics may have split.
 * @parent: smallest loop around this one; NULL if none.
 * @depth: number of loops around this one.
 * @pid: process, or 0.
 * @comm: name of the process, or NULL.
 * @instructions: with HWPROF_BY_INSTRUCTIONS and paths beside the loops:
 *	instructions executed in the loop, but not in loops inside it nor in its
 *	callees, on paths whose code can be decoded; otherwise 0.
 */
struct hwprof_loop {
	const char *object;
	const char *build_id;
	const char *function;
	uint64_t function_offset;
	uint64_t head;
	uint64_t tail;
	const char *file;
	unsigned int line;
	bool counted;
	uint64_t entries;
	uint64_t iterations;
	uint64_t entries_seen;
	uint64_t back_edges_seen;
	double trip;
	double trip_low;
	double trip_high;
	double trip_recent;
	uint64_t trip_min;
	uint64_t trip_max;
	uint64_t histogram[HWPROF_TRIP_BUCKETS];
	double share;
	double share_low;
	double share_high;
	const char *share_of;
	enum hwprof_basis basis;
	uint64_t tolerance;
	const struct hwprof_loop *parent;
	unsigned int depth;
	uint32_t pid;
	const char *comm;
	uint64_t instructions;
};

/**
 * hwprof_loops_count() - Count the loops
 * @profile: the profile.
 *
 * Return: number of loops.
 */
size_t hwprof_loops_count(const struct hwprof_profile *profile);

/**
 * hwprof_loops_get() - Get a loop
 * @profile: a profile of loops.
 * @index: less than the count; the largest shares come first.
 *
 * Return: the loop, which is valid until hwprof_loops_sort().
 */
const struct hwprof_loop *
hwprof_loops_get(const struct hwprof_profile *profile, size_t index);

/**
 * HWPROF_LOOPS_SORT_KEYS - Keys of hwprof_loops_sort()
 */
#define HWPROF_LOOPS_SORT_KEYS \
	"share, entries, iterations, trip, head, function, object"

/**
 * hwprof_loops_sort() - Sort the loops
 * @profile: a profile of loops.
 * @keys: keys of HWPROF_LOOPS_SORT_KEYS, separated by commas.
 *
 * Numbers sort from the largest, names and addresses from the smallest.
 *
 * Return: 0; -EINVAL if there is no such key, which hwprof_profile_error()
 * names.
 */
int hwprof_loops_sort(struct hwprof_profile *profile, const char *keys);

/* ---- ranges ------------------------------------------------------------ */

/**
 * struct hwprof_span - An interval of addresses, and the code in it
 * @object: the object; NULL for everything that was counted.
 * @build_id: build id of the object; NULL if unknown.
 * @low: lowest address.
 * @high: highest address, which is part of the interval.
 * @bits: log2 of the size in bytes.
 * @function: symbol at @low; NULL if none.
 * @function_offset: offset of @low in @function, in bytes.
 * @last_function: symbol at @high; NULL if none.
 * @last_offset: offset of @high in @last_function, in bytes.
 */
struct hwprof_span {
	const char *object;
	const char *build_id;
	uint64_t low, high;
	unsigned int bits;
	const char *function;
	uint64_t function_offset;
	const char *last_function;
	uint64_t last_offset;
};

/**
 * struct hwprof_range - A hot range, or the root, which contains all of them
 *
 * The number of its events lies between @least and @most. It is uncertain
 * because events of surrounding ranges, and evicted ones, may belong to it.
 * @object: the object; NULL for the root and for values.
 * @build_id: build id of the object; NULL if unknown.
 * @low: lowest address or value.
 * @high: highest address or value, which is part of the range.
 * @bits: log2 of the size.
 * @function: symbol at @low; NULL if none.
 * @function_offset: offset of @low in @function, in bytes.
 * @last_function: symbol at @high; NULL if none.
 * @last_offset: offset of @high in @last_function, in bytes.
 * @least: lower bound of its events, weighted.
 * @most: upper bound of its events, weighted.
 * @own: part of @least that is in no hot range inside.
 * @share: @own as a share of all events.
 * @basis: how the counts arose.
 * @parent: smallest hot range around it, or the root; NULL for the root.
 * @depth: number of ranges around it.
 * @pid: process, or 0.
 * @comm: name of the process, or NULL.
 * @code: ranges of pairs: the code that accesses this range; otherwise all 0
 *	and NULL.
 */
struct hwprof_range {
	const char *object;
	const char *build_id;
	uint64_t low, high;
	unsigned int bits;
	const char *function;
	uint64_t function_offset;
	const char *last_function;
	uint64_t last_offset;
	uint64_t least, most;
	uint64_t own;
	double share;
	enum hwprof_basis basis;
	const struct hwprof_range *parent;
	unsigned int depth;
	uint32_t pid;
	const char *comm;
	struct hwprof_span code;
};

/**
 * hwprof_range_of_pairs() - Test whether a stream consists of pairs of code and
 *	address
 * @of: the stream.
 *
 * Return: true for pairs.
 */
bool hwprof_range_of_pairs(enum hwprof_range_of of);

/**
 * hwprof_range_of_name() - Name a stream of ranges
 * @of: the stream.
 *
 * Return: its name, such as "load-address"; NULL if there is no such stream.
 */
const char *hwprof_range_of_name(enum hwprof_range_of of);

/**
 * hwprof_range_of() - Find a stream by its name
 * @name: such as "load-address".
 *
 * Return: a value of enum hwprof_range_of; -EINVAL if there is no such name.
 */
int hwprof_range_of(const char *name);

/**
 * hwprof_ranges_of() - Tell which stream the ranges are of
 * @profile: a profile of ranges.
 *
 * Return: the stream.
 */
enum hwprof_range_of hwprof_ranges_of(const struct hwprof_profile *profile);

/**
 * hwprof_ranges_count() - Count the ranges
 * @profile: the profile.
 *
 * A range is hot if it has, without the hot ranges inside it, a given share of
 * all events (Mysore et al., section 5.1; struct hwprof_options, @hot).
 *
 * Return: number of hot ranges and the root, at least 1 for a profile of
 * ranges.
 */
size_t hwprof_ranges_count(const struct hwprof_profile *profile);

/**
 * hwprof_ranges_get() - Get a range
 * @profile: a profile of ranges.
 * @index: less than the count. 0 is the root; a range comes before those inside
 *	it.
 *
 * Return: the range.
 */
const struct hwprof_range *
hwprof_ranges_get(const struct hwprof_profile *profile, size_t index);

/* ---- calls ------------------------------------------------------------- */

/**
 * struct hwprof_code - The place of an instruction
 * @object: the object with the code.
 * @build_id: build id of the object; NULL if unknown.
 * @function: symbol; NULL if none.
 * @function_offset: offset in the function, in bytes.
 * @address: address of the instruction.
 * @file: source file; NULL without debug information.
 * @line: source line; 0 if unknown.
 */
struct hwprof_code {
	const char *object;
	const char *build_id;
	const char *function;
	uint64_t function_offset;
	uint64_t address;
	const char *file;
	unsigned int line;
};

/**
 * struct hwprof_called - How often something was called
 * @least: lower bound of the calls. With windows these are the calls seen; with
 *	samples, the sum of their periods.
 * @most: upper bound; calls in between were evicted for lack of memory.
 * @share: @least as a share of all calls.
 * @share_low: low end of the 95 % interval of @share; NaN if unknown.
 * @share_high: high end.
 * @basis: how the counts arose.
 * @pid: process, or 0.
 * @comm: name of the process, or NULL.
 */
struct hwprof_called {
	uint64_t least;
	uint64_t most;
	double share;
	double share_low;
	double share_high;
	enum hwprof_basis basis;
	uint32_t pid;
	const char *comm;
};

/**
 * struct hwprof_pair - A call pair: a call site, and a procedure that it called
 * @called: how often.
 * @site: the call.
 * @callee: first instruction of the procedure.
 */
struct hwprof_pair {
	struct hwprof_called called;
	struct hwprof_code site;
	struct hwprof_code callee;
};

/**
 * struct hwprof_method - A method: a procedure, with the calls from all sites
 * @called: how often; its share has no interval.
 * @entry: first instruction of the procedure.
 * @sites: number of call sites.
 */
struct hwprof_method {
	struct hwprof_called called;
	struct hwprof_code entry;
	uint64_t sites;
};

/**
 * hwprof_calls_pair_count() - Count the call pairs
 * @profile: the profile.
 *
 * Return: number of pairs.
 */
size_t hwprof_calls_pair_count(const struct hwprof_profile *profile);

/**
 * hwprof_calls_pair() - Get a call pair
 * @profile: a profile of calls.
 * @index: less than the count; the largest shares come first.
 *
 * Return: the pair.
 */
const struct hwprof_pair *
hwprof_calls_pair(const struct hwprof_profile *profile, size_t index);

/**
 * hwprof_calls_method_count() - Count the methods
 * @profile: the profile.
 *
 * Return: number of methods.
 */
size_t hwprof_calls_method_count(const struct hwprof_profile *profile);

/**
 * hwprof_calls_method() - Get a method
 * @profile: a profile of calls.
 * @index: less than the count; the largest shares come first.
 *
 * Return: the method.
 */
const struct hwprof_method *
hwprof_calls_method(const struct hwprof_profile *profile, size_t index);

/* ---- edges ------------------------------------------------------------- */

/**
 * struct hwprof_branch_target - A target of a branch
 * @code: the target; its object is NULL if it is in no known memory.
 * @count: lower bound of the times that the branch led here.
 * @share: @count as a share of the branch's @led.
 * @mispredicted: how many of @count were mispredicted; also 0 if unknown.
 * @cycles: cycles of the straight lines that begin here; 0 if unknown.
 */
struct hwprof_branch_target {
	struct hwprof_code code;
	uint64_t count;
	double share;
	uint64_t mispredicted;
	uint64_t cycles;
};

/**
 * struct hwprof_branch_site - A branch instruction
 *
 * Counts are what was seen. With windows they are counts in these; with
 * samples, sums of periods.
 * @code: the branch.
 * @kind: kind of the branch; 0 if unknown.
 * @indirect: true if the instruction does not contain the target, as the
 *	object's code shows.
 * @taken: lower bound of the times that it was taken.
 * @led: how many of @taken have a known target.
 * @most: upper bound of @taken; those in between were evicted for lack of
 *	memory.
 * @passed: conditional jumps: straight lines that ran over it. Unknown for
 *	samples.
 * @share: @taken and @passed as a share of those of all branches.
 * @share_low: low end of the 95 % interval of @share; NaN if unknown.
 * @share_high: high end.
 * @bias: conditional jumps: the share of lines reaching it that it ended,
 *	because it was taken; otherwise NaN.
 * @bias_low: low end of an interval of @bias of at least 95 %; NaN if unknown.
 * @bias_high: high end.
 * @predicted: true if @mispredicted is known.
 * @mispredicted: how many of @led were mispredicted.
 * @cycles: cycles of the straight lines behind it; 0 if unknown.
 * @targets: its targets, the most frequent first; none if no target was seen.
 * @target_count: number of targets.
 * @basis: how the counts arose.
 * @pid: process, or 0.
 * @comm: name of the process, or NULL.
 */
struct hwprof_branch_site {
	struct hwprof_code code;
	enum hwprof_branch_kind kind;
	bool indirect;
	uint64_t taken;
	uint64_t led;
	uint64_t most;
	uint64_t passed;
	double share;
	double share_low;
	double share_high;
	double bias;
	double bias_low;
	double bias_high;
	bool predicted;
	uint64_t mispredicted;
	uint64_t cycles;
	const struct hwprof_branch_target *targets;
	size_t target_count;
	enum hwprof_basis basis;
	uint32_t pid;
	const char *comm;
};

/**
 * hwprof_edges_count() - Count the branches
 * @profile: the profile.
 *
 * Conditional jumps that were never taken are included if their code is
 * available.
 *
 * Return: number of branches.
 */
size_t hwprof_edges_count(const struct hwprof_profile *profile);

/**
 * hwprof_edges_get() - Get a branch
 * @profile: a profile of edges.
 * @index: less than the count; the branches that ran most come first.
 *
 * Return: the branch.
 */
const struct hwprof_branch_site *
hwprof_edges_get(const struct hwprof_profile *profile, size_t index);

/**
 * struct hwprof_edge - A branch, its target, and the straight line from there
 *	to the next branch
 * @from_object: object of @from; NULL if unknown.
 * @from_build_id: its build id; NULL if unknown.
 * @to_object: object of @to and @end; NULL if unknown.
 * @to_build_id: its build id; NULL if unknown.
 * @from: address of the branch; 0 if unknown.
 * @to: address of the target; 0 if unknown.
 * @end: address of the next taken branch; 0 if unknown.
 * @count: how often.
 * @mispredicted: how often the branch was mispredicted.
 * @cycles: cycles of the straight line; 0 if unknown.
 * @kind: kind of the branch at @from, as recorded; 0 if unknown.
 * @predicted: true if @mispredicted is known.
 * @basis: how the counts arose.
 */
struct hwprof_edge {
	const char *from_object, *from_build_id;
	const char *to_object, *to_build_id;
	uint64_t from;
	uint64_t to;
	uint64_t end;
	uint64_t count, mispredicted, cycles;
	enum hwprof_branch_kind kind;
	bool predicted;
	enum hwprof_basis basis;
};

/**
 * hwprof_edges_edge_count() - Count the edges that the branches consist of
 * @profile: the profile.
 *
 * Return: number of edges.
 */
size_t hwprof_edges_edge_count(const struct hwprof_profile *profile);

/**
 * hwprof_edges_edge() - Get an edge
 * @profile: a profile of edges.
 * @index: less than the count. Edges of all functions are sorted by address.
 * @edge: receives the edge.
 */
void hwprof_edges_edge(const struct hwprof_profile *profile, size_t index,
		       struct hwprof_edge *edge);

/* ---- ranges of any values ---------------------------------------------- */

/*
 * struct rap - Range-adaptive profiles of arbitrary 64-bit values
 *
 * This is the interface of the paper (Mysore et al., section 3.2). It needs no
 * recording, and uses the engine that also runs in the kernel.
 */
struct rap;

/**
 * rap_init() - Make trees for profiles of values
 * @rap: receives the trees; NULL on failure. Free it with rap_free().
 * @number_of_simultaneous_profiles: number of trees, at least 1, of 64 KiB each
 *	and with an error of 1 %.
 *
 * Return: 0; -EINVAL if the number is 0; -ENOMEM.
 */
int rap_init(struct rap **rap, unsigned int number_of_simultaneous_profiles);

/**
 * rap_add_points() - Count events of a value
 * @rap: trees made by rap_init(), or with one dimension.
 * @profile_event_identifier: the value.
 * @count: number of events.
 * @profile_type: number of the profile, from 0.
 */
void rap_add_points(struct rap *rap, uint64_t profile_event_identifier,
		    uint64_t count, unsigned int profile_type);

/**
 * rap_init_pairs() - Make trees for profiles of pairs
 * @rap: as for rap_init().
 * @number_of_simultaneous_profiles: as for rap_init().
 *
 * A pair is for example an instruction and an address that it accesses (section
 * 5.5 of the paper).
 *
 * Return: as rap_init().
 */
int rap_init_pairs(struct rap **rap,
		   unsigned int number_of_simultaneous_profiles);

#define RAP_MEMORY_MIN		(1U << 12)
#define RAP_MEMORY_DEFAULT	(1U << 16)
#define RAP_MEMORY_MAX		(1U << 30)

/**
 * struct rap_options - How to make the tree of one profile
 * @epsilon: largest error, as a share of all events: from 0.000001 to 1; 0:
 *	0.01. If memory is short, errors become larger.
 * @memory: bytes of the tree, RAP_MEMORY_MIN to RAP_MEMORY_MAX; 0:
 *	RAP_MEMORY_DEFAULT.
 * @dimensions: 1 or 0: values, for rap_add_points(); 2: pairs, for
 *	rap_add_pairs().
 * @reserved: 0.
 */
struct rap_options {
	double epsilon;
	size_t memory;
	unsigned int dimensions;
	unsigned int reserved;
};

/**
 * rap_init_options() - Make trees, each with options of its own
 * @rap: receives the trees; NULL on failure. Free it with rap_free().
 * @options: array of options. Profile N is made as options[N] says, so that
 *	profiles of values and of pairs may be mixed.
 * @count: number of trees, at least 1.
 *
 * Return: 0; -EINVAL if @count is 0 or an option is out of its range; -ENOMEM.
 */
int rap_init_options(struct rap **rap, const struct rap_options *options,
		     unsigned int count);

/**
 * rap_add_pairs() - Count events of a pair
 * @rap: trees made by rap_init_pairs(), or with two dimensions.
 * @code: first element of the pair.
 * @address: second element.
 * @count: number of events.
 * @profile_type: number of the profile, from 0.
 */
void rap_add_pairs(struct rap *rap, uint64_t code, uint64_t address,
		   uint64_t count, unsigned int profile_type);

/**
 * struct rap_range - A range, or with two dimensions a box
 * @low: lowest value.
 * @high: highest value.
 * @code_low: pairs: lowest first element; @low and @high are of the second.
 * @code_high: pairs: highest first element.
 * @own: events counted in it and in no smaller range.
 * @at_least: lower bound of its events.
 * @at_most: upper bound.
 */
struct rap_range {
	uint64_t low, high;
	uint64_t code_low, code_high;
	uint64_t own;
	uint64_t at_least, at_most;
};

/**
 * typedef rap_range_fn - Callback for one range
 *
 * A result other than 0 ends rap_ranges(), which then returns it.
 */
typedef int (*rap_range_fn)(void *context, const struct rap_range *range);

/**
 * rap_ranges() - Iterate over the ranges of a profile in its present state
 * @rap: the trees; more events may be added afterwards, not meanwhile.
 * @profile_type: number of the profile, from 0.
 * @fn: is called for each range, before the ranges inside it.
 * @context: first argument of @fn.
 *
 * Return: 0; the result of @fn; -EINVAL if there is no such profile; -ENOMEM.
 */
int rap_ranges(const struct rap *rap, unsigned int profile_type,
	       rap_range_fn fn, void *context);

/**
 * rap_finalize() - Write the trees in their present state
 * @rap: the trees; more events may be added afterwards.
 * @out: where to write.
 *
 * Each range has a line, before the lines of the ranges inside it:
 * - the number of the profile,
 * - for pairs, the low and the high end of the code,
 * - the low and the high end of the values,
 * - the events counted in it and in no smaller range,
 * - the lower and the upper bound of its events.
 *
 * Return: 0; -ENOMEM; -EIO if @out had an error.
 */
int rap_finalize(const struct rap *rap, FILE *out);

/**
 * rap_free() - Free trees
 * @rap: the trees, or NULL.
 */
void rap_free(struct rap *rap);

/* ---- calling contexts -------------------------------------------------- */

/**
 * struct hwprof_context - A node of the calling context tree, or a back edge in
 *	it
 *
 * A node is a procedure, together with the chain of calls that led to it. No
 * procedure is on a chain twice: a recursive call is a back edge, which leads
 * to an ancestor. A back edge has a count of calls; what the call executed is
 * counted at the ancestor.
 *
 * A metric is a counter of the event's group. Its value is the increase from
 * one sample to the next, and belongs to the later sample.
 * @kind: kind of the node.
 * @object: the object; NULL if unknown.
 * @build_id: build id of the object; NULL if unknown.
 * @function: symbol; NULL if none.
 * @function_offset: offset of @address in the function, in bytes; not 0 if the
 *	symbol begins before the procedure.
 * @address: address of the procedure.
 * @site_object: object of the call instruction; NULL if there is none, or call
 *	sites are merged.
 * @site_function: symbol at the call instruction; NULL if none.
 * @site_offset: offset of the call in @site_function, in bytes.
 * @site: address of the call instruction.
 * @calls: times that the node was entered, without recursion.
 * @deeper: calls below this node that are too deep for nodes of their own.
 * @branches: branches taken in the procedure itself (its own cost).
 * @all_calls: @calls of the whole subtree, recursion included.
 * @all_branches: @branches of the whole subtree.
 * @weight: sampled stacks: weight of those that found the procedure itself
 *	running (its own cost).
 * @all_weight: @weight of the whole subtree.
 * @samples: stacks that found the procedure itself running.
 * @share: @all_branches as a share of the total; without branches, @all_weight;
 *	without weights, @all_calls.
 * @basis: how the counts arose. If it is not exact, call stacks were sampled,
 *	and calls are unknown.
 * @depth: number of nodes above this one.
 * @parent: the caller; NULL for a root.
 * @target: back edges: the ancestor that it leads to; otherwise NULL.
 * @pid: process, or 0.
 * @comm: name of the process, or NULL.
 * @metrics: what each counter counted while the procedure itself ran.
 * @all_metrics: @metrics of the whole subtree.
 */
struct hwprof_context {
	enum hwprof_context_kind kind;
	const char *object;
	const char *build_id;
	const char *function;
	uint64_t function_offset;
	uint64_t address;
	const char *site_object;
	const char *site_function;
	uint64_t site_offset;
	uint64_t site;
	uint64_t calls;
	uint64_t deeper;
	uint64_t branches;
	uint64_t all_calls;
	uint64_t all_branches;
	uint64_t weight;
	uint64_t all_weight;
	uint64_t samples;
	double share;
	enum hwprof_basis basis;
	unsigned int depth;
	const struct hwprof_context *parent;
	const struct hwprof_context *target;
	uint32_t pid;
	const char *comm;
	uint64_t metrics[HWPROF_METRICS_MAX];
	uint64_t all_metrics[HWPROF_METRICS_MAX];
};

/**
 * struct hwprof_context_statistics - Statistics of the tree, as in table 3 of
 *	the paper
 * @nodes: number of nodes, roots included.
 * @back_edges: number of back edges.
 * @procedures: number of different procedures.
 * @leaves: number of nodes without children.
 * @out_degree: average number of children of nodes that have any.
 * @height: average number of nodes from a root to a leaf.
 * @height_max: greatest number of nodes from a root to a leaf.
 * @replication: nodes of the procedure that has the most.
 * @call_sites: call sites of nodes that were reached.
 * @indirect_sites: how many of @call_sites have several callees.
 */
struct hwprof_context_statistics {
	uint64_t nodes;
	uint64_t back_edges;
	uint64_t procedures;
	uint64_t leaves;
	double out_degree;
	double height;
	unsigned int height_max;
	uint64_t replication;
	uint64_t call_sites;
	uint64_t indirect_sites;
};

/**
 * hwprof_contexts_count() - Count the nodes and back edges of the tree
 * @profile: the profile.
 *
 * Processes that ran the same object share one tree.
 *
 * Return: number of nodes and back edges.
 */
size_t hwprof_contexts_count(const struct hwprof_profile *profile);

/**
 * hwprof_contexts_turned() - Test whether the tree is inverted, as
 *	options.function requests
 * @profile: a profile of contexts.
 *
 * The roots of an inverted tree are the functions of that name. A node's
 * children are its callers, up to the processes. The counts of a node are those
 * of the root as reached by this chain, its own and with callees; the share is
 * that of all roots. A back edge is a caller that the root itself had called.
 * @site is where a node calls its parent.
 *
 * Return: true if it is inverted.
 */
bool hwprof_contexts_turned(const struct hwprof_profile *profile);

/**
 * hwprof_contexts_get() - Get a node or a back edge
 * @profile: a profile of contexts.
 * @index: less than the count. Each subtree follows its root; among siblings
 *	the largest shares come first.
 *
 * Return: the node or back edge.
 */
const struct hwprof_context *
hwprof_contexts_get(const struct hwprof_profile *profile, size_t index);

/**
 * hwprof_contexts_statistics() - Get the statistics of the tree
 * @profile: a profile of contexts.
 *
 * Return: the statistics.
 */
const struct hwprof_context_statistics *
hwprof_contexts_statistics(const struct hwprof_profile *profile);

/**
 * hwprof_contexts_metric() - Name a metric
 * @profile: a profile of contexts.
 * @index: number of the metric, from 0.
 *
 * Metrics of several files are one metric if they have one name.
 *
 * Return: its name, such as "instructions:u", or "metric 1" if the recording
 * has no names; NULL after the last one.
 */
const char *hwprof_contexts_metric(const struct hwprof_profile *profile,
				   size_t index);

/**
 * hwprof_context_is_shown() - Test whether a node is large enough for a report
 * @context: the node or back edge.
 * @least: least share.
 *
 * Return: true if the node, or the caller of a back edge, has at least this
 * share.
 */
bool hwprof_context_is_shown(const struct hwprof_context *context,
			     double least);

/**
 * hwprof_context_chain() - Spell the chain of functions that leads to a node
 * @context: the node.
 *
 * Return: names from the root on, separated by ';', to be freed with free();
 * NULL if out of memory.
 */
char *hwprof_context_chain(const struct hwprof_context *context);

/**
 * hwprof_contexts_folded() - Write the tree as tools for flame graphs read it
 * @profile: a profile of contexts.
 * @out: where to write.
 *
 * A line for each node with branches or samples of its own has its chain, a
 * blank, and the number of branches or the weight of the samples.
 *
 * Return: 0; -ENOMEM; -EIO if @out had an error.
 */
int hwprof_contexts_folded(const struct hwprof_profile *profile, FILE *out);

/* ---- paths ------------------------------------------------------------- */

/**
 * enum hwprof_heat - How hot a path or procedure is (Ammons, Ball, Larus,
 *	section 6.4)
 *
 * The metric is time if it chose the windows, or else cycles if the source
 * knows them, or else branches or, with HWPROF_BY_INSTRUCTIONS, instructions.
 * Hot paths have at least 1 % of the metric, or what struct hwprof_options has
 * in @hot. If the metric is branches, a hot path is neither dense nor sparse.
 * @HWPROF_COLD: has less of the metric.
 * @HWPROF_HOT: has so much, and the metric is branches.
 * @HWPROF_SPARSE: is hot, but has no more of the metric per branch than the
 *	program has on average.
 * @HWPROF_DENSE: is hot, and has more of the metric per branch than the program
 *	on average.
 * @HWPROF_HEATS: number of values.
 */
enum hwprof_heat {
	HWPROF_COLD,
	HWPROF_HOT,
	HWPROF_SPARSE,
	HWPROF_DENSE,
	HWPROF_HEATS,
};

/**
 * struct hwprof_procedure - A procedure that ran paths
 *
 * It is the symbol at the ends of the paths. All code of an object without
 * symbols is one procedure.
 * @object: the object.
 * @build_id: build id of the object; NULL if unknown.
 * @function: symbol; NULL if none.
 * @address: address of the symbol.
 * @paths: number of different paths that ran.
 * @possible: number of paths that the control-flow graph allows; 0 if unknown.
 * @unnumbered: why @possible is unknown, such as "indirect jump"; NULL if it is
 *	known.
 * @count: how often its paths ran.
 * @branches: branches on these.
 * @cycles: cycles on these; 0 if unknown.
 * @share: its share of the metric.
 * @heat: how hot it is.
 * @pid: process, or 0.
 * @comm: name of the process, or NULL.
 * @windows: windows taken on its paths.
 * @instructions: instructions of its paths whose code can be decoded.
 * @seen: true if it has indirect jumps. @possible, and the numbers of paths,
 *	are then of those over targets that were seen in this recording.
 */
struct hwprof_procedure {
	const char *object;
	const char *build_id;
	const char *function;
	uint64_t address;
	uint64_t paths;
	uint64_t possible;
	const char *unnumbered;
	uint64_t count;
	uint64_t branches;
	uint64_t cycles;
	double share;
	enum hwprof_heat heat;
	uint32_t pid;
	const char *comm;
	double windows;
	uint64_t instructions;
	bool seen;
};

/**
 * struct hwprof_path - A path
 *
 * It leads from a procedure's entry or a back edge's target to the next back
 * edge or return. Calls are stepped over.
 * @procedure: the procedure at its end.
 * @called: true if it begins at a procedure's entry, false if at a back edge's
 *	target.
 * @returns: true if it ends with a return, false if with a back edge.
 * @start_object: object of @start; with a tail call it may be another than the
 *	procedure's.
 * @start: address of the first instruction.
 * @start_function: symbol at @start; NULL if none.
 * @start_offset: offset of @start in it, in bytes.
 * @start_file: source file of @start; NULL without debug information.
 * @start_line: source line of @start; 0 if unknown.
 * @end: address of the last instruction, in the procedure's object.
 * @end_offset: offset of @end in the procedure, in bytes.
 * @end_file: source file of @end; NULL without debug information.
 * @end_line: source line of @end; 0 if unknown.
 * @length: taken jumps from start to end.
 * @spelled: how many of these are known, from the first on.
 * @blocks: number of blocks up to the end, or up to the last that is known.
 * @count: how often it ran (the unit).
 * @number: its number among the paths that the procedure allows, from 0. It is
 *	the same for every run of one build.
 * @unnumbered: why it has no number, such as "indirect jump"; NULL if it has
 *	one.
 * @branches: @count * (@length + 1).
 * @cycles: cycles on it, without its calls; 0 if unknown.
 * @share: its share of the metric.
 * @heat: how hot it is.
 * @basis: how the counts arose.
 * @windows: windows that time or a counter's overflow took while it was in
 *	flight. It is an estimate where other paths begin alike. 0 if there are
 *	none or unknown.
 * @instructions: @count times the instructions of its blocks, without its
 *	calls; 0 if some of its code cannot be decoded.
 */
struct hwprof_path {
	const struct hwprof_procedure *procedure;
	bool called;
	bool returns;
	const char *start_object;
	uint64_t start;
	const char *start_function;
	uint64_t start_offset;
	const char *start_file;
	unsigned int start_line;
	uint64_t end;
	uint64_t end_offset;
	const char *end_file;
	unsigned int end_line;
	uint32_t length;
	uint32_t spelled;
	uint32_t blocks;
	uint64_t count;
	uint64_t number;
	const char *unnumbered;
	uint64_t branches;
	uint64_t cycles;
	double share;
	enum hwprof_heat heat;
	enum hwprof_basis basis;
	double windows;
	uint64_t instructions;
};

/**
 * struct hwprof_block - A basic block of a path
 *
 * Instructions run in a line, up to a jump (taken or not), a call or a return.
 * If the code cannot be decoded, because it is in no readable file, the block
 * reaches to the next taken jump.
 * @object: the object.
 * @first: address of the first instruction.
 * @last: address of the last instruction.
 * @function: symbol at @first; NULL if none.
 * @offset: offset of @first in it, in bytes.
 * @file: source file of @first; NULL if unknown.
 * @last_file: source file of @last; NULL if unknown.
 * @line: source line of @first; 0 if unknown.
 * @last_line: source line of @last; 0 if unknown.
 * @undecoded: why the code was not decoded, such as "code in no file"; NULL if
 *	it was.
 * @instructions: number of instructions; 0 if unknown.
 * @branch: mnemonic of the last instruction, such as "jne"; NULL if it is no
 *	jump, call or return, or unknown.
 * @conditional: true if the branch is conditional.
 * @taken: true if the branch was taken, as all unconditional ones are.
 * @callee: symbol that a call, or a jump to another procedure, leads to; NULL
 *	if unknown or none.
 */
struct hwprof_block {
	const char *object;
	uint64_t first, last;
	const char *function;
	uint64_t offset;
	const char *file, *last_file;
	unsigned int line, last_line;
	const char *undecoded;
	uint32_t instructions;
	const char *branch;
	bool conditional;
	bool taken;
	const char *callee;
};

/**
 * struct hwprof_heat_sum - Sum over all paths, or procedures, of one heat
 * @number: how many there are.
 * @branches: branches on them.
 * @branch_share: @branches as a share of the total.
 * @share: their share of the metric.
 * @paths: procedures: number of their different paths.
 */
struct hwprof_heat_sum {
	uint64_t number;
	uint64_t branches;
	double branch_share;
	double share;
	uint64_t paths;
};

/**
 * struct hwprof_paths_summary - Sums over all paths
 * @metric: "time" if time chose all windows, else "cycles" if they are known,
 *	else "instructions" with HWPROF_BY_INSTRUCTIONS, else "branches". With
 *	"time", shares are those of all windows.
 * @paths: sums of paths, by heat.
 * @procedures: sums of procedures, by heat.
 * @count: how often paths ran.
 * @branches: branches on them.
 * @unseen: further runs of paths whose beginning was not seen, or was
 *	forgotten.
 * @half: number of hottest paths that have 50 % of the metric together; 0 if
 *	all known paths have less.
 * @most: the same for 90 %.
 * @windows: metric "time": windows taken on these paths. The totals also count
 *	windows on paths that were not seen whole. Otherwise 0.
 */
struct hwprof_paths_summary {
	const char *metric;
	struct hwprof_heat_sum paths[HWPROF_HEATS];
	struct hwprof_heat_sum procedures[HWPROF_HEATS];
	uint64_t count;
	uint64_t branches;
	uint64_t unseen;
	uint64_t half, most;
	double windows;
};

/**
 * hwprof_paths_count() - Count the paths
 * @profile: the profile.
 *
 * Return: number of paths.
 */
size_t hwprof_paths_count(const struct hwprof_profile *profile);

/**
 * hwprof_paths_get() - Get a path
 * @profile: a profile of paths.
 * @index: less than the count; the largest shares come first.
 *
 * Return: the path.
 */
const struct hwprof_path *
hwprof_paths_get(const struct hwprof_profile *profile, size_t index);

/**
 * hwprof_paths_block() - Get a block of a path
 * @profile: a profile of paths.
 * @index: index of the path.
 * @number: number of the block, from 0, less than the path's @blocks.
 * @block: receives the block.
 */
void hwprof_paths_block(const struct hwprof_profile *profile, size_t index,
			uint32_t number, struct hwprof_block *block);

/**
 * struct hwprof_path_context - A calling context that ran a path
 * @context: node of a tree with HWPROF_MERGE_SITES; see hwprof_contexts_get().
 * @count: how often it ran the path.
 * @cycles: cycles on these runs; 0 if unknown.
 */
struct hwprof_path_context {
	const struct hwprof_context *context;
	uint64_t count;
	uint64_t cycles;
};

/**
 * hwprof_paths_contexts() - Count the contexts that ran a path
 * @profile: a profile of paths.
 * @index: index of the path.
 *
 * Contexts are known if the event has both paths and cct. If their counts add
 * up to less than that of the path, other contexts are unknown.
 *
 * Return: number of contexts.
 */
size_t hwprof_paths_contexts(const struct hwprof_profile *profile,
			     size_t index);

/**
 * hwprof_paths_context() - Get a context that ran a path
 * @profile: a profile of paths.
 * @index: index of the path.
 * @number: less than the count of contexts; those that ran the path most come
 *	first.
 * @context: receives the context.
 */
void hwprof_paths_context(const struct hwprof_profile *profile, size_t index,
			  size_t number, struct hwprof_path_context *context);

/**
 * hwprof_paths_procedures() - Count the procedures
 * @profile: the profile.
 *
 * Return: number of procedures that ran paths.
 */
size_t hwprof_paths_procedures(const struct hwprof_profile *profile);

/**
 * hwprof_paths_procedure() - Get a procedure
 * @profile: a profile of paths.
 * @index: less than the count; the largest shares come first.
 *
 * Return: the procedure.
 */
const struct hwprof_procedure *
hwprof_paths_procedure(const struct hwprof_profile *profile, size_t index);

/**
 * hwprof_paths_summary() - Get the sums over all paths
 * @profile: a profile of paths.
 *
 * Return: the sums.
 */
const struct hwprof_paths_summary *
hwprof_paths_summary(const struct hwprof_profile *profile);

/**
 * hwprof_heat_name() - Name a heat
 * @heat: the heat.
 *
 * Return: "cold", "hot", "sparse" or "dense".
 */
const char *hwprof_heat_name(enum hwprof_heat heat);

/* ---- values ------------------------------------------------------------ */

/**
 * enum hwprof_value_class - How the values of a load behave
 * @HWPROF_VALUE_VARYING: in none of the other ways.
 * @HWPROF_VALUE_CONSTANT: nearly always the same value.
 * @HWPROF_VALUE_ZERO: nearly always 0.
 * @HWPROF_VALUE_STRIDE: mostly the previous value plus a fixed stride.
 * @HWPROF_VALUE_GLACIAL: nearly always the previous value: it changes rarely.
 */
enum hwprof_value_class {
	HWPROF_VALUE_VARYING,
	HWPROF_VALUE_CONSTANT,
	HWPROF_VALUE_ZERO,
	HWPROF_VALUE_STRIDE,
	HWPROF_VALUE_GLACIAL,
};

/**
 * hwprof_value_class_name() - Name a class
 * @kind: the class.
 *
 * Return: "constant", "zero", "stride", "glacial" or "varying".
 */
const char *hwprof_value_class_name(enum hwprof_value_class kind);

/**
 * struct hwprof_load_value - A value that a load returned
 * @value: the first eight bytes, as a number.
 * @hits: lower bound of the executions that returned it.
 * @invariance: @hits as a share of the executions whose value was seen.
 * @low: low end of an interval of @invariance. The interval is certain if the
 *	basis is exact; otherwise its level is 95 %.
 * @high: high end.
 */
struct hwprof_load_value {
	uint64_t value;
	uint64_t hits;
	double invariance;
	double low, high;
};

/**
 * struct hwprof_load - A load instruction
 * @object: the object.
 * @build_id: build id of the object; NULL if unknown.
 * @function: symbol; NULL if none.
 * @function_offset: offset in the function, in bytes.
 * @address: address of the instruction.
 * @file: source file; NULL without debug information.
 * @line: source line; 0 if unknown.
 * @executions: executions that were counted.
 * @seen: how many of these had their value looked at.
 * @share: @executions as a share of those of all loads.
 * @width: bytes loaded; 0 if unknown.
 * @kind: how its values behave.
 * @runs: number of runs. A run is a series of executions that returned one
 *	value.
 * @breaks: runs whose previous value was not seen.
 * @stride: most frequent difference between the values of successive runs.
 * @strides: runs that differ from the previous one by @stride; 0 if there is no
 *	stride.
 * @values: its values, the most frequent first.
 * @value_count: number of values, up to 16.
 * @basis: how the counts arose.
 * @pid: process, or 0.
 * @comm: name of the process, or NULL.
 */
struct hwprof_load {
	const char *object;
	const char *build_id;
	const char *function;
	uint64_t function_offset;
	uint64_t address;
	const char *file;
	unsigned int line;
	uint64_t executions;
	uint64_t seen;
	double share;
	unsigned int width;
	enum hwprof_value_class kind;
	uint64_t runs;
	uint64_t breaks;
	int64_t stride;
	uint64_t strides;
	const struct hwprof_load_value *values;
	size_t value_count;
	enum hwprof_basis basis;
	uint32_t pid;
	const char *comm;
};

/**
 * hwprof_values_count() - Count the loads
 * @profile: the profile.
 *
 * Return: number of loads.
 */
size_t hwprof_values_count(const struct hwprof_profile *profile);

/**
 * hwprof_values_get() - Get a load
 * @profile: a profile of values.
 * @index: less than the count; the largest shares come first.
 *
 * Return: the load.
 */
const struct hwprof_load *
hwprof_values_get(const struct hwprof_profile *profile, size_t index);

/**
 * hwprof_values_completeness() - Tell how much of all loads the profile covers
 * @profile: a profile of values.
 *
 * Return: executions of the profile's loads as a share of all executions of
 * loads, seen or not; with windows an estimate; NaN if unknown.
 */
double hwprof_values_completeness(const struct hwprof_profile *profile);

/* ---- exports ----------------------------------------------------------- */

/**
 * struct hwprof_format - A format of another program
 * @name: its name, such as "pprof".
 * @suffix: what names of its files end with, such as ".pb.gz".
 * @readers: programs that read it, for messages.
 * @kinds: bits 1 << enum hwprof_kind of the profiles that it can have.
 * @per_object: true if each object becomes an output of its own. Otherwise the
 *	profile becomes one.
 * @versions: versions that hwprof_export_open() can be given, separated by
 *	blanks, the default first; NULL if there is only one.
 */
struct hwprof_format {
	const char *name;
	const char *suffix;
	const char *readers;
	unsigned int kinds;
	bool per_object;
	const char *versions;
};

/**
 * hwprof_format_get() - Get a format
 * @index: number of the format, from 0.
 *
 * Return: the format; NULL after the last one.
 */
const struct hwprof_format *hwprof_format_get(size_t index);

/**
 * hwprof_format_of() - Find a format by its name
 * @name: such as "pprof".
 *
 * Return: the format; NULL if there is no such name.
 */
const struct hwprof_format *hwprof_format_of(const char *name);

/**
 * struct hwprof_export_options - What to export, and how
 *
 * All fields NULL, or NULL instead of the struct, means the defaults.
 * @version: version of the format; NULL means the first of its versions.
 * @binary: formats per object: the program or library to export, which must be
 *	the build that ran. It need not be where it was recorded. NULL means all
 *	objects.
 * @build_id: formats per object: the build id of the object to export, or its
 *	beginning. NULL means all objects.
 */
struct hwprof_export_options {
	const char *version;
	const char *binary;
	const char *build_id;
};

/**
 * struct hwprof_export_part - One output of an export
 * @name: name for its file: the object's build id (without one, the object's
 *	name), or the name of the profile's kind; with the format's suffix.
 * @object: the object; NULL if this is the whole profile.
 * @build_id: build id of the object; NULL if unknown.
 * @count: taken branches in the object's code, where formats are per object;
 *	otherwise 0.
 */
struct hwprof_export_part {
	const char *name;
	const char *object;
	const char *build_id;
	uint64_t count;
};

/*
 * struct hwprof_export - A profile on its way to a format
 */
struct hwprof_export;

/**
 * hwprof_export_open() - Prepare a profile for a format
 * @exported: receives the handle, also on failure, for hwprof_export_error().
 *	It is NULL only after -ENOMEM. Free it with hwprof_export_close().
 * @profile: the profile, which must outlive @exported.
 * @format: name of the format.
 * @options: what to export, or NULL.
 *
 * Return: 0; -ENOMEM; or
 * - -EINVAL if there is no such format or version, or an option that the format
 *   does not have,
 * - -EOPNOTSUPP if the format cannot have this kind of profile,
 * - -ENODATA if the profile has nothing to export,
 * - -ENOENT if no object has this build id, or is this binary,
 * - -ENOEXEC if the binary is none that the format's readers can use.
 */
int hwprof_export_open(struct hwprof_export **exported,
		       const struct hwprof_profile *profile, const char *format,
		       const struct hwprof_export_options *options);

/**
 * hwprof_export_close() - Free an export
 * @exported: the export, or NULL.
 */
void hwprof_export_close(struct hwprof_export *exported);

/**
 * hwprof_export_error() - Describe the last failure
 * @exported: the export, or NULL.
 *
 * Return: a sentence about the last call that failed; for NULL, that memory is
 * out.
 */
const char *hwprof_export_error(const struct hwprof_export *exported);

/**
 * hwprof_export_warning() - Get what may keep a reader from using an output
 * @exported: the export.
 * @index: number of the warning, from 0.
 *
 * Return: a sentence; NULL after the last one.
 */
const char *hwprof_export_warning(const struct hwprof_export *exported,
				  size_t index);

/**
 * hwprof_export_part() - Get an output
 * @exported: the export.
 * @index: number of the output, from 0; those with most branches come first.
 *
 * Return: the output; NULL after the last one.
 */
const struct hwprof_export_part *
hwprof_export_part(const struct hwprof_export *exported, size_t index);

/**
 * hwprof_export_write() - Write an output
 * @exported: the export.
 * @index: number of the output.
 * @out: where to write.
 *
 * Return: 0; -ENOMEM; -EIO if @out had an error.
 */
int hwprof_export_write(struct hwprof_export *exported, size_t index,
			FILE *out);

/* ---- differences ------------------------------------------------------- */

/**
 * HWPROF_NOTHING - Index of a thing that one of two profiles lacks
 */
#define HWPROF_NOTHING	SIZE_MAX

/**
 * enum hwprof_match - Why two things are considered the same, the surest reason
 *	first
 * @HWPROF_MATCH_NONE: only one profile has the thing.
 * @HWPROF_MATCH_ADDRESS: same address in the same build.
 * @HWPROF_MATCH_CODE: loops: same function, instructions and callees; operands
 *	may differ.
 * @HWPROF_MATCH_CALLS: loops: the only one of the function at its depth that
 *	calls the same functions. Calls: the only call of one function by
 *	another.
 * @HWPROF_MATCH_LINE: same function and line. Trees: everything agrees that
 *	does not move with the code.
 * @HWPROF_MATCH_OFFSET: same function and offset; or same function, for things
 *	known by their function alone.
 * @HWPROF_MATCH_NESTING: a guess: the only loop of the function at its depth
 *	that no other rule has matched.
 */
enum hwprof_match {
	HWPROF_MATCH_NONE,
	HWPROF_MATCH_ADDRESS,
	HWPROF_MATCH_CODE,
	HWPROF_MATCH_CALLS,
	HWPROF_MATCH_LINE,
	HWPROF_MATCH_OFFSET,
	HWPROF_MATCH_NESTING,
};

/**
 * hwprof_match_name() - Name a reason
 * @match: the reason.
 *
 * Return: its name, such as "code"; NULL for none.
 */
const char *hwprof_match_name(enum hwprof_match match);

/**
 * struct hwprof_change - A thing in two profiles, or in only one of them
 * @before: its index in the first profile, or HWPROF_NOTHING. The index is that
 *	of hwprof_loops_get() and the like, of hwprof_calls_pair(), or, in
 *	hwprof_diff_procedures(), of hwprof_calls_method() or
 *	hwprof_paths_procedure().
 * @after: its index in the second profile, or HWPROF_NOTHING.
 * @share_before: share in the first profile; 0 if it is not there.
 * @share_after: share in the second profile; 0 if it is not there.
 * @share: @share_after - @share_before, -1 to 1.
 * @share_low: low end of the 95 % interval of @share; NaN if unknown.
 * @share_high: high end.
 * @match: why the two are considered the same.
 */
struct hwprof_change {
	size_t before, after;
	double share_before;
	double share_after;
	double share;
	double share_low;
	double share_high;
	enum hwprof_match match;
};

/*
 * struct hwprof_diff - The difference of two profiles
 */
struct hwprof_diff;

/**
 * hwprof_profile_diff() - Compare two profiles
 * @diff: receives the difference. Free it with hwprof_diff_free().
 * @before: first profile.
 * @after: second profile, of the same kind.
 *
 * Both profiles must outlive @diff, and must not be sorted in the meantime.
 *
 * enum hwprof_match lists the rules by which things are matched. Loops are
 * matched by code if the objects of both builds can be read. Calls are matched
 * by site and callee; contexts by their callers, function and site, or without
 * the site; paths by all their blocks; methods and procedures by function
 * alone.
 *
 * Return: 0; -EINVAL if the profiles are of two kinds; -ENOMEM.
 */
int hwprof_profile_diff(struct hwprof_diff **diff,
			const struct hwprof_profile *before,
			const struct hwprof_profile *after);

/**
 * hwprof_diff_free() - Free a difference
 * @diff: the difference, or NULL.
 */
void hwprof_diff_free(struct hwprof_diff *diff);

/**
 * hwprof_diff_count() - Count the changes
 * @diff: the difference.
 *
 * Return: number of changes.
 */
size_t hwprof_diff_count(const struct hwprof_diff *diff);

/**
 * hwprof_diff_get() - Get a change
 * @diff: the difference.
 * @index: less than the count; the largest changes of share come first.
 *
 * Return: the change.
 */
const struct hwprof_change *hwprof_diff_get(const struct hwprof_diff *diff,
					    size_t index);

/**
 * hwprof_diff_procedures() - Get the changes by procedure
 * @diff: the difference.
 *
 * Return: changes of the methods of calls, or of the procedures of paths, which
 * belong to @diff; NULL for other kinds.
 */
const struct hwprof_diff *
hwprof_diff_procedures(const struct hwprof_diff *diff);

/**
 * hwprof_diff_json() - Write changes as JSON
 * @diff: the difference.
 * @limit: most changes to write, and most changes by procedure; 0 means all.
 * @out: where to write.
 *
 * Return: 0; -EIO if @out had an error.
 */
int hwprof_diff_json(const struct hwprof_diff *diff, size_t limit, FILE *out);

/* ---- an event ---------------------------------------------------------- */

/**
 * struct hwprof_event - A hwprof event
 * @config: config, config1 and config2 of struct perf_event_attr.
 * @user: true if user mode is profiled.
 * @kernel: true if the kernel is profiled.
 * @whole: true if the text had the form hwprof/.../, which leaves nothing to be
 *	chosen.
 */
struct hwprof_event {
	uint64_t config[3];
	bool user;
	bool kernel;
	bool whole;
};

/**
 * hwprof_event_parse() - Read an event
 * @event: receives the event.
 * @text: such as "loops,rows,memory_mib=4/u" or "hwprof/loops,rows/u".
 * @message: receives a sentence on failure, which names the field and what is
 *	allowed.
 * @size: bytes of @message.
 *
 * The text names one kind of profile, or several of loops, calls, paths, edges
 * and cct. Beside others, cct needs every branch: no windows, no samples. At
 * most one source may be named. Numbers are decimal, or hexadecimal with 0x; a
 * field of one bit needs none. The letters behind the last slash are u (user
 * mode, the default), k (kernel) or both.
 *
 * Return: 0; -EINVAL.
 */
int hwprof_event_parse(struct hwprof_event *event, const char *text,
		       char *message, size_t size);

/**
 * hwprof_event_field() - Get the value of a field
 * @event: the event.
 * @name: name of the field.
 *
 * Return: its value, which is 0 or 1 for a flag; 0 if there is no such field.
 */
uint64_t hwprof_event_field(const struct hwprof_event *event, const char *name);

/**
 * hwprof_event_set() - Set a field
 * @event: the event.
 * @name: name of the field.
 * @value: new value.
 *
 * Return: 0; -EINVAL if there is no such field, or the value does not fit.
 */
int hwprof_event_set(struct hwprof_event *event, const char *name,
		     uint64_t value);

/**
 * hwprof_event_set_trigger() - Set the fields of the trigger
 * @event: the event.
 * @raw: raw event of the CPU's PMU.
 *
 * Return: 0; -EINVAL if @raw has bits that a trigger cannot have.
 */
int hwprof_event_set_trigger(struct hwprof_event *event, uint64_t raw);

/**
 * hwprof_event_print() - Write an event as text
 * @event: the event.
 * @text: receives the text, such as "hwprof/loops/u", which perf and
 *	hwprof_event_parse() understand.
 * @size: bytes of @text.
 *
 * Return: as snprintf().
 */
int hwprof_event_print(const struct hwprof_event *event, char *text,
		       size_t size);

/* ---- a session: profiling while it runs -------------------------------- */

/*
 * struct hwprof_session - Profiling of running programs
 *
 * A session has tables in the kernel (/dev/hwprof, docs/device.md), and events
 * that feed them. A profile of the present counts can be made at any time:
 *
 *	hwprof_session_open(&session, "loops", NULL);
 *	hwprof_session_attach(session, &(struct hwprof_target){ .id = pid });
 *	hwprof_session_start(session);
 *	...
 *	hwprof_session_snapshot(session, &profile);
 *
 * perf checks the permissions when events are opened.
 */
struct hwprof_session;

/**
 * struct hwprof_session_options - How to run a session
 *
 * All fields 0, or NULL instead of the struct, means the defaults.
 * @period: one window or sample for so many counted events.
 * @frequency: windows or samples per second, instead of @period. If both are 0,
 *	bursts cost 1 %, and the module chooses for other sources.
 * @profile: how to make profiles.
 */
struct hwprof_session_options {
	uint64_t period;
	uint64_t frequency;
	struct hwprof_options profile;
};

/**
 * hwprof_session_open() - Make a session
 * @session: receives the handle, also on failure, for hwprof_session_error().
 *	It is NULL only after -ENOMEM. Free it with hwprof_session_close().
 * @event: an event for hwprof_event_parse().
 * @options: how to run the session, or NULL.
 *
 * If the event names no source, the session chooses one that costs 1 % of its
 * targets' time: lbr; or burst=200 on machines without branch records, and for
 * what only stepping sees; or sample for contexts and ranges of code. Targets
 * are stepped all the time only if the event names `step`. The default of
 * memory_mib is 16, or less where 16 is not allowed.
 *
 * Call stacks of samples (cct,sample) need no frame pointers. The library gives
 * the module the processes' maps and their tables for unwinding
 * (docs/device.md). It does this at each attach, and whenever rows or a
 * snapshot are read.
 *
 * Return: 0; what open() failed with; or
 * - -EINVAL if the event is invalid, or an option is out of range,
 * - -ENOENT if the module is not loaded,
 * - -EOPNOTSUPP if the machine lacks what the event needs, or if the event has
 *   no profile, several profiles, or metrics,
 * - -EMFILE, -ENFILE or -ENOMEM if a limit of the module is reached.
 */
int hwprof_session_open(struct hwprof_session **session, const char *event,
			const struct hwprof_session_options *options);

/**
 * hwprof_session_close() - End a session and free it
 * @session: the session, or NULL. Its profiles remain valid.
 */
void hwprof_session_close(struct hwprof_session *session);

/**
 * hwprof_session_error() - Describe the last failure
 * @session: the session, or NULL.
 *
 * Return: a sentence about the last call that failed; for NULL, that memory is
 * out.
 */
const char *hwprof_session_error(const struct hwprof_session *session);

/**
 * hwprof_session_kind() - Tell what the session's profiles count
 * @session: the session.
 *
 * Return: their kind.
 */
enum hwprof_kind hwprof_session_kind(const struct hwprof_session *session);

/**
 * hwprof_session_event() - Get the event, with all choices made
 * @session: the session.
 *
 * Return: the event.
 */
const struct hwprof_event *
hwprof_session_event(const struct hwprof_session *session);

/**
 * enum hwprof_target_kind - What to profile
 * @HWPROF_TARGET_PROCESS: a process: its threads, and future ones.
 * @HWPROF_TARGET_THREAD: one thread.
 * @HWPROF_TARGET_SYSTEM: everything that runs.
 * @HWPROF_TARGET_CGROUP: a cgroup.
 */
enum hwprof_target_kind {
	HWPROF_TARGET_PROCESS,
	HWPROF_TARGET_THREAD,
	HWPROF_TARGET_SYSTEM,
	HWPROF_TARGET_CGROUP,
};

/**
 * struct hwprof_target - A target of a session
 * @kind: kind of the target.
 * @id: process or thread, 0 for the caller; for a cgroup, a descriptor of its
 *	folder.
 * @cpus: CPUs to profile on, such as "0-3,8"; NULL means all that are online.
 * @alone: true to leave out future children and threads.
 * @on_exec: true to begin at the target's next exec instead of now. If the
 *	session is stopped and started again, the target also begins then.
 */
struct hwprof_target {
	enum hwprof_target_kind kind;
	int id;
	const char *cpus;
	bool alone;
	bool on_exec;
};

/**
 * hwprof_session_attach() - Add a target
 * @session: the session, which may be running.
 * @target: the target.
 *
 * The function may be called several times.
 *
 * Return: 0; what perf_event_open() failed with; or
 * - -EACCES or -EPERM if perf does not allow it, or if stepping is requested
 *   and the kernel does not allow the caller to attach as a debugger,
 * - -ESRCH if there is no such process,
 * - -EINVAL if the list of CPUs is invalid.
 */
int hwprof_session_attach(struct hwprof_session *session,
			  const struct hwprof_target *target);

/**
 * hwprof_session_filter() - Look at some functions alone
 * @session: the session, which has no target yet.
 * @filter: "FUNCTION@FILE", or "OFFSET/SIZE@FILE" with bytes of the file; or
 *	several, up to 8 ranges, with commas between them. FILE is a path, or
 *	the name of a program that PATH finds. A function's parts, such as
 *	FUNCTION.cold, belong to it. NULL: all code.
 *
 * Only instructions there are events, for profiles and for programs. Targets
 * must be processes or threads. Events with the same configuration are one
 * session for the module; give them the same filter.
 *
 * Return: 0; what open() failed with; or
 * - -EBUSY if the session has a target,
 * - -ENOENT if there is no such file or function,
 * - -EINVAL if the text or the file is none of these, or a symbol has no size,
 * - -E2BIG if there are too many ranges,
 * - -ENOMEM if there is not enough memory.
 */
int hwprof_session_filter(struct hwprof_session *session, const char *filter);

/**
 * struct hwprof_program_options - How a session runs a BPF program
 *
 * All fields 0, or NULL instead of the struct, means the defaults.
 * @cookie: a number that the program gets with each event.
 * @limit_us: microseconds that a run may take, up to
 *	HWPROF_PROGRAM_LIMIT_US_MAX; 0: HWPROF_PROGRAM_DEFAULT_LIMIT_US.
 */
struct hwprof_program_options {
	uint64_t cookie;
	uint32_t limit_us;
};

/**
 * hwprof_session_program() - Give the session a BPF program
 * @session: the session.
 * @program: descriptor of a loaded program of the type raw tracepoint, which
 *	the caller may close afterwards; -1: take programs away.
 * @kinds: bits 1 << enum hwprof_program_kind. The program is called for these
 *	kinds of events, instead of the program that the session had for them.
 * @options: how to run it, or NULL.
 *
 * docs/programs.md says what programs get and what they return. Programs for
 * loads, stores and exits of loops must come before the first
 * hwprof_session_attach().
 *
 * Return: 0; or
 * - -EPERM without CAP_BPF and CAP_PERFMON, or in another process than the one
 *   that made the session; -EACCES if that has other credentials now,
 * - -EBADF if @program is no descriptor,
 * - -EINVAL if it is no such program or reads beyond HWPROF_PROGRAM_WORDS, if
 *   @kinds or @options are out of range, or if the session sees the kernel by
 *   samples or branch records,
 * - -EOPNOTSUPP if the session's event has none of one of @kinds, or if the
 *   kernel or the module has no programs,
 * - -EBUSY if it comes too late,
 * - -ENOMEM.
 */
int hwprof_session_program(struct hwprof_session *session, int program,
			   unsigned int kinds,
			   const struct hwprof_program_options *options);

/**
 * hwprof_session_program_account() - Tell what became of a program
 * @session: the session.
 * @kind: a kind of events.
 * @account: receives the account of the program of that kind. It says whether
 *	the session still has one, because a program that takes too long is
 *	taken away. Then come counts: how often it ran, how often it could not,
 *	and how many events it has dropped; and the time that it took.
 *
 * Return: 0; -EINVAL if there is no such kind; or -EOPNOTSUPP if the module has
 * no programs.
 */
int hwprof_session_program_account(struct hwprof_session *session,
				   enum hwprof_program_kind kind,
				   struct hwprof_program_account *account);

/**
 * hwprof_session_tune() - Change parameters of a session, also while it runs
 * @session: the session.
 * @tuning: what to change. flags has HWPROF_TUNE_* for each field that changes:
 *	period, which is a frequency if HWPROF_TUNE_FREQ is set as well, burst
 *	and budget_permille. flags 0 only asks. size and session are ignored.
 *	Receives the parameters now in force, and how often they have changed;
 *	flags then has HWPROF_TUNE_FREQ or nothing.
 *
 * A CPU takes the new parameters over at its next tick: see struct
 * hwprof_tuning. To have counts from before and after apart, call
 * hwprof_session_rows() or hwprof_session_snapshot() first.
 *
 * Return: 0; or
 * - -EPERM if the process has not the user and the capabilities that made the
 *   session, nor CAP_PERFMON (if it steps: CAP_PERFMON, CAP_SYS_PTRACE, and the
 *   right to attach to the init process),
 * - -EOPNOTSUPP if the event sees everything, or takes no bursts and burst
 *   should change; or if the module is too old,
 * - -EINVAL if a number is out of range, if the event has no budget and that
 *   should change, or for a frequency instead of a period or the reverse,
 * - -EAGAIN if rows from before could not be written: nothing has changed,
 * - -EINTR, -ENOMEM.
 */
int hwprof_session_tune(struct hwprof_session *session,
			struct hwprof_tuning *tuning);

/**
 * hwprof_mask_parse() - Read a mask
 * @mask: receives the mask, ready to be set.
 * @text: tests with commas between them; an event must pass all of them:
 *	kind=NAME+..., class=NAME+..., width=BYTES+..., value=MATCH/MASK,
 *	address=MATCH/MASK, and ip=MATCH/MASK or part=K/N. Without /MASK, all
 *	bits must match. "all" lets everything pass. Of kind, class and width
 *	there may be several, which add up. Kinds are cond, jump,
 *	indirect, call, ret, syscall, signal, sigreturn, branch for all of
 *	these, load and store. Classes are those of HWPROF_OPCODE_CLASSES. Part
 *	K of N, a power of two, has a Nth of the program's instructions.
 * @message: receives a sentence on failure, which names the place and what is
 *	allowed there.
 * @size: bytes of @message.
 *
 * Return: 0; -EINVAL.
 */
int hwprof_mask_parse(struct hwprof_mask *mask, const char *text, char *message,
		      size_t size);

/** HWPROF_MASK_TEXT - Bytes that the text of any mask fits in */
#define HWPROF_MASK_TEXT	512

/**
 * hwprof_mask_print() - Write a mask as text
 * @mask: the mask.
 * @text: receives what hwprof_mask_parse() reads. A hash of which other bits
 *	are tested than the lowest ones has no such text, and is written as
 *	hash=MATCH/MASK.
 * @size: bytes of @text; what has no room is cut off.
 */
void hwprof_mask_print(const struct hwprof_mask *mask, char *text, size_t size);

/**
 * hwprof_session_mask() - Choose events by what they are, also while they come
 * @session: the session.
 * @mask: the mask. flags has HWPROF_MASK_SET, unless the mask is only asked
 *	for. size and session are ignored. Receives the mask now in force, and
 *	how often parameters and mask have changed.
 *
 * Events that do not pass are left out before the profile and programs see
 * them, and are no units: see struct hwprof_mask. If a program needs loads,
 * give the session the program first.
 *
 * Return: 0; or
 * - -EPERM if the process has not made the session, or has other credentials
 *   since, and may not attach to all programs (CAP_PERFMON, CAP_SYS_PTRACE, and
 *   attaching to the init process),
 * - -EOPNOTSUPP if the mask tests what the session does not see, or if the
 *   module is too old,
 * - -EINVAL if the mask has unknown bits, or leaves out branches that the
 *   profile must see,
 * - -EAGAIN if rows from before could not be written: nothing has changed,
 * - -EINTR, -ENOMEM.
 */
int hwprof_session_mask(struct hwprof_session *session,
			struct hwprof_mask *mask);

/**
 * struct hwprof_converge - When a session looks less often
 * @threshold: the unknown part of the last batch of windows, up to which the
 *	profile is complete: 0.0001 and more, below 1. 0: 0.01. A batch has at
 *	least 1 / @threshold windows, and at least 20.
 * @intervals: so many batches with a smaller part lengthen the distance. 0: 3.
 * @known: a thing is known that was in so many batches before. 0: 2.
 * @floor: the distance grows up to this multiple of what was asked for, a power
 *	of two. 0: 64.
 */
struct hwprof_converge {
	double threshold;
	unsigned int intervals;
	unsigned int known;
	unsigned int floor;
};

/**
 * hwprof_session_converge() - Look less often while there is nothing new
 * @session: the session, which has not started.
 * @options: when and how far; NULL: as by default.
 *
 * From now on hwprof_session_snapshot() and hwprof_session_rows() with a
 * function judge what they read. While nearly all of it belongs to things that
 * the profile had already, they double the distance step by step: the period,
 * or the reciprocal of the frequency or of the budget, which goes down to 0.1 %
 * at least. When more is unknown again, they go back at once to what was asked
 * for. In profiles, windows count by the distance at which they were taken; see
 * hwprof_profile_distances(). Rows that a function of hwprof_session_rows()
 * gets are not multiplied.
 *
 * If anybody changes parameters or the mask of the session while it runs, it
 * converges no more, and a warning of its profiles says that counts from before
 * and after add up.
 *
 * Return: 0; or
 * - -EOPNOTSUPP if the event sees everything, or has ranges or values from
 *   windows, which have no weights; or if the module is too old,
 * - -EINVAL if a number is out of range, if the session has neither period,
 *   frequency nor budget, or if it has both a budget and a filter,
 * - -EBUSY if it converges already, has started, or has changed,
 * - -EPERM as hwprof_session_tune(), or -ENOMEM.
 */
int hwprof_session_converge(struct hwprof_session *session,
			    const struct hwprof_converge *options);

/**
 * hwprof_session_start() - Start counting, or continue after a stop
 * @session: the session.
 *
 * Return: 0 or a negative errno.
 */
int hwprof_session_start(struct hwprof_session *session);

/**
 * hwprof_session_stop() - Stop counting
 * @session: the session.
 *
 * Return: 0 or a negative errno.
 */
int hwprof_session_stop(struct hwprof_session *session);

/**
 * hwprof_session_reset() - Forget all counts
 * @session: the session.
 *
 * Return: 0; -EAGAIN if some of the old counts may still arrive; or another
 * negative errno.
 */
int hwprof_session_reset(struct hwprof_session *session);

/**
 * hwprof_session_snapshot() - Make a profile of everything counted since the
 *	start or the last reset
 * @session: the session, running or stopped.
 * @profile: receives the profile; NULL on failure. Free it with
 *	hwprof_profile_free().
 *
 * The targets do not wait. Targets of the kinds SYSTEM and CGROUP are not
 * profiled meanwhile, because the profile would include the snapshot itself.
 *
 * The session's memory grows with the number of different things that were
 * counted, and of programs that were started. Regular snapshots keep the
 * module's memory from filling up.
 *
 * Return: 0 or a negative errno.
 */
int hwprof_session_snapshot(struct hwprof_session *session,
			    struct hwprof_profile **profile);

/**
 * hwprof_session_fd() - Get a descriptor that is readable when there are rows
 * @session: the session, which owns the descriptor.
 *
 * Rows arrive at the end of each interval (the event's field interval_ms), and
 * when a process exits or execs. hwprof_session_rows() reads them. The first
 * call of either function maps the rings that carry the rows.
 *
 * Return: a descriptor for poll() or epoll; or a negative errno.
 */
int hwprof_session_fd(struct hwprof_session *session);

/**
 * hwprof_session_rows() - Read the rows that have arrived
 * @session: the session.
 * @fn: is called for each row, with the increase since the last one of the same
 *	thing; NULL discards the rows. It must not call functions of the
 *	session.
 * @context: first argument of @fn.
 *
 * Later snapshots include these rows, also discarded ones. A result of @fn
 * other than 0 ends the reading; the remaining rows arrive with the next call.
 *
 * Return: 0; the result of @fn if it is not 0; or a negative errno.
 */
int hwprof_session_rows(struct hwprof_session *session, hwprof_sample_fn fn,
			void *context);

#ifdef __cplusplus
}
#endif

#endif /* HWPROF_H */
