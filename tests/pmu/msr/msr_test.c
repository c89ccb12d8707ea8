// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests which values the PMU's MSRs accept, and which raise a fault (#GP).
 * Prints the results in the kernel log, as TAP without numbers. Each MSR gets
 * its old value back.
 */
#define pr_fmt(fmt) "msr_test: " fmt
#include <linux/irqflags.h>
#include <linux/module.h>
#include <asm/msr.h>

static const struct {
	const char *name;
	u32 msr;
	u64 good, bad;
} values[] = {
	{"PERFEVTSEL0: any thread", 0x186, 0x1100c0, 0x3100c0},
	{"PERFEVTSEL3: upper half", 0x189, 0xff1f00c4, 1ULL << 32},
	{"PMC0: 48 bits", 0x4c1, 0xffffffffffff, 1ULL << 48},
	{"PERFCTR0: its upper half is ignored", 0xc1, -1ULL, 0},
	{"FIXED_CTR2: 48 bits", 0x30b, 0xffffffffffff, 1ULL << 48},
	{"FIXED_CTR_CTRL: any thread", 0x38d, 0x888, 4},
	{"FIXED_CTR_CTRL: no fourth counter", 0x38d, 0x888, 0x1000},
	{"GLOBAL_CTRL: no fifth counter", 0x38f, 0, 1 << 4},
	{"GLOBAL_STATUS: read only", 0x38e, 0, 1},
	{"GLOBAL_OVF_CTRL: no fourth fixed one", 0x390, 0x70000000f,
	 1ULL << 35},
	{"PERF_CAPABILITIES: read only", 0x345, 0, 0x2005},
	{"DEBUGCTL: bit 2", 0x1d9, 0x1800, 1 << 2},
	{"DEBUGCTL: no BTS", 0x1d9, 0x1800, 1 << 7},
	{"LBR_SELECT: 10 bits", 0x1c8, 0x3ff, 0x400},
	{"LASTBRANCH_TOS: 32 entries", 0x1c9, 31, 32},
	{"LASTBRANCH_31_FROM: canonical", 0x69f, 0xffff800000000000,
	 1ULL << 47},
	{"LASTBRANCH_0_TO: canonical", 0x6c0, 0x7fffffffffff, 1ULL << 63},
	{"LBR_INFO_0: bit 16", 0xdc0, 7ULL << 61 | 0xffff, 1 << 16},
};

static bool keeps(u32 msr, u64 value)
{
	u64 got;

	if (wrmsrl_safe(msr, value) || rdmsrl_safe(msr, &got))
		return false;
	if (msr == 0x390)			/* reads as 0 */
		return got == 0;
	if (msr == 0xc1)		/* sign-extends the lower half */
		return got == 0xffffffffffff;
	return got == value;
}

static int __init msr_test_init(void)
{
	unsigned long flags;
	bool good, bad;
	u64 before;
	int i;

	for (i = 0; i < ARRAY_SIZE(values); i++) {
		local_irq_save(flags);
		rdmsrl(values[i].msr, before);
		/*
		 * A good value of 0 is not written: the MSR has no good value,
		 * or holds it already.
		 */
		good = !values[i].good || keeps(values[i].msr, values[i].good);
		bad = values[i].bad &&
		      !wrmsrl_safe(values[i].msr, values[i].bad);
		if (values[i].good)
			wrmsrl_safe(values[i].msr, before);
		local_irq_restore(flags);
		pr_info("%s - %s%s%s\n", good && !bad ? "ok" : "not ok",
			values[i].name,
			good ? "" : ": does not keep a good value",
			bad ? ": takes a bad value" : "");
	}
	return 0;
}
module_init(msr_test_init);

static void __exit msr_test_exit(void)
{
}
module_exit(msr_test_exit);

MODULE_DESCRIPTION("Which values the PMU's MSRs take");
MODULE_LICENSE("GPL");
