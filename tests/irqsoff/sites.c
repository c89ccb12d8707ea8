// SPDX-License-Identifier: GPL-2.0-only
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "must.h"
#include "sites.h"

enum { SITE = 20 };	/* bytes of a site */

static unsigned char *sites;

static void put32(unsigned char *at, int32_t value)
{
	memcpy(at, &value, sizeof(value));
}

/*
 * Code with @count places, each with a loop, a load, a call and a path of its
 * own, so that each engine has a row, or several, for each:
 *
 *		mov	$2, %ecx
 *	1:	mov	0(%rip), %eax
 *		dec	%ecx
 *		jnz	1b
 *		call	0		# which is a ret
 */
static void make_sites(unsigned int count)
{
	unsigned char *at;
	unsigned int i;

	sites = mmap(NULL, 64 + SITES_MOST * SITE,
		     PROT_READ | PROT_WRITE | PROT_EXEC,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (sites == MAP_FAILED)
		die("memory for code");
	sites[0] = 0xc3;
	for (i = 0; i < count; i++) {
		at = sites + 16 + i * SITE;
		memcpy(at, "\xb9\2\0\0\0\x8b\5\0\0\0\0\xff\xc9\x75\xf6\xe8", 16);
		put32(at + 16, sites - (at + SITE));
	}
	sites[16 + count * SITE] = 0xc3;
}

void run_sites(unsigned int count)
{
	make_sites(count);
	((void (*)(void))(sites + 16))();
	munmap(sites, 64 + SITES_MOST * SITE);
}

unsigned int sites_for(unsigned int mib)
{
	unsigned int count = SITES * mib;

	return count < SITES_MOST ? count : SITES_MOST;
}
