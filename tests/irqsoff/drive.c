// SPDX-License-Identifier: GPL-2.0-only
/*
 * drive SCENARIO [again]|clock: takes the module through a scenario, in phases.
 * Prints of each phase the longest part with interrupts off that
 * probe/irqsoff.c saw. Exits with 1 if one is too long, and with 2 if something
 * else is wrong. See ./run.
 *
 * again: a part counts only if one was too long before, in the same phase, that
 * ended in the same place. Functions are traced meanwhile, which takes time
 * itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/kselftest/device.h"
#include "tests/kselftest/event.h"
#include "tests/kselftest/text.h"

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#define PROBE			"/sys/kernel/debug/irqsoff"
#define ABOVE			"/tmp/irqsoff-above"	/* phases, one a line */
#define CPU1			"/sys/devices/system/cpu/cpu1/online"

enum {
	MIB		= 1 << 20,
	SITE		= 20,		/* bytes of a site, see make_sites() */
	SITES		= 8000,		/* for a profile of 1 MiB */
	SITES_MOST	= 40000,
	PAGES_MOST	= 4096,		/* of a ring */
	SESSIONS	= 40,		/* more than a step feeds */
	USERS		= 200,
	FIRST_USER	= 2000,
	CHAIN		= 200,		/* calls, see make_chain(), */
	CALL_BYTES	= 6,		/* of code each */
	SECOND_NS	= 1000000000,
	NS_INSTRUCTION	= 2,		/* by --icount */
	PERIOD_NS	= 20000,	/* of the probe's timer */
	MOST_INSTRUCTIONS = 100000,
};

static void __attribute__((format(printf, 1, 2), noreturn))
die(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fprintf(stderr, ": %s\n", strerror(errno));
	exit(2);
}

static void must(long result, const char *what)
{
	if (result >= 0)
		return;
	if (result != -1)
		errno = -result;
	die("%s", what);
}

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		die("%s", path);
	close(fd);
}

/* --- phases --------------------------------------------------------------- */

/* A line of the probe's file: see probe/irqsoff.c. */
struct part {
	unsigned long ns, times, ago;
	char place[128], function[128], stack[2048];
};

static char current[80];		/* the phase; "": none */
static unsigned int parts_seen, parts_above;
static bool again;

static bool next_part(FILE *file, struct part *part)
{
	return fscanf(file, "%lu %lu %lu %127[^|]|%127[^|]|%2047[^\n]", &part->ns,
		      &part->times, &part->ago, part->place, part->function,
		      part->stack) == 6;
}

/* Interrupts may have been off since just after the timer's last one. */
static unsigned long instructions_most(const struct part *part)
{
	return (part->ns + PERIOD_NS) / NS_INSTRUCTION;
}

static void print_part(const struct part *part)
{
	printf("#	%lu instructions at the most, until %s",
	       instructions_most(part), part->place);
	if (strcmp(part->function, "0x0"))
		printf(", %s called %lu before", part->function,
		       part->ago / NS_INSTRUCTION);
	printf("\n");
}

/*
 * Return true if a part of this phase and place was too long without tracing.
 */
static bool was_above(const struct part *part)
{
	char line[sizeof(current) + sizeof(part->place) + 2];
	char expected[sizeof(line)];
	FILE *file = fopen(ABOVE, "r");
	bool found = false;

	if (!file)
		die("reading " ABOVE);
	snprintf(expected, sizeof(expected), "%s|%s", current, part->place);
	while (!found && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		found = !strcmp(line, expected);
	}
	fclose(file);
	return found;
}

static void note_above(const struct part *part)
{
	FILE *file = fopen(ABOVE, "a");

	if (!file || fprintf(file, "%s|%s\n", current, part->place) < 0 ||
	    fclose(file))
		die("writing " ABOVE);
}

static void take_part(const struct part *part, struct part *longest)
{
	parts_seen += part->times;
	if (part->ns > longest->ns)
		*longest = *part;
	if (instructions_most(part) <= MOST_INSTRUCTIONS ||
	    (again && !was_above(part)))
		return;
	if (!again)
		note_above(part);
	parts_above++;
	printf("# above %u:\n", MOST_INSTRUCTIONS);
	print_part(part);
	printf("#	%s\n", part->stack);
}

