// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <linux/hwprof.h>
#include <linux/perf_event.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/kselftest/event.h"
#include "tests/kselftest/fault.h"
#include "calls.h"
#include "credentials.h"
#include "group.h"
#include "images.h"
#include "programs.h"
#include "rows.h"

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

enum {
	PAGE		= 4096,
	BUFFER		= 16 * PAGE,
	TAIL_AT		= 1032,		/* data_tail, in both kinds of rings */
	RECURSION	= 5,
	EVENT_BYTES	= WORDS * sizeof(uint64_t),
};

_Static_assert(TAIL_AT == offsetof(struct perf_event_mmap_page, data_tail) &&
	       TAIL_AT == offsetof(struct hwprof_ring_page, data_tail),
	       "the tail of a ring is where it is");

/* An event that was opened. */
struct opened {
	struct perf_event_attr attr;	/* of size 0: none was */
	pid_t pid;
	int cpu;
};

/* Threads change it as well, and in no order: that is what they are for. */
static struct {
	int fd[FILES];
	struct hwprof_config config[FILES];	/* of a device's session */
	struct opened opened[FILES];
	void *map[FILES];
	size_t mapped[FILES];
	/* The ring holds nothing but what the kernel wrote for the event. */
	bool plain[FILES];
	bool threads, redirected;	/* then nobody knows what is whose */
	bool split;			/* there is a receiver, */
	bool receives;			/* and this is it, without threads */
	pid_t receiver;
	pid_t target;
	uint32_t table;			/* an unwind table's number */
	uint32_t type;			/* the PMU's */
	struct findings *findings;
} now;

static void run(const struct step *step);

static void note(unsigned long *count)
{
	__atomic_add_fetch(count, 1, __ATOMIC_RELAXED);
}

/* --- memory --------------------------------------------------------------- */

