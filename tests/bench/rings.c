// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures nanoseconds and bytes of ring for each row, or record, that goes
 * - through a session's own ring, as a row,
 * - through perf's ring, as a row,
 * - ready-made into a session's ring,
 * - ready-made from a BPF program into its ring buffer, in the same size.
 * The first two include merging tables and making rows. A snapshot shows the
 * cost of merging.
 *
 * usage: rings ring_writer.ko
 *
 * It needs a machine of one CPU whose time is derived from instructions (vm
 * --icount --smp 1). The cost of a row is the difference of many rows and few.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../kselftest/device.h"
#include "../kselftest/text.h"

enum {
	FEW = 1000, MANY = 9000,	/* call sites, and so rows */
	CALL_BYTES = 5, CODE_BYTES = 1 << 16,
	RING_BYTES = 4 << 20,
	TIMES = 3,
	RECORD_BYTES = 8 + sizeof(struct hwprof_row_call),
};

/* One run, from the program's end until its rows have arrived. */
struct outcome {
	double ns;
	double bytes;
	unsigned int rows;
};

static _Noreturn void die(const char *what, int error)
{
	fprintf(stderr, "rings: %s: %s\n", what, strerror(abs(error)));
	exit(1);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1e9 + time.tv_nsec;
}

/* --- the program: calls from so many places ------------------------------- */

struct program {
	unsigned char code[CODE_BYTES];
	unsigned int sites;
	double end;
};

static void run_program(void *context)
{
	struct program *program = context;

	((void (*)(void))(program->code + 1))();
	program->end = now();
}

/* a ret, then calls of it, and a ret of their own */
static struct program *make_program(unsigned int sites)
{
	struct program *program = mmap(NULL, sizeof(*program),
				       PROT_READ | PROT_WRITE | PROT_EXEC,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned char *at;
	unsigned int i;

	if (program == MAP_FAILED)
		die("memory for code", errno);
	program->sites = sites;
	at = program->code;
	*at++ = 0xc3;
	for (i = 0; i < sites; i++) {
		int distance = program->code - (at + CALL_BYTES);

		*at++ = 0xe8;
		memcpy(at, &distance, sizeof(distance));
		at += sizeof(distance);
	}
	*at = 0xc3;
	return program;
}

static void count_row(struct tally *tally, const struct sample *sample)
{
	unsigned int *rows = tally->context;

	*rows += sample->row && sample->row->type == HWPROF_ROW_CALL;
}

static void reap(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || status)
		die("the program", ECHILD);
}

/* --- hwprof's two ways ---------------------------------------------------- */

#define CALLS	(EVENT_CALLS | EVENT_STEP | EVENT_MEMORY(16))
#define LONG	EVENT_INTERVAL(60000)

static int open_session(struct hwprof_config *config)
{
	int device = device_open(config);

	if (device < 0)
		die("/dev/hwprof", device);
	return device;
}

/* Opens an event of the session, which is enabled. */
static int open_feeder(const struct hwprof_config *config, pid_t pid)
{
	struct perf_event_attr attr = device_feeder(config);
	int event;

	attr.disabled = 0;
	event = event_open(&attr, pid, -1, -1, 0);
	if (event < 0)
		die("an event of the session", event);
	return event;
}

static struct outcome through_device(unsigned int sites)
{
	struct program *program = make_program(sites);
	struct child child = child_start(run_program, program);
	struct hwprof_config config = device_config(CALLS);
	struct hwprof_ring_page *page;
	struct outcome outcome = { 0 };
	struct tally tally = { .see = count_row, .context = &outcome.rows };
	struct pollfd ready = { .events = POLLIN };
	int event, rings;

	config.config1 = LONG;
	ready.fd = open_session(&config);
	rings = device_ring(ready.fd, RING_BYTES, sites * RECORD_BYTES);
	page = rings != 1 ? NULL : device_map(ready.fd, RING_BYTES, 1);
	if (!page)
		die("a ring", rings < 0 ? rings : errno);
	event = open_feeder(&config, child.pid);
	child_go(&child);
	poll(&ready, 1, 10000);
	outcome.ns = now() - program->end;
	outcome.bytes = page->data_head - page->data_tail;
	device_drain(page, 1, &tally);
	reap(child.pid);
	close(event);
	close(ready.fd);
	munmap(page, getpagesize() + RING_BYTES);
	munmap(program, sizeof(*program));
	return outcome;
}

