/* SPDX-License-Identifier: GPL-2.0-only */
/* Events of the hwprof PMU, opened by hand, and the content of their rings. */
#ifndef EVENT_H
#define EVENT_H

#include <linux/hwprof.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Seconds; limits tests that hang, not slow machines. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	1200

enum {
	EVENT_CPUS	= 8,
	EVENTS_MAX	= 64,
};

#define EVENT_LOOPS	(1ULL << 1)
#define EVENT_BRANCHES	(1ULL << 0)
#define EVENT_CALLS	(1ULL << 2)
#define EVENT_PATHS	(1ULL << 3)
#define EVENT_VALUES	(1ULL << 4)
#define EVENT_RANGES	(1ULL << 5)
#define EVENT_CCT	(1ULL << 6)
#define EVENT_EDGES	(1ULL << 7)
#define EVENT_STEP	(1ULL << 8)
#define EVENT_LBR	(1ULL << 9)
#define EVENT_SAMPLE	(1ULL << 10)
#define EVENT_ROWS	(1ULL << 12)
#define EVENT_MEMORY(mib)	((uint64_t)(mib) << 16)
#define EVENT_INTERVAL(ms)	((uint64_t)(ms) << 32)	/* in config1 */
#define EVENT_BUDGET(permille)	((uint64_t)(permille) << 16)

#define EVENT_RANGE_OF(of)	((uint64_t)(of) << 20)	/* in config2 */

/* perf_event_open(). Returns a descriptor, or a negative errno. */
int event_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group,
	       unsigned long flags);

/*
 * Sets a filter of the event: a range of this program's file, as OFFSET/SIZE.
 * Returns 0 or a negative errno.
 */
int event_filter_own_file(int fd, const char *range);

/* Opens and closes an event of this process. Returns 0 or a negative errno. */
int event_try(struct perf_event_attr attr);

/* Returns an attr of the PMU: loops, for user space, disabled, inherited. */
struct perf_event_attr event_attr(uint64_t config);

/* Returns the same for rows or samples that tally_take() understands. */
struct perf_event_attr event_attr_sampling(uint64_t config, uint64_t period);

uint64_t event_count(int fd);
unsigned int event_sessions(void);	/* number of live sessions in sysfs */

/* Returns why the source cannot be used here, from sysfs; NULL if it can. */
const char *event_missing(const char *source);

/*
 * Returns true if the module has found a function that the kernel does not
 * export. It can do without each of them.
 */
bool event_has_function(const char *name);

/* In a test that needs such a function. */
#define EVENT_NEED_FUNCTION(name)					      \
	do {								      \
		if (!event_has_function(name))				      \
			SKIP(return, "the kernel lets nobody find " name "()"); \
	} while (0)

/* Returns true if perf knows cgroups on this kernel. Asks perf alone. */
bool event_has_cgroups(void);

/* Reports all tests as skipped and exits, if the source is missing. */
void event_need(const char *source);

/* Used once, outside functions, if all tests of the file need the source. */
#define EVENT_ALL_NEED(source)						       \
	static void __attribute__((constructor)) event_all_need(void)	       \
	{								       \
		event_need(source);					       \
	}

/*
 * Waits until that many sessions exist: they end a moment after their events.
 */
bool event_sessions_are(unsigned int count);

/* Returns the lost events of the sessions that the caller may see, or -1. */
int64_t event_lost(void);

/*
 * Asserts produced = delivered + lost + evicted + pending in sysfs. It applies
 * to sessions that give rows, are idle, and may be looked at by this process.
 */
void event_sessions_add_up(void);

/* Ends the test as failed. */
void __attribute__((noreturn)) event_give_up(const char *why);

/* A sample or a row. */
struct sample {
	uint64_t ip, time, addr, period;
	uint32_t pid, tid, cpu;
	const struct hwprof_row *row;
};

/* The content of rings. Totals rows that do not add up end the test. */
struct tally {
	uint64_t samples;
	uint64_t period;		/* sum */
	uint64_t lost;			/* from LOST records */
	uint64_t throttled;
	uint64_t execs;			/* COMM records of execs */
	uint32_t session;		/* of all rows */
	bool mixed;			/* rows are of different sessions */
	bool grown;			/* the session's memory grew */
	struct hwprof_row_totals totals;	/* the newest */
	bool reads;			/* samples also have the count */
	uint64_t wrong_reads;		/* counts other than the sum of periods
					 * so far */
	/* Sees each sample that is no totals row; may be NULL. */
	void (*see)(struct tally *tally, const struct sample *sample);
	void (*see_exec)(struct tally *tally, uint32_t pid, uint64_t time);
	/* It sees the exits of threads if the event has attr.task. */
	void (*see_exit)(struct tally *tally, uint32_t tid, uint64_t time);
	void *context;
};

/* Takes a row, from a ring or the device. */
void tally_take(struct tally *tally, const struct sample *sample);

