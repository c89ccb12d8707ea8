/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hwprof: loops, paths, calls, values and ranges, summarised in the kernel.
 *
 * The whole ABI between the kernel module and user space, and nothing else:
 * the bit map of perf_event_attr's config words, the rows that come as
 * PERF_SAMPLE_RAW, and /dev/hwprof. All numbers are in the machine's byte order; addresses are
 * the profiled process's virtual addresses.
 */
#ifndef _UAPI_LINUX_HWPROF_H
#define _UAPI_LINUX_HWPROF_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define HWPROF_ABI_VERSION	1
#define HWPROF_PMU_NAME		"hwprof"

/*
 * HWPROF_FIELDS(X): the parameters of an event, drawn once. The format
 * attributes in sysfs, the module's parser, the tools' parser and the manual
 * are all generated from this table, so that they cannot disagree.
 *
 *	X(name, word, low bit, high bit, what it is)
 *
 * word 0 is attr.config, 1 is attr.config1, 2 is attr.config2. Zero always
 * means "the default". Bits that belong to no field must be zero (EINVAL).
 */
#define HWPROF_FIELDS(X)						       \
	/* profiled: one, or several of loops, calls, paths, cct, edges */     \
	X(branches,	   0,  0,  0, "the branches themselves")	       \
	X(loops,	   0,  1,  1, "loops: entries, iterations, trip counts") \
	X(calls,	   0,  2,  2, "methods and call pairs")		       \
	X(paths,	   0,  3,  3, "acyclic paths of a procedure")	       \
	X(values,	   0,  4,  4, "values that loads give")		       \
	X(ranges,	   0,  5,  5, "hot ranges of a 64-bit stream")	       \
	X(cct,		   0,  6,  6, "calling contexts")		       \
	X(edges,	   0,  7,  7, "branches, and the lines behind them") \
	/* where events come from: at most one is set; none: the best there is */ \
	X(step,		   0,  8,  8, "software single stepping")	       \
	X(lbr,		   0,  9,  9, "hardware branch records")	       \
	X(sample,	   0, 10, 10, "overflows of a counter")		       \
	X(mem,		   0, 11, 11, "precise memory accesses")	       \
	X(rows,		   0, 12, 12, "give rows, not samples")		       \
	X(trigger_edge,	   0, 13, 13, "trigger: how often it begins to happen") \
	X(trigger_inv,	   0, 14, 14, "trigger: in cycles with fewer than trigger_cmask") \
	X(trigger_any,	   0, 15, 15, "trigger: of all threads of the core")   \
	X(memory_mib,	   0, 16, 27, "memory of the session in MiB; 0: 1 MiB") \
	X(trigger_high,	   0, 28, 31, "trigger: bits 8 to 11 of AMD's event code") \
	X(span,		   0, 32, 63, "longest back edge in bytes; 0: 1 MiB") \
	X(burst,	   1,  0, 15, "branches that step takes at a time; 0: all of them") \
	X(budget_permille, 1, 16, 25, "what windows and samples may cost, in thousandths of the program's time; 0: not limited") \
	X(metrics,	   1, 26, 28, "counters in the event's group whose increase contexts of samples have, up to 4; 0: none") \
	X(interval_ms,	   1, 32, 47, "milliseconds between rows; 0: 1000")    \
	X(trigger,	   1, 48, 63, "raw event that windows and samples are taken at: event code and umask; 0: lbr: taken branches, others: CPU time") \
	X(epsilon_ppm,	   2,  0, 19, "largest error of a range, up to 1000000; 0: 10000") \
	X(range_of,	   2, 20, 23, "what ranges are of, see HWPROF_RANGES_OF; 0: code") \
	X(trigger_cmask,   2, 24, 31, "trigger: in cycles with so many or more") \
	X(session,	   2, 32, 63, "session opened at /dev/hwprof")

/*
 * The raw event of a trigger, in the order that the CPU's PMU and perf's rNNN
 * have it:
 *
 *	X(field, its lowest bit in the raw event)
 */
#define HWPROF_TRIGGER(X)						       \
	X(trigger,	   0)						       \
	X(trigger_edge,	  18)						       \
	X(trigger_any,	  21)						       \
	X(trigger_inv,	  23)						       \
	X(trigger_cmask,  24)						       \
	X(trigger_high,	  32)

/*
 * What the field range_of can be; 0 is where control arrives and, of samples,
 * the instruction.
 *
 *	X(constant, number, name, what it is)
 */
