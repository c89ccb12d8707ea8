// SPDX-License-Identifier: GPL-2.0-only
#include <elf.h>
#include <inttypes.h>
#include <linux/hwprof.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "code/decode.h"
#include "stepping.h"

enum { TABLE = 1 << 18, CODE = 16 };

/* A decoded instruction, found by its address. */
struct known {
	uint64_t address;
	uint8_t length, ending;
};

static struct known known[TABLE];
static struct decoder *decoder;

_Noreturn void stepping_die(const char *what)
{
	perror(what);
	exit(1);
}

static size_t hash(uint64_t address)
{
	return address * 31 * 0x9e3779b97f4a7c15ULL >> 40 & (TABLE - 1);
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
	size_t slot = hash(address);
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

/* Steps until the program exits. */
static void step(const struct stepping *stepping, pid_t pid)
{
	const struct known *last = NULL;
	struct user_regs_struct regs;
	int status;

	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXIT << 8)) {
			stepping->exiting(stepping->context, pid);
		} else {
			ptrace(PTRACE_GETREGS, pid, NULL, &regs);
			if (last && was_taken(last, regs.rip))
				stepping->branch(stepping->context,
						 last->address, regs.rip,
						 kinds[last->ending]);
			last = look_up(pid, regs.rip);
		}
		ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL);
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		stepping_die("the program failed");
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
	stepping_die(path);
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
		stepping_die("the program's entry");
	ptrace(PTRACE_POKETEXT, pid, entry, word);
	regs.rip = entry;
	ptrace(PTRACE_SETREGS, pid, NULL, &regs);
}

int stepping_next_map(FILE *maps, struct stepping_map *map)
{
	char line[4096], rights[8];

	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64
			   " %*s %*s %2047s", &map->begin, &map->end, rights,
			   &map->offset, map->name) == 5 && rights[2] == 'x')
			return true;
	return false;
}

void stepping_run(const struct stepping *stepping, char **argv)
{
	int status;
	pid_t pid;

	decoder = decoder_new();
	pid = fork();
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execv(argv[0], argv);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		stepping_die(argv[0]);
	ptrace(PTRACE_SETOPTIONS, pid, NULL,
	       PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL);
	skip_loader(pid);
	ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL);
	step(stepping, pid);
	decoder_free(decoder);
}
