// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loads and stores of stepped tasks. An instruction may change the registers
 * that its addresses are made of. So it is decoded before it runs, and the
 * addresses of its operands are kept until its #DB. If no #DB comes, or that of
 * something else (a signal's handler, a fault that kills, an exec), nothing was
 * accessed.
 *
 * The value of a load is in a register afterwards, or was read from memory
 * before. The value of a store is read back afterwards. Registers of devices
 * are not read, and their values stay unknown. Nothing is faulted in. If the
 * code is not in memory yet, the registers are kept, and the instruction is
 * decoded afterwards.
 */
#include <linux/ptrace.h>
#include <linux/vmalloc.h>
#include <asm/cpufeature.h>
#include <asm/fsgsbase.h>
#include <asm/msr.h>

#include "../compat.h"
#include "code.h"
#include "memory.h"
#include "step.h"
#include "x86/access_decode.h"

/* The accesses of a task's next instruction. */
struct step_access {
	/* An instruction is expected; the other members describe it. */
	bool expected;
	bool unwanted;		/* nobody wants its accesses, which are not
				 * known */
	u64 ip;
	u64 steps;		/* the task's steps before it */
	bool late;		/* its code could not be read yet */
	struct pt_regs regs;	/* if late: the registers before it */
	struct access_insn insn;
	u64 address[2];		/* addresses of its operands */
	u64 value[2];		/* values of operands that it loads */
	bool known[2];		/* whether they could be read */
};

/* One per record. All users share it, so no cgroup pays for it. */
static struct step_access *accesses;

int step_accesses_init(void)
{
	struct step_access *all;

	if (READ_ONCE(accesses))
		return 0;
	all = vzalloc(array_size(STEP_TASKS, sizeof(*all)));
	if (!all)
		return -ENOMEM;
	if (cmpxchg(&accesses, NULL, all))
		vfree(all);	/* somebody else was faster */
	return 0;
}

void step_accesses_exit(void)
{
	memory_settle();
	vfree(accesses);
}

static struct step_access *access_of(const struct step_task *record)
{
	return &accesses[step_task_number(record)];
}

void step_access_drop(const struct step_task *record)
{
	if (READ_ONCE(accesses))
		access_of(record)->expected = false;
}

/* --- operands ------------------------------------------------------------- */

static u64 access_register_value(const struct pt_regs *regs, u8 number)
{
	static const u16 offsets[] = {
		[ACCESS_RAX] = offsetof(struct pt_regs, ax),
		[ACCESS_RCX] = offsetof(struct pt_regs, cx),
		[ACCESS_RDX] = offsetof(struct pt_regs, dx),
		[ACCESS_RBX] = offsetof(struct pt_regs, bx),
		[ACCESS_RSP] = offsetof(struct pt_regs, sp),
		[ACCESS_RBP] = offsetof(struct pt_regs, bp),
		[ACCESS_RSI] = offsetof(struct pt_regs, si),
		[ACCESS_RDI] = offsetof(struct pt_regs, di),
		[ACCESS_R8] = offsetof(struct pt_regs, r8),
		[ACCESS_R8 + 1] = offsetof(struct pt_regs, r9),
		[ACCESS_R8 + 2] = offsetof(struct pt_regs, r10),
		[ACCESS_R8 + 3] = offsetof(struct pt_regs, r11),
		[ACCESS_R8 + 4] = offsetof(struct pt_regs, r12),
		[ACCESS_R8 + 5] = offsetof(struct pt_regs, r13),
		[ACCESS_R8 + 6] = offsetof(struct pt_regs, r14),
		[ACCESS_R8 + 7] = offsetof(struct pt_regs, r15),
		[ACCESS_RIP] = offsetof(struct pt_regs, ip),
	};

	if (number >= ARRAY_SIZE(offsets))
		return 0;
	return *(const unsigned long *)((const void *)regs + offsets[number]);
}

/*
 * Return the segment's base as the CPU has it. That is the task's own, because
 * the task runs. The kernel's copy may be older.
 */
static u64 access_segment_base(u8 segment)
{
	u64 base = 0;

	if (segment == ACCESS_GS)
		rdmsrq(MSR_KERNEL_GS_BASE, base);	/* swapped on entry */
	else if (segment == ACCESS_FS && boot_cpu_has(X86_FEATURE_FSGSBASE))
		base = rdfsbase();
	else if (segment == ACCESS_FS)
		rdmsrq(MSR_FS_BASE, base);
	return base;
}

static u64 access_address_of(const struct access_operand *operand,
			     const struct access_insn *insn,
			     const struct pt_regs *regs)
{
	u64 address =
		operand->displacement +
		access_register_value(regs, operand->base) +
		access_register_value(regs, operand->index) * operand->scale;

	if (operand->base == ACCESS_RIP)
		address += insn->length;
	if (operand->narrow)
		address = (u32)address;
	if (operand->segment)
		address += access_segment_base(operand->segment);
	return user_64bit_mode((struct pt_regs *)regs) ? address :
							 (u32)address;
}

/*
 * Return true if no repetition of a string instruction is left: it accesses
 * nothing.
 */
static bool access_is_done(const struct access_insn *insn,
			   const struct pt_regs *regs)
{
	u64 count = insn->operands[0].narrow ? (u32)regs->cx : regs->cx;

	return insn->repeats && !count;
}

static void access_find_operands(struct step_access *access,
				 const struct pt_regs *regs)
{
	struct access_insn *insn = &access->insn;
	int i;

	if (access_is_done(insn, regs))
		insn->count = 0;
	for (i = 0; i < insn->count; i++) {
		access->address[i] =
			access_address_of(&insn->operands[i], insn, regs);
		access->known[i] = false;
	}
}

/* --- memory --------------------------------------------------------------- */

static bool access_read_value(u64 address, unsigned int width, u64 *value)
{
	*value = 0;
	return memory_read(value, min_t(size_t, width, sizeof(*value)),
			   address);
}

static void access_decode_at(struct access_insn *insn, u64 ip,
			     const struct pt_regs *regs)
{
	u8 bytes[INSN_MAX];
	unsigned int count = code_read_user(bytes, sizeof(bytes), ip);

	access_decode(insn, bytes, count,
		      user_64bit_mode((struct pt_regs *)regs));
}

/* --- before and after ----------------------------------------------------- */

/* Read what the instruction will load, unless a register has it afterwards. */
static void access_read_loads(struct step_access *access)
{
	const struct access_insn *insn = &access->insn;
	int i;

	for (i = 0; i < insn->count; i++)
		if (insn->operands[i].does & ACCESS_LOADS &&
		    insn->target == ACCESS_NO_REGISTER)
			access->known[i] =
				access_read_value(access->address[i],
						  insn->operands[i].width,
						  &access->value[i]);
}

/* Prepare for the instruction at record->ip, which current runs next. */
void step_access_expect(const struct step_task *record,
			const struct pt_regs *regs)
{
	struct step_access *access = access_of(record);
	const struct step_cpu *cpu = this_cpu_ptr(&step_cpu);
	enum step_wish wish = step_wants_accesses(cpu, record->ip);

	access->expected = true;
	access->ip = record->ip;
	access->steps = record->steps;
	access->unwanted = wish == STEP_WANTS_NONE;
	if (unlikely(access->unwanted))
		return;		/* decoding it would be in vain */
	access_decode_at(&access->insn, record->ip, regs);
	access->late = access->insn.state == ACCESS_SHORT;
	if (access->late) {
		access->regs = *regs;
	} else if (access->insn.state == ACCESS_DECODED) {
		if (unlikely(wish == STEP_WANTS_SOME) && access->insn.count &&
		    !step_wants_insn(cpu, record->ip, &access->insn)) {
			access->unwanted = true;
			return;
		}
		access_find_operands(access, regs);
		access_read_loads(access);
	}
}

/*
 * Return true if the instruction ran, and nothing else. The kernel may abort a
 * restartable sequence or emulate a probed instruction without notice.
 */
static bool access_has_run(const struct step_access *access, struct insn branch,
			   const struct pt_regs *regs)
{
	if (insn_stream_kind(branch.kind))
		return true;
	return regs->ip == access->ip + access->insn.length ||
	       (access->insn.repeats && regs->ip == access->ip);
}

static bool access_overlaps(const struct step_access *access, int i, int j)
{
	const struct access_operand *operands = access->insn.operands;

	return access->address[i] < access->address[j] + operands[j].width &&
	       access->address[j] < access->address[i] + operands[i].width;
}

/*
 * Read memory that could not be read before. It is what was loaded only if the
 * instruction did not store there. Return false if not known.
 */
static bool access_read_late(struct step_access *access, int i)
{
	const struct access_insn *insn = &access->insn;
	int j;

	for (j = 0; j < insn->count; j++)
		if (insn->operands[j].does & ACCESS_STORES &&
		    access_overlaps(access, i, j))
			return false;
	return access_read_value(access->address[i], insn->operands[i].width,
				 &access->value[i]);
}

static bool access_find_loaded(struct step_access *access, int i,
			       const struct pt_regs *regs)
{
	const struct access_insn *insn = &access->insn;
	unsigned int width = insn->operands[i].width;

	if (insn->target != ACCESS_NO_REGISTER) {
		access->value[i] = access_register_value(regs, insn->target) &
				   ~0ULL >> (64 - 8 * width);
		return true;
	}
	return access->known[i] || access_read_late(access, i);
}

static void access_feed_operand(struct step_cpu *cpu,
				struct step_access *access, int i,
				struct pt_regs *regs)
{
	const struct access_operand *operand = &access->insn.operands[i];
	struct stream_event event = {
		.from = access->ip,
		.to = access->address[i],
		.class = access->insn.class,
		.width = operand->width,
	};

	if (operand->does & ACCESS_LOADS) {
		event.kind = STREAM_LOAD;
		event.flags = access_find_loaded(access, i, regs) ? 0 :
			      STREAM_NO_VALUE;
		event.value = access->value[i];
		step_feed_access(cpu, &event, regs);
	}
	if (operand->does & ACCESS_STORES) {
		event.kind = STREAM_STORE;
		event.flags = (cpu->stored || step_masks_stored(cpu)) &&
			      access_read_value(event.to, operand->width,
						&event.value) ?
			      0 : STREAM_NO_VALUE;
		step_feed_access(cpu, &event, regs);
	}
}

/*
 * There was no #DB in front of this instruction, because the one before was a
 * system call or loaded SS. Its accesses are not known.
 */
static void access_miss_behind(struct step_cpu *cpu, struct step_access *access,
			       u64 ip, const struct pt_regs *regs)
{
	access_decode_at(&access->insn, ip, regs);
	if (access->insn.state != ACCESS_DECODED || access->insn.count)
		step_miss_access(cpu, ip, &access->insn);
}

/*
 * The instruction at record->ip was executed; @branch is what it is as a
 * branch. Feed its accesses.
 */
void step_access_feed(struct step_cpu *cpu, const struct step_task *record,
		      struct insn branch, struct pt_regs *regs)
{
	struct step_access *access = access_of(record);
	int i;

	if (!access->expected || access->steps != record->steps)
		return;
	access->expected = false;
	if (unlikely(access->ip != record->ip)) {
		access_miss_behind(cpu, access, record->ip, regs);
		return;
	}
	if (unlikely(access->unwanted))
		return;
	if (unlikely(access->late)) {
		access_decode_at(&access->insn, record->ip, &access->regs);
		if (access->insn.state == ACCESS_DECODED)
			access_find_operands(access, &access->regs);
	}
	if (access->insn.state != ACCESS_DECODED)
		step_miss_access(cpu, access->ip, &access->insn);
	else if (access_has_run(access, branch, regs))
		for (i = 0; i < access->insn.count; i++)
			access_feed_operand(cpu, access, i, regs);
}