#define HWPROF_RANGES_OF(X)						       \
	X(IP,		 0, "ip", "where branches lead, or samples hit")      \
	X(LOAD_VALUE,	 1, "load-value", "values of loads of up to 8 bytes")  \
	X(LOAD_ADDRESS,	 2, "load-address", "addresses of loads")	       \
	X(STORE_ADDRESS, 3, "store-address", "addresses of stores")	       \
	X(CALLEE,	 4, "callee", "where calls lead")		       \
	X(ZERO_ADDRESS,	 5, "zero-address", "addresses of loads that gave 0")  \
	X(NARROW_IP,	 6, "narrow-ip", "instructions whose operand in memory fits in 16 bits") \
	X(IP_LOAD_ADDRESS,  7, "ip-load-address", "pairs: instructions, and the addresses that they load")   \
	X(IP_STORE_ADDRESS, 8, "ip-store-address", "pairs: instructions, and the addresses that they store to")

enum hwprof_range_of {
#define X(constant, number, name, what)	HWPROF_RANGE_##constant = (number),
	HWPROF_RANGES_OF(X)
#undef X
	HWPROF_RANGES_OF_COUNT
};

#define HWPROF_DEFAULT_MEMORY_MIB	1
#define HWPROF_DEFAULT_SPAN		(1U << 20)
#define HWPROF_DEFAULT_INTERVAL_MS	1000
#define HWPROF_DEFAULT_EPSILON_PPM	10000
#define HWPROF_EPSILON_PPM_MAX		1000000
#define HWPROF_BUDGET_PERMILLE_MAX	1000
#define HWPROF_METRICS_MAX		4
/* The first branch of a burst only says where its first line begins. */
#define HWPROF_BURST_MIN		2
#define HWPROF_BURST_MAX		16383

/*
 * Rows. PERF_SAMPLE_RAW holds one row, which begins with this header, and
 * after it four zero bytes that bring the sample to perf's alignment. A reader
 * skips a type that it does not know by `size`, and ignores what a row has
 * beyond the fields that it knows.
 *
 * The sample around a row says: IP where the thing is, ADDR its other end,
 * PERIOD the increase of the event's unit since the thing's last row (so that
 * the periods of a file add up to the count), PID and TID the process that it
 * is about, TIME no later than that process's exec or exit.
 */
struct hwprof_row {
	__u16 type;		/* enum hwprof_row_type */
	__u16 size;		/* bytes, header included, a multiple of 8 */
	__u32 space;		/* address space: unique in its session; 0: none */
	__u32 session;		/* of the running module; unique until unload */
	__u32 pid;		/* process, in the pid namespace of the opener */
};

enum hwprof_row_type {
	HWPROF_ROW_TOTALS	= 1,
	HWPROF_ROW_BRANCHES	= 2,
	HWPROF_ROW_LOOP		= 3,
	HWPROF_ROW_RANGE	= 4,
	HWPROF_ROW_TIME		= 5,
	HWPROF_ROW_CALL		= 6,
	HWPROF_ROW_CONTEXT	= 7,
	HWPROF_ROW_PATH		= 9,
	HWPROF_ROW_VALUE	= 8,
	HWPROF_ROW_BOX		= 10,
	HWPROF_ROW_EDGE		= 11,
};

/* What the numbers of a row are true of. */
enum hwprof_basis {
	HWPROF_BASIS_EXACT	= 1,	/* every branch was seen */
	HWPROF_BASIS_BRANCHES	= 2,	/* windows, chosen by counting branches */
	HWPROF_BASIS_TIME	= 3,	/* windows, chosen by CPU time */
};

/* Where a session's events come from; as the fields of these names. */
enum hwprof_source {
	HWPROF_SOURCE_STEP	= 1,
	HWPROF_SOURCE_LBR	= 2,
	HWPROF_SOURCE_SAMPLE	= 3,
	HWPROF_SOURCE_MEM	= 4,
};

/*
 * Totals of the session so far, in the event's unit where none is named.
 * Emitted after other rows; the last one in a file is the run's.
 * produced = delivered + lost + evicted + pending, always.
 */
