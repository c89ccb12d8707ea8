// SPDX-License-Identifier: GPL-2.0-only
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"
#include "tests/engine/random.h"

#define ORIGIN		0x400000
#define KERNEL_ENTRY	0xffffffff81a00080ULL
#define KERNEL_EXIT	0xffffffff81a001d3ULL

void run_init(struct run *run, const struct program *program,
	      const struct run_style *style, uint64_t seed, uint32_t space,
	      struct oracle *oracle)
{
	const struct machine_style machine = { .stack = 60, .unseen = 100,
					       .strict = true };

	*run = (struct run){ .style = *style, .random = ~seed,
			     .oracle = oracle };
	machine_init(&run->machine, program, &machine, seed, space);
}

/* --- stacks ------------------------------------------------------------- */

static unsigned int type_of(unsigned int kind)
{
	static const unsigned int types[] = {
		[STREAM_COND] = PERF_BR_COND, [STREAM_JUMP] = PERF_BR_UNCOND,
		[STREAM_INDIRECT] = PERF_BR_IND, [STREAM_CALL] = PERF_BR_CALL,
		[STREAM_RET] = PERF_BR_RET,
	};

	return types[kind];
}

static void push(struct run *run, uint64_t from, uint64_t to,
		 const struct stream_event *event)
{
	struct run_entry *last;

	if (run->count == RUN_STACK)
		memmove(run->entries, run->entries + 1,
			--run->count * sizeof(run->entries[0]));
	last = &run->entries[run->count++];
	memset(last, 0, sizeof(*last));
	last->entry.from = from;
	last->entry.to = to;
	last->entry.predicted = 1;
	last->entry.cycles = 3;
	if (!event)
		return;
	last->event = *event;
	last->event.cycles = last->entry.cycles;
	if (run->style.types)
		last->entry.type = type_of(event->kind);
}

static void step(struct run *run)
{
	struct stream_event event;

	machine_next(&run->machine, &event);
	if (event.kind != STREAM_SYSCALL) {
		push(run, event.from, event.to, &event);
		return;
	}
	/* User-only filters leave out branches that end in the kernel. */
	if (run->style.kernel)
		push(run, event.from, KERNEL_ENTRY, NULL);
	push(run, KERNEL_EXIT, event.to, NULL);
}

static void give(const struct run *run, const struct stream_event *event)
{
	if (run->oracle)
		oracle_add(run->oracle, 0, event);
	if (run->see)
		run->see(run->context, event);
}

static void give_gap(const struct run *run, uint64_t to)
{
	const struct stream_event gap = {
		.kind = STREAM_GAP, .to = to, .space = run->machine.space,
	};

	give(run, &gap);
}

static void give_syscall(const struct run *run, uint64_t from, uint64_t to)
{
	const struct stream_event event = {
		.kind = STREAM_SYSCALL, .from = from, .to = to,
		.space = run->machine.space,
	};

	give(run, &event);
}

static void give_stack(const struct run *run)
{
	uint64_t left = 0;
	unsigned int i;

	if (run->entries[0].entry.to != KERNEL_ENTRY)
		give_gap(run, run->entries[0].entry.to);
	for (i = 1; i < run->count; i++) {
		const struct run_entry *entry = &run->entries[i];

		if (entry->entry.to == KERNEL_ENTRY) {
			left = entry->entry.from;
		} else if (entry->event.kind) {
			give(run, &entry->event);
		} else if (left) {
			give_syscall(run, left, entry->entry.to);
			left = 0;
		} else {
			give_gap(run, entry->entry.to);
		}
	}
}

void run_sample(struct run *run, struct perf_branch_entry *newest_first)
{
	unsigned int steps = 1 + random_below(&run->random,
					      2 * run->style.branches);
	unsigned int i;

	while (steps--)
		step(run);
	while (run->count < RUN_STACK)
		step(run);
	for (i = 0; i < RUN_STACK; i++)
		newest_first[i] = run->entries[RUN_STACK - 1 - i].entry;
	run->branches += RUN_STACK;
	if (run->oracle || run->see)
		give_stack(run);
}

/* --- code --------------------------------------------------------------- */

/* Writes prefixes without a meaning, and then the instruction. */
static void encode(const struct insn *insn, uint8_t *bytes)
{
	static const struct {
		unsigned int size;
		uint8_t bytes[2];
	} codes[] = {
		[INSN_PLAIN]	 = { 1, { 0x90 } },
		[INSN_COND]	 = { 2, { 0x75, 0x10 } },
		[INSN_JUMP]	 = { 2, { 0xeb, 0x10 } },
		[INSN_INDIRECT]	 = { 2, { 0xff, 0xe0 } },
		[INSN_CALL]	 = { 2, { 0xff, 0xd0 } },
		[INSN_RET]	 = { 1, { 0xc3 } },
		[INSN_SYSCALL]	 = { 2, { 0x0f, 0x05 } },
		[INSN_SETJMP]	 = { 1, { 0x90 } },
		[INSN_LONGJMP]	 = { 2, { 0xff, 0xe1 } },
		[INSN_SIGRETURN] = { 2, { 0x0f, 0x05 } },
	};
	unsigned int size = codes[insn->kind].size;

	memset(bytes, 0x2e, insn->size - size);
	memcpy(bytes + insn->size - size, codes[insn->kind].bytes, size);
}

void run_write_object(const struct program *program, const char *path)
{
	const struct insn *last = &program->insns[program->count - 1];
	size_t size = last->address + last->size - ORIGIN, i;
	uint8_t *code = calloc(1, size);

	assert(code);
	for (i = 0; i < program->count; i++)
		encode(&program->insns[i],
		       code + program->insns[i].address - ORIGIN);
	stacks_object(path, code, size);
	free(code);
}
