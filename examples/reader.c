// SPDX-License-Identifier: GPL-2.0-only
/*
 * reader COMMAND [ARG...]: the loops of a command, from the raw device, without
 * libhwprof. It makes a session at /dev/hwprof, and feeds it with perf events.
 * It reads rows from the session's rings and mappings from perf's, and finds
 * the names of functions in ELF files. At the end it fetches the rows that
 * found no room in the rings. It skips rows of other profiles. docs/recipes.md
 * has more.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/hwprof.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	DATA = 1 << 18,		/* bytes in each ring, a power of two */
	CPUS_MAX = 1024,
	SHOWN = 10,
};

/* A mapping of code or, if @parent is set, a fork. */
struct mapping {
	uint32_t pid, parent;
	uint64_t time, start, length, file_offset;
	char *path;
};

struct loop {
	uint32_t pid;
	uint32_t space;		/* a process from one exec to the next */
	uint64_t time, head, back_edges;
	int64_t entries;
};

static struct mapping *mappings;
static struct loop *loops;
static size_t mapping_count, loop_count;
static struct hwprof_row_totals totals;
static uint64_t totals_time;
static uint64_t lost_records;	/* of perf's: mappings and forks */

/* Returns @array with room for one more than its @count elements. */
static void *grown(void *array, size_t count, size_t size)
{
	/* The room doubles at powers of two. */
	if (count & (count - 1))
		return array;
	array = realloc(array, (count ? 2 * count : 1) * size);
	if (!array)
		err(1, "realloc");
	return array;
}

/* --- rings ---------------------------------------------------------------- */

/*
 * A ring of either kind. The kernel moves *@head, we move *@tail, and both only
 * grow. A record may begin at the end of the data and go on at its start.
 */
struct ring {
	__u64 *head, *tail;
	const char *data;
	uint64_t size;
};

/* Copies @length bytes from @at, which may wrap around. */
static void ring_copy(const struct ring *ring, uint64_t at, void *to,
		      size_t length)
{
	size_t begin = at & (ring->size - 1);
	size_t first = ring->size - begin;

	if (first > length)
		first = length;
	memcpy(to, ring->data + begin, first);
	memcpy((char *)to + first, ring->data, length - first);
}

/* Reads all records. @take reads one and returns its length. */
static void ring_read(const struct ring *ring,
		      size_t (*take)(const struct ring *ring, uint64_t at))
{
	/* Acquire: the data up to head was written before head was. */
	uint64_t head = __atomic_load_n(ring->head, __ATOMIC_ACQUIRE);
	uint64_t at = *ring->tail;

	while (at != head)
		at += take(ring, at);
	/* Release: we have read the data before the kernel may overwrite it. */
	__atomic_store_n(ring->tail, at, __ATOMIC_RELEASE);
}

/* --- rows, from the session's rings --------------------------------------- */

static struct loop *loop_of(const struct hwprof_row_loop *row, uint64_t time)
{
	size_t i;

	for (i = 0; i < loop_count; i++)
		if (loops[i].space == row->row.space &&
		    loops[i].head == row->head)
			return &loops[i];
	loops = grown(loops, loop_count, sizeof(*loops));
	loops[loop_count] = (struct loop) {
		.pid = row->row.pid, .space = row->row.space, .head = row->head,
		.time = time,
	};
	return &loops[loop_count++];
}

/* Adds a row. Rows are increases, so they can be added in any order. */
static void add_loop(const struct hwprof_row_loop *row, uint64_t time)
{
	struct loop *loop = loop_of(row, time);

	loop->back_edges += row->back_edges;
	loop->entries += row->entries;
	if (time > loop->time)
		loop->time = time;
}

static size_t take_row(const struct ring *ring, uint64_t at)
{
	const size_t header = offsetof(struct hwprof_record, row);
	struct hwprof_record record;
	union {
		struct hwprof_row row;
		struct hwprof_row_loop loop;
		struct hwprof_row_totals totals;
	} any = { 0 };
	size_t length;

	ring_copy(ring, at, &record, sizeof(record));
	/* A newer module's row may be longer, or of a type not known here. */
	length = record.row.size < sizeof(any) ? record.row.size : sizeof(any);
	ring_copy(ring, at + header, &any, length);
	if (record.row.type == HWPROF_ROW_LOOP)
		add_loop(&any.loop, record.time);
	if (record.row.type == HWPROF_ROW_TOTALS &&
	    record.time >= totals_time) {
		totals = any.totals;
		totals_time = record.time;
	}
	return header + record.row.size;
}