static void run_and_wait(void *context)
{
	run_program(context);
	pause();
}

/*
 * Takes rows without a ring, from a program that still exists. So nothing is
 * merged before the first read, which returns as many rows for FEW as for MANY.
 */
static struct outcome through_snapshot(unsigned int sites)
{
	struct program *program = make_program(sites);
	struct child child = child_start(run_and_wait, program);
	struct hwprof_config config = device_config(CALLS);
	static char buffer[HWPROF_SNAPSHOT_MIN];
	struct outcome outcome = { 0 };
	struct tally tally = { .see = count_row, .context = &outcome.rows };
	int device, event;
	double begin;
	long first;
	bool more;

	config.config1 = LONG;
	device = open_session(&config);
	event = open_feeder(&config, child.pid);
	child_go(&child);
	child_await_sleep(&child);
	begin = now();
	first = device_read(device, buffer, sizeof(buffer), &more);
	outcome.ns = now() - begin;
	if (first < 0 || device_snapshot(device, RING_BYTES, &tally))
		die("a snapshot", first);
	outcome.rows += first / RECORD_BYTES;
	kill(child.pid, SIGKILL);
	waitpid(child.pid, NULL, 0);
	close(event);
	close(device);
	munmap(program, sizeof(*program));
	return outcome;
}

static uint64_t perf_head(const struct recording *recording)
{
	const struct perf_event_mmap_page *page = recording->ring[0];

	return __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
}

static struct outcome through_perf(unsigned int sites)
{
	struct program *program = make_program(sites);
	struct child child = child_start(run_program, program);
	struct perf_event_attr attr =
		event_attr_sampling(CALLS | EVENT_ROWS, 1);
	struct outcome outcome = { 0 };
	struct tally tally = { .see = count_row, .context = &outcome.rows };
	struct recording recording = { 0 };
	struct pollfd ready = { .events = POLLIN };
	int error;

	attr.config1 = LONG;
	attr.disabled = 0;
	attr.watermark = 1;
	attr.wakeup_watermark = RING_BYTES / 2;
	error = recording_open(&recording, &attr, child.pid,
			       RING_BYTES / getpagesize(), &tally);
	if (error)
		die("a recording", error);
	ready.fd = recording.fd[0];
	child_go(&child);
	poll(&ready, 1, 10000);		/* POLLHUP */
	/* The task writes rows after that, until it is gone. */
	reap(child.pid);
	outcome.ns = now() - program->end;
	outcome.bytes = perf_head(&recording);
	recording_drain(&recording);
	recording_close(&recording);
	munmap(program, sizeof(*program));
	return outcome;
}

/* --- a session's ring by itself ------------------------------------------- */

static const char *writer_module;

static double writer_says(const char *parameter)
{
	char path[128], text[32];
	int error;

	snprintf(path, sizeof(path), "/sys/module/ring_writer/parameters/%s",
		 parameter);
	error = text_read(path, text, sizeof(text));
	if (error)
		die(path, error);
	return strtod(text, NULL);
}

static struct outcome through_writer(unsigned int rows)
{
	struct outcome outcome;
	char parameters[32];
	int fd = open(writer_module, O_RDONLY | O_CLOEXEC);

	snprintf(parameters, sizeof(parameters), "rows=%u", rows);
	if (fd < 0 || syscall(SYS_finit_module, fd, parameters, 0))
		die(writer_module, errno);
	close(fd);
	outcome.ns = writer_says("ns");
	outcome.bytes = writer_says("bytes");
	outcome.rows = outcome.bytes / RECORD_BYTES;
	if (syscall(SYS_delete_module, "ring_writer", 0))
		die("unloading ring_writer", errno);
	return outcome;
}

/* --- BPF's ring buffer ---------------------------------------------------- */

