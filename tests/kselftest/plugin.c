// SPDX-License-Identifier: GPL-2.0-only
/* A library without frame pointers and with known time: see plugged.c. */

#define PART 20000

static __attribute__((noinline)) void work(long parts)
{
	while (parts--) {
		long times = PART;

		do
			__asm__ volatile("nop" : : : "rbp");
		while (--times);
	}
}

static __attribute__((noinline)) void mostly(void)
{
	work(3);
	__asm__ volatile("");
}

static __attribute__((noinline)) void rarely(void)
{
	work(1);
	__asm__ volatile("");
}

void plugin_turn(void);

void plugin_turn(void)
{
	mostly();
	rarely();
	__asm__ volatile("");
}
