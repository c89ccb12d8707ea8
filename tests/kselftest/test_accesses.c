// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loads and stores of a program whose accesses are all known: samples of each,
 * and rows that add up.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "include/kselftest_harness.h"

#include "event.h"
#include "text.h"

EVENT_ALL_NEED("step")

#ifdef __x86_64__

enum {
	THREADS		= 4,
	TIMES		= 5000,
	SIGNALS		= 50,
	SEEN_MAX	= 64,
};

/* x86/accesses.S */
void accesses_run(void);
void accesses_loop(long times, const void *address);
long accesses_fault(const void *address);
long accesses_late(const void *address);
void accesses_compare(const void *address);
extern const char accesses_begin[], accesses_end[];
extern const char access_loop[], access_fault[], access_late[];
extern uint64_t access_words[];
extern char access_copy[], access_slot[];

/* An access: the instruction's place, and the address. */
struct access {
	const char *ip;			/* or up to 24 bytes before the
					 * instruction */
	const void *address;
	uint64_t value;			/* of a load of up to 8 bytes */
	bool wide;
};

#define AT(name) ({ extern const char access_##name[]; access_##name; })

static struct access loads[SEEN_MAX], stores[SEEN_MAX];
static unsigned int load_count, store_count;

static void load(const char *ip, const void *address, uint64_t value)
{
	loads[load_count++] = (struct access){ ip, address, value, false };
}

static void store(const char *ip, const void *address)
{
	stores[store_count++] = (struct access){ ip, address, 0, false };
}

static uint64_t thread_pointer(void)
{
	uint64_t pointer;

	__asm__("mov %%fs:0, %0" : "=r" (pointer));
	return pointer;
}

/* The accesses of x86/accesses.S, in order. */
static __attribute__((constructor)) void expect(void)
{
	char *words = (char *)access_words;
	uint64_t word = access_words[0];
	unsigned int i;

	load(AT(load), words, word);
	load(AT(load_byte), words, 0x88);
	load(AT(load_signed), words + 7, 0xf1);
	load(AT(load_indexed), words + 16, 5);
	load(AT(load_zero), words + 24, 0);
	load(AT(load_vector), words, 0);
	loads[load_count - 1].wide = true;
	load(AT(load_base), words + 8, access_words[1]);
	load(AT(load_fs), (void *)thread_pointer(), thread_pointer());
	load(AT(compare), words + 16, 5);
	store(AT(store), words + 32);
	store(AT(store_vector), words + 48);
	load(AT(add), words + 40, 41);
	store(AT(add), words + 40);
	load(AT(lock), words + 32, 0x5a);
	store(AT(lock), words + 32);
	load(AT(exchange), words + 64, 0x99);
	store(AT(exchange), words + 64);
	store(AT(push), access_slot);
	load(AT(pop), access_slot, (uint64_t)words);
	load(AT(push_memory), words, word);
	store(AT(push_memory), access_slot);
	load(AT(pop_memory), access_slot, word);
	store(AT(pop_memory), words + 72);
	store(AT(call), access_slot);
	load(AT(ret), access_slot, (uint64_t)AT(leave));
	store(AT(leave), access_slot);
	load(AT(leave), access_slot, (uint64_t)words);
	for (i = 0; i < 3; i++) {
		load(AT(rep_movs), words + i, word >> 8 * i & 0xff);
		store(AT(rep_movs), access_copy + i);
	}
	load(AT(scan), words, 0x88);
}

struct seen {
	unsigned int count;		/* in accesses_run() */
	struct access all[SEEN_MAX];
	uint64_t at_label;		/* samples there */
	const char *label;
	uint64_t address, value;
};

static void see(struct tally *tally, const struct sample *sample)
{
	const struct hwprof_row_range *row = (const void *)sample->row;
	const char *ip = (const char *)sample->ip;
	struct seen *seen = tally->context;

	if (ip == seen->label) {
		seen->at_label++;
		seen->address = sample->addr;
		seen->value = row->low;
	}
	if ((ip < accesses_begin || ip >= accesses_end) && ip != AT(ret))
		return;
	if (seen->count < SEEN_MAX)
		seen->all[seen->count] = (struct access) {
			ip, (const void *)sample->addr, row->low, false
		};
	seen->count++;
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
	ASSERT_EQ(0, sample_rate_write(100000000));
	ASSERT_TRUE(event_sessions_are(0));
	self->tally.see = see;
	self->tally.context = &self->seen;
}

