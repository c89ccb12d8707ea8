// SPDX-License-Identifier: GPL-2.0-only
#include <getopt.h>
#include <stdio.h>

#include "command.h"
#include "doctor.h"
#include "base/json.h"
#include "live/source_choice.h"

const char doctor_usage[] =
"usage: hwprof doctor [--json]\n"
"\n"
"Says what this machine can do for hwprof, what it lacks, and what helps.\n"
"\n"
"exit status: 0 a source of events can be used: step, lbr or sample; 1 none can;\n"
"2 wrong usage.\n";

static const struct option options[] = {
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static const char *const state_names[] = {
	[FINDING_OK] = "ok",
	[FINDING_WARN] = "warn",
	[FINDING_MISSING] = "missing",
};

static void print_text(const struct check *check, const struct finding *finding)
{
	printf("%-8s%-12s%s\n", state_names[finding->state], check->name,
	       finding->text);
	if (*finding->advice)
		printf("%-20s-> %s\n", "", finding->advice);
}

static void print_json(struct json *json, const struct check *check,
		       const struct finding *finding)
{
	json_open(json, NULL, '{');
	json_string(json, "name", check->name);
	json_string(json, "state", state_names[finding->state]);
	json_string(json, "text", finding->text);
	json_string(json, "advice", *finding->advice ? finding->advice : NULL);
	json_close(json, '}');
}

/* Returns true if there is a source: at least one is needed for any profile. */
static bool has_source(void)
{
	return source_works("step") || source_works("lbr") ||
	       source_works("sample");
}

static bool look_at_all(struct json *json)
{
	bool usable = has_source();
	unsigned int i;

	for (i = 0; i < doctor_check_count; i++) {
		const struct check *check = &doctor_checks[i];
		struct finding finding = { .state = FINDING_OK };

		check->look(&finding);
		if (check->needed && finding.state == FINDING_MISSING)
			usable = false;
		if (json)
			print_json(json, check, &finding);
		else
			print_text(check, &finding);
	}
	return usable;
}

static bool look(bool as_json)
{
	struct json json = { .out = stdout };
	bool usable;

	if (!as_json)
		return look_at_all(NULL);
	json_open(&json, NULL, '{');
	json_open(&json, "checks", '[');
	usable = look_at_all(&json);
	json_close(&json, ']');
	json_bool(&json, "usable", usable);
	json_close(&json, '}');
	return usable;
}

int command_doctor(int argc, char **argv)
{
	bool as_json = false, usable;
	int option;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) >= 0) {
		if (option != 'j')
			return option_error(option, doctor_usage, argv);
		as_json = true;
	}
	if (optind < argc)
		return usage_error("unexpected '%s': doctor takes no arguments",
				   argv[optind]);
	usable = look(as_json);
	if (fflush(stdout))
		return failed("cannot write what was found");
	return usable ? STATUS_OK : STATUS_FAILED;
}