/* All parts of the phase that are too long, and the longest. */
static void end_phase(void)
{
	struct part part, longest = { };
	FILE *file;

	if (!current[0])
		return;
	file = fopen(PROBE, "r");
	if (!file)
		die("reading " PROBE);
	printf("# %s\n", current);
	while (next_part(file, &part))
		take_part(&part, &longest);
	if (ferror(file))
		die("reading " PROBE);
	fclose(file);
	if (longest.ns)
		print_part(&longest);
	fflush(stdout);
	current[0] = '\0';
}

/* Ends the phase before it, too. */
static void __attribute__((format(printf, 1, 2))) phase(const char *format, ...)
{
	va_list arguments;

	end_phase();
	va_start(arguments, format);
	vsnprintf(current, sizeof(current), format, arguments);
	va_end(arguments);
	put(PROBE, "0");
}

/* --- what is profiled ----------------------------------------------------- */

static unsigned char *sites;

static void put32(unsigned char *at, int32_t value)
{
	memcpy(at, &value, sizeof(value));
}

/*
 * Code with @count places, each with a loop, a load, a call and a path of its
 * own, so that each engine has a row, or several, for each:
 *
 *		mov	$2, %ecx
 *	1:	mov	0(%rip), %eax
 *		dec	%ecx
 *		jnz	1b
 *		call	0		# which is a ret
 */
static void make_sites(unsigned int count)
{
	unsigned char *at;
	unsigned int i;

	sites = mmap(NULL, 64 + SITES_MOST * SITE,
		     PROT_READ | PROT_WRITE | PROT_EXEC,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (sites == MAP_FAILED)
		die("memory for code");
	sites[0] = 0xc3;
	for (i = 0; i < count; i++) {
		at = sites + 16 + i * SITE;
		memcpy(at, "\xb9\2\0\0\0\x8b\5\0\0\0\0\xff\xc9\x75\xf6\xe8", 16);
		put32(at + 16, sites - (at + SITE));
	}
	sites[16 + count * SITE] = 0xc3;
}

static void run_sites(unsigned int count)
{
	make_sites(count);
	((void (*)(void))(sites + 16))();
	munmap(sites, 64 + SITES_MOST * SITE);
}

static unsigned int sites_for(unsigned int mib)
{
	unsigned int count = SITES * mib;

	return count < SITES_MOST ? count : SITES_MOST;
}

/* --- events --------------------------------------------------------------- */

static struct perf_event_attr rows_attr(uint64_t engine, unsigned int mib)
{
	struct perf_event_attr attr =
		event_attr_sampling(engine | EVENT_STEP | EVENT_ROWS |
				    EVENT_MEMORY(mib), 1);

	/* None but those that a phase asks for. */
	attr.config1 = EVENT_INTERVAL(65535);
	attr.disabled = 0;
	return attr;
}

struct ring {
	void *start;
	size_t bytes;
};

static struct ring map_ring(int fd, unsigned int pages)
{
	struct ring ring = { .bytes = (size_t)(1 + pages) * getpagesize() };

	ring.start = mmap(NULL, ring.bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			  fd, 0);
	if (ring.start == MAP_FAILED)
		die("mapping a ring of %u pages", pages);
	return ring;
}

static uint64_t written(const struct ring *ring)
{
	return ((struct perf_event_mmap_page *)ring->start)->data_head;
}

/* An event of this task whose profile is full, with its ring. */
static int full_event(struct perf_event_attr attr, unsigned int mib,
		      struct ring *ring)
{
	int fd = event_open(&attr, 0, 0, -1, 0);

	must(fd, "opening an event");
	run_sites(sites_for(mib));
	*ring = map_ring(fd, PAGES_MOST);
	return fd;
}

/*
 * The phase means nothing without rows. A profile of loops has from 58 KiB,
 * as the engine's random seed decides which loops stay.
 */
static void tell_written(const struct ring *ring)
{
	if (written(ring) < MIB / 64) {
		errno = ENODATA;
		die("no more than %llu bytes of rows",
		    (unsigned long long)written(ring));
	}
	printf("#	%llu KiB of rows\n",
	       (unsigned long long)written(ring) >> 10);
}

/* Those of perf, but for those that end the rows of the event. */
static void perf_ioctls(int fd)
{
	uint64_t id, period = 1;

	phase("PERF_EVENT_IOC_ID, _PERIOD, _RESET, _PAUSE_OUTPUT");
	must(ioctl(fd, PERF_EVENT_IOC_ID, &id), "PERF_EVENT_IOC_ID");
	ioctl(fd, PERF_EVENT_IOC_PERIOD, &period);
	must(ioctl(fd, PERF_EVENT_IOC_RESET, 0), "PERF_EVENT_IOC_RESET");
	must(ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1), "pausing");
	must(ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0), "not pausing");
	phase("reading the event");
	event_count(fd);
}

