#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Which lines of the guest's kernel are reports. Most of them need a kernel that
is ill in its own way, so they are tried here as such kernels write them. Exit
status 1: one was taken for the other."""
import sys

sys.dont_write_bytecode = True
from rig import kernel_log  # noqa: E402

REPORTS = (
    "watchdog: Watchdog detected hard LOCKUP on cpu 1",
    "NMI watchdog: Watchdog detected hard LOCKUP on cpu 0",
    "watchdog: CPU0: Watchdog detected hard LOCKUP on cpu 1",
    "watchdog: BUG: soft lockup - CPU#1 stuck for 26s! [perf:77]",
    "rcu: INFO: rcu_preempt self-detected stall on CPU",
    "INFO: rcu_sched detected stalls on CPUs/tasks: { 1}",
    "INFO: task perf:77 blocked for more than 120 seconds.",
    "INFO: trying to register non-static key.",
    "WARNING: CPU: 1 PID: 77 at kernel/events/core.c:5000 put_event+0x1/0x2",
    "WARNING: suspicious RCU usage",
    "WARNING: possible circular locking dependency detected",
    "WARNING: inconsistent lock state",
    "BUG: sleeping function called from invalid context at mm/slab.h:1",
    "BUG: KASAN: slab-use-after-free in badmod_init+0x1/0x2 [badmod]",
    "BUG: scheduling while atomic: perf/77/0x00000002",
    "UBSAN: shift-out-of-bounds in badmod.c:57:2",
    "Oops: general protection fault, probably for non-canonical address 0x1",
    "general protection fault, probably for non-canonical address 0x1",
    "Unable to handle kernel paging request at virtual address 0000000000000001",
    "Internal error: Oops: 0000000096000004 [#1] SMP",
    "list_del corruption. prev->next should be 1, but was 2",
    "refcount_t: underflow; use-after-free.",
    "Kernel panic - not syncing: Fatal exception",
)

HARMLESS = (
    "Kernel command line: console=ttyS0 softlockup_panic=1 nmi_watchdog=panic",
    "Spectre V2 : WARNING: Spectre mitigation is off",
    "watchdog: Delayed init of the lockup detector failed: -19",
    "NMI watchdog: Enabled. Permanently consumes one hw-PMU counter.",
    "rcu: Hierarchical RCU implementation.",
    "debug[77]: segfault at 0 ip 1 sp 2 error 4 in debug[1+2]",
    "traps: prog[77] general protection fault ip:1 sp:2 error:0 in prog[1+2]",
    "hwprof: no hardware counters",
)

# Reports of KCSAN, and whether they are the module's.
RACES = (
    (True, """\
BUG: KCSAN: data-race in perf_poll / session_flush [hwprof]

write to 0xffff888000000000 of 8 bytes by task 77 on cpu 0:
 session_flush+0x1/0x2 [hwprof]
==================================================================="""),
    (True, """\
BUG: KCSAN: data-race in list_add / list_del

read to 0xffff888000000000 of 8 bytes by task 77 on cpu 0:
 list_del+0x1/0x2
 slot_free+0x1/0x2 [hwprof]
==================================================================="""),
    (False, """\
BUG: KCSAN: data-race in tick_sched / tick_update

read to 0xffff888000000000 of 8 bytes by interrupt on cpu 0:
 tick_update+0x1/0x2
 asm_sysvec_apic_timer_interrupt+0x1/0x2
 loop_feed+0x1/0x2 [hwprof]

read to 0xffff888000000000 of 8 bytes by task 77 on cpu 1:
 tick_sched+0x1/0x2
===================================================================
hwprof: no hardware counters [hwprof]"""),
)


def main():
    wrong = [f"not told apart: {text}" for ours, text in RACES
             if bool(kernel_log.reports(text)) != ours]
    wrong += [f"no report: {line}" for line in REPORTS
             if line not in kernel_log.reports(f"before\n[    1.0] {line}\nafter")]
    wrong += [f"a report: {line}" for line in HARMLESS
              if kernel_log.reports(f"before\n[    1.0] {line}\nafter")]
    print(*wrong, sep="\n", file=sys.stderr)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
