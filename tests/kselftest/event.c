// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "event.h"
#include "text.h"

#define PMU		"/sys/bus/event_source/devices/hwprof/"
#define SESSIONS	"/sys/class/misc/hwprof/sessions"

enum { PAGE = 4096 };

static unsigned int read_number(const char *path)
{
	unsigned int number = ~0U;
	char text[16];
	int error = text_read(path, text, sizeof(text));

	if (error || sscanf(text, "%u", &number) != 1)
		fprintf(stderr, "%s: %s\n", path, strerror(-error));
	return number;
}

const char *event_missing(const char *source)
{
	static char reason[256];
	char path[128];

	snprintf(path, sizeof(path), PMU "caps/%s", source);
	if (text_read(path, reason, sizeof(reason)))
		snprintf(reason, sizeof(reason), "%s cannot be read", path);
	return strcmp(reason, "yes") ? reason : NULL;
}

bool event_has_function(const char *name)
{
	FILE *file = fopen(PMU "caps/symbols", "r");
	char line[256], begin[64];
	bool has = file;

	snprintf(begin, sizeof(begin), "no %s()", name);
	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, begin, strlen(begin)))
			has = false;
	if (file)
		fclose(file);
	return has;
}

void event_need(const char *source)
{
	const char *missing = event_missing(source);

	if (!missing)
		return;
	printf("TAP version 13\n1..1\nok 1 all # SKIP %s: %s\n", source,
	       missing);
	exit(0);
}

