/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hwprof: loops, paths, calls, values and ranges, summarised in the kernel.
 *
 * This header is the whole ABI between the kernel module and user space: the
 * bit map of perf_event_attr's config words, the rows that arrive as
 * PERF_SAMPLE_RAW, and the device /dev/hwprof. Numbers are in the machine's
 * byte order. Addresses are virtual addresses of the profiled process, unless
 * a field says otherwise.
 *
 * Words that comments here use, as docs/glossary.md defines them:
 *
 *	unit		what an event counts: back edges, calls, paths, ...
 *	window		a short run of consecutive branches that were seen, with
 *			a gap on both sides
 *	gap		a place in the stream where code ran unseen
 *	source		where branches come from: step, lbr or sample
 *	trigger		the counter or clock whose overflow begins a sample, a
 *			burst of stepping, or a reading of branch records
 *	session		what one opener asked for, with one configuration
 *	increase	the growth of a count since the last row of its thing
 */
#ifndef _UAPI_LINUX_HWPROF_H
#define _UAPI_LINUX_HWPROF_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define HWPROF_ABI_VERSION	1
#define HWPROF_PMU_NAME		"hwprof"

/*
 * The parameters of an event. The format attributes in sysfs, the module's
 * parser, the tools' parser and the manual are generated from this table, which
 * keeps them in agreement. Each line is
 *
 *	F(X, name, word, low bit, high bit, role, description)
 *
 * Word 0 is attr.config, 1 is attr.config1, 2 is attr.config2. A field that is
 * 0 has its default. Bits that belong to no field must be 0 (else EINVAL). The
 * role is one of enum hwprof_role, without its prefix.
 *
 * To use the table, call HWPROF_FIELDS() or HWPROF_FIELDS_WITH_ROLES().
 */
#define HWPROF_FIELD_TABLE(F, X)					\
	/* one, or several of loops, calls, paths, cct, edges */	\
	F(X, branches, 0, 0, 0, PROFILE, "the branches themselves")	\
	F(X, loops, 0, 1, 1, PROFILE,					\
		"loops: entries, iterations, trip counts")		\
	F(X, calls, 0, 2, 2, PROFILE, "methods and call pairs")		\
	F(X, paths, 0, 3, 3, PROFILE, "acyclic paths of a procedure")	\
	F(X, values, 0, 4, 4, PROFILE, "values that loads give")	\
	F(X, ranges, 0, 5, 5, PROFILE, "hot ranges of a 64-bit stream")	\
	F(X, cct, 0, 6, 6, PROFILE, "calling contexts")			\
	F(X, edges, 0, 7, 7, PROFILE, "branches, and the lines behind them") \
	/* at most one; none: the one that sees most here */		\
	F(X, step, 0, 8, 8, SOURCE, "software single stepping")		\
	F(X, lbr, 0, 9, 9, SOURCE, "hardware branch records")		\
	F(X, sample, 0, 10, 10, SOURCE, "overflows of a counter")	\
	F(X, mem, 0, 11, 11, SOURCE, "precise memory accesses")		\
	F(X, rows, 0, 12, 12, PARAMETER, "give rows, not samples")	\
	F(X, trigger_edge, 0, 13, 13, TRIGGER,				\
		"trigger: how often it begins to happen")		\
	F(X, trigger_inv, 0, 14, 14, TRIGGER,				\
		"trigger: in cycles with fewer than trigger_cmask")	\
	F(X, trigger_any, 0, 15, 15, TRIGGER,				\
		"trigger: of all threads of the core")			\
	F(X, memory_mib, 0, 16, 27, PARAMETER,				\
		"memory of the session in MiB; 0: 1 MiB")		\
	F(X, trigger_high, 0, 28, 31, TRIGGER,				\
		"trigger: bits 8 to 11 of AMD's event code")		\
	F(X, span, 0, 32, 63, PARAMETER,				\
		"longest back edge in bytes; 0: 1 MiB")			\
	F(X, burst, 1, 0, 15, PARAMETER,				\
		"branches that step takes at a time; 0: all of them")	\
	F(X, budget_permille, 1, 16, 25, PARAMETER,			\
		"what windows and samples may cost, in thousandths "	\
		"of the program's time; 0: not limited")		\
	F(X, metrics, 1, 26, 28, PARAMETER,				\
		"counters in the event's group whose increase "		\
		"contexts of samples have, up to 4; 0: none")		\
	F(X, interval_ms, 1, 32, 47, PARAMETER,				\
		"milliseconds between rows; 0: 1000")			\
	F(X, trigger, 1, 48, 63, TRIGGER,				\
		"raw event that windows and samples are taken at: "	\
		"event code and umask; 0: lbr: taken branches, "	\
		"others: CPU time")					\
	F(X, epsilon_ppm, 2, 0, 19, PARAMETER,				\
		"largest error of a range, up to 1000000; 0: 10000")	\
	F(X, range_of, 2, 20, 23, PARAMETER,				\
		"what ranges are of, see HWPROF_RANGES_OF; 0: code")	\
	F(X, trigger_cmask, 2, 24, 31, TRIGGER,				\
		"trigger: in cycles with so many or more")		\
	F(X, session, 2, 32, 63, PARAMETER, "session opened at /dev/hwprof")

/*
 * enum hwprof_role - what a field of HWPROF_FIELDS says
 *
 * @HWPROF_ROLE_PROFILE: what is profiled. At least one must be set.
 * @HWPROF_ROLE_SOURCE: where events come from.
 * @HWPROF_ROLE_TRIGGER: a part of the trigger's event. See HWPROF_TRIGGER.
 * @HWPROF_ROLE_PARAMETER: anything else.
 */
enum hwprof_role {
	HWPROF_ROLE_PROFILE,
	HWPROF_ROLE_SOURCE,
	HWPROF_ROLE_TRIGGER,
	HWPROF_ROLE_PARAMETER,
};

/* HWPROF_FIELDS(X): X(name, word, low bit, high bit, description) */
#define HWPROF_FIELD_BITS(X, name, word, low, high, role, text)		\
	X(name, word, low, high, text)
#define HWPROF_FIELDS(X)	HWPROF_FIELD_TABLE(HWPROF_FIELD_BITS, X)

