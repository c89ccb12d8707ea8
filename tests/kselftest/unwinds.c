// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls that do not return: longjmp, siglongjmp out of a handler, on its stack
 * and on a separate one, unwinding like that of exceptions, and retpolines. A
 * call behind each shows the context in which it is made.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <unwind.h>

enum { TURNS = 50 };

#define call_of_its_own __attribute__((noinline, noclone))

static jmp_buf place;
static sigjmp_buf signal_place;
static volatile int turns;

/* --- longjmp -------------------------------------------------------------- */

call_of_its_own void after_jump(void)
{
	turns++;
}

call_of_its_own void jump(int depth)
{
	if (depth)
		jump(depth - 1);
	else
		longjmp(place, 1);
	turns++;
}

call_of_its_own void jumps(void)
{
	int turn;

	for (turn = 0; turn < TURNS; turn++) {
		if (!setjmp(place))
			jump(turn % 4);
		after_jump();
	}
}

/* --- siglongjmp ----------------------------------------------------------- */

call_of_its_own void after_signal(void)
{
	turns++;
}

static void handler(int number)
{
	siglongjmp(signal_place, 1);
}

call_of_its_own void interrupted(void)
{
	raise(SIGUSR1);
	turns++;
}

call_of_its_own void signals(void)
{
	int turn;

	for (turn = 0; turn < TURNS; turn++) {
		if (!sigsetjmp(signal_place, 1))
			interrupted();
		after_signal();
	}
}

/* On the heap, which is below all other stacks. */
static void use_own_stack(void)
{
	stack_t stack = { .ss_sp = malloc(1 << 16), .ss_size = 1 << 16 };
	struct sigaction action = {
		.sa_handler = handler, .sa_flags = SA_ONSTACK,
	};

	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
}

call_of_its_own void signals_on_own_stack(void)
{
	signals();
}

/* --- unwinding ------------------------------------------------------------ */

call_of_its_own void cleaned(int *what)
{
	turns += *what;
}

call_of_its_own void after_unwinding(void)
{
	turns++;
}

static _Unwind_Reason_Code stop(int version, _Unwind_Action actions,
				_Unwind_Exception_Class class,
				struct _Unwind_Exception *exception,
				struct _Unwind_Context *context, void *end)
{
	if (_Unwind_GetCFA(context) > (_Unwind_Word)(uintptr_t)end)
		longjmp(place, 1);
	return _URC_NO_REASON;
}

call_of_its_own void unwind(void *end)
{
	static struct _Unwind_Exception exception;

	_Unwind_ForcedUnwind(&exception, stop, end);
	abort();
}

call_of_its_own void catches(void *end)
{
	int what __attribute__((cleanup(cleaned))) = 1;

	unwind(end);
	turns++;
}

call_of_its_own void unwindings(void)
{
	int turn;

	for (turn = 0; turn < TURNS; turn++) {
		if (!setjmp(place))
			catches(__builtin_frame_address(0));
		after_unwinding();
	}
}

/* --- retpolines ----------------------------------------------------------- */

call_of_its_own void after_thunk(void)
{
	turns++;
}

call_of_its_own void pointed_to(void)
{
	turns++;
	after_thunk();
	turns++;
}

static void (*volatile pointer)(void) = pointed_to;

/* On x86, uses a thunk that calls, and returns to the pointer's target. */
#ifdef __x86_64__
__attribute__((indirect_branch("thunk")))
#endif
call_of_its_own void calls_by_pointer(void)
{
	int turn;

	for (turn = 0; turn < TURNS; turn++) {
		pointer();
		after_thunk();
	}
}

int main(void)
{
	jumps();
	signal(SIGUSR1, handler);
	signals();
	use_own_stack();
	signals_on_own_stack();
	unwindings();
	calls_by_pointer();
	return 0;
}
