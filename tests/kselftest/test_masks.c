// SPDX-License-Identifier: GPL-2.0-only
/*
 * HWPROF_IOC_MASK: it leaves what a plain comparison leaves of the same events.
 * Tests who may set a mask, what is refused, and that a change loses nothing.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/kselftest_harness.h"

#include "capability.h"
#include "device.h"
#include "edges.h"
#include "text.h"

enum {
	USER		= 1000,
	BUFFER		= 1 << 20,
	ROUNDS		= 1000,		/* of the program, between two looks */
	CHANGES		= 200,
};

#define MASK(...)	((struct hwprof_mask){ __VA_ARGS__ })
#define KIND(name)	(1U << HWPROF_BRANCH_##name)
#define LOADS		(1U << HWPROF_KIND_LOAD)
#define STORES		(1U << HWPROF_KIND_STORE)
#define CLASS(name)	(1U << HWPROF_CLASS_##name)

static int request_mask(int fd, struct hwprof_mask *mask)
{
	mask->size = sizeof(*mask);
	return ioctl(fd, HWPROF_IOC_MASK, mask) ? -errno : 0;
}

static int set_mask(int fd, struct hwprof_mask mask)
{
	mask.flags |= HWPROF_MASK_SET;
	return request_mask(fd, &mask);
}

static struct hwprof_mask ask(int fd)
{
	struct hwprof_mask mask = { .flags = 0 };

	if (request_mask(fd, &mask))
		event_give_up("a session does not tell its mask");
	return mask;
}

/* --- what is refused ------------------------------------------------------ */

TEST(structs)
{
	struct {
		struct hwprof_mask mask;
		uint64_t more;
	} larger = { .mask.size = sizeof(larger) };
	struct hwprof_mask mask = { .size = HWPROF_MASK_SIZE_VER0 - 1 };
	struct hwprof_config config = device_config_samples();
	int fd = device_open(&config), plain = open(HWPROF_DEVICE, O_RDWR);

	ASSERT_LE(0, fd);
	EXPECT_EQ(-1, ioctl(fd, HWPROF_IOC_MASK, &mask));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, ioctl(fd, HWPROF_IOC_MASK, NULL));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(0, ioctl(fd, HWPROF_IOC_MASK, &larger));
	EXPECT_EQ(sizeof(larger), larger.mask.size);
	larger.more = 1;
	EXPECT_EQ(-1, ioctl(fd, HWPROF_IOC_MASK, &larger));
	EXPECT_EQ(E2BIG, errno);
	EXPECT_EQ(sizeof(mask), larger.mask.size);
	EXPECT_EQ(-ENODATA, set_mask(plain, MASK(.ip_mask = 1)));
	EXPECT_EQ(-ENOENT, set_mask(plain,
				    MASK(.session = config.session + 1000)));
	EXPECT_EQ(-EINVAL, set_mask(fd, MASK(.flags = 4)));
	EXPECT_EQ(-EINVAL, set_mask(fd, MASK(.reserved = 1)));
	EXPECT_EQ(-EINVAL, set_mask(fd, MASK(.ip_match = 1)));
	EXPECT_EQ(-EINVAL, set_mask(fd, MASK(.kinds = 1)));
	EXPECT_EQ(-EOPNOTSUPP, set_mask(fd, MASK(.kinds = KIND(CALL))));
	EXPECT_EQ(-EOPNOTSUPP, set_mask(fd, MASK(.widths = 1)));
	EXPECT_EQ(0, ask(fd).changes);
	close(fd);
	close(plain);
	EXPECT_TRUE(event_sessions_are(0));
}