FIXTURE_TEARDOWN(accesses)
{
	recording_close(&self->recording);
	EXPECT_TRUE(event_sessions_are(0));
}

static struct perf_event_attr attr_of(enum hwprof_range_of of, uint64_t config)
{
	struct perf_event_attr attr =
		event_attr_sampling(EVENT_RANGES | config, 1);

	attr.config2 = EVENT_RANGE_OF(of);
	return attr;
}

static void record(struct __test_metadata *_metadata,
		   FIXTURE_DATA(accesses) *self, enum hwprof_range_of of,
		   uint64_t config, void (*run)(void *context), void *context)
{
	struct perf_event_attr attr = attr_of(of, config);

	self->child = child_start(run, context);
	ASSERT_EQ(0, recording_begin(&self->recording, &attr, &self->child,
				     256, &self->tally));
	EXPECT_EQ(0, recording_wait(&self->recording, self->child.pid));
	EXPECT_EQ(0, self->tally.lost);
	EXPECT_EQ(0, self->tally.throttled);
}

/* Stays on one CPU, since check_all() expects the accesses in order. */
static void run_all(void *context)
{
	stay_on(0);
	accesses_run();
}

/*
 * Returns true for the instruction behind a label, with up to two others in
 * between.
 */
static bool is_at(const char *ip, const char *label)
{
	return ip >= label && ip < label + 24;
}

static bool wants_load(enum hwprof_range_of of, const struct access *access)
{
	switch (of) {
	case HWPROF_RANGE_LOAD_VALUE:
		return !access->wide;
	case HWPROF_RANGE_ZERO_ADDRESS:
		return !access->wide && !access->value;
	default:
		return true;
	}
}

static uint64_t value_of(enum hwprof_range_of of, const struct access *access)
{
	return of == HWPROF_RANGE_LOAD_VALUE ? access->value :
					       (uint64_t)access->address;
}

static void check_all(struct __test_metadata *_metadata,
		      FIXTURE_DATA(accesses) *self, enum hwprof_range_of of,
		      const struct access *expected, unsigned int count)
{
	unsigned int i, n = 0;

	for (i = 0; i < count; i++) {
		const struct access *got = &self->seen.all[n];

		if (!wants_load(of, &expected[i]))
			continue;
		ASSERT_LT(n, SEEN_MAX);
		EXPECT_TRUE(is_at(got->ip, expected[i].ip));
		EXPECT_EQ((uint64_t)expected[i].address,
			  (uint64_t)got->address) {
			TH_LOG("access %u", i);
		}
		EXPECT_EQ(value_of(of, &expected[i]), got->value) {
			TH_LOG("access %u", i);
		}
		n++;
	}
	EXPECT_EQ(n, self->seen.count);
}

TEST_F(accesses, values_of_loads)
{
	record(_metadata, self, HWPROF_RANGE_LOAD_VALUE, 0, run_all, NULL);
	check_all(_metadata, self, HWPROF_RANGE_LOAD_VALUE, loads, load_count);
}

TEST_F(accesses, addresses_of_loads)
{
	record(_metadata, self, HWPROF_RANGE_LOAD_ADDRESS, 0, run_all, NULL);
	check_all(_metadata, self, HWPROF_RANGE_LOAD_ADDRESS, loads,
		  load_count);
}

TEST_F(accesses, addresses_of_zeros)
{
	record(_metadata, self, HWPROF_RANGE_ZERO_ADDRESS, 0, run_all, NULL);
	check_all(_metadata, self, HWPROF_RANGE_ZERO_ADDRESS, loads,
		  load_count);
}

TEST_F(accesses, addresses_of_stores)
{
	record(_metadata, self, HWPROF_RANGE_STORE_ADDRESS, 0, run_all, NULL);
	check_all(_metadata, self, HWPROF_RANGE_STORE_ADDRESS, stores,
		  store_count);
}

