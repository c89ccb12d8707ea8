// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loading the module. It fails as a whole or not at all: as soon as perf shows
 * the PMU, events may be opened, which hold the module, so nothing may fail
 * from then on.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "include/kselftest_harness.h"

#include "event.h"
#include "fault.h"
#include "text.h"

#define PMU	"/sys/bus/event_source/devices/hwprof"
#define DEVICE	"/dev/hwprof"
#define MODULE	"/sys/module/hwprof"

/*
 * Returns 0 or a negative errno. Tasks that were stepped in an earlier test
 * may hold the module for a moment.
 */
static int unload(void)
{
	int tries = 500;

	while (syscall(SYS_delete_module, "hwprof", O_NONBLOCK)) {
		if (errno != EAGAIN || !tries--)
			return -errno;
		usleep(10000);
	}
	return 0;
}

static int open_module(void)
{
	const char *kernel = getenv("KSELFTEST_KERNEL");
	char path[256];

	snprintf(path, sizeof(path), "../../%s/hwprof.ko",
		 kernel ? kernel : "");
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Loads it from a file, with parameters. Returns 0 or a negative errno. */
static int load(int file, const char *parameters)
{
	return syscall(SYS_finit_module, file, parameters, 0) ? -errno : 0;
}

/* Each test finds the module loaded, and leaves it so. */
FIXTURE(load)
{
	int file;
};

FIXTURE_SETUP(load)
{
	ASSERT_TRUE(event_sessions_are(0));
	self->file = open_module();
	if (self->file < 0)
		SKIP(return, "the module's file is not here");
	ASSERT_EQ(0, unload());
}

FIXTURE_TEARDOWN(load)
{
	if (access(MODULE, F_OK)) {
		EXPECT_EQ(0, load(self->file, ""));
	}
	EXPECT_EQ(0, access(PMU, F_OK));
	EXPECT_EQ(0, access(DEVICE, F_OK));
	close(self->file);
}

/* --- the order ------------------------------------------------------------ */

static int listen_to_devices(void)
{
	struct sockaddr_nl address = {
		.nl_family = AF_NETLINK, .nl_groups = 1,
	};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
			NETLINK_KOBJECT_UEVENT);

	if (fd >= 0 && bind(fd, (void *)&address, sizeof(address))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Returns the place of a message among those that came; 0: it did not. */
static unsigned int place_of(const char *wanted, int fd)
{
	char message[4096];
	unsigned int place = 0;
	ssize_t length;

	while ((length = recv(fd, message, sizeof(message) - 1, 0)) > 0) {
		message[length] = '\0';
		place++;
		if (!strcmp(message, wanted))
			return place;
	}
	return 0;
}

/* Making the device may fail, so it comes first. */
TEST_F(load, device_before_pmu)
{
	int devices = listen_to_devices(), pmus = listen_to_devices();
	unsigned int device, pmu;

	if (devices < 0 || pmus < 0)
		SKIP(return, "this kernel does not tell of devices");
	ASSERT_EQ(0, load(self->file, ""));
	device = place_of("add@/devices/virtual/misc/hwprof", devices);
	pmu = place_of("add@/devices/hwprof", pmus);
	EXPECT_LT(0, device);
	EXPECT_LT(device, pmu);
	close(devices);
	close(pmus);
}

/* --- faults --------------------------------------------------------------- */

enum { TRIES = 40, ALL = 1000000 };

/*
 * Returns how many allocations an attempt to load takes. Leaves nothing loaded.
 */
static int allocations(int file, const char *parameters, int *error)
{
	char left[16] = "";

	fail_nth(ALL);
	*error = load(file, parameters);
	text_read("/proc/thread-self/fail-nth", left, sizeof(left));
	fail_nth(0);
	if (!*error)
		*error = unload();
	else if (!access(MODULE, F_OK))
		*error = -EEXIST;
	return ALL - atoi(left);
}

/* A parameter that is too long for the kernel. */
static const char *refused_parameter(void)
{
	static char text[1200] = "allow_untested=";
	size_t length = strlen(text);

	memset(text + length, 'x', sizeof(text) - length - 1);
	return text;
}

/*
 * Loads the module while the nth allocation fails. Returns 1 if loading fails
 * and leaves nothing behind, 0 if it works all the same, or a negative errno.
 */
static int load_with_fault(int file, int n)
{
	int err;

	fail_nth(n);
	err = load(file, "");
	failed_nth();
	if (!err)
		return unload();
	if (err != -ENOMEM)
		return err;
	if (!access(MODULE, F_OK) || !access(PMU, F_OK) ||
	    !access(DEVICE, F_OK))
		return -EEXIST;
	return 1;
}

TEST_F(load, faults)
{
	int n, first, last, refused = 0, result, error;

	if (!faults_init())
		SKIP(return, "the kernel has no fault injection");
	first = allocations(self->file, refused_parameter(), &error);
	if (!error)
		SKIP(return, "without stepping, no parameter is refused");
	ASSERT_EQ(-ENOSPC, error);
	last = allocations(self->file, "", &error);
	ASSERT_EQ(0, error);
	TH_LOG("loading takes %d allocations, %d of them before its code",
	       last, first);
	ASSERT_LT(first, last);
	for (n = first; n <= last; n += (last - first) / TRIES + 1) {
		result = load_with_fault(self->file, n);
		EXPECT_LE(0, result) {
			TH_LOG("fault %d: error %d", n, result);
		}
		refused += result == 1;
	}
	EXPECT_LT(TRIES / 4, refused);
	ASSERT_EQ(0, load(self->file, ""));
}

TEST_HARNESS_MAIN