/*
 * Returns true if nothing was lost, evicted or kept back. Prints the account if
 * not.
 */
bool tally_is_whole(const struct tally *tally);

/* Events with their rings: one per CPU, or those of several tasks. */
struct recording {
	unsigned int count;
	unsigned int pages;		/* of a ring, data only */
	int fd[EVENTS_MAX];
	void *ring[EVENTS_MAX];
	struct tally *tally;
};

/*
 * Opens an event of a task (-1: all) on each CPU. Returns 0 or a negative
 * errno.
 */
int recording_open(struct recording *recording, struct perf_event_attr *attr,
		   pid_t pid, unsigned int pages, struct tally *tally);
int recording_add(struct recording *recording, struct perf_event_attr *attr,
		  pid_t pid, int cpu);
/* The same, of the cgroup whose folder is open. */
int recording_open_cgroup(struct recording *recording,
			  struct perf_event_attr *attr, int folder,
			  unsigned int pages, struct tally *tally);
/* Maps the rings of one that was opened without. Returns 0 or an error. */
int recording_map(struct recording *recording, unsigned int pages);
void recording_control(struct recording *recording, unsigned long request);
void recording_drain(struct recording *recording);
uint64_t recording_count(struct recording *recording);

/* Closes it, and asserts event_sessions_add_up(). */
void recording_close(struct recording *recording);

/* Reads rings until the process exits. Returns its wait status. */
int recording_wait(struct recording *recording, pid_t pid);
/* Reads until the events have counted that much, however long it takes. */
void recording_read_until(struct recording *recording, uint64_t count);
void recording_read_for(struct recording *recording, unsigned int ms);

/* A child that waits for a command, and then runs @run and exits. */
struct child {
	pid_t pid;
	int go;
};
struct child child_start(void (*run)(void *context), void *context);
void child_go(struct child *child);
/* Run @work in @count threads or children of the process, and wait for them. */
void in_threads(void (*work)(void), int count);
void in_forks(void (*work)(void), int count);
/*
 * Opens the child's events as recording_open(), enables them, and lets the
 * child go. Returns 0, or what recording_open() does.
 */
int recording_begin(struct recording *recording, struct perf_event_attr *attr,
		    struct child *child, unsigned int pages,
		    struct tally *tally);

/*
 * Waits until the child is in one of the states, as letters of /proc/PID/stat,
 * or is gone; or until it sleeps.
 */
void child_await_state(const struct child *child, const char *states);
void child_await_sleep(const struct child *child);

/*
 * Returns a page that stays missing until somebody fills it through @faults, a
 * userfaultfd(2); NULL: the kernel has none.
 */
void *missing_page(int *faults);

/* Returns the attribute of an event of perf's own that counts nothing. */
struct perf_event_attr dummy_attr(void);

/* Opens such an event of a task. */
int dummy_open(pid_t pid);

/*
 * Keeps perf's lock of the target of the event @dummy, an int, until this
 * process is killed. Exits with 1 if there is no userfaultfd.
 */
void dummy_keep_lock(void *dummy);

/*
 * Returns how many tasks wait for a lock. @stats is a pattern of glob(3) for
 * their files in /proc; their names begin with @name.
 */
int waiting_tasks(const char *stats, const char *name);

/* The same of the threads of the child. */
int child_waiting_threads(const struct child *child);

/*
 * Counts calls of one of the kernel's functions, or with "hwprof:" in front of
 * the module's. Returns false if the kernel cannot.
 */
bool calls_begin(const char *function);
unsigned int calls_so_far(void);
void calls_end(void);

/* Returns how many references to the module there are, or -1. */
int module_references(void);

/* Binds this thread and its children to a CPU, or ends the test. */
void stay_on(int cpu);

/* Returns true on a kernel that checks itself, and is slow by that. */
bool on_debug_kernel(void);

/*
 * Return @times, or a quarter of it: in a short run on a debug kernel, which is
 * slow, and in any run on one, beside that.
 */
unsigned int short_times(unsigned int times);
unsigned int fewer_times(unsigned int times);

/* In a test that takes long on the debug kernel: a short run leaves it out. */
#define EVENT_LONG_ON_DEBUG()						      \
	do {								      \
		if (short_times(2) != 2)				      \
			SKIP(return, "kselftest-debug has it");		      \
	} while (0)

/*
 * Returns zeroed memory that the caller shares with the children that it
 * starts from now on. Without memory, the test ends.
 */
void *shared_memory(size_t size);

/* Return the CPU time that the calling thread has had. */
uint64_t thread_cpu_ns(void);

/* Starts a child that waits, and then executes `known`. */
struct child child_known(void);
/*
 * Starts one that runs `known` known_jobs() times, four at a time, like make
 * -j.
 */
int known_jobs(void);
struct child child_known_jobs(void);
const char *known_program(void);

#endif /* EVENT_H */