TEST_F(accesses, callees)
{
	self->seen.label = AT(ret);
	record(_metadata, self, HWPROF_RANGE_CALLEE, 0, run_all, NULL);
	EXPECT_EQ(1, self->seen.at_label);
	EXPECT_EQ((uint64_t)AT(call), self->seen.address);
}

/* --- events between an instruction and its trap --------------------------- */

static const uint64_t word = 0x1234567890;

static void mend(int sig, siginfo_t *info, void *context)
{
	ucontext_t *user = context;

	user->uc_mcontext.gregs[REG_RDI] = (long)&word;
}

static void run_fault(void *context)
{
	struct sigaction action = { .sa_sigaction = mend,
				    .sa_flags = SA_SIGINFO };

	sigaction(SIGSEGV, &action, NULL);
	if (accesses_fault((void *)8) != (long)word)
		_exit(1);
}

/* A faulting load counts once, when it is executed. */
TEST_F(accesses, of_a_fault)
{
	self->seen.label = access_fault;
	record(_metadata, self, HWPROF_RANGE_LOAD_VALUE, 0, run_fault, NULL);
	EXPECT_EQ(1, self->seen.at_label);
	EXPECT_EQ((uint64_t)&word, self->seen.address);
	EXPECT_EQ(word, self->seen.value);
}

static void run_late(void *context)
{
	void *page = (void *)access_late;

	if (madvise(page, 4096, MADV_DONTNEED) ||
	    accesses_late(&word) != (long)word)
		_exit(1);
}

/* Its code could not be read when it was about to run. */
TEST_F(accesses, of_code_that_is_not_there_yet)
{
	self->seen.label = access_late;
	record(_metadata, self, HWPROF_RANGE_LOAD_VALUE, 0, run_late, NULL);
	EXPECT_EQ(1, self->seen.at_label);
	EXPECT_EQ((uint64_t)&word, self->seen.address);
	EXPECT_EQ(word, self->seen.value);
}

/* --- device memory -------------------------------------------------------- */

enum { ROM = 0xf0000 };		/* the BIOS of every PC */

/* Maps a page of the machine's ROM, which is mapped like device registers. */
static void *map_rom(void)
{
	int memory = open("/dev/mem", O_RDONLY | O_CLOEXEC);
	void *page = MAP_FAILED;

	if (memory >= 0) {
		page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, memory, ROM);
		close(memory);
	}
	return page == MAP_FAILED ? NULL : page;
}

static void run_compare(void *context)
{
	accesses_compare(context);
}

static void compare(struct __test_metadata *_metadata,
		    FIXTURE_DATA(accesses) *self, enum hwprof_range_of of,
		    const void *address)
{
	self->seen.label = AT(compare_there);
	record(_metadata, self, of, 0, run_compare,
	       (void *)address);
}

/* The address is known. */
TEST_F(accesses, of_a_device)
{
	void *rom = map_rom();

	if (!rom)
		SKIP(return, "no /dev/mem here, or not for the ROM");
	compare(_metadata, self, HWPROF_RANGE_LOAD_ADDRESS, rom);
	EXPECT_EQ(1, self->seen.at_label);
	EXPECT_EQ((uint64_t)rom, self->seen.address);
}

/* The value is unknown, because only the program may read it. */
TEST_F(accesses, value_of_a_device)
{
	void *rom = map_rom();

	if (!rom)
		SKIP(return, "no /dev/mem here, or not for the ROM");
	compare(_metadata, self, HWPROF_RANGE_LOAD_VALUE, rom);
	EXPECT_EQ(0, self->seen.at_label);
}

/* Memory that was read but never written is a shared page of zeros. */
TEST_F(accesses, value_of_the_zero_page)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE(MAP_FAILED, (void *)page);
	EXPECT_EQ(0, *(volatile char *)page);
	compare(_metadata, self, HWPROF_RANGE_LOAD_VALUE, page + 8);
	EXPECT_EQ(1, self->seen.at_label);
	EXPECT_EQ(0, self->seen.value);
}