int event_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group,
	       unsigned long flags)
{
	int fd = syscall(SYS_perf_event_open, attr, pid, cpu, group,
			 flags | PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int event_filter_own_file(int fd, const char *range)
{
	char path[200] = "", filter[300];

	if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
		return -errno;
	snprintf(filter, sizeof(filter), "filter %s@%s", range, path);
	return ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter) ? -errno : 0;
}

int event_try(struct perf_event_attr attr)
{
	int fd = event_open(&attr, 0, -1, -1, 0);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

bool event_has_cgroups(void)
{
	struct perf_event_attr attr = dummy_attr();

	attr.sample_type = PERF_SAMPLE_CGROUP;
	return event_try(attr) != -EINVAL;
}

struct perf_event_attr event_attr(uint64_t config)
{
	return (struct perf_event_attr) {
		.type = read_number(PMU "type"),
		.size = sizeof(struct perf_event_attr),
		.config = config,
		.disabled = 1,
		.inherit = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
}

struct perf_event_attr event_attr_sampling(uint64_t config, uint64_t period)
{
	struct perf_event_attr attr = event_attr(config);

	attr.sample_period = period;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			   PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
			   PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			   PERF_SAMPLE_RAW;
	attr.sample_id_all = 1;
	attr.comm = 1;
	attr.comm_exec = 1;
	attr.wakeup_events = 1;
	return attr;
}

uint64_t event_count(int fd)
{
	uint64_t count = ~0ULL;

	if (read(fd, &count, sizeof(count)) != sizeof(count))
		perror("reading an event");
	return count;
}

unsigned int event_sessions(void)
{
	return read_number(PMU "caps/sessions");
}

int64_t event_lost(void)
{
	char text[32];
	int64_t lost = 0;
	glob_t found;
	size_t i;

	if (glob("/sys/class/misc/hwprof/sessions/*/lost_events", 0, NULL,
		 &found))
		return -1;
	for (i = 0; i < found.gl_pathc; i++)
		if (!text_read(found.gl_pathv[i], text, sizeof(text)))
			lost += atoll(text);
	globfree(&found);
	return lost;
}

bool event_sessions_are(unsigned int count)
{
	int try;

	for (try = 0; try < 500 && event_sessions() != count; try++)
		usleep(10000);
	return try < 500;
}

/* --- accounts ------------------------------------------------------------- */

void event_give_up(const char *why)
{
	printf("# %s\n", why);
	fflush(stdout);
	abort();
}

static void must_add_up(unsigned int session, uint64_t produced,
			uint64_t delivered, uint64_t lost, uint64_t evicted,
			uint64_t pending)
{
	char why[256];

	if (produced == delivered + lost + evicted + pending)
		return;
	snprintf(why, sizeof(why),
		 "session %u: produced %llu, delivered %llu, lost %llu, evicted %llu, pending %llu",
		 session, (unsigned long long)produced,
		 (unsigned long long)delivered, (unsigned long long)lost,
		 (unsigned long long)evicted, (unsigned long long)pending);
	event_give_up(why);
}

enum { ACCOUNT = 6, READINGS = 10 };

/* Returns false if the session has ended, or belongs to another user. */
static bool read_account(unsigned int session, uint64_t *account)
{
	static const char * const names[ACCOUNT] = {
		"produced", "delivered", "lost", "evicted", "pending", "memory",
	};
	char path[128], text[32];
	int i;

	for (i = 0; i < ACCOUNT; i++) {
		snprintf(path, sizeof(path), SESSIONS "/%u/%s", session,
			 names[i]);
		if (text_read(path, text, sizeof(text)))
			return false;
		account[i] = strtoull(text, NULL, 10);
	}
	return true;
}

/*
 * Numbers are read one by one: they are consistent if they are the same twice.
 * Without memory, a session counts or gives samples, and only reports
 * `produced`.
 */
static void session_must_add_up(unsigned int session)
{
	uint64_t account[ACCOUNT], before[ACCOUNT];
	int reading;

	if (!read_account(session, account))
		return;
	for (reading = 1; reading < READINGS; reading++) {
		memcpy(before, account, sizeof(before));
		if (!read_account(session, account))
			return;
		if (memcmp(before, account, sizeof(before)))
			continue;
		if (!account[5])
			return;
		must_add_up(session, account[0], account[1], account[2],
			    account[3], account[4]);
		return;
	}
}

void event_sessions_add_up(void)
{
	DIR *folder = opendir(SESSIONS);
	struct dirent *entry;

	while (folder && (entry = readdir(folder)))
		if (entry->d_name[0] != '.')
			session_must_add_up(atoi(entry->d_name));
	if (folder)
		closedir(folder);
}

/* --- records -------------------------------------------------------------- */

/*
 * Rings are read one by one, and CPUs' clocks differ. The last row is neither
 * the newest nor the latest, so the row with the highest counts is taken.
 */
static void take_totals(struct tally *tally,
			const struct hwprof_row_totals *totals)
{
	const struct hwprof_row_totals *known = &tally->totals;

	must_add_up(totals->row.session, totals->produced, totals->delivered,
		    totals->lost, totals->evicted, totals->pending);
	if (tally->totals.memory && totals->memory != tally->totals.memory)
		tally->grown = true;
	if (totals->produced > known->produced ||
	    (totals->produced == known->produced &&
	     totals->delivered >= known->delivered))
		tally->totals = *totals;
}

void tally_take(struct tally *tally, const struct sample *sample)
{
	const struct hwprof_row *row = sample->row;

	if (row->type == HWPROF_ROW_TOTALS) {
		take_totals(tally, (const void *)row);
		return;
	}
	tally->samples++;
	tally->period += sample->period;
	if (tally->session && tally->session != row->session)
		tally->mixed = true;
	tally->session = row->session;
	if (tally->see)
		tally->see(tally, sample);
}

static void take_sample(struct recording *recording, const uint64_t *at)
{
	struct tally *tally = recording->tally;
	const uint64_t *raw = &at[6 + tally->reads];
	struct sample sample = {
		.ip = at[0],
		.pid = at[1],
		.tid = at[1] >> 32,
		.time = at[2],
		.addr = at[3],
		.cpu = at[4],
		.period = at[5],
	};
	/* The payload follows its size, and is not aligned. */
	static _Alignas(8) char row[8192];

	memcpy(row, (const void *)raw + sizeof(uint32_t), *(uint32_t *)raw);
	sample.row = (const void *)row;
	tally_take(tally, &sample);
	if (sample.row->type != HWPROF_ROW_TOTALS && tally->reads &&
	    at[6] != tally->period)
		tally->wrong_reads++;
}

static void take_exec(struct recording *recording, const void *record,
		      uint16_t size)
{
	/* Fields of sample_id_all: TID, TIME, CPU. */
	const uint64_t *id = record + size - 3 * sizeof(uint64_t);
	struct tally *tally = recording->tally;

	tally->execs++;
	if (tally->see_exec)
		tally->see_exec(tally, id[0], id[1]);
}

static void take_exit(struct recording *recording, const uint64_t *body)
{
	struct tally *tally = recording->tally;

	/* PID and parent, TID and parent, time */
	if (tally->see_exit)
		tally->see_exit(tally, body[1], body[2]);
}

static void take_record(struct recording *recording,
			const struct perf_event_header *header)
{
	const uint64_t *body = (const void *)(header + 1);

	switch (header->type) {
	case PERF_RECORD_SAMPLE:
		take_sample(recording, body);
		break;
	case PERF_RECORD_EXIT:
		take_exit(recording, body);
		break;
	case PERF_RECORD_LOST:
		recording->tally->lost += body[1];
		break;
	case PERF_RECORD_THROTTLE:
		recording->tally->throttled++;
		break;
	case PERF_RECORD_COMM:
		if (header->misc & PERF_RECORD_MISC_COMM_EXEC)
			take_exec(recording, header, header->size);
		break;
	}
}

static void copy_out(const char *data, size_t ring, uint64_t at, void *to,
		     size_t size)
{
	size_t start = at % ring,
	       first = size < ring - start ? size : ring - start;

	memcpy(to, data + start, first);
	memcpy(to + first, data, size - first);
}

static void drain_ring(struct recording *recording, void *ring)
{
	static _Alignas(8) char record[1 << 16];
	struct perf_event_mmap_page *page = ring;
	size_t size = (size_t)recording->pages * PAGE;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = page->data_tail;

	while (tail != head) {
		struct perf_event_header header;

		copy_out(ring + PAGE, size, tail, &header, sizeof(header));
		copy_out(ring + PAGE, size, tail, record, header.size);
		take_record(recording, (const void *)record);
		tail += header.size;
	}
	__atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
}

bool tally_is_whole(const struct tally *tally)
{
	const struct hwprof_row_totals *totals = &tally->totals;

	if (totals->delivered == totals->produced &&
	    totals->delivered == tally->period && !tally->grown &&
	    !tally->mixed)
		return true;
	printf("# produced %llu delivered %llu lost %llu evicted %llu pending %llu gaps %llu; %llu arrived,%s%s perf lost %llu\n",
	       totals->produced, totals->delivered, totals->lost,
	       totals->evicted, totals->pending, totals->gaps,
	       (unsigned long long)tally->period,
	       tally->grown ? " memory grew," : "",
	       tally->mixed ? " sessions are mixed," : "",
	       (unsigned long long)tally->lost);
	return false;
}

/* --- recordings ----------------------------------------------------------- */

static int map_ring(struct recording *recording, unsigned int i)
{
	void *ring = mmap(NULL, (1 + recording->pages) * PAGE,
			  PROT_READ | PROT_WRITE, MAP_SHARED, recording->fd[i],
			  0);

	if (ring == MAP_FAILED)
		return -errno;
	recording->ring[i] = ring;
	return 0;
}

int recording_map(struct recording *recording, unsigned int pages)
{
	unsigned int i;
	int err = 0;

	recording->pages = pages;
	for (i = 0; !err && i < recording->count; i++)
		err = map_ring(recording, i);
	return err;
}

static int recording_add_as(struct recording *recording,
			    struct perf_event_attr *attr, pid_t pid, int cpu,
			    unsigned long flags)
{
	unsigned int i = recording->count;
	int fd = event_open(attr, pid, cpu, -1, flags);

	if (fd < 0)
		return fd;
	recording->fd[i] = fd;
	recording->ring[i] = NULL;
	recording->count++;
	if (!attr->sample_period || !recording->pages)
		return 0;
	return map_ring(recording, i);
}

int recording_add(struct recording *recording, struct perf_event_attr *attr,
		  pid_t pid, int cpu)
{
	return recording_add_as(recording, attr, pid, cpu, 0);
}

static int recording_open_as(struct recording *recording,
			     struct perf_event_attr *attr, pid_t pid,
			     unsigned long flags)
{
	int cpu, cpus = sysconf(_SC_NPROCESSORS_ONLN), err = 0;

	for (cpu = 0; !err && cpu < cpus; cpu++)
		err = recording_add_as(recording, attr, pid, cpu, flags);
	if (err)
		recording_close(recording);
	return err;
}

int recording_open(struct recording *recording, struct perf_event_attr *attr,
		   pid_t pid, unsigned int pages, struct tally *tally)
{
	recording->count = 0;
	recording->pages = pages;
	recording->tally = tally;
	return recording_open_as(recording, attr, pid, 0);
}

int recording_open_cgroup(struct recording *recording,
			  struct perf_event_attr *attr, int folder,
			  unsigned int pages, struct tally *tally)
{
	recording->count = 0;
	recording->pages = pages;
	recording->tally = tally;
	return recording_open_as(recording, attr, folder,
				 PERF_FLAG_PID_CGROUP);
}

void recording_control(struct recording *recording, unsigned long request)
{
	unsigned int i;

	for (i = 0; i < recording->count; i++)
		if (ioctl(recording->fd[i], request, 0))
			perror("ioctl of an event");
}

void recording_drain(struct recording *recording)
{
	unsigned int i;

	for (i = 0; i < recording->count; i++)
		if (recording->ring[i])
			drain_ring(recording, recording->ring[i]);
}

uint64_t recording_count(struct recording *recording)
{
	uint64_t count = 0;
	unsigned int i;

	for (i = 0; i < recording->count; i++)
		count += event_count(recording->fd[i]);
	return count;
}

void recording_close(struct recording *recording)
{
	unsigned int i;

	if (recording->count)
		event_sessions_add_up();
	for (i = 0; i < recording->count; i++) {
		if (recording->ring[i])
			munmap(recording->ring[i],
			       (1 + recording->pages) * PAGE);
		close(recording->fd[i]);
	}
	recording->count = 0;
}

int recording_wait(struct recording *recording, pid_t pid)
{
	int status = -1;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		recording_drain(recording);
		usleep(1000);
	}
	recording_drain(recording);
	return status;
}

void recording_read_until(struct recording *recording, uint64_t count)
{
	while (recording_count(recording) < count)
		recording_read_for(recording, 1);
}

void recording_read_for(struct recording *recording, unsigned int ms)
{
	while (ms--) {
		recording_drain(recording);
		usleep(1000);
	}
}

/* --- children ------------------------------------------------------------- */

struct child child_start(void (*run)(void *context), void *context)
{
	struct child child;
	int go[2];
	char byte;

	if (pipe(go))
		abort();
	fflush(NULL);
	child.pid = fork();
	if (child.pid) {
		close(go[0]);
		child.go = go[1];
		return child;
	}
	close(go[1]);
	if (read(go[0], &byte, 1) != 1)
		_exit(99);
	run(context);
	_exit(0);
}

void stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		_exit(97);
}

/* Waits until the child has read the byte: it no longer sleeps there. */
static void await_going(const struct child *child)
{
	int left = 1, tries = 5000;

	while (tries-- && !ioctl(child->go, FIONREAD, &left) && left)
		usleep(1000);
}

void child_go(struct child *child)
{
	if (write(child->go, "", 1) != 1)
		perror("telling a child to go");
	await_going(child);
	close(child->go);
}

static void *run_thread(void *context)
{
	void (*const *work)(void) = context;

	(*work)();
	return NULL;
}

void in_threads(void (*work)(void), int count)
{
	pthread_t threads[count];
	int i;

	for (i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, run_thread, &work))
			_exit(97);
	for (i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

void in_forks(void (*work)(void), int count)
{
	int i;

	for (i = 0; i < count; i++)
		if (fork() == 0) {
			work();
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
}

int recording_begin(struct recording *recording, struct perf_event_attr *attr,
		    struct child *child, unsigned int pages,
		    struct tally *tally)
{
	int error = recording_open(recording, attr, child->pid, pages, tally);

	if (error)
		return error;
	recording_control(recording, PERF_EVENT_IOC_ENABLE);
	child_go(child);
	return 0;
}

void child_await_state(const struct child *child, const char *states)
{
	char path[64], stat[256] = "";
	const char *state;

	snprintf(path, sizeof(path), "/proc/%d/stat", child->pid);
	do {
		usleep(1000);
		if (text_read(path, stat, sizeof(stat)))
			return;		/* it has exited */
		state = strrchr(stat, ')');
	} while (state && !strchr(states, state[2]));
}

void child_await_sleep(const struct child *child)
{
	child_await_state(child, "S");
}

void *shared_memory(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		event_give_up("no memory to share");
	return memory;
}

void *missing_page(int *faults)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = {
		.mode = UFFDIO_REGISTER_MODE_MISSING, .range.len = 4096,
	};
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	*faults = syscall(SYS_userfaultfd, O_CLOEXEC);
	range.range.start = (uintptr_t)page;
	if (*faults < 0 || ioctl(*faults, UFFDIO_API, &api) ||
	    ioctl(*faults, UFFDIO_REGISTER, &range))
		return NULL;
	return page;
}

struct perf_event_attr dummy_attr(void)
{
	return (struct perf_event_attr) {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(struct perf_event_attr),
		.config = PERF_COUNT_SW_DUMMY,
		.exclude_kernel = 1,
	};
}

int dummy_open(pid_t pid)
{
	struct perf_event_attr attr = dummy_attr();

	return event_open(&attr, pid, -1, -1, 0);
}

void dummy_keep_lock(void *dummy)
{
	int faults;
	void *page = missing_page(&faults);

	if (!page)
		_exit(1);
	ioctl(*(int *)dummy, PERF_EVENT_IOC_SET_FILTER, page);
	_exit(2);
}

int waiting_tasks(const char *stats, const char *name)
{
	const char *begin, *state;
	char stat[256];
	glob_t found;
	int count = 0;
	size_t i;

	if (glob(stats, 0, NULL, &found))
		return 0;
	for (i = 0; i < found.gl_pathc; i++) {
		stat[0] = '\0';
		text_read(found.gl_pathv[i], stat, sizeof(stat));
		begin = strchr(stat, '(');
		state = strrchr(stat, ')');
		count += state && state[2] == 'D' &&
			 !strncmp(begin + 1, name, strlen(name));
	}
	globfree(&found);
	return count;
}

int child_waiting_threads(const struct child *child)
{
	char stats[64];

	snprintf(stats, sizeof(stats), "/proc/%d/task/*/stat", child->pid);
	return waiting_tasks(stats, "");
}

static const char *tracing(void)
{
	return access("/sys/kernel/tracing/kprobe_events", F_OK) ?
	       "/sys/kernel/debug/tracing" : "/sys/kernel/tracing";
}

static int trace_write(const char *file, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", tracing(), file);
	return text_write(path, text);
}

bool calls_begin(const char *function)
{
	char probe[128];

	snprintf(probe, sizeof(probe), "p:counted %s\n", function);
	return !trace_write("kprobe_events", probe) &&
	       !trace_write("events/kprobes/counted/enable", "1");
}

unsigned int calls_so_far(void)
{
	char path[128], line[512];
	unsigned int count = ~0U;
	FILE *file;

	snprintf(path, sizeof(path), "%s/kprobe_profile", tracing());
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		sscanf(line, " counted %u", &count);
	if (file)
		fclose(file);
	return count;
}

void calls_end(void)
{
	trace_write("events/kprobes/counted/enable", "0");
	trace_write("kprobe_events", "-:counted\n");
}

int module_references(void)
{
	char count[16] = "";

	if (text_read("/sys/module/hwprof/refcnt", count, sizeof(count)))
		return -1;
	return atoi(count);
}

bool on_debug_kernel(void)
{
	const char *kernel = getenv("KSELFTEST_KERNEL");

	return kernel && strstr(kernel, "debug");
}

unsigned int short_times(unsigned int times)
{
	return on_debug_kernel() && getenv("KSELFTEST_SHORT") ?
	       (times + 3) / 4 : times;
}

unsigned int fewer_times(unsigned int times)
{
	return on_debug_kernel() ? (short_times(times) + 3) / 4 : times;
}

uint64_t thread_cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

const char *known_program(void)
{
	static char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 16);

	path[length < 0 ? 0 : length] = '\0';
	strcpy(strrchr(path, '/') + 1, "known");
	return path;
}

static void be_known(void *context)
{
	execl(context, "known", NULL);
	_exit(98);
}

struct child child_known(void)
{
	return child_start(be_known, (void *)known_program());
}

static void spawn_known(void *program)
{
	if (vfork() == 0)
		be_known(program);
}

int known_jobs(void)
{
	return short_times(32);
}

static void run_jobs(void *program)
{
	int started;

	for (started = 0; started < known_jobs(); started++) {
		if (started >= 4)
			wait(NULL);
		spawn_known(program);
	}
	while (wait(NULL) > 0)
		;
}

struct child child_known_jobs(void)
{
	return child_start(run_jobs, (void *)known_program());
}