/* HWPROF_FIELDS_WITH_ROLES(X): X(name, word, low bit, high bit, role) */
#define HWPROF_FIELD_ROLE(X, name, word, low, high, role, text)		\
	X(name, word, low, high, HWPROF_ROLE_##role)
#define HWPROF_FIELDS_WITH_ROLES(X)					\
	HWPROF_FIELD_TABLE(HWPROF_FIELD_ROLE, X)

/*
 * HWPROF_TRIGGER(X): how the fields of a trigger make up a raw event, as the
 * CPU's PMU and perf's rNNN encode it.
 *
 *	X(field, lowest bit of the field in the raw event)
 */
#define HWPROF_TRIGGER(X)						       \
	X(trigger,	   0)						       \
	X(trigger_edge,	  18)						       \
	X(trigger_any,	  21)						       \
	X(trigger_inv,	  23)						       \
	X(trigger_cmask,  24)						       \
	X(trigger_high,	  32)

/*
 * HWPROF_RANGES_OF(X): the values of the field range_of, which says what
 * ranges are of. Value 0 counts the target of each taken branch or, with
 * the source sample, the instruction that each sample found.
 *
 *	X(constant, number, name, description)
 */
#define HWPROF_RANGES_OF(X)						       \
	X(IP,		 0, "ip", "where branches lead, or samples hit")      \
	X(LOAD_VALUE,	 1, "load-value", "values of loads of up to 8 bytes")  \
	X(LOAD_ADDRESS,	 2, "load-address", "addresses of loads")	       \
	X(STORE_ADDRESS, 3, "store-address", "addresses of stores")	       \
	X(CALLEE,	 4, "callee", "where calls lead")		       \
	X(ZERO_ADDRESS,	 5, "zero-address", "addresses of loads that gave 0")  \
	X(NARROW_IP,	 6, "narrow-ip",				       \
		"instructions whose operand in memory fits in 16 bits")	       \
	X(IP_LOAD_ADDRESS,  7, "ip-load-address",			       \
		"pairs: instructions, and the addresses that they load")       \
	X(IP_STORE_ADDRESS, 8, "ip-store-address",			       \
		"pairs: instructions, and the addresses that they store to")

enum hwprof_range_of {
#define X(constant, number, name, what)	HWPROF_RANGE_##constant = (number),
	HWPROF_RANGES_OF(X)
#undef X
	HWPROF_RANGES_OF_COUNT
};

#define HWPROF_DEFAULT_MEMORY_MIB	1
#define HWPROF_DEFAULT_SPAN		(1U << 20)	/* bytes */
#define HWPROF_DEFAULT_INTERVAL_MS	1000
#define HWPROF_DEFAULT_EPSILON_PPM	10000
#define HWPROF_EPSILON_PPM_MAX		1000000
#define HWPROF_BUDGET_PERMILLE_MAX	1000
#define HWPROF_METRICS_MAX		4
/*
 * Limits of the field burst, in branches. The first branch of a burst only
 * says where the first straight line begins, so that a burst needs two.
 */
#define HWPROF_BURST_MIN		2
#define HWPROF_BURST_MAX		16383

/*
 * Every row begins with this header. PERF_SAMPLE_RAW holds one row, and four
 * zero bytes behind it, which bring the sample to perf's alignment. A reader
 * uses @size to skip a row whose type it does not know, and ignores what a row
 * has behind the fields that the reader knows.
 *
 * The sample around a row has
 *
 *	IP		the place of the thing that the row is about
 *	ADDR		its other end
 *	PERIOD		the increase of the event's unit, so that the periods
 *			of a file add up to the event's count
 *	PID, TID	the process that the row is about
 *	TIME		no later than the exec or exit of that process
 */
struct hwprof_row {
	__u16 type;		/* enum hwprof_row_type */
	__u16 size;		/* bytes with this header; a multiple of 8 */
	/*
	 * Address space: a process from one exec to the next. The number is
	 * unique in its session. 0: the kernel's, or none.
	 */
	__u32 space;
	__u32 session;		/* unique until the module is unloaded */
	__u32 pid;		/* process, in the opener's pid namespace */
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

/* How the counts of a row arose, and so what they are true of. */
enum hwprof_basis {
	HWPROF_BASIS_EXACT	= 1,	/* every branch was seen */
	HWPROF_BASIS_BRANCHES	= 2,	/* windows chosen by branch counts */
	HWPROF_BASIS_TIME	= 3,	/* windows chosen by CPU time */
};

/* Where a session's events come from: the fields of the same names. */
enum hwprof_source {
	HWPROF_SOURCE_STEP	= 1,
	HWPROF_SOURCE_LBR	= 2,
	HWPROF_SOURCE_SAMPLE	= 3,
	HWPROF_SOURCE_MEM	= 4,	/* not implemented: refused */
};

/*
 * Totals of the session since it was made or last reset. They follow other
 * rows; the last totals of a file are those of the run. At any time
 *
 *	produced = delivered + lost + evicted + pending
 *
 * and these five are in the event's unit. Rows of older modules end before
 * @cost_ns or before @unmeasured: see hwprof_row.size.
 */
struct hwprof_row_totals {
	struct hwprof_row row;
	__u64 produced;		/* units that the source fed */
	__u64 delivered;	/* units that rows before this one carried */
	__u64 lost;		/* units fed while no table, cursor or record of
				 * the address space was free */
	__u64 evicted;		/* units given up because memory was full */
	__u64 pending;		/* units in tables, for later rows */
	__u64 events;		/* events of the stream, of any kind */
	__u64 gaps;		/* gaps in the stream */
	__u64 lost_events;	/* events of the stream that no engine saw */
	__u64 memory;		/* bytes that the session holds; constant */
	__u64 windows;		/* windows that were taken, and merged */
	__u32 basis;		/* enum hwprof_basis */
	__u32 source;		/* enum hwprof_source; 0: not known */
	__u64 cost_ns;		/* time that windows and samples took, in ns */
	/* Time of the programs while profiled, in ns; includes cost_ns. */
	__u64 task_ns;
	__u32 budget_permille;	/* the budget now in force; 0: no limit */
	/*
	 * How often parameters have changed since the session was made, and the
	 * mask since an event of it has run: see HWPROF_IOC_TUNE and _MASK. The
	 * first totals with a new number say from when.
	 */
	__u32 changes;
	/*
	 * Samples for which a counter of the event's group was missing or did
	 * not count; and what each counter counted for the other samples.
	 * Counters are in the order of the group: see the field metrics.
	 */
	__u64 unmeasured;
	__u64 metrics[HWPROF_METRICS_MAX];
};

/* How control went from one address to another. */
enum hwprof_branch_kind {
	HWPROF_BRANCH_COND	= 1,	/* conditional jump that was taken */
	HWPROF_BRANCH_JUMP	= 2,	/* direct jump */
	HWPROF_BRANCH_INDIRECT	= 3,	/* jump through a register or memory */
	HWPROF_BRANCH_CALL	= 4,	/* call, direct or indirect */
	HWPROF_BRANCH_RET	= 5,	/* return */
	/* System call. @to is where the program went on afterwards. */
	HWPROF_BRANCH_SYSCALL	= 6,
	/*
	 * A signal's handler begins at @to. @from is the instruction that the
	 * program executes next when the handler has returned.
	 */
	HWPROF_BRANCH_SIGNAL	= 7,
	/* A handler has ended. The program executes @to next. */
	HWPROF_BRANCH_SIGRETURN	= 8,
	/* Code ran unseen. The program goes on at @to. */
	HWPROF_BRANCH_GAP	= 9,
};

/* Flags of a branch. */
#define HWPROF_BRANCH_MISPREDICTED	(1U << 0)
/* The stack pointer is known: see HWPROF_BRANCH_STACK_POINTER(). */
#define HWPROF_BRANCH_STACK		(1U << 1)
/* All flags. The bits above them hold a part of the stack pointer. */
#define HWPROF_BRANCH_FLAGS		3U

struct hwprof_branch {
	__u64 from;		/* address of the branch instruction */
	__u64 to;		/* address of the instruction executed next */
	__u16 kind;		/* enum hwprof_branch_kind */
	__u16 flags;		/* HWPROF_BRANCH_* */
	union {
		__u32 cycles;	/* since the branch before; 0: not known */
		__u32 stack;	/* with HWPROF_BRANCH_STACK: see below */
	};
};

/*
 * Returns the stack pointer behind a branch that has HWPROF_BRANCH_STACK; for a
 * signal, the stack pointer where the signal interrupted the program. Only bits
 * 2 to 47 are kept; all other bits of the result are 0.
 */
#define HWPROF_BRANCH_STACK_POINTER(branch)				      \
	((__u64)((branch)->flags >> 2) << 34 | (__u64)(branch)->stack << 2)

#define HWPROF_ROW_BRANCHES_MAX		128

/*
 * Consecutive taken branches of one thread, oldest first: the rows of
 * hwprof/branches/.
 */
struct hwprof_row_branches {
	struct hwprof_row row;
	__u32 tid;		/* thread, in the opener's pid namespace */
	__u32 count;		/* of branches, 1 to HWPROF_ROW_BRANCHES_MAX */
	/*
	 * Number of the first branch. A session numbers the branches and gaps
	 * of each thread from 0, so that a reader notices missing ones.
	 */
	__u64 sequence;
	struct hwprof_branch branches[];
};

#define HWPROF_TRIP_BUCKETS	24

/*
 * A loop: the region [head, tail] of the taken backward branches to one head
 * (Nair, Lysecky: DAProf, section 3.2, with what docs/definitions.md adds).
 *
 * A trip count is the number of iterations of one execution. Executions of trip
 * count 1 take no back edge. They are in none of @executions, @trip_min,
 * @trip_max, @trip_recent and @trips; there are entries - executions - unclosed
 * of them. Rows of windows have no trip statistics, because executions are not
 * followed there; @trip_min, @trip_max, @trip_recent and @trips are 0.
 */
struct hwprof_row_loop {
	struct hwprof_row row;
	__u64 head;		/* address of the first instruction */
	__u64 tail;		/* address of the farthest branch to head */
	__u64 back_edges;	/* increase: taken branches to head; the unit */
	/*
	 * Increase: how often control came in from outside. It is negative
	 * where the region grew over code whose entries earlier rows counted.
	 */
	__s64 entries;
	__u64 executions;	/* increase: seen from entry to exit, with at
				 * least one back edge */
	__u64 unclosed;		/* increase: executions seen in part only */
	__u64 unused;		/* 0 */
	__u64 trip_min;		/* least trip count so far; 0: none yet */
	__u64 trip_max;		/* greatest trip count so far; 0: none yet */
	/*
	 * Average trip count, in 1/256. Each execution weighs 7/8 as much as
	 * the one after it. 0: no execution yet.
	 */
	__u64 trip_recent;
	__u32 tails;		/* how often the region grew, plus 1 */
	/*
	 * Executions that the trip statistics may have split in two, or may
	 * lack because the loop was evicted.
	 */
	__u32 tolerance;
	__u32 basis;		/* enum hwprof_basis */
	__u32 reserved;		/* 0 */
	/*
	 * Increase: sums over windows of a window's back edges squared, of its
	 * entries squared, and of the product of both. A reader computes
	 * confidence intervals from them. 0 if the basis is exact.
	 */
	__u64 sum_back_sq;
	__u64 sum_entry_sq;
	__u64 sum_cross;
	/*
	 * Increase: executions with a trip count in [2^i, 2^(i+1)). The last
	 * bucket has all longer ones, too.
	 */
	__u32 trips[HWPROF_TRIP_BUCKETS];
};

/*
 * A range of addresses or values (Mysore et al.: Profiling over Adaptive
 * Ranges, section 2; docs/ranges.md). A range is aligned, and its size is a
 * power of four. Two ranges are disjoint, or one contains the other.
 *
 * An event is counted in the smallest range around it that exists at that time.
 * A reader adds up @count by (session, space, low, bits). The events of a range
 * are at least its own count and those of all ranges inside it. They are at
 * most that, the counts of all ranges around it, and what the totals say was
 * evicted.
 */
struct hwprof_row_range {
	struct hwprof_row row;
	__u64 low;		/* lowest value: a multiple of the size */
	__u64 count;		/* increase: weight of events; the unit */
	__u32 bits;		/* log2 of the size: 0, 2, ... 64 */
	__u16 basis;		/* enum hwprof_basis */
	__u16 of;		/* enum hwprof_range_of */
};

/*
 * A box: a range of pairs, of an instruction and an address that it accesses
 * (section 5.5 of the same paper). It is an aligned range of code by an aligned
 * range of addresses. Two boxes of an address space are disjoint, or one
 * contains the other. A reader adds up @count by box; bounds are as for ranges.
 *
 * A box of 2^n pairs has the largest of n - 64, n / 2 - 6 and 0 bits of code;
 * the rest are bits of addresses.
 */
struct hwprof_row_box {
	struct hwprof_row row;
	__u64 code;		/* lowest address of the code */
	__u64 low;		/* lowest address of what the code accesses */
	__u64 count;		/* increase: events; the unit */
	__u16 code_bits;	/* log2 of the bytes of code, 0 to 64 */
	__u16 bits;		/* log2 of the bytes from low on, 0 to 64 */
	__u16 basis;		/* enum hwprof_basis */
	__u16 of;		/* enum hwprof_range_of */
};

/*
 * A call pair: a call site and the procedure that was called there (Mousa,
 * Krintz: HPS, section 6.1; docs/calls.md). Space 0 is the kernel.
 *
 * A reader adds up @calls by pair, and takes @error and @evicted from the row
 * that has most of them. The pair was called at least @calls times. It was
 * called at most @error times more, plus the calls that were evicted after its
 * last row: the totals' evicted less this row's.
 */
struct hwprof_row_call {
	struct hwprof_row row;
	__u64 site;		/* address of the call */
	__u64 callee;		/* first instruction of the procedure */
	__u64 calls;		/* increase: the unit */
	__u64 error;		/* further calls it may have had so far */
	__u64 evicted;		/* calls of the session evicted so far */
	__u64 sum_sq;		/* increase: sum over windows of a window's
				 * calls squared; 0 if the basis is exact */
	__u32 basis;		/* enum hwprof_basis */
	__u32 reserved;		/* 0 */
};

/* Flags of an edge. */
#define HWPROF_EDGE_PREDICTION	(1U << 0)	/* mispredicted is known */

/*
 * An edge: a branch, its target, and the straight line from there to the next
 * taken branch, at @end (docs/edges.md). The unit is the branch that ends the
 * line. Space 0 is the kernel.
 *
 * @from is 0 if the beginning of the line was not seen; then @to may be 0, too.
 * @end is 0 if the end of the line was not seen, because a window ended or a
 * signal came. Such a row has no units: its sample's period is 0.
 *
 * The edge was taken at least @count times. For an edge with both ends, @error
 * and @evicted bound that from above as in struct hwprof_row_call.
 */
struct hwprof_row_edge {
	struct hwprof_row row;
	__u64 from;		/* address of the branch; 0: not known */
	__u64 to;		/* address that it led to; 0: not known */
	__u64 end;		/* address of the next taken branch, or 0 */
	__u64 count;		/* increase: the unit if end is not 0 */
	__u64 mispredicted;	/* increase: those of count that the CPU had
				 * mispredicted; 0 without
				 * HWPROF_EDGE_PREDICTION */
	__u64 cycles;		/* increase: cycles on the line, with the branch
				 * that ends it; 0: not known */
	__u64 error;		/* further times it may have had so far */
	__u64 evicted;		/* branches of the session evicted so far */
	__u64 sum_sq;		/* increase: sum over windows of a window's
				 * count squared; 0 if the basis is exact */
	__u32 kind;		/* enum hwprof_branch_kind of the branch at
				 * from; 0: not known */
	__u32 flags;		/* HWPROF_EDGE_* */
	__u32 basis;		/* enum hwprof_basis */
	__u32 reserved;		/* 0 */
};

/* Kinds of contexts. */
enum hwprof_context_kind {
	/* Neither the procedure nor its caller is known. */
	HWPROF_CONTEXT_ROOT	= 1,
	/* A procedure that was called from its parent. */
	HWPROF_CONTEXT_CALL	= 2,
	/* A signal's handler, which is a root. */
	HWPROF_CONTEXT_SIGNAL	= 3,
	/* No node of the tree: an edge back to an ancestor. */
	HWPROF_CONTEXT_RECURSION = 4,
};

/*
 * A node of the calling context tree, or a recursive edge in it (Ammons, Ball,
 * Larus: Exploiting Hardware Performance Counters with Flow and Context
 * Sensitive Profiling, section 4; docs/contexts.md). A reader adds up increases
 * by (session, id). The row of a parent may come after those of its children.
 *
 * If the basis is exact, every call was seen. Else stacks of calls were
 * sampled: a row may then have no counts and only say what a context is, and
 * recursive edges have no counts.
 */
struct hwprof_row_context {
	struct hwprof_row row;
	__u64 id;		/* the same for one chain of calls as long as
				 * the session lives; never 0 */
	__u64 parent;		/* id of the caller; 0: this is a root */
	__u64 callee;		/* first instruction of the procedure, or with
				 * samples any address in it; 0: not known */
	__u64 site;		/* address of the call, or with samples any byte
				 * of it; 0: a root, or not known */
	__u64 target;		/* recursion: id of the ancestor; else 0 */
	union {
		__u64 calls;	/* exact. Increase: times entered; the unit */
		__u64 weight;	/* samples. Increase: weight of those that found
				 * the procedure itself; the unit */
	};
	__u64 deeper;		/* increase: calls below it that were too deep
				 * for contexts of their own, or with samples
				 * their weight; also in the unit */
	union {
		__u64 branches;	/* exact. Increase: branches that the procedure
				 * itself took */
		__u64 samples;	/* samples. Increase: how many found the
				 * procedure itself */
	};
	__u32 kind;		/* enum hwprof_context_kind */
	__u32 basis;		/* enum hwprof_basis */
	/*
	 * Rows of events without the field metrics end here. The others have
	 * the value of that field, and for each counter of the event's group,
	 * in the group's order, the increase of what it counted from one sample
	 * to the next. That is counted for the later sample.
	 */
	__u32 metric_count;
	__u32 reserved;		/* 0 */
	__u64 metrics[HWPROF_METRICS_MAX];
};

#define HWPROF_ROW_CONTEXT_SIZE_VER0	88

/*
 * Windows that were taken at an address. There are such rows only if the basis
 * is time. A window stands for the time of the smallest loop around @ip, which
 * a reader knows when it has all rows of loops. The sample's period is 0,
 * because windows are no units.
 */
struct hwprof_row_time {
	struct hwprof_row row;
	__u64 ip;
	__u64 windows;		/* increase */
};

/* Flags of a path. */
/* The path begins where a call led. Else it begins where a back edge did. */
#define HWPROF_PATH_CALLED	(1U << 0)
/* The beginning of the path was not seen. */
#define HWPROF_PATH_UNSEEN	(1U << 1)
/* The path was in flight when windows were taken; it had not ended. */
#define HWPROF_PATH_OPEN	(1U << 2)
/* The id of the context that the path ran in follows the jumps. */
#define HWPROF_PATH_IN_CONTEXT	(1U << 3)

struct hwprof_path_jump {
	__u64 from;		/* address of the jump instruction */
	__u64 to;		/* where it led: above from */
};

#define HWPROF_PATH_JUMPS_MAX		64

/*
 * An acyclic path of a procedure: from its entry or a back edge's target to the
 * next back edge or return, with calls stepped over (Ammons, Ball, Larus,
 * section 2, with what docs/paths.md adds). Between taken jumps are straight
 * lines, so that the jumps describe the path. A row spells the first jumps out,
 * HWPROF_PATH_JUMPS_MAX at most. Paths that agree in these, in @length and in
 * their ends are one row.
 *
 * HWPROF_PATH_UNSEEN: one row has all paths of an address space whose beginning
 * was not seen or is forgotten. Its addresses, @length and context are 0.
 *
 * HWPROF_PATH_OPEN, only if the basis is time: the row has how the path began,
 * the jumps it had taken, and as @end the instruction that ran when the windows
 * were taken. With HWPROF_PATH_UNSEEN it has @end only. What the path became is
 * not known. @count is windows; the sample's period is 0, because windows are
 * no units.
 *
 * HWPROF_PATH_IN_CONTEXT: each path row of an event with paths and cct has it.
 * A __u64 follows the spelled jumps: hwprof_row_context.id of the procedure's
 * context. A path that ran in two contexts has two rows.
 */
struct hwprof_row_path {
	struct hwprof_row row;
	__u64 start;		/* address of the first instruction */
	__u64 end;		/* address of the last instruction: the back
				 * edge or the return; open: see above */
	__u64 target;		/* where the back edge leads; 0: a return, or
				 * open */
	__u64 count;		/* increase: paths that ended, the unit; open:
				 * windows */
	__u64 cycles;		/* increase: cycles on the paths, without their
				 * calls; 0: not known */
	__u32 length;		/* jumps from start to end, up to 65535 */
	__u32 spelled;		/* jumps that follow */
	__u32 flags;		/* HWPROF_PATH_* */
	__u32 basis;		/* enum hwprof_basis */
	struct hwprof_path_jump jumps[];
	/* With HWPROF_PATH_IN_CONTEXT: __u64 context; */
};

#define HWPROF_VALUES_MAX	4

/* A value that a load gave. All counts are increases. */
struct hwprof_value {
	__u64 value;		/* the first eight bytes, as a number */
	__u64 hits;		/* executions that gave it: so many at least, */
	__u64 missed;		/* and at most so many more */
};

/*
 * The values that a load gave (Zilles, Sohi: A Programmable Co-processor for
 * Profiling, section 5; docs/values.md). @hits of a value is a lower bound;
 * @missed counts executions while the value was not followed.
 *
 * A reader adds up hits and missed by (session, space, ip, value). If only one
 * of two sums has a value, the executions of the other that are in none of its
 * values may be the value's: loads - unseen - the sum of hits. The reader adds
 * them to missed.
 *
 * A run is a number of consecutive executions that gave one value. A stride is
 * the value of a run less the value of the run before it.
 */
struct hwprof_row_value {
	struct hwprof_row row;
	__u64 ip;		/* address of the load */
	__u64 loads;		/* increase: executions; the unit */
	__u64 unseen;		/* increase: loads whose value was not read */
	__u64 runs;		/* increase */
	__u64 breaks;		/* increase: runs for which the execution before
				 * was not seen */
	__u64 stride;		/* the most frequent one, as a signed number;
				 * 0: none */
	__u64 strides;		/* increase: runs that began with that stride */
	__u32 width;		/* bytes that the load reads */
	__u32 basis;		/* enum hwprof_basis */
	__u32 count;		/* of values, 0 to HWPROF_VALUES_MAX */
	__u32 reserved;		/* 0 */
	struct hwprof_value values[HWPROF_VALUES_MAX];
};

/*
 * /dev/hwprof: a session of one's own, whose rows are fetched on demand.
 * docs/device.md has an example.
 *
 *	fd = open(HWPROF_DEVICE, O_RDWR | O_CLOEXEC);
 *	ioctl(fd, HWPROF_IOC_CONFIG, &config);
 *	attr.config2 = (__u64)config.session << 32;
 *	event = perf_event_open(&attr, pid, cpu, -1, 0);	for each CPU
 *	...
 *	ioctl(fd, HWPROF_IOC_SNAPSHOT, &snapshot);
 *
 * Feeding. A perf event feeds the session whose number its field session has.
 * perf_event_open() fails for such an event with
 *
 *	EPERM	the caller is not the process that made the session, or has
 *		exec'ed since, or the file is closed, or there is no such
 *		session
 *	EACCES	the caller's credentials have changed since, or it may not look
 *		at the target; stepping needs the right to attach to it
 *	EINVAL	exclude_*, period or frequency differ from the session's, or
 *		another field is neither 0 nor the session's; or the session
 *		steps without naming step, and the target is neither the
 *		caller nor its child
 *
 * The event counts, and has no rows in its perf ring.
 *
 * Reading. Every process that has the file may fetch rows; a file that was
 * passed on or inherited is the same session. The session ends when the file
 * and its events are closed.
 *
 * Structs. Each struct of an ioctl begins with its size as the caller knows it,
 * and is the same for 32-bit programs. All ioctls that take one fail with
 *
 *	EINVAL	size is less than that of the first version, a flag is not
 *		known, or a reserved field is not 0
 *	E2BIG	size is more than a page, or bytes that the kernel does not know
 *		are not 0; size then becomes what the kernel knows
 *	EFAULT	the struct cannot be read or written
 */
#define HWPROF_DEVICE		"/dev/hwprof"

#define HWPROF_IOC_CONFIG	_IO('$', 0x40)	/* struct hwprof_config */
#define HWPROF_IOC_SNAPSHOT	_IO('$', 0x41)	/* struct hwprof_snapshot */
/*
 * Forgets what the session has learnt: later rows and totals begin at 0. The
 * argument is 0 (EINVAL). ENODATA: there is no session. EAGAIN: a CPU could not
 * be reached, so that some of what was before may come in later rows.
 */
#define HWPROF_IOC_RESET	_IO('$', 0x42)
#define HWPROF_IOC_RING		_IO('$', 0x43)	/* struct hwprof_ring */
#define HWPROF_IOC_UNWIND_TABLE	_IO('$', 0x44)	/* struct hwprof_unwind_table */
#define HWPROF_IOC_UNWIND_MAPS	_IO('$', 0x45)	/* struct hwprof_unwind_maps */
#define HWPROF_IOC_PROGRAM	_IO('$', 0x46)	/* struct hwprof_program */
/* struct hwprof_program_account */
#define HWPROF_IOC_PROGRAM_ACCOUNT	_IO('$', 0x47)
#define HWPROF_IOC_TUNE		_IO('$', 0x48)	/* struct hwprof_tuning */
#define HWPROF_IOC_MASK		_IO('$', 0x49)	/* struct hwprof_mask */

/* Flags of a configuration. The first six are those of perf_event_attr. */
#define HWPROF_CONFIG_EXCLUDE_USER	(1U << 0)
#define HWPROF_CONFIG_EXCLUDE_KERNEL	(1U << 1)
#define HWPROF_CONFIG_EXCLUDE_HV	(1U << 2)
#define HWPROF_CONFIG_EXCLUDE_IDLE	(1U << 3)
#define HWPROF_CONFIG_EXCLUDE_HOST	(1U << 4)
#define HWPROF_CONFIG_EXCLUDE_GUEST	(1U << 5)
#define HWPROF_CONFIG_FREQ		(1U << 6)	/* period is in Hz */

/*
 * HWPROF_IOC_CONFIG makes the session of an open file.
 *
 *	EBUSY		the file has a session
 *	EINVAL		the configuration contradicts itself, or a number is out
 *			of range
 *	EOPNOTSUPP	this machine or version lacks something; or the profile
 *			is branches, which are not summarised
 *	EMFILE, ENFILE	the user, or all users, have too many sessions
 *	ENOMEM		no memory, or a limit of locked memory
 */
struct hwprof_config {
	__u32 size;		/* of this struct */
	__u32 flags;		/* HWPROF_CONFIG_* */
	/* HWPROF_FIELDS. The field rows is ignored, session must be 0. */
	__u64 config;
	__u64 config1;
	__u64 config2;
	/*
	 * Period of the trigger in what it counts, or with HWPROF_CONFIG_FREQ
	 * its frequency in Hz, which is not 0. 0: the default. It must be 0
	 * (EINVAL) if the source has no trigger because it sees all.
	 */
	__u64 period;
	__u32 session;		/* in: 0; out: the session's number, not 0 */
	__u32 reserved;		/* 0 */
};

#define HWPROF_CONFIG_SIZE_VER0		48

/*
 * HWPROF_IOC_SNAPSHOT fetches a row for each thing that grew since its last
 * row. Rows have increases, so that the rows of all snapshots add up to what
 * the session has learnt; docs/rows.md says how. The last row is the totals.
 *
 * Rows that do not fit into the buffer come with the next call: see @more. The
 * calls up to the one that says 0 there are one snapshot. A signal ends a call
 * early, without an error.
 *
 *	ENODATA		the file has no session
 *	EMSGSIZE	buffer_size is less than HWPROF_SNAPSHOT_MIN
 *	EFAULT		the buffer cannot be written; no row is lost
 */
struct hwprof_snapshot {
	__u32 size;		/* of this struct */
	__u32 flags;		/* 0 */
	__u64 buffer;		/* address of the buffer */
	__u64 buffer_size;	/* bytes, HWPROF_SNAPSHOT_MIN or more */
	__u64 filled;		/* out: bytes of the buffer that were written */
	__u32 more;		/* out: 1: call again; 0: totals were last */
	__u32 reserved;		/* 0 */
};

#define HWPROF_SNAPSHOT_SIZE_VER0	40
#define HWPROF_SNAPSHOT_MIN		4096

/* Snapshots and rings hold such records, one behind the other. */
struct hwprof_record {
	/*
	 * perf's clock, in ns: when the process of the row ended by exec or
	 * exit, or else when the record was written.
	 */
	__u64 time;
	/* The row. The next record begins row.size bytes from here. */
	struct hwprof_row row;
};

/*
 * HWPROF_IOC_RING makes the rings of a session, one for each CPU. From then on
 * the kernel writes records at the end of each interval and when a process
 * exits or execs, with the totals last. They go to the ring of the CPU that
 * writes them, so that rows of one thing may be in several rings: add them up.
 * The totals with the latest time are true. Rows that find no room stay in the
 * profile and grow; none is lost or overwritten.
 *
 * mmap() of the file with MAP_SHARED maps one ring or several. Ring N begins at
 * offset N * (page size + @data_size) with its control page, struct
 * hwprof_ring_page; its data follow. When poll() says EPOLLIN, a reader does
 * for each ring:
 *
 *	head = smp_load_acquire(&page->data_head);
 *	read the data from data_tail to head, both modulo data_size
 *	smp_store_release(&page->data_tail, head);
 *
 * A record may begin before the end of the data and go on at its start.
 *
 *	EINVAL		data_size is not a power of two between a page and
 *			1 GiB, or watermark is larger than it
 *	ENODATA		the file has no session
 *	EBUSY		the session has rings
 *	ENOMEM		no memory, or a limit of locked memory
 */
struct hwprof_ring {
	__u32 size;		/* of this struct */
	__u32 flags;		/* 0 */
	__u64 data_size;	/* bytes of data in each ring: a power of two */
	__u32 watermark;	/* bytes in one ring from which poll() is ready;
				 * 0: any record */
	__u32 rings;		/* in: 0; out: how many. Ring N is CPU N's */
};

#define HWPROF_RING_SIZE_VER0		24
#define HWPROF_RING_VERSION		1

struct hwprof_ring_page {
	__u32 version;		/* HWPROF_RING_VERSION */
	__u32 data_offset;	/* bytes from this page's start to the data */
	__u64 data_size;	/* bytes of data */
	__u64 waited;		/* how often rows found no room here */
	__u64 reserved[125];
	__u64 data_head;	/* written by the kernel; only grows */
	__u64 data_tail;	/* written by the reader */
};

/*
 * Tables for unwinding say where code saves its return address, so that stacks
 * of sampled programs can be followed without frame pointers. They are for
 * x86-64. Elsewhere HWPROF_IOC_UNWIND_TABLE and HWPROF_IOC_UNWIND_MAPS fail
 * with EOPNOTSUPP.
 *
 * A file's tables are for its session. A file without a session gives them to
 * the sessions of perf events that the same process opened since its exec; each
 * HWPROF_IOC_UNWIND_MAPS gives them to those that exist then. A session takes
 * the tables of one file and keeps them until it ends. Only the process that
 * made the file's session and was the first to use one of the ioctls may use
 * them, until it execs (EPERM), and with the credentials that it had (EACCES).
 *
 * Frame pointers are followed where no table covers an address. Some events
 * have no target process: they see all tasks of a CPU or a cgroup. These use
 * tables only if their opener may attach to every program (see struct
 * hwprof_mask), because a wrong table could disclose other words of a stack.
 */
enum hwprof_unwind_kind {
	/* Not known, or not to be described. All other fields are 0. */
	HWPROF_UNWIND_UNKNOWN	= 0,
	HWPROF_UNWIND_SP	= 1,	/* CFA = rsp + 8 * cfa */
	HWPROF_UNWIND_BP	= 2,	/* CFA = rbp + 8 * cfa */
	/* The outermost code, which has no caller. All other fields are 0. */
	HWPROF_UNWIND_OUTERMOST	= 3,
};

/*
 * Describes the code from @start to the start of the next row. The canonical
 * frame address (CFA) is the value of rsp before the call. The return address
 * is in the eight bytes below it.
 */
struct hwprof_unwind_row {
	__u32 start;		/* bytes from the base of the table's map */
	__u16 cfa;		/* in units of eight bytes; not 0 */
	__u8 bp;		/* the caller's rbp is at CFA - 8 * bp; 0: it is
				 * in rbp */
	__u8 kind;		/* enum hwprof_unwind_kind */
};

/*
 * HWPROF_IOC_UNWIND_TABLE adds a table, which stays until the file and its
 * sessions are closed. Tables count as locked memory.
 *
 *	EINVAL		no rows; rows are not in order; a row is not valid
 *	E2BIG		more rows than HWPROF_UNWIND_ROWS_MAX
 *	ENOSPC		more tables than HWPROF_UNWIND_TABLES_MAX
 *	EMFILE, ENFILE	too many files of the user, or of all users, have tables
 *	ENOMEM		no memory, or a limit of locked memory
 */
struct hwprof_unwind_table {
	__u32 size;		/* of this struct */
	__u32 flags;		/* 0 */
	__u64 rows;		/* address of the rows; start always ascends */
	__u32 count;		/* of rows, 1 to HWPROF_UNWIND_ROWS_MAX */
	__u32 table;		/* in: 0; out: number of the table, not 0 */
};

#define HWPROF_UNWIND_TABLE_SIZE_VER0	24
#define HWPROF_UNWIND_ROWS_MAX		(1U << 22)
#define HWPROF_UNWIND_TABLES_MAX	4096

struct hwprof_unwind_map {
	__u64 start;		/* first address of the code */
	__u64 end;		/* first address behind it; at most 4 GiB above
				 * base */
	__u64 base;		/* what rows of the table count from; at most
				 * start */
	__u32 table;		/* number of a table of the same file */
	__u32 reserved;		/* 0 */
};

/*
 * HWPROF_IOC_UNWIND_MAPS says where a process has code that tables describe. It
 * replaces the maps that were given before. They hold until the process execs.
 * A forked child has the same maps until it execs or gets others.
 *
 *	ESRCH		there is no such process, or it has no memory
 *	EACCES		the caller may not attach to the process as a debugger
 *	EINVAL		maps overlap, are not in order, or are not valid
 *	E2BIG		more maps than HWPROF_UNWIND_MAPS_MAX
 *	ENOSPC		maps of too many programs
 *	ENOMEM		no memory, or a limit of locked memory
 */
struct hwprof_unwind_maps {
	__u32 size;		/* of this struct */
	__u32 flags;		/* 0 */
	__u64 maps;		/* address of the maps; start ascends */
	__u32 count;		/* of maps, 0 to HWPROF_UNWIND_MAPS_MAX */
	__u32 pid;		/* process, in the caller's pid namespace */
};

#define HWPROF_UNWIND_MAPS_SIZE_VER0	24
#define HWPROF_UNWIND_MAPS_MAX		8192

/*
 * Programs. A session can have BPF programs of the type raw tracepoint, one for
 * each kind of event. The module calls a program for each event of its kind
 * that the session sees, before the session's profile learns from it.
 * docs/programs.md shows how to write one.
 *
 * enum hwprof_program_kind - kinds of events
 *
 * @HWPROF_PROGRAM_BRANCH: a branch that was taken, of any kind, calls and
 *	returns included. Sources step and lbr. The oldest branch of a window of
 *	lbr only says where code begins, and is no event.
 * @HWPROF_PROGRAM_LOAD: an instruction has loaded. Source step.
 * @HWPROF_PROGRAM_STORE: an instruction has stored. Source step.
 * @HWPROF_PROGRAM_CALL: a call. Sources step and lbr.
 * @HWPROF_PROGRAM_RETURN: a return. Sources step and lbr.
 * @HWPROF_PROGRAM_LOOP_EXIT: an execution of a loop that was seen from its
 *	entry to its exit, with at least one back edge. The session profiles
 *	loops, by the source step without bursts.
 * @HWPROF_PROGRAM_PATH_END: the end of a path that was seen from its beginning.
 *	The session profiles paths, by the source step.
 * @HWPROF_PROGRAM_WINDOW_BEGIN: a burst of the source step, or a window of lbr,
 *	begins.
 * @HWPROF_PROGRAM_WINDOW_END: it ends.
 * @HWPROF_PROGRAM_SAMPLE: a sample. Source sample, and lbr for contexts.
 */
enum hwprof_program_kind {
	HWPROF_PROGRAM_BRANCH		= 0,
	HWPROF_PROGRAM_LOAD		= 1,
	HWPROF_PROGRAM_STORE		= 2,
	HWPROF_PROGRAM_CALL		= 3,
	HWPROF_PROGRAM_RETURN		= 4,
	HWPROF_PROGRAM_LOOP_EXIT	= 5,
	HWPROF_PROGRAM_PATH_END		= 6,
	HWPROF_PROGRAM_WINDOW_BEGIN	= 7,
	HWPROF_PROGRAM_WINDOW_END	= 8,
	HWPROF_PROGRAM_SAMPLE		= 9,
	HWPROF_PROGRAM_KINDS
};

/*
 * A program's context is an array of HWPROF_PROGRAM_WORDS words, which it can
 * also read as the struct of the event's kind; each begins with struct
 * hwprof_program_event. Words that a kind does not have are 0. Positions and
 * meanings do not change; later modules may add words at the end.
 */
#define HWPROF_PROGRAM_WORDS	11

/* Positions of the words that each kind has. */
#define HWPROF_PROGRAM_WORD_KIND	0
#define HWPROF_PROGRAM_WORD_SESSION	1
#define HWPROF_PROGRAM_WORD_SPACE	2
#define HWPROF_PROGRAM_WORD_TASK	3
#define HWPROF_PROGRAM_WORD_WEIGHT	4
#define HWPROF_PROGRAM_WORD_COOKIE	5
/* Positions of the first and the last word that differ from kind to kind. */
#define HWPROF_PROGRAM_WORD_FIRST	6
#define HWPROF_PROGRAM_WORD_LAST	10

struct hwprof_program_event {
	__u64 kind;		/* enum hwprof_program_kind */
	__u64 session;		/* hwprof_row.session */
	__u64 space;		/* hwprof_row.space */
	/*
	 * The process in the upper half, the thread in the lower half, as
	 * bpf_get_current_pid_tgid() has them, but in the opener's pid
	 * namespace.
	 */
	__u64 task;
	/*
	 * How much the event stands for. 1: the source sees every event. Else
	 * what the trigger has counted since the window or sample before, in ns
	 * or in what the trigger counts. Sums of weights are in proportion to
	 * what a source that sees every event would count.
	 */
	__u64 weight;
	__u64 cookie;		/* hwprof_program.cookie */
};

/* Flags of events. */
#define HWPROF_PROGRAM_MISPREDICTED	(1U << 0)	/* a branch */
/* A branch: the CPU says whether it was mispredicted. */
#define HWPROF_PROGRAM_PREDICTED	(1U << 1)
/* A load or store: the value could not be read, and is 0. */
#define HWPROF_PROGRAM_NO_VALUE		(1U << 1)

struct hwprof_program_branch {
	struct hwprof_program_event event;
	__u64 from;		/* address of the branch instruction */
	__u64 to;		/* address of the instruction executed next */
	__u64 branch;		/* enum hwprof_branch_kind, without gaps */
	__u64 flags;		/* HWPROF_PROGRAM_* */
	__u64 cycles;		/* since the branch before; 0: not known */
};

/* A load or a store. */
struct hwprof_program_access {
	struct hwprof_program_event event;
	__u64 ip;		/* address of the instruction */
	__u64 address;		/* of the data */
	__u64 width;		/* bytes */
	__u64 flags;		/* HWPROF_PROGRAM_* */
	__u64 value;		/* the first eight bytes, as a number */
};

/* A call or a return. */
struct hwprof_program_call {
	struct hwprof_program_event event;
	__u64 from;		/* the call site, or the return instruction */
	__u64 to;		/* the callee, or where the return led */
	__u64 stack;		/* stack pointer behind it; 0: not known */
};

struct hwprof_program_loop_exit {
	struct hwprof_program_event event;
	__u64 head;		/* address of the first instruction */
	__u64 tail;		/* address of the farthest branch to head */
	__u64 trips;		/* iterations of this execution, 2 or more */
};

struct hwprof_program_path_end {
	struct hwprof_program_event event;
	__u64 start;		/* address of the first instruction */
	__u64 end;		/* address of the last instruction */
	__u64 target;		/* where its back edge leads; 0: a return */
	__u64 length;		/* taken jumps from start to end */
	/*
	 * The same for equal paths of a session and space, other for other
	 * paths, as far as 64 bits can tell.
	 */
	__u64 signature;
};

struct hwprof_program_window {
	struct hwprof_program_event event;
	__u64 ip;		/* where the window begins or was taken */
	/* Branches in it; at the beginning of a burst 0: not known yet. */
	__u64 branches;
};

/* The weight is what the sample stands for: the trigger's period. */
struct hwprof_program_sample {
	struct hwprof_program_event event;
	__u64 ip;		/* where the program was */
	__u64 depth;		/* call sites above it; only for contexts */
	__u64 chain;		/* hash of the call sites; 0: there are none */
};

/*
 * The verdict that a program returns is a sum of these. Other bits are ignored.
 *
 * HWPROF_PROGRAM_DROP: the session's profile does not see the event, and it is
 * not in the session's counts. Code around a branch that is dropped counts as
 * unseen. It means nothing for exits of loops, ends of paths, windows, and
 * system calls in windows of lbr.
 *
 * HWPROF_PROGRAM_END: the burst ends with this event's instruction.
 * HWPROF_PROGRAM_EXTEND: the burst becomes one branch longer, up to twice
 * HWPROF_BURST_MAX. Both mean something in bursts only.
 *
 * HWPROF_PROGRAM_SOONER, HWPROF_PROGRAM_LATER: the distance that the trigger
 * chooses next is half or twice as long, once. A budget still holds: it makes
 * later distances longer. They mean nothing for frequencies without a budget.
 */
#define HWPROF_PROGRAM_DROP	(1U << 0)
#define HWPROF_PROGRAM_END	(1U << 1)
#define HWPROF_PROGRAM_EXTEND	(1U << 2)
#define HWPROF_PROGRAM_SOONER	(1U << 3)
#define HWPROF_PROGRAM_LATER	(1U << 4)

/*
 * HWPROF_IOC_PROGRAM gives the session a program for some kinds of events. It
 * replaces the programs of these kinds. The session holds the program until
 * then, or until it ends; the caller may close its descriptor.
 *
 * A program that takes longer than its limit in three runs in a row, or in more
 * than one run of 64, is taken away: see HWPROF_IOC_PROGRAM_ACCOUNT. Runs of
 * each CPU count by themselves.
 *
 *	EPERM		the caller has not CAP_BPF and CAP_PERFMON (or
 *			CAP_SYS_ADMIN), or is not the process that made the
 *			session, or has exec'ed since
 *	EACCES		the caller's credentials have changed since it made the
 *			session
 *	ENODATA		the file has no session
 *	EINVAL		kinds is 0 or has unknown bits; limit_us is too large;
 *			fd is no raw tracepoint program; the program reads
 *			beyond HWPROF_PROGRAM_WORDS, or may sleep; or the
 *			session sees the kernel by a source that interrupts it
 *	EBADF		fd is no descriptor
 *	EOPNOTSUPP	the session's source or profile has no events of one of
 *			the kinds; or the kernel has no BPF
 *	EBUSY		kinds has loads, stores, or exits of loops, which the
 *			session does not look for yet, and it has events already
 *	ENOMEM		no memory
 */
struct hwprof_program {
	__u32 size;		/* of this struct */
	__u32 flags;		/* 0 */
	__s32 fd;		/* of the program; -1: take programs away */
	__u32 kinds;		/* 1 << enum hwprof_program_kind each */
	__u64 cookie;		/* programs get it; the kernel ignores it */
	/*
	 * How long a run may take, in us, up to HWPROF_PROGRAM_LIMIT_US_MAX.
	 * 0: HWPROF_PROGRAM_DEFAULT_LIMIT_US.
	 */
	__u32 limit_us;
	__u32 reserved;		/* 0 */
};

#define HWPROF_PROGRAM_SIZE_VER0		32
#define HWPROF_PROGRAM_DEFAULT_LIMIT_US		1000
#define HWPROF_PROGRAM_LIMIT_US_MAX		1000000

enum hwprof_program_state {
	HWPROF_PROGRAM_NONE	= 0,	/* there is none of this kind */
	HWPROF_PROGRAM_RUNS	= 1,
	/* It took longer than its limit, and is not called any more. */
	HWPROF_PROGRAM_TAKEN	= 2,
};

/*
 * HWPROF_IOC_PROGRAM_ACCOUNT says what became of a program, since it was given
 * to the session. A program of several kinds has one account. Counts are 0 if
 * there is none.
 *
 *	ENODATA		the file has no session
 *	EINVAL		there is no such kind
 */
struct hwprof_program_account {
	__u32 size;		/* of this struct */
	__u32 flags;		/* 0 */
	__u32 kind;		/* enum hwprof_program_kind */
	__u32 state;		/* out: enum hwprof_program_state */
	__u64 runs;		/* out */
	/*
	 * out: events for which it did not run: the kernel was interrupted, the
	 * program ran already, or it was not known which task or address space
	 * the event was of.
	 */
	__u64 missed;
	__u64 dropped;		/* out: events that it dropped */
	__u64 overruns;		/* out: runs that took longer than the limit */
	__u64 time_ns;		/* out: time of all runs */
	__u64 cookie;		/* out: hwprof_program.cookie */
};

#define HWPROF_PROGRAM_ACCOUNT_SIZE_VER0	64

/*
 * HWPROF_IOC_TUNE asks for the parameters of a session, and changes them while
 * it runs. The session is the file's own, or that with a number, also one of
 * perf events.
 *
 * A CPU takes new parameters at its next tick. The distance to that tick, and a
 * burst under way, are those of before. Some CPUs have chosen one distance more
 * in advance.
 *
 * Before the change, the session's rows are written, so that rows from before
 * and after it are apart, but for what a CPU has seen in between and until its
 * next tick. The totals that follow have a new number in @changes. Nobody
 * writes the rows of a session that are fetched by snapshots alone: fetch them
 * before the change.
 *
 * Events that are opened for the session later say the period and the fields
 * that it was made with.
 *
 *	ENODATA		session is 0, and the file has none
 *	ENOENT		there is no session of that number
 *	EPERM		the caller has neither CAP_PERFMON (or CAP_SYS_ADMIN),
 *			nor the effective user, the user namespace and at least
 *			the capabilities of the process that made the session.
 *			For a session that steps, CAP_PERFMON alone does not
 *			suffice: see struct hwprof_mask
 *	EOPNOTSUPP	the session sees everything, and looks at no distances;
 *			or it takes no bursts, and has no burst to change
 *	EINVAL		a number is out of range; the session has a period and
 *			no frequency, or the reverse; or it has no budget
 *	EAGAIN		nothing has changed: a ring is full, or a CPU did not
 *			give its table
 *	EINTR		a signal came while another change was under way
 *	ENOMEM		no memory
 */
struct hwprof_tuning {
	__u32 size;		/* of this struct */
	/*
	 * In: what to change, HWPROF_TUNE_*; 0: only ask. Other fields are
	 * ignored. Out: HWPROF_TUNE_FREQ if period is a frequency, or 0.
	 */
	__u32 flags;
	__u32 session;		/* in: number; 0: the file's own. Out: number */
	__u32 burst;		/* HWPROF_BURST_MIN to HWPROF_BURST_MAX; 0: the
				 * session takes no bursts */
	__u32 budget_permille;	/* 1 to HWPROF_BUDGET_PERMILLE_MAX; 0: the
				 * session has no budget */
	__u32 changes;		/* out: how often parameters have changed */
	/*
	 * In what the trigger counts, 1 to 2^63 - 1; or in Hz, up to
	 * HWPROF_FREQ_MAX. A budget makes distances longer than that. Out: 0 is
	 * the default, or as often as the budget allows.
	 */
	__u64 period;
};

#define HWPROF_TUNING_SIZE_VER0		32

#define HWPROF_TUNE_PERIOD		(1U << 0)
#define HWPROF_TUNE_BURST		(1U << 1)
#define HWPROF_TUNE_BUDGET		(1U << 2)
/* With HWPROF_TUNE_PERIOD: period is in Hz, as the session's is. */
#define HWPROF_TUNE_FREQ		(1U << 3)
#define HWPROF_FREQ_MAX			1000000

/*
 * HWPROF_OPCODE_CLASSES(X): the classes of instructions that load or store. An
 * instruction has one class. It is the first of these that fits, and the same
 * for all that the instruction accesses.
 *
 *	X(constant, number, name, description)
 */
#define HWPROF_OPCODE_CLASSES(X)					       \
	X(ATOMIC, 0, "atomic", "with the prefix lock, or xchg")	       \
	X(BRANCH, 1, "branch", "calls, returns, and jumps through memory")     \
	X(STACK, 2, "stack", "push, pop, pushf, popf, leave")		       \
	X(STRING, 3, "string", "movs, cmps, stos, lods, scas")	       \
	X(MOVE, 4, "move",						       \
		"mov, movzx, movsx, cmov, set, movbe, movnti: no arithmetic")  \
	X(VECTOR, 5, "vector",						       \
		"x87, MMX, SSE, AVX: their moves and arithmetic")	       \
	X(ARITHMETIC, 6, "arithmetic",					       \
		"all others: add, cmp, test, shl, imul, inc, ...")

enum hwprof_opcode_class {
#define X(constant, number, name, what)	HWPROF_CLASS_##constant = (number),
	HWPROF_OPCODE_CLASSES(X)
#undef X
	HWPROF_CLASSES
};

/*
 * HWPROF_IOC_MASK asks for the mask of a session, or sets it, also while the
 * session runs. The session is the file's own, or that with a number, also one
 * of perf events. At first a session has no mask, and all events pass.
 *
 * Events that do not pass are left out before profiles and programs see them.
 * They are neither produced nor lost, and none of the events of the totals.
 * But each run of branches that are left out makes a gap, which is in @gaps
 * and @events, where a profile must know that (see below) and in windows of
 * branch records.
 *
 * An event must pass each of these tests; a field of 0 tests nothing. Kinds,
 * classes and widths are sets, of which an event must be in one member.
 *
 *	kinds		the kind of a branch, or load or store. If no load or
 *			store passes, they are not even decoded.
 *	classes		the opcode class of a load's or store's instruction
 *	widths		the bytes that a load or store moves
 *	value		value & value_mask == value_match, of a load or store.
 *			The value is its first eight bytes; if it is not known,
 *			the load or store does not pass.
 *	address		address & address_mask == address_match, of the data of
 *			a load or store
 *	ip		ip & ip_mask == ip_match, where ip is the address of the
 *			instruction: the branch, the load, what was sampled.
 *			With HWPROF_MASK_HASH it is HWPROF_MASK_HASH_OF(ip): a
 *			mask of n bits then divides a program into 2^n parts.
 *
 * Branches have no class, width, value or address of data, and pass these
 * tests. Gaps and samples have no kind, and pass that one.
 *
 * A profile of edges takes code around a branch that does not pass for unseen:
 * lines and edges end there. Loops, paths, contexts of branches and branches in
 * order (hwprof/branches/) must see each branch. Their sessions take no mask
 * that leaves out branches.
 *
 * Before the change, the session's rows are written, as for HWPROF_IOC_TUNE. It
 * is counted in hwprof_row_totals.changes, unless no event of the session has
 * run yet. A CPU takes the mask at its next event.
 *
 * The number of events that pass tells what is in the memory of a program.
 * Sysfs shows it to the session's user, who may not attach to the program. A
 * mask that leaves something out can therefore be set, and asked for, by the
 * process that made the session, with the credentials that it had then. Others
 * must be allowed to attach to every program: CAP_PERFMON, CAP_SYS_PTRACE, and
 * the right to attach to the init process. Letting everything pass takes what
 * HWPROF_IOC_TUNE takes.
 *
 *	ENODATA		session is 0, and the file has none
 *	ENOENT		there is no session of that number
 *	EPERM		as for HWPROF_IOC_TUNE; or the caller may neither set
 *			nor see what the mask leaves out
 *	EINVAL		a field has unknown bits; a match has bits that its mask
 *			has not, so that nothing passes; or the mask leaves out
 *			branches, and the session's profile must see each
 *	EOPNOTSUPP	the mask names loads or stores, or tests them, and the
 *			session sees none; or it names kinds, and the session
 *			takes samples. Kinds of branches that the session never
 *			sees are allowed.
 *	EAGAIN		nothing has changed: a ring is full, or a CPU did not
 *			give its table
 *	EINTR		a signal came while another change was under way
 *	ENOMEM		no memory
 */
struct hwprof_mask {
	__u32 size;		/* of this struct */
	/*
	 * In: HWPROF_MASK_SET, or 0 to ask only, when other fields but session
	 * are ignored; HWPROF_MASK_HASH. Out: HWPROF_MASK_HASH, or 0.
	 */
	__u32 flags;
	__u32 session;		/* in: number; 0: the file's own. Out: number */
	__u32 changes;		/* out: how often parameters or the mask have
				 * changed */
	/* 1 << enum hwprof_branch_kind each, without gaps, and the two below */
	__u32 kinds;
	__u32 classes;		/* 1 << enum hwprof_opcode_class each */
	/* A sum of 1, 2, 4, ..., 64 bytes. The 10 bytes of x87 are as 16. */
	__u32 widths;
	__u32 reserved;		/* 0 */
	__u64 value_mask;
	__u64 value_match;
	__u64 address_mask;
	__u64 address_match;
	__u64 ip_mask;
	__u64 ip_match;
};

#define HWPROF_MASK_SIZE_VER0		80

#define HWPROF_MASK_SET			(1U << 0)
#define HWPROF_MASK_HASH		(1U << 1)

/* Kinds of events that are no branches. */
#define HWPROF_KIND_LOAD		10
#define HWPROF_KIND_STORE		11

/* All bits that kinds and widths may have. */
#define HWPROF_MASK_BRANCHES		0x1feU
#define HWPROF_MASK_KINDS						\
	(HWPROF_MASK_BRANCHES | 1U << HWPROF_KIND_LOAD |		\
	 1U << HWPROF_KIND_STORE)
#define HWPROF_MASK_WIDTHS		0x7fU

#define HWPROF_MASK_PRODUCT(ip)		((__u64)(ip) * 0x9e3779b97f4a7c15ULL)
#define HWPROF_MASK_HASH_OF(ip)						\
	(HWPROF_MASK_PRODUCT(ip) ^ HWPROF_MASK_PRODUCT(ip) >> 32)

#endif /* _UAPI_LINUX_HWPROF_H */
