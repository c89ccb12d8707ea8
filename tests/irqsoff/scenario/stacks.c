// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/kselftest/device.h"
#include "tests/irqsoff/feeder.h"
#include "tests/irqsoff/must.h"
#include "tests/irqsoff/phase.h"
#include "tests/irqsoff/rows.h"
#include "tests/irqsoff/sites.h"

#include "scenario.h"

enum {
	CHAIN		= 200,		/* calls, see make_chain(), */
	CALL_BYTES	= 6,		/* of code each */
};

/* The maps of @code, behind as many others as there may be. */
static void add_maps(int fd, const void *code)
{
	static struct hwprof_unwind_map maps[HWPROF_UNWIND_MAPS_MAX];
	unsigned int i;

	for (i = 0; i < HWPROF_UNWIND_MAPS_MAX; i++) {
		maps[i].table = 1;
		maps[i].start = maps[i].base = (1 + i) * getpagesize();
		maps[i].end = maps[i].start + getpagesize();
	}
	i = HWPROF_UNWIND_MAPS_MAX - 1;
	maps[i].start = maps[i].base = (uintptr_t)code;
	maps[i].end = maps[i].start + getpagesize();
	must(device_set_maps(fd, maps, HWPROF_UNWIND_MAPS_MAX, getpid()),
	     "setting maps");
}

/*
 * As many rows as a table can have, and as many maps, so that the search in
 * them is the longest.
 */
static void add_tables(int fd, const void *code)
{
	struct hwprof_unwind_row *rows =
		calloc(HWPROF_UNWIND_ROWS_MAX, sizeof(*rows));
	unsigned int i;

	if (!rows)
		die("memory for tables");
	for (i = 0; i < HWPROF_UNWIND_ROWS_MAX; i++)
		rows[i] = (struct hwprof_unwind_row) {
			.start = i, .cfa = 1, .bp = 1, .kind = HWPROF_UNWIND_SP,
		};
	phase("HWPROF_IOC_UNWIND_TABLE");
	must(device_add_table(fd, rows, HWPROF_UNWIND_ROWS_MAX),
	     "adding a table");
	free(rows);
	phase("HWPROF_IOC_UNWIND_MAPS");
	add_maps(fd, code);
}

/*
 * CHAIN procedures that call the next one, "1: call 2f; ret; 2:", and after
 * them a loop. Called at another one of them, the chain is shorter.
 */
static unsigned char *make_chain(void)
{
	unsigned char *code = mmap(NULL, getpagesize(),
				   PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned int i;

	if (code == MAP_FAILED)
		die("memory for code");
	for (i = 0; i < CHAIN; i++)
		memcpy(code + CALL_BYTES * i, "\xe8\1\0\0\0\xc3", CALL_BYTES);
	/* mov $0x40000, %ecx; 1: dec %ecx; jnz 1b; ret */
	memcpy(code + CALL_BYTES * CHAIN, "\xb9\0\0\4\0\xff\xc9\x75\xfc\xc3", 10);
	return code;
}

/*
 * Samples with stacks that are as deep as they are followed, each a new
 * context. In 1 MiB, tables are full meanwhile.
 */
static void stacks_in(unsigned int mib)
{
	struct hwprof_config config =
		device_config(EVENT_CCT | EVENT_SAMPLE | EVENT_MEMORY(mib));
	unsigned char *code = make_chain();
	int fd, event, i;

	config.period = 2000000;	/* longer than a sample by far */
	fd = device_open(&config);
	must(fd, "HWPROF_IOC_CONFIG for samples");
	add_tables(fd, code);
	event = open_feeder(&config);
	phase("%u MiB, samples with stacks of 1 to %u calls", mib, CHAIN);
	for (i = CHAIN - 1; i >= 0; i--)
		((void (*)(void))(code + CALL_BYTES * i))();
	phase("%u MiB, samples with stacks of %u calls, which are known", mib,
	      CHAIN);
	for (i = 0; i < 100; i++) {
		((void (*)(void))code)();
		if (i == 10)	/* now they are */
			restart_phase();
	}
	phase("HWPROF_IOC_SNAPSHOT of their contexts");
	take_all(fd);
	phase("closing a file with tables");
	close(event);
	close(fd);
	munmap(code, getpagesize());
	usleep(100000);
	end_phase();
}

void stacks(void)
{
	stacks_in(4);
	stacks_in(1);
}
