// SPDX-License-Identifier: GPL-2.0-only
/* Steps are fed to all lanes of a CPU that want events. */
#include <linux/sched/task_stack.h>

#include "../filter.h"
#include "step.h"

void step_bind(struct step_cpu *cpu, const struct step_task *record)
{
	struct lane *lane;

	list_for_each_entry(lane, &cpu->lanes, link)
		if (step_may_see(lane, record))
			lane_bind(lane, record->steps, record->ip);
}

void step_check_maps(struct step_cpu *cpu)
{
	struct lane *lane;

	list_for_each_entry(lane, &cpu->lanes, link)
		filter_check(lane);
}

void step_unbind(struct step_cpu *cpu, const struct step_task *record)
{
	struct lane *lane;

	list_for_each_entry(lane, &cpu->lanes, link)
		lane_unbind(lane, record ? record->steps : ~0ULL);
}

/*
 * Return true if the stack pointer says which frames are over. At a signal it
 * is that of the interrupted code, unless the handler's stack is above it.
 */
static bool step_has_stack(unsigned int kind, struct pt_regs *regs)
{
	if (kind == STREAM_SIGNAL)
		return current->sas_ss_sp < user_stack_pointer(regs);
	return stream_is_branch(kind);
}

void step_feed(struct step_cpu *cpu, unsigned int kind, u64 from, u64 to,
	       struct pt_regs *regs)
{
	struct stream_event event = { .kind = kind, .from = from, .to = to };
	struct lane *lane;

	if (step_has_stack(kind, regs)) {
		event.flags = STREAM_STACK;
		event.value = user_stack_pointer(regs);
	}

	if (unlikely(cpu->record && step_task_is_hidden(cpu->record)))
		cpu->fed_secure++;
	else
		cpu->fed++;
	list_for_each_entry(lane, &cpu->lanes, link) {
		if (unlikely(!step_may_see(lane, cpu->record)))
			continue;
		if (unlikely(lane->burst.runs))
			burst_feed(lane, &event, regs);
		else
			lane_feed(lane, &event, regs);
	}
}

/* Code up to now ran unseen. Current goes on at @to. */
void step_gap(struct step_cpu *cpu, u64 to, struct pt_regs *regs)
{
	struct lane *lane;

	/* A burst counts its own. */
	list_for_each_entry(lane, &cpu->lanes, link)
		if (step_may_see(lane, cpu->record) && !lane->burst.runs)
			lane_count(&lane->gaps, 1);
	step_feed(cpu, STREAM_GAP, 0, to, regs);
}

/* Return true if the lane wants accesses now. */
static bool step_wants_access(const struct step_cpu *cpu,
			      const struct lane *lane)
{
	return lane->session->config.accesses &&
	       step_may_see(lane, cpu->record) &&
	       (!lane->burst.runs || lane->burst.window.begun);
}

void step_feed_access(struct step_cpu *cpu, struct stream_event *event,
		      struct pt_regs *regs)
{
	struct lane *lane;

	list_for_each_entry(lane, &cpu->lanes, link)
		if (step_wants_access(cpu, lane))
			lane_feed(lane, event, regs);
}

/*
 * Return how much of the accesses of the instruction at @ip may pass the
 * session's filter and mask. If the filter's ranges are not known, @events are
 * lost.
 */
static enum step_wish step_lane_wants(const struct step_cpu *cpu,
				      struct lane *lane, u64 ip, u32 events)
{
	const struct session *session = lane->session;
	const struct mask *mask;

	if (!session->config.accesses || !step_may_see(lane, cpu->record))
		return STEP_WANTS_NONE;
	if (likely(!READ_ONCE(session->narrowed)))
		return STEP_WANTS_ALL;
	mask = mask_now(session);
	/* First, because nothing is lost that the mask leaves out. */
	if (mask && !(mask->kinds & (1 << STREAM_LOAD | 1 << STREAM_STORE) &&
		      mask_passes_ip(mask, ip)))
		return STEP_WANTS_NONE;
	if (filter_is_set(session) &&
	    !filter_has(filter_of(lane, events), ip))
		return STEP_WANTS_NONE;
	return mask ? STEP_WANTS_SOME : STEP_WANTS_ALL;
}

/* Return how much of these accesses some lane wants. */
enum step_wish step_wants_accesses(const struct step_cpu *cpu, u64 ip)
{
	enum step_wish wish, most = STEP_WANTS_NONE;
	struct lane *lane;

	list_for_each_entry(lane, &cpu->lanes, link) {
		wish = step_lane_wants(cpu, lane, ip, 1);
		if (wish == STEP_WANTS_ALL)
			return wish;
		most = max(most, wish);
	}
	return most;
}

/* Return true if accesses of the instruction may pass. */
static bool step_mask_wants(const struct mask *mask,
			    const struct access_insn *insn)
{
	int i;

	if (insn->state != ACCESS_DECODED)
		return true;
	for (i = 0; i < insn->count; i++)
		if (mask_passes_operand(mask,
					insn->operands[i].does << STREAM_LOAD,
					insn->class, insn->operands[i].width))
			return true;
	return false;
}

static __always_inline bool
step_lane_wants_insn(const struct step_cpu *cpu, struct lane *lane, u64 ip,
		     const struct access_insn *insn)
{
	const struct mask *mask;

	if (step_lane_wants(cpu, lane, ip, 0) == STEP_WANTS_NONE)
		return false;
	mask = mask_now(lane->session);
	return !mask || step_mask_wants(mask, insn);
}

bool step_wants_insn(const struct step_cpu *cpu, u64 ip,
		     const struct access_insn *insn)
{
	struct lane *lane;

	list_for_each_entry(lane, &cpu->lanes, link)
		if (step_lane_wants_insn(cpu, lane, ip, insn))
			return true;
	return false;
}

bool step_masks_stored(const struct step_cpu *cpu)
{
	const struct mask *mask;
	struct lane *lane;

	list_for_each_entry(lane, &cpu->lanes, link) {
		mask = mask_now(lane->session);
		if (unlikely(mask) && mask->asked.value_mask &&
		    mask->kinds >> STREAM_STORE & 1)
			return true;
	}
	return false;
}

/*
 * The instruction at @ip was executed, and what it accesses is not known. It is
 * lost to those that look at it.
 */
void step_miss_access(struct step_cpu *cpu, u64 ip,
		      const struct access_insn *insn)
{
	struct lane *lane;

	list_for_each_entry(lane, &cpu->lanes, link)
		if (step_wants_access(cpu, lane) &&
		    step_lane_wants_insn(cpu, lane, ip, insn))
			lane_count(&lane->lost_events, 1);
}

/* Current goes on elsewhere than where it was seen last. */
void step_moved(struct step_cpu *cpu, struct step_task *record)
{
	struct pt_regs *regs = task_pt_regs(current);

	if (record->ip == regs->ip)
		return;
	step_bind(cpu, record);
	if (regs->ip - record->ip - 1 >= INSN_MAX)
		step_gap(cpu, regs->ip, regs);
	record->ip = regs->ip;
}