TEST(is_told)
{
	struct hwprof_config config = device_config_samples();
	struct hwprof_mask mask = MASK(.flags = HWPROF_MASK_SET |
						HWPROF_MASK_HASH,
				       .ip_mask = 6, .ip_match = 2);
	int fd = device_open(&config), other = open(HWPROF_DEVICE, O_RDWR);

	ASSERT_LE(0, fd);
	mask.session = config.session;
	EXPECT_EQ(0, request_mask(other, &mask));
	EXPECT_EQ(config.session, mask.session);
	mask = ask(fd);
	EXPECT_EQ(HWPROF_MASK_HASH, mask.flags);
	EXPECT_EQ(6, mask.ip_mask);
	EXPECT_EQ(2, mask.ip_match);
	/* Other fields are ignored by who only asks. */
	mask = MASK(.ip_match = 1);
	EXPECT_EQ(0, request_mask(fd, &mask));
	EXPECT_EQ(0, set_mask(fd, MASK(.size = 0)));
	mask = ask(fd);
	EXPECT_EQ(0, mask.flags);
	EXPECT_EQ(0, mask.ip_mask);
	/* Nothing has run yet, so that nothing has changed. */
	EXPECT_EQ(0, mask.changes);
	close(fd);
	close(other);
	EXPECT_TRUE(event_sessions_are(0));
}

TEST(profiles)
{
	static const struct {
		uint64_t config;
		int kinds, ips;		/* what a mask of them gives */
	} cases[] = {
		{ EVENT_LOOPS, -EINVAL, -EINVAL },
		{ EVENT_PATHS, -EINVAL, -EINVAL },
		{ EVENT_CCT, -EINVAL, -EINVAL },
		{ EVENT_LOOPS | EVENT_CALLS, -EINVAL, -EINVAL },
		{ EVENT_EDGES, 0, 0 },
		{ EVENT_CALLS, 0, 0 },
		{ EVENT_VALUES, 0, 0 },
		{ EVENT_RANGES, 0, 0 },
	};
	unsigned int i;

	if (event_missing("step"))
		SKIP(return, "there is no stepping");
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwprof_config config =
			device_config(cases[i].config | EVENT_STEP);
		int fd = device_open(&config);

		ASSERT_LE(0, fd);
		EXPECT_EQ(cases[i].kinds,
			  set_mask(fd, MASK(.kinds = KIND(CALL))));
		EXPECT_EQ(cases[i].ips, set_mask(fd, MASK(.ip_mask = 1)));
		EXPECT_EQ(0, set_mask(fd, MASK(.kinds = HWPROF_MASK_BRANCHES)));
		EXPECT_EQ(cases[i].config == EVENT_VALUES ? 0 : -EOPNOTSUPP,
			  set_mask(fd, MASK(.kinds = LOADS)));
		close(fd);
	}
	EXPECT_TRUE(event_sessions_are(0));
}

/* --- rights --------------------------------------------------------------- */