/* --- mappings, from perf's rings ------------------------------------------ */

static void add_mapping(struct mapping mapping)
{
	mappings = grown(mappings, mapping_count, sizeof(*mappings));
	mappings[mapping_count++] = mapping;
}

/* The layout of PERF_RECORD_MMAP2, which perf_event.h gives as a comment. */
struct mmap2_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t start, length, file_offset;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t protection, flags;
	char path[];
};

struct fork_record {
	struct perf_event_header header;
	uint32_t pid, parent, tid, parent_tid;
	uint64_t time;
};

struct lost_record {
	struct perf_event_header header;
	uint64_t id, lost;
};

static void add_mmap2(const struct mmap2_record *record, uint64_t time)
{
	if (!(record->protection & PROT_EXEC))
		return;
	add_mapping((struct mapping) {
		.pid = record->pid, .time = time, .start = record->start,
		.length = record->length, .file_offset = record->file_offset,
		.path = strdup(record->path),
	});
}

static void add_fork(const struct fork_record *record)
{
	if (record->pid != record->parent)	/* not a thread */
		add_mapping((struct mapping) { .pid = record->pid,
			.parent = record->parent, .time = record->time });
}

/* Takes a record. Its time follows it, because of sample_id_all. */
static size_t take_perf(const struct ring *ring, uint64_t at)
{
	static union {
		struct perf_event_header header;
		struct mmap2_record mmap2;
		struct fork_record fork;
		struct lost_record lost;
		char bytes[1 << 16];	/* header.size has 16 bits */
	} any;
	uint64_t time;

	ring_copy(ring, at, &any, sizeof(any.header));
	ring_copy(ring, at, &any, any.header.size);
	memcpy(&time, any.bytes + any.header.size - sizeof(time), sizeof(time));
	if (any.header.type == PERF_RECORD_MMAP2)
		add_mmap2(&any.mmap2, time);
	if (any.header.type == PERF_RECORD_FORK)
		add_fork(&any.fork);
	/* A ring was full. Loops in those mappings have no names. */
	if (any.header.type == PERF_RECORD_LOST)
		lost_records += any.lost.lost;
	return any.header.size;
}

/* --- addresses to names --------------------------------------------------- */

/*
 * Returns the newest mapping around @address that a process or, before it was
 * forked, its parent had at @time; NULL if there was none.
 */
static const struct mapping *find(uint32_t pid, uint64_t address,
				  uint64_t time)
{
	const struct mapping *found = NULL, *fork = NULL;
	size_t i;

	for (i = 0; i < mapping_count; i++) {
		const struct mapping *at = &mappings[i];

		if (at->pid != pid || at->time > time)
			continue;
		if (at->parent)
			fork = at;
		else if (address - at->start < at->length &&
			 (!found || at->time >= found->time))
			found = at;
	}
	return found || !fork ? found : find(fork->parent, address, fork->time);
}

struct file {
	const char *bytes;
	size_t size;
};

static struct file map_file(const char *path)
{
	struct file file = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat stat;

	if (fd < 0)
		return file;
	if (!fstat(fd, &stat) && stat.st_size > (off_t)sizeof(Elf64_Ehdr)) {
		file.size = stat.st_size;
		file.bytes = mmap(NULL, file.size, PROT_READ, MAP_PRIVATE, fd,
				  0);
	}
	close(fd);
	if (file.bytes == MAP_FAILED || (file.bytes &&
					 memcmp(file.bytes, ELFMAG, SELFMAG)))
		file.bytes = NULL;
	return file;
}

/* Returns a part of a file; NULL if the file ends before the part does. */
static const void *part(struct file file, uint64_t offset, uint64_t size)
{
	if (!file.bytes || offset > file.size || size > file.size - offset)
		return NULL;
	return file.bytes + offset;
}

/* Returns the address that an ELF file's symbols use for a file offset. */
static uint64_t elf_address(struct file file, uint64_t offset)
{
	const Elf64_Ehdr *elf = part(file, 0, sizeof(*elf));
	const Elf64_Phdr *segment;
	int i;

	segment = part(file, elf->e_phoff, elf->e_phnum * sizeof(*segment));
	for (i = 0; segment && i < elf->e_phnum; i++, segment++)
		if (segment->p_type == PT_LOAD &&
		    offset - segment->p_offset < segment->p_filesz)
			return offset - segment->p_offset + segment->p_vaddr;
	return offset;
}

