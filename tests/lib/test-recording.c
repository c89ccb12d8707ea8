// SPDX-License-Identifier: GPL-2.0-only
/*
 * Real recordings, with a software clock instead of the module's PMU. Events,
 * rings and the file work the same way.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "perfdata/file.h"
#include "fixture.h"
#include "code/names.h"
#include "code/objects.h"
#include "live/mapped_file.h"
#include "live/recording.h"

static const struct events_kind clock_events[] = {
	{
		.attr = {
			.type = PERF_TYPE_SOFTWARE,
			.config = PERF_COUNT_SW_CPU_CLOCK,
			.sample_period = 100000,	/* ns */
			.exclude_kernel = 1,
		},
		.name = "cpu-clock:u",
	}, {
		.attr = {
			.type = PERF_TYPE_SOFTWARE,
			.config = PERF_COUNT_SW_TASK_CLOCK,
			.sample_period = 100000,
			.exclude_kernel = 1,
		},
		.name = "task-clock:u",
	},
};

struct counted {
	uint64_t samples[2], comms, forks, maps, with_id;
	uint64_t pid_samples;
	pid_t pid;
};

static struct hwprof_file *current;

static int count_record(void *context, const struct record *record)
{
	struct counted *counted = context;

	if (record->type == PERF_RECORD_SAMPLE) {
		counted->samples[record->event - current->events]++;
		counted->pid_samples += record->pid == (uint32_t)counted->pid;
	}
	counted->comms += record->type == PERF_RECORD_COMM;
	counted->forks += record->type == PERF_RECORD_FORK;
	counted->maps += record->type == PERF_RECORD_MMAP2;
	counted->with_id += record->type == PERF_RECORD_MMAP2 &&
			    record->misc & PERF_RECORD_MISC_MMAP_BUILD_ID;
	return 0;
}

static void read_back(const char *path, struct counted *counted)
{
	assert_int_equal(hwprof_file_open(&current, path), 0);
	assert_int_equal(records_read(current, count_record, counted), 0);
	hwprof_file_close(current);
}

static char path[] = "/tmp/hwprof-test-XXXXXX";

static int make_file(void **state)
{
	int fd = mkstemp(path);

	return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
	return unlink(path);
}

/* Forks a child that waits for a byte, and then executes @command. */
static pid_t fork_waiting(const char *command, int *go)
{
	int ends[2];
	pid_t pid;
	char byte;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		close(ends[1]);
		if (read(ends[0], &byte, 1) != 1)
			_exit(1);
		execl("/bin/sh", "sh", "-c", command, NULL);
		_exit(127);
	}
	close(ends[0]);
	*go = ends[1];
	return pid;
}

static void finish(struct recording *recording, struct writer_summary *summary)
{
	char *argv[] = { "hwprof", "record", NULL };
	struct writer_facts facts = { .argc = 2, .argv = argv, .pmu_type = 99 };
	int error = recording_finish(recording, &facts, summary);

	if (error)
		print_message("# %s\n", recording_error(recording));
	assert_int_equal(error, 0);
	recording_close(recording);
}

static bool permitted(void)
{
	char output[64];

	return !fixture_shell(output, sizeof(output),
			      "perf stat -e cpu-clock:u true 2>/dev/null");
}

#define WORK "i=0; while [ $i -lt 40000 ]; do i=$((i+1)); done"

