// SPDX-License-Identifier: GPL-2.0-only
/* Code and data that move or change while they are stepped. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "subject.h"

typedef int function(void);

static unsigned char *map_code(size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

void subject_strings(void)
{
	static char from[300], to[300];
	void *source = from, *target = to;
	size_t left = sizeof(from);
	unsigned char same;

	memset(from, 'x', sizeof(from) - 1);
	asm volatile("rep movsb" : "+S" (source), "+D" (target), "+c" (left)
		     :: "memory");
	expect(!left && target == to + sizeof(to));
	source = from, target = to, left = sizeof(from);
	asm volatile("repe cmpsb\nsete %3" : "+S" (source), "+D" (target),
		     "+c" (left), "=q" (same) :: "memory", "cc");
	expect(same && !left);
	target = to, left = 100;
	asm volatile("rep stosb" : "+D" (target), "+c" (left) : "a" ('y')
		     : "memory");
	target = to, left = sizeof(to);
	asm volatile("repne scasb" : "+D" (target), "+c" (left) : "a" (0)
		     : "memory", "cc");
	printf("length %d, first %c, last %c\n",
	       (int)((char *)target - to - 1), to[0], to[298]);
}

/* Executes mov $7,%eax; ret with a page's end at each place inside. */
void subject_page_cross(void)
{
	static const unsigned char code[] = { 0xb8, 7, 0, 0, 0, 0xeb, 0, 0xc3 };
	int split, sum = 0;

	for (split = 1; split < (int)sizeof(code); split++) {
		unsigned char *pages = map_code(8192);

		memcpy(pages + 4096 - split, code, sizeof(code));
		sum += ((function *)(pages + 4096 - split))();
		expect(!munmap(pages, 8192));
	}
	printf("sum %d\n", sum);
}

/*
 * Writes code, runs it and writes it again. Then code that writes its own next
 * instruction.
 */
void subject_rewritten_code(void)
{
	unsigned char *code = map_code(4096);
	int i, sum = 0;

	for (i = 0; i < 50; i++) {
		const unsigned char once[] = {
			0xb8, i, 0, 0, 0,	/* mov $i, %eax */
			0xc3,			/* ret */
		};

		memcpy(code, once, sizeof(once));
		sum += ((function *)code)();
	}
	for (i = 0; i < 10; i++) {
		const unsigned char self[] = {
			0xc6, 0x05,		/* movb $1, next+1 */
#ifdef __x86_64__
			1, 0, 0, 0,
#else
			0, 0, 0, 0,		/* filled in below */
#endif
			i,
			0xb8, 0, 0, 0, 0,	/* next: mov $0, %eax */
			0xc3,
		};

		memcpy(code, self, sizeof(self));
#ifdef __i386__
		*(unsigned char **)(code + 2) = code + 8;
#endif
		sum += ((function *)code)();
	}
	printf("sum %d\n", sum);
}

/* Unmaps a function after each return from it. */
void subject_unmapped_code(void)
{
	int i, sum = 0;

	for (i = 0; i < 30; i++) {
		unsigned char *code = map_code(4096);

		memcpy(code, "\xb8\x02\0\0\0\xc3", 6);
		sum += ((function *)code)();
		expect(!munmap(code, 4096));
	}
	printf("sum %d\n", sum);
}