static void one_event(const char *engine_name, uint64_t engine,
		      unsigned int mib)
{
	struct perf_event_attr attr = rows_attr(engine, mib);
	struct ring ring;
	int fd;

	phase("%s, %u MiB: filling", engine_name, mib);
	fd = full_event(attr, mib, &ring);
	perf_ioctls(fd);
	phase("%s, %u MiB: PERF_EVENT_IOC_DISABLE", engine_name, mib);
	must(ioctl(fd, PERF_EVENT_IOC_DISABLE, 0), "PERF_EVENT_IOC_DISABLE");
	/* Rows may come a moment later. */
	usleep(200000);
	end_phase();
	tell_written(&ring);
	phase("%s, %u MiB: PERF_EVENT_IOC_ENABLE", engine_name, mib);
	must(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), "PERF_EVENT_IOC_ENABLE");
	phase("%s, %u MiB: PERF_EVENT_IOC_SET_OUTPUT", engine_name, mib);
	ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, fd);
	phase("%s, %u MiB: unmapping its ring", engine_name, mib);
	munmap(ring.start, ring.bytes);
	phase("%s, %u MiB: close", engine_name, mib);
	run_sites(SITES);
	close(fd);
	usleep(100000);
	end_phase();
}

static void sizes(void)
{
	static const unsigned int mib[] = { 1, 4, 16 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(mib); i++)
		one_event("calls", EVENT_CALLS, mib[i]);
}

static void engines(void)
{
	static const struct {
		const char *name;
		uint64_t config;
	} all[] = {
		{ "loops", EVENT_LOOPS }, { "paths", EVENT_PATHS },
		{ "values", EVENT_VALUES }, { "cct", EVENT_CCT },
		{ "loops and calls", EVENT_LOOPS | EVENT_CALLS },
		{ "ranges", EVENT_RANGES },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		one_event(all[i].name, all[i].config, 1);
}

/* Records branches. Each row is written where the program is stepped. */
static void branches(void)
{
	struct perf_event_attr attr = rows_attr(EVENT_BRANCHES, 1);
	struct ring ring;
	int fd;

	attr.disabled = 1;
	fd = event_open(&attr, 0, 0, -1, 0);
	must(fd, "opening an event");
	ring = map_ring(fd, PAGES_MOST);
	must(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), "PERF_EVENT_IOC_ENABLE");
	phase("branches");
	run_sites(SITES);
	phase("branches: PERF_EVENT_IOC_DISABLE");
	must(ioctl(fd, PERF_EVENT_IOC_DISABLE, 0), "PERF_EVENT_IOC_DISABLE");
	end_phase();
	tell_written(&ring);
	phase("branches: close");
	close(fd);
	munmap(ring.start, ring.bytes);
	end_phase();
}

static void run_by_turns(void)
{
	int i;

	for (i = 0; i < 20; i++) {
		run_sites(SITES / 80);
		usleep(1000);
	}
}

/* Opens an event of each of several sessions. */
static void open_sessions(int fd[SESSIONS])
{
	struct perf_event_attr attr = rows_attr(EVENT_LOOPS | EVENT_CALLS, 1);
	int i;

	for (i = 0; i < SESSIONS; i++) {
		attr.config1 = EVENT_INTERVAL(1000 + i);
		fd[i] = event_open(&attr, 0, 0, -1, 0);
		must(fd[i], "opening one of several events");
	}
}

