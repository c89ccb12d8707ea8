// SPDX-License-Identifier: GPL-2.0-only
/* Messages of the collector, right ones and hostile ones; streams of parts. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "parts.h"
#include "wire.h"

static int sockets[2];

static int make(void **state)
{
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets);
}

static int close_both(void **state)
{
	close(sockets[0]);
	close(sockets[1]);
	return 0;
}

static int recording(void)
{
	int fd = wire_memfd();

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "recording", 9), 9);
	return fd;
}

static struct wire_head right(void)
{
	return (struct wire_head){
		.type = WIRE_RECORDING, .begin_ns = 5, .end_ns = 9,
	};
}

static int receive(struct wire_head *head, int *fd, char message[128])
{
	*message = 0;
	return wire_receive(sockets[1], head, fd, message, 128);
}

static void test_recording(void **state)
{
	struct wire_head sent = right(), got;
	char message[128], bytes[16] = "";
	int fd = recording(), received;

	assert_int_equal(receive(&got, &received, message), -EAGAIN);
	assert_int_equal(wire_seal(fd), 0);
	assert_int_equal(wire_send(sockets[0], &sent, fd), 0);
	close(fd);
	assert_int_equal(receive(&got, &received, message), 0);
	assert_int_equal(got.size, 9);
	assert_int_equal(got.end_ns, 9);
	assert_int_equal(pread(received, bytes, sizeof(bytes), 0), 9);
	assert_string_equal(bytes, "recording");
	assert_true(fcntl(received, F_GETFD) & FD_CLOEXEC);
	close(received);
	close(sockets[0]);
	assert_int_equal(receive(&got, &received, message), -ENODATA);
	sockets[0] = socket(AF_UNIX, SOCK_DGRAM, 0);
}

/* Without a free descriptor, the recording is lost, but not what follows. */
static void test_no_descriptor(void **state)
{
	struct rlimit limit, none;
	struct wire_head sent = right(), got;
	int fd = recording(), received;
	char message[128];

	assert_int_equal(wire_seal(fd), 0);
	assert_int_equal(wire_send(sockets[0], &sent, fd), 0);
	assert_int_equal(wire_send(sockets[0], &sent, fd), 0);
	close(fd);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){ 0, limit.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(receive(&got, &received, message), -EMFILE);
	assert_int_equal(received, -1);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(receive(&got, &received, message), 0);
	close(received);
}

/* With vm.memfd_noexec=1 the kernel adds a seal of its own. */
static void test_more_seals(void **state)
{
	struct wire_head sent = right(), got;
	int fd = recording(), received;
	char message[128];

	if (fcntl(fd, F_ADD_SEALS, 0x20 /* F_SEAL_EXEC, Linux 6.3 */))
		skip();
	assert_int_equal(wire_seal(fd), 0);
	assert_int_equal(wire_send(sockets[0], &sent, fd), 0);
	close(fd);
	assert_int_equal(receive(&got, &received, message), 0);
	close(received);
}

/* A message without bytes may have a file all the same. */
static void test_only_file(void **state)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = "";
	struct msghdr hostile = {
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *item = CMSG_FIRSTHDR(&hostile);
	int fd = recording(), before = dup(fd), after, received;
	struct wire_head got;
	char message[128];

	close(before);
	item->cmsg_len = CMSG_LEN(sizeof(int));
	item->cmsg_level = SOL_SOCKET;
	item->cmsg_type = SCM_RIGHTS;
	memcpy(CMSG_DATA(item), &fd, sizeof(fd));
	assert_int_equal(sendmsg(sockets[0], &hostile, 0), 0);
	assert_int_equal(receive(&got, &received, message), -ENODATA);
	assert_int_equal(received, -1);
	after = dup(fd);
	assert_int_equal(after, before);
	close(after);
	close(fd);
}

static void refused(const struct wire_head *head, int fd, const char *why)
{
	struct wire_head copy = *head, got;
	int received;
	char message[128];

	assert_int_equal(wire_send(sockets[0], &copy, fd), 0);
	assert_int_equal(receive(&got, &received, message), -EBADMSG);
	assert_int_equal(received, -1);
	if (!strstr(message, why))
		fail_msg("'%s', not '%s'", message, why);
}

static void test_hostile(void **state)
{
	int open = recording(), fd = recording();
	struct wire_head head = right();

	assert_int_equal(wire_seal(fd), 0);
	refused(&head, -1, "no file");
	refused(&head, open, "not sealed");
	head.end_ns = 5;
	refused(&head, fd, "before it begins");
	head = right();
	head.type = 0;
	refused(&head, fd, "no known type");
	head.type = WIRE_TROUBLE;
	refused(&head, fd, "needs not");
	head.type = WIRE_PLAN;
	refused(&head, fd, "needs not");
	head.end_ns = head.begin_ns;
	refused(&head, -1, "no possible time");
	head.end_ns += WIRE_PLAN_SECONDS * 1000000000ULL + 1;
	refused(&head, -1, "no possible time");
	memset(head.text, 'x', sizeof(head.text));
	refused(&head, -1, "no end");
	close(open);
	close(fd);
}