static void test_command(void **state)
{
	struct counted counted = { .pid = 0 };
	struct events_options options = {
		.kinds = clock_events, .kind_count = 2,
		.target_count = 1, .on_exec = true, .inherit = true,
	};
	struct pollfd none = { .fd = -1 };
	struct writer_summary summary;
	struct recording *recording;
	char output[4096];
	int go, status = 0;
	pid_t pid;

	if (!permitted()) {
		print_message("# perf_event_open() is not permitted\n");
		skip();
	}
	pid = fork_waiting("(" WORK "); " WORK "; exit 3", &go);
	options.targets = &pid;
	assert_int_equal(recording_open(&recording, &options), 0);
	assert_int_equal(recording_start(recording, path), 0);
	assert_int_equal(write(go, "", 1), 1);
	close(go);
	while (waitpid(pid, &status, WNOHANG) == 0)
		assert_true(recording_step(recording, &none, 50) >= 0);
	assert_int_equal(WEXITSTATUS(status), 3);
	finish(recording, &summary);

	counted.pid = pid;
	read_back(path, &counted);
	assert_true(counted.samples[0] > 20);
	assert_true(counted.samples[1] > 20);
	/* The subshell is inherited, so some samples are not the shell's. */
	assert_true(counted.pid_samples > 0);
	assert_true(counted.pid_samples <
		    counted.samples[0] + counted.samples[1]);
	assert_true(counted.forks >= 1);
	assert_true(counted.comms >= 1);
	assert_true(counted.maps >= 2);

	/*
	 * Stock perf sees the same, and knows the shell's libraries by their
	 * build ids.
	 */
	assert_int_equal(fixture_shell(output, sizeof(output),
		"perf script -i %s -F event 2>/dev/null | grep -c cpu-clock",
		path), 0);
	assert_int_equal(strtoull(output, NULL, 10), counted.samples[0]);
	assert_int_equal(fixture_shell(output, sizeof(output),
		"perf buildid-list -i %s 2>&1", path), 0);
	assert_non_null(strstr(output, "libc.so"));
	assert_int_equal(fixture_shell(output, sizeof(output),
				       "perf report --stdio -i %s 2>/dev/null | grep -c '%%.*dash'",
				       path),
			 0);
}

/*
 * A running process: its maps are recorded, although perf did not see them
 * made.
 */