/*
 * Several sessions of one program, each of which is fed with each step, and has
 * events to be switched.
 */
static void sessions(void)
{
	int fd[SESSIONS], i;

	phase("%u sessions of a program", SESSIONS);
	open_sessions(fd);
	run_sites(SITES / 8);
	phase("%u sessions of a program that is switched", SESSIONS);
	for (i = 0; i < 20; i++)
		usleep(2000);
	phase("%u sessions of processes by turns", SESSIONS);
	in_forks(run_by_turns, 6);
	phase("%u sessions: PERF_EVENT_IOC_DISABLE and close", SESSIONS);
	for (i = 0; i < SESSIONS; i++) {
		ioctl(fd[i], PERF_EVENT_IOC_DISABLE, 0);
		close(fd[i]);
	}
	usleep(100000);
	end_phase();
}

/* --- filters -------------------------------------------------------------- */

/* Gets a record of this process's ranges for the user, and keeps it. */
static void keep_record(uid_t user, int ready)
{
	struct perf_event_attr attr = event_attr(EVENT_LOOPS | EVENT_STEP);
	pid_t pid = getpid();
	int fd;

	must(setresuid(user, user, user), "becoming a user");
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	fd = event_open(&attr, 0, -1, -1, 0);
	must(fd, "opening a user's event");
	must(event_filter_own_file(fd, "0x1000/0x100"), "a filter");
	must(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), "enabling it");
	if (write(ready, &pid, sizeof(pid)) != sizeof(pid))
		_exit(1);
	for (;;)
		pause();
}

/* Returns such a process, which is not a child: nobody waits for it. */
static pid_t user_with_record(uid_t user)
{
	int ready[2];
	pid_t pid;

	must(pipe(ready), "a pipe");
	pid = fork();
	if (!pid) {
		if (!fork())
			keep_record(user, ready[1]);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	close(ready[1]);
	if (read(ready[0], &pid, sizeof(pid)) != sizeof(pid))
		die("a user with a filter");
	close(ready[0]);
	return pid;
}

/*
 * Several sessions that have a filter, of a program whose processes need more
 * records of ranges than there are for a user. Many users have one.
 */
static void filters(void)
{
	int fd[SESSIONS], i;
	pid_t users[USERS];

	must(sysctl_write("perf_event_paranoid", -1), "perf_event_paranoid");
	for (i = 0; i < USERS; i++)
		users[i] = user_with_record(FIRST_USER + i);
	phase("%u sessions with a filter", SESSIONS);
	open_sessions(fd);
	/* Each process has a record of the range. */
	for (i = 0; i < SESSIONS; i++)
		must(event_filter_own_file(fd[i], "0x1000/0x100"),
		     "PERF_EVENT_IOC_SET_FILTER");
	run_sites(SITES / 8);
	phase("%u sessions with a filter, of too many processes", SESSIONS);
	in_forks(run_by_turns, 6);
	phase("%u sessions with a filter: close", SESSIONS);
	for (i = 0; i < SESSIONS; i++)
		close(fd[i]);
	usleep(100000);
	end_phase();
	for (i = 0; i < USERS; i++)
		kill(users[i], SIGKILL);
	if (!event_sessions_are(0))
		die("sessions of users are left");
}

/* --- tasks that end ------------------------------------------------------- */

/* A child that is profiled by this process, and runs @run when it may. */
static void child_with_event(const char *name, unsigned int mib,
			     void (*run)(void *mib))
{
	struct perf_event_attr attr = rows_attr(EVENT_CALLS, mib);
	struct child child = child_start(run, &mib);
	struct ring ring;
	int fd, status;

	phase("%s, %u MiB", name, mib);
	fd = event_open(&attr, child.pid, 0, -1, 0);
	must(fd, "opening an event of a child");
	ring = map_ring(fd, PAGES_MOST);
	child_go(&child);
	if (waitpid(child.pid, &status, 0) < 0 || status)
		die("a child ended with %#x", status);
	usleep(100000);
	end_phase();
	tell_written(&ring);
	munmap(ring.start, ring.bytes);
	close(fd);
}

static void fill(void *mib)
{
	run_sites(sites_for(*(unsigned int *)mib));
}

static void fill_and_exec(void *mib)
{
	fill(mib);
	execl("/usr/lib/busybox/busybox", "true", NULL);
	die("exec");
}

static void fill_and_fork(void *mib)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	fill(mib);
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
}

