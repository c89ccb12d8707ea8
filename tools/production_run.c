// SPDX-License-Identifier: GPL-2.0-only
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "base/json.h"
#include "command.h"
#include "production_run.h"
#include "production_symbols.h"
#include "table.h"

enum {
	ROWS_MAX	= 1 << 16,	/* of a table */
	WAKES_SIZE	= 1 << 16,	/* bytes: a multiple of any page */
	LOG_SIZE	= 1 << 16,
	/* Programs may have many actions, and hypervisors other things to do */
	LIMIT_US	= 2000,
};

struct production_run {
	const struct productions *productions;
	struct production_mode mode;
	struct production_maps maps;
	struct production_state *state;	/* mapped */
	struct ring_buffer *wakes;
	uint64_t snapshots;		/* that were taken */
	struct device_rows *watched;	/* calls the programs */
	unsigned int kinds;		/* of its programs */
	struct filter_function functions[PRODUCTION_SYMBOLS];
};

/* --- maps ----------------------------------------------------------------- */

static int no_maps(int error)
{
	return failed("the kernel makes no maps for --when: %s%s",
		      strerror(error), error == EPERM ?
		      ": programs take CAP_BPF and CAP_PERFMON" : "");
}

static int make_state(struct production_run *run)
{
	const struct bpf_map_create_opts options = {
		.sz = sizeof(options), .map_flags = BPF_F_MMAPABLE,
	};
	size_t size = sizeof(*run->state);
	void *memory;

	run->maps.state = bpf_map_create(BPF_MAP_TYPE_ARRAY, "hwprof_state", 4,
					 size, 1, &options);
	if (run->maps.state < 0)
		return no_maps(errno);
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
		      run->maps.state, 0);
	if (memory == MAP_FAILED)
		return no_maps(errno);
	run->state = memory;
	return -1;
}

/* The state says what is asked for, so a wake has no data. */
static int on_wake(void *context, void *data, size_t size)
{
	return 0;
}

static int make_wakes(struct production_run *run)
{
	run->maps.wakes = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "hwprof_wakes",
					 0, 0, WAKES_SIZE, NULL);
	if (run->maps.wakes < 0)
		return no_maps(errno);
	run->wakes = ring_buffer__new(run->maps.wakes, on_wake, NULL, NULL);
	return run->wakes ? -1 : no_maps(errno);
}

/* A table without names has one row. */
static size_t keys_of(const struct production_table *table)
{
	return table->key_count ? table->key_count : 1;
}

static int make_tables(struct production_run *run)
{
	size_t i;

	for (i = 0; i < run->productions->table_count; i++) {
		const struct production_table *table =
			&run->productions->tables[i];

		run->maps.tables[i] = bpf_map_create(
			BPF_MAP_TYPE_PERCPU_HASH, "hwprof_counts",
			8 * keys_of(table), sizeof(struct production_count),
			table->key_count ? ROWS_MAX : 1, NULL);
		if (run->maps.tables[i] < 0)
			return no_maps(errno);
	}
	return -1;
}

int production_run_open(struct production_run **result,
			const struct productions *productions,
			struct production_mode mode, const char *program)
{
	struct production_run *run = calloc(1, sizeof(*run));
	int status;
	size_t i;

	*result = run;
	if (!run)
		return failed("out of memory");
	run->productions = productions;
	run->mode = mode;
	run->maps.state = run->maps.wakes = -1;
	for (i = 0; i < PRODUCTION_TABLES; i++)
		run->maps.tables[i] = -1;
	status = production_symbols_find(productions, program, run->functions);
	if (status < 0)
		status = make_state(run);
	if (status < 0)
		status = make_wakes(run);
	if (status < 0)
		status = make_tables(run);
	for (i = 0; i < productions->symbol_count && status < 0; i++)
		run->state->symbols[i] = run->functions[i].address;
	return status;
}

static void close_map(int fd)
{
	if (fd >= 0)
		close(fd);
}

void production_run_close(struct production_run *run)
{
	size_t i;

	if (!run)
		return;
	ring_buffer__free(run->wakes);
	if (run->state)
		munmap(run->state, sizeof(*run->state));
	close_map(run->maps.state);
	close_map(run->maps.wakes);
	for (i = 0; i < PRODUCTION_TABLES; i++)
		close_map(run->maps.tables[i]);
	free(run);
}

