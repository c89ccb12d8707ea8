// SPDX-License-Identifier: GPL-2.0-only
/* CPU time of machines, as /proc/stat tells it, and of hwprofd. */
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "meter.h"

static bool read_text(const char *text, uint64_t *idle, unsigned int *cpus)
{
	FILE *in = fmemopen((void *)text, strlen(text), "r");
	bool known;

	assert_non_null(in);
	known = meter_read_idle(in, idle, cpus);
	fclose(in);
	return known;
}

/* The sum of all CPUs also has those that are offline. */
static void test_idle(void **state)
{
	uint64_t idle, tick = 1000000000 / sysconf(_SC_CLK_TCK);
	unsigned int cpus;

	assert_true(read_text("cpu  9 9 9 900 90 9 9 90 0 0\n"
			      "cpu0 1 2 3 100 10 4 5 1 0 0\n"
			      "cpu12 1 2 3 200 20 4 5 2 7 0\n"
			      "intr 1 2 3 4 5 6 7 8 9\n", &idle, &cpus));
	assert_int_equal(cpus, 2);
	assert_int_equal(idle, 333 * tick);
	assert_false(read_text("intr 1 2 3\n", &idle, &cpus));
	assert_false(read_text("cpu0 1 2 3\n", &idle, &cpus));
}

/* This machine works at least as much as this process. */
static void test_busy(void **state)
{
	struct meter meter = { .begun = false };
	struct spent spent = meter_read(&meter, 3, 2, -1);
	uint64_t before;

	assert_true(spent.busy_unknown);
	assert_int_equal(spent.own_ns, 5);
	assert_int_equal(spent.wall_ns, 0);
	before = wire_cpu_ns(RUSAGE_SELF);
	while (wire_cpu_ns(RUSAGE_SELF) - before < 300000000)
		;
	spent = meter_read(&meter, 9, 3, -1);
	assert_int_equal(spent.own_ns, 7);
	assert_int_equal(spent.files_ns, 1);
	assert_false(spent.busy_unknown);
	assert_true(spent.wall_ns >= 300000000);
	assert_true(spent.busy_ns >= 200000000);
	assert_true(spent.busy_ns <= meter.cpus * spent.wall_ns);
	meter.cpus++;
	assert_true(meter_read(&meter, 9, 3, -1).busy_unknown);
}

static void answer(int socket, uint64_t cpu, uint64_t looks)
{
	struct wire_spent spent = { .cpu_ns = cpu, .looks_ns = looks };

	wire_answer(socket, &spent);
}

/* CPU time before the first answer was not for this collector. */
static void test_answers(void **state)
{
	struct meter meter = { .begun = false };
	struct spent spent;
	int sockets[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets), 0);
	answer(sockets[1], 1000, 100);
	spent = meter_read(&meter, 0, 0, sockets[0]);
	assert_false(spent.has_looks);
	assert_int_equal(spent.own_ns, 0);
	answer(sockets[1], 1010, 101);
	answer(sockets[1], 1030, 104);
	spent = meter_read(&meter, 5, 0, sockets[0]);
	assert_true(spent.has_looks);
	assert_int_equal(spent.own_ns, 35);
	assert_int_equal(spent.looks_ns, 4);
	assert_false(meter_read(&meter, 5, 0, sockets[0]).has_looks);
	/* A process that was started again counts from 0. */
	answer(sockets[1], 3, 0);
	assert_false(meter_read(&meter, 5, 0, sockets[0]).has_looks);
	answer(sockets[1], 8, 1);
	assert_int_equal(meter_read(&meter, 5, 0, sockets[0]).own_ns, 5);
	meter_forget_answer(&meter);
	answer(sockets[1], 5000, 2);
	assert_int_equal(meter_read(&meter, 5, 0, sockets[0]).own_ns, 0);
	close(sockets[0]);
	close(sockets[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_busy),
		cmocka_unit_test(test_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