/* Bytes that no honest sender sends. */
static void test_raw(void **state)
{
	struct wire_head head = right(), got;
	char message[128], zeros[2 * sizeof(head)] = "";
	int received;

	assert_int_equal(send(sockets[0], zeros, 1, 0), 1);
	assert_int_equal(receive(&got, &received, message), -EBADMSG);
	assert_int_equal(send(sockets[0], zeros, sizeof(zeros), 0),
			 sizeof(zeros));
	assert_int_equal(receive(&got, &received, message), -EBADMSG);
	assert_non_null(strstr(message, "wrong length"));
	assert_int_equal(send(sockets[0], zeros, sizeof(head), 0),
			 sizeof(head));
	assert_int_equal(receive(&got, &received, message), -EBADMSG);
	assert_non_null(strstr(message, "another program"));
}

static void test_plan(void **state)
{
	struct wire_head sent = {
		.type = WIRE_PLAN, .begin_ns = 7, .rests = 1,
		.end_ns = 7 + WIRE_PLAN_SECONDS * 1000000000ULL,
	}, got;
	char message[128];
	int received;

	assert_int_equal(wire_send(sockets[0], &sent, -1), 0);
	assert_int_equal(receive(&got, &received, message), 0);
	assert_int_equal(received, -1);
	assert_int_equal(got.type, WIRE_PLAN);
	assert_int_equal(got.rests, 1);
}

/* The latest answer counts. Without a reader they do not stop their sender. */
static void test_answers(void **state)
{
	struct wire_spent spent = { .cpu_ns = 1 }, got;
	int i;

	assert_false(wire_answered(sockets[0], &got));
	wire_answer(sockets[1], &spent);
	spent = (struct wire_spent){ .cpu_ns = 5, .looks_ns = 6 };
	wire_answer(sockets[1], &spent);
	assert_int_equal(send(sockets[1], "no answer", 9, 0), 9);
	assert_true(wire_answered(sockets[0], &got));
	assert_int_equal(got.cpu_ns, 5);
	assert_int_equal(got.looks_ns, 6);
	assert_false(wire_answered(sockets[0], &got));
	for (i = 0; i < 100000; i++)
		wire_answer(sockets[1], &spent);
	assert_true(wire_answered(sockets[0], &got));
	close(sockets[1]);
	assert_false(wire_answered(sockets[0], &got));
	sockets[1] = socket(AF_UNIX, SOCK_DGRAM, 0);
}

static int stream_of(const struct part_head *heads, size_t count)
{
	int fd = memfd_create("stream", MFD_CLOEXEC);
	size_t i;

	assert_true(fd >= 0);
	for (i = 0; i < count; i++) {
		assert_int_equal(write(fd, &heads[i], sizeof(heads[i])),
				 sizeof(heads[i]));
		assert_int_equal(write(fd, "0123456789", 10), 10);
	}
	return fd;
}

static int read_stream(const struct part_head *heads, size_t count,
		       int64_t shorter, struct parts *parts)
{
	int fd = stream_of(heads, count);
	off_t size = lseek(fd, 0, SEEK_END);
	int error;

	*parts = (struct parts){ .count = 0 };
	error = parts_read(parts, fd, size - shorter);
	close(fd);
	return error;
}

static void test_parts(void **state)
{
	struct part_head heads[2] = {
		{ .kind = 0, .size = 10, .units = 3, .build_id = "ab12",
		  .object = "/bin/a" },
		{ .kind = PART_ACCOUNT, .size = 10, .totals.lost = 4 },
	};
	struct parts parts;

	assert_int_equal(read_stream(heads, 2, 0, &parts), 0);
	assert_int_equal(parts.count, 2);
	assert_string_equal(parts.all[0].head.object, "/bin/a");
	assert_memory_equal(parts.all[1].bytes, "0123456789", 10);
	parts_free(&parts);
	assert_int_equal(read_stream(heads, 2, 1, &parts), -EBADMSG);
	assert_int_equal(read_stream(heads, 2, 12, &parts), -EBADMSG);
	heads[0].kind = PART_ACCOUNT + 1;
	assert_int_equal(read_stream(heads, 2, 0, &parts), -EBADMSG);
	heads[0].kind = 0;
	heads[0].size = UINT32_MAX;
	assert_int_equal(read_stream(heads, 2, 0, &parts), -EBADMSG);
	heads[0].size = 0;
	assert_int_equal(read_stream(heads, 2, 0, &parts), -EBADMSG);
	heads[0].size = 10;
	strcpy(heads[0].build_id, "'; DROP");
	assert_int_equal(read_stream(heads, 2, 0, &parts), -EBADMSG);
	memset(heads[0].build_id, 'a', sizeof(heads[0].build_id));
	assert_int_equal(read_stream(heads, 2, 0, &parts), -EBADMSG);
	*heads[0].build_id = 0;
	memset(heads[0].object, 'a', sizeof(heads[0].object));
	assert_int_equal(read_stream(heads, 2, 0, &parts), -EBADMSG);
	assert_int_equal(parts.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_recording, make,
						close_both),
		cmocka_unit_test_setup_teardown(test_no_descriptor, make,
						close_both),
		cmocka_unit_test_setup_teardown(test_more_seals, make,
						close_both),
		cmocka_unit_test_setup_teardown(test_only_file, make,
						close_both),
		cmocka_unit_test_setup_teardown(test_hostile, make, close_both),
		cmocka_unit_test_setup_teardown(test_raw, make, close_both),
		cmocka_unit_test_setup_teardown(test_plan, make, close_both),
		cmocka_unit_test_setup_teardown(test_answers, make,
						close_both),
		cmocka_unit_test(test_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