/* Memory that ends where nothing may be touched. Its end. */
static char *memory_end(size_t size)
{
	char *memory = mmap(NULL, size + PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		_exit(1);
	mprotect(memory + size, PAGE, PROT_NONE);
	return memory + size;
}

/* Where the kernel is told that the data are. */
static void *place(const struct step *step, const void *data, size_t size)
{
	char *end, *at;

	if (step->place == PLACE_NULL)
		return NULL;
	if (step->place == PLACE_KERNEL)
		return (void *)0xffff888000001000;
	end = memory_end(PAGE);
	at = end - PAGE;
	switch (step->place) {
	case PLACE_END:
		at = end - size;
		break;
	case PLACE_BEYOND:
		at = end - size / 2;
		break;
	case PLACE_ODD:
		at++;
		break;
	case PLACE_NONE:
		return end;
	}
	memcpy(at, data, (size_t)(end - at) < size ? (size_t)(end - at) : size);
	if (step->place == PLACE_READ_ONLY)
		mprotect(end - PAGE, PAGE, PROT_READ);
	return at;
}

/* Also where it may not be read or written: then nothing happens. */
static void move(void *to, const void *from, size_t size)
{
	ssize_t moved;
	int ends[2];

	if (pipe(ends))
		return;
	moved = write(ends[1], from, size);
	if (moved > 0)
		moved = read(ends[0], to, moved);
	close(ends[0]);
	close(ends[1]);
}

/* --- files ---------------------------------------------------------------- */

/* A ring that is mapped stays, and nobody looks whose rows are in it. */
static void forget(unsigned int file)
{
	now.opened[file] = (struct opened){ };
	now.plain[file] = false;
}

static void put_file(unsigned int file, int fd)
{
	if (fd < 0)
		return;
	if (now.fd[file] >= 0)
		close(now.fd[file]);
	now.fd[file] = fd;
	forget(file);
}

static void close_file(const struct step *step)
{
	if (now.fd[step->file] >= 0)
		close(now.fd[step->file]);
	now.fd[step->file] = -1;
	forget(step->file);
}

static void dup_file(const struct step *step)
{
	struct opened opened = now.opened[step->file];

	put_file(step->other, dup(now.fd[step->file]));
	now.opened[step->other] = opened;
}

/* A message with room for a file. */
struct parcel {
	char byte, control[CMSG_SPACE(sizeof(int))];
	struct iovec data;
	struct msghdr message;
};

static struct cmsghdr *parcel_init(struct parcel *parcel)
{
	memset(parcel, 0, sizeof(*parcel));
	parcel->data = (struct iovec){ &parcel->byte, 1 };
	parcel->message = (struct msghdr) {
		.msg_iov = &parcel->data, .msg_iovlen = 1,
		.msg_control = parcel->control,
		.msg_controllen = sizeof(parcel->control),
	};
	return CMSG_FIRSTHDR(&parcel->message);
}

static bool send_file(int socket, int fd)
{
	struct parcel parcel;
	struct cmsghdr *header = parcel_init(&parcel);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	return sendmsg(socket, &parcel.message, 0) == 1;
}

/* Waits for it. The file, or -1. */
static int receive_file(int socket)
{
	struct parcel parcel;
	struct cmsghdr *header;
	int fd = -1;

	parcel_init(&parcel);
	if (recvmsg(socket, &parcel.message, MSG_CMSG_CLOEXEC) != 1)
		return -1;
	header = CMSG_FIRSTHDR(&parcel.message);
	if (header && header->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	return fd;
}

static void pass_file(const struct step *step)
{
	int ends[2], fd = -1;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		return;
	/* On its way it may be open nowhere else. */
	if (send_file(ends[0], now.fd[step->file])) {
		close_file(step);
		if (!(step->word[0] & 1))
			fd = receive_file(ends[1]);
	}
	put_file(step->other, fd);
	close(ends[0]);
	close(ends[1]);
}

/* It has other credentials, and no file but the one that comes. */
static void be_receiver(const struct step *step, int socket)
{
	unsigned int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	now.receives = true;
	for (i = 0; i < FILES; i++) {
		if (now.fd[i] >= 0)
			close(now.fd[i]);
		now.fd[i] = -1;
		forget(i);
		now.map[i] = NULL;
	}
	now.target = 0;
	if (credentials_drop(step->word[0]))
		note(&now.findings->dropped);
	put_file(step->file, receive_file(socket));
}

/*
 * Another process, with other credentials, that is given a file, and makes the
 * calls that follow at the same time.
 */
static void split(const struct step *step)
{
	int ends[2];
	pid_t pid;

	if (now.split || socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		return;
	now.split = now.redirected = true;
	pid = fork();
	if (!pid) {
		close(ends[0]);
		be_receiver(step, ends[1]);
		close(ends[1]);
		return;
	}
	if (pid > 0) {
		now.receiver = pid;
		send_file(ends[0], now.fd[step->file]);
	}
	close(ends[0]);
	close(ends[1]);
}

/* It has some time to make its calls. */
static void await_receiver(void)
{
	unsigned int i;

	for (i = 0; now.receiver && i < 100; i++) {
		if (waitpid(now.receiver, NULL, WNOHANG))
			return;
		usleep(2000);
	}
}

/* --- /dev/hwprof ---------------------------------------------------------- */

static void open_device(const struct step *step)
{
	static const int modes[] = { O_RDWR, O_RDONLY, O_WRONLY, O_RDWR };

	put_file(step->file, open(HWPROF_DEVICE,
				  modes[step->word[0] / 8 % 4] | O_CLOEXEC));
}

static void configure(const struct step *step)
{
	struct hwprof_config *config = place(step, step->word,
					     sizeof(step->word));

	if (!ioctl(now.fd[step->file], HWPROF_IOC_CONFIG, config))
		now.config[step->file] = *config;
}

/* The buffer ends as soon as it is full, or earlier. */
static void snapshot(const struct step *step)
{
	uint64_t words[WORDS], size = step->word[2], more = step->word[5];

	memcpy(words, step->word, sizeof(words));
	words[1] += (uintptr_t)memory_end(BUFFER) -
		    (size < BUFFER ? size : BUFFER) + more % BUFFER;
	ioctl(now.fd[step->file], HWPROF_IOC_SNAPSHOT,
	      place(step, words, sizeof(words)));
}

static void odd_ioctl(const struct step *step)
{
	unsigned long request = _IOC(step->word[0] % 4, '$',
				     0x40 + step->word[1] % 9,
				     step->word[2] % 256);

	ioctl(now.fd[step->file], request,
	      place(step, step->word, sizeof(step->word)));
}

/* Any of a few words can be wrong. */
static void give_program(const struct step *step)
{
	const uint64_t *word = step->word;
	struct hwprof_program request = {
		.size = sizeof(request),
		.fd = word[1] % 8 ? program_make(word[0]) : -1,
		.kinds = word[2] % 4 ?
			 1U << word[2] / 4 % HWPROF_PROGRAM_KINDS :
			 word[2] / 4,
		.cookie = word[3],
		.limit_us = word[3] % 3 * word[3] / 8,
	};

	ioctl(now.fd[step->file], HWPROF_IOC_PROGRAM,
	      place(step, &request, sizeof(request)));
	if (request.fd >= 0)
		close(request.fd);
}

/* Any session may be named, and any of a few numbers be wrong. */
static void tune(const struct step *step)
{
	const uint64_t *word = step->word;
	struct hwprof_tuning request = {
		.size = sizeof(request),
		.flags = word[0] % 16,
		.session = word[1] % 4 ? 0 :
			   now.config[word[1] / 4 % FILES].session,
		.burst = word[2] % 4 ? word[2] % 512 : word[2],
		.budget_permille = word[3] % 4 ? word[3] % 1000 : word[3],
		.period = word[4] % 4 ? word[4] * 1000 : word[5],
	};

	ioctl(now.fd[step->file], HWPROF_IOC_TUNE,
	      place(step, &request, sizeof(request)));
}

/* Masks of few bits, with matches that are mostly within them. */
static void set_mask(const struct step *step)
{
	const uint64_t *word = step->word;
	struct hwprof_mask request = {
		.size = sizeof(request),
		.flags = word[0] % 16 ? word[0] % 4 : word[0],
		.session = word[1] % 4 ? 0 :
			   now.config[word[1] / 4 % FILES].session,
		.kinds = word[1] % 3 ? word[2] & HWPROF_MASK_KINDS : 0,
		.classes = word[3] % 4 ? 0 : word[3] / 4 % 128,
		.widths = word[3] % 3 ? 0 : word[3] / 3 % 129,
		.value_mask = word[4] % 4 ? 0 : word[4],
		.address_mask = word[5] % 4 ? 0 : word[5],
		.ip_mask = word[2] % 4 ? 0 : word[2] / 4 % 8,
	};

	request.value_match = word[5] & request.value_mask;
	request.address_match = word[4] & request.address_mask;
	request.ip_match = word[0] % 8 ? word[3] & request.ip_mask : word[3];
	ioctl(now.fd[step->file], HWPROF_IOC_MASK,
	      place(step, &request, sizeof(request)));
}

/* --- events --------------------------------------------------------------- */

static pid_t choose_pid(uint64_t word)
{
	const pid_t pids[] = {
		0, 0, now.target ?: getpid(), -1, getppid(), 1,
		syscall(SYS_gettid), INT_MAX,
	};

	return pids[word % 8];
}

static int choose_cpu(uint64_t word)
{
	static const int cpus[] = { -1, 0, 1, -1, 0, 1, 7, INT_MAX };

	return cpus[word % 8];
}

/* Open the event @attr as the step says; the other file leads its group. */
static void open_event(const struct step *step, unsigned int file,
		       const struct perf_event_attr *attr)
{
	uint64_t flags = step->word[WORD_FLAGS];
	int group = step->word[WORD_PID] / 8 % 2 ? now.fd[step->other] : -1;
	int cgroup = -1, fd, cpu = choose_cpu(step->word[WORD_CPU]);
	pid_t pid = choose_pid(step->word[WORD_PID]);

	if (flags & PERF_FLAG_PID_CGROUP)
		pid = cgroup = open("/sys/fs/cgroup", O_RDONLY | O_CLOEXEC);
	fd = syscall(SYS_perf_event_open, place(step, attr, EVENT_BYTES), pid,
		     cpu, group, flags);
	put_file(file, fd);
	if (fd >= 0 && cgroup < 0)
		now.opened[file] = (struct opened){ *attr, pid, cpu };
	if (flags & PERF_FLAG_FD_OUTPUT)
		now.redirected = true;
	if (cgroup >= 0)
		close(cgroup);
}

/*
 * No PMU but the one that is tested and the simplest others: breakpoints in
 * what is stepped hang the emulator, and probes are the kernel's own business.
 */
static void restrict_type(struct perf_event_attr *attr)
{
	if (attr->type != now.type && attr->type > PERF_TYPE_SOFTWARE)
		attr->type = INT_MAX;
}

static void open_any_event(const struct step *step)
{
	uint64_t words[WORDS];
	struct perf_event_attr *attr = (void *)words;
	unsigned int session;

	memcpy(words, step->word, sizeof(words));
	restrict_type(attr);
	session = attr->config2 >> 32;
	if (session && session <= FILES) {
		attr->config2 &= 0xffffffff;
		attr->config2 |=
			(uint64_t)now.config[session - 1].session << 32;
	}
	open_event(step, step->file, attr);
}

/* As the session wants it, but for the bits in the step's words. */
static void open_feeder(const struct step *step)
{
	const struct hwprof_config *config = &now.config[step->file];
	uint64_t words[WORDS] = { 0 };
	struct perf_event_attr *attr = (void *)words;
	unsigned int i;

	*attr = (struct perf_event_attr) {
		.type = now.type,
		.size = sizeof(*attr),
		.config2 = (uint64_t)config->session << 32,
		.sample_period = config->period,
		.freq = !!(config->flags & HWPROF_CONFIG_FREQ),
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.inherit = 1,
	};
	for (i = 0; i < WORD_PID; i++)
		words[i] ^= step->word[i];
	restrict_type(attr);
	open_event(step, step->other, attr);
}

/* An event like another one, of another target: they must not meet. */
static void open_twin(const struct step *step)
{
	const struct opened *opened = &now.opened[step->file];
	uint64_t words[WORDS] = { 0 };

	if (!opened->attr.size)
		return;
	memcpy(words, &opened->attr, sizeof(opened->attr));
	open_event(step, step->other, (void *)words);
}

static void event_ioctl(const struct step *step)
{
	static const unsigned long requests[] = {
		PERF_EVENT_IOC_ENABLE, PERF_EVENT_IOC_DISABLE,
		PERF_EVENT_IOC_RESET, PERF_EVENT_IOC_REFRESH,
		PERF_EVENT_IOC_SET_OUTPUT, PERF_EVENT_IOC_PAUSE_OUTPUT,
		PERF_EVENT_IOC_PERIOD, PERF_EVENT_IOC_SET_FILTER,
		PERF_EVENT_IOC_ID, PERF_EVENT_IOC_SET_BPF,
		PERF_EVENT_IOC_QUERY_BPF, PERF_EVENT_IOC_MODIFY_ATTRIBUTES,
	};
	unsigned long request = requests[step->word[0] % ARRAY_SIZE(requests)];
	unsigned long argument = step->word[1] % 3;

	switch (request) {
	case PERF_EVENT_IOC_SET_OUTPUT:
		argument = step->word[1] % 4 ? now.fd[step->other] : -1;
		now.redirected = true;
		break;
	case PERF_EVENT_IOC_PERIOD:
	case PERF_EVENT_IOC_SET_FILTER:
	case PERF_EVENT_IOC_ID:
	case PERF_EVENT_IOC_QUERY_BPF:
	case PERF_EVENT_IOC_MODIFY_ATTRIBUTES:
		argument = (uintptr_t)place(step, &step->word[2],
					    sizeof(uint64_t) * (WORDS - 2));
		break;
	}
	ioctl(now.fd[step->file], request, argument);
}

/*
 * Returns "@" and this program's file. /proc/self/exe would do, but perf looks
 * it up with the context's mutex held, and procfs takes exec_update_lock, which
 * perf_event_open() takes first: lockdep reports this circle of the kernel's
 * own, and then nothing else.
 */
static const char *own_file(void)
{
	static _Thread_local char file[200];

	file[0] = '@';
	file[1 + readlink("/proc/self/exe", file + 1, sizeof(file) - 2)] = 0;
	return file;
}

/* Ranges of this program's code, by address or in a file. */
static void set_filter(const struct step *step)
{
	const char *const files[] = {
		"", own_file(), "@/dev/hwprof", "@nothing",
	};
	static const char *const actions[] = {
		"filter", "filter", "filter", "start", "stop",
	};
	unsigned int count = step->word[0] % 10, i;
	char text[1024] = "";
	size_t used = 0;

	for (i = 0; i < count; i++) {
		uint64_t word = step->word[1 + i];
		uint64_t code = (uintptr_t)run + word % 4096 - 2048;
		unsigned int file = word / 4096 % ARRAY_SIZE(files);

		used += snprintf(text + used, sizeof(text) - used,
				 "%s 0x%lx/0x%lx%s,", actions[word % 5],
				 file ? (unsigned long)word % 65536 :
					(unsigned long)code,
				 (unsigned long)(word >> 32) % 4096,
				 files[file]);
	}
	ioctl(now.fd[step->file], PERF_EVENT_IOC_SET_FILTER,
	      place(step, text, sizeof(text)));
}

static void read_event(const struct step *step)
{
	char nothing[256] = { 0 };
	ssize_t length;

	length = read(now.fd[step->file], place(step, nothing, sizeof(nothing)),
		      step->word[0] * 8 % sizeof(nothing));
	(void)length;
}

static void write_event(const struct step *step)
{
	ssize_t length = write(now.fd[step->file],
			       place(step, step->word, sizeof(step->word)),
			       step->word[0] % sizeof(step->word));

	(void)length;
}

static void poll_files(const struct step *step)
{
	struct pollfd files[] = {
		{ .fd = now.fd[step->file], .events = POLLIN },
		{ .fd = now.fd[step->other], .events = POLLIN | POLLOUT },
	};

	poll(files, 2, step->word[0] % 8);
}

/* --- rings ---------------------------------------------------------------- */

/* Most are as rings can be. */
static void map_file(const struct step *step)
{
	const uint64_t *word = step->word;
	size_t size = word[0] < 60 ? PAGE * (1 + (1ULL << word[0] % 5)) :
				     word[0] % (64 * PAGE);
	int protection = word[1] < 48 ? PROT_READ | PROT_WRITE : word[1] % 8;
	int flags = word[2] < 56 ? MAP_SHARED : MAP_PRIVATE;
	off_t offset = word[3] < 40 ? 0 : word[3] < 56 ? size : word[3] * PAGE;
	void *map = mmap(NULL, size, protection, flags, now.fd[step->file],
			 offset);

	if (map == MAP_FAILED)
		return;
	now.map[step->file] = map;	/* an older one stays */
	now.mapped[step->file] = size;
	now.plain[step->file] = flags == MAP_SHARED && !offset &&
				protection == (PROT_READ | PROT_WRITE) &&
				now.opened[step->file].attr.size;
}

/* An event of the target must have rows of the target alone. */
static void check_rows(const struct step *step)
{
	const struct opened *opened = &now.opened[step->file];

	if (!now.plain[step->file] || now.threads || now.redirected ||
	    !now.target || opened->pid != now.target ||
	    opened->attr.type != now.type ||
	    !(opened->attr.config & EVENT_ROWS) ||
	    opened->attr.sample_type != ROWS_SAMPLE_TYPE)
		return;
	rows_check(now.map[step->file], now.mapped[step->file] - PAGE,
		   opened->pid, now.findings);
}

/*
 * All is read; the tail says so, or is nonsense, as all the control page can
 * be.
 */
static void touch(const struct step *step)
{
	char *map = now.map[step->file];
	uint64_t head = 0, other = step->word[2] * 0x0101010101010101;

	if (!map)
		return;
	check_rows(step);
	if (step->word[0] % 4 == 0 || step->word[0] % 8 == 7)
		now.plain[step->file] = false;
	move(&head, map + TAIL_AT - sizeof(head), sizeof(head));
	move(map + TAIL_AT, step->word[0] % 4 ? &head : &step->word[1],
	     sizeof(head));
	if (step->word[0] % 8 == 7)
		move(map + step->word[1] * sizeof(other) %
		     now.mapped[step->file], &other, sizeof(other));
}

static void remap(const struct step *step)
{
	size_t size = PAGE * (1 + step->word[0] % 40);
	void *map = now.map[step->file];

	if (!map)
		return;
	now.plain[step->file] = false;
	map = mremap(map, now.mapped[step->file], size, MREMAP_MAYMOVE);
	if (map == MAP_FAILED)
		return;
	now.map[step->file] = map;
	now.mapped[step->file] = size;
}

static void unmap(const struct step *step)
{
	char *map = now.map[step->file];
	size_t size = now.mapped[step->file], from = 0;

	if (!map)
		return;
	now.plain[step->file] = false;
	if (step->word[0] % 2) {	/* a part */
		from = step->word[1] * PAGE % size;
		size = step->word[2] * PAGE % (size - from) + 1;
	} else {
		now.map[step->file] = NULL;
	}
	munmap(map + from, size);
}

/* --- what is profiled ----------------------------------------------------- */

static volatile unsigned int sink;

static __attribute__((noinline)) void recurse(unsigned int depth)
{
	unsigned int i;

	for (i = 0; i < depth; i++)
		sink += i;
	if (depth)
		recurse(depth - 1);
	sink++;
}

static void run(const struct step *step)
{
	unsigned int i;

	switch (step->word[0] % 16) {
	case 0:
		for (i = 0; i < 20; i++)
			syscall(SYS_getppid);
		break;
	case 1:
		raise(SIGUSR1);
		break;
	default:
		recurse(RECURSION);
	}
}

static void end_target(void)
{
	if (!now.target)
		return;
	kill(now.target, SIGKILL);
	waitpid(now.target, NULL, 0);
	now.target = 0;
}

static void be_target(const struct step *step)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	switch (step->word[0] % 8) {
	case 0:
		execl(known_program(), "known", NULL);
		break;
	case 1:
		_exit(0);
	case 2:
		recurse(RECURSION);
		break;
	case TARGET_GROUP:
	case 4:
		group_target(step->word[1] % 2);
	default:		/* TARGET_RUNS */
		for (;;) {
			recurse(RECURSION);
			usleep(1000);
		}
	}
	_exit(0);
}

static void fork_target(const struct step *step)
{
	pid_t pid;

	end_target();
	pid = fork();
	if (!pid)
		be_target(step);
	now.target = pid > 0 ? pid : 0;
}

/* --- groups, credentials, images ----------------------------------------- */

static void churn(const struct step *step)
{
	const struct opened *opened = &now.opened[step->file];
	struct group group = {
		.leader = now.fd[step->file],
		.pid = opened->pid,
		.cpu = opened->cpu,
		.attr = &opened->attr,
		.ring = now.plain[step->file] ? now.map[step->file] : NULL,
	};
	unsigned int times = 1 + step->word[1] % 32;
	unsigned long closed = 1;

	if (!opened->attr.size)
		return;
	/* An input that takes too long is ended, and its calls count. */
	while (times-- && closed) {
		closed = group_churn(&group,
				     step->word[0] * 2 % (GROUP_MAX + 1));
		__atomic_add_fetch(&now.findings->churned, closed,
				   __ATOMIC_RELAXED);
	}
}

static void drop(const struct step *step)
{
	if (credentials_drop(step->word[0]))
		note(&now.findings->dropped);
}

/* Rows as they may be, by start, or a few that may not. */
static void add_table(const struct step *step)
{
	struct hwprof_unwind_row rows[64];
	struct hwprof_unwind_table table = {
		.size = sizeof(table),
		.flags = step->word[1] < 60 ? 0 : step->word[1],
		.rows = (uintptr_t)rows,
		.count = step->word[0] % 64 + 1,
	};
	unsigned int i;

	for (i = 0; i < 64; i++)
		rows[i] = (struct hwprof_unwind_row) {
			.start = i * (1 + step->word[2] % 32),
			.cfa = 1 + i % 4,
			.kind = i % 2 ? HWPROF_UNWIND_SP : HWPROF_UNWIND_BP,
		};
	if (step->word[3] > 56)
		memcpy(rows, &step->word[4], sizeof(uint64_t) * (WORDS - 4));
	if (step->place == PLACE_FINE &&
	    !ioctl(now.fd[step->file], HWPROF_IOC_UNWIND_TABLE, &table))
		now.table = table.table;
	else
		ioctl(now.fd[step->file], HWPROF_IOC_UNWIND_TABLE,
		      place(step, &table, sizeof(table)));
}

/* This program's code, by the newest table. */
static void set_maps(const struct step *step)
{
	uint64_t start = (uintptr_t)set_maps & -PAGE;
	struct hwprof_unwind_map map = {
		.start = start,
		.end = start + PAGE * (1 + step->word[0] % 16),
		.base = start - step->word[1] % 16 * PAGE,
		.table = step->word[2] < 60 ? now.table : step->word[2],
	};
	struct hwprof_unwind_maps maps = {
		.size = sizeof(maps),
		.maps = (uintptr_t)&map,
		.count = step->word[3] % 2,
		.pid = choose_pid(step->word[0]) ?: getpid(),
	};

	ioctl(now.fd[step->file], HWPROF_IOC_UNWIND_MAPS,
	      place(step, &maps, sizeof(maps)));
}

/* --- sysfs ---------------------------------------------------------------- */

#define PMU	"/sys/bus/event_source/devices/hwprof/"
#define CLASS	"/sys/class/misc/hwprof/"

static const char * const paths[] = {
	PMU "caps/step", PMU "caps/lbr", PMU "caps/sample", PMU "caps/sessions",
	PMU "caps/overflow", PMU "caps/counters", PMU "format/loops",
	PMU "format/session", PMU "events/loops",
	CLASS "limits/sessions", CLASS "limits/sessions_per_user",
	CLASS "limits/memory_mib", CLASS "limits/memory_mib_per_user",
};

static const char * const of_session[] = {
	"owner", "user", "front", "engine", "source", "perf_events",
	"throttled", "produced", "pending", "cost_ns", "memory",
};

static void use_sysfs(const struct step *step)
{
	char path[128], text[64];
	ssize_t length;
	int fd;

	if (step->word[0] % 2)
		snprintf(path, sizeof(path), "%s",
			 paths[step->word[1] % ARRAY_SIZE(paths)]);
	else
		snprintf(path, sizeof(path), CLASS "sessions/%u/%s",
			 now.config[step->file].session,
			 of_session[step->word[1] % ARRAY_SIZE(of_session)]);
	fd = open(path, O_CLOEXEC | (step->word[2] < 48 ? O_RDONLY : O_RDWR));
	if (step->word[2] < 48) {
		length = read(fd, place(step, text, 0), PAGE);
	} else {
		snprintf(text, sizeof(text), "%lld", (long long)step->word[3]);
		length = write(fd, place(step, text, sizeof(text)),
			       strlen(text));
	}
	(void)length;
	if (fd >= 0)
		close(fd);
}

/* --- all of them ---------------------------------------------------------- */

static void make_call(const struct step *step)
{
	switch ((enum call)step->call) {
	case CALL_DEVICE: open_device(step); break;
	case CALL_CONFIG: configure(step); break;
	case CALL_SNAPSHOT: snapshot(step); break;
	case CALL_RESET:
		ioctl(now.fd[step->file], HWPROF_IOC_RESET, step->word[0]);
		break;
	case CALL_RING:
		ioctl(now.fd[step->file], HWPROF_IOC_RING,
		      place(step, step->word, sizeof(step->word)));
		break;
	case CALL_ODD_IOCTL: odd_ioctl(step); break;
	case CALL_FEEDER: open_feeder(step); break;
	case CALL_EVENT: open_any_event(step); break;
	case CALL_EVENT_IOCTL: event_ioctl(step); break;
	case CALL_READ: read_event(step); break;
	case CALL_WRITE: write_event(step); break;
	case CALL_POLL: poll_files(step); break;
	case CALL_MAP: map_file(step); break;
	case CALL_TOUCH: touch(step); break;
	case CALL_REMAP: remap(step); break;
	case CALL_UNMAP: unmap(step); break;
	case CALL_CLOSE: close_file(step); break;
	case CALL_DUP: dup_file(step); break;
	case CALL_PASS: pass_file(step); break;
	case CALL_RUN: run(step); break;
	case CALL_FORK: fork_target(step); break;
	case CALL_KILL: end_target(); break;
	case CALL_EXEC: execl(known_program(), "known", NULL); break;
	case CALL_SYSFS: use_sysfs(step); break;
	case CALL_TWIN: open_twin(step); break;
	case CALL_CHURN: churn(step); break;
	case CALL_DROP: drop(step); break;
	case CALL_SPLIT: split(step); break;
	case CALL_CHOOSE: image_choose(step->word); break;
	case CALL_TABLE: add_table(step); break;
	case CALL_MAPS: set_maps(step); break;
	case CALL_IMAGES: images_try(step->word, now.findings); break;
	case CALL_PROGRAM: give_program(step); break;
	case CALL_FILTER: set_filter(step); break;
	case CALL_TUNE: tune(step); break;
	case CALL_MASK: set_mask(step); break;
	case CALL_COUNT: break;
	}
}

static bool faulty;

static void *make_step_call(void *context)
{
	const struct step *step = context;
	bool fails = faulty && step->fault;

	if (fails)
		fail_nth(step->fault);
	make_call(step);
	if (fails)
		fail_nth(0);
	return NULL;
}

static void clean_up(const pthread_t *threads, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	await_receiver();
	end_target();
	for (i = 0; i < FILES; i++)
		if (now.fd[i] >= 0)
			close(now.fd[i]);
}

void calls_make(const struct input *input, uint32_t type, bool faults,
		struct findings *findings)
{
	pthread_t threads[STEPS_MAX];
	unsigned int i, count = 0;

	memset(now.fd, 0xff, sizeof(now.fd));
	now.type = type;
	now.findings = findings;
	faulty = faults;
	signal(SIGUSR1, SIG_IGN);
	for (i = 0; i < input->count; i++) {
		void *step = (void *)&input->steps[i];

		now.threads |= input->steps[i].beside;
		if (!input->steps[i].beside)
			make_step_call(step);
		else if (!pthread_create(&threads[count], NULL, make_step_call,
					 step))
			count++;
		if (now.receives)
			count = 0;
		now.receives = false;
	}
	clean_up(threads, count);
}
