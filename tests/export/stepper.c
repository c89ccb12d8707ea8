// SPDX-License-Identifier: GPL-2.0-only
/*
 * stepper OUT PROGRAM [ARG...]: runs a program by single steps of ptrace, and
 * writes its edges as a recording of hwprof. All branches from the program's
 * entry on are in it, so that exports can be tested without the module.
 */
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "code/decode.h"
#include "fixture.h"

enum { TABLE = 1 << 18, CODE = 16, PID = 100 };

/* A decoded instruction, found by its address. */
struct known {
	uint64_t address;
	uint8_t length, ending;
};

struct edge {
	uint64_t from, to, end, count;
	unsigned int kind;
};

static struct known known[TABLE];
static struct edge edges[TABLE];
static struct decoder *decoder;

static _Noreturn void die(const char *what)
{
	perror(what);
	exit(1);
}

static size_t hash(uint64_t a, uint64_t b, uint64_t c)
{
	return ((a * 31 + b) * 0x9e3779b97f4a7c15ULL + c * 40503) >> 40 &
	       (TABLE - 1);
}

static void read_code(pid_t pid, uint64_t address, uint8_t *bytes)
{
	size_t i;

	for (i = 0; i < CODE; i += sizeof(long)) {
		long word = ptrace(PTRACE_PEEKTEXT, pid, address + i, NULL);

		memcpy(bytes + i, &word, sizeof(word));
	}
}

static const struct known *look_up(pid_t pid, uint64_t address)
{
	size_t slot = hash(address, 0, 0);
	struct instruction instruction = { .length = 0 };
	uint8_t bytes[CODE];
	struct code code;

	while (known[slot].address && known[slot].address != address)
		slot = (slot + 1) % TABLE;
	if (known[slot].address)
		return &known[slot];
	read_code(pid, address, bytes);
	if (!code_of_bytes(&code, decoder, EM_X86_64, bytes, CODE, address))
		code_next(&code, &instruction);
	known[slot] = (struct known){
		address, instruction.length, instruction.ending,
	};
	return &known[slot];
}

static void count(uint64_t from, uint64_t to, uint64_t end, unsigned int kind)
{
	size_t slot = hash(from, to, end);

	while (edges[slot].count &&
	       (edges[slot].from != from || edges[slot].to != to ||
		edges[slot].end != end))
		slot = (slot + 1) % TABLE;
	edges[slot] = (struct edge){ from, to, end, edges[slot].count + 1,
				     kind };
}

static const uint8_t kinds[] = {
	[ENDING_COND] = HWPROF_BRANCH_COND,
	[ENDING_JUMP] = HWPROF_BRANCH_JUMP,
	[ENDING_INDIRECT] = HWPROF_BRANCH_INDIRECT,
	[ENDING_CALL] = HWPROF_BRANCH_CALL,
	[ENDING_RETURN] = HWPROF_BRANCH_RET,
	[ENDING_STOP] = 0,
};

static bool was_taken(const struct known *instruction, uint64_t next)
{
	if (instruction->ending == ENDING_COND)
		return next != instruction->address + instruction->length;
	return kinds[instruction->ending];
}

/* The state of the walk: the last branch, whose line is not ended yet. */
static uint64_t from, to;
static unsigned int kind;

static void see(const struct known *instruction, uint64_t next)
{
	if (!was_taken(instruction, next))
		return;
	if (to)
		count(from, to, instruction->address, kind);
	from = instruction->address;
	to = next;
	kind = kinds[instruction->ending];
}

static void add_maps(struct fixture *fixture, pid_t pid)
{
	char path[64], line[4096], rights[8], name[2048];
	uint64_t begin, end, offset;
	struct build_id id;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "r");
	if (!maps)
		die(path);
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64
			   " %*s %*s %2047s", &begin, &end, rights, &offset,
			   name) != 5 || rights[2] != 'x')
			continue;
		fixture_map(fixture, 2, PID, begin, end - begin, offset, name,
			    object_read_build_id(name, &id) ? &id : NULL);
	}
	fclose(maps);
}

static uint64_t add_rows(struct fixture *fixture)
{
	uint64_t all = 0;
	size_t i;

	for (i = 0; i < TABLE; i++) {
		const struct edge *edge = &edges[i];
		const struct hwprof_row_edge row = {
			.row.type = HWPROF_ROW_EDGE,
			.row.size = sizeof(row), .row.session = 1,
			.row.space = PID, .row.pid = PID,
			.from = edge->from, .to = edge->to, .end = edge->end,
			.count = edge->count, .kind = edge->kind,
			.basis = HWPROF_BASIS_EXACT,
		};

		if (!edge->count)
			continue;
		fixture_row(fixture, 10, row.from, row.to, row.count, &row.row);
		all += edge->count;
	}
	return all;
}

/* Steps until the program exits; its maps are read while it still has them. */
static void step(pid_t pid, struct fixture *fixture)
{
	const struct known *instruction = NULL;
	struct user_regs_struct regs;
	int status;

	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXIT << 8)) {
			add_maps(fixture, pid);
		} else {
			ptrace(PTRACE_GETREGS, pid, NULL, &regs);
			if (instruction)
				see(instruction, regs.rip);
			instruction = look_up(pid, regs.rip);
		}
		ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL);
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		die("the program failed");
}

/* Where the program begins, once the dynamic loader is done. */
static uint64_t entry_of(pid_t pid)
{
	Elf64_auxv_t value;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	file = fopen(path, "r");
	while (file && fread(&value, sizeof(value), 1, file))
		if (value.a_type == AT_ENTRY) {
			fclose(file);
			return value.a_un.a_val;
		}
	die(path);
}

/* Runs to the entry at full speed, by a breakpoint. */
static void skip_loader(pid_t pid)
{
	uint64_t entry = entry_of(pid);
	long word = ptrace(PTRACE_PEEKTEXT, pid, entry, NULL);
	struct user_regs_struct regs;
	int status;

	ptrace(PTRACE_POKETEXT, pid, entry, (word & ~0xffL) | 0xcc);
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_GETREGS, pid, NULL, &regs))
		die("the program's entry");
	ptrace(PTRACE_POKETEXT, pid, entry, word);
	regs.rip = entry;
	ptrace(PTRACE_SETREGS, pid, NULL, &regs);
}

int main(int argc, char **argv)
{
	struct fixture fixture;
	pid_t pid;
	int status;

	if (argc < 3)
		return 2;
	decoder = decoder_new();
	fixture_begin(&fixture, "edges,step,rows");
	fixture_comm(&fixture, 1, PID, "prog", true);
	pid = fork();
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execv(argv[2], argv + 2);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		die(argv[2]);
	ptrace(PTRACE_SETOPTIONS, pid, NULL,
	       PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL);
	skip_loader(pid);
	ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL);
	step(pid, &fixture);
	fixture_add_totals(&fixture, 30, 1, add_rows(&fixture));
	fixture_end(&fixture);
	decoder_free(decoder);
	if (rename(fixture.path, argv[1]))
		die(argv[1]);
	return 0;
}
