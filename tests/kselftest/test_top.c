// SPDX-License-Identifier: GPL-2.0-only
/* `hwprof top` on a terminal: its screen, its keys, and how it ends. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "include/kselftest_harness.h"

#include "event.h"

EVENT_ALL_NEED("step")

#define ENTER	"\033[?1049h\033[?25l"
#define LEAVE	"\033[?25h\033[?1049l"

enum { OUTPUT = 1 << 20, ROWS = 12, COLUMNS = 60 };

struct terminal {
	int fd, tty;			/* our end, and its end */
	struct termios modes;		/* original modes */
	pid_t pid;
	char output[OUTPUT];
	size_t size;
};

static struct terminal terminal;

/* Starts `hwprof top` of `spin`, on a small terminal. */
static void start(void)
{
	const struct winsize size = { .ws_row = ROWS, .ws_col = COLUMNS };
	char spin[4096];

	strcpy(spin, known_program());
	strcpy(strrchr(spin, '/') + 1, "spin");
	memset(&terminal, 0, sizeof(terminal));
	terminal.pid = forkpty(&terminal.fd, NULL, NULL, &size);
	if (terminal.pid) {
		/* Keep it open, so that its output survives its end. */
		terminal.tty = open(ptsname(terminal.fd), O_RDWR | O_NOCTTY);
		tcgetattr(terminal.tty, &terminal.modes);
		return;
	}
	usleep(200000);		/* until the modes were read */
	execlp("hwprof", "hwprof", "top", "-d", "0.3", "--", spin, NULL);
	_exit(98);
}

/* Reads until @text has come @times more. Returns false if it does not come. */
static bool shows(const char *text, unsigned int times)
{
	struct pollfd polled = { .fd = terminal.fd, .events = POLLIN };
	size_t from = terminal.size;
	const char *at;

	for (;;) {
		unsigned int found = 0;
		ssize_t got;

		terminal.output[terminal.size] = '\0';
		for (at = terminal.output + from; (at = strstr(at, text)); at++)
			found++;
		if (found >= times)
			return true;
		if (poll(&polled, 1, 60000) <= 0)
			return false;
		got = read(terminal.fd, terminal.output + terminal.size,
			   OUTPUT - 1 - terminal.size);
		if (got <= 0)
			return false;
		terminal.size += got;
	}
}

static bool modes_are_back(void)
{
	struct termios modes;

	return !tcgetattr(terminal.tty, &modes) &&
	       modes.c_lflag == terminal.modes.c_lflag;
}

/* Returns the number of lines of the last complete screen. */
static unsigned int lines(void)
{
	const char *at = terminal.output, *last = NULL, *before = NULL;
	unsigned int count = 0;

	for (; (at = strstr(at, "\033[H")); at++) {
		before = last;
		last = at;
	}
	for (at = before; at && at < last; at++)
		count += *at == '\n';
	return count + 1;
}

static int end(void)
{
	int status = -1;

	/* It must not wait for us when it writes its last output. */
	shows(LEAVE, 1);
	waitpid(terminal.pid, &status, 0);
	return status;
}

TEST(key)
{
	start();
	EXPECT_TRUE(shows("known_inner", 2));
	/* The cost is announced on the screen that stays. */
	EXPECT_NE(NULL, strstr(terminal.output, "is stepped"));
	EXPECT_LT(strstr(terminal.output, "is stepped"),
		  strstr(terminal.output, ENTER));
	EXPECT_FALSE(modes_are_back());
	ASSERT_EQ(1, write(terminal.fd, "x", 1));
	EXPECT_TRUE(shows("known_inner", 1));
	ASSERT_EQ(1, write(terminal.fd, "q", 1));
	EXPECT_TRUE(WIFEXITED(end()));
	EXPECT_NE(NULL, strstr(terminal.output, LEAVE));
	EXPECT_TRUE(modes_are_back());
}

TEST(resize)
{
	struct winsize size = { .ws_row = 5, .ws_col = COLUMNS };

	start();
	EXPECT_TRUE(shows("known_inner", 1));
	EXPECT_TRUE(shows("\033[H", 2));
	EXPECT_LT(5, lines());
	EXPECT_GE(ROWS, lines());
	ASSERT_EQ(0, ioctl(terminal.fd, TIOCSWINSZ, &size));
	EXPECT_TRUE(shows("\033[H", 4));
	EXPECT_GE(5, lines());
	kill(terminal.pid, SIGTERM);
	end();
	EXPECT_TRUE(modes_are_back());
}

/* Ctrl-C, which the terminal turns into a signal. */
TEST(interrupt)
{
	start();
	EXPECT_TRUE(shows("known_inner", 1));
	ASSERT_EQ(1, write(terminal.fd, "\003", 1));
	end();
	EXPECT_NE(NULL, strstr(terminal.output, LEAVE));
	EXPECT_TRUE(modes_are_back());
}

/* Ctrl-Z: the shell has the terminal until top continues. */
TEST(suspend)
{
	int status = 0;

	start();
	EXPECT_TRUE(shows("known_inner", 1));
	ASSERT_EQ(1, write(terminal.fd, "\032", 1));
	EXPECT_TRUE(shows(LEAVE, 1));
	ASSERT_EQ(terminal.pid, waitpid(terminal.pid, &status, WUNTRACED));
	EXPECT_TRUE(WIFSTOPPED(status));
	EXPECT_TRUE(modes_are_back());
	kill(terminal.pid, SIGCONT);
	EXPECT_TRUE(shows(ENTER, 1));
	EXPECT_TRUE(shows("known_inner", 1));
	EXPECT_FALSE(modes_are_back());
	ASSERT_EQ(1, write(terminal.fd, "q", 1));
	EXPECT_TRUE(WIFEXITED(end()));
	EXPECT_TRUE(modes_are_back());
}

TEST_HARNESS_MAIN