/* Returns the errno that a child with fewer rights gets, or 0. */
static int try(int fd, uid_t user, bool drops)
{
	struct hwprof_mask mask = { .flags = 0 };
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (user && (setresgid(user, user, user) ||
			     setresuid(user, user, user)))
			_exit(90);
		if (drops && !capabilities_keep(0))
			_exit(91);
		status = set_mask(fd, MASK(.ip_mask = 1));
		_exit(request_mask(fd, &mask) == status ? -status : 92);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

TEST(rights)
{
	struct hwprof_config config = device_config_samples();
	int fd = device_open(&config);

	ASSERT_LE(0, fd);
	EXPECT_EQ(0, try(fd, 0, false));
	EXPECT_EQ(EPERM, try(fd, 0, true));
	EXPECT_EQ(EPERM, try(fd, USER, false));
	EXPECT_EQ(1, ask(fd).ip_mask);
	close(fd);
	EXPECT_TRUE(event_sessions_are(0));
}

/* --- sessions of a program that runs on ----------------------------------- */

static uint64_t *rounds;		/* of the child, which shares them */

static __attribute__((noinline)) void round_once(void)
{
	__asm__ volatile("");
}

static void run_on(void *context)
{
	for (;;) {
		round_once();
		__atomic_add_fetch(rounds, 1, __ATOMIC_RELAXED);
	}
}

FIXTURE(running)
{
	int fd;
	struct recording events;
	struct tally tally, none;
	struct child child;
};

FIXTURE_SETUP(running)
{
	ASSERT_TRUE(event_sessions_are(0));
	self->fd = -1;
	rounds = shared_memory(sizeof(*rounds));
}

FIXTURE_TEARDOWN(running)
{
	if (self->child.pid) {
		kill(self->child.pid, SIGKILL);
		waitpid(self->child.pid, NULL, 0);
	}
	recording_close(&self->events);
	close(self->fd);
	munmap(rounds, sizeof(*rounds));
	EXPECT_TRUE(event_sessions_are(0));
}

static void begin(struct __test_metadata *_metadata,
		  FIXTURE_DATA(running) *self, struct hwprof_config config)
{
	struct perf_event_attr attr;
	int i;

	self->fd = device_open(&config);
	ASSERT_LE(0, self->fd);
	attr = device_feeder(&config);
	self->child = child_start(run_on, NULL);
	self->events.tally = &self->none;
	for (i = 0; i < sysconf(_SC_NPROCESSORS_ONLN); i++)
		ASSERT_EQ(0, recording_add(&self->events, &attr,
					   self->child.pid, i));
	recording_control(&self->events, PERF_EVENT_IOC_ENABLE);
	child_go(&self->child);
}

static void snapshot(FIXTURE_DATA(running) *self)
{
	if (device_snapshot(self->fd, BUFFER, &self->tally))
		event_give_up("no snapshot");
}

/* Returns what the session has produced while the program did some rounds. */
static uint64_t produced(FIXTURE_DATA(running) *self, unsigned int more)
{
	uint64_t before, end;

	snapshot(self);
	before = self->tally.totals.produced;
	end = __atomic_load_n(rounds, __ATOMIC_RELAXED) + more;
	while (__atomic_load_n(rounds, __ATOMIC_RELAXED) < end)
		usleep(1000);
	snapshot(self);
	return self->tally.totals.produced - before;
}

static void check_account(struct __test_metadata *_metadata,
			  FIXTURE_DATA(running) *self, unsigned int changes)
{
	recording_control(&self->events, PERF_EVENT_IOC_DISABLE);
	snapshot(self);
	EXPECT_EQ(changes, self->tally.totals.changes);
	EXPECT_EQ(self->tally.totals.delivered, self->tally.period);
	EXPECT_TRUE(tally_is_whole(&self->tally));
}

TEST_F(running, changes)
{
	struct hwprof_config config = device_config(EVENT_CALLS | EVENT_STEP);

	if (event_missing("step"))
		SKIP(return, "there is no stepping");
	begin(_metadata, self, config);
	EXPECT_LE(ROUNDS, produced(self, ROUNDS));
	EXPECT_EQ(0, set_mask(self->fd, MASK(.kinds = KIND(RET))));
	EXPECT_EQ(0, produced(self, ROUNDS));
	EXPECT_EQ(0, set_mask(self->fd, MASK(.kinds = KIND(CALL))));
	EXPECT_LE(ROUNDS, produced(self, ROUNDS));
	EXPECT_EQ(0, set_mask(self->fd, MASK(.size = 0)));
	EXPECT_LE(ROUNDS, produced(self, ROUNDS));
	check_account(_metadata, self, 3);
}

TEST_F(running, changes_often)
{
	struct hwprof_config config = device_config(EVENT_EDGES | EVENT_STEP);
	unsigned int i, kinds;

	if (event_missing("step"))
		SKIP(return, "there is no stepping");
	begin(_metadata, self, config);
	produced(self, 10);
	for (i = 0; i < CHANGES; i++) {
		kinds = i % 3 ? KIND(CALL) << i % 2 : 0;
		EXPECT_EQ(0, set_mask(self->fd, MASK(.kinds = kinds)));
		if (i % 16 == 0)
			produced(self, 10);
	}
	check_account(_metadata, self, CHANGES);
}

/* Samples have an instruction, and nothing else that a mask looks at. */
TEST_F(running, samples)
{
	begin(_metadata, self, device_config_samples());
	while (!produced(self, ROUNDS))
		;
	EXPECT_EQ(0, set_mask(self->fd, MASK(.ip_mask = ~0ULL, .ip_match = 1)));
	EXPECT_EQ(0, produced(self, 100 * ROUNDS));
	EXPECT_EQ(0, set_mask(self->fd, MASK(.size = 0)));
	while (!produced(self, ROUNDS))
		;
	check_account(_metadata, self, 2);
}

/* Counts branches of windows that are calls, and that are not. */
static void see_calls(struct tally *tally, const struct sample *sample)
{
	const struct hwprof_row_edge *row = (const void *)sample->row;
	uint64_t *counts = tally->context;

	if (row->row.type == HWPROF_ROW_EDGE && row->from)
		counts[row->kind == HWPROF_BRANCH_CALL] += row->count;
}

TEST_F(running, branch_records)
{
	struct hwprof_config config = device_config(EVENT_EDGES | EVENT_LBR);
	uint64_t counts[2] = { 0 };

	if (event_missing("lbr"))
		SKIP(return, "there are no branch records");
	config.period = 100003;
	begin(_metadata, self, config);
	produced(self, ROUNDS);
	EXPECT_EQ(0, set_mask(self->fd, MASK(.kinds = KIND(CALL))));
	self->tally.see = see_calls;
	self->tally.context = counts;
	/* An interrupt that had begun before may still use the old mask. */
	produced(self, ROUNDS);
	counts[0] = counts[1] = 0;
	while (counts[1] < ROUNDS)
		produced(self, ROUNDS);
	EXPECT_EQ(0, counts[0]);
	check_account(_metadata, self, 1);
}

#ifdef __x86_64__

/* --- loads and stores of code that is known ------------------------------- */

/* x86/accesses.S */
void accesses_run(void);
extern const char accesses_begin[], accesses_end[];
extern uint64_t access_words[];

/* X(label, class and width of the access there) */
#define LABELS(X)							       \
	X(load, MOVE, 8) X(load_byte, MOVE, 1) X(load_signed, MOVE, 1)	       \
	X(load_indexed, MOVE, 4) X(load_zero, MOVE, 8)			       \
	X(load_vector, VECTOR, 16) X(load_base, MOVE, 8) X(load_fs, MOVE, 8)   \
	X(compare, ARITHMETIC, 4) X(store, MOVE, 4)			       \
	X(store_vector, VECTOR, 16) X(add, ARITHMETIC, 8) X(lock, ATOMIC, 4)   \
	X(exchange, ATOMIC, 8) X(push, STACK, 8) X(pop, STACK, 8)	       \
	X(push_memory, STACK, 8) X(pop_memory, STACK, 8) X(call, BRANCH, 8)    \
	X(leave, STACK, 8) X(rep_movs, STRING, 1) X(scan, STRING, 1)

#define X(name, class, width)	extern const char access_##name[];
LABELS(X)
#undef X

static const struct label {
	const char *at;
	unsigned int class, width;
} labels[] = {
#define X(name, class, width)	{ access_##name, HWPROF_CLASS_##class, width },
	LABELS(X)
#undef X
};

enum { ACCESSES = 64 };

struct access {
	uint64_t ip, address, value, width;
};

struct seen {
	unsigned int count;
	struct access all[ACCESSES];
};

/* Takes a sample of hwprof/values/ or hwprof/ranges/. */
static void see_access(struct tally *tally, const struct sample *sample)
{
	const struct hwprof_row_value *row = (const void *)sample->row;
	struct seen *seen = tally->context;
	struct access access = { .ip = sample->ip, .address = sample->addr };

	if (access.ip < (uintptr_t)accesses_begin ||
	    access.ip >= (uintptr_t)accesses_end || seen->count == ACCESSES)
		return;
	if (row->row.type == HWPROF_ROW_VALUE) {
		access.value = row->values[0].value;
		access.width = row->width;
	}
	seen->all[seen->count++] = access;
}

static const struct label *label_of(const struct access *access)
{
	const struct label *label = labels;

	while (label + 1 < labels + sizeof(labels) / sizeof(labels[0]) &&
	       access->ip >= (uintptr_t)label[1].at)
		label++;
	return label;
}

/* The plainest reading of the ABI, for loads whose values are known. */
static bool passes(const struct hwprof_mask *mask, const struct access *load)
{
	uint64_t ip = mask->flags & HWPROF_MASK_HASH ?
		      HWPROF_MASK_HASH_OF(load->ip) : load->ip;
	const struct label *label = label_of(load);

	return (!mask->kinds || mask->kinds & LOADS) &&
	       (!mask->classes || mask->classes >> label->class & 1) &&
	       (!mask->widths || mask->widths & label->width) &&
	       (load->value & mask->value_mask) == mask->value_match &&
	       (load->address & mask->address_mask) == mask->address_match &&
	       (ip & mask->ip_mask) == mask->ip_match;
}

FIXTURE(accesses)
{
	struct recording recording;
	struct tally tally;
	struct seen seen;
	struct child child;
};

FIXTURE_SETUP(accesses)
{
	if (event_missing("step"))
		SKIP(return, "there is no stepping");
	ASSERT_EQ(0, sample_rate_write(100000000));
	ASSERT_TRUE(event_sessions_are(0));
	/* Rings are read one after another: order is that of one CPU. */
	stay_on(0);
	self->tally.see = see_access;
	self->tally.context = &self->seen;
}

FIXTURE_TEARDOWN(accesses)
{
	EXPECT_TRUE(event_sessions_are(0));
}

static void run_all(void *context)
{
	accesses_run();
}

/* Returns the number of the only session. */
static uint32_t only_session(void)
{
	DIR *folder = opendir("/sys/class/misc/hwprof/sessions");
	struct dirent *entry;
	uint32_t number = 0;

	while (folder && (entry = readdir(folder)))
		if (*entry->d_name != '.')
			number = strtoul(entry->d_name, NULL, 10);
	if (folder)
		closedir(folder);
	return number;
}

/* Takes a sample of each access that passes. */
static void record(struct __test_metadata *_metadata,
		   FIXTURE_DATA(accesses) *self, struct perf_event_attr attr,
		   struct hwprof_mask mask)
{
	int device = open(HWPROF_DEVICE, O_RDWR);

	self->seen.count = 0;
	self->tally.session = 0;
	self->child = child_start(run_all, NULL);
	ASSERT_EQ(0, recording_open(&self->recording, &attr, self->child.pid,
				    256, &self->tally));
	mask.session = only_session();
	ASSERT_EQ(0, set_mask(device, mask));
	recording_control(&self->recording, PERF_EVENT_IOC_ENABLE);
	child_go(&self->child);
	EXPECT_EQ(0, recording_wait(&self->recording, self->child.pid));
	EXPECT_EQ(0, self->tally.lost);
	EXPECT_EQ(0, self->tally.throttled);
	recording_close(&self->recording);
	memset(&self->recording, 0, sizeof(self->recording));
	close(device);
	EXPECT_TRUE(event_sessions_are(0));
}

/* Expects the loads that pass, and no others. Returns how many they are. */
static unsigned int check_loads(struct __test_metadata *_metadata,
				FIXTURE_DATA(accesses) *self,
				const struct seen *all, struct hwprof_mask mask)
{
	unsigned int i, n = 0;

	record(_metadata, self, event_attr_sampling(EVENT_VALUES, 1), mask);
	for (i = 0; i < all->count; i++) {
		if (!passes(&mask, &all->all[i]))
			continue;
		EXPECT_EQ(0, memcmp(&all->all[i], &self->seen.all[n],
				    sizeof(all->all[i]))) {
			TH_LOG("load %u of all, %u of those that pass", i, n);
		}
		n++;
	}
	EXPECT_EQ(n, self->seen.count);
	return n;
}

TEST_F(accesses, of_loads)
{
	uint64_t words = (uintptr_t)access_words;
	struct seen all;
	unsigned int class, sum = 0, i;

	record(_metadata, self, event_attr_sampling(EVENT_VALUES, 1),
	       MASK(.size = 0));
	all = self->seen;
	EXPECT_LE(20, all.count);
	for (i = 0; i < all.count; i++)
		EXPECT_EQ(label_of(&all.all[i])->width, all.all[i].width);
#define CHECK(...)	check_loads(_metadata, self, &all, MASK(__VA_ARGS__))
	for (class = 0; class < HWPROF_CLASSES; class++)
		sum += CHECK(.classes = 1U << class);
	EXPECT_EQ(all.count, sum);
	EXPECT_EQ(all.count, CHECK(.kinds = LOADS));
	EXPECT_EQ(0, CHECK(.kinds = STORES));
	EXPECT_EQ(0, CHECK(.kinds = HWPROF_MASK_BRANCHES));
	EXPECT_LE(5, CHECK(.widths = 1));
	EXPECT_EQ(1, CHECK(.widths = 16));
	EXPECT_LE(5, CHECK(.widths = 8, .kinds = LOADS));
	EXPECT_EQ(2, CHECK(.value_mask = ~0ULL, .value_match = 5));
	EXPECT_LE(1, CHECK(.value_mask = 0xff, .value_match = 0x88,
			   .classes = CLASS(STRING)));
	EXPECT_LE(2, CHECK(.address_mask = ~0ULL, .address_match = words + 16));
	EXPECT_EQ(4, CHECK(.classes = CLASS(STRING), .ip_mask = 0));
	EXPECT_EQ(3, CHECK(.ip_mask = ~0ULL,
			   .ip_match = all.all[all.count - 2].ip));
	sum = CHECK(.flags = HWPROF_MASK_HASH, .ip_mask = 1, .ip_match = 0);
	sum += CHECK(.flags = HWPROF_MASK_HASH, .ip_mask = 1, .ip_match = 1);
	EXPECT_EQ(all.count, sum);
#undef CHECK
}

/* The module reads what a store has written if a mask asks for it. */
TEST_F(accesses, of_stores)
{
	struct perf_event_attr attr = event_attr_sampling(EVENT_RANGES, 1);

	attr.config2 = EVENT_RANGE_OF(HWPROF_RANGE_STORE_ADDRESS);
	record(_metadata, self, attr,
	       MASK(.kinds = STORES, .widths = 4, .value_mask = ~0ULL,
		    .value_match = 0x5a));
	EXPECT_EQ(1, self->seen.count);
	EXPECT_EQ((uintptr_t)access_words + 32, self->seen.all[0].address);
	record(_metadata, self, attr, MASK(.classes = CLASS(ATOMIC)));
	EXPECT_EQ(2, self->seen.count);
	record(_metadata, self, attr,
	       MASK(.classes = CLASS(ATOMIC), .value_mask = 1,
		    .value_match = 1));
	EXPECT_EQ(1, self->seen.count);
}

/* Loads, each behind an instruction after which the CPU may not trap. */
__asm__(".text\n\t.globl behind_run, behind_call, behind_ss\n"
	"behind_run:\n\tpush %rbx\n\tlea behind_word(%rip), %rbx\n\t"
	"mov $39, %eax\n\tsyscall\n"		/* getpid() */
	"behind_call:\n\tmov (%rbx), %rax\n\tpop %rbx\n\tret\n"
	"behind_ss_run:\n\tpush %rbx\n\tlea behind_word(%rip), %rbx\n\t"
	"mov %ss, %eax\n\tmov %eax, %ss\n"
	"behind_ss:\n\tmov (%rbx), %rax\n\tpop %rbx\n\tret\n"
	"\t.local behind_word\n\t.comm behind_word,8,8\n");
void behind_run(void);
void behind_ss_run(void);
extern const char behind_call[], behind_ss[];

static void run_behind(void *context)
{
	for (;;)
		behind_run();
}

static void run_behind_ss(void *context)
{
	unsigned int i;

	for (i = 0; i < ROUNDS; i++)
		behind_ss_run();
}

/* Begins a session of the child, which has the mask from the start. */
static int begin_masked(struct recording *events, struct child *child,
			struct hwprof_config *config, struct hwprof_mask mask)
{
	int fd = device_open(config), i;
	struct perf_event_attr attr;

	if (fd < 0 || set_mask(fd, mask))
		event_give_up("no session with a mask");
	attr = device_feeder(config);
	for (i = 0; i < sysconf(_SC_NPROCESSORS_ONLN); i++)
		if (recording_add(events, &attr, child->pid, i))
			event_give_up("no events");
	recording_control(events, PERF_EVENT_IOC_ENABLE);
	child_go(child);
	return fd;
}

/*
 * In bursts, nothing traps before the load behind a call. Returns how many are
 * lost in some bursts.
 */
static uint64_t lost_behind_calls(struct hwprof_mask mask)
{
	struct hwprof_config config = device_config(EVENT_VALUES | EVENT_STEP);
	struct child child = child_start(run_behind, NULL);
	struct tally tally = { 0 }, none = { 0 };
	struct recording events = { .tally = &none };
	int fd;

	config.config1 = 100 | EVENT_BUDGET(500);
	config.period = 1;
	fd = begin_masked(&events, &child, &config, mask);
	do {
		usleep(1000);
		if (device_snapshot(fd, BUFFER, &tally))
			event_give_up("no snapshot");
	} while (tally.totals.windows < 10);
	kill(child.pid, SIGKILL);
	waitpid(child.pid, NULL, 0);
	recording_close(&events);
	close(fd);
	return tally.totals.lost_events;
}

/* Returns how many loads behind one of SS are lost or seen. */
static uint64_t known_behind_ss(struct hwprof_mask mask)
{
	struct hwprof_config config = device_config(EVENT_VALUES | EVENT_STEP);
	struct child child = child_start(run_behind_ss, NULL);
	struct tally tally = { 0 }, none = { 0 };
	struct recording events = { .tally = &none };
	int fd = begin_masked(&events, &child, &config, mask);

	waitpid(child.pid, NULL, 0);
	if (device_snapshot(fd, BUFFER, &tally))
		event_give_up("no snapshot");
	recording_close(&events);
	close(fd);
	return tally.totals.lost_events + tally.totals.produced;
}

/* The load is lost if it may pass, whether or not the one before passes. */
TEST(behind_what_does_not_trap)
{
	uint64_t call = (uintptr_t)behind_call, ss = (uintptr_t)behind_ss;

	if (event_missing("step"))
		SKIP(return, "there is no stepping");
	EXPECT_LT(0, lost_behind_calls(MASK(.ip_mask = ~0ULL,
					    .ip_match = call)));
	EXPECT_EQ(0, lost_behind_calls(MASK(.ip_mask = ~0ULL, .ip_match = call,
					    .widths = 2)));
	EXPECT_EQ(0, lost_behind_calls(MASK(.kinds = HWPROF_MASK_BRANCHES)));
	EXPECT_EQ(ROUNDS, known_behind_ss(MASK(.ip_mask = ~0ULL,
					       .ip_match = ss)));
	EXPECT_EQ(0, known_behind_ss(MASK(.ip_mask = ~0ULL, .ip_match = ss,
					  .widths = 2)));
	EXPECT_TRUE(event_sessions_are(0));
}

/* --- edges of code that is known ------------------------------------------ */

/* x86/edges.S */
void edges_run(void);
extern const char edge_cond[], edge_jump[], edge_call[], edge_back[],
		  edge_even_ret[], edge_odd_ret[], edge_end[];

enum { R = EDGES_ROUNDS };

/* The branches of a run, and how often rows have them, with any end. */
static struct branch {
	const char *at;
	unsigned int kind;
	uint64_t count;
	uint64_t seen;
} branches[] = {
	{ edge_cond, HWPROF_BRANCH_COND, R / 4, 0 },
	{ edge_jump, HWPROF_BRANCH_JUMP, 3 * R / 4, 0 },
	{ edge_call, HWPROF_BRANCH_CALL, R, 0 },
	{ edge_even_ret, HWPROF_BRANCH_RET, R / 2, 0 },
	{ edge_odd_ret, HWPROF_BRANCH_RET, R / 2, 0 },
	{ edge_back, HWPROF_BRANCH_COND, R - 1, 0 },
	{ edge_end, HWPROF_BRANCH_RET, 1, 0 },
};

enum { BRANCHES = sizeof(branches) / sizeof(branches[0]) };

struct edges {
	uint64_t strays;		/* of kinds that do not pass */
	uint32_t kinds;
};

static void see_edge(struct tally *tally, const struct sample *sample)
{
	const struct hwprof_row_edge *row = (const void *)sample->row;
	struct edges *edges = tally->context;
	unsigned int i;

	if (row->row.type != HWPROF_ROW_EDGE || !row->from)
		return;
	edges->strays += !(edges->kinds >> row->kind & 1);
	for (i = 0; i < BRANCHES; i++)
		if (row->from == (uintptr_t)branches[i].at)
			branches[i].seen += row->count;
}

static void run_edges(void *context)
{
	edges_run();
}

static void check_edges(struct __test_metadata *_metadata,
			struct hwprof_mask mask)
{
	struct hwprof_config config = device_config(EVENT_EDGES | EVENT_STEP);
	struct edges edges = { .kinds = mask.kinds ?: ~0U };
	struct tally tally = { .see = see_edge, .context = &edges };
	struct tally none = { .samples = 0 };
	struct recording events = { .tally = &none };
	struct perf_event_attr attr;
	struct child child;
	int fd = device_open(&config), i;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, set_mask(fd, mask));
	attr = device_feeder(&config);
	child = child_start(run_edges, NULL);
	for (i = 0; i < sysconf(_SC_NPROCESSORS_ONLN); i++)
		ASSERT_EQ(0, recording_add(&events, &attr, child.pid, i));
	recording_control(&events, PERF_EVENT_IOC_ENABLE);
	child_go(&child);
	waitpid(child.pid, NULL, 0);
	ASSERT_EQ(0, device_snapshot(fd, BUFFER, &tally));
	EXPECT_EQ(0, edges.strays);
	EXPECT_EQ(tally.totals.delivered, tally.period);
	EXPECT_TRUE(tally_is_whole(&tally));
	for (i = 0; i < BRANCHES; i++) {
		uint64_t ip = (uintptr_t)branches[i].at;
		bool passes = edges.kinds >> branches[i].kind & 1;

		if (mask.flags & HWPROF_MASK_HASH)
			ip = HWPROF_MASK_HASH_OF(ip);
		passes &= (ip & mask.ip_mask) == mask.ip_match;
		EXPECT_EQ(passes ? branches[i].count : 0, branches[i].seen) {
			TH_LOG("branch %d", i);
		}
		branches[i].seen = 0;
	}
	recording_close(&events);
	close(fd);
	EXPECT_TRUE(event_sessions_are(0));
}

TEST(edges)
{
	unsigned int part;

	if (event_missing("step"))
		SKIP(return, "there is no stepping");
	check_edges(_metadata, MASK(.size = 0));
	check_edges(_metadata, MASK(.kinds = KIND(CALL)));
	check_edges(_metadata, MASK(.kinds = KIND(CALL) | KIND(RET)));
	check_edges(_metadata, MASK(.kinds = KIND(COND)));
	check_edges(_metadata, MASK(.ip_mask = ~0ULL,
				    .ip_match = (uintptr_t)edge_jump));
	for (part = 0; part < 4; part++)
		check_edges(_metadata, MASK(.flags = HWPROF_MASK_HASH,
					    .ip_mask = 3, .ip_match = part));
}

#endif /* __x86_64__ */

TEST_HARNESS_MAIN
