// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <linux/hwprof.h>
#include <linux/prctl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "images.h"

#define DEVICE	"/dev/hwprof"

enum {
	PAGE		= 4096,
	IMAGES_MAX	= 40,
	STATS		= 64,		/* fields of /proc/self/stat */
	START_CODE	= 26,		/* their numbers, by proc(5) */
	START_STACK	= 28,
	START_BRK	= 47,
};

/* --- fields of an image --------------------------------------------------- */

struct fields {
	uint64_t code, stack, brk;
};

/* Read the fields as exec has set them. False: they are unknown. */
static bool fields_now(struct fields *fields)
{
	unsigned long long stat[STATS] = { 0 };
	FILE *file = fopen("/proc/self/stat", "re");
	unsigned int i;

	if (!file)
		return false;
	/* The name, which is ours, has no space. */
	if (fscanf(file, "%*s %*s %*s") == EOF)
		i = STATS;
	for (i = 4; i <= START_BRK && fscanf(file, "%llu", &stat[i]) == 1; i++)
		;
	fclose(file);
	*fields = (struct fields) {
		stat[START_CODE], stat[START_STACK], stat[START_BRK],
	};
	return i > START_BRK && fields->code && fields->stack && fields->brk;
}

/* Sets all addresses at once, which any user may do to restore a program. */
static bool set_map(const struct fields *fields)
{
	struct prctl_mm_map map = {
		.start_code = fields->code, .end_code = fields->code + PAGE,
		.start_data = 0x20000, .end_data = 0x20000,
		.start_brk = fields->brk, .brk = fields->brk,
		.start_stack = fields->stack,
		.arg_start = 0x20000, .arg_end = 0x20000,
		.env_start = 0x20000, .env_end = 0x20000,
		.exe_fd = -1,
	};

	return !prctl(PR_SET_MM, PR_SET_MM_MAP, &map, sizeof(map), 0);
}

/* With CAP_SYS_RESOURCE, one by one. */
static bool set_each(const struct fields *fields)
{
	return !prctl(PR_SET_MM, PR_SET_MM_START_CODE, fields->code, 0, 0) &&
	       !prctl(PR_SET_MM, PR_SET_MM_START_STACK, fields->stack, 0, 0) &&
	       !prctl(PR_SET_MM, PR_SET_MM_START_BRK, fields->brk, 0, 0);
}

bool image_choose(const uint64_t *word)
{
	struct fields fields;

	if (!fields_now(&fields))
		return false;
	fields.code -= word[0] % 64 * PAGE;
	fields.stack -= word[1] % 64 * 16;
	fields.brk -= word[2] % 64 * PAGE;
	return set_map(&fields) || set_each(&fields);
}

/* --- many of them --------------------------------------------------------- */

static _Noreturn void be_image(const uint64_t *word, unsigned int number,
			       int told)
{
	uint64_t mine[3] = { word[1] % 8, word[2] % 8, word[3] % 8 };
	bool chosen;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_DUMPABLE, 1);
	mine[word[0] % 3] += number;
	chosen = image_choose(mine);
	if (write(told, &chosen, sizeof(chosen)) < 0)
		_exit(1);
	for (;;)
		pause();
}

/* A process with its fields; 0: it could not choose them. */
static pid_t start_image(const uint64_t *word, unsigned int number)
{
	bool chosen = false;
	int ends[2];
	pid_t pid;

	if (pipe(ends))
		return 0;
	pid = fork();
	if (!pid)
		be_image(word, number, ends[1]);
	close(ends[1]);
	if (pid > 0 && read(ends[0], &chosen, sizeof(chosen)) < 0)
		chosen = false;
	close(ends[0]);
	if (pid > 0 && !chosen) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return pid > 0 && chosen ? pid : 0;
}

static int tell(int device, pid_t pid)
{
	struct hwprof_unwind_maps maps = {
		.size = sizeof(maps),
		.pid = pid,
	};

	return ioctl(device, HWPROF_IOC_UNWIND_MAPS, &maps) ? errno : 0;
}

/* Count an image that does not fit. Other refusals are allowed. */
static void tell_all(const pid_t *pid, unsigned int count,
		     struct findings *findings)
{
	int device = open(DEVICE, O_RDWR | O_CLOEXEC), err = 0;
	unsigned int i;

	for (i = 0; i < count && !err; i++)
		err = tell(device, pid[i]);
	if (err == ENOSPC)
		__atomic_add_fetch(&findings->met, 1, __ATOMIC_RELAXED);
	if (!err || err == ENOSPC)
		__atomic_add_fetch(&findings->images, 1, __ATOMIC_RELAXED);
	if (device >= 0)
		close(device);
}

void images_try(const uint64_t *word, struct findings *findings)
{
	unsigned int wanted = IMAGES_MAX - word[4] % (IMAGES_MAX / 2), i;
	pid_t pid[IMAGES_MAX];

	for (i = 0; i < wanted; i++) {
		pid[i] = start_image(word, i);
		if (!pid[i])
			break;
		__atomic_add_fetch(&findings->chosen, 1, __ATOMIC_RELAXED);
	}
	if (i == wanted)
		tell_all(pid, i, findings);
	while (i--) {
		kill(pid[i], SIGKILL);
		waitpid(pid[i], NULL, 0);
	}
}