static void ends(void)
{
	static const unsigned int mib[] = { 1, 4 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(mib); i++) {
		unsigned int size = mib[i];

		child_with_event("exit", size, fill);
		child_with_event("exec", size, fill_and_exec);
		child_with_event("fork and exit", size, fill_and_fork);
	}
}

/* --- flushes -------------------------------------------------------------- */

/* Each interval, of a running program, and of one that sleeps. */
static void flushes(void)
{
	struct perf_event_attr attr = rows_attr(EVENT_CALLS, 4);
	struct ring ring;
	int fd, turn;

	attr.config1 = EVENT_INTERVAL(20);
	phase("rows each 20 ms, of a program that runs");
	fd = event_open(&attr, 0, 0, -1, 0);
	must(fd, "opening an event");
	ring = map_ring(fd, PAGES_MOST);
	for (turn = 0; turn < 4; turn++)
		run_sites(SITES);
	phase("rows each 20 ms, of a program that sleeps");
	run_sites(SITES);
	usleep(300000);
	phase("close, rows each 20 ms");
	munmap(ring.start, ring.bytes);
	close(fd);
	usleep(100000);
	end_phase();
}

/* --- the device ----------------------------------------------------------- */

/* The maps of @code, behind as many others as there may be. */
static void add_maps(int fd, const void *code)
{
	static struct hwprof_unwind_map maps[HWPROF_UNWIND_MAPS_MAX];
	unsigned int i;

	for (i = 0; i < HWPROF_UNWIND_MAPS_MAX; i++) {
		maps[i].table = 1;
		maps[i].start = maps[i].base = (1 + i) * getpagesize();
		maps[i].end = maps[i].start + getpagesize();
	}
	i = HWPROF_UNWIND_MAPS_MAX - 1;
	maps[i].start = maps[i].base = (uintptr_t)code;
	maps[i].end = maps[i].start + getpagesize();
	must(device_set_maps(fd, maps, HWPROF_UNWIND_MAPS_MAX, getpid()),
	     "setting maps");
}

/*
 * As many rows as a table can have, and as many maps, so that the search in
 * them is the longest.
 */
static void add_tables(int fd, const void *code)
{
	struct hwprof_unwind_row *rows =
		calloc(HWPROF_UNWIND_ROWS_MAX, sizeof(*rows));
	unsigned int i;

	if (!rows)
		die("memory for tables");
	for (i = 0; i < HWPROF_UNWIND_ROWS_MAX; i++)
		rows[i] = (struct hwprof_unwind_row) {
			.start = i, .cfa = 1, .bp = 1, .kind = HWPROF_UNWIND_SP,
		};
	phase("HWPROF_IOC_UNWIND_TABLE");
	must(device_add_table(fd, rows, HWPROF_UNWIND_ROWS_MAX),
	     "adding a table");
	free(rows);
	phase("HWPROF_IOC_UNWIND_MAPS");
	add_maps(fd, code);
}

/*
 * CHAIN procedures that call the next one, "1: call 2f; ret; 2:", and after
 * them a loop. Called at another one of them, the chain is shorter.
 */