/* --- programs ------------------------------------------------------------- */

static int load_failed(int error, const char *log)
{
	if (error == EPERM)
		return failed("the kernel does not take the program of --when: programs take CAP_BPF and CAP_PERFMON");
	return failed("the kernel does not take the program of --when: %s\n%s",
		      strerror(error), log);
}

/* Loads a program. Returns its descriptor, or says why it cannot, and -1. */
static int load(const struct bpf_insn *code, size_t count)
{
	char *log = calloc(1, LOG_SIZE);
	struct bpf_prog_load_opts options = {
		.sz = sizeof(options), .log_buf = log,
		.log_size = log ? LOG_SIZE : 0, .log_level = 0,
	};
	int fd;

	if (!count) {
		failed("--when and --then: the program is too long");
		fd = -1;
	} else {
		fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "hwprof_when",
				   "GPL", code, count, &options);
		if (fd < 0)
			load_failed(errno, log ? log : "");
	}
	free(log);
	return fd < 0 ? -1 : fd;
}

static int give_failed(int error, unsigned int kinds)
{
	const char *name = production_kinds[__builtin_ctz(kinds)];

	switch (error) {
	case EOPNOTSUPP:
		return failed("--when %s: the recorded event has no such events for programs (or the kernel is built without CONFIG_BPF_SYSCALL): see 'Kinds of events' in docs/programs.md",
			      name);
	case ENOTTY:
		return failed("--when: the module that is loaded has no programs: it is older than this hwprof");
	case EINVAL:
		return failed("--when: events of samples and records must leave the kernel out: give the event /u");
	case EPERM:
		return failed("--when: programs take CAP_BPF and CAP_PERFMON");
	}
	return failed("--when: the module refuses the program: %s",
		      strerror(error));
}

/* Loads a program and gives it to a session. */
static int give(const struct device_rows *rows, const struct bpf_insn *code,
		size_t count, unsigned int kinds)
{
	int fd = load(code, count), error;

	if (fd < 0)
		return STATUS_FAILED;
	error = device_rows_program(rows, fd, kinds, LIMIT_US);
	close(fd);
	return error ? give_failed(-error, kinds) : -1;
}

int production_run_watch(struct production_run *run, struct device_rows *rows)
{
	struct bpf_insn *code = calloc(PRODUCTION_CODE_MAX, sizeof(*code));
	int status = -1, kind;

	if (!code)
		return failed("out of memory");
	run->watched = rows;
	run->kinds = production_programs(run->productions, run->mode);
	for (kind = 0; kind < HWPROF_PROGRAM_KINDS && status < 0; kind++)
		if (run->kinds >> kind & 1)
			status = give(rows, code,
				      production_code(run->productions,
						      &run->maps, run->mode,
						      kind, code),
				      1U << kind);
	free(code);
	return status;
}

int production_run_gate(struct production_run *run,
			const struct device_rows *rows, bool accesses)
{
	struct bpf_insn code[32];
	unsigned int kinds = 1U << HWPROF_PROGRAM_BRANCH;

	if (!run->productions->bursts && !run->productions->stops)
		return -1;
	if (accesses)
		kinds |= 1U << HWPROF_PROGRAM_LOAD |
			 1U << HWPROF_PROGRAM_STORE;
	return give(rows, code,
		    production_gate(run->productions, &run->maps, code), kinds);
}

/* --- while it runs -------------------------------------------------------- */

void production_run_find(struct production_run *run, pid_t pid)
{
	size_t i;

	for (i = 0; i < run->productions->symbol_count; i++) {
		uint64_t *address = &run->state->symbols[i];

		if (!*address)
			__atomic_store_n(address, production_symbol_address(
						  &run->functions[i], pid),
					 __ATOMIC_RELAXED);
	}
}

int production_run_fd(const struct production_run *run)
{
	return ring_buffer__epoll_fd(run->wakes);
}

void production_run_ask(struct production_run *run, bool *snapshot, bool *stop)
{
	uint64_t snapshots;

	ring_buffer__consume(run->wakes);
	snapshots = __atomic_load_n(&run->state->snapshots, __ATOMIC_ACQUIRE);
	*snapshot = snapshots != run->snapshots;
	*stop = __atomic_load_n(&run->state->stopped, __ATOMIC_ACQUIRE);
	run->snapshots = snapshots;
}