struct hwprof_row_totals {
	struct hwprof_row row;
	__u64 produced;		/* what the source fed */
	__u64 delivered;	/* what rows before this one carried */
	__u64 lost;		/* fed while no table, cursor or ring was free */
	__u64 evicted;		/* given up by the engine for want of memory */
	__u64 pending;		/* in tables, to come with later rows */
	__u64 events;		/* stream events of any kind */
	__u64 gaps;		/* gaps in the stream */
	__u64 lost_events;	/* stream events no engine saw */
	__u64 memory;		/* bytes the session holds: fixed at its start */
	__u64 windows;		/* that were taken; 0: there are none */
	__u32 basis;		/* enum hwprof_basis */
	__u32 source;		/* enum hwprof_source; 0: not said */
	/* Of windows and samples; rows of older modules end here. */
	__u64 cost_ns;		/* that they took of task_ns */
	__u64 task_ns;		/* time of what was profiled while it was */
	__u32 budget_permille;	/* that was asked for; 0: none */
	__u32 reserved;
	/* Of the field `metrics`; rows of older modules end here. */
	__u64 unmeasured;	/* samples without metrics: a counter was not
				 * there, or did not count */
	__u64 metrics[HWPROF_METRICS_MAX];	/* sums of what samples had */
};

/* How control went from one address to another. */
enum hwprof_branch_kind {
	HWPROF_BRANCH_COND	= 1,	/* conditional jump, taken */
	HWPROF_BRANCH_JUMP	= 2,	/* direct jump */
	HWPROF_BRANCH_INDIRECT	= 3,	/* jump through a register or memory */
	HWPROF_BRANCH_CALL	= 4,	/* call, direct or not */
	HWPROF_BRANCH_RET	= 5,	/* return */
	HWPROF_BRANCH_SYSCALL	= 6,	/* system call; `to` is where it came back */
	HWPROF_BRANCH_SIGNAL	= 7,	/* handler begins at `to`; `from` is next after it */
	HWPROF_BRANCH_SIGRETURN	= 8,	/* handler ends; `to` is executed next */
	HWPROF_BRANCH_GAP	= 9,	/* unseen code ran; execution goes on at `to` */
};

/* Flags of a branch. */
#define HWPROF_BRANCH_MISPREDICTED	(1U << 0)
#define HWPROF_BRANCH_STACK		(1U << 1)	/* the stack pointer is known */
#define HWPROF_BRANCH_FLAGS		3U		/* above them is a part of that */

struct hwprof_branch {
	__u64 from;		/* address of the branch instruction */
	__u64 to;		/* address of the instruction executed after it */
	__u16 kind;		/* enum hwprof_branch_kind */
	__u16 flags;		/* HWPROF_BRANCH_* */
	union {
		__u32 cycles;	/* since the branch before; 0: unknown */
		__u32 stack;	/* HWPROF_BRANCH_STACK: see below */
	};
};

/*
 * With HWPROF_BRANCH_STACK, the stack pointer behind the branch or, of a signal,
 * where it was interrupted. Of its 48 bits the last two are not kept.
 */
#define HWPROF_BRANCH_STACK_POINTER(branch)				      \
	((__u64)((branch)->flags >> 2) << 34 | (__u64)(branch)->stack << 2)

/*
 * Consecutive taken branches of one thread, oldest first: the rows of
 * hwprof/branches/. `sequence` numbers the thread's branches from 0 (in the
 * session), so that a reader sees what is missing.
 */
#define HWPROF_ROW_BRANCHES_MAX		128

struct hwprof_row_branches {
	struct hwprof_row row;
	__u32 tid;		/* thread, in the pid namespace of the opener */
	__u32 count;		/* branches that follow */
	__u64 sequence;		/* number of the first one */
	struct hwprof_branch branches[];
};

/*
 * A loop: the region [head, tail] of the taken backward branches to one head
 * (Nair, Lysecky: DAProf, section 3.2, with what docs/definitions.md adds).
 * Counts are increases since the loop's last row in this session; the rest is
 * as it stands now.
 */
#define HWPROF_TRIP_BUCKETS	24