static const char *name_in(struct file file, const Elf64_Shdr *table,
			   const Elf64_Shdr *names, uint64_t address)
{
	const Elf64_Sym *symbol = part(file, table->sh_offset, table->sh_size);
	const char *text = part(file, names->sh_offset, names->sh_size);
	size_t i;

	for (i = 0; symbol && text && i < table->sh_size / sizeof(*symbol); i++)
		if (ELF64_ST_TYPE(symbol[i].st_info) == STT_FUNC &&
		    address - symbol[i].st_value < symbol[i].st_size &&
		    symbol[i].st_name < names->sh_size)
			return text + symbol[i].st_name;
	return NULL;
}

static const char *function_at(struct file file, uint64_t address)
{
	const Elf64_Ehdr *elf = part(file, 0, sizeof(*elf));
	const char *name = NULL;
	const Elf64_Shdr *section;
	int i;

	section = part(file, elf->e_shoff, elf->e_shnum * sizeof(*section));
	for (i = 0; section && !name && i < elf->e_shnum; i++)
		if ((section[i].sh_type == SHT_SYMTAB ||
		     section[i].sh_type == SHT_DYNSYM) &&
		    section[i].sh_link < elf->e_shnum)
			name = name_in(file, &section[i],
				       &section[section[i].sh_link], address);
	return name;
}

static void print_place(const struct loop *loop)
{
	const struct mapping *mapping = find(loop->pid, loop->head, loop->time);
	const char *name = NULL;
	struct file file;
	uint64_t offset;

	if (!mapping) {
		printf("0x%" PRIx64 "\n", loop->head);
		return;
	}
	offset = loop->head - mapping->start + mapping->file_offset;
	file = map_file(mapping->path);
	if (file.bytes)
		name = function_at(file, elf_address(file, offset));
	printf("%s  %s+0x%" PRIx64 "\n", name ? name : "-", mapping->path,
	       offset);
}

/* --- the session and its events ------------------------------------------- */

static struct hwprof_config config = {
	.size = sizeof(config),
	.flags = HWPROF_CONFIG_EXCLUDE_KERNEL | HWPROF_CONFIG_EXCLUDE_HV,
	/* loops, memory_mib=4: HWPROF_FIELDS has the bits */
	.config = 1 << 1 | 4 << 16,
};

