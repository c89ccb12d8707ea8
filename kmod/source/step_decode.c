// SPDX-License-Identifier: GPL-2.0-only
/* Decode an instruction of current's program. */
#include <linux/uaccess.h>

#include "code.h"
#include "step.h"

/* Decode an instruction that is long, or at the end of what can be read. */
static noinline struct insn step_decode_slowly(u64 ip, bool is64)
{
	u8 bytes[INSN_MAX];
	unsigned int count = code_read_user(bytes, sizeof(bytes), ip);

	if (!count)
		return (struct insn){ .kind = INSN_UNKNOWN };
	return branch_decode(bytes, count, is64);
}

/* Eight bytes, which one load reads, are nearly always enough. */
struct insn step_decode(u64 ip, bool is64)
{
	struct insn insn = { .kind = INSN_UNKNOWN };
	u64 bytes;

	pagefault_disable();
	if (likely(access_ok((void __user *)ip, sizeof(bytes)) &&
		   !__get_user(bytes, (u64 __user *)ip)))
		insn = branch_decode((u8 *)&bytes, sizeof(bytes), is64);
	pagefault_enable();
	if (unlikely(insn.kind == INSN_UNKNOWN))
		insn = step_decode_slowly(ip, is64);
	return insn;
}