struct hwprof_row_loop {
	struct hwprof_row row;
	__u64 head;		/* address of the first instruction */
	__u64 tail;		/* address of the farthest branch back to head */
	__u64 back_edges;	/* taken backward branches to head: the unit */
	__s64 entries;		/* control came in from outside. May be negative:
				 * a region that grew swallowed earlier entries */
	__u64 executions;	/* entry to exit seen whole, one back edge or more */
	__u64 unclosed;		/* executions of which a part was not seen */
	__u64 cycles;		/* inside, where the source knows; else 0 */
	__u64 trip_min;		/* of whole executions so far; 0: none yet */
	__u64 trip_max;
	__u64 trip_recent;	/* 7/8-weighted average trip count, in 1/256 */
	__u32 tails;		/* distinct extensions of the region so far, 1 or more */
	__u32 tolerance;	/* trip statistics: executions that may be split or missing */
	__u32 basis;		/* enum hwprof_basis */
	__u32 reserved;
	__u64 sum_back_sq;	/* windows: sum over windows of back edges squared */
	__u64 sum_entry_sq;	/* windows: of entries squared */
	__u64 sum_cross;	/* windows: of back edges times entries */
	__u32 trips[HWPROF_TRIP_BUCKETS];	/* whole executions with a trip
				 * count in [2^i, 2^(i+1)); the last one: and more */
};

/*
 * A range of values: of a stream's events, those in it that no smaller range
 * had been made for (Mysore et al.: Profiling over Adaptive Ranges, section 2;
 * docs/ranges.md). Ranges are aligned and have a size that is a power of four,
 * so that any two are apart or one contains the other. A reader sums the
 * counts by range, over all rows of a process: an event was counted in one
 * range that contains it, so a range has had at least what it and the ranges
 * inside it were counted, and at most what the ranges around it were in
 * addition.
 */
struct hwprof_row_range {
	struct hwprof_row row;
	__u64 low;		/* lowest value: a multiple of the size */
	__u64 count;		/* weight of the events: the unit */
	__u32 bits;		/* log2 of the size, 0 to 64, even */
	__u16 basis;		/* enum hwprof_basis */
	__u16 of;		/* enum hwprof_range_of */
};

/*
 * A range of pairs (the same, section 5.5): the code from `code` on, by the
 * addresses from `low` on that it accesses. All else is as of a range: any two
 * boxes of an address space are apart or one contains the other, and bounds are
 * from sums by box. Of a box of 2^n pairs, code has n - 64, n / 2 - 6 or 0 of the
 * bits, whichever is most, and addresses have the rest.
 */
struct hwprof_row_box {
	struct hwprof_row row;
	__u64 code;		/* lowest address of the code */
	__u64 low;		/* lowest address of what it accesses */
	__u64 count;		/* events: the unit */
	__u16 code_bits;	/* log2 of the bytes of code, 0 to 64 */
	__u16 bits;		/* log2 of those of what it accesses, the same */
	__u16 basis;		/* enum hwprof_basis */
	__u16 of;		/* enum hwprof_range_of */
};

/*
 * A call pair: how often a call site called a procedure (Mousa, Krintz: HPS,
 * section 6.1; docs/calls.md). Space 0 is the kernel. A pair was called as often
 * as its rows say, at least. Where memory was short it may have been called more
 * often: `error` times until the row, and as often again as calls were given up
 * after it (the totals' `evicted`, less the row's).
 */
struct hwprof_row_call {
	struct hwprof_row row;
	__u64 site;		/* address of the call */
	__u64 callee;		/* where it led: the first instruction there */
	__u64 calls;		/* increase: the unit */
	__u64 error;		/* others that it may have had, as it stands */
	__u64 evicted;		/* calls of the session given up so far */
	__u64 sum_sq;		/* increase: windows' calls squared; else 0 */
	__u32 basis;		/* enum hwprof_basis */
	__u32 reserved;
};

/* Flags of an edge. */
#define HWPROF_EDGE_PREDICTION	(1U << 0)	/* `mispredicted` is known */

/*
 * An edge: a branch, where it led, and the straight line from there to the next
 * branch that was taken, at `end` (docs/edges.md). That branch, with which the
 * line ends, is the unit. Space 0 is the kernel.
 *
 * If the line's beginning was not seen, `from` is 0, and so is `to` if it is
 * unknown. If its end was not seen, `end` is 0: a window ended, or a signal came. Then `count` has no units: the row's period is 0.
 *
 * A row says how often that was, at least; `error` and `evicted` are those of
 * struct hwprof_row_call, of edges with both ends.
 */
struct hwprof_row_edge {
	struct hwprof_row row;
	__u64 from;		/* address of the branch; 0: not known */
	__u64 to;		/* where it led; 0: not known */
	__u64 end;		/* address of the next taken branch, or 0 */
	__u64 count;		/* increase: the unit, if `end` is known */
	__u64 mispredicted;	/* increase: of these, as HWPROF_EDGE_PREDICTION
				 * says; else 0 */
	__u64 cycles;		/* increase: on the line; 0: unknown */
	__u64 error;		/* others that it may have had, as it stands */
	__u64 evicted;		/* branches of the session given up so far */
	__u64 sum_sq;		/* increase: windows' counts squared; else 0 */
	__u32 kind;		/* enum hwprof_branch_kind; 0: not known */
	__u32 flags;		/* HWPROF_EDGE_* */
	__u32 basis;		/* enum hwprof_basis */
	__u32 reserved;
};