/* do bpf_ringbuf_output(ring, zeros on the stack); while (++r6 < records) */
static int load_writer(int ring, unsigned int records)
{
	const struct bpf_insn loop[] = {
		{ BPF_LD | BPF_DW | BPF_IMM, 1, BPF_PSEUDO_MAP_FD, 0, ring },
		{ 0 },
		{ BPF_ALU64 | BPF_MOV | BPF_X, 2, BPF_REG_10, 0, 0 },
		{ BPF_ALU64 | BPF_ADD | BPF_K, 2, 0, 0, -RECORD_BYTES },
		{ BPF_ALU64 | BPF_MOV | BPF_K, 3, 0, 0, RECORD_BYTES },
		{ BPF_ALU64 | BPF_MOV | BPF_K, 4, 0, 0, BPF_RB_NO_WAKEUP },
		{ BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_ringbuf_output },
		{ BPF_ALU64 | BPF_ADD | BPF_K, 6, 0, 0, 1 },
		{ BPF_JMP | BPF_JLT | BPF_K, 6, 0, -9, records },
		{ BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0 },
		{ BPF_JMP | BPF_EXIT, 0, 0, 0, 0 },
	};
	struct bpf_insn code[64], *at = code;
	int i;

	for (i = 8; i <= RECORD_BYTES; i += 8)
		*at++ = (struct bpf_insn){
			BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, -i, 0
		};
	*at++ = (struct bpf_insn){ BPF_ALU64 | BPF_MOV | BPF_K, 6, 0, 0, 0 };
	memcpy(at, loop, sizeof(loop));
	at += sizeof(loop) / sizeof(loop[0]);
	return bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "rings", "GPL", code,
			     at - code, NULL);
}

static int count_record(void *context, void *data, size_t size)
{
	struct outcome *outcome = context;

	outcome->rows += size == RECORD_BYTES;
	outcome->bytes += size + BPF_RINGBUF_HDR_SZ;
	return 0;
}

static struct outcome through_bpf(unsigned int records)
{
	int map = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "rows", 0, 0, RING_BYTES,
				 NULL);
	LIBBPF_OPTS(bpf_test_run_opts, options);
	struct outcome outcome = { 0 };
	struct ring_buffer *ring;
	int writer, error;
	double begin;

	if (map < 0)
		die("BPF's ring buffer", map);
	writer = load_writer(map, records);
	if (writer < 0)
		die("a BPF program", writer);
	ring = ring_buffer__new(map, count_record, &outcome, NULL);
	begin = now();
	error = bpf_prog_test_run_opts(writer, &options);
	outcome.ns = now() - begin;
	if (error || !ring || ring_buffer__consume(ring) < 0)
		die("running a BPF program", error);
	ring_buffer__free(ring);
	close(writer);
	close(map);
	return outcome;
}

/* --- all of them ---------------------------------------------------------- */

static struct outcome best_of(struct outcome (*run)(unsigned int),
			      unsigned int rows)
{
	struct outcome best = { 0 }, outcome;
	int i;

	for (i = 0; i < TIMES; i++) {
		outcome = run(rows);
		if (outcome.rows < rows) {
			fprintf(stderr, "rings: %u rows of %u\n", outcome.rows,
				rows);
			exit(1);
		}
		if (!i || outcome.ns < best.ns)
			best = outcome;
	}
	return best;
}

static double report(const char *name, struct outcome (*run)(unsigned int))
{
	struct outcome few = best_of(run, FEW), many = best_of(run, MANY);
	double rows = (double)many.rows - few.rows;
	double ns = (many.ns - few.ns) / rows;

	printf("%-11s %7.0f ns a row, %9.0f rows a second, %4.0f bytes each\n",
	       name, ns, 1e9 / ns, (many.bytes - few.bytes) / rows);
	return ns;
}

int main(int argc, char **argv)
{
	double own, merging, perf, writing, bpf;

	if (argc != 2) {
		fprintf(stderr, "usage: rings ring_writer.ko\n");
		return 2;
	}
	writer_module = argv[1];
	own = report("/dev/hwprof", through_device);
	merging = report("merging", through_snapshot);
	perf = report("perf", through_perf);
	writing = report("ring only", through_writer);
	bpf = report("BPF", through_bpf);
	printf("of /dev/hwprof's %.0f ns: merging %.0f, making rows %.0f, the ring %.0f\n",
	       own, merging, own - merging - writing, writing);
	printf("/dev/hwprof takes %.2f times as many rows a second as perf; its ring %.2f times as many records as BPF's\n",
	       perf / own, bpf / writing);
	return 0;
}