/* --- what was counted ----------------------------------------------------- */

/* A row of a table. */
struct row {
	uint64_t keys[PRODUCTION_KEYS];
	struct production_count count;
};

struct rows {
	struct row *all;
	size_t count, room;
};

static int compare(const void *a, const void *b)
{
	const struct row *left = a, *right = b;
	size_t i;

	if (left->count.count != right->count.count)
		return left->count.count < right->count.count ? 1 : -1;
	for (i = 0; i < PRODUCTION_KEYS; i++)
		if (left->keys[i] != right->keys[i])
			return left->keys[i] < right->keys[i] ? -1 : 1;
	return 0;
}

/* Histograms are in the order of their buckets, within the other keys. */
static int compare_buckets(const void *a, const void *b)
{
	const struct row *left = a, *right = b;
	size_t i;

	for (i = 1; i <= PRODUCTION_KEYS; i++) {
		size_t key = i % PRODUCTION_KEYS;

		if (left->keys[key] != right->keys[key])
			return left->keys[key] < right->keys[key] ? -1 : 1;
	}
	return 0;
}

/* Adds the row of a key; the counts of all CPUs are in @counts. */
static bool add_row(struct rows *rows, const uint64_t *keys, size_t key_count,
		    const struct production_count *counts, int cpus)
{
	struct row *all = array_grow(rows->all, &rows->room, rows->count + 1,
				     sizeof(*all));
	struct row *row;
	int cpu;

	if (!all)
		return false;
	rows->all = all;
	row = &all[rows->count++];
	*row = (struct row){ .count = { 0, 0 } };
	memcpy(row->keys, keys, 8 * key_count);
	for (cpu = 0; cpu < cpus; cpu++) {
		row->count.count += counts[cpu].count;
		row->count.weight += counts[cpu].weight;
	}
	return true;
}

/* Returns -1, or the exit status. */
static int read_rows(const struct production_run *run, size_t index,
		     struct rows *rows)
{
	const struct production_table *table = &run->productions->tables[index];
	int fd = run->maps.tables[index], cpus = libbpf_num_possible_cpus();
	struct production_count *counts = calloc(cpus, sizeof(*counts));
	uint64_t key[PRODUCTION_KEYS], next[PRODUCTION_KEYS];
	bool fine = counts, more = !bpf_map_get_next_key(fd, NULL, key);

	*rows = (struct rows){ .count = 0 };
	while (more && fine) {
		if (!bpf_map_lookup_elem(fd, key, counts))
			fine = add_row(rows, key, keys_of(table), counts, cpus);
		more = !bpf_map_get_next_key(fd, key, next);
		memcpy(key, next, sizeof(key));
	}
	free(counts);
	if (rows->count)
		qsort(rows->all, rows->count, sizeof(*rows->all),
		      table->histogram ? compare_buckets : compare);
	return fine ? -1 : failed("out of memory");
}

/* The least value of a bucket. */
static uint64_t least_of(uint64_t bucket)
{
	return bucket ? 1ULL << (bucket - 1) : 0;
}

static uint64_t value_of(const struct production_table *table,
			 const struct row *row, size_t key)
{
	return table->histogram && !key ? least_of(row->keys[0]) :
					  row->keys[key];
}

/* If sources see parts only, weights differ from counts. */
static bool has_weights(const struct rows *rows)
{
	size_t i;

	for (i = 0; i < rows->count; i++)
		if (rows->all[i].count.weight != rows->all[i].count.count)
			return true;
	return false;
}

static void print_rows(const struct production_table *of,
		       const struct rows *rows, FILE *out)
{
	struct table_column columns[PRODUCTION_KEYS + 2];
	struct table table = { .columns = columns };
	bool weights = has_weights(rows);
	size_t i, key, count = 0;

	for (key = 0; key < of->key_count; key++)
		columns[count++] = (struct table_column){ of->names[key], true,
							  false };
	columns[count++] = (struct table_column){ "count", true, false };
	if (weights)
		columns[count++] = (struct table_column){ "weight", true,
							  false };
	table.column_count = count;
	for (i = 0; i < rows->count; i++) {
		const struct row *row = &rows->all[i];

		for (key = 0; key < of->key_count; key++)
			table_add(&table, of->addresses[key] ? "0x%" PRIx64 :
							       "%" PRIu64,
				  value_of(of, row, key));
		table_add(&table, "%" PRIu64, row->count.count);
		if (weights)
			table_add(&table, "%" PRIu64, row->count.weight);
	}
	table_print(&table, 0, out);
	table_free(&table);
}

