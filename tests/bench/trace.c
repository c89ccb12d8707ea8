// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace FILE MOST PROGRAM [ARG]...
 *
 * Writes the first MOST taken branches of a program as rows of
 * hwprof/branches/, one behind the other. It reads the address of every
 * instruction from valgrind's lackey and decodes with capstone. Without any
 * code of hwprof it is a second opinion, and works where no module can be
 * loaded. Only for programs of one thread and without signals.
 */
#define _GNU_SOURCE
#include <capstone/capstone.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "linux/hwprof.h"

enum { INSNS = 1 << 18, INSN_MAX = 15, MAPS = 64, LOG_FD = 9 };

/* The known instruction at an address: code does not change. */
struct insn {
	__u64 address;
	__u8 kind;		/* enum hwprof_branch_kind; 0: none */
};

/*
 * Code is read from the file that it was mapped from, as the program may be
 * gone.
 */
struct map {
	__u64 start, end, offset;
	int file;
};

struct tracer {
	pid_t pid;
	csh decoder;
	struct insn insns[INSNS];
	struct map maps[MAPS];
	unsigned int map_count;
	FILE *file;
	struct hwprof_row_branches row;
	struct hwprof_branch branches[HWPROF_ROW_BRANCHES_MAX];
};

static void die(const char *what)
{
	fprintf(stderr, "trace: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void flush(struct tracer *t)
{
	size_t size = t->row.count * sizeof(*t->branches);

	if (!t->row.count)
		return;
	t->row.row.size = sizeof(t->row) + size;
	if (fwrite(&t->row, sizeof(t->row), 1, t->file) != 1 ||
	    fwrite(t->branches, size, 1, t->file) != 1)
		die("cannot write the trace");
	t->row.sequence += t->row.count;
	t->row.count = 0;
}

static void say(struct tracer *t, unsigned int kind, __u64 from, __u64 to)
{
	t->branches[t->row.count++] = (struct hwprof_branch){
		.from = from, .to = to, .kind = kind,
	};
	if (t->row.count == HWPROF_ROW_BRANCHES_MAX)
		flush(t);
}

/* --- decoding ------------------------------------------------------------- */

static bool find_map(struct tracer *t, __u64 address, struct map *map)
{
	unsigned long long start, end, offset;
	char line[4400], path[4200];
	bool found = false;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", t->pid);
	maps = fopen(path, "r");
	while (maps && !found && fgets(line, sizeof(line), maps)) {
		*path = 0;
		sscanf(line, "%llx-%llx %*s %llx %*s %*s %4199[^\n]", &start,
		       &end, &offset, path);
		found = start <= address && address < end;
	}
	if (maps)
		fclose(maps);
	if (!found)
		return false;
	*map = (struct map){ start, end, offset, open(path, O_RDONLY) };
	return true;
}

static const struct map *map_of(struct tracer *t, __u64 address)
{
	unsigned int i;

	for (i = 0; i < t->map_count; i++)
		if (t->maps[i].start <= address && address < t->maps[i].end)
			return &t->maps[i];
	if (t->map_count == MAPS ||
	    !find_map(t, address, &t->maps[t->map_count]))
		return NULL;
	return &t->maps[t->map_count++];
}

static unsigned int kind_of(csh decoder, const cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;

	if (insn->id == X86_INS_SYSCALL)
		return HWPROF_BRANCH_SYSCALL;
	if (cs_insn_group(decoder, insn, CS_GRP_CALL))
		return HWPROF_BRANCH_CALL;
	if (cs_insn_group(decoder, insn, CS_GRP_RET))
		return HWPROF_BRANCH_RET;
	if (!cs_insn_group(decoder, insn, CS_GRP_JUMP))
		return 0;
	if (insn->id != X86_INS_JMP)
		return HWPROF_BRANCH_COND;
	return x86->operands[0].type == X86_OP_IMM ? HWPROF_BRANCH_JUMP :
						      HWPROF_BRANCH_INDIRECT;
}

static unsigned int decode(struct tracer *t, __u64 address, unsigned int size)
{
	const struct map *map = map_of(t, address);
	unsigned char code[INSN_MAX];
	unsigned int kind;
	cs_insn *insn;

	if (!map || pread(map->file, code, size,
			  address - map->start + map->offset) != size) {
		fprintf(stderr, "trace: no code at %#llx\n", address);
		exit(2);
	}
	if (!cs_disasm(t->decoder, code, size, address, 1, &insn))
		return 0;	/* newer than capstone; no kind of branch is */
	kind = kind_of(t->decoder, insn);
	cs_free(insn, 1);
	return kind;
}

static unsigned int insn_kind(struct tracer *t, __u64 address,
			      unsigned int size)
{
	struct insn *insn = &t->insns[address * 0x9e3779b97f4a7c15ULL >> 46];

	if (insn->address != address)
		*insn = (struct insn){ address, decode(t, address, size) };
	return insn->kind;
}

/* --- following ------------------------------------------------------------ */

/* Parses a line of lackey's: "I ADDRESS,SIZE" of each instruction, in order. */
static bool parse(const char *line, __u64 *address, unsigned int *size)
{
	char *end;

	if (line[0] != 'I')
		return false;
	*address = strtoull(line + 3, &end, 16);
	*size = strtoul(end + 1, NULL, 10);
	return *end == ',' && *size <= INSN_MAX;
}

/* The instruction at @from has run, and the next one is at @to. */
static void stepped(struct tracer *t, __u64 from, unsigned int size, __u64 to)
{
	unsigned int kind = insn_kind(t, from, size);

	if (kind && !(kind == HWPROF_BRANCH_COND && to == from + size))
		say(t, kind, from, to);
}

static void follow(struct tracer *t, FILE *log, __u64 most)
{
	__u64 from = 0, to;
	unsigned int size = 0, next;
	char line[256];

	while (t->row.sequence + t->row.count < most &&
	       fgets(line, sizeof(line), log)) {
		if (!parse(line, &to, &next))
			continue;
		if (size)
			stepped(t, from, size, to);
		from = to;
		size = next;
	}
}

static FILE *start(struct tracer *t, char **argv, int argc)
{
	char *command[argc + 6];
	int ends[2];

	command[0] = "valgrind";
	command[1] = "--tool=lackey";
	command[2] = "--trace-mem=yes";
	/* With chasing, lackey would show both sides of some branches. */
	command[3] = "--vex-guest-chase=no";
	command[4] = "--log-fd=9";
	memcpy(command + 5, argv, (argc + 1) * sizeof(*argv));
	if (pipe(ends))
		die("cannot make a pipe");
	t->pid = fork();
	if (t->pid < 0)
		die("cannot fork");
	if (!t->pid) {
		dup2(ends[1], LOG_FD);
		if (ends[0] != LOG_FD)
			close(ends[0]);
		if (ends[1] != LOG_FD)
			close(ends[1]);
		execvp(*command, command);
		die("cannot run valgrind");
	}
	close(ends[1]);
	return fdopen(ends[0], "r");
}

int main(int argc, char **argv)
{
	static struct tracer tracer = {
		.row.row = { .type = HWPROF_ROW_BRANCHES, .space = 1 },
	};
	FILE *log;

	if (argc < 4) {
		fprintf(stderr, "usage: trace FILE MOST PROGRAM [ARG]...\n");
		return 2;
	}
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &tracer.decoder) != CS_ERR_OK)
		die("cannot set up capstone");
	cs_option(tracer.decoder, CS_OPT_DETAIL, CS_OPT_ON);
	tracer.file = fopen(argv[1], "w");
	if (!tracer.file)
		die(argv[1]);
	log = start(&tracer, argv + 3, argc - 3);
	tracer.row.row.pid = tracer.row.tid = 1;
	follow(&tracer, log, strtoull(argv[2], NULL, 0));
	kill(tracer.pid, SIGKILL);
	waitpid(tracer.pid, NULL, 0);
	flush(&tracer);
	if (fclose(tracer.file))
		die(argv[1]);
	if (tracer.row.sequence)
		return 0;
	fprintf(stderr, "trace: nothing ran\n");
	return 2;
}
