// SPDX-License-Identifier: GPL-2.0-only
/*
 * plugged TURNS: loads a library after running for a while, forks, and works in
 * the library in both processes. Nothing in either has frame pointers.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Prevents merging the two functions. */
static __attribute__((noipa)) void child(void (*turn)(void), int turns)
{
	while (turns--)
		turn();
	__asm__ volatile("");
}

static __attribute__((noipa)) void parent(void (*turn)(void), int turns)
{
	while (turns--)
		turn();
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	int turns = argc > 1 ? atoi(argv[1]) : 1;
	void (*turn)(void);
	void *plugin;

	usleep(500000);
	plugin = dlopen("./plugin.so", RTLD_NOW);
	turn = plugin ? (void (*)(void))dlsym(plugin, "plugin_turn") : NULL;
	if (!turn)
		return 1;
	/* Gives time for its maps to be noted. */
	usleep(1000000);
	if (!fork()) {
		child(turn, turns);
		_exit(0);
	}
	parent(turn, turns);
	wait(NULL);
	return 0;
}