static void put_rows(const struct production_table *of, const struct rows *rows,
		     struct json *json)
{
	size_t i, key;

	json_open(json, "rows", '[');
	for (i = 0; i < rows->count; i++) {
		const struct row *row = &rows->all[i];

		json_open(json, NULL, '{');
		for (key = 0; key < of->key_count; key++)
			(of->addresses[key] ? json_hex : json_unsigned)(
				json, of->names[key], value_of(of, row, key));
		json_unsigned(json, "count", row->count.count);
		json_unsigned(json, "weight", row->count.weight);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void print_table(const struct production_table *of,
			const struct rows *rows, FILE *out)
{
	fprintf(out, "%s of %s:%s\n", of->histogram ? "histogram" : "count",
		of->production->when, rows->count ? "" : " none");
	if (rows->count)
		print_rows(of, rows, out);
}

static void put_table(const struct production_table *of,
		      const struct rows *rows, struct json *json)
{
	json_open(json, NULL, '{');
	json_string(json, "when", of->production->when);
	json_string(json, "then", of->production->then);
	json_bool(json, "histogram", of->histogram);
	put_rows(of, rows, json);
	json_close(json, '}');
}

static void put_counters(const struct production_run *run, struct json *json)
{
	size_t i;

	json_open(json, "counters", '{');
	for (i = 0; i < run->productions->counter_count; i++)
		json_unsigned(json, run->productions->counters[i],
			      run->state->counters[i]);
	json_close(json, '}');
	json_unsigned(json, "lost", run->state->lost);
	json_unsigned(json, "snapshots", run->state->snapshots);
	json_bool(json, "stopped", run->state->stopped);
}

static void print_counters(const struct production_run *run, FILE *out)
{
	size_t i;

	for (i = 0; i < run->productions->counter_count; i++)
		fprintf(out, "%s = %" PRIu64 "\n",
			run->productions->counters[i],
			run->state->counters[i]);
}

int production_run_print(const struct production_run *run, bool as_json,
			 FILE *out)
{
	struct json json = { .out = out };
	int status = -1;
	size_t i;

	if (as_json) {
		json_open(&json, NULL, '{');
		json_open(&json, "tables", '[');
	}
	for (i = 0; i < run->productions->table_count && status < 0; i++) {
		const struct production_table *of =
			&run->productions->tables[i];
		struct rows rows;

		status = read_rows(run, i, &rows);
		if (status < 0 && as_json)
			put_table(of, &rows, &json);
		else if (status < 0)
			print_table(of, &rows, out);
		free(rows.all);
	}
	if (as_json) {
		json_close(&json, ']');
		put_counters(run, &json);
		json_close(&json, '}');
		fputc('\n', out);
	} else {
		print_counters(run, out);
	}
	return status;
}

static void warn_of(const struct production_run *run,
		    enum hwprof_program_kind kind)
{
	struct hwprof_program_account account;

	if (device_rows_account(run->watched, kind, &account))
		return;
	if (account.state == HWPROF_PROGRAM_TAKEN)
		warning("--when %s: its program took too long %llu times and was taken away after %llu events",
			production_kinds[kind], account.overruns, account.runs);
	if (account.missed)
		warning("--when %s: %llu events were not seen, and %llu were",
			production_kinds[kind], account.missed, account.runs);
}

void production_run_warn(const struct production_run *run)
{
	size_t i;
	int kind;

	for (kind = 0; kind < HWPROF_PROGRAM_KINDS; kind++)
		if (run->kinds >> kind & 1)
			warn_of(run, kind);
	if (run->state->lost)
		warning("--then: %" PRIu64 " events found no room in a table of %d rows",
			run->state->lost, ROWS_MAX);
	for (i = 0; i < run->productions->symbol_count; i++)
		if (!run->state->symbols[i])
			warning("--when: %s was not found in the memory of the process, and never matched",
				clean(run->functions[i].path));
}
