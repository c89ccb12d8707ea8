// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kind of a branch is in its instruction. See branch_kinds.h. Most CPUs do
 * not record it.
 */
#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/percpu.h>
#include <linux/random.h>
#include <linux/sched.h>

#include "../branch_kinds.h"
#include "../code.h"
#include "branch_decode.h"

enum { KINDS_BITS = 10 };

/*
 * Kinds of branches that were decoded lately on this CPU. A key is valid for a
 * second, so that code that was replaced is decoded again.
 */
struct kinds {
	struct {
		u64 key;
		u8 kind;
	} line[1 << KINDS_BITS];
};

static struct kinds __percpu *kinds_known;
static u64 kinds_seed;

/*
 * Return a salt that is the same for all branches that decode alike: those of
 * one program, or of the kernel, within one second.
 */
static u64 kinds_salt(bool kernel)
{
	u64 program = kernel ? 0 : (u64)current->tgid << 32 |
				   (u32)(current->self_exec_id + 1);

	return (program * GOLDEN_RATIO_64 ^ kinds_seed) +
	       ((u64)(jiffies / HZ) << 48);
}

/* Return the enum stream_kind of the branch at @from; 0: not known. */
static noinline u8 kinds_decode(u64 from, bool is64)
{
	u8 bytes[INSN_MAX];
	unsigned int count = window_in_kernel(from) ?
			     code_read_kernel(bytes, sizeof(bytes), from) :
			     code_read_user(bytes, sizeof(bytes), from);

	if (!count)
		return 0;
	return insn_stream_kind(branch_decode(bytes, count, is64).kind);
}

static __always_inline u8 branch_kind_of(struct kinds *known, u64 from,
					 u64 salt, bool is64)
{
	u64 key = (from + salt) * GOLDEN_RATIO_64;
	unsigned int at = key >> (64 - KINDS_BITS);

	if (unlikely(known->line[at].key != key)) {
		known->line[at].kind = kinds_decode(from, is64);
		known->line[at].key = key;
	}
	return known->line[at].kind;
}

int branch_kinds_on(void)
{
	kinds_known = alloc_percpu(struct kinds);
	if (!kinds_known)
		return -ENOMEM;
	kinds_seed = get_random_u64();
	return 0;
}

void branch_kinds_off(void)
{
	free_percpu(kinds_known);
}

void branch_kinds_of(u8 *kinds, const struct window_branch *branches, u32 count,
		     bool kernel, bool is64)
{
	struct kinds *known = this_cpu_ptr(kinds_known);
	u64 salt = kinds_salt(kernel);
	u32 i;

	for (i = 0; i < count; i++)
		kinds[i] = branch_kind_of(known, branches[i].from, salt, is64);
}
