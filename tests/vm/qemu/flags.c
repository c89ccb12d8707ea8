// SPDX-License-Identifier: GPL-2.0-only
/*
 * Instructions that change few of the flags, or that are repeated after a page
 * fault, in every combination of flags: what patches/0003-flags.patch mends.
 * Prints how many were right; stops at the first that is not.
 */
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define TIMES	2000
#define PAGE	4096
#define ZF	0x40

static unsigned int right;

static uint64_t next_random(void)
{
	static uint64_t state = 1;

	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return state ^ state >> 29;
}

/* Two pages that no memory is behind yet. */
static char *fresh(void)
{
	void *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		err(1, "mmap");
	return pages;
}

/*
 * The flags after INSN, which finds its operand at `place`, and flags as of a
 * comparison of a and b. Flags are popped before, and a jump made, so that the
 * emulator has them, and not how to work them out, when a block begins.
 */
#define FLAGS(place, between, insn) ({					       \
	uint64_t flags, low = 1, high = 2;				       \
									       \
	__asm__ volatile("push $2\n\tpopf\n\tjmp 1f\n1:\n\t"		       \
			 "cmp %[b], %[a]\n\t" between insn "\n\t"	       \
			 "pushf\n\tcld\n\tpop %[flags]"			       \
			 : [flags] "=&r" (flags), "+a" (low), "+d" (high)      \
			 : [a] "r" (a), [b] "r" (b), [p] "r" (place),	       \
			   "b" (0L), "c" (0L)				       \
			 : "cc", "memory");				       \
	flags;								       \
})

static void same(const char *insn, uint64_t expected, uint64_t seen)
{
	if (expected != seen)
		errx(1, "%s: %#lx instead of %#lx", insn, (long)seen,
		     (long)expected);
	right++;
}

/* It changes ZF only. */
#define CHECK_ZF(insn)							       \
	same(insn, FLAGS(memory, "", "") & ~ZF,				       \
	     FLAGS(memory, "", insn " (%[p])") & ~ZF)

/* The same, faulting or not, with the comparison in its block or not. */
#define CHECK_FAULT_AT(offset, between, insn) do {			       \
	char *pages = fresh();						       \
									       \
	memset(memory, 0, sizeof(memory));				       \
	same(insn, FLAGS(memory, between, insn " (%[p])"),		       \
	     FLAGS(pages + (offset), between, insn " (%[p])"));		       \
	same(insn, memory[0], *(uint64_t *)(pages + (offset)));		       \
	munmap(pages, 2 * PAGE);					       \
} while (0)

#define CHECK_FAULT(insn) do {						       \
	CHECK_FAULT_AT(0, "", insn);					       \
	CHECK_FAULT_AT(0, "jmp 2f\n2:\n\t", insn);			       \
} while (0)

int main(void)
{
	static __attribute__((aligned(16))) uint64_t memory[2];
	unsigned int i;

	for (i = 0; i < TIMES; i++) {
		uint64_t a = next_random(), b = i % 3 ? next_random() : a;

		CHECK_ZF("cmpxchg8b");
		CHECK_ZF("lock cmpxchg8b");
		CHECK_ZF("cmpxchg16b");
		CHECK_ZF("lock cmpxchg16b");
		CHECK_FAULT("seto");
		CHECK_FAULT("setb");
		CHECK_FAULT("setz");
		CHECK_FAULT("setbe");
		CHECK_FAULT("sets");
		CHECK_FAULT("setp");
		CHECK_FAULT("setle");
		CHECK_FAULT("rclq");
		CHECK_FAULT("rcrb");
		CHECK_FAULT("adcq $1,");
		/* Over the end of a page; the direction is a flag, too. */
		CHECK_FAULT_AT(PAGE - 3, "std\n\t", "lock adcq $1,");
	}
	printf("%u right\n", right);
	return 0;
}