static void test_process(void **state)
{
	struct counted counted = { .pid = 0 };
	struct events_options options = {
		.kinds = clock_events, .kind_count = 1,
		.target_count = 1, .inherit = true,
	};
	struct pollfd none = { .fd = -1 };
	struct writer_summary summary;
	struct recording *recording;
	int go, got = 0, turn;
	pid_t pid;

	if (!permitted()) {
		print_message("# perf_event_open() is not permitted\n");
		skip();
	}
	pid = fork_waiting("while :; do :; done", &go);
	assert_int_equal(write(go, "", 1), 1);
	close(go);
	usleep(100000);
	options.targets = &pid;
	assert_int_equal(recording_open(&recording, &options), 0);
	assert_int_equal(recording_start(recording, path), 0);
	for (turn = 0; turn < 5; turn++)
		assert_int_equal(recording_step(recording, &none, 50), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	/* The end of the target ends the recording. */
	for (turn = 0; turn < 50 && !got; turn++)
		got = recording_step(recording, &none, 50);
	assert_int_equal(got, 1);
	finish(recording, &summary);

	counted.pid = pid;
	read_back(path, &counted);
	assert_true(counted.samples[0] > 20);
	assert_int_equal(counted.pid_samples, counted.samples[0]);
	assert_true(counted.maps >= 2);
	assert_true(counted.comms >= 1);
}

/*
 * Programs that start without end do not make the file longer than its limit,
 * and what fits is written, although the rings have more when they are read
 * first.
 */
static void test_limit(void **state)
{
	enum { LIMIT = 64 << 10 };
	struct events_options options = {
		.kinds = clock_events, .kind_count = 1,
		.target_count = 1, .on_exec = true, .inherit = true,
	};
	struct counted counted = { .pid = 0 };
	struct pollfd none = { .fd = -1 };
	struct writer_summary summary;
	struct recording *recording;
	struct stat status;
	pid_t pid;
	int go;

	if (!permitted()) {
		print_message("# perf_event_open() is not permitted\n");
		skip();
	}
	pid = fork_waiting("while :; do /bin/true; done", &go);
	options.targets = &pid;
	assert_int_equal(recording_open(&recording, &options), 0);
	recording_limit(recording, LIMIT);
	assert_int_equal(recording_start(recording, path), 0);
	assert_int_equal(write(go, "", 1), 1);
	close(go);
	usleep(500000);
	while (!recording_is_full(recording))
		assert_int_equal(recording_step(recording, &none, 50), 0);
	assert_int_equal(recording_step(recording, &none, 50), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_true(recording_dropped(recording) > 0);
	finish(recording, &summary);
	/* Sections about the machine come behind. */
	assert_int_equal(stat(path, &status), 0);
	assert_true(status.st_size < 2 * LIMIT);
	assert_true(status.st_size > LIMIT / 2);
	read_back(path, &counted);
	assert_true(counted.maps >= 2);
}

/* Looks for the build id of a process's file whose name ends with `prog`. */
struct wanted {
	uint32_t pid;
	struct build_id id;		/* size 0: not found */
};

static int find_prog(void *context, const struct record *record)
{
	struct wanted *wanted = context;
	struct perfdata_mmap2_build_id map;
	struct byte_reader at = record->body;
	const char *name;

	if (record->type != PERF_RECORD_MMAP2 ||
	    !(record->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) ||
	    !reader_copy(&at, &map, sizeof(map)) || map.pid != wanted->pid)
		return 0;
	name = reader_string(&at);
	if (name && strstr(name, "/prog"))
		wanted->id = build_id_of(map.id, map.id_size);
	return 0;
}

/* Records a process for a moment, and returns the build id of its program. */
static struct build_id record_prog(pid_t pid, struct known_code *code)
{
	struct events_options options = {
		.kinds = clock_events, .kind_count = 1,
		.targets = &pid, .target_count = 1, .inherit = true,
	};
	struct wanted wanted = { .pid = pid };
	struct pollfd none = { .fd = -1 };
	struct writer_summary summary;
	struct recording *recording;

	assert_int_equal(recording_open(&recording, &options), 0);
	if (code)
		recording_use_code(recording, code);
	assert_int_equal(recording_start(recording, path), 0);
	assert_int_equal(recording_step(recording, &none, 50), 0);
	finish(recording, &summary);
	assert_int_equal(hwprof_file_open(&current, path), 0);
	assert_int_equal(records_read(current, find_prog, &wanted), 0);
	hwprof_file_close(current);
	return wanted.id;
}

/* Starts a shell, in whose place a program of /bin sleeps soon. */
static pid_t start_prog(const char *command)
{
	int go;
	pid_t pid = fork_waiting(command, &go);

	assert_int_equal(write(go, "", 1), 1);
	close(go);
	usleep(300000);
	return pid;
}

static void end_prog(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void expect_sleep(const struct build_id *id)
{
	struct build_id sleeps;

	assert_true(object_read_build_id("/bin/sleep", &sleeps));
	assert_true(build_id_same(id, &sleeps));
}

/* The build id is that of the file that runs, not of what has its name now. */
static void test_replaced(void **state)
{
	struct known_code *code = known_code_new(NULL);
	char folder[] = "/tmp/hwprof-test-XXXXXX", command[256];
	struct build_id first, second, late;
	pid_t pid;

	if (!permitted())
		skip();
	assert_non_null(code);
	assert_non_null(mkdtemp(folder));
	snprintf(command, sizeof(command),
		 "cp /bin/sleep %s/prog; exec %s/prog 100", folder, folder);
	pid = start_prog(command);
	first = record_prog(pid, code);
	snprintf(command, sizeof(command),
		 "cp /bin/cat %s/new; mv %s/new %s/prog", folder, folder,
		 folder);
	assert_int_equal(system(command), 0);
	second = record_prog(pid, code);
	late = record_prog(pid, NULL);
	end_prog(pid);
	known_code_free(code);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
	expect_sleep(&first);
	expect_sleep(&second);
	assert_int_equal(late.size, 0);
}

/* A file that was written to gets the id that it has now. */
static void test_rewritten(void **state)
{
	struct known_code *code = known_code_new(NULL);
	char folder[] = "/tmp/hwprof-test-XXXXXX", command[256];
	struct build_id first, second;
	pid_t pid;

	if (!permitted())
		skip();
	assert_non_null(mkdtemp(folder));
	snprintf(command, sizeof(command),
		 "cp /bin/cat %s/prog; exec %s/prog /dev/ptmx", folder, folder);
	pid = start_prog(command);
	first = record_prog(pid, code);
	end_prog(pid);
	/* The same inode. */
	snprintf(command, sizeof(command),
		 "cat /bin/sleep > %s/prog; exec %s/prog 100", folder, folder);
	pid = start_prog(command);
	second = record_prog(pid, code);
	end_prog(pid);
	known_code_free(code);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
	assert_true(first.size);
	expect_sleep(&second);
}

/* A container's files have names of ours, which are other files here. */
static struct mapped_file mapped(const char *path)
{
	struct stat status;

	assert_int_equal(stat(path, &status), 0);
	return (struct mapped_file){
		.major = major(status.st_dev), .minor = minor(status.st_dev),
		.inode = status.st_ino,
	};
}

/* Opens the file as that of this process. Returns its build id. */
static struct build_id opened_id(struct mapped_file *file, const char *name)
{
	int fd = mapped_file_open(file, NULL, getpid(), name);
	struct build_id id = { .size = 0 };

	if (fd < 0)
		return id;
	if (!object_build_id_of(fd, &id))
		id.size = 0;
	close(fd);
	return id;
}

/*
 * A process may have a file with any number where another's is: that is on
 * another device.
 */
static void test_device(void **state)
{
	char name[] = "/dev/shm/hwprof-test-XXXXXX", command[128];
	struct mapped_file file;
	int fd = mkstemp(name);

	if (fd < 0) {
		print_message("# there is no /dev/shm\n");
		skip();
	}
	close(fd);
	snprintf(command, sizeof(command), "cat /bin/cat > %s", name);
	assert_int_equal(system(command), 0);
	file = mapped(name);
	assert_true(opened_id(&file, name).size > 0);
	file.minor++;
	assert_int_equal(opened_id(&file, name).size, 0);
	assert_int_equal(unlink(name), 0);
}

/*
 * The number of a file that is gone may be another file's. It has no build id
 * then, unless its name says that it is still the same.
 */
static void test_number_again(void **state)
{
	char name[] = "/tmp/hwprof-test-XXXXXX", gone[64], command[128];
	struct mapped_file file;

	close(mkstemp(name));
	snprintf(command, sizeof(command), "cat /bin/cat > %s", name);
	assert_int_equal(system(command), 0);
	file = mapped(name);
	assert_true(opened_id(&file, name).size > 0);
	assert_false(mapped_file_changed(&file, NULL, getpid(), name));
	assert_int_equal(unlink(name), 0);
	snprintf(gone, sizeof(gone), "%s (deleted)", name);
	assert_false(mapped_file_changed(&file, NULL, getpid(), gone));
	assert_true(mapped_file_changed(&file, NULL, getpid(),
					"/tmp/other"));
	assert_true(mapped_file_changed(&file, NULL, getpid(),
					"/tmp/other (deleted)"));
	assert_int_equal(opened_id(&file, "/tmp/other").size, 0);
}

static void test_container(void **state)
{
	char folder[] = "/tmp/hwprof-test-XXXXXX", command[512];
	struct build_id id;
	pid_t pid;

	if (!permitted() || system("unshare -m true 2>/dev/null")) {
		print_message("# no mount namespace can be made\n");
		skip();
	}
	assert_non_null(mkdtemp(folder));
	snprintf(command, sizeof(command),
		 "cp /bin/cat %s/prog; exec unshare -m sh -c 'mount -t tmpfs none %s && cp /bin/sleep %s/prog && exec %s/prog 100'",
		 folder, folder, folder, folder);
	pid = start_prog(command);
	id = record_prog(pid, NULL);
	end_prog(pid);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
	expect_sleep(&id);
}

static void test_refused(void **state)
{
	struct events_kind wrong = {
		.attr = { .type = 12345 }, .name = "no/such/",
	};
	pid_t self = getpid();
	struct events_options options = {
		.kinds = &wrong, .kind_count = 1,
		.targets = &self, .target_count = 1,
	};
	struct recording *recording;

	assert_true(recording_open(&recording, &options) < 0);
	assert_int_equal(recording_refused(recording), 0);
	if (!strstr(recording_error(recording), "no/such/"))
		fail_msg("%s", recording_error(recording));
	recording_close(recording);
}

static void test_no_file(void **state)
{
	pid_t self = getpid();
	struct events_options options = {
		.kinds = clock_events, .kind_count = 1,
		.targets = &self, .target_count = 1,
	};
	struct recording *recording;

	if (!permitted()) {
		print_message("# perf_event_open() is not permitted\n");
		skip();
	}
	assert_int_equal(recording_open(&recording, &options), 0);
	assert_int_equal(recording_start(recording, "/no/such/folder/file"),
			 -ENOENT);
	assert_non_null(
		strstr(recording_error(recording),
		       "/no/such/folder/file: cannot open for writing"));
	recording_close(recording);
}

static int find_kernel(void *context, const struct record *record)
{
	struct build_id *id = context;
	struct byte_reader at = record->body;
	uint32_t pid = 0;

	if (record->type != PERF_RECORD_MMAP2)
		return 0;
	assert_true(reader_u32(&at, &pid));
	if (pid != UINT32_MAX)
		return 0;
	assert_true(reader_skip(&at, 4 + 3 * 8));
	assert_true(record->misc & PERF_RECORD_MISC_MMAP_BUILD_ID);
	assert_int_equal(id->size, 0);
	*id = build_id_of(at.at + 4, *at.at);
	assert_true(reader_skip(&at, 4 + BUILD_ID_MAX + 8));
	assert_string_equal(reader_string(&at), "[kernel.kallsyms]_text");
	return 0;
}

static void expect_kernel(const struct build_id *id)
{
	struct build_id found = { .size = 0 };
	bool listed = false;
	size_t i;

	assert_int_equal(hwprof_file_open(&current, path), 0);
	for (i = 0; i < current->build_id_count; i++) {
		if (strcmp(current->build_ids[i].name, "[kernel.kallsyms]"))
			continue;
		listed = true;
		assert_true(build_id_same(&current->build_ids[i].id, id));
		assert_int_equal(current->build_ids[i].misc,
				 PERF_RECORD_MISC_KERNEL);
	}
	assert_int_equal(records_read(current, find_kernel, &found), 0);
	hwprof_file_close(current);
	assert_int_equal(listed, !!id->size);
	assert_int_equal(found.size, id->size);
	assert_memory_equal(found.bytes, id->bytes, sizeof(found.bytes));
}

/* A recording of the kernel tells which it is; one of the user does not. */
static void test_kernel(void **state)
{
	struct build_id none = { .size = 0 }, running;
	struct events_kind kind = clock_events[0];
	struct events_options options = {
		.kinds = &kind, .kind_count = 1,
		.target_count = 1, .inherit = true,
	};
	struct writer_summary summary;
	struct recording *recording;
	pid_t self = getpid();
	char output[64];
	int user;

	if (!permitted() ||
	    fixture_shell(output, sizeof(output),
			  "grep -q '^0*[1-9a-f].* _text$' /proc/kallsyms") ||
	    !names_read_notes("/sys/kernel/notes", &running)) {
		print_message("# the kernel's addresses are hidden\n");
		skip();
	}
	options.targets = &self;
	for (user = 0; user < 2; user++) {
		kind.attr.exclude_kernel = user;
		assert_int_equal(recording_open(&recording, &options), 0);
		assert_int_equal(recording_start(recording, path), 0);
		finish(recording, &summary);
		expect_kernel(user ? &none : &running);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_command),
		cmocka_unit_test(test_process),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_replaced),
		cmocka_unit_test(test_rewritten),
		cmocka_unit_test(test_device),
		cmocka_unit_test(test_number_again),
		cmocka_unit_test(test_container),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_no_file),
		cmocka_unit_test(test_kernel),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