/*
 * A node of the calling context tree, or a back edge in it (Ammons, Ball, Larus:
 * Exploiting Hardware Performance Counters with Flow and Context Sensitive
 * Profiling, section 4; docs/contexts.md). A reader sums what says "increase" by
 * id; parents may come later than their children. Calls are exact, or else (any
 * other basis) stacks of calls were sampled: then a row may have nothing but what
 * a context is, and back edges have no counts.
 */
enum hwprof_context_kind {
	HWPROF_CONTEXT_ROOT	= 1,	/* what ran is not known, nor who called it */
	HWPROF_CONTEXT_CALL	= 2,	/* a procedure, called from its parent */
	HWPROF_CONTEXT_SIGNAL	= 3,	/* a signal's handler: a root of its own */
	HWPROF_CONTEXT_RECURSION = 4,	/* no node: it leads back to an ancestor */
};

struct hwprof_row_context {
	struct hwprof_row row;
	__u64 id;		/* of its chain, in its session; never 0 */
	__u64 parent;		/* the caller's id; 0: it is a root */
	__u64 callee;		/* first instruction, of samples any of the
				 * procedure; 0: not known */
	__u64 site;		/* the call instruction, of samples any byte of it;
				 * 0: it is a root, or not known */
	__u64 target;		/* recursion: the ancestor's id; else 0 */
	union {
		__u64 calls;	/* increase: times entered; the unit is these */
		__u64 weight;	/* samples: increase: of those that found the
				 * procedure itself; the unit is these */
	};
	__u64 deeper;		/* increase: and calls below it, or samples' weight,
				 * that were too deep for contexts of their own */
	union {
		__u64 branches;	/* increase: taken in the procedure itself */
		__u64 samples;	/* increase: that found the procedure itself */
	};
	__u32 kind;		/* enum hwprof_context_kind */
	__u32 basis;		/* enum hwprof_basis */
	/* Rows of events without the field `metrics` end here. */
	__u32 metric_count;	/* what that says */
	__u32 reserved;
	__u64 metrics[HWPROF_METRICS_MAX];	/* increase: of each counter of the
				 * event's group, in their order, from one
				 * sample to the next, which it counts for */
};

#define HWPROF_ROW_CONTEXT_SIZE_VER0	88

/*
 * Basis time: windows that were taken at an address, since the address's last
 * row. Their time is that of the smallest loop around it, which the reader of
 * all rows knows. No unit: the row's period is 0.
 */
struct hwprof_row_time {
	struct hwprof_row row;
	__u64 ip;
	__u64 windows;
};

/* Flags of a path. */
#define HWPROF_PATH_CALLED	(1U << 0)	/* it begins where a call led;
						 * else where a back edge did */
#define HWPROF_PATH_UNSEEN	(1U << 1)	/* where it begins was not seen */
#define HWPROF_PATH_OPEN	(1U << 2)	/* no path that was finished: windows
						 * that were taken on one */
#define HWPROF_PATH_IN_CONTEXT	(1U << 3)	/* behind the jumps is the id of
						 * the context that it ran in */

struct hwprof_path_jump {
	__u64 from;		/* address of the jump instruction */
	__u64 to;		/* where it led: above `from` */
};

/*
 * An acyclic path of a procedure: from its entry or a back edge's target to the
 * next back edge or return, calls stepped over (Ammons, Ball, Larus, section 2,
 * with what docs/paths.md adds). Between the jumps are straight lines, so they
 * say all of it. Of a path with more of them than `spelled`, the first ones
 * follow; paths that have these, `length` and their ends in common are one row.
 *
 * All paths of an address space of which the beginning was not seen, or has been
 * forgotten, are one row as well, with HWPROF_PATH_UNSEEN and no addresses.
 *
 * Basis time: the path that a window was taken on has a row with HWPROF_PATH_OPEN,
 * which says how it began, what jumps it had taken, and as `end` where it was; of
 * one that began unseen, that alone. What path it became is not known. `count` is
 * windows, which are no units: the row's period is 0.
 *
 * Of an event that has cct as well, what ran in two contexts is two rows, with
 * HWPROF_PATH_IN_CONTEXT: behind the jumps that are spelled follows a __u64, the
 * id (struct hwprof_row_context) of the procedure's context; 0 where the beginning
 * was not seen.
 */
