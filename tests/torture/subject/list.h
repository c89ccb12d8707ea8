/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The subjects: X(name). Those of SUBJECTS_STARTED are run by others only,
 * those of SUBJECTS_64 need 64-bit code, those of SUBJECTS_32 32-bit code.
 */
#ifndef TORTURE_LIST_H
#define TORTURE_LIST_H

#define SUBJECTS(X)							\
	X(nothing) X(fork) X(fork_tree) X(vfork) X(spawn) X(exec)	\
	X(exec_by_thread) X(children_storm)				\
	X(threads) X(thread_storm) X(affinity) X(sleepers)		\
	X(alarms) X(altstack) X(restart) X(queue) X(longjmp)		\
	X(frames) X(segv) X(breakpoint) X(stop_self)			\
	X(push_flags) X(own_tf) X(own_tf_by_frame) X(own_tf_by_iret)	\
	X(own_tf_across_fork) X(own_tf_and_calls)			\
	X(stack_segment) X(int80)					\
	X(strings) X(page_cross) X(rewritten_code) X(unmapped_code)	\
	X(seccomp_strict) X(seccomp_filter) X(clocks)			\
	X(debug_steps) X(debug_calls) X(debug_breakpoint)		\
	X(debug_registers) X(debug_attach)

#define SUBJECTS_64(X)	X(syscall_r11) X(syscall_r11_of_child)	\
			X(vsyscall) X(rseq) X(slice)
#define SUBJECTS_32(X)	X(sysenter)

#define SUBJECTS_STARTED(X)						\
	X(told) X(busy) X(storm) X(crash) X(blocked) X(stepped)	\
	X(called) X(ticks) X(privileged) X(unprivileged) X(slow_frame)

#endif /* TORTURE_LIST_H */