static unsigned char *make_chain(void)
{
	unsigned char *code = mmap(NULL, getpagesize(),
				   PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned int i;

	if (code == MAP_FAILED)
		die("memory for code");
	for (i = 0; i < CHAIN; i++)
		memcpy(code + CALL_BYTES * i, "\xe8\1\0\0\0\xc3", CALL_BYTES);
	/* mov $0x40000, %ecx; 1: dec %ecx; jnz 1b; ret */
	memcpy(code + CALL_BYTES * CHAIN, "\xb9\0\0\4\0\xff\xc9\x75\xfc\xc3", 10);
	return code;
}

static void take_all(int fd)
{
	char *buffer = malloc(MIB);
	bool more = true;
	long filled = 0;

	while (more) {
		filled = device_read(fd, buffer, MIB, &more);
		must(filled, "HWPROF_IOC_SNAPSHOT");
	}
	free(buffer);
}

static int feed(struct hwprof_config *config, unsigned int mib)
{
	struct perf_event_attr attr = device_feeder(config);
	int event;

	attr.disabled = 0;
	event = event_open(&attr, 0, 0, -1, 0);
	must(event, "an event that feeds the device");
	run_sites(sites_for(mib));
	return event;
}

static void device_of(unsigned int mib)
{
	struct hwprof_config config =
		device_config(EVENT_CALLS | EVENT_STEP | EVENT_MEMORY(mib));
	int fd, event;

	phase("HWPROF_IOC_CONFIG, %u MiB", mib);
	fd = device_open(&config);
	must(fd, "HWPROF_IOC_CONFIG");
	phase("device, %u MiB: filling", mib);
	event = feed(&config, mib);
	phase("HWPROF_IOC_SNAPSHOT, %u MiB", mib);
	take_all(fd);
	phase("HWPROF_IOC_RESET, %u MiB", mib);
	must(device_reset(fd), "HWPROF_IOC_RESET");
	phase("device, %u MiB: closing a full one", mib);
	run_sites(sites_for(mib));
	close(event);
	close(fd);
	usleep(100000);
	end_phase();
}

static void device_ring_of(unsigned int mib)
{
	struct hwprof_config config =
		device_config(EVENT_CALLS | EVENT_STEP | EVENT_MEMORY(mib));
	int fd, event, rings;

	config.config1 = EVENT_INTERVAL(50);
	fd = device_open(&config);
	must(fd, "HWPROF_IOC_CONFIG");
	phase("HWPROF_IOC_RING");
	rings = device_ring(fd, 4 * MIB, 0);
	must(rings, "HWPROF_IOC_RING");
	if (!device_map(fd, 4 * MIB, rings))
		die("mapping the device");
	phase("device, %u MiB: rows each 50 ms", mib);
	event = feed(&config, mib);
	usleep(200000);
	close(event);
	phase("device, %u MiB: closing its ring", mib);
	close(fd);
	usleep(100000);
	end_phase();
}

/*
 * Samples with stacks that are as deep as they are followed, each a new
 * context. In 1 MiB, tables are full meanwhile.
 */
static void stacks_in(unsigned int mib)
{
	struct hwprof_config config =
		device_config(EVENT_CCT | EVENT_SAMPLE | EVENT_MEMORY(mib));
	unsigned char *code = make_chain();
	struct perf_event_attr attr;
	int fd, event, i;

	config.period = 2000000;	/* longer than a sample by far */
	fd = device_open(&config);
	must(fd, "HWPROF_IOC_CONFIG for samples");
	add_tables(fd, code);
	attr = device_feeder(&config);
	attr.disabled = 0;
	event = event_open(&attr, 0, 0, -1, 0);
	must(event, "an event that feeds the device");
	phase("%u MiB, samples with stacks of 1 to %u calls", mib, CHAIN);
	for (i = CHAIN - 1; i >= 0; i--)
		((void (*)(void))(code + CALL_BYTES * i))();
	phase("%u MiB, samples with stacks of %u calls, which are known", mib,
	      CHAIN);
	for (i = 0; i < 100; i++) {
		((void (*)(void))code)();
		if (i == 10)	/* now they are */
			put(PROBE, "0");
	}
	phase("HWPROF_IOC_SNAPSHOT of their contexts");
	take_all(fd);
	phase("closing a file with tables");
	close(event);
	close(fd);
	munmap(code, getpagesize());
	usleep(100000);
	end_phase();
}

static void stacks(void)
{
	stacks_in(4);
	stacks_in(1);
}

static void device(void)
{
	device_of(1);
	device_of(4);
	device_ring_of(4);
}

/* --- whole CPUs ----------------------------------------------------------- */

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	must(sched_setaffinity(0, sizeof(set), &set), "pinning");
}

static void fill_on(void *cpu)
{
	pin(*(int *)cpu);
	run_sites(sites_for(4));
}

static void run_on(int cpu)
{
	struct child child = child_start(fill_on, &cpu);
	int status;

	child_go(&child);
	if (waitpid(child.pid, &status, 0) < 0 || status)
		die("a child ended with %#x", status);
}