#define HWPROF_PATH_JUMPS_MAX		64

struct hwprof_row_path {
	struct hwprof_row row;
	__u64 start;		/* address of the first instruction */
	__u64 end;		/* of the last one: a back edge or a return; open:
				 * of the one that ran */
	__u64 target;		/* where the back edge leads; 0: a return, or open */
	__u64 count;		/* that were finished: the unit; open: windows */
	__u64 cycles;		/* on them, where the source knows; else 0 */
	__u32 length;		/* jumps from start to end, up to 65535 */
	__u32 spelled;		/* jumps that follow */
	__u32 flags;		/* HWPROF_PATH_* */
	__u32 basis;		/* enum hwprof_basis */
	struct hwprof_path_jump jumps[];
	/* HWPROF_PATH_IN_CONTEXT: __u64 context; */
};

/*
 * The values that a load gave, of its executions since its last row (Zilles, Sohi:
 * A Programmable Co-processor for Profiling, section 5; docs/values.md). A value
 * was given at least `hits` times, and at most `missed` times more: while it was
 * not followed. To sum rows, add up hits and missed by value; where only one has
 * the value, what the other has in no value may be its, too, and is added to
 * `missed`: loads - unseen - the sum of its hits.
 *
 * Executions in a row that gave the same value are a run. Of two runs one behind
 * the other, the second one's value less the first one's is a stride.
 */
#define HWPROF_VALUES_MAX	4

struct hwprof_value {
	__u64 value;		/* the first eight bytes, as a number */
	__u64 hits;
	__u64 missed;
};

struct hwprof_row_value {
	struct hwprof_row row;
	__u64 ip;		/* the instruction that loads */
	__u64 loads;		/* executions: the unit */
	__u64 unseen;		/* of these, whose value was not looked at */
	__u64 runs;
	__u64 breaks;		/* of runs: what was before was not seen */
	__u64 stride;		/* between most runs; 0: none */
	__u64 strides;		/* of runs: so much behind the one before */
	__u32 width;		/* bytes that it reads */
	__u32 basis;		/* enum hwprof_basis */
	__u32 count;		/* of values */
	__u32 reserved;
	struct hwprof_value values[HWPROF_VALUES_MAX];
};

/*
 * /dev/hwprof: a session of one's own, whose rows are fetched when one likes.
 * docs/device.md has an example.
 *
 *	fd = open(HWPROF_DEVICE, O_RDWR | O_CLOEXEC);
 *	ioctl(fd, HWPROF_IOC_CONFIG, &config);
 *	attr.config2 = (__u64)config.session << 32;
 *	event = perf_event_open(&attr, pid, cpu, -1, 0);	for each CPU
 *	...
 *	ioctl(fd, HWPROF_IOC_SNAPSHOT, &snapshot);
 *
 * An event whose field `session` is the session's number feeds it. Only the
 * process that has made the session can open one, until it execs and as long as
 * the file is open somewhere (EPERM, also for numbers that are nobody's), and with
 * the credentials that it had then (EACCES). What it may look at, perf checks as
 * ever; stepping takes the right to attach to the process as well (EACCES). Such an event says the same as the session
 * of whom it leaves out (exclude_*) and of period and frequency, and the same or
 * 0 in all other fields (EINVAL). It counts, and has no rows in its ring.
 *
 * Who has the file can fetch the rows: passed on or inherited it is the same
 * session. The session ends when the file and its events are closed.
 *
 * The structs begin with their size, as the caller knows them. Where it is
 * larger than the kernel's, what is beyond must be 0; else the ioctl fails with
 * E2BIG, and `size` tells what the kernel knows. Flags that are not known and
 * reserved fields that are not 0 fail with EINVAL. They are the same for 32-bit
 * programs.
 */
#define HWPROF_DEVICE		"/dev/hwprof"

