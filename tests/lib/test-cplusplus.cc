// SPDX-License-Identifier: GPL-2.0-only
// The library from C++: its header is one, and its functions are found.
#include <hwprof.h>

#include <cstdio>
#include <cstring>

static int check(bool holds, const char *what)
{
	std::printf("%s - %s\n", holds ? "ok" : "not ok", what);
	return holds ? 0 : 1;
}

int main()
{
	hwprof_session *session = nullptr;
	hwprof_session_options options = {};
	hwprof_target target = {};
	int failed = 0;

	target.kind = HWPROF_TARGET_SYSTEM;
	target.cpus = "0";
	std::printf("1..3\n");
	failed += check(hwprof_session_open(&session, "lops", &options) < 0 &&
			std::strstr(hwprof_session_error(session), "lops"),
			"a session that is refused");
	hwprof_session_close(session);
	failed += check(hwprof_kind_of("loops") == HWPROF_KIND_LOOPS &&
			!std::strcmp(target.cpus, "0"),
			"kinds");
	failed += check(!std::strcmp(hwprof_kind_name(HWPROF_KIND_CCT), "cct"),
			"names of kinds");
	return failed != 0;
}