static int cpu_event(int cpu, struct ring *ring)
{
	struct perf_event_attr attr = rows_attr(EVENT_CALLS, 4);
	int fd;

	attr.inherit = 0;
	fd = event_open(&attr, -1, cpu, -1, 0);
	must(fd, "opening an event of a CPU");
	*ring = map_ring(fd, PAGES_MOST);
	return fd;
}

static void whole_cpu(void)
{
	struct ring ring;
	int fd;

	phase("a CPU, 4 MiB: filling");
	fd = cpu_event(0, &ring);
	run_on(0);
	phase("a CPU, 4 MiB: PERF_EVENT_IOC_DISABLE");
	must(ioctl(fd, PERF_EVENT_IOC_DISABLE, 0), "PERF_EVENT_IOC_DISABLE");
	usleep(100000);
	munmap(ring.start, ring.bytes);
	phase("a CPU, 4 MiB: close");
	close(fd);
	usleep(100000);
	end_phase();
}

static void hotplug(void)
{
	struct ring ring[2];
	int fd[2];

	fd[0] = cpu_event(0, &ring[0]);
	fd[1] = cpu_event(1, &ring[1]);
	run_on(1);
	phase("a CPU goes, with 4 MiB");
	put(CPU1, "0");
	usleep(100000);
	/* The module does nothing when a CPU comes; the kernel does much. */
	end_phase();
	put(CPU1, "1");
	usleep(500000);
	phase("closing both");
	close(fd[0]);
	close(fd[1]);
	usleep(100000);
	end_phase();
}

/* --- the rest ------------------------------------------------------------- */

static void module(void)
{
	phase("rmmod");
	if (system("rmmod hwprof"))
		die("rmmod");
	phase("insmod");
	if (system("insmod /rig/hwprof.ko"))
		die("insmod");
	end_phase();
}

/* Returns the ns that @turns of a loop of two instructions take. */
static double loop_ns(unsigned long turns)
{
	struct timespec from, to;

	clock_gettime(CLOCK_MONOTONIC, &from);
	asm volatile("1: dec %0; jnz 1b" : "+r" (turns) : : "cc");
	clock_gettime(CLOCK_MONOTONIC, &to);
	return (to.tv_sec - from.tv_sec) * (double)SECOND_NS +
	       to.tv_nsec - from.tv_nsec;
}

/*
 * Does an instruction take the time that --icount promises? Others run, too, so
 * the shortest of several counts. The probe must not be loaded yet.
 */
static void clock_tells(void)
{
	unsigned long turns = SECOND_NS / 10000;
	unsigned long expected = turns * 2 * NS_INSTRUCTION;
	double ns, least = SECOND_NS;
	int i;

	for (i = 0; i < 100; i++) {
		ns = loop_ns(turns);
		least = ns < least ? ns : least;
	}
	if (least >= expected && least < expected * 1.02)
		return;
	errno = ETIME;
	die("%lu instructions take %.0f ns, not %lu", 2 * turns, least, expected);
}

static int run(void (*scenario)(void))
{
	scenario();
	errno = ENODATA;
	if (!parts_seen)
		die("no interrupt was looked at");
	return parts_above != 0;
}

int main(int count, char **arguments)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} scenarios[] = {
		{ "sizes", sizes }, { "engines", engines }, { "ends", ends },
		{ "flushes", flushes }, { "branches", branches },
		{ "sessions", sessions }, { "filters", filters },
		{ "device", device },
		{ "stacks", stacks }, { "cpu", whole_cpu },
		{ "hotplug", hotplug }, { "module", module },
	};
	unsigned int i;

	if (count == 2 && !strcmp(arguments[1], "clock")) {
		clock_tells();
		return 0;
	}
	again = count == 3 && !strcmp(arguments[2], "again");
	for (i = 0; count == 2 + again && i < ARRAY_SIZE(scenarios); i++)
		if (!strcmp(arguments[1], scenarios[i].name))
			return run(scenarios[i].run);
	fprintf(stderr, "usage: drive SCENARIO [again]|clock\n");
	return 2;
}