#define HWPROF_IOC_CONFIG	_IO('$', 0x40)	/* struct hwprof_config */
#define HWPROF_IOC_SNAPSHOT	_IO('$', 0x41)	/* struct hwprof_snapshot */
#define HWPROF_IOC_RESET	_IO('$', 0x42)	/* no argument: 0 */
#define HWPROF_IOC_RING		_IO('$', 0x43)	/* struct hwprof_ring */
#define HWPROF_IOC_UNWIND_TABLE	_IO('$', 0x44)	/* struct hwprof_unwind_table */
#define HWPROF_IOC_UNWIND_MAPS	_IO('$', 0x45)	/* struct hwprof_unwind_maps */

/* Flags of a configuration; the first six are those of perf_event_attr. */
#define HWPROF_CONFIG_EXCLUDE_USER	(1U << 0)
#define HWPROF_CONFIG_EXCLUDE_KERNEL	(1U << 1)
#define HWPROF_CONFIG_EXCLUDE_HV	(1U << 2)
#define HWPROF_CONFIG_EXCLUDE_IDLE	(1U << 3)
#define HWPROF_CONFIG_EXCLUDE_HOST	(1U << 4)
#define HWPROF_CONFIG_EXCLUDE_GUEST	(1U << 5)
#define HWPROF_CONFIG_FREQ		(1U << 6)	/* period is a frequency */

/*
 * Makes the session of an open file; there can be one (EBUSY). What cannot be is
 * refused as perf_event_open() refuses it, and so is `branches`, which has no
 * profile (EOPNOTSUPP). EMFILE: too many sessions; ENOMEM: too much memory.
 */
struct hwprof_config {
	__u32 size;		/* of this struct */
	__u32 flags;		/* HWPROF_CONFIG_* */
	__u64 config;		/* HWPROF_FIELDS; `rows` makes no difference, */
	__u64 config1;
	__u64 config2;		/* `session` is 0 */
	__u64 period;		/* of the trigger, as sample_period or, with
				 * HWPROF_CONFIG_FREQ, sample_freq; 0: the
				 * default, and where all is seen */
	__u32 session;		/* out: the session's number, not 0; in: 0 */
	__u32 reserved;		/* 0 */
};

#define HWPROF_CONFIG_SIZE_VER0		48

/*
 * Fetches the rows of all things that grew since their last rows: each says the
 * increase, so that the sum of all snapshots is what there is; docs/rows.md says
 * how to add them up. The last one is the totals'. Nobody waits for a reader.
 *
 * What does not fit comes next time, as `more` says. A snapshot that is not done
 * is gone on with, so that the calls until then are one.
 */
struct hwprof_snapshot {
	__u32 size;		/* of this struct */
	__u32 flags;		/* 0 */
	__u64 buffer;		/* address of the buffer */
	__u64 buffer_size;	/* bytes: HWPROF_SNAPSHOT_MIN or more (EMSGSIZE) */
	__u64 filled;		/* out: bytes of it */
	__u32 more;		/* out: 1: call again; 0: the totals were last */
	__u32 reserved;		/* 0 */
};

#define HWPROF_SNAPSHOT_SIZE_VER0	40
#define HWPROF_SNAPSHOT_MIN		4096

/* What is in a snapshot's buffer or a ring, one behind the other. */
struct hwprof_record {
	__u64 time;		/* of perf's clock, in ns: now or, if its process
				 * has gone by exec or exit, when that was */
	struct hwprof_row row;	/* as PERF_SAMPLE_RAW has it; the next record is
				 * row.size bytes from here */
};

/*
 * Makes the rings of a session, one for each CPU, once (EBUSY). From then on rows
 * are written at each interval's end and when a process exits or execs, as snapshots
 * say them, totals last, to the ring of the CPU that finds them in the profile. So
 * rows of one thing may come by several rings; they add up, and of totals those
 * with the latest time are true. What finds no room waits in the profile, so that
 * no row is lost or overwritten.
 *
 * mmap() of the file, shared, shows one ring or several: ring N begins at offset
 * N * (a page and data_size) with its control page, behind which is its data. The
 * reader, once poll() says EPOLLIN, reads of each ring data_head, then what is from
 * data_tail to there (modulo data_size; a record may begin before the end and go on
 * at the start), and then sets data_tail, in this order: smp_load_acquire(),
 * smp_store_release().
 */
struct hwprof_ring {
	__u32 size;		/* of this struct */
	__u32 flags;		/* 0 */
	__u64 data_size;	/* bytes in each: a power of two, a page or more */
	__u32 watermark;	/* poll: when so many bytes are in one; 0: any */
	__u32 rings;		/* out: how many: CPUs' numbers are below; in: 0 */
};

#define HWPROF_RING_SIZE_VER0		24
#define HWPROF_RING_VERSION		1

