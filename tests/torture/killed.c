// SPDX-License-Identifier: GPL-2.0-only
/* Kills, stops and continues a watched subject at random moments. */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "outside.h"
#include "tap.h"

void test_killed(const char *subject)
{
	unsigned int turn;
	int rounds, good;

	for (turn = 0; turn < profile_each; turn++) {
		const struct profile_mode *mode = profile_next();

		for (good = 0, rounds = 0; rounds < 4; rounds++) {
			struct ending ending;
			struct child child;

			child_start(&child, subject, "storm", mode, false);
			usleep(5000 + random() % 30000);
			kill(child.pid, SIGKILL);
			child_end(&child, &ending);
			good += WIFSIGNALED(ending.status) &&
				WTERMSIG(ending.status) == SIGKILL;
		}
		tap_test(good == rounds, "killed at random: %s", mode->name);
	}
}

void test_stopped(const char *subject)
{
	unsigned int turn;
	struct ending native, watched;
	int i;

	child_run(subject, "ticks", NULL, &native);
	for (turn = 0; turn < profile_each; turn++) {
		const struct profile_mode *mode = profile_next();
		struct child child;

		child_start(&child, subject, "ticks", mode, false);
		for (i = 0; i < 10; i++) {
			usleep(random() % 2000);
			kill(child.pid, SIGSTOP);
			usleep(random() % 500);
			kill(child.pid, SIGCONT);
		}
		child_end(&child, &watched);
		child_same(&native, &watched, "stopped and continued",
			   mode->name);
	}
}