static int session_open(void)
{
	int fd = open(HWPROF_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		err(1, HWPROF_DEVICE);
	if (ioctl(fd, HWPROF_IOC_CONFIG, &config))
		err(1, "HWPROF_IOC_CONFIG");
	return fd;
}

/* Maps the session's rings, which are adjacent. Returns their number. */
static int session_rings(int fd, struct ring *rings)
{
	struct hwprof_ring made = { .size = sizeof(made), .data_size = DATA };
	size_t page = sysconf(_SC_PAGESIZE), i;
	char *memory;

	if (ioctl(fd, HWPROF_IOC_RING, &made))
		err(1, "HWPROF_IOC_RING");
	memory = mmap(NULL, made.rings * (page + DATA), PROT_READ | PROT_WRITE,
		      MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		err(1, "mmap of the session's rings");
	for (i = 0; i < made.rings && i < CPUS_MAX; i++) {
		struct hwprof_ring_page *control =
			(void *)(memory + i * (page + DATA));

		rings[i] = (struct ring) { &control->data_head,
			&control->data_tail,
			(char *)control + control->data_offset, DATA };
	}
	return i;
}

/*
 * Fetches what the session has learnt and has put into no ring, because there
 * was no room or the interval was not over. Each row comes only once, here or
 * in a ring.
 */
static void read_snapshot(int fd)
{
	static char buffer[DATA];
	struct hwprof_snapshot snapshot = {
		.size = sizeof(snapshot), .buffer = (uintptr_t)buffer,
		.buffer_size = sizeof(buffer),
	};
	__u64 head, tail;
	const struct ring records = { &head, &tail, buffer, DATA };

	do {
		if (ioctl(fd, HWPROF_IOC_SNAPSHOT, &snapshot))
			err(1, "HWPROF_IOC_SNAPSHOT");
		head = snapshot.filled;
		tail = 0;
		ring_read(&records, take_row);
	} while (snapshot.more);
}

static uint32_t pmu_type(void)
{
	FILE *file = fopen("/sys/bus/event_source/devices/hwprof/type", "re");
	uint32_t type;

	if (!file || fscanf(file, "%" SCNu32, &type) != 1)
		errx(1, "the module hwprof is not loaded");
	fclose(file);
	return type;
}

/*
 * Opens an event on a CPU, because inherited events need a ring for each CPU.
 * Returns false if the CPU is off.
 */
static bool feed(pid_t child, int cpu, struct ring *ring, int *fd)
{
	struct perf_event_attr attr = {
		.type = pmu_type(), .size = sizeof(attr),
		.config2 = (uint64_t)config.session << 32,
		.sample_type = PERF_SAMPLE_TIME, .sample_id_all = 1,
		.exclude_kernel = 1, .exclude_hv = 1, .inherit = 1,
		.disabled = 1, .enable_on_exec = 1,
		.mmap = 1, .mmap2 = 1, .task = 1,
	};
	size_t page = sysconf(_SC_PAGESIZE);
	struct perf_event_mmap_page *control;

	*fd = syscall(SYS_perf_event_open, &attr, child, cpu, -1,
		      PERF_FLAG_FD_CLOEXEC);
	if (*fd < 0 && errno == ENODEV)
		return false;
	if (*fd < 0)
		err(1, "perf_event_open");
	control = mmap(NULL, page + DATA, PROT_READ | PROT_WRITE, MAP_SHARED,
		       *fd, 0);
	if (control == MAP_FAILED)
		err(1, "mmap of an event's ring");
	*ring = (struct ring) { &control->data_head, &control->data_tail,
		(char *)control + page, DATA };
	return true;
}

/* Forks a command that waits for a byte in *@go. Returns its process. */
static pid_t start(char **argv, int *go)
{
	int pipes[2];
	pid_t child;
	char byte;

	if (pipe2(pipes, O_CLOEXEC))
		err(1, "pipe");
	child = fork();
	if (child < 0)
		err(1, "fork");
	if (!child) {
		close(pipes[1]);
		if (read(pipes[0], &byte, 1) == 1)
			execvp(*argv, argv);
		warn("%s", *argv);
		_exit(127);
	}
	close(pipes[0]);
	*go = pipes[1];
	return child;
}

static int by_back_edges(const void *a, const void *b)
{
	const struct loop *left = a, *right = b;

	return (left->back_edges < right->back_edges) -
	       (left->back_edges > right->back_edges);
}

static void print(void)
{
	size_t i;

	if (loop_count)
		qsort(loops, loop_count, sizeof(*loops), by_back_edges);
	printf("   entries  iterations  function\n");
	for (i = 0; i < loop_count && i < SHOWN; i++) {
		const struct loop *loop = &loops[i];

		printf("%10" PRId64 "  %10" PRId64 "  ", loop->entries,
		       loop->entries + (int64_t)loop->back_edges);
		print_place(loop);
	}
	printf("%" PRIu64 " back edges = %" PRIu64 " delivered + %" PRIu64
	       " lost + %" PRIu64 " evicted + %" PRIu64 " pending\n",
	       (uint64_t)totals.produced, (uint64_t)totals.delivered,
	       (uint64_t)totals.lost, (uint64_t)totals.evicted,
	       (uint64_t)totals.pending);
	printf("%" PRIu64 " records of mappings and forks were lost\n",
	       lost_records);
}

static void read_rings(const struct ring *rings, int count,
		       size_t (*take)(const struct ring *ring, uint64_t at))
{
	int i;

	for (i = 0; i < count; i++)
		ring_read(&rings[i], take);
}

int main(int argc, char **argv)
{
	static struct ring rows[CPUS_MAX], records[CPUS_MAX];
	int go, cpu, cpus, fed = 0, status, fds[CPUS_MAX];
	struct pollfd session = { .events = POLLIN };
	bool over = false;
	pid_t child;

	if (argc < 2)
		errx(2, "usage: reader COMMAND [ARG...]");
	session.fd = session_open();
	cpus = session_rings(session.fd, rows);
	child = start(argv + 1, &go);
	for (cpu = 0; cpu < cpus; cpu++)
		fed += feed(child, cpu, &records[fed], &fds[fed]);
	if (write(go, "", 1) != 1)
		err(1, "cannot start the command");
	while (!over) {
		poll(&session, 1, 100);
		over = waitpid(child, &status, WNOHANG) == child;
		read_rings(rows, cpus, take_row);
		read_rings(records, fed, take_perf);
	}
	read_snapshot(session.fd);
	/* The kernel may have written to a ring before the snapshot. */
	read_rings(rows, cpus, take_row);
	print();
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