struct hwprof_ring_page {
	__u32 version;		/* HWPROF_RING_VERSION */
	__u32 data_offset;	/* of the data, from here */
	__u64 data_size;
	__u64 waited;		/* times that rows found no room here */
	__u64 reserved[125];
	__u64 data_head;	/* written by the kernel, always grows */
	__u64 data_tail;	/* written by the reader */
};

/*
 * Tables for unwinding: where code saves what it returns to, so that samples'
 * stacks of calls need no frame pointers. On x86-64; elsewhere the two ioctls
 * fail with EOPNOTSUPP.
 *
 * A file's tables are for its session or, where it has none, for the sessions of
 * perf events that the process which gave the first table has opened since its
 * exec, as they are at each HWPROF_IOC_UNWIND_MAPS. A session has those of one
 * file, and keeps them until it ends. Both ioctls are for the process that made the
 * file's session and was the first to use one, until it execs; others get EPERM,
 * and it gets EACCES when its credentials have changed. HWPROF_IOC_UNWIND_MAPS also
 * fails with EACCES for a process that the caller may not attach to as a debugger.
 *
 * Where no table says anything, frame pointers are followed. Stacks of programs
 * that an event without a target sees (all tasks of a CPU, a cgroup) are unwound
 * by tables only if its opener has CAP_PERFMON and CAP_SYS_PTRACE: what is found
 * on them is said to be what tables say it is.
 */
enum hwprof_unwind_kind {
	HWPROF_UNWIND_UNKNOWN	= 0,	/* a gap, or too hard: no other field */
	HWPROF_UNWIND_SP	= 1,	/* CFA is rsp, and 8 * cfa more */
	HWPROF_UNWIND_BP	= 2,	/* CFA is rbp, and 8 * cfa more */
	HWPROF_UNWIND_OUTERMOST	= 3,	/* nobody has called it: no other field */
};

/*
 * What is true from one instruction to the next row's. The canonical frame address
 * (CFA) is rsp as it was before the call; the return address is in the eight bytes
 * below it.
 */
struct hwprof_unwind_row {
	__u32 start;		/* bytes from the table's base on */
	__u16 cfa;		/* eight bytes each; not 0 */
	__u8 bp;		/* the caller's rbp is 8 * bp below the CFA; 0: in
				 * rbp, as it is */
	__u8 kind;		/* enum hwprof_unwind_kind */
};

/*
 * Adds a table, which stays until the file and its sessions are closed. It counts
 * as locked memory and to the limits (ENOMEM). EINVAL: rows are not in order, or
 * one is not valid; E2BIG: too many rows; ENOSPC: too many tables.
 */
struct hwprof_unwind_table {
	__u32 size;		/* of this struct */
	__u32 flags;		/* 0 */
	__u64 rows;		/* address of the rows, by start, which differ */
	__u32 count;		/* of them, 1 to HWPROF_UNWIND_ROWS_MAX */
	__u32 table;		/* out: its number, not 0 */
};

#define HWPROF_UNWIND_TABLE_SIZE_VER0	24
#define HWPROF_UNWIND_ROWS_MAX		(1U << 22)
#define HWPROF_UNWIND_TABLES_MAX	4096

struct hwprof_unwind_map {
	__u64 start;		/* of the code that is mapped */
	__u64 end;		/* first address behind it, less than 4 GiB from base */
	__u64 base;		/* what its table counts from, no higher than start */
	__u32 table;		/* number of a table of the same file */
	__u32 reserved;		/* 0 */
};

/*
 * Says where a process has code of which there are tables: all of it, instead of
 * what was said before. It holds until the process execs; what it forks has the
 * same maps until it execs or they are said anew.
 *
 * ESRCH: there is no such process, or it has no memory; EINVAL: maps overlap, are
 * not in order or not valid; E2BIG: too many; ENOSPC: there are too many programs.
 */
struct hwprof_unwind_maps {
	__u32 size;		/* of this struct */
	__u32 flags;		/* 0 */
	__u64 maps;		/* address of the maps, by start */
	__u32 count;		/* of them, 0 to HWPROF_UNWIND_MAPS_MAX */
	__u32 pid;		/* in the caller's namespace */
};

#define HWPROF_UNWIND_MAPS_SIZE_VER0	24
#define HWPROF_UNWIND_MAPS_MAX		8192

#endif /* _UAPI_LINUX_HWPROF_H */