/* One half is on each page. */
TEST_F(accesses, value_across_pages)
{
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE(MAP_FAILED, (void *)pages);
	memset(pages, 0x5a, 8192);
	compare(_metadata, self, HWPROF_RANGE_LOAD_VALUE, pages + 4094);
	EXPECT_EQ(1, self->seen.at_label);
	EXPECT_EQ(0x5a5a5a5a, self->seen.value);
}

static const struct itimerval soon = { .it_value = { 0, 1000 } };

/* Repeats the timer, but leaves time for other work. */
static void again(int sig)
{
	static int times;

	if (++times < SIGNALS)
		setitimer(ITIMER_REAL, &soon, NULL);
}

static void run_signals(void *context)
{
	signal(SIGALRM, again);
	setitimer(ITIMER_REAL, &soon, NULL);
	accesses_loop(TIMES, &word);
	signal(SIGALRM, SIG_IGN);
}

TEST_F(accesses, among_signals)
{
	self->seen.label = access_loop;
	record(_metadata, self, HWPROF_RANGE_LOAD_ADDRESS, 0, run_signals,
	       NULL);
	EXPECT_EQ(TIMES, self->seen.at_label);
	EXPECT_EQ((uint64_t)&word, self->seen.address);
}

static void *run_thread(void *context)
{
	accesses_loop(TIMES, context);
	return NULL;
}

static void run_threads(void *context)
{
	pthread_t threads[THREADS];
	int i;

	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run_thread, (void *)&word);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

TEST_F(accesses, of_threads)
{
	self->seen.label = access_loop;
	record(_metadata, self, HWPROF_RANGE_LOAD_VALUE, 0, run_threads, NULL);
	EXPECT_EQ(THREADS * TIMES, self->seen.at_label);
	EXPECT_EQ((uint32_t)word, self->seen.value);
}

/* --- rows ----------------------------------------------------------------- */

struct rows {
	uint64_t around;		/* in ranges around the word */
	uint64_t of[HWPROF_RANGES_OF_COUNT];
};

static void see_row(struct tally *tally, const struct sample *sample)
{
	const struct hwprof_row_range *row = (const void *)sample->row;
	struct rows *rows = tally->context;

	if (row->of < HWPROF_RANGES_OF_COUNT)
		rows->of[row->of] += row->count;
	if (sample->ip <= (uint64_t)&word && sample->addr >= (uint64_t)&word)
		rows->around += row->count;
}

TEST_F(accesses, rows)
{
	struct rows rows = { 0 };

	self->tally.see = see_row;
	self->tally.context = &rows;
	record(_metadata, self, HWPROF_RANGE_LOAD_ADDRESS,
	       EVENT_ROWS | EVENT_MEMORY(4), run_threads, NULL);
	EXPECT_TRUE(tally_is_whole(&self->tally));
	EXPECT_EQ(recording_count(&self->recording), self->tally.period);
	EXPECT_EQ(self->tally.period, rows.of[HWPROF_RANGE_LOAD_ADDRESS]);
	EXPECT_LE(THREADS * TIMES, rows.around);
}

/* Bursts see a part of the accesses, and rows have all of these. */
TEST_F(accesses, of_bursts)
{
	struct perf_event_attr attr =
		attr_of(HWPROF_RANGE_LOAD_ADDRESS,
			EVENT_ROWS | EVENT_MEMORY(4));
	struct rows rows = { 0 };

	self->tally.see = see_row;
	self->tally.context = &rows;
	attr.config1 = 50;			/* branches */
	attr.sample_period = 1000000;		/* each ms */
	self->child = child_start(run_threads, NULL);
	ASSERT_EQ(0, recording_begin(&self->recording, &attr, &self->child,
				     64, &self->tally));
	EXPECT_EQ(0, recording_wait(&self->recording, self->child.pid));
	EXPECT_TRUE(tally_is_whole(&self->tally));
	EXPECT_EQ(recording_count(&self->recording), self->tally.period);
	EXPECT_EQ(self->tally.period, rows.of[HWPROF_RANGE_LOAD_ADDRESS]);
	EXPECT_GT(THREADS * TIMES, rows.around);
}

#endif /* __x86_64__ */

TEST_HARNESS_MAIN
