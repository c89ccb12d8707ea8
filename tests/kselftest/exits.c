// SPDX-License-Identifier: GPL-2.0-only
/* exits TIMES: makes so many processes, one after the other, that only exit. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	long times = argc > 1 ? atol(argv[1]) : 1;

	while (times--) {
		pid_t child = fork();

		if (!child)
			_exit(0);
		if (child < 0 || waitpid(child, NULL, 0) != child)
			return 1;
	}
	return 0;
}
